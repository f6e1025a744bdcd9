"""COPY: move elements unchanged from one access pattern to another.

Source and destination have the same type, so no bit changes: NaN payloads and -0 survive.
Source: COPY, opcode 0x46; one compiler operation chooses COPY for equal types and CAST otherwise.
"""

from __future__ import annotations

from lanewise.neuron.instructions.plain_copy import PlainCopy, rules
from lanewise.neuron.legality import same_dtype


class Copy(PlainCopy, opcode=0x46):
    """0x46 COPY."""

    summary = "copy elements, bits untouched"
    rules = rules(same_dtype("in_dtype", "out_dtype"))
