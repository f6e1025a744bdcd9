"""What a conversion did to one value, step by step, as data for tools to print."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from lanewise.formats.conversion import HUB_POLICY, convert, hub
from lanewise.formats.decoding import decode
from lanewise.formats.description import Format
from lanewise.formats.encoding import divide_to_even, round_magnitude
from lanewise.formats.floats import FP32
from lanewise.formats.policy import ConversionPolicy
from lanewise.formats.value import Value, ValueClass


class Outcome(StrEnum):
    """What one step of a conversion did to the value."""

    UNTOUCHED = "bits moved untouched"
    EXACT = "exact"
    ROUNDED_UP = "rounded up in magnitude"
    ROUNDED_DOWN = "rounded down in magnitude"
    TIE_UP = "tie, to the even neighbour above in magnitude"
    TIE_DOWN = "tie, to the even neighbour below in magnitude"
    TRUNCATED = "truncated toward zero"
    SATURATED = "saturated to the end of the range"
    INFINITE = "overflowed to infinity"
    OVERFLOWED_TO_NAN = "overflowed to NaN, the format has no infinity"
    NAN_CANONICAL = "NaN made canonical"
    NAN_TO_ZERO = "NaN became zero"


class Range(StrEnum):
    """Where in its format a value lies."""

    NORMAL = "normal"
    SUBNORMAL = "subnormal"
    ZERO = "zero"
    UNDERFLOWED = "underflowed to zero"
    SPECIAL = "infinity or NaN"
    INTEGER = "integer"


@dataclass(frozen=True, slots=True)
class Split:
    """A code cut into its fields.

    ``exponent`` is the field as stored; it and ``mantissa`` are None where the format has no such
    fixed fields (integers, HiF8). ``sign`` is None for unsigned formats.
    """

    sign: int | None
    exponent: int | None
    mantissa: int | None


@dataclass(frozen=True, slots=True)
class Step:
    """One code on its way: the format it is in, its fields, its exact value and how it came."""

    format: Format
    code: int
    split: Split
    value: Value
    range: Range
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Explanation:
    """The three codes of a conversion and how far the last is from the first.

    ``error_in_ulps`` is (target - source) in units of the spacing of the target format at the
    target's value (integers: 1); None where either value is not a number. ``hub`` is what the
    conversion passed through; its outcome tells what integers beyond 2**24 lost there.
    """

    source: Step
    hub: Step
    target: Step
    policy: ConversionPolicy
    stream: bool
    error_in_ulps: Fraction | None


def explain_rounding(
    code: int,
    source: Format,
    target: Format,
    policy: ConversionPolicy,
    *,
    stream: bool = False,
) -> Explanation:
    """Everything that ``convert`` does to ``code``.

    Raises ``UsageError`` where ``convert`` does, and for invalid codes also where it moves bits.
    """
    hub_code = hub(source, code)
    target_code = convert(code, source, target, policy, stream=stream)
    untouched = source == target and not stream
    before, through, after = (
        decode(source, code),
        decode(FP32, hub_code),
        decode(target, target_code),
    )
    first = _step(source, code, before, before, Outcome.UNTOUCHED)
    middle = _step(FP32, hub_code, through, before, _outcome(before, through, FP32, HUB_POLICY))
    last_outcome = Outcome.UNTOUCHED if untouched else _outcome(through, after, target, policy)
    last = _step(target, target_code, after, before, last_outcome)
    return Explanation(
        source=first,
        hub=middle,
        target=last,
        policy=policy,
        stream=stream,
        error_in_ulps=_error_in_ulps(before, after, target, target_code),
    )


def split_fields(format: Format, code: int) -> Split:
    """``code`` cut into sign, exponent and mantissa."""
    sign = int(bool(code & format.sign_mask)) if format.signed else None
    if format.kind not in ("float", "reciprocal"):
        return Split(sign, None, None)
    magnitude = (code & format.code_mask & ~format.sign_mask) >> format.low_zero_bits
    return Split(
        sign,
        magnitude >> format.mantissa_bits,
        magnitude & ((1 << format.mantissa_bits) - 1),
    )


def unit_in_last_place(format: Format, code: int) -> Fraction:
    """The spacing of the format's values at the number ``code``; 1 for integers.

    HiF8 and reciprocal formats have no even spacing and are never the target of a rounding; for
    them the unit is 1 as well.
    """
    if format.kind != "float":
        return Fraction(1)
    field = split_fields(format, code).exponent
    assert field is not None
    lowest = 1 if format.has_subnormals else 0
    exponent = max(field, lowest) - format.bias - format.mantissa_bits
    return Fraction(2) ** exponent


def _step(format: Format, code: int, value: Value, origin: Value, outcome: Outcome) -> Step:
    return Step(
        format,
        code,
        split_fields(format, code),
        value,
        _range(format, code, value, origin),
        outcome,
    )


def _range(format: Format, code: int, value: Value, origin: Value) -> Range:
    if not value.is_number:
        return Range.SPECIAL
    if format.is_integer:
        return Range.INTEGER
    if value.category is ValueClass.ZERO:
        return Range.UNDERFLOWED if origin.category is ValueClass.FINITE else Range.ZERO
    subnormal = format.has_subnormals and split_fields(format, code).exponent == 0
    return Range.SUBNORMAL if subnormal else Range.NORMAL


def _outcome(before: Value, after: Value, format: Format, policy: ConversionPolicy) -> Outcome:
    """What turned ``before`` into ``after`` under ``policy``."""
    if before.is_nan:
        return Outcome.NAN_TO_ZERO if format.is_integer else Outcome.NAN_CANONICAL
    if before.value is None or after.value is None:
        return _special_outcome(before, after)
    if before.value == after.value:
        return Outcome.EXACT
    if format.is_integer:
        return _integer_outcome(before.value, after.value, policy)
    return _float_outcome(abs(before.value), abs(after.value), format)


def _special_outcome(before: Value, after: Value) -> Outcome:
    if before.category is after.category:
        return Outcome.EXACT
    if after.is_nan:
        return Outcome.OVERFLOWED_TO_NAN
    return Outcome.INFINITE if after.category is ValueClass.INFINITY else Outcome.SATURATED


def _integer_outcome(before: Fraction, after: Fraction, policy: ConversionPolicy) -> Outcome:
    magnitude = abs(before)
    truncate = policy.float_to_int == "truncate"
    rounded = (
        magnitude.numerator // magnitude.denominator
        if truncate
        else divide_to_even(magnitude.numerator, magnitude.denominator)
    )
    # Only the clamp to the range can give another magnitude than rounding.
    if rounded != abs(after):
        return Outcome.SATURATED
    if truncate:
        return Outcome.TRUNCATED
    return _rounding_outcome(rounded > magnitude, abs(rounded - magnitude) == Fraction(1, 2))


def _float_outcome(before: Fraction, after: Fraction, format: Format) -> Outcome:
    rounded = round_magnitude(format, before.numerator, before.denominator)
    if rounded << format.low_zero_bits > format.max_finite:
        return Outcome.SATURATED
    larger = after > before
    # Both neighbours are a spacing apart, which the lower one's exponent decides.
    lower = (rounded - larger) << format.low_zero_bits
    if lower < 0:
        return Outcome.ROUNDED_UP
    below = decode(format, lower).value
    assert below is not None
    tie = 2 * (before - below) == unit_in_last_place(format, lower)
    return _rounding_outcome(larger, tie)


def _rounding_outcome(larger: bool, tie: bool) -> Outcome:
    if tie:
        return Outcome.TIE_UP if larger else Outcome.TIE_DOWN
    return Outcome.ROUNDED_UP if larger else Outcome.ROUNDED_DOWN


def _error_in_ulps(before: Value, after: Value, format: Format, code: int) -> Fraction | None:
    if before.value is None or after.value is None:
        return None
    return (after.value - before.value) / unit_in_last_place(format, code)
