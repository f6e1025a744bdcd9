"""Conversions worked out a second time, in another way: what a sweep holds kernels against.

Nothing here is shared with the codec or the kernels, the tables of the types included. A narrow
target is a staircase: the FP32 codes at which its code changes, found from exact midpoints and
looked up by bisection. Wide targets choose between neighbours. A float64 serves as a container
that holds every FP32 value and every 32-bit integer; all that it rounds is to whole numbers.

Source: conversion rules (hub, encode, convert); profile fields float_to_int, float_overflow,
nan_to_int, fp8_exp4, fp32r_mantissa_bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lanewise.neuron import Dtype, Profile

Codes = npt.NDArray[np.unsignedinteger[Any]]
Wide = npt.NDArray[np.int64]

_INFINITY: Final = 0x7F80_0000
_NAN: Final = 0x7FC0_0000
_SIGN: Final = 0x8000_0000
_STRIDED: Final = 64

#: FP32 has all integers below this.
_EXACT: Final = 1 << 24


@dataclass(frozen=True, slots=True)
class _Float:
    """A float of 8 or 16 bits; ``top`` is its largest finite code, ``infinity`` None for none."""

    mantissa: int
    bias: int
    top: int
    infinity: int | None
    nan: int

    def units(self, code: int) -> int:
        """The value of a code without sign, counted in units of 2^-149; beyond ``top`` too."""
        field, mantissa = divmod(code, 1 << self.mantissa)
        significand = mantissa + ((1 << self.mantissa) if field else 0)
        return significand << (max(field, 1) - self.bias - self.mantissa + 149)


_E4M3: Final = _Float(3, 7, 0x77, 0x78, 0x7C)
_E4M3FN: Final = _Float(3, 7, 0x7E, None, 0x7F)
_FLOATS: Final[Mapping[Dtype, _Float]] = MappingProxyType(
    {
        Dtype.FP16: _Float(10, 15, 0x7BFF, 0x7C00, 0x7E00),
        Dtype.BFLOAT16: _Float(7, 127, 0x7F7F, 0x7F80, 0x7FC0),
        Dtype.FP8_EXP3: _Float(4, 3, 0x6F, 0x70, 0x78),
        Dtype.FP8_EXP4: _E4M3,
        Dtype.FP8_EXP5: _Float(2, 15, 0x7B, 0x7C, 0x7E),
    }
)
_INTEGERS: Final[Mapping[Dtype, tuple[int, int]]] = MappingProxyType(
    {
        Dtype.INT8: (-0x80, 0x7F),
        Dtype.UINT8: (0, 0xFF),
        Dtype.INT16: (-0x8000, 0x7FFF),
        Dtype.UINT16: (0, 0xFFFF),
        Dtype.INT32: (-0x8000_0000, 0x7FFF_FFFF),
        Dtype.UINT32: (0, 0xFFFF_FFFF),
    }
)
_CARRIERS: Final = MappingProxyType({1: np.uint8, 2: np.uint16, 4: np.uint32})


@dataclass(frozen=True, slots=True)
class _Staircase:
    """From each FP32 code in ``starts`` (ascending, the first is 0) on, the code in ``values``."""

    starts: Wide
    values: Codes

    def look_up(self, hub: Codes) -> Codes:
        return self.values[np.searchsorted(self.starts, hub, side="right") - 1]

    def stretch(self, start: int, stop: int) -> Codes:
        """The values of all codes from ``start`` to before ``stop``."""
        first = int(np.searchsorted(self.starts, start, side="right")) - 1
        last = int(np.searchsorted(self.starts, stop, side="left"))
        edges = np.append(self.starts[first:last], stop)
        edges[0] = start
        return np.repeat(self.values[first:last], np.diff(edges))


class Oracle:
    """What a conversion must give, for one pair of types under one profile."""

    def __init__(self, source: Dtype, target: Dtype, profile: Profile) -> None:
        self.source, self.target, self._profile = source, target, profile
        self._carrier = _CARRIERS[target.size]
        self._steps = None if target.size == 4 else _staircase(target, profile)

    def expected(self, codes: Codes) -> Codes:
        """The codes of the target for ``codes`` of the source."""
        if self.source == self.target:
            return codes.astype(self._carrier)
        return self._of_hub(_hub(codes, self.source, self._profile))

    def _of_hub(self, hub: Codes) -> Codes:
        """The codes of the target for FP32 codes in which every NaN is the one NaN."""
        if self._steps is not None:
            return self._steps.look_up(hub)
        if self.target == Dtype.FP32:
            return hub
        if self.target == Dtype.FP32R:
            return _shortened(hub, self._profile)
        return _whole(hub, _INTEGERS[self.target], self._profile)

    def expected_range(self, start: int, stop: int) -> Codes:
        """The same for every code of the source from ``start`` to before ``stop``."""
        if self.source.size < 4 or self.source == self.target:
            return self._one_by_one(start, stop)
        if self._steps is not None and self.source == Dtype.FP32:
            # The hub changes NaNs only, and all of them are one stair.
            return self._steps.stretch(start, stop)
        cuts = (_INFINITY, _SIGN, _SIGN + _INFINITY)
        stretch = self._float_stretch
        if self.source in _INTEGERS:
            cuts = (_EXACT, _SIGN, (1 << 32) - _EXACT + 1)
            stretch = self._integer_stretch
        edges = [start, *(cut for cut in cuts if start < cut < stop), stop]
        return np.concatenate([stretch(*span) for span in pairwise(edges)])

    def _one_by_one(self, start: int, stop: int) -> Codes:
        carrier = _CARRIERS[self.source.size]
        return self.expected(np.arange(start, stop, dtype=np.int64).astype(carrier))

    def _float_stretch(self, start: int, stop: int) -> Codes:
        """Of FP32 codes with one sign, finite or not, for a wide target."""
        sign, low = start & _SIGN, start & 0x7FFF_FFFF
        if self.target == Dtype.FP32R and low < _INFINITY:
            step = 1 << (23 - self._profile.fp32r_mantissa_bits)
            high = low + stop - start
            numbers = np.arange(low // step, high // step + 2, dtype=np.int64)
            # Half a step before a number begins what rounds to it; the tie does if it is even.
            starts = numbers * step - step // 2 + numbers % 2
            # What rounds to infinity is a finite number all the same.
            finite = np.minimum(numbers * step, _INFINITY - 1)
            values = self._of_hub((finite | sign).astype(np.uint32))
            return np.repeat(values, np.diff(np.append(starts, high).clip(low, high)))
        if self.target in _INTEGERS and low != _INFINITY:
            # Between two codes of one sign that give the same, every code does.
            first, last = self.expected(np.array([start, stop - 1], dtype=np.uint32))
            if first == last:
                return np.full(stop - start, first)
        return self._one_by_one(start, stop)

    def _integer_stretch(self, start: int, stop: int) -> Codes:
        """Of integers with one sign: large ones by the FP32 codes that they round to."""
        low, high = start, stop
        negative = self.source == Dtype.INT32 and start >= _SIGN
        if negative:
            low, high = (1 << 32) - stop + 1, (1 << 32) - start + 1
        if low < _EXACT:
            return self._one_by_one(start, stop)
        first, last = _hub_of_numbers(np.array([low, high - 1], dtype=np.int64)).tolist()
        codes = np.arange(first, last + 1, dtype=np.int64)
        at = _exact(np.append(first - 1, codes)).astype(np.int64)
        # From the middle between two codes on an integer rounds up; the tie does to an even code.
        starts = at[:-1] + np.diff(at) // 2 + codes % 2
        starts[0] = low
        lengths = np.diff(np.append(starts, high))
        if negative:
            codes, lengths = codes[::-1] | _SIGN, lengths[::-1]
        return np.repeat(self._of_hub(codes.astype(np.uint32)), lengths)

    def boundaries(self) -> Codes:
        """Codes of a 32-bit source at which the result changes, with two neighbours a side.

        All of them for targets of up to 16 bits, chosen ones for wider targets.
        """
        edges = self._hub_edges()
        near = np.arange(-2, 3, dtype=np.int64)
        if self.source == Dtype.FP32:
            found = edges[:, np.newaxis] + near
            return np.unique(found[(found >= 0) & (found <= 0xFFFF_FFFF)]).astype(np.uint32)
        low, high = _INTEGERS[self.source]
        edges = edges[(edges & 0x7FFF_FFFF) < _INFINITY]
        # Integers round into the hub first: what matters is where that reaches a boundary.
        at = _exact(edges)
        before = _exact(edges - ((edges & 0x7FFF_FFFF) > 0))
        places = np.concatenate([at, (at + before) / 2])
        places = np.floor(places[np.abs(places) <= 2.0**33]).astype(np.int64)
        found = np.unique(places[:, np.newaxis] + near)
        return (found[(found >= low) & (found <= high)] & 0xFFFF_FFFF).astype(np.uint32)

    def _hub_edges(self) -> Wide:
        powers = np.arange(256, dtype=np.int64) << 23
        edges = [powers, powers | _SIGN]
        if self._steps is not None:
            edges.append(self._steps.starts)
        elif self.target == Dtype.FP32R:
            kept = self._profile.fp32r_mantissa_bits
            step = max(1, (1 << kept) // _STRIDED)
            mantissas = np.append(np.arange(0, 1 << kept, step, dtype=np.int64), (1 << kept) - 1)
            middles = (mantissas << (23 - kept)) + (1 << (22 - kept))
            middles = (powers[:, np.newaxis] + middles).ravel()
            edges += [middles, middles | _SIGN]
        elif self.target in _INTEGERS:
            edges += [
                _staircase(narrow, self._profile).starts for narrow in (Dtype.INT16, Dtype.UINT16)
            ]
        return np.unique(np.concatenate(edges))


@lru_cache(maxsize=256)
def oracle_of(source: Dtype, target: Dtype, profile: Profile) -> Oracle:
    """The oracle of a pair, made once."""
    return Oracle(source, target, profile)


def _float_of(dtype: Dtype, profile: Profile) -> _Float:
    if dtype == Dtype.FP8_EXP4 and profile.fp8_exp4 == "fn":
        return _E4M3FN
    return _FLOATS[dtype]


def _fp32_code(units: int) -> int:
    """The FP32 code of ``units`` times 2^-149, which must be a value of FP32."""
    places = max(units.bit_length() - 24, 0)
    assert not units & ((1 << places) - 1)
    # While the exponent is that of the subnormals the code counts the units.
    return (places << 23) + (units >> places)


def _step_up(below: int, above: int, is_even: bool) -> int:
    """The first FP32 code nearer to ``above`` than to ``below``; ties go up to an even code."""
    middle, rest = divmod(below + above, 2)
    assert not rest
    return _fp32_code(middle) + (not is_even)


def _staircase(target: Dtype, profile: Profile) -> _Staircase:
    """The stairs of a target of up to 16 bits."""
    if target in _INTEGERS:
        return _integer_stairs(target, profile.float_to_int)
    return _float_stairs(target, _float_of(target, profile), profile.float_overflow)


@lru_cache(maxsize=64)
def _float_stairs(target: Dtype, form: _Float, float_overflow: str) -> _Staircase:
    too_large = form.top
    if float_overflow == "infinity":
        too_large = form.nan if form.infinity is None else form.infinity
    values = [form.units(code) for code in range(form.top + 2)]
    half = [(0, 0)]
    for code in range(1, form.top + 2):
        start = _step_up(values[code - 1], values[code], code % 2 == 0)
        half.append((start, code if code <= form.top else too_large))
    half.append((_INFINITY, too_large if form.infinity is None else form.infinity))
    half.append((_INFINITY + 1, form.nan))
    sign = 1 << (8 * target.size - 1)
    return _built(target, half + [(start | _SIGN, value | sign) for start, value in half])


@lru_cache(maxsize=64)
def _integer_stairs(target: Dtype, float_to_int: str) -> _Staircase:
    low, high = _INTEGERS[target]
    nearest = float_to_int == "nearest"
    stairs = []
    for sign, most in ((0, high), (_SIGN, -low)):
        stairs.append((sign, 0))
        for number in range(1, most + 1):
            at = number << 149
            start = _step_up(at - (1 << 149), at, number % 2 == 0) if nearest else _fp32_code(at)
            value = number if sign == 0 else -number
            stairs.append((start | sign, value % (1 << (8 * target.size))))
        stairs.append((sign | (_INFINITY + 1), 0))
    return _built(target, stairs)


def _built(target: Dtype, stairs: list[tuple[int, int]]) -> _Staircase:
    starts, values = zip(*stairs, strict=True)
    return _Staircase(
        np.array(starts, dtype=np.int64), np.array(values, dtype=_CARRIERS[target.size])
    )


def _hub(codes: Codes, source: Dtype, profile: Profile) -> npt.NDArray[np.uint32]:
    """The FP32 codes of ``codes``."""
    if source == Dtype.FP32:
        nan = (codes & np.uint32(0x7FFF_FFFF)) > _INFINITY
        return np.where(nan, (codes & np.uint32(_SIGN)) | np.uint32(_NAN), codes).astype(np.uint32)
    if source.size == 4:
        numbers = codes.view(np.int32) if source == Dtype.INT32 else codes
        return _hub_of_numbers(numbers.astype(np.int64))
    if source in _INTEGERS:
        return _hub_of_all_integers(source)[codes]
    return _hub_of_all_floats(source.size, _float_of(source, profile))[codes]


@lru_cache(maxsize=8)
def _hub_of_all_integers(source: Dtype) -> npt.NDArray[np.uint32]:
    """The FP32 codes of all codes of an integer source of up to 16 bits."""
    count, low = 1 << (8 * source.size), _INTEGERS[source][0]
    numbers = [code - count if low and code >= count // 2 else code for code in range(count)]
    table = [_fp32_code(abs(number) << 149) | (_SIGN if number < 0 else 0) for number in numbers]
    return np.array(table, dtype=np.uint32)


@lru_cache(maxsize=8)
def _hub_of_all_floats(size: int, form: _Float) -> npt.NDArray[np.uint32]:
    """The same of a float source of ``size`` bytes."""
    table = []
    for code in range(1 << (8 * size - 1)):
        if code <= form.top:
            table.append(_fp32_code(form.units(code)))
        else:
            table.append(_INFINITY if code == form.infinity else _NAN)
    half = np.array(table, dtype=np.uint32)
    return np.concatenate([half, half | np.uint32(_SIGN)])


def _hub_of_numbers(numbers: Wide) -> npt.NDArray[np.uint32]:
    """Integers to the nearer of the two FP32 neighbours of the float64 that holds them."""
    bits = np.abs(numbers).astype(np.float64).view(np.int64)
    down = bits >> 29
    rest = bits & 0x1FFF_FFFF
    up = (rest > 0x1000_0000) | ((rest == 0x1000_0000) & (down % 2 == 1))
    codes = np.where(numbers == 0, 0, down + up - ((1023 - 127) << 23))
    return np.where(numbers < 0, codes | _SIGN, codes).astype(np.uint32)


def _shortened(hub: Codes, profile: Profile) -> Codes:
    """FP32R: the nearer of the two neighbours with a short mantissa."""
    sign = hub & np.uint32(_SIGN)
    size = hub.astype(np.int64) & 0x7FFF_FFFF
    step = 1 << (23 - profile.fp32r_mantissa_bits)
    down = size - size % step
    to_down, to_up = size - down, down + step - size
    odd = (down // step) % 2 == 1
    near = np.where((to_up < to_down) | ((to_up == to_down) & odd), down + step, down)
    most = _INFINITY if profile.float_overflow == "infinity" else _INFINITY - step
    near = np.minimum(near, most)
    near = np.where(size == _INFINITY, _INFINITY, np.where(size > _INFINITY, _NAN, near))
    return near.astype(np.uint32) | sign


def _whole(hub: Codes, limits: tuple[int, int], profile: Profile) -> Codes:
    """Integers of 32 bits: float64 has all of them, so it rounds to whole numbers exactly."""
    nan = (hub & np.uint32(0x7FFF_FFFF)) > _INFINITY
    values = _exact(np.where(nan, np.uint32(0), hub).astype(np.int64))
    whole = np.rint(values) if profile.float_to_int == "nearest" else np.trunc(values)
    return (np.clip(whole, *limits).astype(np.int64) & 0xFFFF_FFFF).astype(np.uint32)


def _exact(hub: Wide) -> npt.NDArray[np.float64]:
    """The values of FP32 codes other than NaN."""
    return hub.astype(np.uint32).view(np.float32).astype(np.float64)
