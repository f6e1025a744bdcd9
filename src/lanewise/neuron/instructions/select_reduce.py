"""SELECT_REDUCE: select elements by a predicate and keep a running maximum a lane.

Under profile ``select_reduce`` = merge, elements with a false predicate keep the destination and
only the others are offered to the accumulator; under select they get the scalar imm0, which is
offered too. The maximum is taken over FP32 values before the output conversion.
Source: S2S2D2_STT, opcode 0xea; firmware name CopyPredicatedReduce.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lanewise.neuron.codes import ACCUMULATOR_COMMANDS, IMMEDIATE_SOURCES, REVERSED_OPERANDS
from lanewise.neuron.dtypes import BASE_TYPES, BASE_TYPES_AND_FP32R, Dtype
from lanewise.neuron.instruction import Example, Instruction
from lanewise.neuron.legality import (
    CHANNELS,
    COMMON,
    RESERVED_ZERO,
    alu_code_is,
    alu_codes_known,
    code_in,
    dtype_in,
    dtype_not_in,
    immediate,
    immediate_fp32,
    predicate_integer,
    readable,
    same_count,
    source_placement,
    window,
    writable,
)
from lanewise.neuron.operands import Destination, DtypeCode, Immediate, Source
from lanewise.neuron.roster import alu_codes
from lanewise.words import Coded, Reserved, Unsigned, bits, byte

if TYPE_CHECKING:
    from lanewise.neuron.lanes import Lanes
    from lanewise.neuron.plan import Plan


class SelectReduce(Instruction, opcode=0xEA):
    """0xea SELECT_REDUCE."""

    summary = "select by predicate, with a running maximum"

    predicate = Source(byte(12, 12), 2, dtype="predicate_dtype", doc="integers, true when not 0")
    data = Source(byte(24, 12), 2, dtype="data_dtype", doc="the elements to select")
    op0 = Coded(byte(36), codes=alu_codes(), doc="BYPASS")
    op1 = Coded(byte(37), codes=alu_codes(), doc="MAX", default=0x08)
    reverse_operands = Coded(
        byte(38), codes=REVERSED_OPERANDS, doc="1 negates the predicate, 0 does not"
    )
    imm0_source = Coded(byte(39), codes=IMMEDIATE_SOURCES, doc="where imm0 is")
    predicate_dtype = DtypeCode(bits(8 * 40 + 3, 8 * 40), doc="type of the predicate elements")
    data_dtype = DtypeCode(bits(8 * 40 + 7, 8 * 40 + 4), doc="type of the data elements")
    out_dtype = DtypeCode(byte(41), doc="type of the destination elements")
    num_active_channels = Unsigned(byte(42), doc="number of lanes", default=1)
    imm0_dtype = DtypeCode(byte(43), doc="type of imm0", default=Dtype.FP32)
    accumulator_command = Coded(
        byte(44), codes=ACCUMULATOR_COMMANDS, doc="what happens to the accumulator"
    )
    reserved = Reserved(byte(45, 3))
    dst = Destination(byte(48, 12), 2, dtype="out_dtype", doc="the selected elements")
    imm0 = Immediate(
        byte(60, 4),
        source="imm0_source",
        dtype="imm0_dtype",
        takes_float=True,
        doc="scalar, pointer or register",
    )

    rules = (
        *COMMON,
        dtype_in("predicate-dtype", "predicate_dtype", BASE_TYPES),
        dtype_in("data-dtype", "data_dtype", BASE_TYPES),
        dtype_in("immediate-dtype", "imm0_dtype", BASE_TYPES),
        dtype_in("out-dtype", "out_dtype", BASE_TYPES_AND_FP32R),
        predicate_integer("predicate_dtype"),
        dtype_not_in("data-not-32bit-int", "data_dtype", {Dtype.INT32, Dtype.UINT32}),
        immediate_fp32("imm0_source", "imm0_dtype"),
        alu_codes_known("op0", "op1"),
        alu_code_is("select-ops", ("op0", "BYPASS"), ("op1", "MAX")),
        immediate("immediate", "imm0"),
        window("predicate"),
        window("data"),
        window("dst"),
        readable("predicate"),
        readable("data"),
        writable("dst"),
        CHANNELS,
        same_count("sources-same-count", "predicate", "data"),
        same_count("dst-same-count", "data", "dst"),
        source_placement("predicate", "data"),
        code_in("accumulator-command", "accumulator_command", (0, 2, 3), ACCUMULATOR_COMMANDS),
        RESERVED_ZERO,
        code_in("reverse-flag", "reverse_operands", (0, 1)),
    )

    def execute(self, lanes: Lanes) -> None:
        truth = (lanes.read("predicate") != 0) != (self.reverse_operands == 1)
        data = lanes.read("data")
        values = lanes.to_hub(data, self.data_dtype)
        selected = lanes.convert(data, self.data_dtype, self.out_dtype)
        if lanes.profile.select_reduce == "merge":
            lanes.write("dst", selected, where=truth)
            lanes.accumulate(self.accumulator_command, values, truth)
            return
        scalar = lanes.scalar("imm0")[:, None]
        other = lanes.convert(scalar, self.imm0_dtype, self.out_dtype)
        lanes.write("dst", np.where(truth, selected, other))
        other_values = lanes.to_hub(scalar, self.imm0_dtype)
        lanes.accumulate(self.accumulator_command, np.where(truth, values, other_values))

    def lower(self, plan: Plan) -> None:
        plan.select(
            "predicate",
            "data",
            "dst",
            when=self.reverse_operands == 0,
            other="imm0" if plan.profile.select_reduce == "select" else None,
            accumulate=self.accumulator_command,
        )

    examples = (
        Example(
            title="merge: elements with a false predicate are kept and not reduced",
            generation="cayman",
            word="ea100000 0000000000000000 00010000 01000100 04000100 00020000 01000100 "
            "04000100 00 08 00 00 a3 0a 01 0a 03 000000 00030000 01000100 04000100 "
            "0000a040",
            before=(
                ("sbuf", 0, 0x100, "01 00 01 00"),
                ("sbuf", 0, 0x200, "00004040 00001041 000000c0 00000041"),
                ("sbuf", 0, 0x300, "00002041 0000a041 0000f041 00002042"),
            ),
            after=(("sbuf", 0, 0x300, "00004040 0000a041 000000c0 00002042"),),
            state_after=(("accumulator", "40400000"),),
        ),
        Example(
            title="select, as the hardware profile has it: they get imm0, which counts",
            generation="cayman",
            word="ea100000 0000000000000000 00010000 01000100 04000100 00020000 01000100 "
            "04000100 00 08 00 00 a3 0a 01 0a 03 000000 00030000 01000100 04000100 "
            "0000a040",
            before=(
                ("sbuf", 0, 0x100, "01 00 01 00"),
                ("sbuf", 0, 0x200, "00004040 00001041 000000c0 00000041"),
                ("sbuf", 0, 0x300, "00002041 0000a041 0000f041 00002042"),
            ),
            after=(("sbuf", 0, 0x300, "00004040 0000a040 000000c0 0000a040"),),
            state_after=(("accumulator", "40a00000"),),
            profile="hardware",
        ),
    )
