"""Rows about the tile machine's kernels: nanoseconds for a cell of 128 bytes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanewise.check.bench.kernels import Tiles
from lanewise.check.bench.measure import Spread
from lanewise.check.bench.result import Result, slowest
from lanewise.kernels import select_tile_engine
from lanewise.kernels.tiles_reference import ELEMENT_TYPES
from lanewise.pto import DataType

CELLS = 1 << 15
#: Rows, columns and so bits of a plane by layout, for elements of 16 bits.
SHAPES = {"CUBE_M32": (32, 2), "CUBE_M16": (16, 4)}


class _Cells:
    """Random cells of 16-bit elements, any bits: numbers, both zeros and NaNs among them."""

    def __init__(self, tiles: Tiles) -> None:
        self.clock = tiles.clock
        self.kernels = select_tile_engine(tiles.kernels.__name__.rpartition(".")[2])
        self._rng = np.random.default_rng(0)

    def codes(self, shape: tuple[int, int]) -> NDArray[Any]:
        return self._rng.integers(0, 1 << 16, (CELLS, *shape), dtype=ELEMENT_TYPES[16])

    @cached_property
    def words(self) -> NDArray[np.uint64]:
        return self._rng.integers(0, 1 << 64, (CELLS, 4), dtype=np.uint64)

    def nanoseconds(self, call: Callable[[], object]) -> Spread:
        """The time of a cell in a call that works on all of them."""
        return self.clock.time(call).scaled(1e9 / CELLS)


def compare(tiles: Tiles) -> list[Result]:
    """64 compares into one predicate word, for floats and integers in both layouts."""
    cells, parts = _Cells(tiles), {}
    for layout, shape in SHAPES.items():
        left, right = cells.codes(shape), cells.codes(shape)
        for name in ("FP16", "BF16", "S16", "U16"):
            ordering = DataType.named(name).order.ordering
            for relation in ("LT", "NE"):
                call = partial(
                    cells.kernels.compare_planes, left, right, ordering, relation, shape[0]
                )
                parts[f"{layout} {name} {relation}"] = cells.nanoseconds(call)
    value, medians = slowest(parts)
    what = "64 16-bit compares into a predicate word, a cell"
    return [Result("pto-compare", what, " ns", value, False, medians)]


def select(tiles: Tiles) -> list[Result]:
    """64 elements of one of two cells as a word says."""
    cells, parts = _Cells(tiles), {}
    for layout, shape in SHAPES.items():
        true, false = cells.codes(shape), cells.codes(shape)
        words = cells.words[:, :1]
        call = partial(cells.kernels.select_planes, words, true, false, shape[0])
        parts[layout] = cells.nanoseconds(call)
    value, medians = slowest(parts)
    what = "64 16-bit elements by a predicate word, a cell"
    return [Result("pto-select", what, " ns", value, False, medians)]


def transpose(tiles: Tiles) -> list[Result]:
    """Planes of bits to bytes: 8 of 32 bits, and 16 of 16."""
    cells = _Cells(tiles)
    parts = {
        shape: cells.nanoseconds(partial(cells.kernels.transpose_planes, cells.words, plane))
        for shape, plane in (("8x32", 32), ("16x16", 16))
    }
    value, medians = slowest(parts)
    what = "planes of bits in four words to bytes, a cell"
    return [Result("bit-transpose", what, " ns", value, False, medians)]
