"""What the operations have in common: the order of their checks, and the checks they share.

An operation answers three questions about a bundle, in this order and for every participating PE
before the next: is it legal there (``prepare``), is there room for its result (``allocate``),
and what does it do (``execute``). Source: PTO bundle schemas and checks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import ClassVar

from lanewise.pto.bundle import ORDINARY_RECORDS, Bundle, RegisterRecords
from lanewise.pto.carriers import Carrier
from lanewise.pto.checks import check_sources, present_tile
from lanewise.pto.datatypes import ROW_MAJOR_TYPES, DataType
from lanewise.pto.descriptor import Descriptor
from lanewise.pto.faults import bundle_control, tile_legality
from lanewise.pto.geometry import cell_shape, round_up
from lanewise.pto.instructions._schema import Bound, Form, bind
from lanewise.pto.padding import PadValue
from lanewise.pto.profile import PtoProfile
from lanewise.pto.state import Effects, ProcessingElement
from lanewise.pto.tile import Tile

#: What an omitted LB2 means, by profile value, given ValidCol. Source: PTO open points.
_OMITTED_LB2: Mapping[str, Callable[[int], int]] = {
    "valid_col": lambda valid_col: valid_col,
    "one": lambda valid_col: 1,
}


@dataclass(frozen=True, slots=True)
class Request:
    """A bundle as an operation understands it, before any PE is looked at."""

    bundle: Bundle
    profile: PtoProfile
    dtype: DataType
    pad: PadValue
    bound: Bound


@dataclass(frozen=True, slots=True)
class Operands:
    """What a legal request reads on one PE: tiles and register values by role.

    ``result`` is the descriptor of the new tile, None when the result is a register.
    """

    tiles: Mapping[str, Tile]
    registers: Mapping[str, int]
    result: Descriptor | None


class Operation:
    """An operation of the machine. Subclasses are the instructions, one file each."""

    #: The mnemonic, the BSTART spelling it is usually written with, and its selector's parts.
    name: ClassVar[str]
    unit: ClassVar[str] = "VEC"
    mode: ClassVar[int]
    function: ClassVar[int]
    forms: ClassVar[tuple[Form, ...]] = ()
    records: ClassVar[RegisterRecords] = ORDINARY_RECORDS
    #: What a bundle without B.DATR pads with, and whether LB2 means anything.
    omitted_pad: ClassVar[PadValue] = PadValue.Null
    has_lb2: ClassVar[bool] = True
    #: Lines of assembly text for documentation and tests.
    examples: ClassVar[tuple[str, ...]] = ()

    @property
    def selector(self) -> int:
        """Mode and function as one number."""
        return self.mode << 5 | self.function

    def check_complete(self, bundle: Bundle) -> None:
        """Refuse a bundle that lacks its bindings (BundleControl)."""
        if not bundle.bindings:
            bundle_control("bundle.no_binding", f"{self.name} without a B.IOT")
        if not bundle.is_complete:
            bundle_control("bundle.no_last", "the last B.IOT of a bundle must be marked last")

    def request(self, bundle: Bundle, profile: PtoProfile) -> Request:
        """The bundle's meaning; TileLegality for what no state could make legal."""
        raise NotImplementedError

    def prepare(self, request: Request, pe: ProcessingElement) -> Operands:
        """The operands on this PE; TileLegality when they are not legal."""
        raise NotImplementedError

    def allocate(self, request: Request, operands: Operands, pe: ProcessingElement) -> None:
        """Refuse a result that has no room (TileAllocation)."""
        destination = request.bound.destination
        if destination is not None:
            pe.check_allocation(destination.hand, destination.capacity)

    def execute(self, request: Request, operands: Operands, kernels: ModuleType) -> Effects:
        """What the operation does, read from its operands alone; ``kernels`` do the loops."""
        raise NotImplementedError


def check_shared(bundle: Bundle, name: str) -> None:
    """Refuse any B.IOS: no operation here takes a Shared tile."""
    if bundle.shared:
        tile_legality("schema.shared", f"{name} takes no Shared tile (B.IOS)")


def check_attributes(bundle: Bundle, name: str, **allowed: bool) -> None:
    """Refuse B.DATR fields that must be zero; ``allowed`` names those that may be set."""
    if bundle.datr is None:
        return
    for field in ("layout", "rmode", "canonicalize", "cmode", "sat"):
        value = getattr(bundle.datr, field)
        if value and not allowed.get(field, False):
            tile_legality(
                f"datr.{field}", f"B.DATR {field} is {value}; for this {name} it must be 0"
            )


def operation_type(bundle: Bundle, name: str) -> DataType:
    """The operation type; TileLegality when neither word of the bundle names one."""
    dtype = bundle.dtype
    if dtype is None:
        tile_legality(
            "type.none", f"neither BSTART nor B.DATR gives {name} a data type (both are 31)"
        )
    return dtype


class ElementOperation(Operation):
    """Compare and select: element-wise over a data tile, with a predicate carrier."""

    #: Roles of the data sources, and the fields of B.DATR that the operation looks at.
    data_roles: ClassVar[tuple[str, ...]]
    compares: ClassVar[bool]

    def request(self, bundle: Bundle, profile: PtoProfile) -> Request:
        check_shared(bundle, self.name)
        dtype = operation_type(bundle, self.name)
        bound = bind(self.forms, self.name, bundle, dtype.width)
        halves = self.compares and bound.carrier is Carrier.GPR and dtype.width == 8
        check_attributes(bundle, self.name, cmode=self.compares, sat=halves)
        if dtype not in ROW_MAJOR_TYPES:
            tile_legality("type.operation", f"{self.name} does not operate on {dtype.name}")
        if bound.carrier is Carrier.GPR and dtype.width == 8 and dtype not in profile.gpr_types:
            tile_legality("type.gpr", f"a GPR carries no mask of {dtype.name} in this profile")
        return Request(bundle, profile, dtype, bundle.pad(self.omitted_pad), bound)

    def prepare(self, request: Request, pe: ProcessingElement) -> Operands:
        tiles = {role: present_tile(pe, name, role) for role, name in request.bound.tiles.items()}
        check_sources([tiles[role] for role in self.data_roles], request.dtype, self.name)
        first = tiles[self.data_roles[0]].descriptor
        check_dimensions(request, first, pe)
        registers = {role: pe.gpr(index) for role, index in request.bound.registers.items()}
        operands = Operands(tiles, registers, self.result(request, first))
        self.check_operands(request, operands)
        return operands

    def result(self, request: Request, data: Descriptor) -> Descriptor | None:
        """The descriptor of the new tile, None for a register result."""
        raise NotImplementedError

    def check_operands(self, request: Request, operands: Operands) -> None:
        """The checks of the single operation: encodings, masks, carrier limits."""


def check_dimensions(request: Request, data: Descriptor, pe: ProcessingElement) -> None:
    """Refuse dimensions that are zero or not those of the data (TileLegality)."""
    lb0, lb1, lb2 = (None if d is None else d.value(pe) for d in request.bundle.dimensions)
    if lb0 is None:
        tile_legality("dimension.lb0", "LB0 (ValidCol) is required")
    for name, value in (("LB0", lb0), ("LB1", lb1), ("LB2", lb2)):
        if value == 0:
            tile_legality("dimension.zero", f"{name} is zero")
    rows = 1 if lb1 is None else lb1
    if (rows, lb0) != (data.valid_rows, data.valid_cols):
        tile_legality(
            "dimension.valid",
            f"LB1 x LB0 is {rows}x{lb0}, the data's valid shape "
            f"{data.valid_rows}x{data.valid_cols}",
        )
    columns = _OMITTED_LB2[request.profile.omitted_lb2](lb0) if lb2 is None else lb2
    if data.layout.is_cube:
        columns = round_up(columns, cell_shape(data.layout, data.dtype.width).columns)
    if columns != data.cols:
        tile_legality("dimension.cols", f"LB2 gives {columns} columns, the data have {data.cols}")
