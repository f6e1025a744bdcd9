"""The fields that instructions are made of: operands, their dtypes, immediates.

Source: pattern and immediate layouts of the ISA headers; the same offsets in every
generation.
"""

from __future__ import annotations

import enum
import math
import struct
from typing import Any

import numpy as np

from lanewise.errors import UsageError
from lanewise.neuron.dtypes import Dtype, dtype_names, find_dtype
from lanewise.neuron.words import INDIRECTS, TENSORS, Indirect, Tensor
from lanewise.words import (
    BitRange,
    Coded,
    FieldValueError,
    Part,
    Unsigned,
)


class Operand(Part[Tensor]):
    """An access pattern of an instruction, with the type of its elements.

    ``dtype`` is the name of the field with the element type, or the type where the word has no
    such field. With ``allows_indirect`` the pattern is a union: the mode bits of its first
    address tell a tensor from an index list (where the generation has those).
    """

    __slots__ = ("allows_indirect", "dtype", "indirect_type", "is_destination", "sbuf_only")
    kind = "pattern"
    is_destination: bool

    def __init__(
        self,
        run: BitRange,
        dimensions: int,
        *,
        dtype: str | Dtype,
        doc: str,
        allows_indirect: bool = False,
        sbuf_only: bool = False,
    ) -> None:
        super().__init__(run, TENSORS[dimensions], doc=doc)
        self.dtype = dtype
        self.allows_indirect = allows_indirect
        self.sbuf_only = sbuf_only
        self.indirect_type = INDIRECTS.get(dimensions) if allows_indirect else None

    def from_raw(self, raw: int) -> Any:
        """A Tensor, or an Indirect where the mode bits say so and the operand allows one."""
        if self.indirect_type is not None and raw >> 29 & 3 == 1:
            return self.indirect_type.from_bits(raw)
        return self.word_type.from_bits(raw)

    def to_raw(self, value: object) -> int:
        if isinstance(value, Tensor) and not isinstance(value, self.word_type):
            value = self._narrowed(value)
        if isinstance(value, Indirect) and self.indirect_type is not None:
            # The mode bits alone tell the two forms of the union apart when the word is read.
            if int(value) >> self.width or not value.index.is_indirect:
                raise self.refuse(value, f"an {self.indirect_type.__name__} with index mode 1")
            return int(value)
        if isinstance(value, Tensor) and self.allows_indirect and value.start.is_indirect:
            raise self.refuse(value, "a tensor with start mode 0, 2 or 3, or an indirect pattern")
        return super().to_raw(value)

    def _narrowed(self, value: Tensor) -> Tensor:
        """The same walk in this operand's number of dimensions."""
        have = self.word_type.dimensions
        if any(num != 1 for num in value.num[have:]):
            raise self.refuse(value, f"a pattern of at most {have} dimensions")
        padding = [1] * (have - len(value.num))
        return self.word_type(
            start=value.start,
            step=[*value.step[:have], *padding],
            num=[*value.num[:have], *padding],
        )


class Source(Operand):
    """A pattern the instruction reads."""

    __slots__ = ()
    is_destination = False


class Destination(Operand):
    """A pattern the instruction writes."""

    __slots__ = ()
    is_destination = True


class DtypeCode(Coded):
    """A dtype code. A constructor takes a Dtype, a name or alias, a NumPy type, or a code."""

    __slots__ = ()

    def __init__(self, *ranges: BitRange, doc: str, default: int = 0) -> None:
        super().__init__(*ranges, codes=dtype_names(), doc=doc, default=default)

    def to_raw(self, value: object) -> int:
        if isinstance(value, type | np.dtype) and not isinstance(value, enum.EnumType):
            value = np.dtype(value).name
        if isinstance(value, str) and value.casefold() not in self._folded_names():
            try:
                value = find_dtype(value)
            except UsageError as error:
                raise FieldValueError(f"field {self.name!r} ({self.place}): {error}") from None
        return super().to_raw(value)

    def _folded_names(self) -> set[str]:
        return {name.casefold() for name in self.codes.values()}


class Fp32Bits(Unsigned):
    """The bits of an FP32 number.

    A constructor takes a float that FP32 holds, or the bits as a whole number: ``5.0`` is five,
    ``5`` is the tiny number with these bits.
    """

    __slots__ = ()
    kind = "fp32"

    def to_raw(self, value: object) -> int:
        if isinstance(value, float | np.floating):
            return _fp32_bits(self, float(value))
        index = getattr(value, "__index__", None)
        if index is None or isinstance(value, bool) or not 0 <= index() < 1 << self.width:
            raise self.refuse(value, "a float (the number) or 0..0xffffffff (its FP32 bits)")
        return int(index())

    def meaning(self, raw: int) -> str | None:
        return f"{struct.unpack('<f', raw.to_bytes(4, 'little'))[0]:.9g} as FP32"


def _fp32_bits(field: Unsigned, value: float) -> int:
    """The FP32 bits of a float; refused when FP32 would round it."""
    try:
        data = struct.pack("<f", value)
    except OverflowError:
        data = b""
    if not data or (not math.isnan(value) and struct.unpack("<f", data)[0] != value):
        raise field.refuse(value, "a number that FP32 holds exactly")
    return int.from_bytes(data, "little")


class Immediate(Unsigned):
    """Four bytes that hold a scalar, a pointer to one in every lane, or a register number.

    ``source`` names the field that tells which; ``dtype`` as in :class:`Operand`. A constructor
    takes the four bytes as a number; with ``takes_float`` (an inline scalar is always FP32) a
    float too.
    """

    __slots__ = ("dtype", "source", "takes_float")
    kind = "immediate"

    def __init__(
        self,
        run: BitRange,
        *,
        source: str,
        dtype: str | Dtype,
        doc: str,
        takes_float: bool = False,
    ) -> None:
        super().__init__(run, doc=doc)
        self.source = source
        self.dtype = dtype
        self.takes_float = takes_float

    def to_raw(self, value: object) -> int:
        if isinstance(value, float | np.floating):
            if not self.takes_float:
                raise self.refuse(
                    value, "the scalar's bits as a whole number (its type varies; encode it first)"
                )
            return _fp32_bits(self, float(value))
        return super().to_raw(value)
