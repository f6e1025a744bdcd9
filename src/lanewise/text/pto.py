"""PTO text as the other assembler is used: all errors of a file, any bytes as text and back.

The language is the PTO package's own, one command a line; this adds ``.byte`` for a rest of bytes
that is no whole word, and spans.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from lanewise.errors import LanewiseError
from lanewise.pto.assembly import AssemblyError as LineError
from lanewise.pto.assembly import assemble as assemble_lines
from lanewise.pto.assembly import print_word
from lanewise.pto.faults import PtoFault
from lanewise.pto.words import BundleWord, decode_word
from lanewise.text.diagnostics import Refusal, Reporter, Source, Span

_BYTE = ".byte"
_BYTES = re.compile(r"(?:\s*,?\s*0[xX]([0-9a-fA-F]{1,2})(?![0-9A-Za-z]))")
_PIECE = re.compile(r"[\w.#]+|\S")
_REMEMBERED = 1 << 16


@dataclass(frozen=True, slots=True)
class Item:
    """What one line puts into the stream."""

    data: bytes
    span: Span


@dataclass(frozen=True, slots=True)
class Assembly:
    """An assembled text."""

    source: Source
    items: tuple[Item, ...]

    @property
    def data(self) -> bytes:
        """The stream of words."""
        return b"".join(item.data for item in self.items)


def assemble(text: str, *, name: str = "<text>") -> Assembly:
    """The words of a text; AssemblyError with every trouble in it."""
    source = Source(text, name)
    reporter = Reporter(source)
    items = []
    for number in range(1, source.line_count + 1):
        span = source.line_span(number)
        line = text[span.start : span.end]
        if not line.strip():
            continue
        try:
            data = _line(line, span)
        except Refusal as refusal:
            reporter.note(refusal)
        else:
            if data:
                items.append(Item(data, span))
    reporter.raise_if_any()
    return Assembly(source, tuple(items))


def _line(line: str, span: Span) -> bytes:
    """The bytes of one line; Refusal with the place."""
    if line.split(maxsplit=1)[0].casefold() == _BYTE:
        return _bytes(line, span)
    try:
        return b"".join(_encoded(word) for word in assemble_lines([line]))
    except LineError as error:
        begin = min(error.column - 1, len(line))
        piece = _PIECE.match(line, begin)
        end = piece.end() if piece is not None else begin
        raise Refusal(Span(span.start + begin, span.start + end), error.reason) from None
    except LanewiseError as error:
        raise Refusal(span, str(error)) from None


def _bytes(line: str, span: Span) -> bytes:
    code = line.split("//", maxsplit=1)[0].rstrip()
    at = code.casefold().index(_BYTE) + len(_BYTE)
    found = bytearray()
    while at < len(code):
        match = _BYTES.match(code, at)
        if match is None:
            at += len(code[at:]) - len(code[at:].lstrip())
            place = Span(span.start + at, span.start + at + 1)
            raise Refusal(place, "no byte", expected="bytes such as 0x01, 0x02")
        found.append(int(match[1], 16))
        at = match.end()
    if not found:
        place = Span(span.start + at, span.start + at)
        raise Refusal(place, "the line ends here", expected="bytes such as 0x01, 0x02")
    return bytes(found)


def _encoded(word: BundleWord) -> bytes:
    return int(word).to_bytes(word.width // 8, "little")


def split_words(data: bytes) -> Iterator[bytes]:
    """The words of a stream, by the length that bit 0 of each announces; the last may be cut."""
    position = 0
    while position < len(data):
        size = 4 if data[position] & 1 else 2
        yield data[position : position + size]
        position += size


@lru_cache(_REMEMBERED)
def line_of(data: bytes) -> str:
    """The line of one word, or of the bytes that are left at the end."""
    if len(data) < (4 if data[0] & 1 else 2):
        shown = ", ".join(f"0x{byte:02x}" for byte in data)
        return f"{_BYTE} {shown}  // end of input: a word is cut"
    try:
        return print_word(decode_word(data))
    except PtoFault as fault:
        raw = int.from_bytes(data, "little")
        return f".word 0x{raw:0{2 * len(data)}x}  // {fault.args[0]}"


def lines(pieces: Iterable[bytes]) -> Iterator[str]:
    """The lines of a stream that comes in pieces, wherever they are cut."""
    for word in words(pieces):
        yield line_of(word)


def words(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The words of a stream that comes in pieces, wherever they are cut."""
    rest = b""
    for piece in pieces:
        content = rest + piece
        rest = b""
        for word in split_words(content):
            if len(word) < (4 if word[0] & 1 else 2):
                rest = word
            else:
                yield word
    if rest:
        yield rest


def disassemble(data: bytes) -> str:
    """A stream of words as text that assembles to the same bytes, whatever they are."""
    return "".join(f"{line}\n" for line in lines([data]))
