"""Predicate carriers: how the results of a compare travel to a select.

There are three, one to an operation, and the bundle's shape says which: a packed row-major tile,
a PredicateCell (a CUBE tile of bytes), or a GPR. Source: PTO predicate carriers.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from lanewise.pto.datatypes import DataType
from lanewise.pto.descriptor import Descriptor, Kind
from lanewise.pto.faults import tile_legality
from lanewise.pto.geometry import Layout, cell_shape, round_up
from lanewise.pto.tile import Tile

Mask = NDArray[np.bool_]


class Carrier(enum.StrEnum):
    """Where predicates live: in a tile (packed or PredicateCell, as the data's layout has it)
    or in a GPR."""

    TILE = "tile"
    GPR = "gpr"


@dataclass(frozen=True, slots=True)
class GprFields:
    """How a GPR holds a mask: bit = row + field * ``rows``.

    ``columns`` columns go into one word, a tile of at most ``widest`` columns into all of them.
    """

    rows: int
    columns: int
    widest: int

    @property
    def words(self) -> int:
        """Words of a full mask."""
        return self.widest // self.columns

    def valid_bits(self, valid_rows: int, columns: int) -> int:
        """The bits of a word that valid rows of its first ``columns`` columns own."""
        field = (1 << valid_rows) - 1
        return sum(field << (self.rows * column) for column in range(columns))


#: Fields of a mask word by layout and element width. Source: PTO predicate carriers (GPR).
GPR_FIELDS = MappingProxyType(
    {
        (Layout.CUBE_M32, 32): GprFields(rows=32, columns=2, widest=2),
        (Layout.CUBE_M32, 16): GprFields(rows=32, columns=2, widest=2),
        (Layout.CUBE_M32, 8): GprFields(rows=32, columns=2, widest=4),
        (Layout.CUBE_M16, 32): GprFields(rows=16, columns=2, widest=2),
        (Layout.CUBE_M16, 16): GprFields(rows=16, columns=4, widest=4),
        (Layout.CUBE_M16, 8): GprFields(rows=16, columns=4, widest=8),
    }
)


def gpr_fields(data: Descriptor, dtype: DataType) -> GprFields:
    """The fields for data of this shape; TileLegality when a GPR cannot carry its mask."""
    fields = GPR_FIELDS.get((data.layout, dtype.width))
    if fields is None:
        tile_legality(
            "carrier.layout",
            f"a GPR carries the mask of CUBE_M16 and CUBE_M32 tiles of 8 to 32 bits, "
            f"not of {data.layout} {dtype.name}",
        )
    if data.cols > fields.widest:
        tile_legality(
            "carrier.width",
            f"a GPR carries at most {fields.widest} columns of {data.layout} {dtype.name}, "
            f"the tile has {data.cols}; split it",
        )
    return fields


def gpr_columns(fields: GprFields, high_half: bool, valid_cols: int) -> slice:
    """The valid columns that one result word publishes: its half of an 8-bit tile."""
    first = fields.columns if high_half else 0
    return slice(first, max(first, min(valid_cols, first + fields.columns)))


def predicate_descriptor(data: Descriptor, dtype: DataType, capacity: int) -> Descriptor:
    """The tile that a compare of ``data`` as ``dtype`` produces.

    Packed keeps every shape of the data; a PredicateCell has its own width in cells of bytes.
    """
    if not data.layout.is_cube:
        return replace(
            data,
            dtype=DataType.U8,
            kind=Kind.PACKED_PREDICATE,
            basis=None,
            capacity=capacity,
        )
    columns = cell_shape(data.layout, 8).columns
    return replace(
        data,
        dtype=DataType.U8,
        cols=round_up(data.valid_cols, columns),
        kind=Kind.PREDICATE_CELL,
        basis=dtype,
        capacity=capacity,
    )


def mask_of_tile(mask: Tile, data: Descriptor, dtype: DataType, check_padding: bool) -> Mask:
    """The mask that a predicate tile carries for ``data`` operated on as ``dtype``.

    TileLegality when the tile is not the carrier this data takes, has another shape or basis, or
    has an undefined or non-boolean element in its valid rectangle.
    """
    found = mask.descriptor
    wanted = Kind.PREDICATE_CELL if data.layout.is_cube else Kind.PACKED_PREDICATE
    if found.kind is not wanted:
        tile_legality("mask.kind", f"{data.layout} data take a {wanted} mask, not {found.kind}")
    problem = found.problem()
    if problem is not None:
        tile_legality("mask.descriptor", f"the mask is no legal tile: {problem}")
    ours = predicate_descriptor(data, dtype, found.capacity)
    if found.shape != ours.shape or found.dtype is not DataType.U8:
        tile_legality(
            "mask.shape",
            f"the mask is {found.dtype.name} {_shape_text(found)}, the data need "
            f"U8 {_shape_text(ours)}",
        )
    if found.basis is not ours.basis:
        name = None if found.basis is None else found.basis.name
        tile_legality("mask.basis", f"the mask has basis {name}, the operation is {dtype.name}")
    region = mask.valid_region
    if not mask.valid_defined:
        tile_legality("mask.defined", "a valid element of the mask is undefined")
    codes = mask.codes[region]
    if (codes > 1).any():
        tile_legality("mask.value", "a valid byte of the mask is neither 00 nor 01")
    if check_padding and not (mask.defined.all() and (mask.codes <= 1).all()):
        tile_legality("mask.padding", "a padding byte of the mask is undefined or not 00 or 01")
    return codes.view(np.bool_)


def _shape_text(d: Descriptor) -> str:
    return f"{d.layout} {d.rows}x{d.cols} valid {d.valid_rows}x{d.valid_cols}"
