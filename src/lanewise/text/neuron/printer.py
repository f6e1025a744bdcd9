"""From words to text: one canonical line a word, every bit of it in the text or its default.

The line of an instruction is compiled from its layout into pieces: a destination, a source, a
scalar, a run of plain fields. A piece is the text of a few bytes of the word, remembered by those
bytes, so that a program whose words resemble each other prints at the speed of a few lookups.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from typing import Any

from lanewise.model import MalformedWord
from lanewise.neuron.codes import IMMEDIATE_SOURCES
from lanewise.neuron.dispatch import decode
from lanewise.neuron.generation import Generation, find_generation
from lanewise.neuron.instruction import WORD_BYTES, InstructionWord
from lanewise.neuron.instructions import BY_OPCODE
from lanewise.neuron.roster import opcodes_of, roster
from lanewise.text.neuron.layout import (
    FieldArgument,
    ImmediateArgument,
    Layout,
    OperandArgument,
    layout_of,
)
from lanewise.text.neuron.patterns import PatternPrinter
from lanewise.text.neuron.scalars import fp32_text, scalar_text
from lanewise.words import Array, Coded, Signed

_REMEMBERED = 1 << 14

TextOfBytes = Callable[[Any], str]


class Remembered(dict[Any, str]):
    """A function's results by its argument; forgets everything when it has grown large."""

    def __init__(self, function: TextOfBytes) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, key: Any) -> str:
        if len(self) >= _REMEMBERED:
            self.clear()
        text = self[key] = self._function(key)
        return text


def bytes_text(data: bytes) -> str:
    """Bytes in the order of memory, four to a group: ``x"47100000 00000000"``."""
    return f'x"{data.hex(" ", -4)}"'


def field_text(argument: FieldArgument, raw: int) -> str:
    """The value of a plain field."""
    field = argument.field
    if isinstance(field, Coded):
        return argument.names.get(raw) or f"{raw:#x}"
    if field.kind == "fp32":
        return fp32_text(raw)
    if field.is_filler or isinstance(field, Array):
        if field.width > 8 and field.width % 8 == 0:
            return bytes_text(raw.to_bytes(field.width // 8, "little"))
        return f"{raw:#x}"
    if isinstance(field, Signed):
        return str(field.from_raw(raw))
    return str(raw)


#: The bytes of a word that a piece of its line depends on: (first, one past the last) pairs.
Places = tuple[tuple[int, int], ...]
#: The text for those bytes (one ``bytes``, or a tuple where there are several places).
Piece = tuple[Places, TextOfBytes]


class WordPrinter:
    """Prints the words of one instruction for one generation."""

    def __init__(self, layout: Layout, patterns: PatternPrinter) -> None:
        self._patterns = patterns
        self._head = layout.mnemonic + " "
        pieces = [
            *map(self._operand, layout.operands),
            *map(self._immediate, layout.immediates),
            *_plain_pieces(layout),
        ]
        self._pieces = [
            (Remembered(text), itemgetter(*(slice(*place) for place in places)))
            for places, text in pieces
        ]

    def __call__(self, word: bytes) -> str:
        """The line of a word, without its end."""
        texts = [remembered[key(word)] for remembered, key in self._pieces]
        return self._head + ", ".join(filter(None, texts))

    def _operand(self, operand: OperandArgument) -> Piece:
        dtype, pattern_text = operand.dtype, self._patterns.text
        allows_indirect = operand.field.allows_indirect
        (run,) = operand.field.ranges
        place = (run.low // 8, run.high // 8 + 1)
        if dtype is None:
            return (place,), lambda key: f"{operand.name}={pattern_text(key, allows_indirect)}"
        type_place = _bytes_of(dtype)

        def head(key: bytes) -> str:
            return f"{operand.name}={_type_text(dtype, _gathered((type_place,), [key]))} "

        heads = Remembered(head)

        def text(key: tuple[bytes, bytes]) -> str:
            return heads[key[0]] + pattern_text(key[1], allows_indirect)

        return (type_place, place), text

    def _immediate(self, immediate: ImmediateArgument) -> Piece:
        (run,) = immediate.field.ranges
        places = [(run.low // 8, run.high // 8 + 1), _bytes_of(immediate.source)]
        if immediate.dtype is not None:
            places.append(_bytes_of(immediate.dtype))
        return tuple(places), lambda key: self._scalar(immediate, _gathered(places, key))

    def _scalar(self, immediate: ImmediateArgument, word: int) -> str:
        name, source = immediate.name, immediate.source.extract(word)
        raw = immediate.field.extract(word)
        is_default = raw == immediate.field.default and source == immediate.source.default
        if immediate.dtype is None:
            dtype, kind = int(immediate.field.dtype), ""
        else:
            dtype = immediate.dtype.extract(word)
            kind = _type_text(immediate.dtype, word) + " "
            is_default = is_default and dtype == immediate.dtype.default
        if is_default:
            return ""
        match IMMEDIATE_SOURCES.get(source):
            case "inline":
                return f"{name}={kind}{scalar_text(raw, dtype)}"
            case "pointer":
                return f"{name}={kind}@{self._patterns.pointer(raw)}"
            case "register":
                return f"{name}={kind}@{self._patterns.register(raw)}]"
        return f"{name}={kind}{raw:#010x}, {immediate.source.name}={source:#x}"


def _bytes_of(argument: FieldArgument) -> tuple[int, int]:
    """The bytes that hold a field: first, and one past the last."""
    ranges = argument.ranges
    return min(run.low for run in ranges) // 8, max(run.high for run in ranges) // 8 + 1


def _gathered(places: Iterable[tuple[int, int]], key: Iterable[bytes]) -> int:
    """A word with the bytes of a key where they belong, and zeros elsewhere."""
    word = 0
    for data, (begin, _) in zip(key, places, strict=True):
        word |= int.from_bytes(data, "little") << 8 * begin
    return word


def _type_text(dtype: FieldArgument, word: int) -> str:
    code = dtype.extract(word)
    return dtype.names.get(code) or f"{code:#x}"


def _plain_pieces(layout: Layout) -> Iterator[Piece]:
    """Runs of neighbouring plain fields; those that all words have come last."""
    implied = layout.implied
    groups: tuple[list[FieldArgument], list[FieldArgument]] = ([], [])
    for argument in layout.fields:
        if argument.path not in implied:
            is_shared = argument.path.partition(".")[0] in InstructionWord.fields
            groups[is_shared].append(argument)
    for group in groups:
        run: list[FieldArgument] = []
        end = 0
        for argument in sorted(group, key=_bytes_of):
            first, past = _bytes_of(argument)
            if run and first > end:
                yield _plain_piece(run, end)
                run = []
            run.append(argument)
            end = past
        if run:
            yield _plain_piece(run, end)


def _plain_piece(arguments: list[FieldArgument], end: int) -> Piece:
    begin = _bytes_of(arguments[0])[0]
    writers = [_field_writer(argument, begin) for argument in arguments]

    def text(key: bytes) -> str:
        word = int.from_bytes(key, "little")
        return ", ".join(filter(None, [write(word) for write in writers]))

    return ((begin, end),), text


def _field_writer(argument: FieldArgument, begin: int) -> Callable[[int], str]:
    """``name=value``, or nothing for the default, from the bytes of a word from ``begin`` on."""

    def written(raw: int) -> str:
        is_default = raw == argument.default
        return "" if is_default else f"{argument.name}={field_text(argument, raw)}"

    if len(argument.ranges) > 1:
        return lambda word: written(argument.extract(word << 8 * begin))
    (run,) = argument.ranges
    shift, mask = run.low - 8 * begin, (1 << run.width) - 1
    if run.width <= 8:
        texts = [written(raw) for raw in range(mask + 1)]
        return lambda word: texts[word >> shift & mask]
    return lambda word: written(word >> shift & mask)


class Printer:
    """Prints words of one generation: modelled, unmodelled, and bytes that are no word."""

    def __init__(self, generation: str | Generation = "cayman") -> None:
        self.generation = find_generation(generation)
        self._patterns = PatternPrinter(self.generation)
        self._by_opcode: list[Callable[[bytes], str]] = [self._undecodable] * 256
        for opcode in opcodes_of(self.generation):
            is_modelled = opcode in BY_OPCODE
            self._by_opcode[opcode] = self._first_of_its_kind if is_modelled else _unmodelled

    @property
    def header(self) -> str:
        """The line a text begins with: which generation its words are of."""
        return f".generation {self.generation}"

    def line(self, word: bytes) -> str:
        """The line of 64 bytes, or of the fewer bytes that are left at the end of the input."""
        if len(word) != WORD_BYTES:
            return (
                f".byte {bytes_text(word)}  // end of input: "
                f"{len(word)} of the {WORD_BYTES} bytes of a word"
            )
        return self._by_opcode[word[0]](word)

    def lines(self, data: bytes) -> Iterator[str]:
        """The lines of a stream of words; what is no word does not end it."""
        whole = len(data) - len(data) % WORD_BYTES
        by_opcode = self._by_opcode
        for start in range(0, whole, WORD_BYTES):
            word = data[start : start + WORD_BYTES]
            yield by_opcode[word[0]](word)
        if whole < len(data):
            yield self.line(data[whole:])

    def _first_of_its_kind(self, word: bytes) -> str:
        """Prints the first word of an instruction; its printer is only made for words that come."""
        printer = WordPrinter(layout_of(BY_OPCODE[word[0]]), self._patterns)
        self._by_opcode[word[0]] = printer
        return printer(word)

    def _undecodable(self, word: bytes) -> str:
        try:
            decode(word, self.generation)
        except MalformedWord as error:
            return f".byte {bytes_text(word)}  // {error}"
        raise AssertionError("an assigned opcode has a printer")


def _unmodelled(word: bytes) -> str:
    entry = roster()[word[0]]
    struct_text = f" ({entry.struct})" if entry.struct else ""
    return f".word {bytes_text(word)}  // {entry.name}{struct_text}, not modelled"


@functools.cache
def _printer(generation: Generation) -> Printer:
    return Printer(generation)


def disassemble(data: bytes, generation: str | Generation = "cayman") -> str:
    """A stream of words as text that assembles to the same bytes, whatever they are."""
    printer = _printer(find_generation(generation))
    return "\n".join([printer.header, *printer.lines(data), ""])
