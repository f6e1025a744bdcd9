"""What stands between the brackets of ``tile[…]``: ints, slices, ``...``, None.

An int on the partition dimension keeps it with size 1, one on another dimension drops it; an
on-chip view keeps at least two dimensions. Out of range is an error, never clamped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsIndex

from lanewise.errors import UsageError
from lanewise.nki.geometry import Geometry, expand, select, slice_dim


def subscript(view: Geometry, index: object) -> Geometry:
    """The view that ``view[index]`` names; UsageError for what is out of range or no index."""
    parts = _whole(view, index if isinstance(index, tuple) else (index,))
    rank = len(view.shape)
    droppable = rank if view.axis is None else rank - view.axis - 2
    dim = 0
    # From the front; dropping a dimension moves the following ones up.
    for part in parts:
        if part is None:
            view = expand(view, dim)
            dim += 1
        elif isinstance(part, slice):
            view = _sliced(view, dim, part)
            dim += 1
        else:
            position = _position(view, dim, part)
            is_partition = dim == view.axis
            leads = view.axis is not None and dim < view.axis
            if is_partition or not (leads or droppable > 0):
                view = slice_dim(view, dim, position, 1)
                dim += 1
            else:
                view = select(view, dim, position)
                droppable -= not leads
    return view


def _whole(view: Geometry, parts: Sequence[Any]) -> list[Any]:
    """The index with ``...`` written out and missing dimensions added."""
    named = sum(part is not None and part is not Ellipsis for part in parts)
    rank = len(view.shape)
    if named > rank:
        raise UsageError(f"{named} indices for {rank} dimensions of shape {view.shape}")
    ellipses = sum(part is Ellipsis for part in parts)
    if ellipses > 1:
        raise UsageError("an index can have only one '...'")
    fill = [slice(None)] * (rank - named)
    if not ellipses:
        return [*parts, *fill]
    at = next(place for place, part in enumerate(parts) if part is Ellipsis)
    return [*parts[:at], *fill, *parts[at + 1 :]]


def _as_int(value: object, what: str) -> int:
    if isinstance(value, SupportsIndex) and not isinstance(value, bool):
        return value.__index__()
    raise UsageError(f"{what} is a {type(value).__name__}, must be an integer")


def _position(view: Geometry, dim: int, part: object) -> int:
    size = view.shape[dim]
    position = _as_int(part, f"index of dimension {dim}")
    if not -size <= position < size:
        raise UsageError(f"index {position} of dimension {dim} exceeds its size {size}")
    return position % size


def _sliced(view: Geometry, dim: int, part: slice) -> Geometry:
    if part == slice(None):
        return view
    size = view.shape[dim]
    step = 1 if part.step is None else _as_int(part.step, f"slice step of dimension {dim}")
    if step < 1:
        raise UsageError(
            f"slice step {step} of dimension {dim} must be at least 1; use .ap for negative steps"
        )
    start = 0 if part.start is None else _as_int(part.start, f"slice start of dimension {dim}")
    stop = size if part.stop is None else _as_int(part.stop, f"slice stop of dimension {dim}")
    start = start + size if start < 0 else start
    stop = stop + size if stop < 0 else stop
    if not (0 <= start < stop <= size):
        problem = "is empty" if 0 <= stop <= start else f"exceeds its size {size}"
        raise UsageError(f"slice {_text(part)} of dimension {dim} {problem}")
    return slice_dim(view, dim, start, -(-(stop - start) // step), step)


def _text(part: slice) -> str:
    ends = [part.start, part.stop] if part.step is None else [part.start, part.stop, part.step]
    return ":".join("" if end is None else str(end) for end in ends)
