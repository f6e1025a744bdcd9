"""TGPR2T: turn four GPRs of predicate planes into bytes of a new tile.

The planes are transposed: bit b of a row's byte is that row's bit in plane b. With CUBE_M32 eight
planes of 32 rows give one byte a row, at byte ``off``; with CUBE_M16 sixteen planes of 16 rows
give two, at bytes ``2 * off`` and ``2 * off + 1``. The other bytes are padded, so everything is
defined. No flags, no GPR change.

Word: BSTART mode 3, function 30; B.DATR's RMode gives ``off``, its pad Zero or Max.

Open points: ``tgpr2t_min``, ``tgpr2t_capacity``.
Source: PTO TGPR2T.
"""

from __future__ import annotations

from types import MappingProxyType, ModuleType

import numpy as np

from lanewise.pto.bundle import Bundle, RegisterRecords
from lanewise.pto.carriers import Carrier
from lanewise.pto.datatypes import DataType
from lanewise.pto.descriptor import Descriptor
from lanewise.pto.faults import bundle_control, tile_legality
from lanewise.pto.geometry import CELL_BYTES, Layout
from lanewise.pto.instructions._operation import (
    Operands,
    Operation,
    Request,
    check_attributes,
    check_shared,
    operation_type,
)
from lanewise.pto.instructions._schema import Bound, Form, TileRecord
from lanewise.pto.padding import PadValue
from lanewise.pto.profile import PtoProfile
from lanewise.pto.state import Effects, ProcessingElement
from lanewise.pto.tile import tile_from_matrix

#: The layout that a shape of rows and columns asks for.
LAYOUT_OF_SHAPE = MappingProxyType({(32, 4): Layout.CUBE_M32, (16, 8): Layout.CUBE_M16})

#: The byte around the planes, by pad; the profile decides whether Min is among them.
_PAD_BYTES = {
    "reject": {PadValue.Zero: 0x00, PadValue.Max: 0xFF},
    "zero": {PadValue.Zero: 0x00, PadValue.Max: 0xFF, PadValue.Min: 0x00},
}

#: The largest legal capacity, by profile value.
_LARGEST_CAPACITY = {"at_least_128": 64 * 1024, "exactly_128": CELL_BYTES}

SOURCES = ("g0", "g1", "g2", "g3")
LARGEST_OFFSET = 3


class Tgpr2t(Operation):
    """TGPR2T."""

    name = "TGPR2T"
    unit = "SFU"
    mode, function = 3, 30
    records = RegisterRecords(most=2, placed=True)
    omitted_pad = PadValue.Zero
    has_lb2 = False
    forms = (Form(Carrier.GPR, (TileRecord((), destination=True),)),)
    examples = (
        # Eight planes into byte 3 of 32 rows, ones around them.
        "TGPR2T <Row=32, Col=4, U8, Max, off=3, mask=1000>, a7, a0, a1, a2, ->T<128B>",
        "TGPR2T <Row=16, Col=8, U8>, a0, a0, zero, s1, ->M<256B>",
    )

    def check_complete(self, bundle: Bundle) -> None:
        super().check_complete(bundle)
        if len(bundle.registers) != self.records.most:
            bundle_control(
                "bundle.registers_missing", f"{self.name} takes two B.IOR, four sources in all"
            )

    def request(self, bundle: Bundle, profile: PtoProfile) -> Request:
        check_shared(bundle, self.name)
        form = self.forms[0]
        if not form.matches_tiles(bundle):
            tile_legality("schema.form", f"{self.name} takes ({form}) and no other B.IOT")
        first, second = bundle.registers
        if second.src1 or second.src2:
            tile_legality("schema.sources", "the second B.IOR has one source; the others are zero")
        check_attributes(bundle, self.name, rmode=True)
        dtype = operation_type(bundle, self.name)
        if dtype is not DataType.U8:
            tile_legality("type.operation", f"{self.name} operates on U8, not {dtype.name}")
        if _offset(bundle) > LARGEST_OFFSET:
            tile_legality("datr.offset", f"RMode is {_offset(bundle)}; the byte offset ends at 3")
        pad = bundle.pad(self.omitted_pad)
        if pad not in _PAD_BYTES[profile.tgpr2t_min]:
            tile_legality("datr.pad", f"{self.name} does not pad with {pad.name}")
        destination = bundle.bindings[0].destination
        assert destination is not None
        if destination.capacity > _LARGEST_CAPACITY[profile.tgpr2t_capacity]:
            tile_legality(
                "destination.size", f"the result is one cell; {destination.capacity} is too large"
            )
        registers = dict(zip(SOURCES, (*first.sources, second.src0), strict=True))
        bound = Bound(form, MappingProxyType({}), MappingProxyType(registers), destination, 0)
        return Request(bundle, profile, dtype, pad, bound)

    def prepare(self, request: Request, pe: ProcessingElement) -> Operands:
        lb0, lb1, lb2 = (None if d is None else d.value(pe) for d in request.bundle.dimensions)
        layout = LAYOUT_OF_SHAPE.get((lb1 or 0, lb0 or 0))
        if layout is None:
            tile_legality(
                "dimension.valid", f"LB1 x LB0 must be 32x4 or 16x8, not {lb1 or 1}x{lb0 or 0}"
            )
        if lb2 not in (None, 1):
            tile_legality("dimension.cols", f"LB2 is {lb2}; it must be 1 or left out")
        destination = request.bound.destination
        assert destination is not None
        registers = {role: pe.gpr(index) for role, index in request.bound.registers.items()}
        return Operands({}, registers, result_descriptor(layout, destination.capacity))

    def execute(self, request: Request, operands: Operands, kernels: ModuleType) -> Effects:
        result, destination = operands.result, request.bound.destination
        assert result is not None
        assert destination is not None
        words = np.array([operands.registers[role] for role in SOURCES], np.uint64)
        placed = kernels.transpose_planes(words, result.rows)
        padding = _PAD_BYTES[request.profile.tgpr2t_min][request.pad]
        codes = np.full((result.rows, result.cols), padding, np.uint8)
        first = placed.shape[1] * _offset(request.bundle)
        codes[:, first : first + placed.shape[1]] = placed
        return Effects(tile=(destination.hand, tile_from_matrix(result, codes)))


def result_descriptor(layout: Layout, capacity: int) -> Descriptor:
    """One cell of U8, all of it valid."""
    columns = CELL_BYTES // layout.rows
    return Descriptor(
        DataType.U8, layout, layout.rows, columns, layout.rows, columns, capacity=capacity
    )


def _offset(bundle: Bundle) -> int:
    return 0 if bundle.datr is None else bundle.datr.rmode
