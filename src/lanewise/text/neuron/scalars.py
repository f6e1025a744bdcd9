"""Numbers as they are written: the text of a scalar's bits, and the bits of a number.

Floats are written with the fewest digits (six, or as many more as FP32 needs) that round back to
the same bits. A number with a point, an exponent, ``inf`` or ``nan`` is a float and is rounded to
nearest even; a decimal whole number is an integer; ``0x…`` and ``0b…`` are the bits themselves.
"""

from __future__ import annotations

import enum
import struct
from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import NamedTuple

from lanewise.errors import UsageError
from lanewise.formats import (
    BF16,
    E3M4,
    E5M2,
    FP16,
    FP32,
    ConversionPolicy,
    Format,
    Value,
    encode,
    finite,
    hub,
    infinity,
    nan,
    zero,
)
from lanewise.neuron.dtypes import Dtype, element_size

#: The float types whose format no profile changes.
_FLOAT_FORMATS: Mapping[int, Format] = MappingProxyType(
    {
        Dtype.FP32: FP32,
        Dtype.FP16: FP16,
        Dtype.BFLOAT16: BF16,
        Dtype.FP8_EXP3: E3M4,
        Dtype.FP8_EXP5: E5M2,
    }
)
_SIGNED = frozenset({Dtype.INT8, Dtype.INT16, Dtype.INT32})
_UNSIGNED = frozenset({Dtype.UINT8, Dtype.UINT16, Dtype.UINT32})
_ROUNDING = ConversionPolicy(float_to_int="nearest", float_overflow="infinity")
_FP32_MAGNITUDE = 0x7FFFFFFF
_FP32_INFINITY = 0x7F800000
_FP32_NAN = 0x7FC00000


class Form(enum.Enum):
    """How a number was written."""

    INTEGER = "whole number"
    BITS = "bits"
    FLOAT = "float"


class Number(NamedTuple):
    """A number in a text: an integer, bits, or an exact float value."""

    form: Form
    value: int | Value


def fp32_text(raw: int) -> str:
    """The FP32 number with these 32 bits; bits in hex where no number stands for them."""
    magnitude = raw & _FP32_MAGNITUDE
    if magnitude >= _FP32_INFINITY:
        if magnitude == _FP32_INFINITY:
            return "-inf" if raw >> 31 else "inf"
        return "nan" if raw == _FP32_NAN else f"{raw:#010x}"
    data = raw.to_bytes(4, "little")
    (value,) = struct.unpack("<f", data)
    for digits in (6, 7, 8, 9):
        text = f"{value:.{digits}g}"
        if struct.pack("<f", float(text)) == data:
            break
    return text if "." in text or "e" in text else text + ".0"


def scalar_text(raw: int, dtype: int) -> str:
    """The inline scalar of a type in four bytes: a number where it says all of the bits."""
    if dtype == Dtype.FP32:
        return fp32_text(raw)
    size = element_size(dtype)
    if size is not None and raw >> (8 * size) == 0:
        if dtype in _UNSIGNED:
            return str(raw)
        if dtype in _SIGNED:
            return str(raw - (raw >> (8 * size - 1) << 8 * size))
        format = _FLOAT_FORMATS.get(dtype)
        if format is not None:
            # Every one of these formats fits into FP32, and FP32's digits round back to it.
            text = fp32_text(hub(format, raw))
            if not text.startswith(("0x", "nan")) or raw == format.quiet_nan:
                return text
    return f"{raw:#010x}"


def float_bits(number: Number, format: Format) -> int:
    """The code of a float nearest to a number; UsageError when it lies beyond the largest one."""
    value = number.value
    assert isinstance(value, Value)
    code = encode(format, value, _ROUNDING)
    if value.value is not None and code & ~format.sign_mask > format.max_finite:
        raise UsageError(f"{format.name} does not reach that far; write inf, or its bits in hex")
    return code


def scalar_bits(number: Number, dtype: int) -> int:
    """The four bytes of an inline scalar; UsageError says why the number is none of the type."""
    if number.form is Form.BITS:
        assert isinstance(number.value, int)
        if number.value >> 32:
            raise UsageError(f"a scalar has 32 bits, {number.value:#x} does not fit")
        return number.value
    name = Dtype(dtype).name if element_size(dtype) is not None else f"dtype {dtype:#x}"
    format = _FLOAT_FORMATS.get(dtype)
    if number.form is Form.FLOAT:
        if format is None:
            raise UsageError(f"a float does not go into {name}; write its bits in hex")
        return float_bits(number, format)
    assert isinstance(number.value, int)
    if format is not None:
        raise UsageError(
            f"a whole number is ambiguous for {name}; write {number.value}.0 for the number or "
            f"{number.value:#x} for the bits"
        )
    size = element_size(dtype)
    if dtype in _SIGNED and size is not None:
        low, high = -(1 << (8 * size - 1)), (1 << (8 * size - 1)) - 1
    elif dtype in _UNSIGNED and size is not None:
        low, high = 0, (1 << 8 * size) - 1
    else:
        raise UsageError(f"{name} has no numbers here; write its bits in hex")
    if not low <= number.value <= high:
        raise UsageError(f"{name} holds {low}..{high}, not {number.value}")
    return number.value & ((1 << 8 * size) - 1)


def float_number(text: str, negative: bool) -> Number:
    """The number that a float literal (without sign) stands for."""
    folded = text.casefold()
    if folded == "inf":
        return Number(Form.FLOAT, infinity(negative))
    if folded == "nan":
        return Number(Form.FLOAT, nan(negative))
    magnitude = Fraction(text.replace("_", ""))
    if magnitude == 0:
        return Number(Form.FLOAT, zero(negative))
    return Number(Form.FLOAT, finite(-magnitude if negative else magnitude))


def negated(number: Number) -> Number:
    """The number with the other sign; bits become the whole number they stand for."""
    if isinstance(number.value, int):
        return Number(Form.INTEGER, -number.value)
    value = number.value
    flipped = None if value.value is None else -value.value
    return Number(Form.FLOAT, Value(value.category, not value.negative, flipped))
