"""The four NeuronCore generations: memories, address windows and what only some of them have.

Source: generation table and address windows of the ISA headers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from lanewise.errors import UsageError, unknown_name, whole_number

Space = Literal["sbuf", "psum"]

PARTITIONS = 128
QUADRANT = 32
_PSUM_BASE = 0x2000000
_PSUM_STRIDE_BITS = 15


@dataclass(frozen=True, slots=True)
class Place:
    """Where an address points: a space, a partition (0..127) and a byte offset inside it.

    The offset may lie past the active bytes of the partition; such a place exists in the
    address map but holds no memory.
    """

    space: Space
    partition: int
    offset: int

    @property
    def quadrant(self) -> int:
        """Which group of 32 partitions the place lies in, 0..3."""
        return self.partition // QUADRANT

    def __str__(self) -> str:
        return f"{self.space} partition {self.partition} offset {self.offset:#x}"


@dataclass(frozen=True, slots=True)
class Generation:
    """One generation of the core.

    Sizes are bytes a partition. ``sbuf_stride_bits`` is the distance of two SBUF partitions in
    the address map, as a power of two; ``psum_bytes`` is 0 where there is no PSUM.
    """

    name: str
    isa: str
    product: str
    sbuf_bytes: int
    sbuf_stride_bits: int
    psum_bytes: int
    psum_banks: int
    has_indirect_patterns: bool
    shape_register_waives_key_count: bool

    def active_bytes(self, space: Space) -> int:
        """Bytes of real memory in each partition of ``space``."""
        return self.sbuf_bytes if space == "sbuf" else self.psum_bytes

    @property
    def psum_window(self) -> tuple[int, int]:
        """The address of PSUM, and the distance of two partitions there as a power of two."""
        return _PSUM_BASE, _PSUM_STRIDE_BITS

    def locate(self, address: int) -> Place | None:
        """The place a direct address names, or None when it lies outside SBUF and PSUM."""
        partition = address >> self.sbuf_stride_bits
        if partition < PARTITIONS:
            return Place("sbuf", partition, address & ((1 << self.sbuf_stride_bits) - 1))
        if self.psum_bytes:
            partition = (address - _PSUM_BASE) >> _PSUM_STRIDE_BITS
            if 0 <= partition < PARTITIONS:
                offset = (address - _PSUM_BASE) & ((1 << _PSUM_STRIDE_BITS) - 1)
                return Place("psum", partition, offset)
        return None

    def address(self, space: str, partition: int, offset: int = 0) -> int:
        """The direct address of a byte; UsageError when there is no such byte."""
        if space not in ("sbuf", "psum"):
            raise unknown_name("memory space", space, ("sbuf", "psum"))
        partition = whole_number("partition", partition)
        offset = whole_number("offset", offset)
        limit = self.sbuf_bytes if space == "sbuf" else self.psum_bytes
        if not limit:
            raise UsageError(f"{self.name} has no PSUM")
        if not 0 <= partition < PARTITIONS:
            raise UsageError(f"partition must be 0..{PARTITIONS - 1}, not {partition}")
        if not 0 <= offset < limit:
            raise UsageError(
                f"offset must be 0..{limit - 1:#x} in {space} of {self.name}, not {offset:#x}"
            )
        return self.address_of(Place("sbuf" if space == "sbuf" else "psum", partition, offset))

    def stride_bytes(self, space: Space) -> int:
        """The distance of two partitions in the address map: offsets lie below it."""
        return 1 << (self.sbuf_stride_bits if space == "sbuf" else _PSUM_STRIDE_BITS)

    def address_of(self, place: Place) -> int:
        """The address that :meth:`locate` finds at ``place``, whether or not memory is there."""
        if place.space == "sbuf":
            return place.partition << self.sbuf_stride_bits | place.offset
        return _PSUM_BASE + (place.partition << _PSUM_STRIDE_BITS) + place.offset

    def __str__(self) -> str:
        return self.name


SUNDA = Generation(
    name="sunda",
    isa="V2",
    product="Trn1, Inf2",
    sbuf_bytes=0x30000,
    sbuf_stride_bits=18,
    psum_bytes=0x4000,
    psum_banks=16,
    has_indirect_patterns=False,
    shape_register_waives_key_count=False,
)
CAYMAN = Generation(
    name="cayman",
    isa="V3",
    product="Trn2",
    sbuf_bytes=0x38000,
    sbuf_stride_bits=18,
    psum_bytes=0x4000,
    psum_banks=8,
    has_indirect_patterns=False,
    shape_register_waives_key_count=True,
)
MARIANA = Generation(
    name="mariana",
    isa="V4",
    product="Trn3",
    sbuf_bytes=0x40000,
    sbuf_stride_bits=18,
    psum_bytes=0x4000,
    psum_banks=8,
    has_indirect_patterns=True,
    shape_register_waives_key_count=True,
)
MAVERICK = Generation(
    name="maverick",
    isa="V5",
    product="not announced",
    sbuf_bytes=0x80000,
    sbuf_stride_bits=20,
    psum_bytes=0,
    psum_banks=0,
    has_indirect_patterns=True,
    shape_register_waives_key_count=True,
)

GENERATIONS: Mapping[str, Generation] = MappingProxyType(
    {generation.name: generation for generation in (SUNDA, CAYMAN, MARIANA, MAVERICK)}
)

# Products people know better than the ISA's names. Never by number: runtime code numbers
# architectures one off from the core version.
_ALIASES = {
    "trn1": SUNDA,
    "inf2": SUNDA,
    "trn2": CAYMAN,
    "trn3": MARIANA,
    "mariana_plus": MARIANA,
}


def find_generation(name: str | Generation) -> Generation:
    """The generation of that name or product (any case); UsageError with near misses."""
    if isinstance(name, Generation):
        return name
    folded = str(name).casefold()
    found = GENERATIONS.get(folded) or _ALIASES.get(folded)
    if found is None:
        raise unknown_name("generation", name, (*GENERATIONS, *_ALIASES))
    return found
