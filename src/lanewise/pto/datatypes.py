"""Element types of PTO tiles: their codes, widths and order.

Source: PTO data types; PTO compare and select, element level.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from types import MappingProxyType

from lanewise.errors import UsageError, unknown_name
from lanewise.kernels.pto_reference import Ordering


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
    def width(self) -> int:
        """Bits of one element. X2 types hold two 4-bit elements a byte, the first one low."""
        return _WIDTHS[self]

    @property
    def format_name(self) -> str | None:
        """The number format of one element; None for integers."""
        if self.name[0] in "SU":
            return None
        return _FORMATS.get(self.name, self.name)

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

_WIDTHS = {
    **dict.fromkeys((DataType.FP64, DataType.S64, DataType.U64), 64),
    **dict.fromkeys(
        (DataType.FP32, DataType.TF32, DataType.HF32, DataType.S32, DataType.U32), 32
    ),
    **dict.fromkeys((DataType.FP16, DataType.BF16, DataType.S16, DataType.U16), 16),
    **dict.fromkeys(
        (
            DataType.HiF8,
            DataType.E4M3,
            DataType.E5M2,
            DataType.E3M2,
            DataType.E2M3,
            DataType.E8M0,
            DataType.S8,
            DataType.U8,
        ),
        8,
    ),
    **dict.fromkeys(
        (DataType.E2M1X2, DataType.E1M2X2, DataType.HiF4X2, DataType.S4X2, DataType.U4X2), 4
    ),
}

_FORMATS = {"E2M1X2": "E2M1", "E1M2X2": "E1M2", "HiF4X2": "HiF4"}


def _ieee(width: int, infinity: int, quiet_bit: int, dropped: int = 0) -> ElementOrder:
    """An IEEE-like type: everything above the code of infinity is a NaN."""
    return ElementOrder(
        Ordering(width, "sign_magnitude", largest_number=infinity, quiet_bit=quiet_bit),
        largest=infinity - (1 << dropped),
        must_be_zero=(1 << dropped) - 1,
    )


def _integer(width: int, signed: bool) -> ElementOrder:
    kind = "signed" if signed else "unsigned"
    return ElementOrder(Ordering(width, kind), largest=(1 << (width - signed)) - 1)


_ORDERS = MappingProxyType(
    {
        DataType.FP64: _ieee(64, 0x7FF0_0000_0000_0000, 1 << 51),
        DataType.FP32: _ieee(32, 0x7F80_0000, 1 << 22),
        DataType.TF32: _ieee(32, 0x7F80_0000, 1 << 22, dropped=13),
        DataType.HF32: _ieee(32, 0x7F80_0000, 1 << 22, dropped=12),
        DataType.FP16: _ieee(16, 0x7C00, 1 << 9),
        DataType.BF16: _ieee(16, 0x7F80, 1 << 6),
        # No infinity: 7e is the largest number, 7f the only (quiet) NaN magnitude.
        DataType.E4M3: ElementOrder(
            Ordering(8, "sign_magnitude", largest_number=0x7E, quiet_bit=0x01), largest=0x7E
        ),
        DataType.E5M2: _ieee(8, 0x7C, 1 << 1),
        **{DataType[f"S{w}"]: _integer(w, True) for w in (64, 32, 16, 8)},
        **{DataType[f"U{w}"]: _integer(w, False) for w in (64, 32, 16, 8)},
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
