"""NONZERO_WITH_COUNT: the positions of the non-zero elements of each lane, and how many.

Positions come in ascending order, each plus index_offset (modulo 2^32), then padding; the last
slot holds the count. Open points: profile fields ``nonzero_lanes`` and ``nonzero_nan``.
Source: S3D3_NONZERO_WITH_COUNT, opcode 0xf2, a POOL software kernel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lanewise.neuron.codes import IMMEDIATE_SOURCES
from lanewise.neuron.dtypes import Dtype
from lanewise.neuron.instruction import Example, Instruction
from lanewise.neuron.legality import (
    CHANNELS,
    COMMON,
    RESERVED_ZERO,
    count_plus_one,
    dtype_in,
    immediate,
    readable,
    window,
    writable,
)
from lanewise.neuron.operands import Destination, DtypeCode, Immediate, Source
from lanewise.words import Coded, Reserved, Unsigned, byte

if TYPE_CHECKING:
    from lanewise.neuron.lanes import Lanes
    from lanewise.neuron.plan import Plan

_SIGN = 0x80000000


class NonzeroWithCount(Instruction, opcode=0xF2):
    """0xf2 NONZERO_WITH_COUNT."""

    summary = "positions and number of the non-zero elements"
    engines = ("pool",)

    num_active_channels = Unsigned(byte(12), doc="number of lanes", default=1)
    in_dtype = DtypeCode(byte(13), doc="type of the source elements")
    out_dtype = DtypeCode(byte(14), doc="type of the positions, INT32", default=Dtype.INT32)
    index_offset_source = Coded(byte(15), codes=IMMEDIATE_SOURCES, doc="where index_offset is")
    src = Source(byte(16, 16), 3, dtype="in_dtype", sbuf_only=True, doc="the elements to test")
    index_offset = Immediate(
        byte(32, 4),
        source="index_offset_source",
        dtype=Dtype.INT32,
        doc="added to every position: scalar, pointer or register",
    )
    padding_value_source = Coded(byte(36), codes=IMMEDIATE_SOURCES, doc="where padding_value is")
    reserved0 = Reserved(byte(37, 3))
    padding_value = Immediate(
        byte(40, 4),
        source="padding_value_source",
        dtype=Dtype.INT32,
        doc="fills the slots without a position: scalar, pointer or register",
    )
    dst = Destination(
        byte(44, 16), 3, dtype="out_dtype", sbuf_only=True, doc="positions, padding, count"
    )
    reserved1 = Reserved(byte(60, 4))

    rules = (
        *COMMON,
        CHANNELS,
        RESERVED_ZERO,
        immediate("index-offset", "index_offset"),
        immediate("padding-value", "padding_value"),
        dtype_in("in-dtype", "in_dtype", {Dtype.FP32, Dtype.INT32}),
        dtype_in("out-dtype", "out_dtype", {Dtype.INT32}),
        window("src"),
        window("dst"),
        readable("src"),
        writable("dst"),
        count_plus_one("src", "dst"),
    )

    def execute(self, lanes: Lanes) -> None:
        elements = lanes.read("src")
        if self.in_dtype == Dtype.INT32:
            truth = elements != 0
        else:
            truth = (elements & ~np.uint32(_SIGN)) != 0
            if lanes.profile.nonzero_nan == "skip":
                truth &= ~lanes.kernels.is_nan(elements)
        results = lanes.kernels.nonzero_positions(
            truth, lanes.scalar("index_offset"), lanes.scalar("padding_value")
        )
        processed = np.ones(lanes.channels, dtype=np.bool_)
        if lanes.profile.nonzero_lanes == "every16":
            processed = np.arange(lanes.channels) % 16 == 0
        lanes.write("dst", results, where=processed[:, None])

    def lower(self, plan: Plan) -> None:
        floats = self.in_dtype != Dtype.INT32
        plan.nonzero(
            "src",
            "dst",
            offset="index_offset",
            padding="padding_value",
            mask=0xFFFFFFFF ^ (_SIGN if floats else 0),
            skip_nan=floats and plan.profile.nonzero_nan == "skip",
            every=16 if plan.profile.nonzero_lanes == "every16" else 1,
        )

    examples = (
        Example(
            title="0 2.5 NaN -0 1 with offset 100 and padding -1: NaN is not counted",
            generation="cayman",
            word="f2100000 0000000000000000 01 0a 08 00 00010000 010001000100 050001000100 "
            "64000000 00 000000 ffffffff 00030000 010001000100 060001000100 00000000",
            before=(("sbuf", 0, 0x100, "00000000 00002040 0000c07f 00000080 0000803f"),),
            after=(("sbuf", 0, 0x300, "65000000 68000000 ffffffff ffffffff ffffffff 02000000"),),
        ),
        Example(
            title="under the hardware profile NaN is counted",
            generation="cayman",
            word="f2100000 0000000000000000 01 0a 08 00 00010000 010001000100 050001000100 "
            "64000000 00 000000 ffffffff 00030000 010001000100 060001000100 00000000",
            before=(("sbuf", 0, 0x100, "00000000 00002040 0000c07f 00000080 0000803f"),),
            after=(("sbuf", 0, 0x300, "65000000 66000000 68000000 ffffffff ffffffff 03000000"),),
            profile="hardware",
        ),
    )
