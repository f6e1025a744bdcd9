"""MATCH_REPLACE8: copy a row of elements with the matches of the loaded keys replaced.

The scan is FIND_INDEX8's; it sees source elements, never a replacement. Keys that an earlier
search has matched stay matched: load them again with MATCH_VALUE_LOAD between FIND_INDEX8 and
MATCH_REPLACE8. One immediate replaces every match. The positions found go to the lane's indices,
misses as 0xffffffff.
Source: S4D4_MR, opcode 0x6f; firmware name MatchReplace, without the 8.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lanewise.neuron.dtypes import Dtype
from lanewise.neuron.instruction import Example, Instruction
from lanewise.neuron.legality import (
    CHANNELS,
    COMMON,
    RESERVED_ZERO,
    count_in,
    dtype_in,
    readable,
    same_count,
    window,
    writable,
)
from lanewise.neuron.operands import Destination, DtypeCode, Fp32Bits, Source
from lanewise.neuron.state import MISS
from lanewise.words import Reserved, Unsigned, byte

if TYPE_CHECKING:
    from lanewise.neuron.lanes import Lanes
    from lanewise.neuron.plan import Plan

_TYPES = frozenset(
    {
        Dtype.FP16,
        Dtype.BFLOAT16,
        Dtype.UINT8,
        Dtype.UINT16,
        Dtype.UINT32,
        Dtype.FP32,
        Dtype.INT32,
    }
)


class MatchReplace8(Instruction, opcode=0x6F):
    """0x6f MATCH_REPLACE8."""

    summary = "copy elements, replacing the first match of each key"

    src = Source(byte(12, 20), 4, dtype="in_dtype", doc="the elements to search and copy")
    in_dtype = DtypeCode(byte(32), doc="type of the source elements")
    out_dtype = DtypeCode(byte(33), doc="type of the destination elements")
    num_active_channels = Unsigned(byte(34), doc="number of lanes", default=1)
    reserved = Reserved(byte(35, 5))
    immediate = Fp32Bits(byte(40, 4), doc="FP32 bits of the replacement, any")
    dst = Destination(byte(44, 20), 4, dtype="out_dtype", doc="where the elements go")

    rules = (
        *COMMON,
        count_in("source-count", "src", 1, 16384),
        same_count("same-count", "src", "dst"),
        CHANNELS,
        RESERVED_ZERO,
        dtype_in("in-dtype", "in_dtype", _TYPES),
        dtype_in("out-dtype", "out_dtype", _TYPES),
        window("src"),
        window("dst"),
        readable("src"),
        writable("dst"),
    )

    def execute(self, lanes: Lanes) -> None:
        elements = lanes.read_hub("src")
        found, matched = lanes.kernels.find8(elements, lanes.keys, lanes.matched)
        replacement = lanes.from_hub(np.array([self.immediate], np.uint32), self.out_dtype)
        results = lanes.from_hub(elements, self.out_dtype)
        lane, slot = np.nonzero(found >= 0)
        results[lane, found[lane, slot]] = replacement
        lanes.write("dst", results)
        lanes.indices[...] = np.where(found < 0, MISS, found)
        lanes.matched[...] = matched

    def lower(self, plan: Plan) -> None:
        plan.replace8("src", "dst", replacement=self.immediate)

    examples = (
        Example(
            title="keys 1 to 8 in 8 8 2 8 5 9 2 1, replaced by 2",
            generation="cayman",
            word="6f100000 0000000000000000 00010000 0100010001000100 0800010001000100 0a 0a "
            "01 0000000000 00000040 00030000 0100010001000100 0800010001000100",
            before=(
                ("sbuf", 0, 0x100, "00000041 00000041 00000040 00000041"),
                ("sbuf", 0, 0x110, "0000a040 00001041 00000040 0000803f"),
            ),
            after=(
                ("sbuf", 0, 0x300, "00000040 00000041 00000040 00000041"),
                ("sbuf", 0, 0x310, "00000040 00001041 00000040 00000040"),
            ),
            state_before=(
                ("keys", "3f800000 40000000 40400000 40800000 40a00000 40c00000 40e00000 41000000"),
                ("matched", "0 0 0 0 0 0 0 0"),
            ),
            state_after=(
                ("indices", "7 2 ffffffff ffffffff 4 ffffffff ffffffff 0"),
                ("matched", "1 1 0 0 1 0 0 1"),
            ),
        ),
    )
