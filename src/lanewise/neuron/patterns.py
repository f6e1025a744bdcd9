"""Access patterns at work: gathering a walk into an array and scattering it back.

Arrays are [lanes, elements] of unsigned codes, elements in walk order (dimension 0 fastest).
Gathering always copies, so sources are safe from the instruction's own writes. Where a
destination names a place twice, the last element written in walk order stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanewise.neuron.dtypes import CODE_TYPES
from lanewise.neuron.generation import Space

Codes = NDArray[np.unsignedinteger[Any]]
Truth = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Walk:
    """A resolved tensor pattern: lane c starts at byte ``offset`` of partition ``partition`` + c.

    ``step`` and ``num`` are innermost first, steps in elements of ``size`` bytes.
    """

    space: Space
    partition: int
    offset: int
    size: int
    step: tuple[int, ...]
    num: tuple[int, ...]

    @property
    def count(self) -> int:
        """Number of elements a lane."""
        return prod(self.num)

    @property
    def is_injective(self) -> bool:
        """Whether no two elements can share a place (sufficient, not necessary)."""
        reach = 0
        for step, num in sorted(
            (abs(step), num) for step, num in zip(self.step, self.num, strict=True) if num > 1
        ):
            if step <= reach:
                return False
            reach += step * (num - 1)
        return True

    def element_offsets(self) -> NDArray[np.int64]:
        """Offsets of the elements in units of the element size, in walk order."""
        offsets = np.zeros(1, dtype=np.int64)
        for step, num in zip(self.step, self.num, strict=True):
            outer = np.arange(num, dtype=np.int64) * step
            offsets = (outer[:, None] + offsets[None, :]).reshape(-1)
        return offsets + self.offset // self.size

    def view(self, data: NDArray[np.uint8], lanes: int) -> Codes:
        """The walk over ``data`` as an array [lanes, num3, num2, num1, num0], without a copy."""
        shape = (lanes, *reversed(self.num))
        strides = (data.strides[0], *(step * self.size for step in reversed(self.step)))
        start = self.partition * data.strides[0] + self.offset
        return np.ndarray(
            shape, CODE_TYPES[self.size], buffer=data.data, offset=start, strides=strides
        )


@dataclass(frozen=True, slots=True)
class Listed:
    """A resolved indirect pattern: the byte offset of every element of every lane.

    ``offsets`` is int64 [lanes, elements]; lane c lies in partition ``partition`` + c.
    """

    space: Space
    partition: int
    size: int
    offsets: NDArray[np.int64]

    @property
    def count(self) -> int:
        """Number of elements a lane."""
        return int(self.offsets.shape[1])


Pattern = Walk | Listed


def gather(data: NDArray[np.uint8], pattern: Pattern, lanes: int) -> Codes:
    """The pattern's elements as a new array [lanes, elements]."""
    if isinstance(pattern, Walk):
        return pattern.view(data, lanes).reshape(lanes, -1).copy()
    elements = _rows(data, pattern, lanes)
    return np.take_along_axis(elements, pattern.offsets // pattern.size, axis=1)


def scatter(
    data: NDArray[np.uint8],
    pattern: Pattern,
    lanes: int,
    codes: Codes,
    where: Truth | None = None,
) -> None:
    """Store ``codes`` [lanes, elements] in walk order, only those elements that ``where`` marks."""
    if isinstance(pattern, Walk) and pattern.is_injective:
        view = pattern.view(data, lanes)
        if where is None:
            view[...] = codes.reshape(view.shape)
        else:
            np.copyto(view, codes.reshape(view.shape), where=where.reshape(view.shape))
        return
    if isinstance(pattern, Walk):
        offsets = np.broadcast_to(pattern.element_offsets(), (lanes, pattern.count))
    else:
        offsets = pattern.offsets // pattern.size
    elements = _rows(data, pattern, lanes)
    # Array assignment promises no order where a place repeats, so keep only its last writer.
    row_length = elements.shape[1]
    places = offsets + np.arange(lanes, dtype=np.int64)[:, None] * row_length
    kept = np.broadcast_to(codes, places.shape)
    if where is None:
        flat_places, flat_codes = places.reshape(-1), kept.reshape(-1)
    else:
        flat_places, flat_codes = places[where], kept[where]
    unique, from_end = np.unique(flat_places[::-1], return_index=True)
    elements[unique // row_length, unique % row_length] = flat_codes[::-1][from_end]


def _rows(data: NDArray[np.uint8], pattern: Pattern, lanes: int) -> Codes:
    """The pattern's partitions as elements [lanes, elements a partition], without a copy."""
    rows = data[pattern.partition : pattern.partition + lanes]
    return rows.view(CODE_TYPES[pattern.size])
