"""The compare family: a relation over two operands, its results into a predicate carrier.

Source: PTO compare and select, element level; PTO predicate carriers.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from numpy.typing import NDArray

from lanewise.pto.carriers import (
    GprFields,
    gpr_columns,
    gpr_fields,
    predicate_descriptor,
)
from lanewise.pto.checks import check_encoding
from lanewise.pto.descriptor import Descriptor
from lanewise.pto.faults import tile_allocation, tile_legality
from lanewise.pto.instructions._operation import ElementOperation, Operands, Request
from lanewise.pto.padding import PREDICATE_PADS, gpr_pad
from lanewise.pto.state import Effects, Flag, ProcessingElement
from lanewise.pto.tile import padded_tile


class CompareOperation(ElementOperation):
    """Base of TCMP and TCMPS."""

    compares = True

    def right_codes(self, request: Request, operands: Operands) -> NDArray[Any]:
        """The codes of the right operand, over the valid rectangle or broadcast to it."""
        raise NotImplementedError

    def result(self, request: Request, data: Descriptor) -> Descriptor | None:
        destination = request.bound.destination
        if destination is None:
            gpr_fields(data, request.dtype)
            return None
        result = predicate_descriptor(data, request.dtype, destination.capacity)
        if data.layout.is_cube and result.payload_bytes > destination.capacity:
            tile_legality(
                "destination.cell",
                f"a PredicateCell of {result.payload_bytes} bytes does not fit "
                f"{destination.capacity}",
            )
        return result

    def check_operands(self, request: Request, operands: Operands) -> None:
        for role in self.data_roles:
            tile = operands.tiles[role]
            check_encoding(tile.codes[tile.valid_region], request.dtype, role)

    def allocate(self, request: Request, operands: Operands, pe: ProcessingElement) -> None:
        result = operands.result
        if result is not None and result.payload_bytes > result.capacity:
            tile_allocation(
                "destination.packed",
                f"packed predicates of {result.payload_bytes} bytes do not fit {result.capacity}",
            )
        super().allocate(request, operands, pe)

    def execute(self, request: Request, operands: Operands, kernels: ModuleType) -> Effects:
        left = operands.tiles[self.data_roles[0]]
        codes, others = left.codes[left.valid_region], self.right_codes(request, operands)
        ordering, relation = request.dtype.order.ordering, request.bundle.relation
        if operands.result is None:
            fields = gpr_fields(left.descriptor, request.dtype)
            columns = self._published(request, fields, codes.shape[1])
            codes = codes[:, columns]
            others = others[:, columns] if others.ndim else others
            word, raised = kernels.compare_planes(codes, others, ordering, relation, fields.rows)
            outside = gpr_pad(request.pad, request.profile) & ~fields.valid_bits(*codes.shape)
            return Effects(
                gprs=((request.bound.register, int(word) | outside),),
                flags=Flag.NV if raised else 0,
            )
        results, invalid = kernels.relate(codes, others, ordering, relation)
        assert request.bound.destination is not None
        tile = padded_tile(results, operands.result, PREDICATE_PADS[request.pad])
        return Effects(tile=(request.bound.destination.hand, tile), flags=Flag.NV if invalid else 0)

    @staticmethod
    def _published(request: Request, fields: GprFields, valid_cols: int) -> slice:
        """The columns that the result word holds; nothing else is compared, nor raises flags."""
        datr = request.bundle.datr
        high_half = fields.words > 1 and datr is not None and bool(datr.sat)
        return gpr_columns(fields, high_half, valid_cols)
