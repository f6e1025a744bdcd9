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
from lanewise.errors import LanewiseError
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


# --- the order of the checks ---------------------------------------------------------------------


def test_words_are_refused_in_reading_order() -> None:
    """A late illegal word does not hide an earlier structural fault, nor the other way round."""
    structural = program(OPEN, "C.B.DIMI 1, ->LB0", "C.B.DIMI 1, ->LB0")
    assert refused(standard(), [*structural, "ffffffff"]).kind is FaultKind.BUNDLE_CONTROL
    early = [*program(OPEN), "ffffffff", *structural[1:]]
    assert refused(standard(), early).kind is FaultKind.ILLEGAL_INSTRUCTION


def test_a_zero_mask_hides_everything_after_reading() -> None:
    for start in ("BSTART.VEC TCMP, HiF8", "BSTART.VEC 0x7f, FP32", "BSTART.SFU TGPR2T, FP32"):
        made = standard()
        before = made.state
        report = made.run(program(start, "B.IOT T#9, T#9, mask=0000, last, ->U<128B>", STOP))
        assert report.executed == 1
        assert made.state == before


def test_a_zero_mask_hides_no_fault_of_reading() -> None:
    zero = "B.IOT T#1, mask=0000, last, ->U<128B>"
    assert refused(standard(), program(OPEN, zero, datr())).rule == "bundle.datr_late"
    assert refused(standard(), program(TSEL[0], zero, MASKED[0])).rule == "bundle.pe_mask"


def test_zero_mask_bindings_bind_nothing_and_are_not_last() -> None:
    zero = "B.IOT T#1, mask=0000, last"
    made = standard()
    made.run(program(OPEN, zero, zero, zero, zero, zero, zero, STOP))


def test_selector_before_completeness_before_legality_before_allocation() -> None:
    made = full()
    shared = "B.IOS S0, mask=0000"
    unknown = program("BSTART.VEC 0x7f, HiF8", shared, STOP)
    assert refused(made, unknown).kind is FaultKind.ILLEGAL_INSTRUCTION
    incomplete = program("BSTART.VEC TCMP, HiF8", shared, STOP)
    assert refused(made, incomplete).kind is FaultKind.BUNDLE_CONTROL
    illegal = program(*TCMP, shared, TWO_TILES + ", ->M<64K>", STOP)
    assert refused(made, illegal).kind is FaultKind.TILE_LEGALITY
    crowded = program(*TCMP, TWO_TILES + ", ->M<64K>", STOP)
    assert refused(made, crowded).kind is FaultKind.TILE_ALLOCATION


def test_legality_of_every_pe_comes_before_allocation_of_any() -> None:
    """PE0 has no room, PE2 lacks a source: the refusal is PE2's legality."""
    made = standard()
    for _ in range(3):
        made.push("M", FULL, pe=0)
    state = made.state
    made.state = (*state[:2], replace(state[2], hands=((), (), (), ())), state[3])
    words = program(*TCMP, TWO_TILES.replace("1000", "1110") + ", ->M<64K>", STOP)
    fault = refused(made, words)
    assert (fault.kind, fault.pe) == (FaultKind.TILE_LEGALITY, 2)
    made.state = (*state[:2], state[3], state[3])
    fault = refused(made, words)
    assert (fault.kind, fault.pe) == (FaultKind.TILE_ALLOCATION, 0)


def test_a_later_bundle_is_refused_alone() -> None:
    """The first bundle stays, the second is refused, the third is not reached."""
    made = standard()
    good = program("TCMP <Row=31, Col=2, FP32, GE>, T#1, T#2, ->a4")
    bad = program("TCMP <Row=30, Col=2, FP32, GE>, T#1, T#2, ->a5")
    alone = standard()
    alone.run(good)
    report = made.attempt([*good, *bad, *good])
    assert (report.executed, report.index, report.reason) == (1, 1, "TileLegality")
    assert report.counts == {"TCMP": 1}
    assert made.state == alone.state


def test_a_closing_bstart_is_decoded_before_the_open_bundle_runs() -> None:
    made = standard()
    good = program("TCMP <Row=31, Col=2, FP32, GE>, T#1, T#2, ->a4")[:-1]
    assert refused(made, [*good, "78d19181"]).rule == "BSTART.TEPL.dtype"
    made.run([*good, *good, *program(STOP)])
    assert made.gpr("a4") != 0


def test_bstart_closes_a_bundle_as_bstop_does() -> None:
    one, two = standard(), standard()
    good = program("TCMP <Row=31, Col=2, FP32, GE>, T#1, T#2, ->U<128B>")
    one.run([*good, *good])
    two.run([*good[:-1], *good[:-1], *program("C.BSTOP")])
    assert one.state == two.state


def test_bytes_run_as_the_words_they_hold() -> None:
    words = program("TGPR2T <Row=32, Col=4, U8, Max, off=1>, a0, a1, a2, a3, ->U<128B>")
    one, two = standard(), standard()
    one.run(words)
    two.run(b"".join(word.to_bytes() for word in words))
    assert one.state == two.state


@pytest.mark.parametrize("tail", [b"\x00", b"\x01", b"\x01\x00", b"\x01\x00\x00", b"\x3c"])
def test_a_program_cut_inside_a_word_is_illegal(tail: bytes) -> None:
    assert refused(standard(), tail).rule == "encoding.cut"


def test_an_unterminated_program_may_be_dropped_by_profile() -> None:
    made = standard()
    made.profile = PtoProfile().with_(unterminated="ignore")
    before = made.state
    assert made.run(program(*TCMP, TWO_TILES + TO_U)).executed == 0
    assert made.state == before


def test_the_17th_tile_drops_the_oldest_and_frees_its_storage() -> None:
    made = PtoCore()
    big = Tile.from_array(np.zeros((1, 1), np.uint8), "U8", capacity=16 * 1024)
    for number in range(16):
        made.push("T", big)
        assert len(made.state[0].hands[Hand.T]) == number + 1
    pack = "TGPR2T <Row=32, Col=4, U8>, zero, zero, zero, zero, ->{}<16K>"
    before = made.state
    assert refused(made, program(pack.format("U"))).rule == "destination.storage"
    made.run(program(pack.format("T")))
    assert len(made.state[0].hands[Hand.T]) == 16
    assert made.tile("T#2") == big
    assert made.state != before


def test_usage_errors_are_lanewise_errors() -> None:
    with pytest.raises(LanewiseError, match="4 or 8"):
        PtoCore().attempt(["12"])
    with pytest.raises(LanewiseError, match="unknown register"):
        PtoCore().gpr("a9")
    with pytest.raises(LanewiseError, match="a tile is named"):
        PtoCore().tile("T#17")
    with pytest.raises(LanewiseError, match="holds 32 bits"):
        PtoCore(revision="proposal").set_gpr("a0", 1 << 32)
    with pytest.raises(LanewiseError, match="unknown PTO revision"):
        PtoCore(revision="frosen")


def test_a_refusal_reports_kind_rule_and_place() -> None:
    made = standard()
    report = made.attempt(program(*PROGRAMS["dimension.cols"]))
    assert report.error is not None
    assert str(report.error) == (
        "TileLegality in bundle 0, PE0: LB2 gives 3 columns, the data have 2 [dimension.cols]"
    )
    assert report.error.report is report
    assert report.as_dict()["reason"] == "TileLegality"
