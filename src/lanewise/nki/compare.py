"""Comparing a kernel's results with what was expected: bits, units in the last place, ties."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lanewise.errors import UsageError
from lanewise.nki.launch.arrays import incoming, is_array

CLASSES = ("equal bits", "equal value", "NaN payload", "tie", "differs")


@dataclass(frozen=True, slots=True)
class Difference:
    """One element that is not equal bit for bit.

    ``kind`` is one of equal value (such as -0 and +0), NaN payload, tie or differs; ``ulps`` the
    distance in units in the last place where both are finite floats of one type.
    """

    index: tuple[int, ...]
    actual: str
    expected: str
    kind: str
    ulps: int | None
    key: str = ""
    note: str = ""

    def __str__(self) -> str:
        place = ", ".join(map(str, self.index))
        named = f"{self.key}[{place}]" if self.key else f"[{place}]"
        apart = f", {self.ulps} ULP apart" if self.ulps is not None else ""
        noted = f" ({self.note})" if self.note else ""
        return f"{named}: {self.actual}, expected {self.expected}: {self.kind}{apart}{noted}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The outcome: how many elements fall in each class, and the first differences.

    True where nothing differs (equal values, NaN payloads and ties do not count as different).
    """

    counts: Mapping[str, int]
    differences: tuple[Difference, ...]
    most_ulps: int = 0

    @property
    def is_equal(self) -> bool:
        """Whether all bits are equal."""
        return all(self.counts[kind] == 0 for kind in CLASSES[1:])

    def __bool__(self) -> bool:
        return self.counts["differs"] == 0

    def __str__(self) -> str:
        counted = ", ".join(f"{kind} {self.counts[kind]}" for kind in CLASSES if self.counts[kind])
        lines = [counted or "no elements"]
        if self.most_ulps:
            lines.append(f"largest distance: {self.most_ulps} ULP")
        lines += [f"  {difference}" for difference in self.differences]
        return "\n".join(lines)


def compare(
    actual: Any, expected: Any, keys: list[str] | None = None, *, first: int = 10
) -> Comparison:
    """Compare arrays, or tuples, lists and dicts of arrays, element by element.

    ``keys`` limits a comparison of dicts to some entries; ``first`` is how many differences are
    kept. UsageError where the structures, shapes or types do not fit; numbers and lists that are
    no arrays have no type of their own.
    """
    counts = dict.fromkeys(CLASSES, 0)
    found: list[Difference] = []
    most = 0
    for key, left, right in _pairs(actual, expected, keys, ""):
        for difference in _differences(key, left, right, counts):
            most = max(most, difference.ulps or 0)
            if len(found) < first:
                found.append(difference)
    return Comparison(counts, tuple(found), most)


def compare_indices(
    actual: ArrayLike, expected: ArrayLike, data: ArrayLike, *, first: int = 10
) -> Comparison:
    """Compare positions found in the rows of ``data``.

    Where two positions differ but the data there are equal, that is a tie: any order of equal
    values may be right. Everything else that differs is an error.
    """
    left, right, rows = np.asarray(actual), np.asarray(expected), np.asarray(data)
    if left.shape != right.shape:
        raise UsageError(f"shapes {left.shape} and {right.shape} must be equal")
    rows = rows.reshape(-1, rows.shape[-1])
    left = left.reshape(len(rows), -1).astype(np.int64)
    right = right.reshape(len(rows), -1).astype(np.int64)
    counts = dict.fromkeys(CLASSES, 0)
    counts["equal bits"] = int((left == right).sum())
    found: list[Difference] = []
    for row, column in np.argwhere(left != right):
        places = left[row, column], right[row, column]
        inside = all(0 <= place < rows.shape[1] for place in places)
        values = [rows[row, place] for place in places] if inside else []
        tie = inside and bool(values[0] == values[1])
        kind = "tie" if tie else "differs"
        counts[kind] += 1
        if len(found) < first:
            note = f"data {values[0]} and {values[1]}" if inside else "no position of data"
            found.append(
                Difference(
                    (int(row), int(column)), str(places[0]), str(places[1]), kind, None, note=note
                )
            )
    return Comparison(counts, tuple(found))


def _pairs(
    actual: Any, expected: Any, keys: list[str] | None, name: str
) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        for key in expected if keys is None else keys:
            if key not in actual or key not in expected:
                raise UsageError(f"key {key!r} is not in both results")
            yield from _pairs(actual[key], expected[key], None, f"{name}{key}")
    elif isinstance(actual, (tuple, list)) and isinstance(expected, (tuple, list)):
        if len(actual) != len(expected):
            raise UsageError(f"{len(actual)} results cannot be compared with {len(expected)}")
        for place, (left, right) in enumerate(zip(actual, expected, strict=True)):
            yield from _pairs(left, right, None, f"{name}{place}")
    else:
        yield name, actual, expected


def _differences(
    key: str, actual: Any, expected: Any, counts: dict[str, int]
) -> Iterator[Difference]:
    left, right = _array(actual), _array(expected)
    if left.shape != right.shape:
        raise UsageError(f"shapes {left.shape} and {right.shape} must be equal")
    if left.dtype != right.dtype and is_array(actual) and is_array(expected):
        where = f" of {key}" if key else ""
        raise UsageError(
            f"types {left.dtype} and {right.dtype}{where} must be equal to compare bits; "
            "convert one of them, as with expected.astype(actual.dtype)"
        )
    same = _same_bits(left, right)
    counts["equal bits"] += int(same.sum())
    for index in map(tuple, np.argwhere(~same)):
        x, y = left[index], right[index]
        both_nan = _is_nan(x) and _is_nan(y)
        kind = "NaN payload" if both_nan else "equal value" if bool(x == y) else "differs"
        counts[kind] += 1
        place = tuple(int(part) for part in index)
        yield Difference(place, str(x), str(y), kind, _ulps(x, y), key)


def _array(value: Any) -> NDArray[Any]:
    if is_array(value):
        if isinstance(value, np.ndarray):
            return value
        codes, dtype = incoming("value", value)
        return codes.view(dtype.numpy)
    return np.asarray(value)


def _same_bits(left: NDArray[Any], right: NDArray[Any]) -> NDArray[np.bool_]:
    if left.dtype == right.dtype:
        bits = f"u{left.dtype.itemsize}"
        x, y = np.ascontiguousarray(left).view(bits), np.ascontiguousarray(right).view(bits)
        return np.asarray(x == y, dtype=np.bool_).reshape(left.shape)
    return np.asarray(left == right)


def _ulps(x: Any, y: Any) -> int | None:
    """How many numbers of their type lie between two finite floats."""
    if x.dtype != y.dtype or not _is_float(x.dtype):
        return None
    if not (math.isfinite(float(x)) and math.isfinite(float(y))):
        return None
    size = x.dtype.itemsize
    return abs(_ordered(x, size) - _ordered(y, size))


def _is_nan(value: Any) -> bool:
    return _is_float(np.asarray(value).dtype) and math.isnan(float(value))


def _is_float(dtype: np.dtype[Any]) -> bool:
    return dtype.kind == "f" or "float" in dtype.name


def _ordered(value: Any, size: int) -> int:
    """The float's place among the numbers of its type."""
    bits = int.from_bytes(np.asarray(value).tobytes(), "little")
    sign = 1 << (8 * size - 1)
    return -(bits ^ sign) if bits & sign else bits
