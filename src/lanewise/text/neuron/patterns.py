"""Access patterns and addresses as text.

``sbuf[p3, 0x400; 64, 8 step 64]`` is a walk from byte 0x400 of partition 3: 64 neighbouring
elements, eight times in steps of 64 elements. ``sbuf[p3, 0x400; 64 via sbuf[p3, 0x80]]`` is the
64 elements whose indices lie at 0x80. ``reg[r5; 64]`` starts where register 5 says and
``addr[0x1f000000; 64]`` at an address that names no place of the generation.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from lanewise.neuron.codes import ADDRESS_MODES, REGISTERS
from lanewise.neuron.generation import PARTITIONS, Generation
from lanewise.text.neuron.layout import identifier

#: Address modes as they are written in a pattern; a direct address is written without.
MODE_NAMES: Mapping[int, str] = MappingProxyType(
    {mode: identifier(meaning) for mode, meaning in ADDRESS_MODES.items() if mode}
)
VIA, INERT, STEP = "via", "inert", "step"
DIRECT, INDIRECT = 0, 1
ADDRESS_BITS = 29
ADDRESS_MASK = (1 << ADDRESS_BITS) - 1

_INDIRECT_HEAD = struct.Struct("<IIH")
_TENSORS = {
    4 + 4 * dimensions: (struct.Struct(f"<{dimensions}h{dimensions}H"), dimensions)
    for dimensions in range(1, 5)
}
_MOST_SHAPES = 1 << 14


class PatternPrinter:
    """Prints the patterns and addresses of one generation."""

    def __init__(self, generation: Generation) -> None:
        self._generation = generation
        self._sbuf_bits = generation.sbuf_stride_bits
        self._sbuf_mask = generation.stride_bytes("sbuf") - 1
        self._shapes: dict[bytes, str] = {}

    def text(self, data: bytes, allows_indirect: bool) -> str:
        """The pattern in these bytes, an index list where the operand may have one."""
        start = int.from_bytes(data[:4], "little")
        mode = start >> ADDRESS_BITS & 3
        if mode == INDIRECT and allows_indirect:
            return self._indirect(data)
        rest = data[4:]
        shape = self._shapes.get(rest)
        if shape is None:
            shape = self._remember(rest)
        partition = start >> self._sbuf_bits
        if partition < PARTITIONS:
            # What the general way below would say, for the usual case.
            return f"sbuf[p{partition}, {start & self._sbuf_mask:#x}{shape}]"
        if mode:
            shape = f"; {MODE_NAMES[mode]}{shape[1:]}" if shape else f"; {MODE_NAMES[mode]}"
        return f"{self.place(start)}{shape}]"

    def place(self, start: int) -> str:
        """An address word up to the bracket that closes it; its mode is left out."""
        if start >> 31:
            return self.register(start & ADDRESS_MASK)
        address = start & ADDRESS_MASK
        place = self._generation.locate(address)
        if place is None:
            return f"addr[{address:#x}"
        return f"{place.space}[p{place.partition}, {place.offset:#x}"

    def register(self, number: int) -> str:
        """A register as an address, up to the bracket; a number that names none in hex."""
        return f"reg[r{number}" if number < REGISTERS else f"reg[{number:#x}"

    def pointer(self, value: int) -> str:
        """A pointer to a scalar; all of its 32 bits are an address."""
        if value >> ADDRESS_BITS:
            return f"addr[{value:#x}]"
        return f"{self.place(value)}]"

    def _indirect(self, data: bytes) -> str:
        index, start, count = _INDIRECT_HEAD.unpack_from(data)
        mode = start >> ADDRESS_BITS & 3
        mode_text = f"{MODE_NAMES[mode]} " if mode else ""
        inert = data[_INDIRECT_HEAD.size :]
        inert_text = f' {INERT} x"{inert.hex(" ", -4)}"' if any(inert) else ""
        list_text = f"{self.place(index)}]"
        return f"{self.place(start)}; {mode_text}{count} {VIA} {list_text}{inert_text}]"

    def _remember(self, data: bytes) -> str:
        if len(self._shapes) >= _MOST_SHAPES:
            self._shapes.clear()
        shape = self._shapes[data] = _shape_text(data)
        return shape


@lru_cache(_MOST_SHAPES)
def _dimension_text(num: int, step: int) -> str:
    return str(num) if step == 1 else f"{num} {STEP} {step}"


def _shape_text(data: bytes) -> str:
    """Dimensions, innermost first, without single elements at the end: ``; 64, 8 step 64``."""
    layout, dimensions = _TENSORS[4 + len(data)]
    numbers = layout.unpack(data)
    last = dimensions
    while last and numbers[last - 1] == 1 == numbers[dimensions + last - 1]:
        last -= 1
    if not last:
        return ""
    nums = numbers[dimensions : dimensions + last]
    return "; " + ", ".join(map(_dimension_text, nums, numbers))
