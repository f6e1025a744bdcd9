"""Tiles and HBM tensors indexed with grids; masks applied to them."""

from __future__ import annotations

from typing import Any

import numpy as np

from lanewise.errors import UsageError
from lanewise.nki.beta1.grids import Grid, Mask
from lanewise.nki.dynamic import Offsets
from lanewise.nki.errors import NkiError, caller
from lanewise.nki.geometry import Geometry, slice_dim
from lanewise.nki.storage import OnChip
from lanewise.nki.tile import NkiTensor


class GridTensor(NkiTensor):
    """A view whose grid reaches outside the tensor: usable with a mask that leaves that out."""

    __slots__ = ("base", "grids", "problem")

    base: NkiTensor
    grids: tuple[Grid, ...]
    problem: str

    def codes(self, *, writing: bool = False) -> Any:
        raise NkiError(f"{self.name}: {self.problem} ({caller()})")

    @property
    def key(self) -> Any:
        raise NkiError(f"{self.name}: {self.problem} ({caller()})")


def grid_view(tile: NkiTensor, index: Any) -> NkiTensor:
    """``tile[grids]``: a view where the grids are affine, else explicit places (HBM only)."""
    try:
        return _grid_view(tile, index)
    except UsageError as error:
        raise NkiError(f"{tile.name}: {error} ({caller()})") from None


def _grid_view(tile: NkiTensor, index: Any) -> NkiTensor:
    parts = list(index if isinstance(index, tuple) else (index,))
    if Ellipsis in [part for part in parts if not isinstance(part, Grid)]:
        raise UsageError("'...' does not mix with index grids")
    view = tile.geometry
    if len(parts) != len(view.shape):
        raise UsageError(f"{len(parts)} indices for {len(view.shape)} dimensions of {view.shape}")
    grids = []
    for dim, part in enumerate(parts):
        if isinstance(part, Grid):
            grids.append(part)
        elif isinstance(part, slice):
            raise UsageError(f"slice of dimension {dim} does not mix with index grids; use arange")
        elif hasattr(part, "__index__"):
            position = int(part)
            grids.append(Grid((), position, ()))
        else:
            raise UsageError(f"index of dimension {dim} is a {type(part).__name__}")
    shape = np.broadcast_shapes(*(grid.shape for grid in grids))
    wide = tuple(grid.over(shape) for grid in grids)
    if not all(grid.is_affine for grid in wide):
        return _explicit(tile, wide, shape)
    problem = _outside(view, wide)
    found = _affine(view, wide, shape)
    if problem is None:
        return NkiTensor(tile.storage, found, tile.dtype)
    beyond = GridTensor(tile.storage, found, tile.dtype)
    beyond.base, beyond.grids, beyond.problem = tile, wide, problem
    return beyond


def _outside(view: Geometry, grids: tuple[Grid, ...]) -> str | None:
    for dim, (grid, size) in enumerate(zip(grids, view.shape, strict=True)):
        low, high = grid.bounds()
        if low < 0 or high >= size:
            bad = low if low < 0 else high
            return (
                f"index {bad} of dimension {dim} exceeds its size {size}; a mask can leave such "
                "elements out"
            )
    return None


def _affine(view: Geometry, grids: tuple[Grid, ...], shape: tuple[int, ...]) -> Geometry:
    """The view that affine grids name."""
    offset = view.offset
    strides = [0] * len(shape)
    partition, steps = view.partition, [0] * len(shape)
    for dim, grid in enumerate(grids):
        stride = view.strides[dim]
        if dim == view.axis:
            partition += stride * grid.constant
            steps = [stride * c for c in grid.coefficients]
            continue
        offset += stride * grid.constant
        strides = [s + stride * c for s, c in zip(strides, grid.coefficients, strict=True)]
    if view.axis is None:
        return Geometry(shape, tuple(strides), offset)
    if len(shape) < 2:
        raise UsageError(f"a grid of shape {shape} needs two dimensions on chip")
    if any(step for step in steps[1:]):
        raise UsageError("only the first dimension of a grid can run over partitions")
    if strides[0] and shape[0] > 1:
        raise UsageError("the first dimension of a grid can run over partitions only")
    return Geometry(shape, (steps[0] or 1, *strides[1:]), offset, partition, 0)


def _explicit(tile: NkiTensor, grids: tuple[Grid, ...], shape: tuple[int, ...]) -> NkiTensor:
    """Explicit places for grids that are not affine."""
    if isinstance(tile.storage, OnChip):
        raise UsageError("an index grid on chip must be affine")
    view = tile.geometry
    places = np.full(shape, view.offset, dtype=np.int64)
    valid = np.ones(shape, dtype=np.bool_)
    for grid, stride, size in zip(grids, view.strides, view.shape, strict=True):
        values = grid.values()
        valid &= (values >= 0) & (values < size)
        places += values * stride
    if not valid.all():
        raise UsageError("an index grid that is not affine must stay inside the tensor")
    found = Geometry(shape, (0,) * len(shape), view.offset)
    return NkiTensor(tile.storage, found, tile.dtype, Offsets(places))


Ranges = tuple[tuple[int, int], ...]


def rectangle_of(mask: Mask, tile: NkiTensor) -> Ranges | None:
    """The ranges a mask leaves of a tile's dimensions, or None when it is no rectangle."""
    return mask.rectangle(tile.shape)


def shrunk(tile: NkiTensor, ranges: Ranges) -> NkiTensor:
    """The part of a tile inside the ranges."""
    view = tile.geometry
    for dim, (low, high) in enumerate(ranges):
        view = slice_dim(view, dim, low, high - low)
    if isinstance(tile, GridTensor):
        cut = tuple(_cut(grid, ranges) for grid in tile.grids)
        problem = _outside(tile.base.geometry, cut)
        if problem is not None:
            raise NkiError(f"{tile.name}: {problem} ({caller()})")
    return NkiTensor(tile.storage, view, tile.dtype, tile.dynamic)


def _cut(grid: Grid, ranges: Ranges) -> Grid:
    constant = grid.constant + sum(
        c * low for c, (low, _) in zip(grid.coefficients, ranges, strict=True)
    )
    return Grid(tuple(high - low for low, high in ranges), constant, grid.coefficients)


def element_view(tile: NkiTensor, mask: Mask) -> tuple[NkiTensor, Any]:
    """A tensor and the truth of a mask over it, element by element.

    What a grid names outside the tensor must be masked away.
    """
    truth = mask.truth(tile.shape)
    if not isinstance(tile, GridTensor):
        return tile, truth
    base = tile.base.geometry
    if base.axis is not None:
        raise NkiError(f"{tile.name}: {tile.problem} ({caller()})")
    places = np.full(tile.shape, base.offset, dtype=np.int64)
    inside = np.ones(tile.shape, dtype=np.bool_)
    for grid, stride, size in zip(tile.grids, base.strides, base.shape, strict=True):
        values = grid.values()
        inside &= (values >= 0) & (values < size)
        places += values * stride
    if (truth & ~inside).any():
        raise NkiError(f"{tile.name}: {tile.problem} ({caller()})")
    found = NkiTensor(
        tile.storage, tile.geometry, tile.dtype, Offsets(np.where(inside, places, 0), inside)
    )
    return found, truth
