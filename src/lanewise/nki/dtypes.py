"""The element types of kernels: names, sizes, ISA codes, and the NumPy arrays that hold them.

Two types share the ISA's E4M3 code: ``float8_e4m3`` means its IEEE form, ``float8_e4m3fn`` the
form without infinity. A step runs under the form that its operands name.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from lanewise.errors import UsageError, unknown_name
from lanewise.neuron import Dtype
from lanewise.neuron.dtypes import CODE_TYPES

_FLOAT8 = frozenset({"float8_e4m3", "float8_e4m3fn", "float8_e5m2"})


class NkiDtype:
    """An element type. Equal to its own name and to the NumPy type that holds it.

    ``code`` is the ISA's dtype (None for types that no modelled function takes), ``output`` the
    code where the type is written, ``size`` bytes an element, ``fill`` the element of memory that
    nothing has written.
    """

    __slots__ = ("_numpy", "code", "fill", "is_float", "name", "output", "size")

    def __init__(
        self,
        name: str,
        code: Dtype | None,
        size: int,
        *,
        numpy: str,
        is_float: bool = False,
        fill: int = 4,
        output: Dtype | None = None,
    ) -> None:
        self.name = name
        self.code = code
        self.size = size
        self.is_float = is_float
        self.fill = fill
        self.output = code if output is None else output
        self._numpy = numpy

    @property
    def itemsize(self) -> int:
        """Bytes an element."""
        return self.size

    @property
    def carrier(self) -> np.dtype[Any]:
        """The unsigned NumPy type of the element's bits."""
        return CODE_TYPES[self.size]

    @property
    def numpy(self) -> np.dtype[Any]:
        """The NumPy type that holds such elements: its own, ml_dtypes', or bare bits."""
        return _numpy_type(self._numpy, self.size)

    @property
    def dtype(self) -> np.dtype[Any]:
        """As :attr:`numpy`: what lets NumPy take the type as one of its own."""
        return self.numpy

    @property
    def fp8_form(self) -> str | None:
        """Which form of E4M3 the type means, or None when it is not E4M3."""
        return {"float8_e4m3": "ieee", "float8_e4m3fn": "fn"}.get(self.name)

    @property
    def is_signed(self) -> bool:
        """Whether the type has negative numbers."""
        return self.is_float or self.name.startswith("int")

    def __eq__(self, other: object) -> bool:
        if isinstance(other, NkiDtype):
            return self.name == other.name
        if isinstance(other, str):
            return other in (self.name, f"nl.{self.name}")
        if isinstance(other, (np.dtype, type)):
            try:
                return find_dtype(other).name == self.name
            except ValueError:
                return False
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"nl.{self.name}"

    def __reduce__(self) -> tuple[object, ...]:
        return find_dtype, (self.name,)


int8 = NkiDtype("int8", Dtype.INT8, 1, numpy="int8")
uint8 = NkiDtype("uint8", Dtype.UINT8, 1, numpy="uint8")
bool_ = NkiDtype("bool_", Dtype.UINT8, 1, numpy="uint8")
int16 = NkiDtype("int16", Dtype.INT16, 2, numpy="int16")
uint16 = NkiDtype("uint16", Dtype.UINT16, 2, numpy="uint16")
int32 = NkiDtype("int32", Dtype.INT32, 4, numpy="int32")
uint32 = NkiDtype("uint32", Dtype.UINT32, 4, numpy="uint32")
float16 = NkiDtype("float16", Dtype.FP16, 2, numpy="float16", is_float=True, fill=0x7E00)
bfloat16 = NkiDtype("bfloat16", Dtype.BFLOAT16, 2, numpy="bfloat16", is_float=True, fill=0x7FC0)
float32 = NkiDtype("float32", Dtype.FP32, 4, numpy="float32", is_float=True, fill=0x7FC00000)
tfloat32 = NkiDtype(
    "tfloat32",
    Dtype.FP32,
    4,
    numpy="float32",
    is_float=True,
    fill=0x7FC00000,
    output=Dtype.FP32R,
)
float8_e5m2 = NkiDtype(
    "float8_e5m2", Dtype.FP8_EXP5, 1, numpy="float8_e5m2", is_float=True, fill=0x7E
)
float8_e4m3 = NkiDtype(
    "float8_e4m3", Dtype.FP8_EXP4, 1, numpy="float8_e4m3", is_float=True, fill=0x7C
)
float8_e4m3fn = NkiDtype(
    "float8_e4m3fn", Dtype.FP8_EXP4, 1, numpy="float8_e4m3fn", is_float=True, fill=0x7F
)
float8_e8m0fnu = NkiDtype(
    "float8_e8m0fnu", None, 1, numpy="float8_e8m0fnu", is_float=True, fill=0xFF
)
float8_e5m2_x4 = NkiDtype("float8_e5m2_x4", None, 4, numpy="uint32", is_float=True, fill=0x7E7E7E7E)
float8_e4m3fn_x4 = NkiDtype(
    "float8_e4m3fn_x4", None, 4, numpy="uint32", is_float=True, fill=0x7F7F7F7F
)
# The four-bit type has no NaN to fill with.
float4_e2m1fn_x4 = NkiDtype("float4_e2m1fn_x4", None, 2, numpy="uint16", is_float=True, fill=0)

#: Every type by name.
DTYPES: Mapping[str, NkiDtype] = MappingProxyType(
    {
        dtype.name: dtype
        for dtype in (
            int8,
            uint8,
            bool_,
            int16,
            uint16,
            int32,
            uint32,
            float16,
            bfloat16,
            float32,
            tfloat32,
            float8_e5m2,
            float8_e4m3,
            float8_e4m3fn,
            float8_e8m0fnu,
            float8_e5m2_x4,
            float8_e4m3fn_x4,
            float4_e2m1fn_x4,
        )
    }
)
_ALIASES = {"bool": bool_, "fp32": float32, "bf16": bfloat16, "fp16": float16}
_NATIVE = frozenset({"int8", "uint8", "int16", "uint16", "int32", "uint32", "float16", "float32"})
_WIDE = {"float64": "float32", "int64": "int32", "uint64": "uint32"}


@functools.cache
def _numpy_type(name: str, size: int) -> np.dtype[Any]:
    known: np.dtype[Any]
    if name in _NATIVE:
        known = np.dtype(name)
        return known
    try:
        known = np.dtype(getattr(importlib.import_module("ml_dtypes"), name))
    except (ImportError, AttributeError):
        known = CODE_TYPES[size]
    return known


def find_dtype(given: object) -> NkiDtype:
    """The type meant by a type, a name, or a NumPy type; ValueError with near misses otherwise."""
    if isinstance(given, NkiDtype):
        return given
    name = given.removeprefix("nl.") if isinstance(given, str) else _numpy_name(given)
    found = DTYPES.get(name) or _ALIASES.get(name)
    if found is not None:
        return found
    if name in _WIDE:
        raise UsageError(
            f"dtype {name} is not one that kernels have, no type has 64 bits: convert to "
            f"{_WIDE[name]} first"
        )
    raise unknown_name("dtype", name, DTYPES)


def _numpy_name(given: object) -> str:
    if given is None:
        return "None"
    try:
        return np.dtype(given).name  # type: ignore[call-overload, no-any-return]
    except TypeError:
        return str(given)


def is_fp8(dtype: NkiDtype) -> bool:
    """Whether the type is one of the three 8-bit floats that words take."""
    return dtype.name in _FLOAT8
