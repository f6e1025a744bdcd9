"""Every check refuses what it should, in its order, and a refusal changes nothing anywhere."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.pto.build import codes, core, mask_tile, program, tile

import lanewise.pto
from lanewise.model import Verdict
from lanewise.pto import (
    DataType,
    FaultKind,
    Hand,
    Layout,
    PtoCore,
    PtoFault,
    PtoProfile,
    Tile,
    TileName,
    proposal,
)
from lanewise.pto.rules import RULES

RULE = {rule.id: rule for rule in RULES}
SOURCE = Path(lanewise.pto.__file__).parent

# --- states ------------------------------------------------------------------------------------

DATA = codes("data", "FP32", 31, 2)
HALF = codes("half", "FP16", 31, 4)
ROWS = codes("rows", "U8", 5, 7)


def standard() -> PtoCore:
    """T: FP32 M32 31x2 (twice); U: FP16 31x4, four bytes wide; M: masks; N: row-major U8 5x7."""
    first, second = tile(DATA, "FP32", "CUBE_M32"), tile(DATA[::-1], "FP32", "CUBE_M32")
    rows = tile(ROWS, "U8", "NORM")
    made = core(
        ("T", second),
        ("T", first),
        ("U", tile(HALF, "FP16", "CUBE_M32")),
        ("M", mask_tile(DATA[::-1] < DATA, first, "U32")),
        ("M", mask_tile(DATA[::-1] < DATA, first, "FP32")),
        ("N", mask_tile(ROWS > 9, rows, "U8")),
        ("N", rows),
        gprs={"a0": 0x0123456789ABCDEF, "a1": 0xF0F0F0F0F0F0F0F0, "a2": 31, "a3": 0x10002},
    )
    made.set_flags(2)
    return made


def with_tile(hand: str, changed: Tile) -> PtoCore:
    made = standard()
    made.push(hand, changed)
    return made


def changed(original: Tile, **fields: Any) -> Tile:
    """A tile with another descriptor, its payload cut or filled with zeros to fit."""
    descriptor = replace(original.descriptor, **fields)
    size = descriptor.payload_bytes
    return Tile(descriptor, (original.payload + bytes(size))[:size])


FIRST = tile(DATA, "FP32", "CUBE_M32")
GOOD_MASK = mask_tile(DATA[::-1] < DATA, FIRST, "FP32")
TWO = np.where(np.arange(62).reshape(31, 2) == 7, 2, 0).astype(np.uint8)
FULL = Tile.from_array(np.zeros((1, 1), np.uint8), "U8", capacity=64 * 1024)


def full() -> PtoCore:
    """As ``standard``, with next to no storage left."""
    made = standard()
    for _ in range(3):
        made.push("U", FULL)
    while True:
        try:
            made.push("U", Tile.from_array(np.zeros((1, 1), np.uint8), "U8", capacity=8192))
        except PtoFault:
            return made


# --- programs ----------------------------------------------------------------------------------

TCMP = ("BSTART.VEC TCMP, FP32", "B.DIM zero, 2, ->LB0", "B.DIM zero, 31, ->LB1")
TWO_TILES = "B.IOT T#1, T#2, mask=1000, last"
TO_U = ", ->U<128B>"
TSEL = ("BSTART.VEC TSEL, FP32", "B.DIM zero, 2, ->LB0", "B.DIM zero, 31, ->LB1")
MASKED = (
    "B.IOT M#1, T#1, mask=1000",
    "B.IOT T#2, mask=1000, last, ->U<512B>",
)
PACK = ("BSTART.SFU TGPR2T, U8", "B.DIM zero, 4, ->LB0", "B.DIM zero, 32, ->LB1")
PACK_SOURCES = ("B.IOR a0, a1, a0", "B.IOR a1")
PACK_TO = "B.IOT mask=1000, last, ->U<128B>"
STOP = "BSTOP"
OPEN = "BSTART.VEC TCMP, FP32"


def datr(**fields: object) -> str:
    values = {
        "layout": "NORM",
        "dtype": "DTYPE_NONE",
        "pad": "Null",
        "cmode": "None",
        "rmode": "Default",
        "sat": 0,
        "canonicalize": 0,
    } | fields
    return f"B.DATR {{{', '.join(map(str, values.values()))}}}"


def lines(*parts: str | tuple[str, ...]) -> list[str]:
    """Parts of a program, tuples taken apart."""
    return [line for part in parts for line in (part if isinstance(part, tuple) else (part,))]


WORDS: dict[str, Any] = {
    "encoding.cut": b"\x01\x00\x00",
    "encoding.length": ["00000002"],
    "encoding.none": ["ffffffff"],
    "BSTART.TEPL.dtype": ["78d19181"],
    "B.DATR.cmode": ["c1f01023"],
    "B.DATR.dtype": ["00f01023"],
    "B.DATR.layout": ["01f01123"],
    "B.IOR.dst": ["00000c13"],
    "B.IOR.src0": ["000c0013"],
    "B.IOR.src1": ["01800013"],
    "B.IOR.src2": ["c0000013"],
    "B.IOT.size": ["0005c013"],
    "B.IOT.hand": ["00004093"],
    "B.DIM.lb": ["00003043"],
    "B.DIM.src": ["000c0043"],
    "C.B.DIMI.lb": ["c03c"],
}

PROGRAMS: dict[str, list[str]] = {
    "bundle.outside": lines("B.IOR a0"),
    "bundle.datr_twice": lines(OPEN, datr(), datr()),
    "bundle.datr_late": lines(OPEN, "B.IOS S4, mask=1000", datr()),
    "bundle.dimension_twice": lines(OPEN, "C.B.DIMI 2, ->LB2", "B.DIM a0, 1, ->LB2"),
    "bundle.registers": lines(OPEN, "B.IOR a0", "B.IOR a1"),
    "bundle.registers_late": lines(PACK, "B.IOT mask=0000, last, ->U<128B>", "B.IOR a0"),
    "bundle.registers_apart": lines(PACK[0], "B.IOR a0", "C.B.DIMI 4, ->LB0", "B.IOR a0"),
    "bundle.registers_dst": lines(PACK, "B.IOR a0, ->a1"),
    "bundle.after_last": lines(TCMP, TWO_TILES + TO_U, "B.IOT T#1, mask=1000"),
    "bundle.unterminated": lines(TCMP, TWO_TILES + TO_U),
    "bundle.pe_mask": lines(TSEL, MASKED[0], MASKED[1].replace("1000", "0100")),
    "bundle.bindings": lines(OPEN, *("B.IOT T#1, mask=1000",) * 5),
    "bundle.selector": lines("BSTART.VEC 0x7f, FP32", TWO_TILES + TO_U, STOP),
    "bundle.no_binding": lines(TCMP, STOP),
    "bundle.no_last": lines(TSEL, MASKED[0], STOP),
    "bundle.registers_missing": lines(PACK, PACK_SOURCES[0], PACK_TO, STOP),
    "schema.shared": lines(TCMP, TWO_TILES + TO_U, "B.IOS S0, mask=0000", STOP),
    "type.none": lines(
        "BSTART.VEC TCMP, DTYPE_NONE", datr(), TCMP[1:], TWO_TILES + TO_U, STOP
    ),
    "schema.form": lines(TCMP, "B.IOR a0", TWO_TILES + TO_U, STOP),
    "schema.sources": lines(TCMP, "B.IOR a0, zero, zero, ->a1", TWO_TILES, STOP),
    "schema.regdst": lines(TSEL, "B.IOR a0, zero, zero, ->a1", TWO_TILES + ", ->U<512B>", STOP),
    "datr.layout": lines(OPEN, datr(layout="ND2M32"), TCMP[1:], TWO_TILES + TO_U, STOP),
    "datr.rmode": lines(OPEN, datr(rmode="RNE"), TCMP[1:], TWO_TILES + TO_U, STOP),
    "datr.canonicalize": lines(OPEN, datr(canonicalize=1), TCMP[1:], TWO_TILES + TO_U, STOP),
    "datr.cmode": lines(TSEL[0], datr(cmode="LT"), TSEL[1:], MASKED, STOP),
    "datr.sat": lines(OPEN, datr(sat=1), TCMP[1:], TWO_TILES + TO_U, STOP),
    "datr.offset": lines(
        PACK[0], datr(rmode="RTP", pad="Zero"), PACK[1:], PACK_SOURCES, PACK_TO, STOP
    ),
    "datr.pad": lines(PACK[0], datr(pad="Min"), PACK[1:], PACK_SOURCES, PACK_TO, STOP),
    "type.operation": lines("BSTART.VEC TCMP, HiF8", TCMP[1:], TWO_TILES + TO_U, STOP),
    "source.absent": lines(TCMP, "B.IOT T#1, T#3, mask=1000, last" + TO_U, STOP),
    "source.kind": lines(TCMP, "B.IOT T#1, M#1, mask=1000, last" + TO_U, STOP),
    "type.cube": lines("BSTART.VEC TCMP, FP64", TCMP[1:], TWO_TILES + TO_U, STOP),
    "type.backing": lines("BSTART.VEC TCMP, FP16", TCMP[1:], TWO_TILES + TO_U, STOP),
    "source.shape": lines(TCMP, "B.IOT T#1, U#1, mask=1000, last" + TO_U, STOP),
    "dimension.lb0": lines(OPEN, TCMP[2], TWO_TILES + TO_U, STOP),
    "dimension.zero": lines(OPEN, "B.DIM a3, 65534, ->LB0", TCMP[2], TWO_TILES + TO_U, STOP),
    "dimension.valid": lines(OPEN, TCMP[1], "B.DIM zero, 30, ->LB1", TWO_TILES + TO_U, STOP),
    "dimension.cols": lines(TCMP, "C.B.DIMI 3, ->LB2", TWO_TILES + TO_U, STOP),
    "carrier.layout": lines(
        "BSTART.VEC TCMP, U8", "B.DIM zero, 7, ->LB0", "B.DIM zero, 5, ->LB1",
        "B.IOR zero, zero, zero, ->a1", "B.IOT N#1, N#1, mask=1000, last", STOP,
    ),
    "carrier.width": lines(
        "BSTART.VEC TCMP, FP16", "B.DIM zero, 4, ->LB0", TCMP[2],
        "B.IOR zero, zero, zero, ->a1", "B.IOT U#1, U#1, mask=1000, last", STOP,
    ),
    "source.encoding": lines("BSTART.VEC TCMP, TF32", TCMP[1:], TWO_TILES + TO_U, STOP),
    "mask.kind": lines(TSEL, "B.IOT T#1, T#1, mask=1000", MASKED[1], STOP),
    "mask.shape": lines(TSEL, MASKED, STOP),
    "mask.basis": lines(TSEL, "B.IOT M#2, T#1, mask=1000", MASKED[1], STOP),
    "destination.cell": lines(
        "BSTART.VEC TCMP, FP32", "C.B.DIMI 5, ->LB0", "C.B.DIMI 32, ->LB1",
        "B.IOT T#1, T#1, mask=1000, last" + TO_U, STOP,
    ),
    "destination.packed": lines(
        "BSTART.VEC TCMP, U8", "B.DIM zero, 1500, ->LB0",
        "B.IOT T#1, T#1, mask=1000, last" + TO_U, STOP,
    ),
    "destination.select": lines(TSEL, MASKED[0], MASKED[1].replace("512B", "128B"), STOP),
    "destination.storage": lines(TCMP, TWO_TILES + ", ->M<16K>", STOP),
    "destination.size": lines(PACK, PACK_SOURCES, PACK_TO.replace("128B", "256B"), STOP),
    "source.descriptor": lines(TCMP, TWO_TILES.replace("T#2", "T#1") + TO_U, STOP),
    "source.layout": lines(
        "BSTART.VEC TCMP, FP16", "C.B.DIMI 3, ->LB0", "C.B.DIMI 3, ->LB1",
        "B.IOT T#1, T#1, mask=1000, last" + TO_U, STOP,
    ),
    "source.defined": lines(TCMP, TWO_TILES.replace("T#2", "T#1") + TO_U, STOP),
    "mask.defined": lines(TSEL, "B.IOT M#1, T#1, mask=1000", MASKED[1], STOP),
    "mask.value": lines(TSEL, "B.IOT M#1, T#1, mask=1000", MASKED[1], STOP),
    "mask.padding": lines(TSEL, "B.IOT M#1, T#1, mask=1000", MASKED[1], STOP),
    "mask.descriptor": lines(TSEL, "B.IOT M#1, T#1, mask=1000", MASKED[1], STOP),
    "type.gpr": lines("BSTART.VEC TCMP, S8", "C.B.DIMI 3, ->LB0", "C.B.DIMI 3, ->LB1",
        "B.IOR zero, zero, zero, ->a1", "B.IOT T#1, T#1, mask=1000, last", STOP),
}  # fmt: skip

STATES: dict[str, Any] = {
    "source.shape": lambda: with_tile("U", tile(DATA[:30], "FP32", "CUBE_M32")),
    "destination.cell": lambda: with_tile("T", tile(codes(1, "FP32", 32, 5), "FP32", "CUBE_M32")),
    "destination.packed": lambda: with_tile("T", tile(codes(1, "U8", 1, 1500), "U8", "NORM")),
    "destination.storage": full,
    "source.descriptor": lambda: with_tile("T", changed(FIRST, capacity=128)),
    "source.layout": lambda: with_tile("T", tile(codes(1, "FP16", 3, 3), "FP16", "CUBE_N8")),
    "source.defined": lambda: with_tile(
        "T", Tile(FIRST.descriptor, FIRST.payload, bytes([1]) + bytes(255))
    ),
    "mask.shape": lambda: with_tile("M", changed(GOOD_MASK, valid_rows=30)),
    "mask.defined": lambda: with_tile(
        "M", Tile(GOOD_MASK.descriptor, GOOD_MASK.payload, bytes([255]) + bytes(127))
    ),
    "mask.value": lambda: with_tile("M", mask_tile(TWO, FIRST, "FP32")),
    "mask.descriptor": lambda: with_tile("M", changed(GOOD_MASK, capacity=64)),
    "type.gpr": lambda: with_tile("T", tile(codes(1, "S8", 3, 3), "S8", "CUBE_M32")),
}
PROFILES = {
    "mask.padding": {"mask_padding_checked": True},
    "destination.size": {"tgpr2t_capacity": "exactly_128"},
    "type.gpr": {"gpr_8bit_types": "U8"},
}
# The kind where it is not the one the table of rules names.
KINDS = {"destination.size": FaultKind.TILE_LEGALITY}

M32 = Layout.CUBE_M32
NAMES = TileName(Hand.T, 1), TileName(Hand.T, 2)
OPERATIONS: dict[str, proposal.ProposalOperation] = {
    "schema.registers": proposal.P2r((1, 2, 3, 4, 5, 6, 7, 24), Hand.T),
    "schema.offset": proposal.P2r((1, 2, 3, 4, 5, 6, 7, 8), Hand.T, 4),
    "carrier.planes": proposal.Tcmp("EQ", DataType.FP32, M32, *NAMES, (4, 5, 6)),
    "schema.regdst": proposal.Tcmp("EQ", DataType.FP32, M32, *NAMES, (4, 4)),
    "destination.size": proposal.Tsel(DataType.FP32, M32, *NAMES, (0, 0), Hand.U, 11),
}


def refused(made: PtoCore, words: Any) -> PtoFault:
    """The fault of a program that must be refused, with no state changed."""
    before = made.state
    report = made.attempt(words)
    assert report.verdict is Verdict.FAULT
    assert report.executed == 0
    assert report.index == 0
    assert made.state == before
    assert all(new is old for new, old in zip(made.state, before, strict=True))
    assert isinstance(report.error, PtoFault)
    with pytest.raises(PtoFault):
        made.run(words)
    assert made.state == before
    return report.error


@pytest.mark.parametrize("rule", [*WORDS, *PROGRAMS])
def test_each_check_refuses_alone_and_changes_nothing(rule: str) -> None:
    made = STATES.get(rule, standard)()
    made.profile = PtoProfile().with_(**PROFILES.get(rule, {}))
    words = WORDS[rule] if rule in WORDS else program(*PROGRAMS[rule])
    fault = refused(made, words)
    assert fault.rule == rule
    assert fault.kind is KINDS.get(rule, RULE[rule].fault)
    assert rule in str(fault)


@pytest.mark.parametrize("rule", OPERATIONS)
def test_each_check_of_the_proposal(rule: str) -> None:
    made = PtoCore(revision="proposal")
    made.push("T", tile(DATA, "FP32", "CUBE_M32"))
    made.push("T", tile(DATA, "FP32", "CUBE_M32"))
    fault = refused(made, [OPERATIONS[rule]])
    assert fault.rule == rule
    assert fault.kind is RULE[rule].fault


def test_every_rule_of_the_table_has_a_test() -> None:
    assert {*WORDS, *PROGRAMS, *OPERATIONS} == {rule.id for rule in RULES}


def test_every_rule_in_the_code_is_in_the_table() -> None:
    """Ids are string literals in calls that refuse; collect them from the syntax trees."""
    refusing = {"illegal_instruction", "bundle_control", "tile_legality", "tile_allocation"}
    found = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                at = 0 if node.func.id in refusing else 1 if node.func.id == "PtoFault" else None
                if at is not None and len(node.args) > at:
                    argument = node.args[at]
                    if isinstance(argument, ast.Constant):
                        found.add(argument.value)
    assert found <= set(RULE)
    assert len(found) > 40
