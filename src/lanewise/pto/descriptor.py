"""What a tile is apart from its payload: its descriptor.

Source: PTO state; PTO geometry; PTO predicate carriers.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass

from lanewise.errors import unknown_name
from lanewise.pto.datatypes import DataType
from lanewise.pto.geometry import M_LAYOUTS, Layout, payload_bits, storage, supports

SMALLEST_CAPACITY = 128
LARGEST_CAPACITY = 64 * 1024


class Kind(enum.StrEnum):
    """What a tile's elements are."""

    NUMERIC = "numeric"
    PACKED_PREDICATE = "packed_predicate"
    PREDICATE_CELL = "predicate_cell"

    @classmethod
    def named(cls, name: str | Kind) -> Kind:
        """The kind of this name; UsageError with near misses otherwise."""
        if name not in set(cls):
            raise unknown_name("kind of tile", name, [str(member) for member in cls])
        return cls(name)


def smallest_capacity(size: int) -> int:
    """The least allocation (128 bytes times a power of two) that holds ``size`` bytes."""
    capacity = SMALLEST_CAPACITY
    while capacity < size:
        capacity *= 2
    return capacity


@dataclass(frozen=True, slots=True)
class Descriptor:
    """What a tile is, apart from its payload.

    ``rows`` and ``cols`` are physical, in elements; the valid rectangle is their top left corner,
    or starts at ``first_col`` in a tile of the proposal's P2R. ``capacity`` is in bytes.
    ``basis`` is the compared type of a PredicateCell. A descriptor may be illegal: the
    instructions that read it say so.
    """

    dtype: DataType
    layout: Layout
    rows: int
    cols: int
    valid_rows: int
    valid_cols: int
    kind: Kind = Kind.NUMERIC
    basis: DataType | None = None
    capacity: int = SMALLEST_CAPACITY
    first_col: int = 0

    @property
    def element_bits(self) -> int:
        """Bits of one element; a packed predicate has one."""
        return 1 if self.kind is Kind.PACKED_PREDICATE else self.dtype.width

    @property
    def payload_bytes(self) -> int:
        """Bytes of the payload: every physical element, the last byte filled up."""
        return -(-payload_bits(self.layout, self.element_bits, self.rows, self.cols) // 8)

    @property
    def shape(self) -> tuple[Layout, int, int, int, int, int]:
        """Layout, physical and valid shape: what sources of one operation have in common."""
        valid = self.valid_rows, self.valid_cols, self.first_col
        return self.layout, self.rows, self.cols, *valid

    def problem(self) -> str | None:
        """Why this is no legal descriptor; None when it is. Source: PTO geometry."""
        if not (1 <= self.valid_rows <= self.rows and 1 <= self.valid_cols <= self.cols):
            return (
                f"valid shape {self.valid_rows}x{self.valid_cols} does not lie in "
                f"{self.rows}x{self.cols}"
            )
        if self.first_col < 0 or self.first_col + self.valid_cols > self.cols:
            return f"valid columns from {self.first_col} on do not lie in {self.cols} columns"
        if not SMALLEST_CAPACITY <= self.capacity <= LARGEST_CAPACITY:
            return f"capacity {self.capacity} is outside {SMALLEST_CAPACITY}..{LARGEST_CAPACITY}"
        if self.payload_bytes > self.capacity:
            return f"payload of {self.payload_bytes} bytes exceeds capacity {self.capacity}"
        if not _KIND_TAKES[self.kind](self):
            basis = None if self.basis is None else self.basis.name
            return f"{self.dtype.name} in {self.layout} with basis {basis} is no {self.kind}"
        if not supports(self.layout, self.dtype):
            return f"{self.dtype.name} is not legal in a {self.layout} tile"
        if self.layout.is_cube:
            needed = storage(self.layout, self.dtype, self.valid_rows, self.valid_cols)
            if needed is None or (needed.rows, needed.columns) != (self.rows, self.cols):
                return (
                    f"{self.layout} {self.dtype.name} with valid shape "
                    f"{self.valid_rows}x{self.valid_cols} cannot be {self.rows}x{self.cols}"
                )
        return None


#: What a descriptor of each kind must be. Source: PTO state; PTO predicate carriers.
_KIND_TAKES: dict[Kind, Callable[[Descriptor], bool]] = {
    Kind.NUMERIC: lambda d: d.basis is None,
    Kind.PACKED_PREDICATE: lambda d: (
        d.layout is Layout.NORM and d.dtype is DataType.U8 and d.basis is None
    ),
    Kind.PREDICATE_CELL: lambda d: (
        d.layout in M_LAYOUTS and d.dtype is DataType.U8 and d.basis is not None
    ),
}
