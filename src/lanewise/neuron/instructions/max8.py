"""MAX8: the eight largest elements of each lane, smallest first.

Eight slots start at -inf; an element enters only when strictly greater than the smallest slot, so
NaN never enters, of equal elements the earlier ones stay, and the earlier ranks higher. The stream
is FP32: elements are decoded and the slots encoded even when the types are equal.
Source: S4D2_BN, opcode 0x6c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lanewise.neuron.dtypes import BASE_TYPES_AND_FP32R
from lanewise.neuron.instruction import Example
from lanewise.neuron.instructions.top8_search import Top8Search, rules

if TYPE_CHECKING:
    from lanewise.neuron.lanes import Lanes
    from lanewise.neuron.plan import Plan


class Max8(Top8Search, opcode=0x6C):
    """0x6c MAX8."""

    summary = "the eight largest elements of each lane, ascending"
    rules = rules(BASE_TYPES_AND_FP32R)

    def execute(self, lanes: Lanes) -> None:
        slots = lanes.kernels.top8(lanes.read_hub("src"))
        lanes.write("dst", lanes.from_hub(slots, self.out_dtype))

    def lower(self, plan: Plan) -> None:
        plan.top8("src", "dst")

    examples = (
        Example(
            title="5 1 5 2 9 9 3 0 7 9 gives 2 3 5 5 7 9 9 9",
            generation="cayman",
            word="6c100000 0000000000000000 00010000 0100010001000100 0a00010001000100 0a 0a "
            "01 0000000000 00000000 00000000 00030000 01000100 08000100 00000000",
            before=(
                ("sbuf", 0, 0x100, "0000a040 0000803f 0000a040 00000040 00001041"),
                ("sbuf", 0, 0x114, "00001041 00004040 00000000 0000e040 00001041"),
            ),
            after=(
                ("sbuf", 0, 0x300, "00000040 00004040 0000a040 0000a040"),
                ("sbuf", 0, 0x310, "0000e040 00001041 00001041 00001041"),
            ),
        ),
    )
