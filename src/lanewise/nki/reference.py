"""Pure NumPy twins of the top-8 functions, with the device's rule for equal values.

Independent of the model, for checking kernels: rows are partitions, the last axis is searched.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

MISS = 0xFFFFFFFF
_KEYS = 8


def max8(data: ArrayLike) -> NDArray[np.float32]:
    """The eight largest of each row, largest first; of equal values the earlier one first.

    NaN is never among them; -inf fills what is missing.
    """
    rows = _rows(data)
    usable = np.where(np.isnan(rows), -np.inf, rows).astype(np.float32)
    order = np.argsort(-usable, axis=1, kind="stable")[:, :_KEYS]
    found = np.take_along_axis(usable, order, axis=1)
    missing = _KEYS - found.shape[1]
    return np.pad(found, ((0, 0), (0, missing)), constant_values=-np.inf)


def find_index8(data: ArrayLike, vals: ArrayLike) -> NDArray[np.uint32]:
    """Where each row holds its eight values; equal values take successive positions."""
    rows, wanted = _rows(data), _rows(vals)
    found = np.full((len(rows), _KEYS), MISS, dtype=np.uint32)
    for row, (elements, keys) in enumerate(zip(rows, wanted, strict=True)):
        for slot, place in _served(elements, keys, range(_KEYS)):
            found[row, slot] = place
    return found


def match_replace8(
    data: ArrayLike, vals: ArrayLike, imm: float
) -> tuple[NDArray[np.float32], NDArray[np.uint32]]:
    """The rows with a match of each value replaced, and where the matches were.

    Values are served from the last column to the first.
    """
    rows, wanted = _rows(data).copy(), _rows(vals)
    found = np.full((len(rows), _KEYS), MISS, dtype=np.uint32)
    for row, (elements, keys) in enumerate(zip(rows.copy(), wanted, strict=True)):
        for slot, place in _served(elements, keys, range(_KEYS - 1, -1, -1)):
            found[row, slot] = place
            rows[row, place] = imm
    return rows, found


def _served(elements: Any, keys: Any, order: range) -> list[tuple[int, int]]:
    """(slot, position) of every key that finds an element, each element serving one key."""
    taken: set[int] = set()
    pairs = []
    for slot in order:
        for place in np.flatnonzero(elements == keys[slot]):
            if int(place) not in taken:
                taken.add(int(place))
                pairs.append((slot, int(place)))
                break
    return pairs


def _rows(data: ArrayLike) -> NDArray[np.float32]:
    array = np.asarray(data)
    return array.reshape(array.shape[0], -1).astype(np.float32)
