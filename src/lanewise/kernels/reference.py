"""The NumPy twins of the compiled kernels, complete and readable.

Same names, same results; ``lanewise.kernels`` chooses between the two. Arrays of codes are uint8,
uint16 or uint32 by the width of the format, arrays of FP32 bits uint32, and no payload ever meets
the host's floating-point unit.
"""

from __future__ import annotations

from lanewise.kernels.compare import Relation, compare, is_nan, ordered_key
from lanewise.kernels.convert import convert, from_hub, to_hub
from lanewise.kernels.program import Program, Step, step
from lanewise.kernels.rows import (
    RELATION_SETS,
    Conversion,
    cast_rows,
    conversion,
    fill_rows,
    find8_rows,
    merge_rows,
    nonzero_rows,
    note_rows,
    range_rows,
    replace8_rows,
    select_rows,
    top8_rows,
)
from lanewise.kernels.search import find8, fold_maximum, nonzero_positions, top8
from lanewise.kernels.sequence import index_sequence

__all__ = [
    "RELATION_SETS",
    "Conversion",
    "Program",
    "Relation",
    "Step",
    "cast_rows",
    "compare",
    "conversion",
    "convert",
    "fill_rows",
    "find8",
    "find8_rows",
    "fold_maximum",
    "from_hub",
    "index_sequence",
    "is_nan",
    "merge_rows",
    "nonzero_positions",
    "nonzero_rows",
    "note_rows",
    "ordered_key",
    "range_rows",
    "replace8_rows",
    "select_rows",
    "step",
    "to_hub",
    "top8",
    "top8_rows",
]
