"""CAST_PREDICATED: convert elements where a predicate is true, keep the destination elsewhere.

Source: CAST_PREDICATED, opcode 0x99; firmware name CastPredicated. Open points: the conversion
fields of the profile, as for CAST.
"""

from __future__ import annotations

from lanewise.neuron.instructions.predicated_copy import PredicatedCopy, rules


class CastPredicated(PredicatedCopy, opcode=0x99):
    """0x99 CAST_PREDICATED."""

    summary = "copy converted elements where the predicate is true"
    rules = rules()
