"""MATCH_VALUE_LOAD: load eight keys a lane for the searches that follow.

The order turns around: element k goes to slot 7 - k, so MAX8's ascending output puts the largest
value into slot 0. All matched flags are cleared. Source: S2_BN, opcode 0x6d.
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
    dtype_in,
    key_count,
    readable,
    window,
    zero_bits,
)
from lanewise.neuron.operands import DtypeCode, Fp32Bits, Source
from lanewise.words import Coded, Reserved, Unsigned, byte

if TYPE_CHECKING:
    from lanewise.neuron.lanes import Lanes
    from lanewise.neuron.plan import Plan


class MatchValueLoad(Instruction, opcode=0x6D):
    """0x6d MATCH_VALUE_LOAD."""

    summary = "load eight search keys a lane"

    reserved0 = Reserved(byte(12, 4))
    src = Source(byte(16, 12), 2, dtype="dtype", doc="the eight keys, last slot first")
    imm1 = Fp32Bits(byte(28, 4), doc="FP32 bits of another user of the struct, 0 here")
    dtype = DtypeCode(byte(32), doc="type of the keys")
    reserved1 = Reserved(byte(33))
    num_active_channels = Unsigned(byte(34), doc="number of lanes", default=1)
    reserved2 = Reserved(byte(35, 9))
    imm0_ptr = Unsigned(byte(44, 4), doc="pointer of another user of the struct, 0 here")
    imm0_src = Coded(byte(48), codes=IMMEDIATE_SOURCES, doc="0 here")
    reserved3 = Reserved(byte(49, 15))

    rules = (
        *COMMON,
        RESERVED_ZERO,
        zero_bits("immediates-zero", "imm1", "imm0_ptr", "imm0_src"),
        dtype_in("in-dtype", "dtype", BASE_TYPES),
        CHANNELS,
        key_count("src"),
        window("src"),
        readable("src"),
    )

    def execute(self, lanes: Lanes) -> None:
        lanes.keys[...] = lanes.read_hub("src")[:, ::-1]
        lanes.matched[...] = False

    def lower(self, plan: Plan) -> None:
        plan.load_keys("src")

    examples = (
        Example(
            title="MAX8's 2 3 4 4 7 7 7 9 puts the largest value into slot 0",
            generation="cayman",
            word="6d100000 0000000000000000 00000000 00010000 01000100 08000100 00000000 0a "
            "00 01 000000000000000000 00000000 00 000000000000000000000000000000",
            before=(
                ("sbuf", 0, 0x100, "00000040 00004040 00008040 00008040"),
                ("sbuf", 0, 0x110, "0000e040 0000e040 0000e040 00001041"),
            ),
            state_after=(
                ("keys", "41100000 40e00000 40e00000 40e00000 40800000 40800000 40400000 40000000"),
                ("matched", "0 0 0 0 0 0 0 0"),
            ),
        ),
    )
