"""The select family: elements of one of two operands, as a predicate carrier says.

Carrier bits are copied; a select never looks at values and raises no flags.
Source: PTO compare and select, element level; PTO predicate carriers.
"""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanewise.pto.carriers import Carrier, gpr_fields, mask_of_tile
from lanewise.pto.descriptor import Descriptor
from lanewise.pto.faults import PtoFault
from lanewise.pto.instructions._operation import ElementOperation, Operands, Request
from lanewise.pto.padding import element_pad
from lanewise.pto.state import Effects, ProcessingElement
from lanewise.pto.tile import padded_tile


class SelectOperation(ElementOperation):
    """Base of TSEL and TSELS."""

    compares = False

    def false_codes(self, request: Request, operands: Operands) -> NDArray[Any]:
        """The codes taken where the mask is 0, over the valid rectangle or broadcast to it."""
        raise NotImplementedError

    def result(self, request: Request, data: Descriptor) -> Descriptor | None:
        if request.bound.carrier is Carrier.GPR:
            gpr_fields(data, request.dtype)
        destination = request.bound.destination
        assert destination is not None  # Every form of a select has one.
        return replace(data, dtype=request.dtype, capacity=destination.capacity)

    def check_operands(self, request: Request, operands: Operands) -> None:
        if request.bound.carrier is Carrier.TILE:
            self._tile_mask(request, operands)
        self._check_capacity(request, operands, "legality")

    def allocate(self, request: Request, operands: Operands, pe: ProcessingElement) -> None:
        self._check_capacity(request, operands, "allocation")
        super().allocate(request, operands, pe)

    @staticmethod
    def _check_capacity(request: Request, operands: Operands, phase: str) -> None:
        """Refuse a result over its capacity in the phase that the profile's fault belongs to."""
        result, kind = operands.result, request.profile.select_overflow
        assert result is not None
        if kind.lower().endswith(phase) and result.payload_bytes > result.capacity:
            raise PtoFault(
                kind,
                "destination.select",
                f"a select result of {result.payload_bytes} bytes does not fit {result.capacity}",
            )

    @staticmethod
    def _tile_mask(request: Request, operands: Operands) -> NDArray[np.bool_]:
        """The mask over the valid rectangle; TileLegality when the mask tile is not legal."""
        data = operands.tiles["true"].descriptor
        checked = request.profile.mask_padding_checked and data.layout.is_cube
        return mask_of_tile(operands.tiles["mask"], data, request.dtype, checked)

    def execute(self, request: Request, operands: Operands, kernels: ModuleType) -> Effects:
        true = operands.tiles["true"]
        codes, others = true.codes[true.valid_region], self.false_codes(request, operands)
        if request.bound.carrier is Carrier.TILE:
            chosen = kernels.choose(self._tile_mask(request, operands), codes, others)
        else:
            registers = [
                operands.registers[role] for role in ("low", "high") if role in operands.registers
            ]
            words = np.array(registers, np.uint64)
            rows = gpr_fields(true.descriptor, request.dtype).rows
            chosen = kernels.select_planes(words, codes, others, rows)
        assert operands.result is not None
        assert request.bound.destination is not None
        tile = padded_tile(chosen, operands.result, element_pad(request.dtype, request.pad))
        return Effects(tile=(request.bound.destination.hand, tile))
