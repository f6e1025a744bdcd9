"""Python numbers as the bits that a word or a fill holds, and arrays as FP32 and back.

All through the model's own conversion, under the profile of the run.
"""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanewise.formats import FP32, Value, encode, finite, infinity, nan, zero
from lanewise.kernels import reference
from lanewise.neuron import Dtype, Profile
from lanewise.neuron.dtypes import number_format
from lanewise.nki.dtypes import NkiDtype

# Into FP32 by IEEE rules whatever the profile: that is what an FP32 immediate means.
_TO_FP32 = Profile.HARDWARE.conversion


def is_number(value: object) -> bool:
    """Whether the value is a Python or NumPy number; truth values are not."""
    return isinstance(value, (Real, np.number)) and not isinstance(value, (bool, np.bool_))


def _exact(number: Any) -> Value:
    if isinstance(number, Integral):
        return finite(int(number))
    value = float(number)
    if math.isnan(value):
        return nan(negative=bool(np.signbit(value)))
    if value in (float("inf"), float("-inf")):
        return infinity(negative=value < 0)
    if value == 0:
        return zero(negative=bool(np.signbit(value)))
    return finite(Fraction(value))


def fp32_bits(number: Any) -> int:
    """The FP32 bits nearest to a number."""
    return encode(FP32, _exact(number), _TO_FP32)


def code_of(number: Any, dtype: NkiDtype, profile: Profile) -> int:
    """The element of ``dtype`` that a number becomes.

    Whole numbers go to integer types exactly, all else through FP32, as the model converts.
    """
    assert dtype.output is not None
    profile = with_form(profile, dtype)
    target = number_format(dtype.output, profile)
    if isinstance(number, Integral) and target.is_integer:
        return encode(target, _exact(number), profile.conversion)
    bits = np.array([fp32_bits(number)], dtype=np.uint32)
    return int(from_hub(bits, dtype, profile)[0])


def with_form(profile: Profile, *dtypes: NkiDtype) -> Profile:
    """The profile with the form of E4M3 that the types name."""
    for dtype in dtypes:
        form = dtype.fp8_form
        if form is not None and form != profile.fp8_exp4:
            return profile.with_(fp8_exp4=form)
    return profile


def to_hub(codes: NDArray[Any], dtype: NkiDtype, profile: Profile) -> NDArray[np.uint32]:
    """Elements as FP32 bits."""
    assert dtype.code is not None
    source = np.ascontiguousarray(codes)
    return reference.to_hub(source, number_format(dtype.code, with_form(profile, dtype)))


def from_hub(bits: NDArray[Any], dtype: NkiDtype, profile: Profile) -> NDArray[Any]:
    """FP32 bits as elements; FP32 keeps them untouched."""
    assert dtype.output is not None
    if dtype.output == Dtype.FP32:
        return bits
    profile = with_form(profile, dtype)
    target = number_format(dtype.output, profile)
    return reference.from_hub(np.ascontiguousarray(bits), target, profile.conversion)


def to_float(codes: NDArray[Any], dtype: NkiDtype, profile: Profile) -> NDArray[np.float32]:
    """Elements as FP32 numbers."""
    return to_hub(codes, dtype, profile).view(np.float32)


def from_float(values: NDArray[Any], dtype: NkiDtype, profile: Profile) -> NDArray[Any]:
    """FP32 numbers as elements."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    return from_hub(bits, dtype, profile)


def converted(
    codes: NDArray[Any], source: NkiDtype, target: NkiDtype, profile: Profile
) -> NDArray[Any]:
    """Elements of one type as elements of another; equal types move their bits."""
    if source == target or (source.code == target.output and source.fp8_form == target.fp8_form):
        return codes
    return from_hub(to_hub(codes, source, profile), target, profile)
