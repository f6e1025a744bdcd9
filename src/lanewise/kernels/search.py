"""Searches along the lanes of [lanes, elements] arrays of FP32 bits.

The instruction documents describe them element by element; here each is a few passes over the
whole array with the same result.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from lanewise.errors import UsageError
from lanewise.kernels.arrays import Hub, Positions, Truth, check_hub, check_shape
from lanewise.kernels.compare import is_nan, ordered_key

_KEYS: Final = 8
_MINUS_INFINITY: Final = np.uint32(0xFF80_0000)
_LOWEST: Final = np.int32(-0x7F80_0000)
"""The key of -inf; NaNs are given it too where they must not win."""

_GROUP: Final = 64
"""Elements whose maximum stands for them while the best eight are looked for."""


def top8(hub: Hub) -> Hub:
    """The eight largest values of every lane, ascending: [C, N] to [C, 8].

    Slots start at -inf and an element enters only if strictly greater than the smallest, so NaN
    and -inf never enter; among equal values (both zeros are) the earlier one ranks higher and
    keeps its bits. In other words: a stable descending sort, cut at eight, read backwards.

    Source: MAX8.
    """
    check_hub(hub, "hub", dimensions=2)
    lanes, count = hub.shape
    result = np.full((lanes, _KEYS), _MINUS_INFINITY, dtype=np.uint32)
    if count == 0:
        return result
    keys, positions = _candidates(_keys_without_nan(hub))
    rows = np.arange(lanes)
    for slot in range(_KEYS - 1, -1, -1):
        # argmax names the first of equal maxima, which is the one that ranks higher.
        best = keys.argmax(axis=1)
        entered = keys[rows, best] > _LOWEST
        chosen = hub[rows, positions[rows, best]]
        result[:, slot] = np.where(entered, chosen, _MINUS_INFINITY)
        keys[rows, best] = _LOWEST
    return result


def find8(hub: Hub, keys: Hub, matched: Truth) -> tuple[Positions, Truth]:
    """Where every lane holds its eight keys: [C, N], [C, 8], [C, 8] to two [C, 8].

    Elements are taken in order; each serves the first slot that is not yet matched and equal to it
    (-0 equals +0, NaN nothing), and a slot is served once. The first result is the position, -1
    for a slot that was not served in this scan, also when ``matched`` was set before it; the
    second is ``matched`` afterwards.

    Source: FIND_INDEX8 and the shared scan.
    """
    check_hub(hub, "hub", dimensions=2)
    check_hub(keys, "keys")
    lanes, count = hub.shape
    check_shape(keys, "keys", (lanes, _KEYS))
    check_shape(matched, "matched", (lanes, _KEYS))
    found = np.full((lanes, _KEYS), -1, dtype=np.int64)
    open_slots = ~matched & ~is_nan(keys)
    if count == 0 or not open_slots.any():
        return found, matched.copy()
    wanted, values = ordered_key(keys), ordered_key(hub)
    rows = np.arange(lanes)
    every_position = np.arange(count)
    for slot in range(_KEYS):
        # Equal slots are served in turn, so this one's scan begins after the last of them; where
        # one of them found nothing, this one won't either. A NaN's key lies beyond the infinities
        # and equals no key of a slot that is open.
        equal_before = open_slots[:, :slot] & (wanted[:, :slot] == wanted[:, slot, None])
        start = np.where(equal_before, found[:, :slot] + 1, 0).max(axis=1, initial=0)
        equal = values == wanted[:, slot, None]
        if start.any():
            equal &= every_position >= start[:, None]
        position = equal.argmax(axis=1)
        served = equal[rows, position] & open_slots[:, slot]
        found[:, slot] = np.where(served, position, -1)
    return found, matched | (found >= 0)


def fold_maximum(accumulator: Hub, hub: Hub, offered: Truth | None = None) -> Hub:
    """The running maximum of every lane after its elements: [C], [C, N] to [C].

    An element replaces the accumulator only if strictly greater, so NaN never enters, a NaN
    accumulator stays, and of equal values (both zeros are) the earlier one stays. ``offered``
    [C, N] leaves out the elements where it is false; None offers all.

    Source: SELECT_REDUCE, RANGE_SELECT.
    """
    check_hub(hub, "hub", dimensions=2)
    check_hub(accumulator, "accumulator")
    lanes, count = hub.shape
    check_shape(accumulator, "accumulator", (lanes,))
    if offered is not None:
        check_shape(offered, "offered", (lanes, count))
    if count == 0:
        return accumulator.copy()
    keys = _keys_without_nan(hub)
    if offered is not None:
        keys[~offered] = _LOWEST
    rows = np.arange(lanes)
    best = keys.argmax(axis=1)
    # -inf and what was not offered share the lowest key, which is greater than nothing.
    greater = (keys[rows, best] > ordered_key(accumulator)) & ~is_nan(accumulator)
    return np.where(greater, hub[rows, best], accumulator)


def nonzero_positions(
    truth: Truth, offset: npt.NDArray[np.uint32], padding: npt.NDArray[np.uint32]
) -> npt.NDArray[np.uint32]:
    """Positions of true elements, packed to the front: [C, N], [C], [C] to [C, N + 1].

    Ascending positions plus the lane's ``offset`` (mod 2**32), then ``padding``, and in the last
    slot how many there were.

    Source: NONZERO_WITH_COUNT.
    """
    if truth.ndim != 2:
        raise UsageError(f"truth must have 2 dimensions, not shape {truth.shape}")
    lanes, count = truth.shape
    check_shape(offset, "offset", (lanes,))
    check_shape(padding, "padding", (lanes,))
    result = np.empty((lanes, count + 1), dtype=np.uint32)
    result[:] = padding[:, None]
    rows, columns = truth.nonzero()
    counts = truth.sum(axis=1)
    rank = np.arange(rows.size) - (counts.cumsum() - counts)[rows]
    result[rows, rank] = columns.astype(np.uint32) + offset[rows]
    result[:, count] = counts
    return result


def _keys_without_nan(hub: Hub) -> npt.NDArray[np.int32]:
    keys = ordered_key(hub)
    keys[is_nan(hub)] = _LOWEST
    return keys


def _candidates(
    keys: npt.NDArray[np.int32],
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.intp]]:
    """Keys and positions of fewer elements per lane, in order, among them the best eight.

    Only the eight groups with the largest maxima, the earlier among equals, can hold one: each of
    these maxima ranks above everything in the other groups.
    """
    lanes, count = keys.shape
    groups = -(-count // _GROUP)
    if groups <= _KEYS:
        return keys, np.broadcast_to(np.arange(count), keys.shape)
    padded = np.full((lanes, groups * _GROUP), _LOWEST, dtype=np.int32)
    padded[:, :count] = keys
    grouped = padded.reshape(lanes, groups, _GROUP)
    maxima = grouped.max(axis=2)
    rows = np.arange(lanes)
    chosen = np.empty((lanes, _KEYS), dtype=np.intp)
    for rank in range(_KEYS):
        best = maxima.argmax(axis=1)
        chosen[:, rank] = best
        # Below every key, so that a group of nothing but -inf is not chosen twice.
        maxima[rows, best] = np.iinfo(np.int32).min
    chosen.sort(axis=1)
    positions = chosen[:, :, None] * _GROUP + np.arange(_GROUP)
    # Positions past the end hold the lowest key and are never read as values.
    positions = np.minimum(positions, count - 1).reshape(lanes, -1)
    return grouped[rows[:, None], chosen].reshape(lanes, -1), positions
