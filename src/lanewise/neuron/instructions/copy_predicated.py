"""COPY_PREDICATED: copy elements where a predicate is true, keep the destination elsewhere.

Data and destination have the same type, so bits move untouched. Source: COPY_PREDICATED, opcode
0x72; firmware name CopyPredicated.
"""

from __future__ import annotations

from lanewise.neuron.instructions.predicated_copy import PredicatedCopy, rules
from lanewise.neuron.legality import same_dtype


class CopyPredicated(PredicatedCopy, opcode=0x72):
    """0x72 COPY_PREDICATED."""

    summary = "copy elements where the predicate is true"
    rules = rules(same_dtype("data_dtype", "out_dtype"))
