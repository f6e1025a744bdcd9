"""Words for the verbs that look at bytes: binary or hex, from files or from the command line."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Annotated, Final

import typer

from lanewise.cli.support.inputs import blocks, refuse_assembly, shown_name
from lanewise.errors import UsageError
from lanewise.neuron.instruction import WORD_BYTES
from lanewise.text.hexadecimal import looks_like_hex, parse_hex

_LARGEST_TEXT: Final = 1 << 28


class Kind(enum.StrEnum):
    """What an input holds."""

    AUTO = "auto"
    BINARY = "binary"
    HEX = "hex"


HexOption = Annotated[
    str | None,
    typer.Option(
        "--hex",
        metavar="TEXT",
        help="The words as hex, in any punctuation: 0x, commas, quotes, a C array, a dump.",
    ),
]
InputOption = Annotated[
    Kind, typer.Option("--input", help="auto tells hex text from binary words by looking.")
]


def words_of(
    files: Sequence[str],
    hex_text: str | None,
    kind: Kind = Kind.AUTO,
    *,
    granule: int = WORD_BYTES,
    groups_are_numbers: bool = False,
) -> list[Iterator[bytes]]:
    """The bytes of each input in pieces of whole granules; the last piece may end inside one.

    UsageError for an input that cannot be read or is empty, AssemblyError for hex that is none;
    all of them come here, before the first piece of anything.
    """
    if hex_text is not None:
        return [iter([_from_hex(hex_text, "--hex", groups_are_numbers)])]
    return [_pieces(path, kind, granule, groups_are_numbers) for path in files]


def _pieces(path: str, kind: Kind, granule: int, groups_are_numbers: bool) -> Iterator[bytes]:
    stream = blocks(path)
    first = next(stream, b"")
    if not first:
        raise UsageError(f"{shown_name(path)}: empty; expected words or hex text")
    if kind is not Kind.BINARY:
        refuse_assembly(path, first)
    whole = chain([first], stream)
    if kind is Kind.HEX or (kind is Kind.AUTO and looks_like_hex(first)):
        text = _all_of(whole, path).decode("utf-8", errors="replace")
        return iter([_from_hex(text, shown_name(path), groups_are_numbers)])
    return _in_granules(whole, granule)


def _from_hex(text: str, name: str, groups_are_numbers: bool) -> bytes:
    data = parse_hex(text, name=name, groups_are_numbers=groups_are_numbers)
    if not data:
        raise UsageError(f"{name}: empty; expected words or hex text")
    return data


def _in_granules(stream: Iterator[bytes], granule: int) -> Iterator[bytes]:
    rest = b""
    for block in stream:
        content = rest + block
        length = len(content) - len(content) % granule
        rest = content[length:]
        if length:
            yield content[:length]
    if rest:
        yield rest


def _all_of(stream: Iterator[bytes], path: str) -> bytes:
    content = bytearray()
    for block in stream:
        content += block
        if len(content) > _LARGEST_TEXT:
            raise UsageError(f"{shown_name(path)}: more than {_LARGEST_TEXT >> 20} MiB of text")
    return bytes(content)
