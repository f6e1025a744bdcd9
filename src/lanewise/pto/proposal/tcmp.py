"""TCMP of the proposal: compare two CUBE tiles into one 32-bit GPR a plane.

A plane is one logical column; the list of destinations runs over the cells and, within a cell,
over its slots in rising column order. Bit r of a plane is the relation at row r. All results and
NV appear together, or none does. Source: PTO proposal revision.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType, ModuleType
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lanewise.pto.checks import check_encoding, check_sources, present_tile
from lanewise.pto.datatypes import DataType
from lanewise.pto.elements import relation_named
from lanewise.pto.faults import tile_legality
from lanewise.pto.geometry import Layout
from lanewise.pto.padding import PREDICATE_PADS, PadValue
from lanewise.pto.profile import PtoProfile
from lanewise.pto.proposal._operation import (
    ProposalOperation,
    check_layout,
    check_planes,
    check_registers,
    check_type,
    register_list,
)
from lanewise.pto.registers import TileName
from lanewise.pto.state import Effects, Flag, ProcessingElement

PLANE_MASK = 0xFFFF_FFFF


class CompareOperands(NamedTuple):
    """Codes of both sides over the valid rectangle, the tile's columns and the first valid one."""

    left: NDArray[Any]
    right: NDArray[Any]
    columns: int
    first: int


@dataclass(frozen=True, slots=True)
class Tcmp(ProposalOperation):
    """``left relation right`` into ``dst``, one GPR for each column of the tile."""

    name: ClassVar[str] = "TCMP"
    _readers = MappingProxyType(
        {
            "relation": relation_named,
            "dtype": DataType.named,
            "layout": Layout.named,
            "left": TileName.parse,
            "right": TileName.parse,
            "dst": register_list,
            "pad": PadValue.named,
        }
    )

    relation: str
    dtype: DataType
    layout: Layout
    left: TileName
    right: TileName
    dst: tuple[int, ...]
    pad: PadValue = PadValue.Null

    def decide(self, profile: PtoProfile) -> None:
        check_type(self.dtype, self.layout, self.name)
        check_registers(self.dst, "destination")
        if 0 in self.dst:
            tile_legality("schema.regdst", "GPR 0 is not writable")
        if len(set(self.dst)) != len(self.dst):
            tile_legality("schema.regdst", "the destinations must be distinct")

    def prepare(self, pe: ProcessingElement) -> CompareOperands:
        names = {"left": self.left, "right": self.right}
        tiles = [present_tile(pe, name, role) for role, name in names.items()]
        check_sources(tiles, self.dtype, self.name)
        for tile, name in zip(tiles, names.values(), strict=True):
            check_layout(tile.descriptor.layout, self.layout, name)
            check_encoding(tile.codes[tile.valid_region], self.dtype, str(name))
        columns = tiles[0].descriptor.cols
        check_planes(self.dst, columns, "destinations")
        left, right = (tile.codes[tile.valid_region] for tile in tiles)
        return CompareOperands(left, right, columns, tiles[0].descriptor.first_col)

    def execute(
        self, operands: CompareOperands, profile: PtoProfile, kernels: ModuleType
    ) -> Effects:
        rows, columns = operands.left.shape
        # Every column is a plane in a word of its own.
        sides = (side.T[..., np.newaxis] for side in (operands.left, operands.right))
        words, raised = kernels.compare_planes(
            *sides, self.dtype.order.ordering, self.relation, 32, word_bytes=4
        )
        bit = PREDICATE_PADS[self.pad]
        padding = PLANE_MASK * (profile.null_gpr_padding if bit is None else bit)
        published = [padding] * operands.columns
        around = padding & ~((1 << rows) - 1)
        published[operands.first : operands.first + columns] = [around | int(w) for w in words]
        gprs = tuple(zip(self.dst, published, strict=True))
        return Effects(gprs=gprs, flags=Flag.NV if raised.any() else 0)
