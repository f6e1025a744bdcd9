"""Finding the dispatch tables of software kernels: runs of 8-byte records.

A record is two zero bytes, the specialisation, the opcode, and the address of a function as a
little-endian word. A run of them counts as a table when its opcodes are assigned and its addresses
look like functions: on 4-byte boundaries, mostly different, close together, and in executable
memory where the image says what that is. Source: kernel_info_table of the POOL firmware.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanewise.neuron.roster import INVALID_OPCODE, roster
from lanewise.view.firmware.image import Image

RECORD_BYTES = 8
LEAST_RECORDS = 4
_LARGEST_SPEC = 15
_WIDEST_SPAN = 1 << 20
_ALIGNMENT = 4
_CHUNK_WORDS = 1 << 17
_LEAST_DISTINCT = 0.5
_MOST_CANDIDATES = 1 << 20

# The two published tables, by the opcodes in them.
_KNOWN_TABLES = {
    "cayman POOL": frozenset(bytes.fromhex("41 45 46 47 51 52 7b 7c 7d 7e be f0 f2")),
    "sunda POOL": frozenset(bytes.fromhex("41 43 44 46 47 49 67 68 74 79 7a 7c 7d 7e 92 b8 bb e7")),
}
_LEAST_LIKENESS = 0.7


@dataclass(frozen=True, slots=True)
class Record:
    """One entry: at ``offset`` of the file, for an opcode and specialisation, a function."""

    offset: int
    spec: int
    opcode: int
    address: int
    function_offset: int | None

    @property
    def name(self) -> str:
        """The opcode's name."""
        return roster()[self.opcode].name


@dataclass(frozen=True, slots=True)
class Table:
    """A run of records; ``address`` is where it is loaded, ``resembles`` a published table."""

    offset: int
    address: int | None
    records: tuple[Record, ...]
    resembles: str | None

    @property
    def size(self) -> int:
        """Bytes of the table."""
        return RECORD_BYTES * len(self.records)


@dataclass(frozen=True, slots=True)
class Search:
    """The tables of an image in the order of their offsets.

    ``is_complete`` is false when so much of the image looks like records that the rest was left.
    """

    tables: tuple[Table, ...]
    is_complete: bool


def find_tables(image: Image) -> Search:
    """Look through an image of any size and content."""
    found: list[Table] = []
    budget = _Budget(_MOST_CANDIDATES)
    for offset, count in _runs(image, budget):
        for part in _plausible(image, _records(image, offset, count)):
            codes = frozenset(record.opcode for record in part)
            found.append(
                Table(part[0].offset, image.address_of(part[0].offset), part, _resembled(codes))
            )
    found.sort(key=lambda table: table.offset)
    return Search(tuple(found), budget.left > 0)


@dataclass(slots=True)
class _Budget:
    """How many more records may be looked at one by one."""

    left: int


def _resembled(codes: frozenset[int]) -> str | None:
    likeness = {
        name: len(codes & known) / len(codes | known) for name, known in _KNOWN_TABLES.items()
    }
    best = max(likeness, key=lambda name: likeness[name])
    return best if likeness[best] >= _LEAST_LIKENESS else None


# First by arrays: where record after record has two zero bytes, an opcode and an address.


def _runs(image: Image, budget: _Budget) -> Iterator[tuple[int, int]]:
    """(offset, number) of runs of candidate records, on any byte boundary."""
    for phase in range(_ALIGNMENT):
        # Records on the two 8-byte lattices of a phase come mixed, so two runs may be open.
        begin, end = [-1, -1], [-1, -1]
        for offset in _candidates(image, phase):
            lattice = (offset - phase) // _ALIGNMENT % 2
            if offset != end[lattice]:
                yield from _long_enough(begin[lattice], end[lattice])
                begin[lattice] = end[lattice] = offset
            end[lattice] += RECORD_BYTES
            budget.left -= 1
            if budget.left <= 0:
                return
        for lattice in (0, 1):
            yield from _long_enough(begin[lattice], end[lattice])


def _long_enough(begin: int, end: int) -> Iterator[tuple[int, int]]:
    count = (end - begin) // RECORD_BYTES
    if count >= LEAST_RECORDS:
        yield begin, count


def _candidates(image: Image, phase: int) -> Iterator[int]:
    """Offsets, ``phase`` modulo four, of what could be a record."""
    known = np.zeros(256, dtype=np.bool_)
    known[[code for code in roster() if code != INVALID_OPCODE]] = True
    words = (len(image.data) - phase) // _ALIGNMENT
    for start in range(0, words - 1, _CHUNK_WORDS):
        # One word more than the chunk: the last record's address.
        count = min(_CHUNK_WORDS + 1, words - start)
        chunk: NDArray[np.uint32] = np.frombuffer(
            image.data, "<u4", count, phase + _ALIGNMENT * start
        )
        heads = chunk[:-1]
        # A cheap test first, which most of any file fails.
        places = np.flatnonzero(((heads & 0xFFFF) == 0) & (heads != 0))
        heads, addresses = heads[places], chunk[places + 1]
        fits = known[heads >> 24] & ((heads >> 16 & 0xFF) <= _LARGEST_SPEC)
        fits &= (addresses != 0) & (addresses % _ALIGNMENT == 0)
        # A view of a mapped file must be gone before the file is closed.
        del chunk
        for place in places[fits].tolist():
            yield phase + _ALIGNMENT * (start + place)


# Then one by one.


def _records(image: Image, offset: int, count: int) -> Iterator[Record]:
    for position in range(count):
        begin = offset + RECORD_BYTES * position
        data = image.data[begin : begin + RECORD_BYTES]
        address = int.from_bytes(data[4:], "little")
        yield Record(begin, data[2], data[3], address, image.offset_of(address))


def _plausible(image: Image, records: Iterable[Record]) -> Iterator[tuple[Record, ...]]:
    """The stretches of a run whose addresses belong together and whose keys differ."""
    stretch: list[Record] = []
    keys: set[tuple[int, int]] = set()
    low = high = 0
    for record in records:
        if not _in_code(image, record.address):
            if _is_table(stretch):
                yield tuple(stretch)
            stretch, keys = [], set()
            continue
        key = (record.spec, record.opcode)
        low = min(low, record.address) if stretch else record.address
        high = max(high, record.address) if stretch else record.address
        if key in keys or high - low > _WIDEST_SPAN:
            if _is_table(stretch):
                yield tuple(stretch)
            stretch, keys = [], set()
            low = high = record.address
        stretch.append(record)
        keys.add(key)
    if _is_table(stretch):
        yield tuple(stretch)


def _in_code(image: Image, address: int) -> bool:
    """Whether an address, absolute or relative, can be code; any can where nothing is known."""
    executable = [segment for segment in image.segments if segment.is_executable]
    return not executable or any(
        segment.holds_address(address) or address < segment.size for segment in executable
    )


def _is_table(stretch: list[Record]) -> bool:
    if len(stretch) < LEAST_RECORDS:
        return False
    functions = {record.address for record in stretch}
    opcodes = {record.opcode for record in stretch}
    return min(len(functions), len(opcodes)) >= _LEAST_DISTINCT * len(stretch)
