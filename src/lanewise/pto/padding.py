"""PadValue: what stands inside a payload and outside its valid rectangle.

Source: PTO PadValue.
"""

from __future__ import annotations

import enum

from lanewise.errors import unknown_name
from lanewise.pto.datatypes import DataType
from lanewise.pto.profile import PtoProfile

GPR_MASK = (1 << 64) - 1


class PadValue(enum.IntEnum):
    """The pad field of B.DATR. Null, which is also what an omitted B.DATR means, is undefined."""

    Zero = 0
    Max = 1
    Min = 2
    Null = 3

    @classmethod
    def named(cls, name: str | PadValue) -> PadValue:
        """The pad of this name, in any case; UsageError with near misses otherwise."""
        if isinstance(name, PadValue):
            return name
        for member in cls:
            if member.name.casefold() == name.casefold():
                return member
        raise unknown_name("PadValue", name, cls.__members__)


#: A predicate bit, or the value of a predicate byte; None where undefined.
PREDICATE_PADS: dict[PadValue, int | None] = {
    PadValue.Zero: 0,
    PadValue.Max: 1,
    PadValue.Min: 0,
    PadValue.Null: None,
}


def element_pad(dtype: DataType, pad: PadValue) -> int | None:
    """The code of a padding element of a comparable type; None where it is undefined.

    Max is the greatest finite number and Min the least one (0 for unsigned integers).
    """
    order = dtype.order
    if pad is PadValue.Max:
        return order.largest
    if pad is PadValue.Min:
        sign = 1 << (dtype.width - 1)
        least = {"unsigned": 0, "signed": sign, "sign_magnitude": sign | order.largest}
        return least[order.ordering.kind]
    return {PadValue.Zero: 0, PadValue.Null: None}[pad]


def gpr_pad(pad: PadValue, profile: PtoProfile) -> int:
    """The word a predicate GPR starts from before its valid bits are written."""
    bit = PREDICATE_PADS[pad]
    return GPR_MASK * (profile.null_gpr_padding if bit is None else bit)
