"""Addresses out of a line: places in memory, registers, buffers and parts of them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lanewise.errors import UsageError
from lanewise.neuron.codes import REGISTERS
from lanewise.neuron.dtypes import element_size, find_dtype
from lanewise.neuron.generation import PARTITIONS, Place, Space
from lanewise.text.diagnostics import Refusal, Span, one_of, unknown
from lanewise.text.neuron.cursor import Cursor
from lanewise.text.neuron.lexer import Kind
from lanewise.text.neuron.patterns import ADDRESS_MASK
from lanewise.text.neuron.symbols import Buffer, Symbols

_MEMORIES = ("sbuf", "psum", "addr", "reg")
_PLACES = f"{one_of([f'{memory}[…]' for memory in _MEMORIES])} or a buffer's name"
_PARTITION = re.compile(r"p([0-9]{1,9})", re.IGNORECASE)
_REGISTER = re.compile(r"r([0-9]{1,9})", re.IGNORECASE)
_IN_REGISTER = 1 << 31
WHOLE_WORD = (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class Lanes:
    """How many partitions a text says an operand has, and whether it says so beside the operand."""

    count: int
    is_written: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Start:
    """An address word without its mode; the buffer and byte offset in it, where it is in one."""

    word: int
    lanes: Lanes | None = None
    buffer: Buffer | None = None
    byte: int = 0
    is_whole: bool = False


class AddressParser:
    """Reads addresses at a cursor."""

    def __init__(self, cursor: Cursor, symbols: Symbols) -> None:
        self.cursor = cursor
        self.symbols = symbols

    def start(self, dtype: int | None) -> tuple[Start, bool]:
        """An address, and whether its bracket is still open (for what else may come in it)."""
        token = self.cursor.token
        if token.kind is not Kind.NAME:
            raise self.cursor.unexpected(_PLACES)
        folded = token.text.casefold()
        if folded in _MEMORIES and token.text not in self.symbols.buffers:
            self.cursor.advance()
            self.cursor.expect_sign("[", "after the memory's name")
            if folded == "reg":
                return Start(_IN_REGISTER | self.register()), True
            if folded == "addr":
                return Start(self.cursor.integer("an address", 0, ADDRESS_MASK)), True
            return self._place("sbuf" if folded == "sbuf" else "psum"), True
        buffer = self.symbols.buffers.get(token.text)
        if buffer is None:
            if token.text in self.symbols.broken:
                raise Refusal.silent(token.span)
            if is_type(token.text):
                raise Refusal(
                    self.cursor.following.span,
                    f"the type {token.shown} without a place",
                    expected=_PLACES,
                )
            known = [*self.symbols.buffers, *_MEMORIES]
            raise unknown(token.span, "buffer or memory", token.text, known)
        self.cursor.advance()
        return self._in_buffer(buffer, dtype)

    def register(self, most: int = ADDRESS_MASK) -> int:
        """A register, or a number up to ``most`` that names none."""
        token = self.cursor.token
        match = _REGISTER.fullmatch(token.text) if token.kind is Kind.NAME else None
        if match is None:
            return self.cursor.integer("a register number", 0, most)
        number = int(match[1])
        if number >= REGISTERS:
            raise Refusal(
                token.span, f"no register {token.shown}", expected=f"r0..r{REGISTERS - 1}"
            )
        self.cursor.advance()
        return number

    def _place(self, space: Space) -> Start:
        generation = self.symbols.generation
        if space == "psum" and not generation.psum_bytes:
            raise Refusal(self.cursor.previous.span, f"{generation} has no PSUM")
        partition, lanes = partition_of(self.cursor, f"{space}[p0, 0x400]")
        self.cursor.expect_sign(",", "and a byte offset")
        stride = generation.stride_bytes(space)
        offset = self.cursor.integer("a byte offset", 0, stride - 1)
        place = Place(space, partition, offset)
        return Start(generation.address_of(place), lanes)

    def _in_buffer(self, buffer: Buffer, dtype: int | None) -> tuple[Start, bool]:
        span = self.cursor.previous.span
        partition, byte, is_whole = 0, 0, True
        lanes: Lanes | None = None
        has_more = self.cursor.take_sign("[")
        if has_more and not self.cursor.at_sign(";", "]"):
            if at_partition(self.cursor):
                partition, lanes = partition_of(self.cursor, f"{buffer.name}[p0, 8]")
                has_index = self.cursor.take_sign(",")
            else:
                has_index = True
            if has_index:
                size = (None if dtype is None else element_size(dtype)) or buffer.dtype.size
                most = buffer.size // size - 1
                byte = size * self.cursor.integer(f"an element of {buffer.name}", 0, most)
                is_whole = False
        left = buffer.partitions - partition
        if left < 1 or (lanes is not None and lanes.count > left):
            last = buffer.partitions - 1
            raise Refusal(
                self.cursor.previous.span,
                f"past the partitions of {buffer.name}, which are its p0..p{last}",
            )
        if lanes is None:
            lanes = Lanes(left, False, span)
        place = Place(buffer.space, buffer.partition + partition, buffer.offset + byte)
        word = self.symbols.generation.address_of(place)
        return Start(word, lanes, buffer, byte, is_whole), has_more

    def pointer(self, dtype: int | None) -> int:
        """An address that is a number by itself, without a mode."""
        if self.cursor.at_word("addr") and "addr" not in self.symbols.buffers:
            self.cursor.advance()
            self.cursor.expect_sign("[", "after 'addr'")
            value = self.cursor.integer("an address", 0, WHOLE_WORD)
            self.cursor.expect_sign("]", "to end the address")
            return value
        start, has_more = self.start(dtype)
        if has_more:
            self.cursor.expect_sign("]", "to end the address")
        return start.word


def at_partition(cursor: Cursor) -> bool:
    """Whether ``p3`` or ``p(`` is next."""
    if cursor.at_word("p") and cursor.following.text == "(":
        return True
    return cursor.token.kind is Kind.NAME and bool(_PARTITION.fullmatch(cursor.token.text))


def partition_of(cursor: Cursor, example: str) -> tuple[int, Lanes | None]:
    """``p3``, ``p3:32`` or ``p(expression)``; ``example`` shows where partitions are expected."""
    token = cursor.token
    if not at_partition(cursor):
        raise cursor.unexpected(f"a partition, as in {example}")
    cursor.advance()
    match = _PARTITION.fullmatch(token.text)
    if match is not None:
        partition = int(match[1])
    else:
        partition = cursor.integer("a partition", 0, PARTITIONS - 1)
    if partition >= PARTITIONS:
        raise Refusal(token.span, f"no partition {partition}", expected=f"p0..p{PARTITIONS - 1}")
    if not cursor.take_sign(":"):
        return partition, None
    start = cursor.token.span
    count = cursor.integer("a number of partitions", 0, 255)
    return partition, Lanes(count, True, start.to(cursor.previous.span))


def is_type(name: str) -> bool:
    """Whether a name is that of an element type."""
    try:
        find_dtype(name)
    except UsageError:
        return name.casefold() == "invalid"
    return True
