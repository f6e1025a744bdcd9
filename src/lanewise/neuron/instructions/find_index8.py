"""FIND_INDEX8: the position of each of the eight loaded keys in a row of elements.

Elements are looked at in walk order; each serves the first unmatched key it equals (FP32
equality), and each key matches once. A key that finds nothing, or that had been matched before,
gives the miss value, all ones. Source: S4D2_BN, opcode 0x6e; the compiler calls its pass MaxIndex.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lanewise.neuron.dtypes import BASE_TYPES_AND_FP32R, Dtype
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
