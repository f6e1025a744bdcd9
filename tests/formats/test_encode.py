"""Rounding against tables of neighbours and against fractions rounded by the interpreter."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanewise.errors import UsageError
from lanewise.formats import (
    E2M1,
    E4M3FN,
    E5M2,
    E6M2,
    E8M0,
    FORMATS,
    FP16,
    FP32,
    FP64,
    HIF8,
    INT8,
    INT32,
    RCPE6M2,
    ConversionPolicy,
    Format,
    Value,
    ValueClass,
    decode,
    encode,
    finite,
    fp32r,
    infinity,
    invalid,
    nan,
    zero,
)

ISA = ConversionPolicy(float_to_int="truncate", float_overflow="saturate", nan_to_int="zero")
HARDWARE = ConversionPolicy(float_to_int="nearest", float_overflow="infinity", nan_to_int="zero")
POLICIES = pytest.mark.parametrize("policy", [ISA, HARDWARE], ids=["isa", "hardware"])

SMALL_FLOATS = ["FP16", "BF16", "E3M4", "E4M3", "E4M3FN", "E5M2", "E2M5", "E3M2", "E2M3", "E2M1"]
ENCODABLE = [f for f in FORMATS.values() if f.kind not in ("reciprocal", "tapered")]

GRID = 2**160
"""Every FP32 value, and every midpoint of two, is a whole number of 1/GRID."""


class Neighbours:
    """Non-negative values of a small float format in order; rounding is looking around."""

    def __init__(self, name: str) -> None:
        self.format = FORMATS[name]
        self.codes: list[int] = []
        self.values: list[int] = []
        for code in range(1 << (self.format.width - 1)):
            value = decode(self.format, code).value
            if value is not None:
                self.codes.append(code)
                self.values.append(int(value * GRID))
        assert self.values == sorted(set(self.values))
        # What would come next if the exponent went on.
        self.beyond = 2 * self.values[-1] - self.values[-2]

    def nearest(self, magnitude: int) -> int | None:
        """The code nearest to ``magnitude / GRID``, None for overflow."""
        at = bisect_right(self.values, magnitude)
        low = self.values[at - 1]
        high = self.values[at] if at < len(self.values) else self.beyond
        low_code = self.codes[at - 1]
        if magnitude >= high:
            return None
        take_high = magnitude - low > high - magnitude or (
            magnitude - low == high - magnitude and low_code % 2 == 1
        )
        if not take_high:
            return low_code
        return self.codes[at] if at < len(self.values) else None

    def boundaries(self) -> Iterator[int]:
        """Both sides of and exactly on every value and every midpoint, in steps of 1/GRID."""
        for low, high in itertools.pairwise([*self.values, self.beyond]):
            for point in (low, (low + high) // 2):
                yield from (max(point - 1, 0), point, point + 1)
        yield from (self.beyond - 1, self.beyond, self.beyond + 1, 3 * self.beyond)


def overflowed(described: Format, policy: ConversionPolicy) -> int:
    """The code the documents give for a value beyond the largest, spelled format by format."""
    largest = {
        "FP16": 0x7BFF,
        "BF16": 0x7F7F,
        "E3M4": 0x6F,
        "E4M3": 0x77,
        "E4M3FN": 0x7E,
        "E5M2": 0x7B,
        "E2M5": 0x7F,
        "E3M2": 0x1F,
        "E2M3": 0x1F,
        "E2M1": 0x7,
    }
    above = {"FP16": 0x7C00, "BF16": 0x7F80, "E3M4": 0x70, "E4M3": 0x78, "E4M3FN": 0x7F}
    above["E5M2"] = 0x7C
    if policy is ISA:
        return largest[described.name]
    return above.get(described.name, largest[described.name])


@POLICIES
@pytest.mark.parametrize("name", SMALL_FLOATS)
def test_every_rounding_boundary(name: str, policy: ConversionPolicy) -> None:
    table = Neighbours(name)
    described, sign = table.format, table.format.sign_mask
    points = list(table.boundaries())
    for position, point in enumerate(points):
        # The big formats have 400,000 points; a step that is no multiple of 6 meets all kinds.
        if described.width == 16 and position % 17 and position < len(points) - 20:
            continue
        expected = table.nearest(point)
        expected = overflowed(described, policy) if expected is None else expected
        value = Fraction(point, GRID)
        assert encode(described, value, policy) == expected, f"{name} {value}"
        if point:
            assert encode(described, -value, policy) == expected | sign, f"{name} -{value}"


def biased_fp32(count: int, seed: int) -> list[int]:
    """FP32 bit patterns: any, near the middle exponents, short mantissas."""
    generator = np.random.default_rng(seed)
    any_bits = generator.integers(0, 2**32, count, dtype=np.uint64)
    exponents = generator.integers(95, 165, count, dtype=np.uint64) << np.uint64(23)
    short = generator.integers(0, 2**9, count, dtype=np.uint64) << np.uint64(14)
    near = generator.integers(0, 3, count, dtype=np.uint64)
    sign = generator.integers(0, 2, count, dtype=np.uint64) << np.uint64(31)
    return [int(x) for x in any_bits] + [int(x) for x in exponents + short + near | sign]


@POLICIES
@pytest.mark.parametrize("name", SMALL_FLOATS[:6])
def test_fp32_values_into_small_floats(name: str, policy: ConversionPolicy) -> None:
    table = Neighbours(name)
    for bits in biased_fp32(3000, seed=1):
        value = decode(FP32, bits)
        if value.value is None:
            continue
        expected = table.nearest(int(abs(value.value) * GRID))
        expected = overflowed(table.format, policy) if expected is None else expected
        expected |= table.format.sign_mask if value.negative else 0
        assert encode(table.format, value, policy) == expected, f"{name} {bits:#x}"


def rounded(value: Fraction, precision: int, lowest_exponent: int) -> Fraction:
    """``value`` to ``precision`` bits, ties to even, by the interpreter's own rounding."""
    magnitude = abs(value)
    exponent = lowest_exponent
    while magnitude >= Fraction(2) ** (exponent + 1):
        exponent += 1
    unit = Fraction(2) ** (exponent - precision + 1)
    return round(value / unit) * unit


@pytest.mark.parametrize("described", [fp32r(13), fp32r(10), fp32r(1), fp32r(22), FORMATS["TF32"]])
def test_fp32_containers_round_at_their_mantissa(described: Format) -> None:
    largest = (2 - Fraction(1, 2**described.mantissa_bits)) * 2**127
    for bits in [*biased_fp32(700, seed=2), 0x7F7F_FFFF, 1, 0x0040_0000, 0x0080_0000]:
        value = decode(FP32, bits)
        if value.value is None:
            continue
        expected = rounded(value.value, described.mantissa_bits + 1, -126)
        code = encode(described, value, ISA)
        assert code % (1 << (23 - described.mantissa_bits)) == 0
        assert decode(described, code).negative == value.negative
        clamped = max(min(expected, largest), -largest)
        assert decode(described, code).value == clamped
        if clamped != expected:
            assert encode(described, value, HARDWARE) == 0x7F80_0000 | (bits & 0x8000_0000)


def test_fp64_into_fp32_rounds_once() -> None:
    generator = np.random.default_rng(3)
    for bits in generator.integers(0, 2**64, 4000, dtype=np.uint64).tolist():
        # Exponents around FP32's range, its subnormals included.
        code = (bits & ~(0x7FF << 52)) | ((1023 - 155 + bits % 290) << 52)
        value = decode(FP64, code)
        assert value.value is not None
        expected = rounded(value.value, 24, -126)
        got = decode(FP32, encode(FP32, value, HARDWARE))
        if abs(expected) >= 2**128:
            assert got.category is ValueClass.INFINITY
        else:
            assert got.value == expected


@pytest.mark.parametrize("name", ["INT4", "UINT4", "INT8", "UINT8", "INT16", "UINT16", "INT32"])
def test_integers_round_and_clamp(name: str) -> None:
    described = FORMATS[name]
    ends = {0, described.min_value, described.max_value, 1, 2, 3}
    values = [end + Fraction(step, 4) for end in ends for step in range(-9, 10)]
    values += [v for bits in biased_fp32(1500, 4) if (v := decode(FP32, bits).value) is not None]
    for value in values:
        for policy, whole in ((ISA, int(value)), (HARDWARE, round(value))):
            clamped = max(described.min_value, min(described.max_value, whole))
            code = encode(described, value, policy)
            assert code == clamped % (1 << described.width), f"{name} {value}"
            assert decode(described, code).value == clamped


@POLICIES
@pytest.mark.parametrize("described", ENCODABLE, ids=lambda f: f.name)
def test_encoding_a_decoded_code_gives_it_back(described: Format, policy: ConversionPolicy) -> None:
    if described.width <= 16:
        codes = range(1 << described.width)
    else:
        codes = [0, 1, described.max_finite, described.code_mask, described.sign_mask, 1 << 30]
    for code in codes:
        value = decode(described, code)
        if value.is_nan:
            assert described.quiet_nan is not None
            sign = described.sign_mask if value.negative else 0
            assert encode(described, value, policy) == described.quiet_nan | sign
        elif value.category is not ValueClass.INVALID:
            assert encode(described, value, policy) == code


FP32_BITS = st.integers(0, 2**32 - 1)


def number(value: Value) -> Fraction | None:
    """A value as something that can be ordered; None for NaN."""
    if value.category is ValueClass.INFINITY:
        return Fraction(-(2**200) if value.negative else 2**200)
    return value.value


def ordered_numbers(values: list[Value]) -> list[Fraction] | None:
    """The values as numbers; None if one is a NaN."""
    numbers = [number(value) for value in values]
    return None if None in numbers else [n for n in numbers if n is not None]


@given(FP32_BITS, FP32_BITS, st.sampled_from(ENCODABLE), st.sampled_from([ISA, HARDWARE]))
def test_encoding_is_monotone(a: int, b: int, described: Format, policy: ConversionPolicy) -> None:
    mask = 0x7FFF_FFFF if described.kind == "float" and not described.signed else 0xFFFF_FFFF
    values = [decode(FP32, bits & mask) for bits in (a, b)]
    before = ordered_numbers(values)
    if before is None:
        return
    after = ordered_numbers([decode(described, encode(described, v, policy)) for v in values])
    if after is None:  # an overflow to NaN
        assert described.infinity is None
    elif before[0] < before[1]:
        assert after[0] <= after[1]
    elif before[0] > before[1]:
        assert after[0] >= after[1]
    else:
        assert after[0] == after[1]


@POLICIES
def test_infinities_and_nans(policy: ConversionPolicy) -> None:
    for name, positive in (("FP16", 0x7C00), ("E3M4", 0x70), ("E5M2", 0x7C), ("FP32", 0x7F80_0000)):
        sign = FORMATS[name].sign_mask
        assert encode(FORMATS[name], infinity(), policy) == positive
        assert encode(FORMATS[name], infinity(negative=True), policy) == positive | sign
    assert encode(E4M3FN, infinity(True), policy) == (0xFE if policy is ISA else 0xFF)
    assert encode(FP16, nan(signaling=True), policy) == 0x7E00
    assert encode(FP16, nan(negative=True), policy) == 0xFE00
    assert encode(FP16, zero(negative=True), policy) == 0x8000
    assert encode(FP16, 0, policy) == 0
    assert encode(INT8, nan(), policy) == 0
    assert encode(INT8, infinity(negative=True), policy) == 0x80
    assert encode(INT32, infinity(), policy) == 0x7FFF_FFFF


def test_scales_have_no_zero() -> None:
    for described in (E6M2, E8M0):
        assert encode(described, 0, ISA) == 0
        assert encode(described, Fraction(1, 2**300), ISA) == 0
        assert encode(described, Fraction(2) ** 300, ISA) == 0xFE
        assert encode(described, Fraction(2) ** 300, HARDWARE) == 0xFF
        assert encode(described, nan(negative=True), ISA) == 0xFF
    # 1.125 lies between 1 and 1.25: to the even code. 1.9 carries into the next power of two.
    assert encode(E6M2, Fraction(9, 8), ISA) == 0xC0
    assert encode(E6M2, Fraction(11, 8), ISA) == 0xC2
    assert encode(E6M2, Fraction(19, 10), ISA) == 0xC4
    assert encode(E6M2, Fraction(5, 32), ISA) == 0xB5


@pytest.mark.parametrize(
    ("described", "value", "message"),
    [
        (FP16, invalid(), "FP16: cannot encode an invalid value"),
        (E2M1, nan(), "E2M1: cannot encode a NaN, the format has none"),
        (E6M2, finite(-1), "E6M2: cannot encode a negative value in an unsigned format"),
        (E8M0, infinity(True), "E8M0: cannot encode a negative value in an unsigned format"),
        (HIF8, finite(1), "HiF8 can only be decoded: its documents give no rounding rule"),
        (RCPE6M2, finite(1), "RCPE6M2 can only be decoded: its documents give no rounding rule"),
    ],
)
def test_what_cannot_be_encoded_is_refused(described: Format, value: Value, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        encode(described, value, ISA)
    assert str(caught.value) == message


def test_values_that_are_not_binary_fractions_round_correctly() -> None:
    assert encode(FP32, Fraction(1, 3), ISA) == 0x3EAA_AAAB
    assert encode(FP32, Fraction(-1, 10), ISA) == 0xBDCC_CCCD
    assert encode(E5M2, Fraction(1, 7), ISA) == 0x31  # 0.15625 is nearer than 0.125
