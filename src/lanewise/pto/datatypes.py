"""Element types of PTO tiles: their codes, widths and order.

Source: PTO data types; PTO compare and select, element level.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from types import MappingProxyType

from lanewise import formats
from lanewise.errors import UsageError, unknown_name
from lanewise.formats import Format
from lanewise.kernels.tiles_reference import Ordering


@dataclass(frozen=True, slots=True)
class ElementOrder:
    """How codes of a type compare, and which codes are encodings of it at all.

    ``ordering`` is what the kernels need; ``must_be_zero`` masks the low bits that a legal code
    of a shortened type (TF32, HF32) leaves clear; ``largest`` is the greatest finite code.
    """

    ordering: Ordering
    largest: int
    must_be_zero: int = 0


class DataType(enum.IntEnum):
    """A data type code of BSTART or B.DATR."""

    FP64 = 0
    FP32 = 1
    TF32 = 2
    HF32 = 3
    FP16 = 4
    BF16 = 5
    HiF8 = 6
    E4M3 = 7
    E5M2 = 8
    E3M2 = 9
    E2M3 = 10
    E2M1X2 = 11
    E1M2X2 = 12
    E8M0 = 13
    HiF4X2 = 14
    S64 = 16
    S32 = 17
    S16 = 18
    S8 = 19
    S4X2 = 20
    U64 = 24
    U32 = 25
    U16 = 26
    U8 = 27
    U4X2 = 28

    @property
    def format(self) -> Format:
        """The number format of one element."""
        return _FORMATS[self]

    @property
    def width(self) -> int:
        """Bits of one element. X2 types hold two 4-bit elements a byte, the first one low."""
        return _FORMATS[self].container

    @property
    def order(self) -> ElementOrder:
        """How elements compare; UsageError for a type that has no compare."""
        if self not in _ORDERS:
            raise UsageError(f"{self.name} elements have no order; comparable are {_comparable()}")
        return _ORDERS[self]

    @classmethod
    def named(cls, name: str | DataType) -> DataType:
        """The type of this name, in any case; UsageError with near misses otherwise."""
        if isinstance(name, DataType):
            return name
        for member in cls:
            if member.name.casefold() == name.casefold():
                return member
        raise unknown_name("PTO data type", name, [member.name for member in cls])


#: The code that names no type: the other word of the bundle gives it.
DTYPE_NONE = 31

#: Codes with a meaning in a data type field.
DTYPE_CODES = MappingProxyType({**{int(t): t.name for t in DataType}, DTYPE_NONE: "DTYPE_NONE"})

_FORMATS = MappingProxyType(
    {
        DataType.FP64: formats.FP64,
        DataType.FP32: formats.FP32,
        DataType.TF32: formats.TF32,
        DataType.HF32: formats.HF32,
        DataType.FP16: formats.FP16,
        DataType.BF16: formats.BF16,
        DataType.HiF8: formats.HIF8,
        # The E4M3 of this machine has no infinity and ends at 448.
        DataType.E4M3: formats.E4M3FN,
        DataType.E5M2: formats.E5M2,
        DataType.E3M2: formats.E3M2,
        DataType.E2M3: formats.E2M3,
        DataType.E2M1X2: formats.E2M1,
        DataType.E1M2X2: formats.E1M2,
        DataType.E8M0: formats.E8M0,
        DataType.HiF4X2: formats.HIF4,
        DataType.S64: formats.INT64,
        DataType.S32: formats.INT32,
        DataType.S16: formats.INT16,
        DataType.S8: formats.INT8,
        DataType.S4X2: formats.INT4,
        DataType.U64: formats.UINT64,
        DataType.U32: formats.UINT32,
        DataType.U16: formats.UINT16,
        DataType.U8: formats.UINT8,
        DataType.U4X2: formats.UINT4,
    }
)

#: Element names beside the data types that a scale or lane can have, and their formats.
ELEMENT_FORMATS = MappingProxyType(
    {
        **{t.name: t.format for t in DataType if not t.name.endswith("X2")},
        "E2M1": formats.E2M1,
        "E1M2": formats.E1M2,
        "HiF4": formats.HIF4,
        "E6M2": formats.E6M2,
        "RCPE6M2": formats.RCPE6M2,
    }
)


def _order(dtype: DataType) -> ElementOrder:
    """The order of a type, read off its number format."""
    found = dtype.format
    if found.kind == "signed":
        ordering = Ordering(dtype.width, "signed")
    elif found.kind == "unsigned":
        ordering = Ordering(dtype.width, "unsigned")
    else:
        largest = found.max_finite if found.infinity is None else found.infinity
        assert found.quiet_nan is not None
        # The lowest bit that the canonical NaN has and the largest number lacks tells quiet ones.
        quiet = found.quiet_nan & ~largest
        ordering = Ordering(dtype.width, "sign_magnitude", largest, quiet)
    return ElementOrder(ordering, found.max_finite, (1 << found.low_zero_bits) - 1)


_ORDERS = MappingProxyType(
    {
        dtype: _order(dtype)
        for dtype in DataType
        if dtype.name
        in {
            *("FP64", "FP32", "TF32", "HF32", "FP16", "BF16", "E4M3", "E5M2"),
            *("S64", "S32", "S16", "S8", "U64", "U32", "U16", "U8"),
        }
    }
)

#: Types that a compare or select may operate on in a row-major tile.
ROW_MAJOR_TYPES = frozenset(_ORDERS)
#: Types that a compare or select may operate on, or that may back one, in a CUBE tile.
CUBE_TYPES = frozenset(t for t in _ORDERS if t.width < 64)
#: The 8-bit types among them, for which a GPR holds half a cell.
EIGHT_BIT_TYPES = frozenset(t for t in CUBE_TYPES if t.width == 8)


def _comparable() -> str:
    return ", ".join(t.name for t in _ORDERS)
