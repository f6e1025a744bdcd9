"""The core's interface: state as a value, PEs apart, observers, aliases, profiles."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pto.build import codes, core, mask_tile, program, tile

from lanewise.errors import LanewiseError, UsageError
from lanewise.model import Observer
from lanewise.pto import PtoCore, PtoProfile, Revision
from lanewise.pto.profile import open_points
from lanewise.pto.revisions import DIFFERENCES
from lanewise.pto.state import PE_MODES, pe_mask_text, pe_mode_of


def test_register_zero_reads_zero_and_drops_writes() -> None:
    made = core(gprs={"zero": 5, "sp": 7})
    assert (made.gpr("zero"), made.gpr(0), made.gpr("sp"), made.gpr(1)) == (0, 0, 7, 7)
    made.push("T", tile(codes(1, "FP32", 32, 1), "FP32", "CUBE_M32"))
    before = made.state
    made.run(program("TCMP <Row=32, Col=1, FP32, NE>, T#1, T#1, ->zero"))
    assert [pe.gprs for pe in made.state] == [pe.gprs for pe in before]


def test_a_dropped_result_still_raises_flags() -> None:
    left = np.full((32, 1), 0x7F800001, np.uint32)
    made = core(("T", tile(left, "FP32", "CUBE_M32")))
    made.run(program("TCMP <Row=32, Col=1, FP32, NE>, T#1, T#1, ->zero"))
    assert made.flags() == 1


@pytest.mark.parametrize("mode", range(8))
def test_pe_modes(mode: int) -> None:
    """Each PE runs on its own registers, and only those of the mask change."""
    mask = pe_mask_text(mode)
    assert pe_mode_of(mask) == mode
    made = PtoCore()
    for pe in range(4):
        made.set_gpr("a0", 1 << pe, pe=pe)
    before = made.state
    made.run(program(f"TGPR2T <Row=32, Col=4, U8, mask={mask}>, a0, zero, zero, zero, ->T<128B>"))
    for pe in range(4):
        found = made.tile("T#1", pe=pe)
        assert (found is not None) == (pe in PE_MODES[mode]) == (mask[pe] == "1")
        if found is None:
            assert made.state[pe] is before[pe]
        else:
            assert np.flatnonzero(found.to_array()[:, 0]).tolist() == [pe]


def test_dimensions_are_read_on_each_pe() -> None:
    """LB0 from a register: on PE1 it names a shape the tile does not have."""
    made = core(("T", tile(codes(1, "FP32", 32, 2), "FP32", "CUBE_M32")), gprs={"a1": 0x10001})
    text = (
        "BSTART.VEC TCMP, FP32", "B.DIM a1, 1, ->LB0", "B.DIM zero, 32, ->LB1",
        "B.IOT T#1, T#1, mask=1100, last, ->U<128B>", "BSTOP",
    )  # fmt: skip
    made.run(program(*text))
    made.set_gpr("a1", 2, pe=1)
    before = made.state
    report = made.attempt(program(*text))
    assert (report.reason, report.error.pe) == ("TileLegality", 1)
    assert made.state == before


def test_aliases_read_old_values() -> None:
    """One tile as several sources, its hand as the destination, RegDst as the scalar."""
    data = codes(5, "S32", 9, 3)
    source = tile(data, "S32", "CUBE_M16")
    mask = data.astype(np.int32) > 0
    made = core(("T", source), ("T", mask_tile(mask, source, "S32")), gprs={"a0": 4})
    made.run(program("TSEL <Row=9, Col=3, S32>, T#1, T#2, T#2, ->T<256B>"))
    assert (made.tile("T#1").to_array(valid=True) == data).all()
    assert made.tile("T#3") == source
    column = tile(data[:, :2], "S32", "CUBE_M16")
    made.push("U", column)
    made.run(program("TCMPS <Row=9, Col=2, S32, GT, Zero>, U#1, a0, ->a0"))
    expected = (data[:, :2].astype(np.int32) > 4).T
    bits = sum(1 << (16 * c + r) for c in range(2) for r in range(9) if expected[c, r])
    assert made.gpr("a0") == bits


def test_the_state_is_a_value() -> None:
    made = core(("T", tile(codes(1, "U8", 3, 5), "U8", "NORM")), gprs={"a0": 1})
    kept = made.state
    made.set_gpr("a0", 2, pe=3)
    assert made.state != kept
    made.state = kept
    assert made.gpr("a0", pe=3) == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        kept[0].flags = 3  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        made.tile("T#1").codes[0, 0] = 1
    with pytest.raises(UsageError, match="a core has 4 PEs"):
        made.state = kept[:3]


def test_a_copy_runs_on_with_the_same_kernels() -> None:
    made = core(("T", tile(codes(1, "FP32", 32, 2), "FP32", "CUBE_M32")), gprs={"a0": 1})
    text = program("TCMPS <Row=32, Col=2, FP32, LE>, T#1, a0, ->x1")
    for other in (pickle.loads(pickle.dumps(made)), copy.deepcopy(made)):
        assert (other.state, other.engine, other.kernels) == (
            made.state,
            made.engine,
            made.kernels,
        )
        other.run(text)
        assert other.gpr("x1") != made.gpr("x1") == 0


def test_engines_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert PtoCore(engine="reference").engine == "reference"
    monkeypatch.setenv("LANEWISE_ENGINE", "reference")
    assert PtoCore().engine == "reference"
    with pytest.raises(LanewiseError, match="engine"):
        PtoCore(engine="fast")


class Recorder(Observer):
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, int]] = []

    def before_legality(self, machine: Any, index: int, word: bytes) -> None:
        self.seen.append((word.hex(), index))

    def after_legality(self, machine: Any, index: int, instruction: Any) -> None:
        self.seen.append((f"legal {instruction.name} {machine.gpr('a0')}", index))

    def after_commit(self, machine: Any, index: int, instruction: Any) -> None:
        self.seen.append((f"done {instruction.name} {machine.gpr('a0')}", index))

    def refused(self, machine: Any, index: int, error: Any) -> None:
        self.seen.append((error.rule, index))


def test_observers_are_told_before_legality_after_it_and_after_the_effect() -> None:
    recorder = Recorder()
    made = core(("T", tile(np.zeros((32, 1), np.uint32), "FP32", "CUBE_M32")))
    made.observers.append(recorder)
    good = program("TCMP <Row=32, Col=1, FP32>, T#1, T#1, ->a0")
    made.attempt([*good, *program("BSTOP")])
    assert recorder.seen == [
        ("".join(word.to_bytes().hex() for word in good), 0),
        ("legal TCMP 0", 0),
        (f"done TCMP {(1 << 32) - 1}", 0),
        ("bundle.outside", 1),
    ]


def test_reports_count_what_ran() -> None:
    made = core(("T", tile(np.zeros((32, 1), np.uint32), "FP32", "CUBE_M32")))
    report = made.run(
        program(
            "TCMP <Row=32, Col=1, FP32>, T#1, T#1, ->a0",
            "TCMP <Row=32, Col=1, FP32>, T#1, T#1, ->a1",
            "TGPR2T <Row=32, Col=4, U8>, a0, a1, a0, a1, ->M<128B>",
        )
    )
    assert report.counts == {"TCMP": 2, "TGPR2T": 1}
    assert (report.executed, report.index, report.profile) == (3, None, "default")


# --- profile and revisions ---------------------------------------------------------------------


def test_every_open_point_has_choices_and_a_reason() -> None:
    points = open_points()
    assert len({point.name for point in points}) == len(points) == 17
    for point in points:
        assert point.value == point.default
        assert point.default in point.choices
        assert point.why
        for choice in point.choices:
            assert getattr(PtoProfile().with_(**{point.name: choice}), point.name) == choice
            assert PtoProfile.parse_override(point.name, str(choice)) == choice


def test_profile_errors_say_what_is_there() -> None:
    with pytest.raises(UsageError, match="did you mean 'tgpr2t_min'"):
        PtoProfile().with_(tgpr2t_mim="zero")
    with pytest.raises(UsageError, match="unknown value for PTO profile field 'tgpr2t_min'"):
        PtoProfile().with_(tgpr2t_min="accept")
    with pytest.raises(UsageError, match="null_gpr_padding"):
        PtoProfile().with_(null_gpr_padding=True)
    with pytest.raises(UsageError, match="must be one of 0, 1"):
        PtoProfile.parse_override("null_gpr_padding", "2")
    assert PtoProfile().with_(tgpr2t_min="zero").description == "default with tgpr2t_min=zero"


def test_null_padding_of_a_gpr_by_profile() -> None:
    data = tile(np.zeros((5, 1), np.uint32), "FP32", "CUBE_M32")
    text = program("TCMP <Row=5, Col=1, FP32, NE>, T#1, T#1, ->a0")
    for bit, word in ((0, 0), (1, (1 << 64) - 32)):
        made = core(("T", data), null_gpr_padding=bit)
        made.run(text)
        assert made.gpr("a0") == word


def test_omitted_lb2_by_profile() -> None:
    text = program(
        "BSTART.VEC TCMP, U8", "B.DIM zero, 3, ->LB0", "B.DIM zero, 2, ->LB1",
        "B.IOT T#1, T#1, mask=1111, last, ->U<128B>", "BSTOP",
    )  # fmt: skip
    wide = tile(codes(1, "U8", 2, 3), "U8", "NORM")
    made = core(("T", wide))
    assert made.attempt(text).error is None
    made.profile = PtoProfile(omitted_lb2="one")
    assert made.attempt(text).error.rule == "dimension.cols"


def test_scalar_encoding_by_profile() -> None:
    data = tile(np.zeros((32, 1), np.uint32), "TF32", "CUBE_M32")
    text = program("TCMPS <Row=32, Col=1, TF32, LT>, T#1, a1, ->a0")
    made = core(("T", data), gprs={"a1": 1})
    assert made.attempt(text).error.rule == "source.encoding"
    made.profile = PtoProfile(check_scalar_encoding=False)
    made.run(text)
    assert made.gpr("a0") == (1 << 32) - 1


def test_select_capacity_fault_by_profile() -> None:
    data = tile(codes(1, "FP32", 32, 2), "FP32", "CUBE_M32")
    text = program("TSELS <Row=32, Col=2, FP32>, a0, T#1, a1, ->T<128B>")
    made = core(("T", data))
    assert made.attempt(text).reason == "TileAllocation"
    made.profile = PtoProfile(select_capacity_fault="TileLegality")
    assert made.attempt(text).reason == "TileLegality"


def test_revisions() -> None:
    assert Revision.named("Frozen").gpr_width == 64
    assert Revision.named("proposal").gpr_width == 32
    assert all(d.topic and d.proposal != "" and d.frozen for d in DIFFERENCES)


@given(st.integers(0, 23), st.integers(0, (1 << 64) - 1), st.sampled_from([None, 0, 1, 2, 3]))
def test_registers_hold_what_is_written(register: int, value: int, pe: int | None) -> None:
    made = PtoCore()
    made.set_gpr(register, value, pe=pe)
    for number in range(4):
        written = register and pe in (None, number)
        assert made.gpr(register, pe=number) == (value if written else 0)
