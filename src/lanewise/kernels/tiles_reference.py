"""Array loops of the tile machine, in NumPy: the readable twins of the compiled ones.

``tiles_native`` has the same kernels, compiled: relate, choose, compare_planes, select_planes,
unpack_planes, transpose_planes. What orders elements and bits in memory is only here.

Everything here works on unsigned integer arrays of any leading shape, a whole batch of cells at
a time, and knows no instruction set: an ``Ordering`` says how codes compare, ``rows`` and
``columns`` how planes of bits are packed. Bit 0 is the least significant bit of an element,
word or byte; memory is little-endian.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Unsigned = NDArray[np.unsignedinteger[Any]]
Mask = NDArray[np.bool_]

#: Native unsigned element types by width in bits (4-bit elements travel one a byte).
ELEMENT_TYPES: dict[int, np.dtype[Any]] = {
    4: np.dtype("<u1"),
    8: np.dtype("<u1"),
    16: np.dtype("<u2"),
    32: np.dtype("<u4"),
    64: np.dtype("<u8"),
}

#: Relations on order keys, by name.
_RELATIONS = {
    "EQ": np.equal,
    "NE": np.not_equal,
    "LT": np.less,
    "GT": np.greater,
    "LE": np.less_equal,
    "GE": np.greater_equal,
}


@dataclass(frozen=True, slots=True)
class Ordering:
    """How codes of ``width`` bits are ordered.

    ``sign_magnitude`` codes have a sign bit over a magnitude; magnitudes above
    ``largest_number`` are no numbers, and those of them without ``quiet_bit`` are signalling.
    """

    width: int
    kind: Literal["unsigned", "signed", "sign_magnitude"]
    largest_number: int = 0
    quiet_bit: int = 0


def order_keys(codes: Unsigned, ordering: Ordering) -> Unsigned:
    """Unsigned keys that order as the numbers do; both zeros get one key.

    Codes that are no numbers get some key: the caller knows where they are.
    """
    if ordering.kind == "unsigned":
        return codes
    kind = codes.dtype.type
    sign = kind(1 << (ordering.width - 1))
    if ordering.kind == "signed":
        return codes ^ sign
    # Negative codes count down from the sign bit, others up from it, so -0 and +0 meet there.
    magnitude = codes & kind(int(sign) - 1)
    return np.where(codes & sign != 0, sign - magnitude, sign + magnitude)


def not_numbers(codes: Unsigned, ordering: Ordering) -> tuple[Mask | None, bool]:
    """Where ``codes`` are no numbers (None: nowhere), and whether any of them is signalling."""
    if ordering.kind != "sign_magnitude":
        return None, False
    kind = codes.dtype.type
    magnitude = codes & kind((1 << (ordering.width - 1)) - 1)
    unordered = magnitude > kind(ordering.largest_number)
    if not unordered.any():
        return None, False
    signalling = unordered & (codes & kind(ordering.quiet_bit) == 0)
    return unordered, bool(signalling.any())


def signalling(codes: Unsigned, ordering: Ordering) -> Mask:
    """Where ``codes`` are signalling."""
    if ordering.kind != "sign_magnitude":
        return np.zeros(codes.shape, np.bool_)
    kind = codes.dtype.type
    magnitude = codes & kind((1 << (ordering.width - 1)) - 1)
    found: Mask = magnitude > kind(ordering.largest_number)
    found &= codes & kind(ordering.quiet_bit) == 0
    return found


def relate(left: Unsigned, right: Unsigned, ordering: Ordering, relation: str) -> tuple[Mask, bool]:
    """``left relation right`` element by element, and whether a signalling code took part.

    Shapes broadcast; a scalar takes part only where it meets an element.
    Where either side is no number NE holds and no other relation does.
    """
    result: Mask = _RELATIONS[relation](order_keys(left, ordering), order_keys(right, ordering))
    signalling = False
    for codes in (left, right):
        unordered, signals = not_numbers(codes, ordering)
        signalling |= signals
        if unordered is not None:
            result = result | unordered if relation == "NE" else result & ~unordered
    return result, signalling and result.size > 0


def choose(mask: Mask, true: Unsigned, false: Unsigned) -> Unsigned:
    """The codes of ``true`` where the mask is set, of ``false`` elsewhere; shapes broadcast."""
    return np.where(mask, true, false)


def cells_to_matrix(elements: Unsigned, cell_rows: int, cell_columns: int) -> Unsigned:
    """Elements in cell order ``(…, cells * rows * columns)`` as a matrix ``(…, rows, columns)``.

    Cells hold ``cell_rows`` rows of ``cell_columns`` neighbouring columns and follow each other
    along the columns.
    """
    lead = elements.shape[:-1]
    cells = elements.reshape(*lead, -1, cell_rows, cell_columns)
    return np.moveaxis(cells, -3, -2).reshape(*lead, cell_rows, -1)


def matrix_to_cells(matrix: Unsigned, cell_columns: int) -> Unsigned:
    """The inverse of ``cells_to_matrix``: ``(…, rows, columns)`` to one run of elements."""
    *lead, rows, columns = matrix.shape
    cells = matrix.reshape(*lead, rows, columns // cell_columns, cell_columns)
    return np.moveaxis(cells, -3, -2).reshape(*lead, -1)


def split_nibbles(data: Unsigned) -> Unsigned:
    """Bytes ``(…, n)`` as 4-bit elements ``(…, 2n)``, the low nibble first."""
    pairs = np.stack([data & np.uint8(15), data >> np.uint8(4)], axis=-1)
    return pairs.reshape(*data.shape[:-1], 2 * data.shape[-1])


def join_nibbles(elements: Unsigned) -> Unsigned:
    """The inverse of ``split_nibbles``: 4-bit elements ``(…, 2n)`` as bytes ``(…, n)``."""
    pairs = elements.reshape(*elements.shape[:-1], elements.shape[-1] // 2, 2)
    return pairs[..., 0] | pairs[..., 1] << np.uint8(4)


def pack_planes(planes: Mask, word_bytes: int = 8) -> Unsigned:
    """Planes of bits ``(…, rows, planes)`` packed into words ``(…)``: bit = row + plane * rows.

    Missing high bits are zero. ``rows * planes`` must fit the word.
    """
    *lead, rows, count = planes.shape
    run = np.swapaxes(planes, -1, -2).reshape(*lead, rows * count)
    packed = np.packbits(run, axis=-1, bitorder="little")
    words = np.zeros((*lead, word_bytes), np.uint8)
    words[..., : packed.shape[-1]] = packed
    return words.view(f"<u{word_bytes}")[..., 0]


def unpack_planes(words: Unsigned, rows: int) -> Mask:
    """Words ``(…, n)`` as planes of bits ``(…, rows, all planes)``, word after word.

    The inverse of ``pack_planes`` when every word is full: plane p holds bits ``p * rows`` up.
    """
    *lead, count = words.shape
    size = count * words.itemsize
    data = np.ascontiguousarray(words).view(np.uint8).reshape(*lead, size)
    run = np.unpackbits(data, axis=-1, bitorder="little").view(np.bool_)
    return np.swapaxes(run.reshape(*lead, 8 * size // rows, rows), -1, -2)


def compare_planes(
    left: Unsigned,
    right: Unsigned,
    ordering: Ordering,
    relation: str,
    plane: int,
    word_bytes: int = 8,
) -> tuple[Unsigned, Mask]:
    """Cells ``(…, rows, columns)`` compared into a word each, and which met a signalling code.

    Bit row + column * ``plane`` of a word ``(…)`` is the relation at that row and column; other
    bits are zero. ``right`` broadcasts to ``left``; ``columns * plane`` must fit the word.
    """
    right = np.broadcast_to(right, left.shape)
    results, any_signals = relate(left, right, ordering, relation)
    raised = np.zeros(left.shape[:-2], np.bool_)
    if any_signals:
        raised |= (signalling(left, ordering) | signalling(right, ordering)).any(axis=(-1, -2))
    rows, columns = left.shape[-2:]
    planes = np.zeros((*left.shape[:-2], plane, max(columns, 1)), np.bool_)
    planes[..., :rows, :columns] = results
    return pack_planes(planes, word_bytes), raised


def select_planes(words: Unsigned, true: Unsigned, false: Unsigned, plane: int) -> Unsigned:
    """The codes of ``true`` ``(…, rows, columns)`` where planes of words ``(…, n)`` are set.

    Elsewhere those of ``false``, which broadcasts to ``true``. Column c follows plane c.
    """
    rows, columns = true.shape[-2:]
    return choose(unpack_planes(words, plane)[..., :rows, :columns], true, false)


def transpose_planes(words: Unsigned, rows: int) -> Unsigned:
    """Words ``(…, n)`` of planes as bytes ``(…, rows, planes / 8)``.

    Bit b of byte j of row r is bit r of plane ``8 j + b``.
    """
    return np.packbits(unpack_planes(words, rows), axis=-1, bitorder="little")


def pack_bits(mask: Mask) -> Unsigned:
    """A run of bits ``(…, n)`` as bytes ``(…, ceil(n / 8))``, bit 0 first, the tail zero."""
    return np.packbits(mask, axis=-1, bitorder="little")


def unpack_bits(data: Unsigned, count: int) -> Mask:
    """The first ``count`` bits of bytes ``(…, n)``, bit 0 of byte 0 first."""
    run = np.unpackbits(data, axis=-1, count=count, bitorder="little")
    return run.view(np.bool_)
