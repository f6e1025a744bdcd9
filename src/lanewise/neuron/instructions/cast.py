"""CAST: copy elements and convert them to another type.

Different types go through FP32; equal types move their bits untouched. FP32R, the rounded FP32,
is an output only. Source: CAST, opcode 0x47. Open points: profile fields ``float_to_int``,
``float_overflow``, ``nan_to_int``, ``fp8_exp4``, ``fp32r_mantissa_bits``.
"""

from __future__ import annotations

from lanewise.neuron.instruction import Example
from lanewise.neuron.instructions.plain_copy import PlainCopy, rules


class Cast(PlainCopy, opcode=0x47):
    """0x47 CAST."""

    summary = "copy elements, converted to another type"
    rules = rules()

    examples = (
        Example(
            title="FP32 to FP16: two ties to even, one value past the top, a subnormal",
            generation="cayman",
            word="47100000 0000000000000000 00010000 0100010001000100 0400010001000100 0a 07 "
            "02 00 00 00 00 0000000000 00020000 0100010001000100 0400010001000100",
            before=(("sbuf", 0, 0x100, "0010803f 0030803f 00f07f47 000000b8"),),
            after=(("sbuf", 0, 0x200, "003c 023c ff7b 0082"),),
        ),
        Example(
            title="the same word under the hardware profile: past the top is infinity",
            generation="cayman",
            word="47100000 0000000000000000 00010000 0100010001000100 0400010001000100 0a 07 "
            "02 00 00 00 00 0000000000 00020000 0100010001000100 0400010001000100",
            before=(("sbuf", 0, 0x100, "0010803f 0030803f 00f07f47 000000b8"),),
            after=(("sbuf", 0, 0x200, "003c 023c 007c 0082"),),
            profile="hardware",
        ),
    )
