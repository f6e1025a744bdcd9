"""TCMP: compare two tiles element by element.

``left relation right`` over the valid rectangle, for sixteen element types in row-major tiles and
thirteen in CUBE tiles. The results go to a predicate tile (packed for row-major data, a
PredicateCell for CUBE data) or to one 64-bit GPR. A signalling NaN on either side raises NV.

Word: BSTART mode 0, function 13; B.DATR gives the relation (EQ when left out), the pad and, for
8-bit types into a GPR, with Sat which half of the columns is published.

Open points: ``null_gpr_padding``, ``gpr_8bit_types``, ``omitted_lb2``.
Source: PTO compare and select, element level; PTO predicate carriers; PTO bundle schemas.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from lanewise.pto.carriers import Carrier
from lanewise.pto.instructions._compare import CompareOperation
from lanewise.pto.instructions._operation import Operands, Request
from lanewise.pto.instructions._schema import Form, RegisterRecord, TileRecord


class Tcmp(CompareOperation):
    """TCMP."""

    name = "TCMP"
    mode, function = 0, 13
    data_roles = ("left", "right")
    forms = (
        Form(Carrier.TILE, (TileRecord(("left", "right"), destination=True),)),
        Form(Carrier.GPR, (TileRecord(("left", "right")),), RegisterRecord(destination=True)),
    )
    examples = (
        # Two FP32 tiles of 32x1 into a5, and into a PredicateCell.
        "TCMP <Row=32, Col=1, FP32>, T#1, T#1, ->a5",
        "TCMP <Row=32, Col=1, FP32, LT, Zero>, T#1, U#1, ->U<128B>",
    )

    def right_codes(self, request: Request, operands: Operands) -> NDArray[Any]:
        right = operands.tiles["right"]
        return right.codes[right.valid_region]
