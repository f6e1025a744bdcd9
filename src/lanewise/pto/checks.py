"""Legality checks on sources that both revisions make. All of them are TileLegality.

Source: PTO bundle schemas and checks; PTO data types (backing).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from lanewise.pto.datatypes import CUBE_TYPES, DataType
from lanewise.pto.faults import tile_legality
from lanewise.pto.geometry import M_LAYOUTS
from lanewise.pto.registers import TileName
from lanewise.pto.state import ProcessingElement
from lanewise.pto.tile import Kind, Tile


def present_tile(pe: ProcessingElement, name: TileName, role: str) -> Tile:
    """The tile of this name; refused when there is none."""
    tile = pe.tile(name)
    if tile is None:
        tile_legality("source.absent", f"{name} ({role}) does not exist")
    return tile


def check_sources(tiles: Sequence[Tile], dtype: DataType, name: str) -> None:
    """Refuse data sources of operation ``name`` that are illegal alone or do not go together."""
    for tile in tiles:
        _check_source(tile, dtype, name)
    if any(tile.descriptor.shape != tiles[0].descriptor.shape for tile in tiles[1:]):
        tile_legality("source.shape", f"the sources of {name} differ in layout or shape")


def _check_source(tile: Tile, dtype: DataType, name: str) -> None:
    """Kind, descriptor, type, backing and definedness of one data source."""
    found = tile.descriptor
    if found.kind is not Kind.NUMERIC:
        tile_legality("source.kind", f"{name} takes numeric data, not {found.kind}")
    problem = found.problem()
    if problem is not None:
        tile_legality("source.descriptor", f"a source is no legal tile: {problem}")
    if found.layout.is_cube:
        if found.layout not in M_LAYOUTS:
            tile_legality("source.layout", f"{name} takes no {found.layout} tile")
        for role, kind in (("operation type", dtype), ("backing type", found.dtype)):
            if kind not in CUBE_TYPES:
                tile_legality("type.cube", f"{kind.name} is no {role} for a CUBE tile")
    if found.dtype.width != dtype.width:
        tile_legality(
            "type.backing",
            f"a {found.dtype.name} tile cannot back {dtype.name}: {found.dtype.width} bits "
            f"against {dtype.width}",
        )
    if not tile.valid_defined:
        tile_legality("source.defined", "a valid element of a source is undefined")


def check_encoding(codes: NDArray[Any], dtype: DataType, what: str) -> None:
    """Refuse TF32 and HF32 codes with low bits set."""
    forbidden = dtype.order.must_be_zero
    if forbidden and (codes & codes.dtype.type(forbidden)).any():
        tile_legality(
            "source.encoding",
            f"an element of {what} is no {dtype.name} code: its low "
            f"{forbidden.bit_length()} bits must be zero",
        )
