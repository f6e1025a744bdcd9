"""COPY_PREDICATED_SCALAR: write one scalar a lane where a predicate says so, keep the rest.

The default polarity is the opposite of the family's: with ``reversed_pred`` 0 the scalar goes
where the predicate is **zero**. The scalar is raw bits of in_dtype (= out_dtype), inline, behind
a pointer (one a lane) or behind a register. Source: S3D3_CP_PRED_SCALAR, opcode 0xe8.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lanewise.neuron.codes import IMMEDIATE_SOURCES
from lanewise.neuron.dtypes import BASE_TYPES
from lanewise.neuron.instruction import Example, Instruction
from lanewise.neuron.legality import (
    CHANNELS,
    COMMON,
    RESERVED_ZERO,
    code_in,
    dtype_in,
    immediate,
    predicate_integer,
    quadrant,
    readable,
    same_count,
    same_dtype,
    window,
    writable,
)
from lanewise.neuron.operands import Destination, DtypeCode, Immediate, Source
from lanewise.words import Coded, Reserved, Unsigned, byte

if TYPE_CHECKING:
    from lanewise.neuron.lanes import Lanes
    from lanewise.neuron.plan import Plan


class CopyPredicatedScalar(Instruction, opcode=0xE8):
    """0xe8 COPY_PREDICATED_SCALAR."""

    summary = "write a scalar where the predicate says so"

    reserved0 = Reserved(byte(12, 4))
    predicate = Source(
        byte(16, 16),
        3,
        dtype="predicate_dtype",
        allows_indirect=True,
        doc="integers, true when not 0",
    )
    predicate_dtype = DtypeCode(byte(32), doc="type of the predicate elements")
    reversed_pred = Unsigned(byte(33), doc="0: write where false, 1: write where true")
    num_active_channels = Unsigned(byte(34), doc="number of lanes", default=1)
    reserved1 = Reserved(byte(35, 6))
    in_dtype = DtypeCode(byte(41), doc="type of the scalar")
    out_dtype = DtypeCode(byte(42), doc="type of the destination elements")
    scalar_source = Coded(byte(43), codes=IMMEDIATE_SOURCES, doc="where the scalar is")
    scalar = Immediate(
        byte(44, 4), source="scalar_source", dtype="in_dtype", doc="scalar, pointer or register"
    )
    dst = Destination(byte(48, 16), 3, dtype="out_dtype", allows_indirect=True, doc="merged into")

    rules = (
        *COMMON,
        RESERVED_ZERO,
        immediate("immediate", "scalar"),
        readable("predicate"),
        writable("dst"),
        window("predicate"),
        window("dst"),
        same_count("same-count", "predicate", "dst"),
        quadrant("predicate"),
        quadrant("dst"),
        predicate_integer("predicate_dtype"),
        dtype_in("in-dtype", "in_dtype", BASE_TYPES),
        dtype_in("out-dtype", "out_dtype", BASE_TYPES),
        same_dtype("in_dtype", "out_dtype"),
        code_in("reversed-flag", "reversed_pred", (0, 1)),
        CHANNELS,
    )

    def execute(self, lanes: Lanes) -> None:
        truth = lanes.read("predicate") != 0
        scalar = lanes.scalar("scalar")
        lanes.write("dst", scalar[:, None], where=truth == (self.reversed_pred == 1))

    def lower(self, plan: Plan) -> None:
        plan.fill("predicate", "scalar", "dst", when=self.reversed_pred == 1)

    examples = (
        Example(
            title="reversed_pred 0: the low half of the scalar goes where the predicate is 0",
            generation="cayman",
            word="e8100000 0000000000000000 00000000 00010000 010001000100 030001000100 03 "
            "00 01 000000000000 06 06 00 80ff3412 00030000 010001000100 030001000100",
            before=(
                ("sbuf", 0, 0x100, "00 05 00"),
                ("sbuf", 0, 0x300, "803f 0040 4040"),
            ),
            after=(("sbuf", 0, 0x300, "80ff 0040 80ff"),),
        ),
        Example(
            title="reversed_pred 1: it goes where the predicate is not 0",
            generation="cayman",
            word="e8100000 0000000000000000 00000000 00010000 010001000100 030001000100 03 "
            "01 01 000000000000 06 06 00 80ff3412 00030000 010001000100 030001000100",
            before=(
                ("sbuf", 0, 0x100, "00 05 00"),
                ("sbuf", 0, 0x300, "803f 0040 4040"),
            ),
            after=(("sbuf", 0, 0x300, "803f 80ff 4040"),),
        ),
    )
