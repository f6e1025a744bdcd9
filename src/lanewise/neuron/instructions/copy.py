"""COPY: move elements unchanged from one access pattern to another.

Source and destination have the same type, so no bit changes: NaN payloads and -0 survive.
Source: COPY, opcode 0x46; one compiler operation chooses COPY for equal types and CAST otherwise.
"""

from __future__ import annotations

from lanewise.neuron.instruction import Example
from lanewise.neuron.instructions.plain_copy import PlainCopy, rules
from lanewise.neuron.legality import same_dtype


class Copy(PlainCopy, opcode=0x46):
    """0x46 COPY."""

    summary = "copy elements, bits untouched"
    rules = rules(same_dtype("in_dtype", "out_dtype"))

    examples = (
        Example(
            title="FP16 moves bit for bit: a NaN keeps its payload, -0 its sign",
            generation="cayman",
            word="46100000 0000000000000000 00010000 0100010001000100 0300010001000100 07 07 "
            "01 00 00 00 00 0000000000 00020000 0100010001000100 0300010001000100",
            before=(("sbuf", 0, 0x100, "55fe 0080 003c"),),
            after=(("sbuf", 0, 0x200, "55fe 0080 003c"),),
        ),
    )
