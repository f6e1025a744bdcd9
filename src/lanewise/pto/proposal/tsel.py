"""TSEL of the proposal: take elements from one of two CUBE tiles, one mask GPR a plane.

Masks come in the order that the proposal's TCMP writes; they may repeat, and GPR 0 supplies
zeros. Only bits of valid elements are read. Source: PTO proposal revision.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType, ModuleType
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lanewise.kernels.tiles_reference import unpack_planes
from lanewise.pto.checks import check_sources, present_tile
from lanewise.pto.datatypes import DataType
from lanewise.pto.descriptor import Descriptor
from lanewise.pto.faults import tile_allocation
from lanewise.pto.geometry import Layout
from lanewise.pto.padding import PadValue, element_pad
from lanewise.pto.profile import PtoProfile
from lanewise.pto.proposal._operation import (
    ProposalOperation,
    capacity_of,
    check_layout,
    check_planes,
    check_registers,
    check_type,
    register_list,
)
from lanewise.pto.registers import Hand, TileName
from lanewise.pto.state import Effects, ProcessingElement
from lanewise.pto.tile import padded_tile


class SelectOperands(NamedTuple):
    """Mask and codes over the valid rectangle, and what the result looks like."""

    mask: NDArray[np.bool_]
    true: NDArray[Any]
    false: NDArray[Any]
    data: Descriptor


@dataclass(frozen=True, slots=True)
class Tsel(ProposalOperation):
    """``true`` where the masks are 1 and ``false`` where they are 0, to a new tile of ``dst``."""

    name: ClassVar[str] = "TSEL"
    _readers = MappingProxyType(
        {
            "dtype": DataType.named,
            "layout": Layout.named,
            "true": TileName.parse,
            "false": TileName.parse,
            "masks": register_list,
            "dst": Hand.named,
            "pad": PadValue.named,
        }
    )

    dtype: DataType
    layout: Layout
    true: TileName
    false: TileName
    masks: tuple[int, ...]
    dst: Hand
    size_code: int = 1
    pad: PadValue = PadValue.Null

    def decide(self, profile: PtoProfile) -> None:
        check_type(self.dtype, self.layout, self.name)
        check_registers(self.masks, "mask")

    def prepare(self, pe: ProcessingElement) -> SelectOperands:
        names = {"true": self.true, "false": self.false}
        tiles = [present_tile(pe, name, role) for role, name in names.items()]
        check_sources(tiles, self.dtype, self.name)
        data = tiles[0].descriptor
        check_layout(data.layout, self.layout, self.true)
        check_planes(self.masks, data.cols, "masks")
        words = np.array([pe.gpr(index) for index in self.masks], np.uint32)
        planes = unpack_planes(words, 32)
        mask = planes[tiles[0].valid_region]
        true, false = (tile.codes[tile.valid_region] for tile in tiles)
        return SelectOperands(mask, true, false, data)

    def allocate(self, operands: SelectOperands, pe: ProcessingElement) -> None:
        capacity = capacity_of(self.size_code)
        if operands.data.payload_bytes > capacity:
            tile_allocation(
                "destination.select",
                f"a result of {operands.data.payload_bytes} bytes does not fit {capacity}",
            )
        pe.check_allocation(self.dst, capacity)

    def execute(
        self, operands: SelectOperands, profile: PtoProfile, kernels: ModuleType
    ) -> Effects:
        chosen = kernels.choose(operands.mask, operands.true, operands.false)
        capacity = capacity_of(self.size_code)
        result = replace(operands.data, dtype=self.dtype, capacity=capacity)
        tile = padded_tile(chosen, result, element_pad(self.dtype, self.pad))
        return Effects(tile=(self.dst, tile))
