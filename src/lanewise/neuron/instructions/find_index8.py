"""FIND_INDEX8: the position of each of the eight loaded keys in a row of elements.

Elements are looked at in walk order; each serves the first unmatched key it equals (FP32
equality), and each key matches once. A key that finds nothing, or that had been matched before,
gives the miss value, all ones. Source: S4D2_BN, opcode 0x6e; the compiler calls its pass MaxIndex.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lanewise.neuron.dtypes import BASE_TYPES_AND_FP32R, Dtype
from lanewise.neuron.instruction import Example
from lanewise.neuron.instructions.top8_search import Top8Search, rules
from lanewise.neuron.legality import dtype_in

if TYPE_CHECKING:
    from lanewise.neuron.lanes import Lanes
    from lanewise.neuron.plan import Plan


class FindIndex8(Top8Search, opcode=0x6E):
    """0x6e FIND_INDEX8."""

    summary = "the positions of the eight loaded keys"
    rules = rules(
        BASE_TYPES_AND_FP32R,
        dtype_in("index-dtype", "out_dtype", {Dtype.UINT16, Dtype.UINT32}),
    )

    def execute(self, lanes: Lanes) -> None:
        elements = lanes.read_hub("src")
        found, matched = lanes.kernels.find8(elements, lanes.keys, lanes.matched)
        miss = lanes.all_ones(self.out_dtype)
        positions = np.where(found < 0, miss, found).astype(miss.dtype)
        lanes.write("dst", positions)
        lanes.matched[...] = matched

    def lower(self, plan: Plan) -> None:
        plan.find8("src", "dst")

    examples = (
        Example(
            title="keys 7 7 7 7 4 100 -0 NaN in 4 7 4 1 7 7 0 2",
            generation="cayman",
            word="6e100000 0000000000000000 00010000 0100010001000100 0800010001000100 0a 05 "
            "01 0000000000 00000000 00000000 00030000 01000100 08000100 00000000",
            before=(
                ("sbuf", 0, 0x100, "00008040 0000e040 00008040 0000803f"),
                ("sbuf", 0, 0x110, "0000e040 0000e040 00000000 00000040"),
            ),
            after=(("sbuf", 0, 0x300, "0100 0400 0500 ffff 0000 ffff 0600 ffff"),),
            state_before=(
                ("keys", "40e00000 40e00000 40e00000 40e00000 40800000 42c80000 80000000 7fc00000"),
                ("matched", "0 0 0 0 0 0 0 0"),
            ),
            state_after=(("matched", "1 1 1 0 1 0 1 0"),),
        ),
    )
