"""Conversion of arrays: the bulk twin of the scalar codec in ``lanewise.formats``.

Integer arithmetic only. Sources of up to 16 bits go through a table of all their codes, FP32 into
an 8-bit target through a table of shortened FP32 values, everything else through passes over
blocks that stay in the cache.

Source: conversion rules (hub, encode, convert); profile fields float_to_int, float_overflow.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lanewise.errors import UsageError
from lanewise.formats import FP32, ConversionPolicy, Format
from lanewise.formats import hub as hub_of_code
from lanewise.formats.encoding import overflow_code
from lanewise.kernels.arrays import Codes, Hub, check_codes, check_hub, code_dtype

_BLOCK: Final = 1 << 15
"""Elements a pass works on at a time: some 32-bit temporaries of it fit the second-level cache."""

_MAGNITUDE: Final = np.uint32(0x7FFF_FFFF)
_INFINITY: Final = np.uint32(0x7F80_0000)
_SIGN: Final = np.uint32(0x8000_0000)
_QUIET_NAN: Final = np.uint32(0x7FC0_0000)

# How much of FP32 an 8-bit target can see: its 8 significant bits, the bit that halves them, and
# one bit for "anything below". 1 + 8 + 9 bits are left of 32.
_SHORT_BITS: Final = 18
_SHORT_SHIFT: Final = np.uint32(32 - _SHORT_BITS)
_BELOW_SHORT: Final = np.uint32((1 << (32 - _SHORT_BITS)) - 1)


def to_hub(codes: Codes, format: Format) -> Hub:
    """FP32 bits of ``codes``, in their shape.

    Exact for floats up to FP32; integers round to nearest even; NaNs become 0x7fc00000 with their
    sign. Raises ``UsageError`` for arrays of another type than the format's and invalid codes.
    """
    check_codes(codes, format)
    if format.container <= 16:
        return _hub_table(format)[codes, ...]
    if format.is_integer:
        return _blockwise(lambda part: _hub_of_integers(part, format), codes, np.dtype(np.uint32))
    if format.exponent_bits == FP32.exponent_bits and format.width == FP32.width:
        return _hub_of_containers(codes, format)
    raise UsageError(f"{format.name}: no array kernel decodes this format")


def from_hub(hub: Hub, format: Format, policy: ConversionPolicy) -> Codes:
    """The FP32 bits ``hub`` encoded in ``format`` under ``policy``, in their shape.

    Raises ``UsageError`` for formats that cannot hold every FP32 class with a sign (scales, HiF8,
    elements without NaN): the scalar codec encodes what they can hold.
    """
    check_hub(hub, "hub")
    check_target(format)
    dtype = code_dtype(format)
    if format.width == 8 and hub.size >= 1 << _SHORT_BITS:
        table = _short_table(format, policy)
        return _blockwise(lambda part: table[_shortened(part)], hub, dtype)
    encode = _encoder(format, policy)
    return _blockwise(encode, hub, dtype)


def convert(
    codes: Codes,
    source: Format,
    target: Format,
    policy: ConversionPolicy,
    *,
    stream: bool = False,
) -> Codes:
    """``codes`` of ``source`` as codes of ``target``, in a new array of their shape.

    Equal formats keep their bits; with ``stream`` they too pass through the hub. Raises
    ``UsageError`` where ``to_hub`` and ``from_hub`` do.
    """
    check_codes(codes, source)
    if source == target and not stream:
        return codes.astype(code_dtype(source))
    check_target(target)
    # A table pays once the array is about as long as it.
    if source.container <= 8 or (source.container == 16 and codes.size >= 1 << 14):
        return conversion_table(source, target, policy)[codes, ...]
    return from_hub(to_hub(codes, source), target, policy)


def check_target(format: Format) -> None:
    """Raise ``UsageError`` unless arrays can be encoded in ``format``: see ``from_hub``."""
    code_dtype(format)
    if format.is_integer:
        return
    if format.kind != "float" or not format.signed or format.quiet_nan is None:
        raise UsageError(f"{format.name}: no array kernel encodes this format")


def all_codes(format: Format) -> Codes:
    """Every code of a format of up to 16 bits, ascending."""
    return np.arange(1 << format.width, dtype=code_dtype(format))


def _blockwise(
    kernel: Callable[[Any], npt.NDArray[Any]], source: Codes, dtype: np.dtype[Any]
) -> npt.NDArray[Any]:
    """``kernel`` over ``source`` in blocks; the result is contiguous and has its shape."""
    flat = source.reshape(-1)
    result = np.empty(flat.shape, dtype)
    for start in range(0, flat.size, _BLOCK):
        result[start : start + _BLOCK] = kernel(flat[start : start + _BLOCK])
    return result.reshape(source.shape)


def _hub_of_containers(codes: Codes, format: Format) -> Hub:
    """FP32 itself and FP32 containers: only NaNs change."""
    low = (1 << format.low_zero_bits) - 1
    if low and (codes & np.uint32(low)).any():
        raise UsageError(f"{format.name}: the low {format.low_zero_bits} bits must be zero")
    hub = codes.astype(np.uint32)
    nan = (hub & _MAGNITUDE) > _INFINITY
    if nan.any():
        hub[nan] = (hub[nan] & _SIGN) | _QUIET_NAN
    return hub


def _hub_of_integers(codes: Codes, format: Format) -> Hub:
    """Integers of up to 32 bits: normalise to bit 31, keep 24 bits, round to even."""
    wide = codes.astype(np.uint32)
    sign = np.zeros_like(wide)
    if format.kind == "signed":
        sign = (wide >> np.uint32(format.width - 1)) << np.uint32(31)
        # Sign extension, then the two's complement of what is negative.
        wide = (wide ^ np.uint32(format.sign_mask)) - np.uint32(format.sign_mask)
        wide = np.where(sign != 0, np.uint32(0) - wide, wide)
    length = bit_length(wide)
    normal = wide << (np.uint32(32) - np.maximum(length, np.uint32(1)))
    significand = normal >> np.uint32(8)
    up = ((normal & np.uint32(0xFF)) + (significand & np.uint32(1))) > 0x80
    # The leading one of the significand adds one to the exponent, a carry another one.
    hub = ((length + np.uint32(125)) << np.uint32(23)) + significand + up
    return np.where(wide == 0, np.uint32(0), hub | sign)


def bit_length(values: Hub) -> Hub:
    """``int.bit_length`` of every element of a uint32 array."""
    smeared = values.copy()
    for shift in (1, 2, 4, 8, 16):
        smeared |= smeared >> np.uint32(shift)
    return np.bitwise_count(smeared).astype(np.uint32)


@cache
def _hub_table(format: Format) -> Hub:
    """Hub bits of every code of a format of up to 16 bits; read only."""
    codes = all_codes(format)
    if format.container <= 8:
        # Invalid codes never get here: check_codes refuses them.
        table = np.array([hub_of_code(format, code) for code in codes.tolist()], dtype=np.uint32)
    elif format.is_integer:
        table = _hub_of_integers(codes, format)
    else:
        table = _hub_of_small_floats(codes.astype(np.uint32), format)
    table.setflags(write=False)
    return table


def _hub_of_small_floats(codes: Hub, format: Format) -> Hub:
    """16-bit IEEE floats: shift the fields into place, normalise subnormals."""
    sign = (codes & np.uint32(format.sign_mask)) << np.uint32(32 - format.width)
    magnitude = codes & np.uint32(format.sign_mask - 1)
    rebias = np.uint32((FP32.bias - format.bias) << FP32.mantissa_bits)
    shift = np.uint32(FP32.mantissa_bits - format.mantissa_bits)
    hub = (magnitude << shift) + rebias
    if format.bias != FP32.bias:
        subnormal = magnitude < np.uint32(1 << format.mantissa_bits)
        hub = np.where(subnormal, _hub_of_subnormals(magnitude, format), hub)
    infinity = np.uint32(format.infinity or 0)
    hub = np.where(magnitude == infinity, _INFINITY, hub)
    hub = np.where(magnitude > infinity, _QUIET_NAN, hub)
    return hub | sign


def _hub_of_subnormals(magnitude: Hub, format: Format) -> Hub:
    """Subnormals of a format with a smaller exponent range than FP32: normal there, and exact."""
    length = bit_length(magnitude)
    exponent = length + np.uint32(FP32.bias - format.bias - format.mantissa_bits)
    mantissa = (magnitude << (np.uint32(24) - length)) & np.uint32(0x7F_FFFF)
    return np.where(magnitude == 0, np.uint32(0), (exponent << np.uint32(23)) | mantissa)


def _encoder(format: Format, policy: ConversionPolicy) -> Callable[[Hub], Hub]:
    """The kernel that encodes one block of hub bits."""
    if format == FP32:
        return lambda part: _hub_of_containers(part, FP32)
    if format.is_integer:
        return lambda part: _integers_of_hub(part, format, policy)
    return lambda part: _floats_of_hub(part, format, policy)


def _floats_of_hub(hub: Hub, format: Format, policy: ConversionPolicy) -> Hub:
    """Round the significand at the target's last place and put the exponent back on top."""
    magnitude = hub & _MAGNITUDE
    if format.bias == FP32.bias:
        # The same exponents, subnormals included: rounding the fields as one integer is enough.
        code = _shift_to_even(magnitude, np.uint32(FP32.mantissa_bits - format.mantissa_bits))
    else:
        exponent = magnitude >> np.uint32(23)
        narrowing = FP32.mantissa_bits - format.mantissa_bits
        lowest = FP32.bias - format.bias + 1
        # Below the target's normal range every step down drops one bit more; after 25 of them
        # less than a half is left of any significand.
        last = np.uint32(lowest + narrowing - 25)
        dropped = np.uint32(lowest + narrowing) - np.clip(exponent, last, np.uint32(lowest))
        code = _shift_to_even(_significand(magnitude), dropped)
        above = np.maximum(exponent, np.uint32(lowest)) - np.uint32(lowest)
        code += above << np.uint32(format.mantissa_bits)
    code <<= np.uint32(format.low_zero_bits)
    limit, overflow = np.uint32(format.max_finite), np.uint32(overflow_code(format, policy))
    code = np.where(code > limit, overflow, code)
    special = magnitude >= _INFINITY
    if special.any():
        assert format.quiet_nan is not None
        infinity = overflow if format.infinity is None else np.uint32(format.infinity)
        nan = np.uint32(format.quiet_nan)
        code[special] = np.where(magnitude[special] > _INFINITY, nan, infinity)
    return code | ((hub & _SIGN) >> np.uint32(32 - format.width))


def _integers_of_hub(hub: Hub, format: Format, policy: ConversionPolicy) -> Hub:
    """Shift the significand to units, round, clamp, put the sign in."""
    magnitude = hub & _MAGNITUDE
    exponent = magnitude >> np.uint32(23)
    # The significand counts units at exponent field 150; 25 places further down nothing is left,
    # and from 158 on the value is beyond every integer of 32 bits.
    down = np.uint32(150) - np.clip(exponent, np.uint32(125), np.uint32(150))
    up = np.clip(exponent, np.uint32(150), np.uint32(158)) - np.uint32(150)
    significand = _significand(magnitude)
    if policy.float_to_int == "nearest":
        units = _shift_to_even(significand, down)
    else:
        units = significand >> down
    units <<= up
    units[exponent >= 159] = 0xFFFF_FFFF
    negative = (hub & _SIGN) != 0
    units = np.minimum(
        units, np.where(negative, np.uint32(-format.min_value), np.uint32(format.max_value))
    )
    units = np.where(negative, np.uint32(0) - units, units)
    units[magnitude > _INFINITY] = 0
    return units & np.uint32(format.code_mask)


def _significand(magnitude: Hub) -> Hub:
    """The 24-bit significand of FP32 magnitudes, the leading one of normals included."""
    implied = (magnitude >= np.uint32(1 << 23)).astype(np.uint32) << np.uint32(23)
    return (magnitude & np.uint32(0x7F_FFFF)) | implied


def _shift_to_even(values: Hub, places: Hub | np.uint32) -> Hub:
    """``values / 2**places`` to the nearest integer, ties to even; places 0..25, values < 2**31."""
    quotient = values >> places
    remainder = values - (quotient << places)
    odd = quotient & np.uint32(1)
    # Doubling the remainder and adding the odd bit turns "half, and odd" into "more than half".
    quotient += (remainder << np.uint32(1)) + odd > np.uint32(1) << places
    return quotient


def _shortened(hub: Hub) -> npt.NDArray[np.uint32]:
    """The top bits of FP32 values, the lowest of them set when any bit below was."""
    short: Hub = (hub >> _SHORT_SHIFT) | ((hub & _BELOW_SHORT) != 0)
    return short


@lru_cache(maxsize=64)
def _short_table(format: Format, policy: ConversionPolicy) -> Codes:
    """Codes of an 8-bit format for every shortened FP32 value; read only."""
    values = np.arange(1 << _SHORT_BITS, dtype=np.uint32) << _SHORT_SHIFT
    table = _encoder(format, policy)(values).astype(code_dtype(format))
    table.setflags(write=False)
    return table


@lru_cache(maxsize=256)
def conversion_table(source: Format, target: Format, policy: ConversionPolicy) -> Codes:
    """Codes of ``target`` for every code of a source of up to 16 bits; read only."""
    table = from_hub(_hub_table(source), target, policy)
    table.setflags(write=False)
    return table
