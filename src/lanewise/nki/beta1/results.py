"""How functions of the older world return tiles: the step waits until its result is used.

``x[…] = f(…)`` then runs the step straight into ``x``, without a copy or a second rounding; any
other use runs it into the tile that was returned.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lanewise.nki.beta1.grids import Mask
from lanewise.nki.beta1.indexing import Ranges, rectangle_of, shrunk
from lanewise.nki.call import Call, Lowered, Tiles
from lanewise.nki.dtypes import NkiDtype, find_dtype
from lanewise.nki.run import Pending
from lanewise.nki.tile import NkiTensor

Lower = Callable[..., Lowered]


def result_dtype(dtype: Any, default: NkiDtype) -> NkiDtype:
    """The type asked for, or the default."""
    return default if dtype is None else find_dtype(dtype)


def masked(call: Call, tile: Any, mask: Mask | None) -> tuple[Any, Ranges | None]:
    """The tile as far as a mask leaves it, and the ranges that were left."""
    if mask is None or not isinstance(tile, NkiTensor):
        return tile, None
    ranges = rectangle_of(mask, tile)
    if ranges is None:
        raise call.refuse("mask", "must be a rectangle", "mask", "a rectangle")
    if any(high <= low for low, high in ranges):
        raise call.refuse("mask", "leaves no element", "mask", "at least one element")
    return shrunk(tile, ranges), ranges


def into(tile: NkiTensor, ranges: Ranges | None) -> NkiTensor:
    """The part of a result that a mask leaves."""
    return tile if ranges is None else shrunk(tile, ranges)


def returned(
    call: Call,
    lower: Lower,
    shape: Sequence[int],
    dtype: NkiDtype,
    tiles: Tiles,
    parameters: Mapping[str, Any] | None = None,
    ranges: Ranges | None = None,
) -> NkiTensor:
    """A new tile for the result of a modelled function whose step is put off.

    The call is checked now. ``ranges`` are the part of the result that is written.
    """
    result = call.run.allocate(tuple(shape), dtype, "sbuf", call.location)
    given = dict(parameters or {})
    call.prepare(lower, {"dst": into(result, ranges), **tiles}, given)

    def run(target: NkiTensor) -> None:
        call.issue(lower, {"dst": into(target, ranges), **tiles}, given)

    call.run.pending = Pending(result, run)
    return result
