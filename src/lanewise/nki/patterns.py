"""Views given as ``[[stride, count], …]`` pairs, and views given back as such."""

from __future__ import annotations

from collections.abc import Sequence

from lanewise.errors import UsageError
from lanewise.nki.geometry import Geometry

Pairs = Sequence[Sequence[int]]


def pattern_of(strides: Sequence[int], shape: Sequence[int]) -> list[list[int]]:
    """Pairs of stride and count, outermost first."""
    return [[stride, count] for stride, count in zip(strides, shape, strict=True)]


def explicit(view: Geometry, pattern: Pairs, offset: int | None, row: int) -> Geometry:
    """The view that pairs name, ``row`` being the elements of a partition in storage.

    On chip the first pair is the partition pair, its stride a whole multiple of ``row``.
    """
    pairs = [_pair(pair) for pair in pattern]
    if not pairs:
        raise UsageError("an access pattern needs at least one [stride, count] pair")
    shape = tuple(count for _, count in pairs)
    strides = tuple(stride for stride, _ in pairs)
    if view.axis is None:
        start = view.offset if offset is None else int(offset)
        return Geometry(shape, strides, start)
    if len(pairs) < 2:
        raise UsageError("an on-chip access pattern needs a partition pair and a free pair")
    stride, count = pairs[0]
    if count > 1 and (stride % row or stride < row):
        raise UsageError(
            f"partition stride {stride} must be a whole multiple of the {row} elements of a "
            "partition"
        )
    partition, start = (view.partition, view.offset) if offset is None else divmod(offset, row)
    return Geometry(shape, (stride // row or 1, *strides[1:]), start, partition, 0)


def _pair(pair: Sequence[int]) -> tuple[int, int]:
    if len(pair) != 2:
        raise UsageError(f"an access pattern is [[stride, count], …], not {list(pair)}")
    stride, count = int(pair[0]), int(pair[1])
    if count < 1:
        raise UsageError(f"count {count} of pair {list(pair)} must be at least 1")
    return stride, count
