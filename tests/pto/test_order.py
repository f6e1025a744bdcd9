"""The order of the checks, what refused programs leave behind, and how they end."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.pto.build import program
from tests.pto.test_faults import (
    FULL,
    MASKED,
    OPEN,
    PROGRAMS,
    STOP,
    TCMP,
    TO_U,
    TSEL,
    TWO_TILES,
    datr,
    full,
    refused,
    standard,
)

from lanewise.errors import LanewiseError
from lanewise.pto import FaultKind, Hand, PtoCore, PtoProfile, Tile


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
