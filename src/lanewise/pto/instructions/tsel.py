"""TSEL: take each element from one of two tiles.

Where the mask is 1 the carrier bits of the true source, where it is 0 those of the false source.
The mask is a predicate tile (packed for row-major data, a PredicateCell for CUBE data), or one
64-bit GPR, two of them for 8-bit types.

Word: BSTART mode 0, function 26; B.DATR gives the type and the pad.

Open points: ``select_capacity_fault``, ``mask_padding_checked``, ``gpr_8bit_types``,
``omitted_lb2``.
Source: PTO compare and select, element level; PTO predicate carriers; PTO bundle schemas.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from lanewise.pto.carriers import Carrier
from lanewise.pto.instructions._operation import Operands, Request
from lanewise.pto.instructions._schema import Form, RegisterRecord, TileRecord
from lanewise.pto.instructions._select import SelectOperation


class Tsel(SelectOperation):
    """TSEL."""

    name = "TSEL"
    mode, function = 0, 26
    data_roles = ("true", "false")
    forms = (
        Form(
            Carrier.TILE,
            (
                TileRecord(("mask", "true"), last=False),
                TileRecord(("false",), destination=True),
            ),
        ),
        Form(
            Carrier.GPR,
            (TileRecord(("true", "false"), destination=True),),
            RegisterRecord(("low",), wide=("low", "high")),
        ),
    )
    examples = (
        # Mask bits in a4, then a mask tile M#1.
        "TSEL <Row=32, Col=2, FP16, Max>, a4, T#1, T#2, ->T<128B>",
        "TSEL <Row=16, Col=7, E4M3>, M#1, T#1, U#1, ->T<128B>",
    )

    def false_codes(self, request: Request, operands: Operands) -> NDArray[Any]:
        false = operands.tiles["false"]
        return false.codes[false.valid_region]
