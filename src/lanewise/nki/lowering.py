"""From tile views to access patterns of instruction words.

Channels are the rows of the view; the other dimensions become (step, num) pairs, innermost
first: dimensions of size 1 are dropped, neighbours that continue each other are merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lanewise.neuron import Generation
from lanewise.neuron.words import Tensor4D, walk
from lanewise.nki.geometry import Geometry
from lanewise.nki.storage import OnChip

if TYPE_CHECKING:
    from lanewise.nki.tile import NkiTensor

Pair = tuple[int, int]
MOST_COUNT = 0xFFFF
LEAST_STEP, MOST_STEP = -0x8000, 0x7FFF


@dataclass(frozen=True, slots=True)
class Walked:
    """The free dimensions of an operand: a byte offset and (step, num) pairs, innermost first."""

    space: str
    partition: int
    offset: int
    size: int
    pairs: tuple[Pair, ...]

    def negated(self) -> Walked:
        """The same elements from last to first: the start moves to the end, steps change sign."""
        moved = sum(step * (num - 1) for step, num in self.pairs)
        pairs = tuple((-step, num) for step, num in self.pairs)
        return Walked(self.space, self.partition, self.offset + moved * self.size, self.size, pairs)

    def tensor(self, generation: Generation) -> Tensor4D:
        """The operand of a word."""
        start = generation.address(self.space, self.partition, self.offset)
        return walk(start, *self.pairs)


def merged(view: Geometry) -> tuple[Pair, ...]:
    """The free dimensions as (step, num) pairs, innermost first, as few as possible."""
    pairs: list[Pair] = []
    for stride, size in reversed(view.free):
        if size == 1:
            continue
        if pairs and stride == pairs[-1][0] * pairs[-1][1]:
            pairs[-1] = (pairs[-1][0], pairs[-1][1] * size)
        else:
            pairs.append((stride, size))
    return tuple(pairs)


def walked(tile: NkiTensor) -> Walked:
    """The tile's pattern, however many dimensions it takes."""
    view, storage = tile.geometry, tile.storage
    assert isinstance(storage, OnChip), "compute operands are on chip"
    return Walked(
        storage.buffer,
        storage.partition + view.partition,
        storage.offset + view.offset * tile.dtype.size,
        tile.dtype.size,
        merged(view),
    )


def trouble(pairs: Sequence[Pair], limit: int) -> tuple[str, str, str] | None:
    """What keeps pairs out of one word: (quantity, value, limit), or None."""
    if len(pairs) > limit:
        return "dimensions after merging", str(len(pairs)), str(limit)
    for step, num in pairs:
        if not LEAST_STEP <= step <= MOST_STEP:
            return "step", str(step), f"the {LEAST_STEP}..{MOST_STEP} of a word"
        if num > MOST_COUNT:
            return "count", str(num), f"the {MOST_COUNT} of a word"
    return None


def pieces(operands: Sequence[Walked], limit: int) -> list[tuple[Walked, ...]] | None:
    """Operands with the same number of elements, cut alike until each piece fits a word.

    None when a step cannot be expressed however small the pieces are. Pieces follow each other
    in the order of the elements.
    """
    whole = tuple(operands)
    if all(trouble(operand.pairs, limit) is None for operand in whole):
        return [whole]
    outermost = [operand.pairs[-1] if operand.pairs else (1, 1) for operand in whole]
    if len(whole[0].pairs) == 0:
        return None
    count = _total(whole[0].pairs)
    parts = _cuts(whole, count)
    if parts is None:
        return None
    found: list[tuple[Walked, ...]] = []
    del outermost
    for part in range(parts):
        cut = tuple(_part(operand, part, parts) for operand in whole)
        inner = pieces(cut, limit)
        if inner is None:
            return None
        found += inner
    return found


def _total(pairs: Sequence[Pair]) -> int:
    total = 1
    for _, num in pairs:
        total *= num
    return total


def _cuts(operands: Sequence[Walked], count: int) -> int | None:
    """Into how many equal parts every operand can be cut along its outermost dimension.

    The smallest common one, so that pieces stay long.
    """
    for parts in range(2, count + 1):
        if count % parts == 0 and all(
            operand.pairs[-1][1] % parts == 0 for operand in operands if operand.pairs
        ):
            return parts
    return None


def _part(operand: Walked, part: int, parts: int) -> Walked:
    step, num = operand.pairs[-1]
    inner = num // parts
    outer = (*operand.pairs[:-1], (step, inner)) if inner > 1 else operand.pairs[:-1]
    offset = operand.offset + part * inner * step * operand.size
    return Walked(operand.space, operand.partition, offset, operand.size, outer)
