"""What the proposal's operations share: operands by name, planes, PE masks.

The proposal fixes no encoding, so an operation is written with its operands. Its checks come in
the machine's order: legality on every PE, then allocation. Source: PTO proposal revision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType, ModuleType
from typing import Any, ClassVar

from lanewise.errors import UsageError
from lanewise.pto.datatypes import CUBE_TYPES, DataType
from lanewise.pto.faults import tile_allocation, tile_legality
from lanewise.pto.geometry import CELL_BITS, M_LAYOUTS, Layout
from lanewise.pto.profile import PtoProfile
from lanewise.pto.registers import GPR_COUNT, TileName, whole_number
from lanewise.pto.state import PE_COUNT, Effects, ProcessingElement
from lanewise.pto.words import LARGEST_SIZE_CODE

#: Rows of a plane by layout: the bits of a mask GPR that rows own.
PLANE_ROWS = MappingProxyType({Layout.CUBE_M32: 32, Layout.CUBE_M16: 16})


def planes_per_cell(layout: Layout, dtype: DataType) -> int:
    """Planes (logical columns) of one cell."""
    return CELL_BITS // (PLANE_ROWS[layout] * dtype.width)


@dataclass(frozen=True, slots=True)
class ProposalOperation:
    """An operation of the proposal. ``pe_mask`` is written PE0 first, ``1000`` is PE0 alone."""

    name: ClassVar[str] = ""

    #: How operands are read: names are accepted for types, layouts, tiles, hands and pads.
    _readers: ClassVar[Mapping[str, Callable[[Any], object]]] = MappingProxyType({})

    pe_mask: str = field(default="1000", kw_only=True)

    def __post_init__(self) -> None:
        for name, read in self._readers.items():
            object.__setattr__(self, name, read(getattr(self, name)))
        if len(self.pe_mask) != PE_COUNT or set(self.pe_mask) - {"0", "1"}:
            raise UsageError(f"a PE mask is {PE_COUNT} digits 0 or 1, not {self.pe_mask!r}")

    @property
    def pes(self) -> tuple[int, ...]:
        """The participating PEs."""
        return tuple(pe for pe, digit in enumerate(self.pe_mask) if digit == "1")

    def to_bytes(self) -> bytes:
        """Nothing: the proposal has no encoding."""
        return b""

    def decide(self, profile: PtoProfile) -> None:
        """Make the checks that need no state."""

    def prepare(self, pe: ProcessingElement) -> Any:
        """The operands on a PE; raises PtoFault when they are not legal there."""
        raise NotImplementedError

    def allocate(self, operands: Any, pe: ProcessingElement) -> None:
        """Raise PtoFault when there is no room for the result."""

    def execute(self, operands: Any, profile: PtoProfile, kernels: ModuleType) -> Effects:
        """What it does; ``kernels`` do the loops."""
        raise NotImplementedError


def register_list(registers: Iterable[int]) -> tuple[int, ...]:
    """Register indices as a tuple; whether they exist is the operation's check."""
    return tuple(whole_number(index, "a register's index") for index in registers)


def check_registers(registers: tuple[int, ...], what: str) -> None:
    """Refuse indices that no register has."""
    for index in registers:
        if not 0 <= index < GPR_COUNT:
            tile_legality("schema.registers", f"{what} {index} is no GPR; they are 0..23")


def check_type(dtype: DataType, layout: Layout, name: str) -> None:
    """Refuse what no M tile of this machine can be operated on as."""
    if layout not in M_LAYOUTS or dtype not in CUBE_TYPES:
        tile_legality("type.cube", f"{name} does not operate on {layout} {dtype.name}")


def check_layout(found: Layout, layout: Layout, name: TileName) -> None:
    """Refuse a source of another layout than the operation's."""
    if found is not layout:
        tile_legality("source.layout", f"{name} is {found}, the operation {layout}")


def check_planes(given: tuple[int, ...], columns: int, what: str) -> None:
    """Refuse a list of GPRs that is not one for each plane."""
    if len(given) != columns:
        tile_legality(
            "carrier.planes", f"the tile has {columns} planes, {len(given)} {what} are given"
        )


def capacity_of(size_code: int) -> int:
    """The capacity of a SizeCode; TileAllocation for one that is none."""
    if not 1 <= size_code <= LARGEST_SIZE_CODE:
        tile_allocation("destination.size", f"SizeCode {size_code} is none of 1..10")
    return 64 << size_code
