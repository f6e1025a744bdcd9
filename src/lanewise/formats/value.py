"""What a code means: a class, a sign and an exact value."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction


class ValueClass(StrEnum):
    """The class of a decoded code."""

    ZERO = "zero"
    FINITE = "finite"
    INFINITY = "inf"
    QUIET_NAN = "qnan"
    SIGNALING_NAN = "snan"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class Value:
    """A decoded code.

    ``negative`` is the sign bit, so it tells -0 from +0 and the two infinities apart, and is false
    for formats without sign. ``value`` is the signed value as an exact fraction (0 for both
    zeros), None for infinities, NaNs and invalid codes.
    """

    category: ValueClass
    negative: bool
    value: Fraction | None

    @property
    def is_nan(self) -> bool:
        """True for quiet and signaling NaN."""
        return self.category in (ValueClass.QUIET_NAN, ValueClass.SIGNALING_NAN)

    @property
    def is_number(self) -> bool:
        """True for zeros and finite values: ``value`` is there."""
        return self.value is not None


_ZERO = Fraction(0)


def zero(negative: bool = False) -> Value:
    """A zero; true for -0."""
    return Value(ValueClass.ZERO, negative, _ZERO)


def finite(value: Fraction | int) -> Value:
    """A finite value; 0 becomes +0 (use ``zero`` for -0)."""
    if value == 0:
        return zero()
    return Value(ValueClass.FINITE, value < 0, Fraction(value))


def infinity(negative: bool = False) -> Value:
    """An infinity."""
    return Value(ValueClass.INFINITY, negative, None)


def nan(negative: bool = False, *, signaling: bool = False) -> Value:
    """A NaN, its payload forgotten."""
    category = ValueClass.SIGNALING_NAN if signaling else ValueClass.QUIET_NAN
    return Value(category, negative, None)


def invalid(negative: bool = False) -> Value:
    """A code that stands for nothing in its format."""
    return Value(ValueClass.INVALID, negative, None)
