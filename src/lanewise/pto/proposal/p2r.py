"""P2R of the proposal: turn eight 32-bit GPRs into one byte of every lane of a new tile.

Bit b of the byte at (r, byte_offset) is bit r of plane b. The other three bytes of each lane are
undefined, and the descriptor says so: one valid column, starting at the offset. No flags, no
merging with an older tile. Source: PTO proposal revision.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType, ModuleType
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lanewise.pto.datatypes import DataType
from lanewise.pto.descriptor import Descriptor
from lanewise.pto.faults import tile_legality
from lanewise.pto.geometry import Layout
from lanewise.pto.profile import PtoProfile
from lanewise.pto.proposal._operation import (
    ProposalOperation,
    capacity_of,
    check_registers,
    register_list,
)
from lanewise.pto.registers import Hand
from lanewise.pto.state import Effects, ProcessingElement
from lanewise.pto.tile import padded_tile

PLANES = 8
ROWS = 32
LANE_BYTES = 4


@dataclass(frozen=True, slots=True)
class P2r(ProposalOperation):
    """Planes ``sources`` into byte ``byte_offset`` of a new CUBE_M32 U8 tile of ``dst``."""

    name: ClassVar[str] = "P2R"
    _readers = MappingProxyType(
        {
            "sources": register_list,
            "dst": Hand.named,
            "dtype": DataType.named,
            "layout": Layout.named,
        }
    )

    sources: tuple[int, ...]
    dst: Hand
    byte_offset: int = 0
    size_code: int = 1
    dtype: DataType = DataType.U8
    layout: Layout = Layout.CUBE_M32

    def decide(self, profile: PtoProfile) -> None:
        if self.dtype is not DataType.U8 or self.layout is not Layout.CUBE_M32:
            tile_legality(
                "type.operation", f"P2R makes CUBE_M32 U8, not {self.layout} {self.dtype.name}"
            )
        if len(self.sources) != PLANES:
            tile_legality(
                "carrier.planes", f"P2R takes {PLANES} planes, {len(self.sources)} are given"
            )
        check_registers(self.sources, "source")
        if not 0 <= self.byte_offset < LANE_BYTES:
            tile_legality("schema.offset", f"byte offset {self.byte_offset} is none of 0..3")

    def prepare(self, pe: ProcessingElement) -> NDArray[np.uint32]:
        return np.array([pe.gpr(index) for index in self.sources], np.uint32)

    def allocate(self, operands: NDArray[np.uint32], pe: ProcessingElement) -> None:
        pe.check_allocation(self.dst, capacity_of(self.size_code))

    def execute(
        self, operands: NDArray[np.uint32], profile: PtoProfile, kernels: ModuleType
    ) -> Effects:
        descriptor = Descriptor(
            DataType.U8,
            Layout.CUBE_M32,
            ROWS,
            LANE_BYTES,
            ROWS,
            1,
            capacity=capacity_of(self.size_code),
            first_col=self.byte_offset,
        )
        lanes = kernels.transpose_planes(operands, ROWS)
        return Effects(tile=(self.dst, padded_tile(lanes, descriptor, None)))
