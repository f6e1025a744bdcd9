"""CAST_PREDICATED: convert elements where a predicate is true, keep the destination elsewhere.

Source: CAST_PREDICATED, opcode 0x99; firmware name CastPredicated. Open points: the conversion
fields of the profile, as for CAST.
"""

from __future__ import annotations

from lanewise.neuron.instruction import Example
from lanewise.neuron.instructions.predicated_copy import PredicatedCopy, rules


class CastPredicated(PredicatedCopy, opcode=0x99):
    """0x99 CAST_PREDICATED."""

    summary = "copy converted elements where the predicate is true"
    rules = rules()

    examples = (
        Example(
            title="three of four FP32 elements arrive as FP16, the first is kept",
            generation="cayman",
            word="99100000 0000000000000000 a2 07 00 01 00010000 010001000100 040001000100 "
            "00020000 010001000100 040001000100 00030000 010001000100 040001000100",
            before=(
                ("sbuf", 0, 0x100, "00 01 80 ff"),
                ("sbuf", 0, 0x200, "0000803f 00000040 00004040 00008040"),
                ("sbuf", 0, 0x300, "aaaa bbbb cccc dddd"),
            ),
            after=(("sbuf", 0, 0x300, "aaaa 0040 0042 0044"),),
        ),
    )
