"""The words inside an instruction word: header, events, address, access patterns.

Source: common header, ADDR4 and pattern layouts of the ISA headers; the same offsets in every
generation.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, ClassVar

from lanewise.errors import UsageError, shown
from lanewise.neuron.codes import (
    ADDRESS_MODES,
    DEBUG_COMMANDS,
    REGISTER_MARKERS,
    REGISTERS,
    UPDATE_MODES,
    WAIT_MODES,
)
from lanewise.neuron.roster import opcode_names
from lanewise.words import (
    Array,
    Coded,
    Inert,
    Part,
    Unsigned,
    Word,
    bits,
    byte,
)


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
INDIRECTS: MappingProxyType[int, type[Indirect]] = MappingProxyType({3: Indirect16, 4: Indirect20})


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
