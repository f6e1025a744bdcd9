"""Numbers as element codes: what loading values into a tile does. No instruction converts.

A number becomes the nearest one of the type, ties to even; what is too large becomes the infinity
of a type that has one, else its largest number, and integers end at their limits. A NaN becomes
the type's quiet NaN, the code zero where it has none. Exact: every number passes through the
scalar codec.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lanewise.errors import UsageError
from lanewise.formats import ConversionPolicy, Value, encode, finite, infinity, nan, zero
from lanewise.kernels.tiles_reference import ELEMENT_TYPES
from lanewise.pto.datatypes import DataType


def codes_of(values: ArrayLike, dtype: str | DataType) -> NDArray[Any]:
    """The codes of numbers (floats, integers, booleans; any shape) in ``dtype``.

    UsageError for an array of anything else, and for types whose documents give no rounding rule
    (HiF8).
    """
    dtype, given = DataType.named(dtype), np.asarray(values)
    if given.dtype.kind not in "fiub" or given.dtype.itemsize > 8:
        raise UsageError(f"only numbers convert to {dtype.name}, not {given.dtype}")
    # Equal numbers convert once; zeros are told apart by their bits, and NaNs are all alike.
    bits = given.astype(given.dtype.newbyteorder("=")).reshape(-1)
    if given.dtype.kind == "f":
        bits = bits.view(f"u{given.dtype.itemsize}")
    known, places = np.unique(bits, return_inverse=True)
    numbers = known.view(given.dtype.newbyteorder("=")).tolist()
    table = np.array([_code(number, dtype) for number in numbers], ELEMENT_TYPES[dtype.width])
    return table[places].reshape(given.shape)


def _code(number: float, dtype: DataType) -> int:
    form = dtype.format
    value = _value(number)
    if value.is_nan and form.quiet_nan is None:
        return 0
    overflow = "saturate" if form.infinity is None else "infinity"
    return encode(form, value, ConversionPolicy("nearest", overflow))


def _value(number: float) -> Value:
    if number != number:  # noqa: PLR0124  # the NaN test
        return nan()
    negative = bool(np.signbit(number))
    if number in (float("inf"), float("-inf")):
        return infinity(negative)
    return finite(Fraction(number)) if number else zero(negative)
