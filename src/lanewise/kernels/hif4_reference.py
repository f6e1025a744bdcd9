"""Group quantisation to 4-bit lanes under a three-level scale, in NumPy and integers only.

The readable twin of any compiled kernel: all groups of an array at once. Values are BF16 codes;
a product of two BF16 numbers is exact in 16 bits of significand, so rounding it is a shift.
Knows no instruction set; the scalar definition and the meaning of the steps are in the package
that calls it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.uint16]
Integers = NDArray[np.int64]

GROUP = 64
#: bf16(1 / 7): the lane's largest magnitude, 1.75, times four.
SEVENTH = 0x3E12
_SIGNIFICAND_BITS = 8
_LOWEST_EXPONENT = -133
_SHIFT_LIMIT = 62
#: Bits of every significand that a product of two BF16 numbers can have.
_LENGTHS = np.array([value.bit_length() for value in range(1 << 16)], np.int64)


class Numbers(NamedTuple):
    """Non-negative numbers ``significand * 2**exponent``."""

    significand: Integers
    exponent: Integers


class Groups(NamedTuple):
    """What quantisation gives, a group in each row: the scale's three parts and lane codes."""

    base: NDArray[np.uint8]
    coarse: NDArray[np.bool_]
    fine: NDArray[np.bool_]
    lanes: NDArray[np.uint8]


def magnitudes(codes: Codes) -> Numbers:
    """The magnitudes of finite BF16 codes."""
    field = ((codes >> np.uint16(7)) & np.uint16(0xFF)).astype(np.int64)
    fraction = (codes & np.uint16(0x7F)).astype(np.int64)
    normal = field > 0
    return Numbers(np.where(normal, fraction + 128, fraction), np.where(normal, field, 1) - 134)


def bit_lengths(values: Integers) -> Integers:
    """How many bits each of these numbers below 2**16 has."""
    lengths: Integers = _LENGTHS[values]
    return lengths


def divide_to_even(value: Integers, shift: Integers) -> Integers:
    """``value / 2**shift`` to the nearest integer, ties to even; ``shift`` is not negative."""
    # Beyond this shift every value here rounds to zero, and NumPy's shift stays defined.
    shift = np.minimum(shift, _SHIFT_LIMIT)
    quotient = value >> shift
    twice = (value - (quotient << shift)) << 1
    unit = np.int64(1) << shift
    rounded: Integers = quotient + ((twice > unit) | ((twice == unit) & (quotient & 1 == 1)))
    return rounded


def round_bf16(numbers: Numbers) -> Numbers:
    """To BF16, nearest even, with gradual underflow; nothing here can overflow."""
    significand, exponent = numbers
    length = bit_lengths(significand)
    shift = np.maximum(length - _SIGNIFICAND_BITS, _LOWEST_EXPONENT - exponent)
    shift = np.maximum(shift, 0)
    return Numbers(divide_to_even(significand, shift), exponent + shift)


def product(left: Numbers, right: Numbers) -> Numbers:
    """The BF16 product."""
    return round_bf16(Numbers(left.significand * right.significand, left.exponent + right.exponent))


def exceeds(numbers: Numbers, limit: int, strict: bool) -> NDArray[np.bool_]:
    """Whether numbers are at least ``limit``, or above it."""
    # Align to the smaller exponent; significands have 8 bits, so 40 bits of shift decide.
    up = np.clip(numbers.exponent, 0, 40)
    down = np.clip(-numbers.exponent, 0, 40)
    left, right = numbers.significand << up, np.int64(limit) << down
    return left > right if strict else left >= right


def quantize(
    codes: Codes, rates: NDArray[Any], *, strict: bool = False, ties_away: bool = False
) -> Groups:
    """Quantise groups ``(n, 64)`` of finite BF16 codes.

    ``rates`` are the BF16 codes of the reciprocals of every base code. Returns base codes
    ``(n,)``, scale bits ``(n, 8)`` and ``(n, 16)``, and lane codes (sign and magnitude in
    quarters) ``(n, 64)``.
    """
    values = magnitudes(codes)
    largest = magnitudes((codes & np.uint16(0x7FFF)).max(axis=1))
    seventh = magnitudes(np.array(SEVENTH, np.uint16))
    base = base_codes(product(largest, seventh))
    rate = magnitudes(rates[base])
    column = Numbers(rate.significand[:, np.newaxis], rate.exponent[:, np.newaxis])
    absolute = codes & np.uint16(0x7FFF)
    coarse = exceeds(product(magnitudes(absolute.reshape(-1, 8, 8).max(axis=2)), column), 4, strict)
    peak = product(magnitudes(absolute.reshape(-1, 16, 4).max(axis=2)), column)
    halved = round_bf16(Numbers(peak.significand, peak.exponent - coarse.repeat(2, axis=1)))
    fine = exceeds(halved, 2, strict)
    increments = coarse.repeat(8, axis=1).astype(np.int64) + fine.repeat(4, axis=1)
    scaled = round_bf16(
        Numbers(
            values.significand * column.significand,
            values.exponent + column.exponent - increments,
        )
    )
    quarters = quarters_of(scaled, ties_away)
    sign = (codes >> np.uint16(12)).astype(np.uint8) & np.uint8(8)
    return Groups(base, coarse, fine, quarters | sign)


def base_codes(numbers: Numbers) -> NDArray[np.uint8]:
    """Numbers as unsigned 6-bit-exponent, 2-bit-mantissa codes, clamped to 00..fe."""
    significand, exponent = numbers
    length = bit_lengths(significand)
    # Three significant bits; a carry into a fourth moves the exponent by itself.
    rounded = np.where(
        length > 3,
        divide_to_even(significand, np.maximum(length - 3, 0)),
        significand << np.maximum(3 - length, 0),
    )
    code = ((exponent + length - 1 + 48) << 2) + rounded - 4
    code = np.where(significand == 0, 0, code)
    clamped: NDArray[np.uint8] = np.clip(code, 0, 0xFE).astype(np.uint8)
    return clamped


def quarters_of(numbers: Numbers, ties_away: bool) -> NDArray[np.uint8]:
    """Numbers to the nearest quarter, at most 7 of them."""
    exponent = numbers.exponent + 2
    down = np.clip(-exponent, 0, _SHIFT_LIMIT)
    large = numbers.significand << np.clip(exponent, 0, 8)
    if ties_away:
        half = np.where(down > 0, np.int64(1) << np.maximum(down - 1, 0), 0)
        small = (numbers.significand + half) >> down
    else:
        small = divide_to_even(numbers.significand, down)
    return np.minimum(np.where(exponent > 0, large, small), 7).astype(np.uint8)
