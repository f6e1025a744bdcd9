"""The proposal revision: planes by logical column, and how it meets the frozen one."""

from __future__ import annotations

import random

import numpy as np
import pytest
from tests.pto import oracle
from tests.pto.build import CUBE_TYPES, codes, core, physical, program, tile

from lanewise.errors import UsageError
from lanewise.pto import (
    DataType,
    FaultKind,
    Flag,
    Hand,
    Layout,
    PadValue,
    PtoCore,
    PtoFault,
    TileName,
    proposal,
)

LEFT, RIGHT = TileName(Hand.T, 2), TileName(Hand.T, 1)
ALL = (1 << 32) - 1


def old_core(dtype: str, layout: str, *arrays: np.ndarray) -> PtoCore:
    made = PtoCore(revision="proposal")
    for array in arrays:
        made.push("T", tile(array, dtype, layout))
    return made


@pytest.mark.parametrize("pad", list(PadValue))
@pytest.mark.parametrize("layout", ["CUBE_M16", "CUBE_M32"])
@pytest.mark.parametrize("dtype", CUBE_TYPES)
def test_planes_are_logical_columns(dtype: str, layout: str, pad: PadValue) -> None:
    """Several cells, tails in rows and columns: bit r of register c is the relation at (r, c)."""
    high = oracle.ROWS[layout]
    per_cell = proposal.planes_per_cell(Layout[layout], DataType.named(dtype))
    for rows, cols in ((1, 1), (high - 3, per_cell + 1), (high, min(2 * per_cell, 20))):
        left = codes((dtype, 1, rows), dtype, rows, cols, plain=True)
        right = codes((dtype, 2, rows), dtype, rows, cols, plain=True)
        columns = physical(layout, dtype, cols)
        made = old_core(dtype, layout, left, right)
        for index in range(1, 24):
            made.set_gpr(index, 0x5A5A5A5A)
        dst = tuple(random.Random(cols).sample(range(1, 24), columns))
        relation = oracle.RELATIONS[(rows + int(pad)) % 6]
        operation = proposal.Tcmp(
            relation, DataType.named(dtype), Layout[layout], LEFT, RIGHT, dst, pad
        )
        made.run([operation])
        raised = False
        for column, index in enumerate(dst):
            word = ALL if pad is PadValue.Max else 0
            for row in range(rows if column < cols else 0):
                holds, invalid = oracle.holds(
                    dtype, relation, int(left[row, column]), int(right[row, column])
                )
                word = word & ~(1 << row) | holds << row
                raised |= invalid
            assert made.gpr(index) == word
        assert made.flags() == (Flag.NV if raised else 0)
        for index in set(range(1, 24)) - set(dst):
            assert made.gpr(index) == 0x5A5A5A5A
        assert made.gpr("a0", pe=1) == 0x5A5A5A5A


@pytest.mark.parametrize("layout", ["CUBE_M16", "CUBE_M32"])
@pytest.mark.parametrize("dtype", ["FP32", "BF16", "E5M2", "S8"])
def test_select_reads_the_planes_that_compare_writes(dtype: str, layout: str) -> None:
    high = oracle.ROWS[layout]
    rows, cols = high - 1, 5
    left = codes((dtype, "a"), dtype, rows, cols, plain=True)
    right = codes((dtype, "b"), dtype, rows, cols, plain=True)
    columns = physical(layout, dtype, cols)
    planes = tuple(range(1, columns + 1))
    made = old_core(dtype, layout, left, right)
    kind = DataType.named(dtype)
    made.run(
        [
            proposal.Tcmp("LT", kind, Layout[layout], LEFT, RIGHT, planes),
            proposal.Tsel(kind, Layout[layout], LEFT, RIGHT, planes, Hand.U, 4, PadValue.Min),
        ]
    )
    less = np.array(
        [
            [oracle.holds(dtype, "LT", int(a), int(b))[0] for a, b in zip(x, y, strict=True)]
            for x, y in zip(left, right, strict=True)
        ]
    )
    found = made.tile("U#1")
    assert found is not None
    assert (found.to_array(valid=True) == np.where(less, left, right)).all()


def test_frozen_words_hold_the_proposals_planes() -> None:
    """Two planes of the proposal side by side are the frozen word of a 16-bit M32 cell."""
    left, right = codes(1, "FP16", 31, 2), codes(2, "FP16", 31, 2)
    old = old_core("FP16", "CUBE_M32", left, right)
    old.run([proposal.Tcmp("GE", DataType.FP16, Layout.CUBE_M32, LEFT, RIGHT, (7, 3))])
    new = core(("T", tile(left, "FP16", "CUBE_M32")), ("T", tile(right, "FP16", "CUBE_M32")))
    new.run(program("TCMP <Row=31, Col=2, FP16, GE>, T#2, T#1, ->a0"))
    assert new.gpr("a0") == old.gpr(7) | old.gpr(3) << 32
    assert new.flags() == old.flags()


def test_masks_may_repeat_and_register_zero_supplies_zeros() -> None:
    true, false = codes(3, "BF16", 32, 4), codes(4, "BF16", 32, 4)
    made = old_core("BF16", "CUBE_M32", true, false)
    made.set_gpr(5, 0x0F0F0F0F)
    made.run(
        [
            proposal.Tsel(
                DataType.BF16, Layout.CUBE_M32, LEFT, RIGHT, (5, 0, 5, 5), Hand.M, size_code=2
            )
        ]
    )
    found = made.tile("M#1")
    assert found is not None
    rows = (0x0F0F0F0F >> np.arange(32) & 1).astype(bool)[:, np.newaxis]
    mask = np.repeat(rows, 4, axis=1)
    mask[:, 1] = False
    assert (found.to_array() == np.where(mask, true, false)).all()


@pytest.mark.parametrize(
    ("operation", "kind", "rule"),
    [
        (proposal.P2r((1,) * 7, Hand.T), FaultKind.TILE_LEGALITY, "carrier.planes"),
        (proposal.P2r((1,) * 9, Hand.T), FaultKind.TILE_LEGALITY, "carrier.planes"),
        (proposal.P2r((1,) * 8, Hand.T, -1), FaultKind.TILE_LEGALITY, "schema.offset"),
        (
            proposal.P2r((1,) * 8, Hand.T, dtype=DataType.S8),
            FaultKind.TILE_LEGALITY,
            "type.operation",
        ),
        (
            proposal.P2r((1,) * 8, Hand.T, size_code=0),
            FaultKind.TILE_ALLOCATION,
            "destination.size",
        ),
        (
            proposal.Tcmp("EQ", DataType.FP32, Layout.CUBE_M16, LEFT, RIGHT, (1, 2)),
            FaultKind.TILE_LEGALITY,
            "source.layout",
        ),
        (
            proposal.Tcmp("EQ", DataType.FP64, Layout.CUBE_M32, LEFT, RIGHT, (1,)),
            FaultKind.TILE_LEGALITY,
            "type.cube",
        ),
        (
            proposal.Tcmp("EQ", DataType.FP32, Layout.CUBE_M32, LEFT, RIGHT, (1, 0)),
            FaultKind.TILE_LEGALITY,
            "schema.regdst",
        ),
        (
            proposal.Tsel(DataType.FP32, Layout.CUBE_M32, LEFT, RIGHT, (1, 2), Hand.T, 1),
            FaultKind.TILE_ALLOCATION,
            "destination.select",
        ),
    ],
)
def test_refusals(operation: proposal.ProposalOperation, kind: FaultKind, rule: str) -> None:
    array = codes(9, "FP32", 32, 2)
    made = old_core("FP32", "CUBE_M32", array, array)
    before = made.state
    with pytest.raises(PtoFault) as caught:
        made.run([operation])
    assert (caught.value.kind, caught.value.rule) == (kind, rule)
    assert made.state == before


def test_more_planes_than_registers_cannot_be_named() -> None:
    """24 cells of M32 FP32 need 24 distinct registers besides zero; there are 23."""
    array = codes(1, "FP32", 3, 24)
    made = old_core("FP32", "CUBE_M32", array, array)
    before = made.state
    for dst in (tuple(range(1, 24)), tuple(range(24)), tuple(range(1, 25))):
        with pytest.raises(PtoFault, match="TileLegality"):
            made.run([proposal.Tcmp("EQ", DataType.FP32, Layout.CUBE_M32, LEFT, RIGHT, dst)])
        assert made.state == before


def test_pe_masks() -> None:
    made = PtoCore(revision="proposal")
    made.set_gpr(1, 0xFF)
    made.run([proposal.P2r((24,) * 3, Hand.T, 9, pe_mask="0000")])
    assert made.tile("T#1") is None
    made.run([proposal.P2r((1,) * 8, Hand.T, pe_mask="0101")])
    assert [made.tile("T#1", pe=pe) is not None for pe in range(4)] == [False, True, False, True]
    with pytest.raises(UsageError, match="a PE mask is 4 digits"):
        made.run([proposal.P2r((1,) * 8, Hand.T, pe_mask="10")])
