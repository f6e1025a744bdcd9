"""Data type codes of the NeuronCore, and the number format each one stands for.

The suffix of ``FP8_EXPn`` is the width of the exponent: EXP3 is E3M4, EXP4 is E4M3, EXP5 is
E5M2. Source: data type table of the ISA headers.
"""

from __future__ import annotations

import enum
import functools
import math
from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType

import numpy as np

from lanewise.errors import unknown_name
from lanewise.formats import FORMATS, Format, encode, fp32r, infinity, nan, zero
from lanewise.neuron.generation import Generation
from lanewise.neuron.profile import Profile
from lanewise.neuron.tables import rows


class Dtype(enum.IntEnum):
    """The codes every generation has; later generations add codes no modelled word accepts."""

    INVALID = 0x0
    UINT64 = 0x1
    INT8 = 0x2
    UINT8 = 0x3
    INT16 = 0x4
    UINT16 = 0x5
    BFLOAT16 = 0x6
    FP16 = 0x7
    INT32 = 0x8
    UINT32 = 0x9
    FP32 = 0xA
    FP32R = 0xB
    INT64 = 0xC
    FP8_EXP3 = 0xD
    FP8_EXP4 = 0xE
    FP8_EXP5 = 0xF

    @property
    def size(self) -> int:
        """Bytes an element takes (0 for INVALID, which has no size)."""
        return element_size(self) or 0

    def __str__(self) -> str:
        return self.name


_SIZES: Mapping[int, int] = MappingProxyType(
    {
        Dtype.UINT64: 8,
        Dtype.INT8: 1,
        Dtype.UINT8: 1,
        Dtype.INT16: 2,
        Dtype.UINT16: 2,
        Dtype.BFLOAT16: 2,
        Dtype.FP16: 2,
        Dtype.INT32: 4,
        Dtype.UINT32: 4,
        Dtype.FP32: 4,
        Dtype.FP32R: 4,
        Dtype.INT64: 8,
        Dtype.FP8_EXP3: 1,
        Dtype.FP8_EXP4: 1,
        Dtype.FP8_EXP5: 1,
    }
)


def element_size(code: int) -> int | None:
    """Bytes an element of dtype ``code`` takes, or None for a code without a size."""
    return _SIZES.get(code)


#: Types a predicate may have: true when the integer is not 0.
INTEGER_TYPES = frozenset(
    {Dtype.INT8, Dtype.UINT8, Dtype.INT16, Dtype.UINT16, Dtype.INT32, Dtype.UINT32}
)
#: Float types an operand may be read as.
FLOAT_TYPES = frozenset(
    {Dtype.BFLOAT16, Dtype.FP16, Dtype.FP32, Dtype.FP8_EXP3, Dtype.FP8_EXP4, Dtype.FP8_EXP5}
)
#: The twelve types that may be read.
BASE_TYPES = INTEGER_TYPES | FLOAT_TYPES
#: The types that may be written where a rounded FP32 is allowed too.
BASE_TYPES_AND_FP32R = BASE_TYPES | {Dtype.FP32R}
FLOAT_TYPES_AND_FP32R = FLOAT_TYPES | {Dtype.FP32R}

_ALIASES: Mapping[str, Dtype] = MappingProxyType(
    {
        "int8": Dtype.INT8,
        "uint8": Dtype.UINT8,
        "int16": Dtype.INT16,
        "uint16": Dtype.UINT16,
        "int32": Dtype.INT32,
        "uint32": Dtype.UINT32,
        "bf16": Dtype.BFLOAT16,
        "float16": Dtype.FP16,
        "float32": Dtype.FP32,
        "float8_e3m4": Dtype.FP8_EXP3,
        "e3m4": Dtype.FP8_EXP3,
        "float8_e4m3": Dtype.FP8_EXP4,
        "e4m3": Dtype.FP8_EXP4,
        "float8_e5m2": Dtype.FP8_EXP5,
        "e5m2": Dtype.FP8_EXP5,
    }
)


def find_dtype(name: str | int) -> Dtype:
    """The dtype of that name, common alias or code; UsageError with near misses."""
    if isinstance(name, int) and name in _SIZES:
        return Dtype(name)
    by_name = {dtype.name.casefold(): dtype for dtype in Dtype if dtype in _SIZES} | dict(_ALIASES)
    found = by_name.get(str(name).casefold())
    if found is None:
        raise unknown_name("dtype", name, [dtype.name for dtype in Dtype if dtype in _SIZES])
    return found


@functools.cache
def dtype_names(generation: Generation | None = None) -> Mapping[int, str]:
    """Dtype names by code: those of a generation, or of all."""
    return MappingProxyType(
        {
            int(row["code"], 16): row["name"]
            for row in rows("dtypes")
            if generation is None or generation.name in row["generations"].split("|")
        }
    )


def scalar_bits(number: float | Fraction, dtype: str | int, profile: Profile | None = None) -> int:
    """The code of a number in a dtype, for the scalar of a word (``0xff80`` for -inf in BFLOAT16).

    Rounds as the profile says (default: ``Profile.ISA``). UsageError for a dtype without a format.
    """
    profile = Profile.ISA if profile is None else profile
    target = number_format(find_dtype(dtype), profile)
    if isinstance(number, float) and not math.isfinite(number):
        negative = math.copysign(1.0, number) < 0
        value = nan(negative) if math.isnan(number) else infinity(negative)
    elif isinstance(number, float) and number == 0:
        value = zero(math.copysign(1.0, number) < 0)
    else:
        return encode(target, Fraction(number), profile.conversion)
    return encode(target, value, profile.conversion)


_FORMAT_NAMES: Mapping[Dtype, str] = MappingProxyType(
    {
        Dtype.INT8: "INT8",
        Dtype.UINT8: "UINT8",
        Dtype.INT16: "INT16",
        Dtype.UINT16: "UINT16",
        Dtype.BFLOAT16: "BF16",
        Dtype.FP16: "FP16",
        Dtype.INT32: "INT32",
        Dtype.UINT32: "UINT32",
        Dtype.FP32: "FP32",
        Dtype.FP8_EXP3: "E3M4",
        Dtype.FP8_EXP5: "E5M2",
        Dtype.INT64: "INT64",
        Dtype.UINT64: "UINT64",
    }
)


@functools.cache
def number_format(dtype: int, profile: Profile) -> Format:
    """The number format of a dtype under a profile (``fp8_exp4``, ``fp32r_mantissa_bits``)."""
    if dtype == Dtype.FP32R:
        return fp32r(profile.fp32r_mantissa_bits)
    if dtype == Dtype.FP8_EXP4:
        return FORMATS["E4M3" if profile.fp8_exp4 == "ieee" else "E4M3FN"]
    return FORMATS[_FORMAT_NAMES[Dtype(dtype)]]


#: Little-endian unsigned carriers of element codes, by element size in bytes.
CODE_TYPES: Mapping[int, np.dtype[np.unsignedinteger]] = MappingProxyType(
    {1: np.dtype("<u1"), 2: np.dtype("<u2"), 4: np.dtype("<u4"), 8: np.dtype("<u8")}
)
