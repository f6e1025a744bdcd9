"""TSELS: take each element from a tile or from a scalar.

As TSEL, with the low bits of a GPR in place of every false element; without a B.IOR the scalar
is zero.

Word: BSTART mode 1, function 26; B.DATR as in TSEL.

Open points: those of TSEL.
Source: PTO compare and select, element level; PTO predicate carriers; PTO bundle schemas.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from lanewise.pto.carriers import Carrier
from lanewise.pto.instructions._operation import Operands, Request
from lanewise.pto.instructions._schema import Form, RegisterRecord, TileRecord
from lanewise.pto.instructions._select import SelectOperation
from lanewise.pto.instructions.tcmps import scalar_code


class Tsels(SelectOperation):
    """TSELS."""

    name = "TSELS"
    mode, function = 1, 26
    data_roles = ("true",)
    forms = (
        Form(
            Carrier.TILE,
            (TileRecord(("mask", "true"), destination=True),),
            RegisterRecord(("scalar",), required=False),
        ),
        Form(
            Carrier.GPR,
            (TileRecord(("true",), destination=True),),
            RegisterRecord(("low", "scalar"), wide=("low", "high", "scalar")),
        ),
    )
    examples = (
        # Mask bits in a5, the scalar left out; then a mask tile with the scalar in a0.
        "TSELS <Row=32, Col=1, FP32>, a5, T#1, ->T<128B>",
        "TSELS <Row=3, Col=5, U16, Min>, M#1, T#1, a0, ->N<128B>",
    )

    def false_codes(self, request: Request, operands: Operands) -> NDArray[Any]:
        return scalar_code(operands.registers["scalar"], request.dtype.width)
