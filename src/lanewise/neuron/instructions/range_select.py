"""RANGE_SELECT: keep the elements whose position lies in a range, fill the others.

Element k is kept when base + k (one FP32 addition) satisfies both comparisons with the bounds; the
others become -FLT_MAX. The FP32 values of the result feed the accumulator. Under profile
``range_select_operand`` = element the element itself is compared. Source: S2D2_RS, opcode 0xbc.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lanewise.formats import FP32, decode
from lanewise.neuron.codes import ACCUMULATOR_COMMANDS, IMMEDIATE_SOURCES
from lanewise.neuron.dtypes import FLOAT_TYPES, FLOAT_TYPES_AND_FP32R, Dtype
from lanewise.neuron.instruction import Example, Instruction
from lanewise.neuron.legality import (
    CHANNELS,
    COMMON,
    Broken,
    Check,
    Columns,
    Finding,
    Rule,
    alu_code_is,
    code_in,
    dtype_in,
    immediate,
    readable,
    same_count,
    window,
    writable,
)
from lanewise.neuron.operands import Destination, DtypeCode, Fp32Bits, Immediate, Source
from lanewise.neuron.roster import alu_codes
from lanewise.words import Coded, Inert, Unsigned, bits, byte

if TYPE_CHECKING:
    from lanewise.neuron.lanes import Lanes
    from lanewise.neuron.plan import Plan

FILL_VALUE = 0xFF7FFFFF
LARGEST_INDEX = 1 << 24
FP32_OF_LARGEST_INDEX, NEGATIVE_ZERO = 0x4B80_0000, 0x8000_0000
RELATIONS = {0x12: "eq", 0x13: "gt", 0x14: "ge", 0x15: "le", 0x16: "lt"}


def _index_range(check: Check) -> Finding | None:
    raw = check.word.fields["base"].extract(int(check.word))
    base = decode(FP32, raw).value
    if base is None:
        return Finding("base", f"{raw:#010x} (not finite)", "a finite FP32 number")
    if not 0 <= base <= LARGEST_INDEX:
        return Finding("base", f"{float(base)!r}", "0.0 to 16777216.0 (2^24)")
    count = check.count("src")
    if count is not None and int(base) + count > LARGEST_INDEX:
        return Finding(
            "base",
            f"{float(base)!r} with {count} elements",
            "such that trunc(base) + count <= 2^24, where FP32 still counts by ones",
        )
    return None


def _index_range_columns(columns: Columns) -> Broken:
    broken = columns.broken()
    bits = columns.field("base")
    # FP32 bits are in order from +0 to infinity; -0 is 0, every other negative code is below it.
    out_of_range = (bits > FP32_OF_LARGEST_INDEX) & (bits != NEGATIVE_ZERO)
    broken.where(out_of_range, "base")
    within = np.where(out_of_range, 0, bits).astype(np.uint32)
    whole = within.view(np.float32).astype(np.int64)
    most = (LARGEST_INDEX - whole).astype(np.uint64)
    broken.where(columns.has_count("src") & (columns.pattern("src").count > most), "base")
    return broken


def _fill_value(check: Check) -> Finding | None:
    raw = check.word.fields["fill_value"].extract(int(check.word))
    if raw == FILL_VALUE:
        return None
    return Finding("fill_value", f"{raw:#010x}", f"{FILL_VALUE:#010x} (-FLT_MAX)")


def _fill_value_columns(columns: Columns) -> Broken:
    broken = columns.broken()
    broken.where(columns.field("fill_value") != FILL_VALUE, "fill_value")
    return broken


class RangeSelect(Instruction, opcode=0xBC):
    """0xbc RANGE_SELECT."""

    summary = "keep the elements in an index range, with a running maximum"

    num_active_channels = Unsigned(byte(12), doc="number of lanes", default=1)
    in_dtype = DtypeCode(bits(8 * 13 + 3, 8 * 13), doc="type of the source elements")
    out_dtype = DtypeCode(bits(8 * 13 + 7, 8 * 13 + 4), doc="type of the destination elements")
    reduce_command = Coded(
        byte(14), codes=ACCUMULATOR_COMMANDS, doc="what happens to the accumulator"
    )
    reduce_op = Coded(byte(15), codes=alu_codes(), doc="MAX", default=0x08)
    base = Fp32Bits(byte(16, 4), doc="FP32 bits of the index of element 0")
    fill_value = Fp32Bits(byte(20, 4), doc="FP32 bits, -FLT_MAX", default=FILL_VALUE)
    src = Source(byte(24, 12), 2, dtype="in_dtype", doc="the elements to select")
    comp_op0 = Coded(byte(36), codes=alu_codes(), doc="index comp_op0 bound0", default=0x14)
    comp_op1 = Coded(byte(37), codes=alu_codes(), doc="and index comp_op1 bound1", default=0x16)
    bound0_source = Coded(byte(38), codes=IMMEDIATE_SOURCES, doc="where bound0 is")
    bound1_source = Coded(byte(39), codes=IMMEDIATE_SOURCES, doc="where bound1 is")
    bound0 = Immediate(
        byte(40, 4),
        source="bound0_source",
        dtype=Dtype.FP32,
        takes_float=True,
        doc="scalar, pointer or register",
    )
    bound1 = Immediate(
        byte(44, 4),
        source="bound1_source",
        dtype=Dtype.FP32,
        takes_float=True,
        doc="scalar, pointer or register",
    )
    dst = Destination(byte(48, 12), 2, dtype="out_dtype", doc="the selected elements")
    unchecked = Inert(byte(60, 4), doc="reserved, but nothing checks it")

    rules = (
        *COMMON,
        window("src"),
        window("dst"),
        readable("src"),
        writable("dst"),
        same_count("same-count", "src", "dst"),
        Rule(
            "index-range",
            "base is finite, at least 0 and at most 2^24, and trunc(base) + count <= 2^24",
            _index_range,
            _index_range_columns,
        ),
        dtype_in("in-dtype", "in_dtype", FLOAT_TYPES),
        dtype_in("out-dtype", "out_dtype", FLOAT_TYPES_AND_FP32R),
        Rule(
            "fill-value",
            "fill_value is -FLT_MAX, bits 0xff7fffff",
            _fill_value,
            _fill_value_columns,
        ),
        code_in("comparison-0", "comp_op0", RELATIONS, alu_codes()),
        code_in("comparison-1", "comp_op1", RELATIONS, alu_codes()),
        immediate("bound-0", "bound0"),
        immediate("bound-1", "bound1"),
        CHANNELS,
        code_in("reduce-command", "reduce_command", (0, 2, 3), ACCUMULATOR_COMMANDS),
        alu_code_is("reduce-op", ("reduce_op", "MAX")),
    )

    def execute(self, lanes: Lanes) -> None:
        source = lanes.read("src")
        values = lanes.to_hub(source, self.in_dtype)
        bound0, bound1 = lanes.scalar("bound0")[:, None], lanes.scalar("bound1")[:, None]
        if lanes.profile.range_select_operand == "index":
            operand = lanes.kernels.index_sequence(self.base, lanes.count("src"))[None, :]
        else:
            operand = values
        compare = lanes.kernels.compare
        truth = compare(operand, RELATIONS[self.comp_op0], bound0)
        truth = truth & compare(operand, RELATIONS[self.comp_op1], bound1)
        fill = np.array([[self.fill_value]], dtype=np.uint32)
        selected = lanes.convert(source, self.in_dtype, self.out_dtype)
        other = lanes.convert(fill, Dtype.FP32, self.out_dtype)
        lanes.write("dst", np.where(truth, selected, other))
        lanes.accumulate(self.reduce_command, np.where(truth, values, fill))

    def lower(self, plan: Plan) -> None:
        plan.select_range(
            "src",
            "dst",
            base=self.base if plan.profile.range_select_operand == "index" else None,
            low=(RELATIONS[self.comp_op0], "bound0"),
            high=(RELATIONS[self.comp_op1], "bound1"),
            fill=self.fill_value,
            accumulate=self.reduce_command,
        )

    examples = (
        Example(
            title="positions 10 to 14, of which 11 <= position < 14 are kept",
            generation="cayman",
            word="bc100000 0000000000000000 01 aa 03 08 00002041 ffff7fff 00010000 01000100 "
            "05000100 14 16 00 00 00003041 00006041 00030000 01000100 05000100 00000000",
            before=(("sbuf", 0, 0x100, "00001041 00000041 0000e040 0000c040 0000a040"),),
            after=(("sbuf", 0, 0x300, "ffff7fff 00000041 0000e040 0000c040 ffff7fff"),),
            state_after=(("accumulator", "41000000"),),
        ),
    )
