"""The words inside an instruction word: header, events, address, access patterns, immediate.

Source: common header, ADDR4 and pattern layouts of the ISA headers; the same offsets in every
generation.
"""

from __future__ import annotations

import enum
import math
import struct
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from lanewise.errors import UsageError, shown
from lanewise.neuron.dtypes import Dtype, dtype_names, find_dtype
from lanewise.neuron.roster import opcode_names
from lanewise.words import (
    Array,
    BitRange,
    Coded,
    FieldValueError,
    Inert,
    Part,
    Unsigned,
    Word,
    bits,
    byte,
)

DEBUG_COMMANDS = MappingProxyType(
    {0: "none", 1: "notify", 3: "start", 5: "end", 7: "start and end", 9: "instruction field"}
)
WAIT_MODES = MappingProxyType(
    {
        0: "none",
        1: "semaphore == value",
        2: "semaphore < value",
        3: "semaphore <= value",
        4: "semaphore > value",
        5: "semaphore >= value",
        6: "event set",
        7: "event set, then clear it",
        14: "event clear",
        15: "event clear, then set it",
    }
)
_UPDATES_AT_READ = {
    1: "event set",
    2: "event clear",
    3: "semaphore + 1",
    4: "semaphore - 1",
    5: "semaphore += value",
    7: "semaphore -= value",
    9: "semaphore = value",
    0x83: "register form",
    0x85: "semaphore += register",
    0x87: "semaphore -= register",
}
# An update at completion has the code of the same update at read plus 16.
UPDATE_MODES = MappingProxyType(
    {0: "none"}
    | {code: f"{text}, at read" for code, text in _UPDATES_AT_READ.items()}
    | {code + 16: f"{text}, at completion" for code, text in _UPDATES_AT_READ.items()}
)
IMMEDIATE_SOURCES = MappingProxyType({0: "inline", 1: "pointer", 2: "register"})
ACCUMULATOR_COMMANDS = MappingProxyType(
    {
        0: "idle",
        1: "zero",
        2: "accumulate",
        3: "zero then accumulate",
        4: "load then accumulate",
    }
)
REVERSED_OPERANDS = MappingProxyType({0: "none", 1: "first", 2: "second", 3: "both"})
SUBDIMENSIONS = MappingProxyType({0: "unused", 2: "X", 3: "XY", 4: "XYZ", 5: "XYZW"})
ADDRESS_MODES = MappingProxyType({0: "direct", 1: "indirect", 2: "shape in register", 3: "unused"})

REGISTERS = 64
REGISTER_MARKERS = frozenset({0x80, 0xA0, 0xC0})


class Header(Word, width=32):
    """Bytes 0..3 of every instruction word."""

    opcode = Coded(byte(0), codes=opcode_names(), doc="what the instruction does")
    word_length = Unsigned(byte(1), doc="length in 32-bit words, always 16", default=16)
    debug_command = Coded(byte(2), codes=DEBUG_COMMANDS, doc="notification for a debugger")
    debug_hint = Inert(byte(3), doc="hint for the debugger, any value")


class Events(Word, width=64):
    """Bytes 4..11: what to wait for and what to signal. Checked, without effect in the model."""

    wait_mode = Coded(byte(0), codes=WAIT_MODES, doc="condition to wait for")
    wait_index = Unsigned(byte(1), doc="event or semaphore to wait on")
    update_mode = Coded(byte(2), codes=UPDATE_MODES, doc="what to signal, and when")
    update_index = Unsigned(byte(3), doc="event or semaphore to update")
    semaphore_value = Unsigned(byte(4, 4), doc="operand of semaphore waits and updates")


class Address(Word, width=32):
    """ADDR4: a direct byte address, or a register that holds one, with the shape's form."""

    address = Unsigned(bits(28, 0), doc="byte address; register number in its low byte")
    mode = Coded(bits(30, 29), codes=ADDRESS_MODES, doc="what the address stands for")
    in_register = Unsigned(bits(31), doc="1 when a register holds the address")

    @property
    def marker(self) -> int:
        """The top byte, which tells the forms apart."""
        return int(self) >> 24

    @property
    def is_indirect(self) -> bool:
        return int(self) >> 29 & 3 == 1

    @property
    def shape_in_register(self) -> bool:
        return int(self) >> 29 & 3 == 2

    @property
    def is_unused_form(self) -> bool:
        return int(self) >> 29 & 3 == 3

    @property
    def register_number(self) -> int:
        """Byte 0; names a register only when ``in_register`` is set."""
        return int(self) & 0xFF

    @property
    def is_well_formed_register(self) -> bool:
        """Number below 64, bytes 1 and 2 zero, marker exactly one of the three known."""
        value = int(self)
        return (
            self.register_number < REGISTERS
            and not value >> 8 & 0xFFFF
            and value >> 24 in REGISTER_MARKERS
        )

    @classmethod
    def direct(cls, address: int) -> Address:
        """A direct byte address (29 bits)."""
        return cls(address=address)

    @classmethod
    def register(cls, number: int) -> Address:
        """The address that register ``number`` will hold when the word runs."""
        if not 0 <= number < REGISTERS:
            raise UsageError(f"there are registers 0..{REGISTERS - 1}, not {number}")
        return cls(address=number, in_register=1)


class Tensor(Word, partial=True):
    """An access pattern: a start and up to four (step, num) pairs, innermost first.

    Steps are in elements, signed. Element k of the walk has indices i0 = k mod num0,
    i1 = (k div num0) mod num1, …; it lies at start + size * sum(i_d * step_d).
    """

    dimensions: ClassVar[int] = 0

    start: Any
    step: Any
    num: Any


def _steps(at: int, count: int) -> Array:
    return Array(
        byte(at, 2 * count),
        count=count,
        signed=True,
        doc="distance of neighbours in each dimension, in elements, innermost first",
        default=(1,) * count,
    )


def _nums(at: int, count: int) -> Array:
    return Array(
        byte(at, 2 * count),
        count=count,
        signed=False,
        doc="number of elements in each dimension, innermost first",
        default=(1,) * count,
    )


class Tensor1D(Tensor, width=64):
    """TENSOR1D."""

    dimensions = 1
    start = Part(byte(0, 4), Address, doc="address of element 0")
    step = _steps(4, 1)
    num = _nums(6, 1)


class Tensor2D(Tensor, width=96):
    """TENSOR2D."""

    dimensions = 2
    start = Part(byte(0, 4), Address, doc="address of element 0")
    step = _steps(4, 2)
    num = _nums(8, 2)


class Tensor3D(Tensor, width=128):
    """TENSOR3D."""

    dimensions = 3
    start = Part(byte(0, 4), Address, doc="address of element 0")
    step = _steps(4, 3)
    num = _nums(10, 3)


class Tensor4D(Tensor, width=160):
    """TENSOR4D."""

    dimensions = 4
    start = Part(byte(0, 4), Address, doc="address of element 0")
    step = _steps(4, 4)
    num = _nums(12, 4)


class Indirect(Word, partial=True):
    """An indirect pattern: element i lies at data + size * (the i-th UINT32 at index)."""

    index: Any
    data: Any
    num_elem: Any


class Indirect16(Indirect, width=128):
    """INDIRECT16B, in the place of a TENSOR3D."""

    index = Part(byte(0, 4), Address, doc="address of the index list", default=Address(mode=1))
    data = Part(byte(4, 4), Address, doc="address that index 0 names")
    num_elem = Unsigned(byte(8, 2), doc="number of elements", default=1)
    inert = Inert(byte(10, 6))


class Indirect20(Indirect, width=160):
    """INDIRECT20B, in the place of a TENSOR4D."""

    index = Part(byte(0, 4), Address, doc="address of the index list", default=Address(mode=1))
    data = Part(byte(4, 4), Address, doc="address that index 0 names")
    num_elem = Unsigned(byte(8, 2), doc="number of elements", default=1)
    inert = Inert(byte(10, 10))


TENSORS: MappingProxyType[int, type[Tensor]] = MappingProxyType(
    {1: Tensor1D, 2: Tensor2D, 3: Tensor3D, 4: Tensor4D}
)
_INDIRECTS: MappingProxyType[int, type[Indirect]] = MappingProxyType({3: Indirect16, 4: Indirect20})


def walk(start: int | Address, *dimensions: Sequence[int]) -> Tensor4D:
    """An access pattern from a start address and (step, num) pairs, innermost first.

    Fits an operand of any dimensionality as long as the dimensions it lacks have num 1. Without
    pairs it names a single element.
    """
    if len(dimensions) > 4:
        raise UsageError(f"an access pattern has at most 4 dimensions, not {len(dimensions)}")
    for pair in dimensions:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise UsageError(
                f"each dimension of a walk is a pair (step, num) in elements, not {shown(pair)}"
            )
    padded = [*dimensions, *[(1, 1)] * (4 - len(dimensions))]
    return Tensor4D(
        start=start if isinstance(start, Address) else Address.direct(start),
        step=[step for step, _ in padded],
        num=[num for _, num in padded],
    )


def indirect(index: int | Address, data: int | Address, count: int) -> Indirect20:
    """A gather (source) or scatter (destination) of ``count`` elements through an index list."""
    index = index if isinstance(index, Address) else Address.direct(index)
    return Indirect20(
        index=index.replace(mode=1),
        data=data if isinstance(data, Address) else Address.direct(data),
        num_elem=count,
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
        self.indirect_type = _INDIRECTS.get(dimensions) if allows_indirect else None

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
