"""COPY_PREDICATED: copy elements where a predicate is true, keep the destination elsewhere.

Data and destination have the same type, so bits move untouched. Source: COPY_PREDICATED, opcode
0x72; firmware name CopyPredicated.
"""

from __future__ import annotations

from lanewise.neuron.instruction import Example
from lanewise.neuron.instructions.predicated_copy import PredicatedCopy, rules
from lanewise.neuron.legality import same_dtype


class CopyPredicated(PredicatedCopy, opcode=0x72):
    """0x72 COPY_PREDICATED."""

    summary = "copy elements where the predicate is true"
    rules = rules(same_dtype("data_dtype", "out_dtype"))

    examples = (
        Example(
            title="three of four FP16 elements are copied, the first is kept",
            generation="cayman",
            word="72100000 0000000000000000 72 07 00 01 00010000 010001000100 040001000100 "
            "00020000 010001000100 040001000100 00030000 010001000100 040001000100",
            before=(
                ("sbuf", 0, 0x100, "00 01 80 ff"),
                ("sbuf", 0, 0x200, "003c 0040 0042 0044"),
                ("sbuf", 0, 0x300, "aaaa bbbb cccc dddd"),
            ),
            after=(("sbuf", 0, 0x300, "aaaa 0040 0042 0044"),),
        ),
    )
