"""What --load and --dump say: arrays in files and where they lie in a core's memory."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from lanewise.cli.support.options import parse_number, shortened
from lanewise.cli.support.output import check_target, written_file
from lanewise.errors import LanewiseError, UsageError, unknown_name
from lanewise.neuron.dtypes import Dtype, find_dtype

if TYPE_CHECKING:
    from lanewise.neuron import Memory, NeuronCore

LOAD_FORM: Final = "FILE.npy@sbuf:PARTITION+OFFSET:DTYPE[:convert]"
DUMP_FORM: Final = "sbuf:PARTITION+OFFSET:SHAPE:DTYPE[@FILE.npy]"

_SPACES: Final = ("sbuf", "psum")
_PLACE: Final = r"(?P<space>[^:+@]+):(?P<partition>[^:+@]+)(?:\+(?P<offset>[^:+@]+))?"
_LOAD: Final = re.compile(_PLACE + r":(?P<dtype>[^:@]+)(?P<convert>:convert)?")
_DUMP: Final = re.compile(_PLACE + r":(?P<shape>[^:@]+):(?P<dtype>[^:@]+)")
_MOST_ELEMENTS: Final = 1 << 26


@dataclass(frozen=True, slots=True)
class Load:
    """An array file and where it goes; ``convert`` rounds numbers instead of moving bits."""

    text: str
    file: str
    space: str
    partition: int
    offset: int
    dtype: Dtype
    convert: bool

    @classmethod
    def parse(cls, text: str) -> Load:
        """The meaning of a --load text (see :data:`LOAD_FORM`)."""
        with about("--load", text):
            file, at, place = text.rpartition("@")
            found = _LOAD.fullmatch(place) if at and file else None
            if found is None:
                raise UsageError(f"expected {LOAD_FORM}, for example keys.npy@sbuf:0+0x100:FP32")
            return cls(text, file, *_place(found), found["convert"] is not None)

    def apply(self, core: NeuronCore) -> None:
        """Read the file and put it into memory; UsageError when either cannot be done."""
        with about("--load", self.text):
            array = read_array(self.file)
            memory = _memory(core, self.space)
            if array.ndim >= 2:
                memory.write_tile(
                    self.offset,
                    array,
                    self.dtype,
                    start_partition=self.partition,
                    convert=self.convert,
                )
            else:
                memory.write(self.partition, self.offset, array, self.dtype, convert=self.convert)


@dataclass(frozen=True, slots=True)
class Dump:
    """A piece of memory to show, or to write to a file."""

    text: str
    file: str | None
    space: str
    partition: int
    offset: int
    dtype: Dtype
    shape: tuple[int, ...]

    @classmethod
    def parse(cls, text: str) -> Dump:
        """The meaning of a --dump text (see :data:`DUMP_FORM`)."""
        with about("--dump", text):
            place, at, file = text.partition("@")
            found = _DUMP.fullmatch(place)
            if found is None or (at and not file):
                raise UsageError(
                    f"expected {DUMP_FORM}, for example sbuf:0+0x100:4x16:FP32 for 16 elements "
                    "of each of 4 partitions"
                )
            return cls(text, file or None, *_place(found), _shape(found["shape"]))

    @property
    def partitions(self) -> int:
        """How many partitions the shape covers: its first extent, or one for a single extent."""
        return self.shape[0] if len(self.shape) > 1 else 1

    def check(self, core: NeuronCore) -> None:
        """UsageError unless the memory is there and the file can be written."""
        with about("--dump", self.text):
            if self.file is not None:
                check_target(self.file)
        self.read(core)

    def read(self, core: NeuronCore) -> NDArray[Any]:
        """The elements, in ``shape``; codes where NumPy lacks the type."""
        with about("--dump", self.text):
            inner = self.shape[1:] if len(self.shape) > 1 else self.shape
            tile = _memory(core, self.space).read_tile(
                self.offset,
                inner,
                self.dtype,
                start_partition=self.partition,
                partitions=self.partitions,
            )
            return tile if len(self.shape) > 1 else tile[0]


def write_dumps(dumps: Sequence[Dump], core: NeuronCore) -> None:
    """Write the dumps that name a file: all of them, or none when one cannot be written."""
    with contextlib.ExitStack() as files:
        # The renames come when the stack unwinds, after every file has been written.
        for dump in dumps:
            if dump.file is not None:
                stream = files.enter_context(written_file(dump.file))
                np.lib.format.write_array(stream, dump.read(core), allow_pickle=False)
                stream.flush()


@contextlib.contextmanager
def about(option: str, text: str) -> Iterator[None]:
    """Errors inside say which option they are about."""
    try:
        yield
    except LanewiseError as error:
        # The memory's own hint is for callers in Python; here the option has a suffix for it.
        message = str(error).replace("pass convert=True", "add :convert")
        raise UsageError(f"{option} {shortened(text)!r}: {message}") from error


def _place(found: re.Match[str]) -> tuple[str, int, int, Dtype]:
    space = found["space"].casefold()
    if space not in _SPACES:
        raise unknown_name("memory space", found["space"], _SPACES)
    partition = parse_number(found["partition"], "the partition")
    offset = parse_number(found["offset"], "the offset") if found["offset"] is not None else 0
    return space, partition, offset, find_dtype(found["dtype"])


def _shape(text: str) -> tuple[int, ...]:
    shape = tuple(parse_number(part, "an extent of the shape") for part in text.split("x"))
    if not all(shape):
        raise UsageError(f"every extent of the shape must be at least 1, not {text}")
    if prod(shape) > _MOST_ELEMENTS:
        raise UsageError(f"the shape {text} has more elements than any memory")
    return shape


def _memory(core: NeuronCore, space: str) -> Memory:
    return core.sbuf if space == "sbuf" else core.psum


def read_array(file: str) -> NDArray[Any]:
    """The array in an .npy file. Nothing is unpickled, and nothing large is taken on trust."""
    try:
        # Mapping compares the announced size with the file's before any memory is taken.
        array = np.lib.format.open_memmap(file, mode="r")
    except FileNotFoundError:
        raise UsageError(f"{file}: no such file") from None
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror or error}") from error
    except Exception as error:  # NumPy's reader raises many kinds for a damaged file
        raise UsageError(f"{file}: not a usable .npy file ({_reason(error)})") from error
    if not array.size:
        raise UsageError(f"{file}: holds no elements (shape {array.shape})")
    return np.array(array)


def _reason(error: Exception) -> str:
    """What NumPy's reader found, in words for the person who has the file."""
    text = str(error).strip().partition("\n")[0]
    if "mmap length" in text:
        return "it holds fewer bytes than its header announces"
    if "Python objects" in text:
        return "it holds Python objects; only numbers are read"
    return shortened(text.partition(": <")[0]) or type(error).__name__
