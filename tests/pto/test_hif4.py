"""HiF4: exact decoding of every code and scale, packing, and quantisation step by step."""

from __future__ import annotations

import random
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanewise.errors import UsageError
from lanewise.pto import PtoProfile, hif4

BF16 = ml_dtypes.bfloat16


def base_value(code: int) -> Fraction | None:
    """E6M2 from its formula."""
    if code == 0xFF:
        return None
    return Fraction(4 + (code & 3), 4) * Fraction(2) ** ((code >> 2) - 48)


def bf16_of(value: Fraction) -> Fraction:
    """The BF16 number nearest to a non-negative fraction, ties to even, made by hand."""
    if value == 0:
        return value
    exponent = 0
    while value >= Fraction(2) ** (exponent + 1):
        exponent += 1
    while value < Fraction(2) ** exponent:
        exponent -= 1
    step = Fraction(2) ** (max(exponent, -126) - 7)
    scaled = value / step
    low = scaled.numerator // scaled.denominator
    rest = scaled - low
    up = rest > Fraction(1, 2) or (rest == Fraction(1, 2) and low & 1)
    return (low + up) * step


def bf16_value(code: int) -> Fraction:
    number = np.array([code], np.uint16).view(BF16)[0]
    return Fraction(float(number))


def quantize_by_hand(
    codes: list[int], strict: bool = False, away: bool = False
) -> tuple[int, list[int]]:
    """The recipe in fractions, one lane at a time."""
    values = [bf16_value(code) for code in codes]
    absolute = [abs(value) for value in values]
    scale = bf16_of(max(absolute) * Fraction(0x92, 1 << 10))
    base = 0
    if scale > 0:
        best, distance = 0, None
        for code in range(0xFF):
            away_by = abs(base_value(code) - scale)
            even = distance is not None and away_by == distance and code % 2 == 0
            if distance is None or away_by < distance or even:
                best, distance = code, away_by
        base = best
    rate = bf16_of(1 / base_value(base))

    def reaches(value: Fraction, limit: int) -> bool:
        return value > limit if strict else value >= limit

    word, lanes = base, []
    coarse = [reaches(bf16_of(max(absolute[8 * j : 8 * j + 8]) * rate), 4) for j in range(8)]
    fine = []
    for j in range(16):
        peak = bf16_of(max(absolute[4 * j : 4 * j + 4]) * rate)
        fine.append(reaches(bf16_of(peak / (2 if coarse[j // 2] else 1)), 2))
    for j in range(8):
        word |= coarse[j] << (8 + j)
    for j in range(16):
        word |= fine[j] << (16 + j)
    for lane, value in enumerate(absolute):
        scaled = bf16_of(value * rate / 2 ** (coarse[lane // 8] + fine[lane // 4])) * 4
        low = scaled.numerator // scaled.denominator
        rest = scaled - low
        half = rest == Fraction(1, 2)
        quarters = low + (rest > Fraction(1, 2) or (half and (away or low % 2 == 1)))
        sign = codes[lane] >> 15
        lanes.append(min(int(quarters), 7) | sign << 3)
    return word, lanes


def test_every_scale_and_lane_code_decodes_exactly() -> None:
    """All base codes, doublings and lane codes; as fractions and as BF16 codes."""
    for base in range(256):
        for doublings, bits in enumerate((0, 1 << 8, 1 << 8 | 1 << 16)):
            scale = base | bits
            lanes = np.zeros((1, 64), np.uint8)
            lanes[0, :4] = 0
            for code in range(16):
                expected = base_value(base)
                found = hif4.lane_value(scale, 0, code)
                assert hif4.increment(scale, 0) == doublings
                if expected is None:
                    assert found is None
                    continue
                sign = -1 if code & 8 else 1
                assert found == sign * Fraction(code & 7, 4) * expected * 2**doublings
                lanes[0, 0] = code
                groups = hif4.Groups(np.array([scale], np.uint32), hif4.pack(lanes))
                number = hif4.dequantize(groups)[0, 0]
                assert bf16_value(int(number)) == found
                assert bool(number >> 15) == bool(code & 8)
    assert hif4.lane_value(0xFFFFFFFE, 9, 7) == hif4.LARGEST


def test_a_nan_scale_makes_every_lane_nan() -> None:
    groups = hif4.Groups(np.array([0xFF], np.uint32), np.zeros((1, 32), np.uint8))
    assert (hif4.dequantize(groups) == 0x7FC0).all()


@pytest.mark.parametrize("lane", range(64))
def test_each_scale_bit_rules_its_own_lanes(lane: int) -> None:
    for bit in range(8, 32):
        lanes = (
            range(8 * (bit - 8), 8 * (bit - 7))
            if bit < 16
            else range(4 * (bit - 16), 4 * (bit - 15))
        )
        assert hif4.increment(1 << bit, lane) == (lane in lanes)


def test_reciprocals_are_rounded_once() -> None:
    for code in range(0xFF):
        expected = bf16_of(1 / base_value(code))
        assert bf16_value(int(hif4.reciprocals()[code])) == expected
    assert hif4.reciprocals()[0xFF] == 0x7FC0


@given(st.binary(min_size=64, max_size=64))
def test_packing_puts_the_lower_lane_low(data: bytes) -> None:
    lanes = np.frombuffer(data, np.uint8) & 15
    packed = hif4.pack(lanes)
    assert [int(b) for b in packed] == [
        int(lanes[2 * at]) | int(lanes[2 * at + 1]) << 4 for at in range(32)
    ]
    assert (hif4.unpack(packed) == lanes).all()


def test_the_known_byte() -> None:
    lanes = np.tile(np.array([5, 10], np.uint8), 32)
    assert hif4.pack(lanes).tobytes() == b"\xa5" * 32


def random_group(seed: int) -> list[int]:
    """Finite BF16 codes of one magnitude region, with zeros of both signs and exact ties."""
    pick = random.Random(seed)
    centre = pick.choice((0, 1, 20, 79, 80, 100, 127, 130, 170, 200, 250))
    spread = pick.choice((0, 1, 3, 8))
    group = []
    for _ in range(64):
        field = min(max(centre + pick.randint(-spread, spread), 0), 254)
        code = pick.getrandbits(1) << 15 | field << 7 | pick.getrandbits(7)
        group.append(pick.choice((code, code, code, 0, 0x8000, code & 0xFFF0)))
    return group


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("away", [False, True])
def test_quantisation_follows_the_recipe(strict: bool, away: bool) -> None:
    groups = [random_group(seed) for seed in range(60)]
    profile = PtoProfile(
        hif4_threshold="above" if strict else "at_least",
        hif4_lane_ties="away" if away else "even",
    )
    found = hif4.quantize(np.array(groups, np.uint16), profile)
    for number, group in enumerate(groups):
        word, lanes = quantize_by_hand(group, strict, away)
        assert int(found.scales[number]) == word
        assert hif4.unpack(found.data[number]).tolist() == lanes


def test_worked_groups() -> None:
    seven = np.array([0x40E0] + [0x3F80] * 7 + [0] * 56, np.uint16)
    found = hif4.quantize(seven)
    assert int(found.scales[0]) == 0x000101C0
    assert found.data[0].tobytes().hex() == "17112222" + "00" * 28
    ones = hif4.quantize(np.full(64, 0x3F80, np.uint16))
    assert int(ones.scales[0]) == 0xFFFFFFB5
    assert ones.data[0].tobytes() == b"\x66" * 32
    zeros = hif4.quantize(np.zeros(64, np.uint16))
    assert (int(zeros.scales[0]), zeros.data[0].any()) == (0, False)


def test_values_that_fit_are_kept() -> None:
    """Values that a scale of one can hold, with a group maximum that chooses it."""
    pick = random.Random(3)
    for _ in range(50):
        lanes = [Fraction(pick.randint(-7, 7), 4) * 4 for _ in range(64)]
        lanes[0::4] = [Fraction(7)] * 16
        group = np.array([float(x) for x in lanes]).astype(BF16).view(np.uint16)
        found = hif4.quantize(group)
        assert int(found.scales[0]) == 0xFFFFFFC0
        assert (hif4.dequantize(found)[0] & 0x7FFF == group & 0x7FFF).all()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros(63, np.uint16), "not uint16 .1, 63."),
        (np.zeros(64, np.float32), "not float32"),
        (np.full(64, 0x7F80, np.uint16), "cannot be quantised"),
        (np.full(64, 0xFFC0, np.uint16), "cannot be quantised"),
    ],
)
def test_what_cannot_be_quantised_is_refused(values: np.ndarray, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        hif4.quantize(values)


def test_other_bad_arguments() -> None:
    with pytest.raises(UsageError, match=r"lanes 0\.\.63"):
        hif4.increment(0, 64)
    with pytest.raises(UsageError, match=r"must be 0\.\.15"):
        hif4.pack(np.full(64, 16, np.uint8))
    with pytest.raises(UsageError, match="packed lanes"):
        hif4.unpack(np.zeros(31, np.uint8))
