"""Numbers as people write and read them, exactly."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from lanewise.cli.support.options import shortened
from lanewise.errors import LanewiseError, UsageError, nearest_names
from lanewise.formats import (
    FORMATS,
    Format,
    Value,
    ValueClass,
    find_format,
    finite,
    infinity,
    nan,
    split_fields,
    zero,
)
from lanewise.neuron import Profile
from lanewise.neuron.dtypes import Dtype, find_dtype, number_format

_DECIMAL: Final = re.compile(r"(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,4})?", re.ASCII | re.IGNORECASE)
_HEX_FLOAT: Final = re.compile(
    r"0x(?P<whole>[0-9a-f]*)(?:\.(?P<part>[0-9a-f]*))?(?:p(?P<exponent>[+-]?\d{1,5}))?",
    re.ASCII | re.IGNORECASE,
)
_BITS: Final = re.compile(r"0x[0-9a-f]{1,16}", re.ASCII | re.IGNORECASE)
_LONGEST: Final = 400
MINUS: Final = "\N{MINUS SIGN}"


@dataclass(frozen=True, slots=True)
class NumberType:
    """What a type's name stands for: a dtype (whose format a profile decides) or a format."""

    name: str
    dtype: Dtype | None = None

    @classmethod
    def find(cls, name: str, machine: str = "neuron") -> NumberType:
        """A dtype of the machine by name, or any number format; UsageError with near misses."""
        name = shortened(name.strip())
        if machine == "pto":
            return cls(_pto_format(name).name)
        try:
            dtype = find_dtype(name)
        except LanewiseError:
            pass
        else:
            return cls(dtype.name, dtype)
        try:
            return cls(find_format(name).name)
        except LanewiseError:
            known = [dtype.name for dtype in Dtype if dtype.size]
            known += [other for other in FORMATS if other not in known]
            near = nearest_names(name, known)
            hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
            raise UsageError(
                f"unknown type {name!r}{hint} ('lanewise explain dtypes' lists them)"
            ) from None

    def format(self, profile: Profile) -> Format:
        """The number format under a profile."""
        return FORMATS[self.name] if self.dtype is None else number_format(self.dtype, profile)


def _pto_format(name: str) -> Format:
    """The format of a PTO data type or element name (its E4M3 ends at 448), or any format."""
    from lanewise.pto.datatypes import ELEMENT_FORMATS, DataType

    folded = name.casefold()
    known = ELEMENT_FORMATS | {dtype.name: dtype.format for dtype in DataType}
    for candidate, format in known.items():
        if candidate.casefold() == folded:
            return format
    try:
        return find_format(name)
    except LanewiseError:
        near = nearest_names(name, known)
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise UsageError(
            f"unknown type {name!r}{hint} ('lanewise explain pto dtypes' lists them)"
        ) from None


def looks_like_bits(text: str) -> bool:
    """Whether a text is a bit pattern (0x and hex digits only) rather than a number."""
    return _BITS.fullmatch(text) is not None


def parse_value(text: str) -> Value:
    """A number as an exact value: decimal, hex float (0x1.8p3), inf or nan, with a sign."""
    unsigned = text.strip()
    negative = unsigned.startswith(("-", MINUS))
    unsigned = unsigned[1:] if unsigned.startswith(("-", "+", MINUS)) else unsigned
    folded = unsigned.casefold()
    if folded in ("inf", "infinity"):
        return infinity(negative)
    if folded == "nan":
        return nan(negative)
    magnitude = _magnitude(unsigned) if len(unsigned) <= _LONGEST else None
    if magnitude is None:
        raise UsageError(
            f"{shortened(text)!r} is no value: expected a number such as 1.5, -3e-2, 0x1.8p3, inf "
            "or nan, or bits such as 0x3f80"
        )
    if not magnitude:
        return zero(negative)
    return finite(-magnitude if negative else magnitude)


def _magnitude(text: str) -> Fraction | None:
    if _DECIMAL.fullmatch(text) is not None:
        return Fraction(text)
    found = _HEX_FLOAT.fullmatch(text)
    if found is None or not (found["whole"] or found["part"]):
        return None
    part = found["part"] or ""
    digits = Fraction(int(found["whole"] + part or "0", 16), 16 ** len(part))
    return digits * Fraction(2) ** int(found["exponent"] or 0)


def value_text(value: Value) -> str:
    """A decoded value for people: exact where that is short, else 17 digits."""
    sign = "-" if value.negative else ""
    if value.is_nan:
        return f"{sign}NaN" + (" (signaling)" if value.category is ValueClass.SIGNALING_NAN else "")
    if value.category is ValueClass.INFINITY:
        return f"{sign}inf"
    if value.value is None:
        return "invalid"
    if not value.value:
        return f"{sign}0"
    return fraction_text(value.value)


def fraction_text(number: Fraction) -> str:
    """A fraction for people: a whole number, a decimal, or 17 digits of it."""
    if number.denominator == 1 and abs(number) < 10**17:
        return str(number.numerator)
    try:
        nearest = float(number)
    except OverflowError:
        nearest = 0.0
    if not nearest:
        # Past what the host's floats reach; the power of two is all there is room for.
        power = abs(number.numerator).bit_length() - number.denominator.bit_length()
        return f"about {'-' if number < 0 else ''}2^{power}"
    text = repr(nearest)
    return text if Fraction(nearest) == number else f"{nearest:.6g}"


def bits_text(format: Format, code: int) -> str:
    """A code in hex, as wide as its container."""
    return f"0x{code:0{(format.container + 3) // 4}x}"


def split_text(format: Format, code: int) -> str:
    """Sign, exponent and mantissa of a code in binary; just the bits where there are no fields."""
    split = split_fields(format, code)
    if split.exponent is None or split.mantissa is None:
        return f"{code & format.code_mask:0{format.width}b}"
    fields = [] if split.sign is None else [str(split.sign)]
    fields.append(f"{split.exponent:0{format.exponent_bits}b}")
    if format.mantissa_bits:
        fields.append(f"{split.mantissa:0{format.mantissa_bits}b}")
    return " ".join(fields)
