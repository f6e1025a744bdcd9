"""TCMPS: compare a tile with a scalar.

As TCMP, with the low bits of a GPR in place of every right element; without a B.IOR the scalar
is zero.

Word: BSTART mode 1, function 13; B.DATR as in TCMP.

Open points: those of TCMP and ``check_scalar_encoding``.
Source: PTO compare and select, element level; PTO predicate carriers; PTO bundle schemas.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanewise.kernels import tiles_reference as kernels
from lanewise.pto.carriers import Carrier
from lanewise.pto.checks import check_encoding
from lanewise.pto.instructions._compare import CompareOperation
from lanewise.pto.instructions._operation import Operands, Request
from lanewise.pto.instructions._schema import Form, RegisterRecord, TileRecord


class Tcmps(CompareOperation):
    """TCMPS."""

    name = "TCMPS"
    mode, function = 1, 13
    data_roles = ("left",)
    forms = (
        Form(
            Carrier.TILE,
            (TileRecord(("left",), destination=True),),
            RegisterRecord(("scalar",), required=False),
        ),
        Form(
            Carrier.GPR,
            (TileRecord(("left",)),),
            RegisterRecord(("scalar",), destination=True),
        ),
    )
    examples = (
        # Columns against the scalar in a3, bits into x1.
        "TCMPS <Row=31, Col=2, FP32, LE>, T#1, a3, ->x1",
        "TCMPS <Row=16, Col=5, S8, GE, Max>, M#1, s0, ->N<128B>",
    )

    def check_operands(self, request: Request, operands: Operands) -> None:
        super().check_operands(request, operands)
        if request.profile.check_scalar_encoding:
            check_encoding(self.right_codes(request, operands), request.dtype, "the scalar")

    def right_codes(self, request: Request, operands: Operands) -> NDArray[Any]:
        return scalar_code(operands.registers["scalar"], request.dtype.width)


def scalar_code(register: int, width: int) -> NDArray[Any]:
    """The low ``width`` bits of a register as one element code."""
    return np.array(register & ((1 << width) - 1), kernels.ELEMENT_TYPES[width])
