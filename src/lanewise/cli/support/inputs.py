"""Reading words: from a file or standard input, in pieces, with one clear line when it fails."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from typing import IO, Final

from lanewise.errors import UsageError

STDIN: Final = "-"
_CHUNK: Final = 1 << 18
_LARGEST_PROGRAM: Final = 1 << 28


def shown_name(path: str) -> str:
    """How messages call an input."""
    return "standard input" if path == STDIN else path


def word_pieces(path: str, word_bytes: int) -> Iterator[bytes]:
    """The content of ``path`` (``-``: standard input) in pieces of whole words.

    UsageError when it cannot be read, holds nothing, or ends inside a word; for a file that
    comes before the first piece.
    """
    name = shown_name(path)
    try:
        with _opened(path, name) as stream:
            status = os.fstat(stream.fileno()) if path != STDIN else None
            if status is not None and stat.S_ISREG(status.st_mode):
                head = stream.peek(_SAMPLE)[:_SAMPLE] if hasattr(stream, "peek") else b""
                _check_size(name, status.st_size, word_bytes, head)
            yield from _pieces(stream, name, word_bytes)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise UsageError(f"{name}: {_reason(error)}") from error


def check_input(path: str, word_bytes: int) -> None:
    """UsageError for a file that :func:`word_pieces` would refuse before its first piece."""
    if path != STDIN:
        next(word_pieces(path, word_bytes), None)


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


def _opened(path: str, name: str) -> IO[bytes]:
    if path == STDIN:
        if sys.stdin is None or sys.stdin.isatty():
            raise UsageError("standard input is a terminal: name a file, or pipe one in")
        # A second handle, so that leaving the with block does not close standard input.
        return _Borrowed(sys.stdin.buffer)  # type: ignore[return-value]
    if os.path.isdir(path):
        raise UsageError(f"{name}: is a folder; give a file of words")
    return open(path, "rb")


class _Borrowed:
    """A stream that stays open when its user is done."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def read(self, size: int) -> bytes:
        """What is there now, so that words are answered as they come through a pipe."""
        read1 = getattr(self._stream, "read1", self._stream.read)
        piece: bytes = read1(size)
        return piece

    def __enter__(self) -> _Borrowed:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def _pieces(stream: IO[bytes], name: str, word_bytes: int) -> Iterator[bytes]:
    total, rest = 0, b""
    while block := stream.read(_CHUNK):
        total += len(block)
        block = rest + block
        whole = len(block) - len(block) % word_bytes
        rest = block[whole:]
        if whole:
            yield block[:whole]
    _check_size(name, total, word_bytes, rest)


def _check_size(name: str, size: int, word_bytes: int, sample: bytes) -> None:
    if not size:
        raise UsageError(f"{name}: empty; expected words of {word_bytes} bytes")
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
_TEXT: Final = frozenset(b"\t\n\r" + bytes(range(0x20, 0x7F)))


def _reason(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "no such file"
    return error.strerror or str(error)
