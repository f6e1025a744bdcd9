"""From exact values to codes: rounding to nearest even, in integers.

Source: conversion rules (encode to a float format, encode to an integer); profile fields
float_to_int, float_overflow, nan_to_int.
"""

from __future__ import annotations

from fractions import Fraction

from lanewise.errors import UsageError
from lanewise.formats.description import Format
from lanewise.formats.policy import ConversionPolicy
from lanewise.formats.value import Value, ValueClass, finite


def encode(format: Format, value: Value | Fraction | int, policy: ConversionPolicy) -> int:
    """The code of ``value`` in ``format``.

    Floats: magnitudes round to nearest, ties to even, as if the exponent had no upper end;
    subnormals are gradual; zeros, infinities and NaNs keep their sign. What is too large follows
    ``policy.float_overflow``. In a format without zero, what is below the smallest value becomes
    the smallest value. Integers: ``policy.float_to_int`` rounds, then the type's range clamps,
    infinities included; a NaN becomes zero. A plain fraction of 0 is +0.

    Raises ``UsageError`` for an invalid value, a NaN in a float format that has none, a negative
    value in an unsigned float format, and formats that can only be decoded (HiF8, RCPE6M2: their
    documents give no rule for rounding).
    """
    if not isinstance(value, Value):
        value = finite(value)
    if value.category is ValueClass.INVALID:
        raise UsageError(f"{format.name}: cannot encode an invalid value")
    if format.is_integer:
        return _encode_integer(format, value, policy)
    if format.kind != "float":
        raise UsageError(f"{format.name} can only be decoded: its documents give no rounding rule")
    return _encode_float(format, value, policy)


def _encode_integer(format: Format, value: Value, policy: ConversionPolicy) -> int:
    if value.value is not None:
        numerator, denominator = value.value.numerator, value.value.denominator
        magnitude = abs(numerator)
        if policy.float_to_int == "nearest":
            magnitude = divide_to_even(magnitude, denominator)
        else:
            magnitude //= denominator
        number = -magnitude if numerator < 0 else magnitude
    elif value.category is ValueClass.INFINITY:
        number = format.min_value if value.negative else format.max_value
    else:
        number = 0
    return min(max(number, format.min_value), format.max_value) & format.code_mask


def _encode_float(format: Format, value: Value, policy: ConversionPolicy) -> int:
    if value.is_nan:
        if format.quiet_nan is None:
            raise UsageError(f"{format.name}: cannot encode a NaN, the format has none")
        return format.quiet_nan | (format.sign_mask if value.negative else 0)
    if value.negative and not format.signed and value.category is not ValueClass.ZERO:
        raise UsageError(f"{format.name}: cannot encode a negative value in an unsigned format")
    sign = format.sign_mask if value.negative else 0
    if value.value is None:
        infinity = format.infinity
        return sign | (overflow_code(format, policy) if infinity is None else infinity)
    magnitude = (
        round_magnitude(format, abs(value.value.numerator), value.value.denominator)
        << format.low_zero_bits
    )
    if magnitude > format.max_finite:
        magnitude = overflow_code(format, policy)
    return sign | magnitude


def overflow_code(format: Format, policy: ConversionPolicy) -> int:
    """What stands for a finite magnitude beyond the largest one, sign clear.

    Source: profile field float_overflow.
    """
    if policy.float_overflow == "infinity":
        if format.infinity is not None:
            return format.infinity
        if format.quiet_nan is not None:
            return format.quiet_nan
    return format.max_finite


def round_magnitude(format: Format, numerator: int, denominator: int) -> int:
    """Exponent and mantissa field, as one integer, of ``numerator / denominator`` rounded to even.

    The exponent may run past the format's last one. The fields of a float grow with its value, so
    a mantissa that rounds up to the next power of two carries into the exponent by itself.
    """
    if numerator == 0:
        return 0
    exponent = numerator.bit_length() - denominator.bit_length()
    below = (
        numerator < denominator << exponent
        if exponent >= 0
        else numerator << -exponent < denominator
    )
    field = exponent - below + format.bias
    lowest = 1 if format.has_subnormals else 0
    if field < lowest:
        if not format.has_subnormals:
            return 0
        field = lowest
    shift = format.mantissa_bits - (field - format.bias)
    if shift >= 0:
        significand = divide_to_even(numerator << shift, denominator)
    else:
        significand = divide_to_even(numerator, denominator << -shift)
    # The leading one of a normal significand adds one to the exponent field.
    return ((field - 1) << format.mantissa_bits) + significand


def divide_to_even(numerator: int, denominator: int) -> int:
    """``numerator / denominator`` (both non-negative) to the nearest integer, ties to even."""
    quotient, remainder = divmod(numerator, denominator)
    twice = 2 * remainder
    return quotient + (twice > denominator or (twice == denominator and quotient & 1))
