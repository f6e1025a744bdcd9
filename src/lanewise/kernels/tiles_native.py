"""The compiled kernels of the tile machine, with the names and results of ``tiles_reference``.

Importing this module raises ImportError where the extension has not been built; ask
:func:`lanewise.kernels.select_tile_engine` for an engine instead of importing one.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lanewise.kernels import _native, tiles_reference
from lanewise.kernels.tiles_reference import Mask, Ordering, Unsigned

__all__ = [
    "choose",
    "compare_planes",
    "relate",
    "select_planes",
    "transpose_planes",
    "unpack_planes",
]

_PLANES: Final = (16, 32)
"""Bits of planes that kernels read."""


def relate(left: Unsigned, right: Unsigned, ordering: Ordering, relation: str) -> tuple[Mask, bool]:
    """As in ``tiles_reference``."""
    shape = np.broadcast_shapes(left.shape, right.shape)
    truth = np.empty(shape, np.bool_)
    raised = np.zeros(1, np.bool_)
    _native.relate(
        truth.reshape(1, -1),
        _one_row(left, shape),
        _one_row(right, shape),
        _ordering(left.dtype.itemsize, ordering),
        relation,
        raised,
    ).run()
    return truth, bool(raised[0])


def choose(mask: Mask, true: Unsigned, false: Unsigned) -> Unsigned:
    """As in ``tiles_reference``."""
    shape = np.broadcast_shapes(mask.shape, true.shape, false.shape)
    made = np.empty(shape, true.dtype)
    _native.choose(
        made.reshape(1, -1), *(_one_row(array, shape) for array in (mask, true, false))
    ).run()
    return made


def compare_planes(
    left: Unsigned,
    right: Unsigned,
    ordering: Ordering,
    relation: str,
    plane: int,
    word_bytes: int = 8,
) -> tuple[Unsigned, Mask]:
    """As in ``tiles_reference``."""
    lead = left.shape[:-2]
    words = np.zeros(lead, f"<u{word_bytes}")
    raised = np.zeros(lead, np.bool_)
    if not left.size:
        return words, raised
    _native.compare_words(
        words.reshape(-1, 1),
        _cells(left, left.shape),
        _cells(right, left.shape),
        left.shape[-1],
        plane,
        _ordering(left.dtype.itemsize, ordering),
        relation,
        raised.reshape(-1),
    ).run()
    return words, raised


def select_planes(words: Unsigned, true: Unsigned, false: Unsigned, plane: int) -> Unsigned:
    """As in ``tiles_reference``."""
    if plane not in _PLANES or not true.size:
        return tiles_reference.select_planes(words, true, false, plane)
    made = np.empty(true.shape, true.dtype)
    _native.select_words(
        made.reshape(-1, *true.shape[-2:]),
        _packed(words),
        _cells(true, true.shape),
        _cells(false, true.shape),
        true.shape[-1],
        plane,
    ).run()
    return made


def unpack_planes(words: Unsigned, rows: int) -> Mask:
    """As in ``tiles_reference``."""
    if rows not in _PLANES or not words.size:
        return tiles_reference.unpack_planes(words, rows)
    planes = words.shape[-1] * 8 * words.itemsize // rows
    truth = np.empty((*words.shape[:-1], rows, planes), np.bool_)
    _native.expand_words(truth.reshape(-1, rows, planes), _packed(words), planes, rows).run()
    return truth


def transpose_planes(words: Unsigned, rows: int) -> Unsigned:
    """As in ``tiles_reference``."""
    if rows not in _PLANES or words.shape[-1] * words.itemsize != 32 or not words.size:
        return tiles_reference.transpose_planes(words, rows)
    made = np.empty((*words.shape[:-1], rows, 32 // rows), np.uint8)
    _native.transpose_words(made.reshape(-1, 32), _packed(words), rows).run()
    return made


@lru_cache(maxsize=256)
def _ordering(size: int, ordering: Ordering) -> _native.Ordering:
    return _native.ordering(
        size, ordering.width, ordering.kind, ordering.largest_number, ordering.quiet_bit
    )


def _one_row(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """The array, broadcast to ``shape``, as a row of up to four dimensions."""
    wide = np.broadcast_to(array, shape)
    return wide.reshape(1, -1) if wide.flags.c_contiguous or wide.ndim > 4 else wide[np.newaxis]


def _cells(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """The array, broadcast to ``shape``, as cells of rows and columns."""
    return np.broadcast_to(array, shape).reshape(prod(shape[:-2]), *shape[-2:])


def _packed(words: Unsigned) -> Unsigned:
    return np.ascontiguousarray(words).reshape(-1, words.shape[-1])
