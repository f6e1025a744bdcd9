"""A binary file as it may come: ELF of either width and byte order, or raw bytes.

Nothing here believes the file: every offset and count is held against its length.
"""

from __future__ import annotations

import mmap
import os
import stat
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from lanewise.errors import UsageError

LARGEST: Final = 1 << 30

_MAGIC: Final = b"\x7fELF"
_MOST_SEGMENTS: Final = 256
_LOAD: Final = 1
_EXECUTABLE: Final = 1
_CLASSES: Final = {1: 32, 2: 64}
_ORDERS: Final = {1: "<", 2: ">"}
_MACHINES: Final = {94: "Xtensa", 243: "RISC-V", 183: "AArch64", 62: "x86-64", 40: "Arm", 3: "x86"}

Data = bytes | mmap.mmap


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of the file that is loaded: ``size`` bytes from ``offset`` appear at ``address``."""

    offset: int
    address: int
    size: int
    is_executable: bool

    def holds_address(self, address: int) -> bool:
        """Whether a loaded address lies in it."""
        return self.address <= address < self.address + self.size


@dataclass(frozen=True, slots=True)
class Image:
    """A file's bytes and what its headers say; ``segments`` is empty for a raw image.

    ``trouble`` says what is wrong with an ELF file that is searched as raw bytes after all.
    """

    data: Data
    kind: str
    segments: tuple[Segment, ...] = ()
    trouble: str | None = None

    def address_of(self, offset: int) -> int | None:
        """Where the byte at a file offset is loaded, if the headers say so."""
        for segment in self.segments:
            if segment.offset <= offset < segment.offset + segment.size:
                return segment.address + offset - segment.offset
        return None

    def offset_of(self, address: int) -> int | None:
        """The file offset of a loaded address, if the headers say so."""
        for segment in self.segments:
            if segment.holds_address(address):
                return segment.offset + address - segment.address
        return None


@contextmanager
def opened_image(path: str) -> Iterator[Image]:
    """The image in a file, mapped rather than read. UsageError says why there is none."""
    with _mapped(path) as mapped:
        yield parse_image(mapped)


def _mapped(path: str) -> mmap.mmap:
    try:
        with open(path, "rb") as stream:
            status = os.fstat(stream.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise UsageError(f"{path}: is no regular file; an image is mapped, not read")
            if status.st_size == 0:
                raise UsageError(f"{path}: empty")
            if status.st_size > LARGEST:
                raise UsageError(
                    f"{path}: {status.st_size} bytes; images up to {LARGEST >> 30} GiB are searched"
                )
            return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        reason = "no such file" if isinstance(error, FileNotFoundError) else error.strerror
        raise UsageError(f"{path}: {reason or error}") from error


def parse_image(data: Data) -> Image:
    """What the bytes are. Never fails: a broken ELF header makes a raw image with a trouble."""
    if data[:4] != _MAGIC:
        return Image(data, "raw")
    width, order = _CLASSES.get(_byte(data, 4), 0), _ORDERS.get(_byte(data, 5), "")
    if not width or not order:
        return Image(data, "raw", trouble="ELF magic, but no known class and byte order")
    try:
        machine, segments = _read_elf(data, width, order)
    except (struct.error, _BadHeaderError) as error:
        return Image(data, "raw", trouble=f"ELF magic, but {error}")
    name = _MACHINES.get(machine, f"machine {machine}")
    endianness = "little" if order == "<" else "big"
    return Image(data, f"ELF{width}, {endianness}-endian, {name}", segments)


class _BadHeaderError(Exception):
    pass


def _byte(data: Data, offset: int) -> int:
    return data[offset] if offset < len(data) else 0


def _read_elf(data: Data, width: int, order: str) -> tuple[int, tuple[Segment, ...]]:
    header = struct.Struct(order + ("HHIIIIIHHH" if width == 32 else "HHIQQQIHHH"))
    if len(data) < 16 + header.size:
        raise _BadHeaderError("the file ends inside its header")
    _, machine, _, _, table, _, _, _, size, count = header.unpack(data[16 : 16 + header.size])
    entry = struct.Struct(order + ("8I" if width == 32 else "IIQQQQQQ"))
    if count > _MOST_SEGMENTS:
        raise _BadHeaderError(f"{count} program headers are more than {_MOST_SEGMENTS}")
    if count and size < entry.size:
        raise _BadHeaderError(f"a program header of {size} bytes")
    segments = []
    for position in range(count):
        begin = table + position * size
        if begin + entry.size > len(data):
            raise _BadHeaderError("a program header past the end of the file")
        values = entry.unpack(data[begin : begin + entry.size])
        if width == 32:
            kind, offset, address, _, in_file, _, flags, _ = values
        else:
            kind, flags, offset, address, _, in_file, _, _ = values
        if kind != _LOAD or not in_file:
            continue
        if offset + in_file > len(data):
            raise _BadHeaderError("a segment past the end of the file")
        segments.append(Segment(offset, address, in_file, bool(flags & _EXECUTABLE)))
    return machine, tuple(segments)
