"""From codes to exact values: one function a kind of format. Total over the container."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Final

from lanewise.formats.description import Format, Kind
from lanewise.formats.value import Value, finite, infinity, invalid, nan, zero


def decode(format: Format, code: int) -> Value:
    """The exact value of ``code``.

    A code that fits the container but not the format (bits beyond the width, low bits that must be
    zero) has the class ``invalid``. Raises ``UsageError`` for a code that does not fit the
    container.

    Source: the format tables of both instruction sets; never host arithmetic.
    """
    format.check_code(code)
    if code > format.code_mask:
        return invalid()
    return _DECODERS[format.kind](format, code)


def scaled(significand: int, exponent: int) -> Fraction:
    """``significand * 2**exponent``, exactly."""
    if exponent >= 0:
        return Fraction(significand << exponent)
    return Fraction(significand, 1 << -exponent)


def _decode_float(format: Format, code: int) -> Value:
    negative = bool(code & format.sign_mask)
    if code & ((1 << format.low_zero_bits) - 1):
        return invalid(negative)
    magnitude = (code & ~format.sign_mask) >> format.low_zero_bits
    exponent = magnitude >> format.mantissa_bits
    mantissa = magnitude & ((1 << format.mantissa_bits) - 1)
    if exponent == (1 << format.exponent_bits) - 1:
        if format.nan_rule == "ieee" and mantissa:
            return nan(negative, signaling=not mantissa >> (format.mantissa_bits - 1))
        if format.has_infinity:
            return infinity(negative)
        if format.nan_rule == "all_ones" and mantissa == (1 << format.mantissa_bits) - 1:
            return nan(negative)
    if exponent or not format.has_subnormals:
        significand = mantissa | (1 << format.mantissa_bits)
    elif mantissa:
        significand, exponent = mantissa, 1
    else:
        return zero(negative)
    return finite(scaled(-significand if negative else significand, _step(format, exponent)))


def _step(format: Format, exponent: int) -> int:
    """The power of two that one unit of the significand is worth under an exponent field."""
    return exponent - format.bias - format.mantissa_bits


def _decode_signed(format: Format, code: int) -> Value:
    return finite(code - ((code & format.sign_mask) << 1))


def _decode_unsigned(format: Format, code: int) -> Value:
    return finite(code)


def _decode_reciprocal(format: Format, code: int) -> Value:
    direct = _decode_float(format, code)
    return direct if direct.value is None else finite(1 / direct.value)


def _decode_tapered(format: Format, code: int) -> Value:
    """HiF8: the leading bits below the sign say how wide exponent and fraction are."""
    if code == format.quiet_nan:
        return nan()
    negative = bool(code & format.sign_mask)
    pattern = code & 0x7F
    if pattern == format.infinity:
        return infinity(negative)
    if pattern == 0:
        return zero(negative)
    if pattern < 0b000_1000:
        # No fraction: powers of two below the normal range, 2**-22 and up.
        magnitude = scaled(1, pattern - 23)
    else:
        exponent, fraction_bits = _tapered_exponent(pattern)
        fraction = pattern & ((1 << fraction_bits) - 1)
        magnitude = scaled((1 << fraction_bits) + fraction, exponent - fraction_bits)
    return finite(-magnitude if negative else magnitude)


def _tapered_exponent(pattern: int) -> tuple[int, int]:
    """The exponent and the number of fraction bits of a HiF8 pattern with a fraction."""
    if pattern < 0b001_0000:
        return 0, 3
    # The number of exponent bits below the exponent's sign and its implied leading one.
    extra_bits = 0 if pattern < 0b010_0000 else pattern >> 5
    fraction_bits = 3 if extra_bits <= 1 else 4 - extra_bits
    sign_position = fraction_bits + extra_bits
    extra = (pattern >> fraction_bits) & ((1 << extra_bits) - 1)
    exponent = (1 << extra_bits) + extra
    return (-exponent if pattern >> sign_position & 1 else exponent), fraction_bits


_DECODERS: Final[dict[Kind, Callable[[Format, int], Value]]] = {
    "float": _decode_float,
    "signed": _decode_signed,
    "unsigned": _decode_unsigned,
    "reciprocal": _decode_reciprocal,
    "tapered": _decode_tapered,
}
