"""The record of a conversion says what happened, and agrees with the conversion."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanewise.formats import (
    BF16,
    E4M3FN,
    E5M2,
    E8M0,
    FORMATS,
    FP16,
    FP32,
    FP64,
    HIF8,
    INT8,
    INT32,
    UINT8,
    UINT16,
    ConversionPolicy,
    Format,
    Outcome,
    Range,
    Split,
    convert,
    decode,
    explain_rounding,
    fp32r,
    hub,
    split_fields,
    unit_in_last_place,
)

ISA = ConversionPolicy(float_to_int="truncate", float_overflow="saturate", nan_to_int="zero")
HARDWARE = ConversionPolicy(float_to_int="nearest", float_overflow="infinity", nan_to_int="zero")


@pytest.mark.parametrize(
    ("code", "source", "target", "policy", "outcome", "place", "error"),
    [
        (0x3F80_0000, FP32, FP16, ISA, Outcome.EXACT, Range.NORMAL, 0),
        (0x3F80_1000, FP32, FP16, ISA, Outcome.TIE_DOWN, Range.NORMAL, Fraction(-1, 2)),
        (0x3F80_3000, FP32, FP16, ISA, Outcome.TIE_UP, Range.NORMAL, Fraction(1, 2)),
        (0xBF80_3000, FP32, FP16, ISA, Outcome.TIE_UP, Range.NORMAL, Fraction(-1, 2)),
        (0x3F80_1001, FP32, FP16, ISA, Outcome.ROUNDED_UP, Range.NORMAL, Fraction(4095, 8192)),
        (0x3F80_0001, FP32, FP16, ISA, Outcome.ROUNDED_DOWN, Range.NORMAL, Fraction(-1, 8192)),
        # A tie just below a power of two: half of the spacing below it, a quarter of that above.
        (0x3FFF_F000, FP32, FP16, ISA, Outcome.TIE_UP, Range.NORMAL, Fraction(1, 4)),
        (0x477F_F000, FP32, FP16, ISA, Outcome.SATURATED, Range.NORMAL, Fraction(-1, 2)),
        (0x477F_F000, FP32, FP16, HARDWARE, Outcome.INFINITE, Range.SPECIAL, None),
        (0x43E8_8000, FP32, E4M3FN, HARDWARE, Outcome.OVERFLOWED_TO_NAN, Range.SPECIAL, None),
        (0xFF80_0000, FP32, E4M3FN, ISA, Outcome.SATURATED, Range.NORMAL, None),
        (0x7F80_0000, FP32, FP16, ISA, Outcome.EXACT, Range.SPECIAL, None),
        (0x3300_0000, FP32, FP16, ISA, Outcome.TIE_DOWN, Range.UNDERFLOWED, Fraction(-1, 2)),
        (0x3300_0001, FP32, FP16, ISA, Outcome.ROUNDED_UP, Range.SUBNORMAL, None),
        (0x0000_0000, FP32, FP16, ISA, Outcome.EXACT, Range.ZERO, 0),
        (0x7F80_0001, FP32, BF16, ISA, Outcome.NAN_CANONICAL, Range.SPECIAL, None),
        (0x7FC0_0000, FP32, INT32, ISA, Outcome.NAN_TO_ZERO, Range.INTEGER, None),
        (0x4060_0000, FP32, INT32, ISA, Outcome.TRUNCATED, Range.INTEGER, Fraction(-1, 2)),
        (0x4060_0000, FP32, INT32, HARDWARE, Outcome.TIE_UP, Range.INTEGER, Fraction(1, 2)),
        (0xC020_0000, FP32, INT8, HARDWARE, Outcome.TIE_DOWN, Range.INTEGER, Fraction(1, 2)),
        (0xBF00_0000, FP32, UINT8, ISA, Outcome.TRUNCATED, Range.INTEGER, Fraction(1, 2)),
        (0xBF80_0000, FP32, UINT8, ISA, Outcome.SATURATED, Range.INTEGER, 1),
        (0xC300_8000, FP32, INT8, ISA, Outcome.TRUNCATED, Range.INTEGER, Fraction(1, 2)),
        (0x4396_0000, FP32, UINT8, HARDWARE, Outcome.SATURATED, Range.INTEGER, -45),
        (0xFF80_0000, FP32, INT8, ISA, Outcome.SATURATED, Range.INTEGER, None),
        (0xFE55, FP16, FP16, ISA, Outcome.UNTOUCHED, Range.SPECIAL, None),
        (0x0001, FP16, FP16, ISA, Outcome.UNTOUCHED, Range.SUBNORMAL, 0),
        (0x3F80_0600, FP32, fp32r(13), ISA, Outcome.TIE_UP, Range.NORMAL, Fraction(1, 2)),
        (0x2, HIF8, E8M0, ISA, Outcome.EXACT, Range.NORMAL, 0),
        (0x0, UINT8, E8M0, ISA, Outcome.ROUNDED_UP, Range.NORMAL, 1),
    ],
)
def test_outcomes(
    *,
    code: int,
    source: Format,
    target: Format,
    policy: ConversionPolicy,
    outcome: Outcome,
    place: Range,
    error: Fraction | int | None,
) -> None:
    record = explain_rounding(code, source, target, policy)
    assert (record.target.outcome, record.target.range) == (outcome, place)
    if error is not None:
        assert record.error_in_ulps == error


def test_what_integers_lose_in_the_hub_is_told_there() -> None:
    record = explain_rounding(16777217, INT32, UINT16, ISA)
    assert record.hub.outcome is Outcome.TIE_DOWN
    assert record.target.outcome is Outcome.SATURATED
    record = explain_rounding(16777217, INT32, INT32, ISA, stream=True)
    assert (record.target.outcome, record.error_in_ulps) == (Outcome.EXACT, -1)
    # FP64 beyond FP32 becomes infinite in the hub already.
    record = explain_rounding(0x7FE0_0000_0000_0000, FP64, FP16, ISA)
    assert record.hub.outcome is Outcome.INFINITE
    assert record.error_in_ulps is None


def test_fields_are_split() -> None:
    assert split_fields(FP16, 0xC123) == Split(1, 0b10000, 0x123)
    assert split_fields(fp32r(13), 0x3F80_0400) == Split(0, 127, 1)
    assert split_fields(E8M0, 0x7F) == Split(None, 0x7F, 0)
    assert split_fields(INT8, 0x80) == Split(1, None, None)
    assert split_fields(UINT8, 0x80) == Split(None, None, None)
    assert split_fields(HIF8, 0x80) == Split(1, None, None)


def test_units_in_the_last_place() -> None:
    assert unit_in_last_place(FP16, 0x0001) == Fraction(1, 2**24)
    assert unit_in_last_place(FP16, 0x0400) == Fraction(1, 2**24)
    assert unit_in_last_place(FP16, 0xBC00) == Fraction(1, 1024)
    assert unit_in_last_place(E5M2, 0x7B) == 8192
    assert unit_in_last_place(INT8, 5) == 1


TARGETS = [f for f in FORMATS.values() if f.kind not in ("reciprocal", "tapered") and f.quiet_nan]
TARGETS = [f for f in TARGETS if f.signed] + [f for f in FORMATS.values() if f.is_integer]


@given(st.integers(0, 2**32 - 1), st.sampled_from(TARGETS), st.sampled_from([ISA, HARDWARE]))
def test_the_record_agrees_with_the_conversion(
    code: int, target: Format, policy: ConversionPolicy
) -> None:
    record = explain_rounding(code, FP32, target, policy)
    assert record.source.code == code
    assert record.hub.code == hub(FP32, code)
    assert record.target.code == convert(code, FP32, target, policy)
    assert record.target.value == decode(target, record.target.code)
    error, outcome = record.error_in_ulps, record.target.outcome
    if error is None or outcome is Outcome.SATURATED:
        return
    if outcome is Outcome.EXACT:
        assert error == 0
    elif outcome in (Outcome.TIE_UP, Outcome.TIE_DOWN):
        # A quarter where the tie went up to a power of two, whose own spacing is twice as large.
        assert abs(error) in (Fraction(1, 2), Fraction(1, 4))
    elif outcome in (Outcome.ROUNDED_UP, Outcome.ROUNDED_DOWN):
        assert 0 < abs(error) < Fraction(1, 2)
    elif outcome is Outcome.TRUNCATED:
        assert 0 < abs(error) < 1
