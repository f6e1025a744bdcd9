"""CAST: copy elements and convert them to another type.

Different types go through FP32; equal types move their bits untouched. FP32R, the rounded FP32,
is an output only. Source: CAST, opcode 0x47. Open points: profile fields ``float_to_int``,
``float_overflow``, ``nan_to_int``, ``fp8_exp4``, ``fp32r_mantissa_bits``.
"""

from __future__ import annotations

from lanewise.neuron.instructions.plain_copy import PlainCopy, rules


class Cast(PlainCopy, opcode=0x47):
    """0x47 CAST."""

    summary = "copy elements, converted to another type"
    rules = rules()
