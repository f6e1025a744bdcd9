"""Row kernels, in NumPy: the readable twins of what ``native/`` compiles.

Every operand is a view ``[rows, …]`` of unsigned codes of 1, 2 or 4 bytes with up to four axes
after the first; their elements in C order, the last axis fastest, are a row's walk, so any
strides make an access pattern: other steps than one, negative ones, zero. Operands of one kernel
pair element k with element k and need the same number of elements, not the same axes. All sources
are read before the first write, so they may overlap the destination. Where a destination names a
place twice, the last element written stays. Raises ValueError, with nothing written, for operands
that do not fit together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lanewise.formats import FP32, ConversionPolicy, Format
from lanewise.kernels import convert as conversions
from lanewise.kernels.arrays import Codes, Hub, Truth, code_dtype
from lanewise.kernels.compare import is_nan, ordered_key
from lanewise.kernels.search import find8, fold_maximum, nonzero_positions, top8
from lanewise.kernels.sequence import index_sequence

__all__ = [
    "RELATION_SETS",
    "Conversion",
    "cast_rows",
    "conversion",
    "fill_rows",
    "find8_rows",
    "merge_rows",
    "nonzero_rows",
    "note_rows",
    "range_rows",
    "replace8_rows",
    "select_rows",
    "top8_rows",
]

View = NDArray[Any]

_KEYS: Final = 8
_LESS, _EQUAL, _GREATER = 1, 2, 4

RELATION_SETS: Final[dict[str, int]] = {
    "lt": _LESS,
    "eq": _EQUAL,
    "gt": _GREATER,
    "le": _LESS | _EQUAL,
    "ge": _GREATER | _EQUAL,
}
"""A relation as the set of orders in which it holds: 1 less, 2 equal, 4 greater."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """Codes of one format to codes of another; make it with :func:`conversion`."""

    source: Format
    target: Format
    policy: ConversionPolicy
    stream: bool
    flip: int

    @property
    def to_size(self) -> int:
        """Bytes of a converted element."""
        return code_dtype(self.target).itemsize

    def __call__(self, codes: Codes) -> Codes:
        """The converted codes."""
        if self.flip:
            codes = codes ^ np.uint32(self.flip)
        return conversions.convert(codes, self.source, self.target, self.policy, stream=self.stream)


def conversion(
    source: Format,
    target: Format,
    policy: ConversionPolicy,
    *,
    stream: bool = False,
    flip: int = 0,
) -> Conversion:
    """The conversion of ``convert`` with these arguments, for use by row kernels.

    ``flip`` is exclusive-ored to the bits of FP32 sources before anything else.
    """
    if flip and source != FP32:
        raise ValueError("only FP32 sources can be flipped")
    return Conversion(source, target, policy, stream, flip)


def cast_rows(destination: View, source: View, conversion: Conversion) -> None:
    """``destination[k] = conversion(source[k])``."""
    _check_destination(destination)
    _check_like(source, "source", destination)
    _check_conversion(conversion, source, destination)
    _store(destination, conversion(_flat(source)))


def merge_rows(destination: View, source: View, predicate: View, conversion: Conversion) -> None:
    """``destination[k] = conversion(source[k])`` where ``predicate[k]`` is not 0."""
    _check_destination(destination)
    _check_like(source, "source", destination)
    _check_like(predicate, "predicate", destination)
    _check_conversion(conversion, source, destination)
    _store(destination, conversion(_flat(source)), _flat(predicate) != 0)


def fill_rows(destination: View, value: View, predicate: View, when: bool) -> None:
    """``destination[k] = value`` where ``(predicate[k] != 0) == when``.

    ``value`` [rows] holds one code a row.
    """
    _check_destination(destination)
    _check_like(predicate, "predicate", destination)
    _check_per_row(value, "value", destination)
    fresh = np.broadcast_to(_bits(value)[:, None], _shape(destination))
    _store(destination, fresh, (_flat(predicate) != 0) == when)


def top8_rows(destination: View, source: View, to_hub: Conversion, from_hub: Conversion) -> None:
    """The eight largest elements of each row, ascending (see ``top8``), through FP32."""
    _check_destination(destination)
    _check_shape(destination, "destination", (_shape(source)[0], _KEYS))
    _store(destination, from_hub(top8(to_hub(_flat(source)))))


def find8_rows(
    destination: View,
    source: View,
    to_hub: Conversion,
    keys: Hub,
    matched: Truth,
) -> None:
    """The positions of eight keys in each row (see ``find8``), all ones where there is none.

    ``keys`` [rows, 8] are FP32 bits; ``matched`` [rows, 8] is updated.
    """
    _check_destination(destination)
    _check_shape(destination, "destination", (_shape(source)[0], _KEYS))
    found, served = find8(to_hub(_flat(source)), keys, matched)
    _store(destination, found.astype(f"u{destination.itemsize}"))
    matched[...] = served


def replace8_rows(
    destination: View,
    source: View,
    to_hub: Conversion,
    from_hub: Conversion,
    replacement: int,
    keys: Hub,
    matched: Truth,
    indices: Hub,
) -> None:
    """The elements through FP32, with the code ``replacement`` where a key was found.

    ``keys`` and ``matched`` as in :func:`find8_rows`; ``indices`` [rows, 8] gets the positions,
    all ones where there is none.
    """
    _check_destination(destination)
    _check_like(source, "source", destination)
    hub = to_hub(_flat(source))
    found, served = find8(hub, keys, matched)
    results = from_hub(hub)
    row, slot = np.nonzero(found >= 0)
    results[row, found[row, slot]] = replacement
    _store(destination, results)
    indices[...] = found.astype(np.uint32)
    matched[...] = served


def select_rows(
    destination: View,
    source: View,
    predicate: View,
    when: bool,
    conversion: Conversion,
    to_hub: Conversion,
    other: View | None,
    other_hub: Hub | None,
    accumulator: Hub | None,
) -> None:
    """``conversion(source[k])`` where ``(predicate[k] != 0) == when``, elsewhere ``other``.

    ``other`` [rows] holds one code a row; without it the destination keeps what it has. The
    FP32 values of the chosen elements fold into ``accumulator`` [rows] (see ``fold_maximum``),
    and ``other_hub`` [rows] in the place of each other element if there is one.
    """
    _check_destination(destination)
    _check_like(source, "source", destination)
    _check_like(predicate, "predicate", destination)
    truth = (_flat(predicate) != 0) == when
    _select(destination, source, truth, conversion, to_hub, other, other_hub, accumulator)


def range_rows(
    destination: View,
    source: View,
    base: int | None,
    low_relation: int,
    low: Hub,
    high_relation: int,
    high: Hub,
    conversion: Conversion,
    to_hub: Conversion,
    other: View | None,
    other_hub: Hub | None,
    accumulator: Hub | None,
) -> None:
    """As :func:`select_rows`, chosen where both relations to the bounds [rows] hold.

    What is compared is ``base + k`` (see ``index_sequence``), or without ``base`` the element.
    Relations are sets of orders, see :data:`RELATION_SETS`.
    """
    _check_destination(destination)
    _check_like(source, "source", destination)
    _check_per_row(low, "low", destination)
    _check_per_row(high, "high", destination)
    if base is None:
        operand = to_hub(_flat(source))
    else:
        operand = index_sequence(base, _shape(destination)[1])[None, :]
    truth = _holds(operand, low_relation, _bits(low)[:, None])
    truth = truth & _holds(operand, high_relation, _bits(high)[:, None])
    _select(destination, source, truth, conversion, to_hub, other, other_hub, accumulator)


def nonzero_rows(
    destination: View, source: View, offset: View, padding: View, mask: int, skip_nan: bool
) -> None:
    """The positions of the elements with a bit of ``mask`` set (see ``nonzero_positions``).

    With ``skip_nan`` FP32 NaNs do not count. The destination has one element more than the source.
    """
    _check_destination(destination)
    rows, count = _shape(source)
    _check_shape(destination, "destination", (rows, count + 1))
    _check_per_row(offset, "offset", destination)
    _check_per_row(padding, "padding", destination)
    codes = _flat(source)
    truth = (codes & np.uint32(mask)) != 0
    if skip_nan:
        truth &= ~is_nan(codes)
    _store(destination, nonzero_positions(truth, _bits(offset), _bits(padding)))


def note_rows(flags: View) -> bytes | None:
    """The flags [rows] of a byte each, when one of them is set."""
    _check_shape(flags, "flags", (flags.shape[0], 1))
    return flags.tobytes() if flags.any() else None


def _select(
    destination: View,
    source: View,
    truth: Truth,
    conversion: Conversion,
    to_hub: Conversion,
    other: View | None,
    other_hub: Hub | None,
    accumulator: Hub | None,
) -> None:
    _check_conversion(conversion, source, destination)
    for per_row, name in ((other, "other"), (other_hub, "other_hub"), (accumulator, "accumulator")):
        if per_row is not None:
            _check_per_row(per_row, name, destination)
    codes = _flat(source)
    truth = np.broadcast_to(truth, codes.shape)
    chosen = conversion(codes)
    if other is None:
        _store(destination, chosen, truth)
    else:
        _store(destination, np.where(truth, chosen, _bits(other)[:, None]))
    if accumulator is None:
        return
    values = to_hub(codes)
    if other_hub is None:
        accumulator[...] = fold_maximum(accumulator, values, truth)
    else:
        offered = np.where(truth, values, _bits(other_hub)[:, None])
        accumulator[...] = fold_maximum(accumulator, offered)


def _holds(left: Hub, relation: int, right: Hub) -> Truth:
    """Whether left is in one of the orders to right; a NaN is in none."""
    first, second = ordered_key(left), ordered_key(right)
    truth: Truth = np.zeros(np.broadcast_shapes(left.shape, right.shape), np.bool_)
    if relation & _LESS:
        truth |= first < second
    if relation & _EQUAL:
        truth |= first == second
    if relation & _GREATER:
        truth |= first > second
    return truth & ~is_nan(left) & ~is_nan(right)


# Views and walks.


def _shape(view: View) -> tuple[int, int]:
    """Rows, and elements a row."""
    return view.shape[0], int(np.prod(view.shape[1:], dtype=np.int64))


def _bits(view: View) -> View:
    """The codes as unsigned integers, so that no value is converted on the way."""
    return view.view(f"u{view.itemsize}")


def _flat(view: View) -> View:
    """A copy as [rows, elements], in walk order."""
    return _bits(view).reshape(_shape(view)).copy()


def _is_injective(view: View) -> bool:
    """Whether no two elements of a row can share a place (sufficient, not necessary)."""
    reach = 0
    steps = zip(view.strides[1:], view.shape[1:], strict=True)
    for step, num in sorted((abs(step), num) for step, num in steps if num > 1):
        if step < reach + view.itemsize:
            return False
        reach += step * (num - 1)
    return True


def _store(destination: View, codes: Codes, where: Truth | None = None) -> None:
    """Write codes [rows, elements] in walk order, only those that ``where`` marks."""
    target = _bits(destination)
    if _is_injective(destination):
        mask: Any = True if where is None else where.reshape(target.shape)
        np.copyto(target, codes.reshape(target.shape), where=mask, casting="no")
        return
    for k in range(codes.shape[1]):
        place: Any = (slice(None), *np.unravel_index(k, target.shape[1:]))
        chosen = slice(None) if where is None else where[:, k]
        target[place][chosen] = codes[:, k][chosen]


def _check_view(view: View, name: str) -> None:
    if not 1 <= view.ndim <= 5 or view.itemsize not in (1, 2, 4):
        raise ValueError(f"{name} must have 1 to 5 dimensions and elements of 1, 2 or 4 bytes")


def _check_destination(destination: View) -> None:
    _check_view(destination, "destination")
    reach = sum(
        abs(step) * (num - 1)
        for step, num in zip(destination.strides[1:], destination.shape[1:], strict=True)
    )
    apart = abs(destination.strides[0])
    if destination.size and destination.shape[0] > 1 and apart < reach + destination.itemsize:
        raise ValueError("destination must have rows that do not overlap")


def _check_shape(view: View, name: str, shape: tuple[int, int]) -> None:
    _check_view(view, name)
    rows, count = _shape(view)
    if (rows, count) != shape:
        raise ValueError(
            f"{name} must have {shape[0]} rows of {shape[1]} elements, not {rows} of {count}"
        )


def _check_like(view: View, name: str, destination: View) -> None:
    _check_shape(view, name, _shape(destination))


def _check_per_row(view: View, name: str, destination: View) -> None:
    _check_shape(view, name, (destination.shape[0], 1))
    if view.size and destination.size and np.may_share_memory(view, destination):
        raise ValueError(f"{name} must not share memory with the destination")


def _check_conversion(conversion: Conversion, source: View, destination: View) -> None:
    size = code_dtype(conversion.source).itemsize
    if source.itemsize != size:
        raise ValueError(f"source must have elements of {size} bytes, not {source.itemsize}")
    if conversion.to_size != destination.itemsize:
        raise ValueError(f"the conversion must give elements of {destination.itemsize} bytes")
