"""Where the elements of a tile lie in its payload.

CUBE tiles are runs of 128-byte cells. An M cell holds 16 or 32 rows whole: each row owns 8 or 4
bytes of every cell, and cells follow each other along the columns. N8 cells hold 8 columns; it is
described here and used by no instruction of this machine. Row-major tiles (layout NORM) have no
cells.

Source: PTO geometry; PTO padding (valid rectangle).
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from lanewise.errors import UsageError, unknown_name
from lanewise.pto.datatypes import DataType

CELL_BYTES = 128
CELL_BITS = 8 * CELL_BYTES

#: The nibble that column k of a 4-bit M16 row lies in: the middle groups of four change places.
M16_NIBBLES = (0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15)


class Layout(enum.StrEnum):
    """How a tile orders its elements."""

    NORM = "NORM"
    CUBE_M16 = "CUBE_M16"
    CUBE_M32 = "CUBE_M32"
    CUBE_N8 = "CUBE_N8"

    @property
    def is_cube(self) -> bool:
        """Whether the tile is made of cells."""
        return self is not Layout.NORM

    @property
    def rows(self) -> int:
        """Rows of an M cell, which are also the rows of the tile."""
        return _M_ROWS[self]

    @classmethod
    def named(cls, name: str | Layout) -> Layout:
        """The layout of this name, in any case; UsageError with near misses otherwise."""
        if isinstance(name, Layout):
            return name
        folded = name.upper()
        if folded in cls.__members__:
            return cls[folded]
        raise unknown_name("PTO layout", name, cls.__members__)


_M_ROWS = {Layout.CUBE_M16: 16, Layout.CUBE_M32: 32}

#: The layouts that instructions of this machine accept a CUBE tile in.
M_LAYOUTS = frozenset(_M_ROWS)

_N8_COLUMNS = 8


@dataclass(frozen=True, slots=True)
class CellShape:
    """Rows and columns of elements in one cell."""

    rows: int
    columns: int


@dataclass(frozen=True, slots=True)
class Address:
    """An element's place: ``bit`` counts from the start of its ``cell``, ``width`` is in bits.

    Row-major payloads count as one long cell 0.
    """

    cell: int
    bit: int
    width: int


@dataclass(frozen=True, slots=True)
class Storage:
    """What a valid rectangle needs: physical rows and columns, cells and payload bytes."""

    rows: int
    columns: int
    cells: int
    bytes: int


def supports(layout: Layout, dtype: DataType) -> bool:
    """Whether ``layout`` can hold ``dtype``: cells take no 64-bit type and no HiF4X2."""
    return not layout.is_cube or (dtype.width < 64 and dtype is not DataType.HiF4X2)


def cell_shape(layout: Layout, width: int) -> CellShape:
    """The cell of a CUBE layout for elements of ``width`` bits."""
    if not layout.is_cube:
        raise UsageError("a NORM tile has no cells; CUBE_M16, CUBE_M32 and CUBE_N8 have")
    elements = CELL_BITS // width
    if layout is Layout.CUBE_N8:
        # Four-bit elements keep 8 columns and grow in rows like every other width.
        return CellShape(elements // _N8_COLUMNS, _N8_COLUMNS)
    return CellShape(layout.rows, elements // layout.rows)


def round_up(value: int, step: int) -> int:
    """The least multiple of ``step`` that is not below ``value``."""
    return -(-value // step) * step


def storage(layout: Layout, dtype: DataType, valid_rows: int, valid_columns: int) -> Storage | None:
    """What a CUBE tile with this valid rectangle needs; None when no tile has it.

    M tiles never stack rows, so more valid rows than the cell has are impossible.
    """
    cell = cell_shape(layout, dtype.width)
    if valid_rows < 1 or valid_columns < 1:
        return None
    if layout in M_LAYOUTS and valid_rows > cell.rows:
        return None
    rows = round_up(valid_rows, cell.rows)
    columns = round_up(valid_columns, cell.columns)
    cells = (rows // cell.rows) * (columns // cell.columns)
    return Storage(rows, columns, cells, cells * CELL_BYTES)


def payload_bits(layout: Layout, width: int, rows: int, columns: int) -> int:
    """Bits of a payload of ``rows`` by ``columns`` elements."""
    return rows * columns * width


def element_address(
    layout: Layout, width: int, shape: tuple[int, int], position: tuple[int, int]
) -> Address:
    """Where the element at ``position`` (row, column) of a tile of this physical shape lies.

    This is the definition; the array twins in :mod:`lanewise.pto.tile` are held equal to it.
    """
    (rows, columns), (row, column) = shape, position
    if not (0 <= row < rows and 0 <= column < columns):
        raise UsageError(f"element ({row}, {column}) is outside the {rows}x{columns} tile")
    if layout is Layout.NORM:
        return Address(0, (row * columns + column) * width, width)
    cell = cell_shape(layout, width)
    inner_column, inner_row = column % cell.columns, row % cell.rows
    if layout is Layout.CUBE_N8:
        # Cells and the elements inside them run down the rows first.
        index = (column // cell.columns) * (rows // cell.rows) + row // cell.rows
        return Address(index, (inner_column * cell.rows + inner_row) * width, width)
    slot = M16_NIBBLES[inner_column] if _swaps_nibbles(layout, width) else inner_column
    return Address(column // cell.columns, (inner_row * cell.columns + slot) * width, width)


def _swaps_nibbles(layout: Layout, width: int) -> bool:
    return layout is Layout.CUBE_M16 and width == 4
