"""What COPY and CAST share: the S4D4_TR word, the rules and the walk from source to destination.

Source: S4D4_TR struct table; COPY and CAST checkers. The two differ in one rule, that COPY has
equal types. On generations with index lists, source and destination may be indirect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lanewise.neuron.codes import SUBDIMENSIONS
from lanewise.neuron.dtypes import BASE_TYPES, BASE_TYPES_AND_FP32R
from lanewise.neuron.instruction import Instruction
from lanewise.neuron.legality import (
    CHANNELS,
    COMMON,
    RESERVED_ZERO,
    Rule,
    alu_code_is,
    alu_codes_known,
    code_in,
    dtype_in,
    engine_reach,
    quadrant,
    readable,
    same_count,
    window,
    writable,
)
from lanewise.neuron.operands import Destination, DtypeCode, Source
from lanewise.neuron.roster import alu_codes
from lanewise.words import Coded, Reserved, Unsigned, byte

if TYPE_CHECKING:
    from lanewise.neuron.lanes import Lanes
    from lanewise.neuron.plan import Plan


class PlainCopy(Instruction):
    """The S4D4_TR word as COPY and CAST use it."""

    engines = ("pool", "act", "dve")

    src = Source(
        byte(12, 20), 4, dtype="in_dtype", allows_indirect=True, doc="the elements to copy"
    )
    in_dtype = DtypeCode(byte(32), doc="type of the source elements")
    out_dtype = DtypeCode(byte(33), doc="type of the destination elements")
    num_active_channels = Unsigned(byte(34), doc="number of lanes", default=1)
    negated = Unsigned(byte(35), doc="0 here; other users of the struct negate")
    op = Coded(byte(36), codes=alu_codes(), doc="ALU operation, BYPASS here")
    op_dim = Coded(byte(37), codes=SUBDIMENSIONS, doc="dimensions the ALU works along, none here")
    mask_enable = Unsigned(byte(38), doc="0 here: no masking")
    reserved = Reserved(byte(39, 5))
    dst = Destination(
        byte(44, 20), 4, dtype="out_dtype", allows_indirect=True, doc="where the elements go"
    )

    def execute(self, lanes: Lanes) -> None:
        elements = lanes.read("src")
        lanes.write("dst", lanes.convert(elements, self.in_dtype, self.out_dtype))

    def lower(self, plan: Plan) -> None:
        plan.cast("src", "dst")


def rules(*difference: Rule) -> tuple[Rule, ...]:
    """The family's rules in order, with the ones only one member has in their place."""
    return (
        *COMMON,
        RESERVED_ZERO,
        code_in("mask-disabled", "mask_enable", (0,)),
        dtype_in("in-dtype", "in_dtype", BASE_TYPES),
        dtype_in("out-dtype", "out_dtype", BASE_TYPES_AND_FP32R),
        alu_codes_known("op"),
        code_in("op-dim", "op_dim", (0, 2), SUBDIMENSIONS),
        CHANNELS,
        window("src"),
        window("dst"),
        readable("src"),
        writable("dst"),
        quadrant("src"),
        quadrant("dst"),
        same_count("same-count", "src", "dst"),
        alu_code_is("bypass", ("op", "BYPASS")),
        *difference,
        code_in("not-negated", "negated", (0,)),
        engine_reach("src", "dst"),
    )
