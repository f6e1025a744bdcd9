"""DVE_READ_ACCUMULATOR: write each lane's running maximum to memory.

The accumulator is read, not cleared; ``negated`` flips its sign bit first.
Source: D1_RD, opcode 0x9b.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lanewise.neuron.dtypes import FLOAT_TYPES_AND_FP32R
from lanewise.neuron.instruction import Example, Instruction
from lanewise.neuron.legality import (
    CHANNELS,
    COMMON,
    RESERVED_ZERO,
    code_in,
    dtype_in,
    element_count,
    window,
    writable,
)
from lanewise.neuron.operands import Destination, DtypeCode
from lanewise.words import Reserved, Unsigned, byte

if TYPE_CHECKING:
    from lanewise.neuron.lanes import Lanes
    from lanewise.neuron.plan import Plan

_SIGN = 0x80000000


class DveReadAccumulator(Instruction, opcode=0x9B):
    """0x9b DVE_READ_ACCUMULATOR."""

    summary = "write the running maximum of each lane"

    reserved0 = Reserved(byte(12, 16))
    dst_element_count = Unsigned(byte(28, 4), doc="number of results, 1", default=1)
    dtype = DtypeCode(byte(32), doc="type of the result")
    negated = Unsigned(byte(33), doc="1: the negated value is written")
    num_active_channels = Unsigned(byte(34), doc="number of lanes", default=1)
    reserved1 = Reserved(byte(35, 9))
    dst = Destination(byte(44, 8), 1, dtype="dtype", doc="the result")
    reserved2 = Reserved(byte(52, 12))

    rules = (
        *COMMON,
        RESERVED_ZERO,
        dtype_in("out-dtype", "dtype", FLOAT_TYPES_AND_FP32R),
        element_count("dst", 1),
        code_in("not-negated-flag", "negated", (0, 1)),
        CHANNELS,
        window("dst"),
        writable("dst"),
    )

    def execute(self, lanes: Lanes) -> None:
        sign = np.uint32(_SIGN if self.negated else 0)
        result = lanes.from_hub(lanes.accumulator ^ sign, self.dtype)
        lanes.write("dst", result[:, None])

    def lower(self, plan: Plan) -> None:
        plan.read_accumulator("dst", flip=_SIGN if self.negated else 0)

    examples = (
        Example(
            title="2.5, negated, as BFLOAT16; the accumulator stays",
            generation="cayman",
            word="9b100000 0000000000000000 00000000000000000000000000000000 01000000 06 01 "
            "01 000000000000000000 00030000 0100 0100 000000000000000000000000",
            after=(("sbuf", 0, 0x300, "20c0"),),
            state_before=(("accumulator", "40200000"),),
            state_after=(("accumulator", "40200000"),),
        ),
    )
