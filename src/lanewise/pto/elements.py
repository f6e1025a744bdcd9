"""Compare one element at a time. Source: PTO compare and select, element level."""

from __future__ import annotations

import numpy as np

from lanewise.errors import unknown_name
from lanewise.kernels import select_tile_engine
from lanewise.kernels.tiles_reference import ELEMENT_TYPES
from lanewise.pto.checks import check_encoding
from lanewise.pto.datatypes import ROW_MAJOR_TYPES, DataType
from lanewise.pto.faults import tile_legality
from lanewise.pto.state import Flag
from lanewise.pto.words import RELATION_CODES


def relation_named(name: str) -> str:
    """A relation by name; UsageError with near misses otherwise."""
    if name not in RELATION_CODES.values():
        raise unknown_name("relation", name, RELATION_CODES.values())
    return name


def compare_elements(
    dtype: DataType, relation: str, left: int, right: int, *, engine: str = "auto"
) -> tuple[bool, int]:
    """One comparison of two codes: its result and the flags that it raises.

    Raises PtoFault (TileLegality) for a type without compare and for codes that are no encodings
    of ``dtype``.
    """
    if dtype not in ROW_MAJOR_TYPES:
        tile_legality("type.operation", f"no compare operates on {dtype.name}")
    kind = ELEMENT_TYPES[dtype.width]
    codes = np.array([left], kind), np.array([right], kind)
    for side, array in zip(("the left side", "the right side"), codes, strict=True):
        check_encoding(array, dtype, side)
    kernels = select_tile_engine(engine)
    results, invalid = kernels.relate(*codes, dtype.order.ordering, relation)
    return bool(results[0]), int(Flag.NV) if invalid else 0
