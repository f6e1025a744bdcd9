"""Reading words: from a file or standard input, in pieces, with one clear line when it fails."""

from __future__ import annotations

import codecs
import os
import select
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import IO, Final

from lanewise.errors import UsageError
from lanewise.text.recognition import PROBE, assembly_machine, is_array

STDIN: Final = "-"
_CHUNK: Final = 1 << 18
_MOMENT: Final = 0.001
_LARGEST_PROGRAM: Final = 1 << 28


def shown_name(path: str) -> str:
    """How messages call an input."""
    return "standard input" if path == STDIN else path


def word_pieces(path: str, word_bytes: int, most: int = _CHUNK) -> Iterator[bytes]:
    """The content of ``path`` (``-``: standard input) in pieces of whole words.

    A piece has about ``most`` bytes, fewer where no more are there yet. UsageError when it
    cannot be read, holds nothing, or ends inside a word; for a file that comes before the first
    piece.
    """
    name = shown_name(path)
    try:
        with _opened(path, name) as stream:
            status = os.fstat(stream.fileno()) if path != STDIN else None
            if status is not None and stat.S_ISREG(status.st_mode):
                head = stream.peek(PROBE)[:PROBE] if hasattr(stream, "peek") else b""
                _check_kind(path, head, word_bytes)
                _check_size(name, status.st_size, word_bytes, head[:_SAMPLE])
            yield from _pieces(stream, path, word_bytes, most)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise UsageError(f"{name}: {_reason(error)}") from error


def refuse_assembly(path: str, head: bytes) -> None:
    """UsageError where what should be words or hex begins like assembly text."""
    if assembly_machine(head) is not None:
        command = _command("asm", path)
        raise UsageError(
            f"{shown_name(path)}: this is assembly text; '{command}' makes words of it"
        )


def check_input(path: str, word_bytes: int) -> None:
    """UsageError for a file that :func:`word_pieces` would refuse before its first piece.

    A pipe or device gives its content once, so that it is left alone until it is read.
    """
    if path != STDIN and not is_stream(path):
        next(word_pieces(path, word_bytes), None)


def is_stream(path: str) -> bool:
    """Whether ``path`` is there and neither a regular file nor a folder."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def read_program(path: str, word_bytes: int) -> bytes:
    """All words of ``path``; UsageError as :func:`word_pieces`, and for more than 256 MiB."""
    content = bytearray()
    for piece in word_pieces(path, word_bytes):
        content += piece
        if len(content) > _LARGEST_PROGRAM:
            raise UsageError(
                f"{shown_name(path)}: more than {_LARGEST_PROGRAM >> 20} MiB; split the program"
            )
    return bytes(content)


def blocks(path: str) -> Iterator[bytes]:
    """The content of ``path`` (``-``: standard input) in pieces, whatever they are.

    UsageError when it cannot be read.
    """
    try:
        with _opened(path, shown_name(path)) as stream:
            read: Callable[[int], bytes] = getattr(stream, "read1", stream.read)
            while block := read(_CHUNK):
                yield block
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise UsageError(f"{shown_name(path)}: {_reason(error)}") from error


def read_text(path: str) -> str:
    """The text in ``path``; bytes that are no UTF-8 become replacement characters.

    UsageError when it cannot be read or holds words instead.
    """
    content = bytearray()
    for block in blocks(path):
        if not content and b"\0" in block[:PROBE] and not block.startswith(_WIDE_TEXT):
            command = _command("dis", path)
            raise UsageError(f"{shown_name(path)}: these are binary words; '{command}' prints them")
        content += block
        if len(content) > _LARGEST_PROGRAM:
            raise UsageError(f"{shown_name(path)}: more than {_LARGEST_PROGRAM >> 20} MiB of text")
    return content.decode("utf-8-sig", errors="replace")


def standard_input(instead: str) -> IO[bytes]:
    """The bytes of standard input; UsageError with ``instead`` when nothing can come from there."""
    if sys.stdin is None:
        raise UsageError(f"standard input is closed: {instead}")
    if sys.stdin.isatty():
        raise UsageError(f"standard input is a terminal: {instead}")
    return sys.stdin.buffer


def _opened(path: str, name: str) -> AbstractContextManager[IO[bytes]]:
    if path == STDIN:
        # Leaving the with block does not close standard input.
        return nullcontext(standard_input("name a file, or pipe one in"))
    if os.path.isdir(path):
        raise UsageError(f"{name}: is a folder; give a file of words")
    return open(path, "rb")


def _pieces(stream: IO[bytes], path: str, word_bytes: int, most: int) -> Iterator[bytes]:
    total, rest = 0, b""
    while block := _present(stream, most):
        if not total:
            _check_kind(path, block, word_bytes)
        total += len(block)
        block = rest + block
        whole = len(block) - len(block) % word_bytes
        rest = block[whole:]
        if whole:
            yield block[:whole]
    _check_size(shown_name(path), total, word_bytes, rest)


def _present(stream: IO[bytes], most: int) -> bytes:
    """What is there now, so that words are answered as they come; empty at the end.

    A pipe gives a little at a time: more that comes within a moment is taken with it.
    """
    read: Callable[[int], bytes] = getattr(stream, "read1", stream.read)
    parts = [read(most)]
    size = len(parts[0])
    while parts[-1] and size < most and _has_more(stream):
        parts.append(read(most - size))
        size += len(parts[-1])
    return b"".join(parts)


def _has_more(stream: IO[bytes]) -> bool:
    """Whether reading would not wait, as far as the system can tell."""
    try:
        return bool(select.select([stream], [], [], _MOMENT)[0])
    except (OSError, ValueError):
        return False


def _check_kind(path: str, head: bytes, word_bytes: int) -> None:
    """UsageError for what begins like another kind of file than a program of words."""
    name = shown_name(path)
    if is_array(head):
        raise UsageError(f"{name}: an array and no program; arrays go in with 'run --load'")
    machine = assembly_machine(head) if word_bytes > 1 else None
    if machine == "neuron":
        raise UsageError(
            f"{name}: this is assembly text; '{_command('asm', path)} | lanewise run -' runs it"
        )
    if machine == "pto":
        raise UsageError(f"{name}: this is assembly text of the PTO machine; name --machine pto")


def _command(verb: str, path: str) -> str:
    return f"lanewise {verb}" if path == STDIN else f"lanewise {verb} {path}"


def _check_size(name: str, size: int, word_bytes: int, sample: bytes) -> None:
    if not size:
        expected = f"words of {word_bytes} bytes" if word_bytes > 1 else "a program"
        raise UsageError(f"{name}: empty; expected {expected}")
    rest = size % word_bytes
    if not rest:
        return
    offset = size - rest
    hint = ""
    if len(sample) >= _SAMPLE and all(byte in _TEXT for byte in sample):
        hint = "; it looks like text, and words are raw bytes ('xxd -r -p' makes them from hex)"
    raise UsageError(
        f"{name}: the size, {size}, is no multiple of the word's {word_bytes} bytes; "
        f"bytes left over at offset {offset} ({offset:#x}): {rest}{hint}"
    )


_SAMPLE: Final = 16
_WIDE_TEXT: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_TEXT: Final = frozenset(b"\t\n\r" + bytes(range(0x20, 0x7F)))


def _reason(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "no such file"
    return error.strerror or str(error)
