"""The run verb: arrays in, words through the machine, arrays and a report out."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import numpy as np
import pytest
from tests.cli import programs
from tests.cli.conftest import Command

import lanewise.kernels as lanewise_kernels
from lanewise.formats import E4M3, FP32, convert
from lanewise.kernels import reference
from lanewise.neuron import Profile
from lanewise.neuron.dtypes import find_dtype, number_format

LOAD = "x.npy@sbuf:0+0x100:FP32"
DUMP = "sbuf:0+0x200:4x16:FP8_EXP4"


@pytest.fixture
def x(lanewise: Command) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """An array of FP32 in x.npy, beside cast.bin."""
    array = np.linspace(-300, 300, 64, dtype=np.float32).reshape(4, 16)
    np.save("x.npy", array)
    Path("cast.bin").write_bytes(programs.CAST)
    return array


def _cast(array: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> list[int]:
    codes = array.reshape(-1).view(np.uint32).tolist()
    return [convert(code, FP32, E4M3, Profile.ISA.conversion) for code in codes]


def test_a_dump_file_holds_what_the_program_left(
    lanewise: Command, x: np.ndarray[tuple[int, ...], np.dtype[np.float32]]
) -> None:
    outcome = lanewise("run", "cast.bin", "--load", LOAD, "--dump", f"{DUMP}@out.npy")
    assert outcome.status == 0
    out = np.load("out.npy")
    assert out.shape == (4, 16)
    assert out.dtype == np.uint8
    assert out.reshape(-1).tolist() == _cast(x)
    assert stat.S_IMODE(Path("out.npy").stat().st_mode) & 0o111 == 0
    assert sorted(p.name for p in Path().iterdir()) == ["cast.bin", "out.npy", "x.npy"]


@pytest.mark.parametrize(
    ("shape", "partitions", "wanted"),
    [("16", 1, (16,)), ("1x16", 1, (1, 16)), ("4x2x8", 4, (4, 2, 8)), ("2x2x2x4", 2, (2, 2, 2, 4))],
)
def test_a_dump_has_its_shape(
    shape: str,
    partitions: int,
    wanted: tuple[int, ...],
    lanewise: Command,
    x: np.ndarray[tuple[int, ...], np.dtype[np.float32]],
) -> None:
    dump = f"sbuf:0+256:{shape}:FP32@out.npy"
    assert lanewise("run", "cast.bin", "--load", LOAD, "--dump", dump).status == 0
    out = np.load("out.npy")
    assert out.shape == wanted
    assert out.dtype == np.float32
    assert out.reshape(partitions, -1).tolist() == x[:partitions].tolist()


@pytest.mark.parametrize("kind", ["fortran", "big-endian", "three axes"])
def test_the_layout_of_a_file_does_not_matter(
    kind: str, lanewise: Command, x: np.ndarray[tuple[int, ...], np.dtype[np.float32]]
) -> None:
    same = {
        "fortran": np.asfortranarray(x),
        "big-endian": x.astype(">f4"),
        "three axes": np.asfortranarray(x.reshape(4, 2, 8)),
    }[kind]
    np.save("x.npy", same)
    lanewise("run", "cast.bin", "--load", LOAD, "--dump", f"{DUMP}@out.npy")
    assert np.load("out.npy").reshape(-1).tolist() == _cast(x)


@pytest.mark.usefixtures("x")
def test_a_single_number_and_one_axis_go_into_one_partition(lanewise: Command) -> None:
    np.save("one.npy", np.float32(7))
    np.save("row.npy", np.arange(4, dtype=np.float32))
    lanewise(
        *("run", "cast.bin", "--load", "one.npy@sbuf:5+0:FP32"),
        *("--load", "row.npy@psum:5:FP32", "--dump", "sbuf:5+0:2:FP32@one_out.npy"),
        *("--dump", "psum:4+0:3x4:FP32@row_out.npy"),
    )
    assert np.load("one_out.npy").tolist() == [7, 0]
    assert np.load("row_out.npy").tolist() == [[0] * 4, [0, 1, 2, 3], [0] * 4]


@pytest.mark.usefixtures("x")
def test_convert_rounds_numbers_to_the_dtype_under_the_profile(lanewise: Command) -> None:
    np.save("many.npy", np.array([1, 3.3, 1e6, 1e300, -0.0]))
    load, dump = "many.npy@sbuf:9+0:FP8_EXP4:convert", "sbuf:9+0:5:FP8_EXP4@out.npy"
    assert lanewise("run", "cast.bin", "--load", load, "--dump", dump).err == ""
    assert np.load("out.npy").tolist() == [0x38, 0x45, 0x77, 0x78, 0x80]
    lanewise("run", "cast.bin", "--load", load, "--dump", dump, "-p", "hardware")
    assert np.load("out.npy").tolist() == [0x38, 0x45, 0x78, 0x78, 0x80]


def test_a_refused_program_dumps_nothing(
    lanewise: Command, x: np.ndarray[tuple[int, ...], np.dtype[np.float32]]
) -> None:
    Path("bad.bin").write_bytes(programs.CAST + programs.ILLEGAL)
    Path("old.npy").write_bytes(b"old")
    dumps = ("--dump", f"{DUMP}@new.npy", "--dump", f"{DUMP}@old.npy", "--dump", DUMP)
    outcome = lanewise("run", "bad.bin", "--load", LOAD, *dumps)
    assert outcome.status == 1
    assert "CAST breaks 3 rules" in outcome.out
    assert "FP8_EXP4" not in outcome.out
    assert not Path("new.npy").exists()
    assert Path("old.npy").read_bytes() == b"old"


def test_json_has_every_key_whatever_the_verdict(lanewise: Command) -> None:
    keys = {
        *("verdict", "executed", "index", "rule", "reason", "message", "broken", "profile"),
        *("counts", "warnings", "offset", "words", "generation", "kernels", "seconds", "dumps"),
    }
    for program, verdict, index in (
        (programs.CAST, "ok", None),
        (programs.CAST + programs.ILLEGAL, "illegal", 1),
        (programs.MALFORMED, "malformed", 0),
        (programs.UNMODELLED, "fault", 0),
    ):
        outcome = lanewise("run", "--json", "--dump", "sbuf:0+0:2:FP16", stdin=program)
        report = json.loads(outcome.out)
        assert set(report) == keys
        assert (report["verdict"], report["index"]) == (verdict, index)
        assert report["offset"] == (None if index is None else 64 * index)
        assert outcome.status == (verdict != "ok")
    report = json.loads(lanewise("run", "--json", stdin=programs.ILLEGAL).out)
    assert [broken["rule"] for broken in report["broken"]] == [
        "mask-disabled",
        "channels",
        "bypass",
    ]
    assert report["broken"][1]["bits"] == [[272, 279]]


def test_json_holds_the_bytes_of_dumps_without_a_file(
    lanewise: Command, x: np.ndarray[tuple[int, ...], np.dtype[np.float32]]
) -> None:
    arguments = ("run", "cast.bin", "--json", "--load", LOAD, "--dump", DUMP)
    dump = json.loads(lanewise(*arguments).out)["dumps"][0]
    assert bytes.fromhex(dump["hex"]) == bytes(_cast(x))
    assert (dump["shape"], dump["dtype"], dump["file"]) == ([4, 16], "FP8_EXP4", None)


@pytest.mark.usefixtures("x")
def test_a_report_goes_to_the_file_that_is_named(lanewise: Command) -> None:
    outcome = lanewise("run", "cast.bin", "-o", "report.txt")
    assert outcome.out == ""
    assert Path("report.txt").read_text().startswith("verdict     ok\n")


def test_registers_hold_what_is_given(lanewise: Command) -> None:
    np.save("x.npy", np.arange(16, dtype=np.float32))
    Path("register.bin").write_bytes(programs.REGISTER_COPY)
    outcome = lanewise(
        *("run", "register.bin", "--register", "3=0x40000", "--load", "x.npy@sbuf:1:FP32"),
        *("--dump", "sbuf:0+0x200:16:FP32@out.npy"),
    )
    assert outcome.status == 0
    assert np.load("out.npy").tolist() == list(range(16))


@pytest.mark.parametrize(("surface", "status"), [("pool", 1), ("act", 0), ("DVE", 0)])
def test_a_surface_is_for_words_that_can_choose(
    surface: str, status: int, lanewise: Command
) -> None:
    # The second word runs on dve alone, and is no worse for another surface being named.
    program = programs.PSUM_COPY + programs.WARNED
    assert lanewise("run", "--surface", surface, stdin=program).status == status


@pytest.mark.usefixtures("x")
def test_engines_report_themselves(lanewise: Command) -> None:
    outcome = lanewise("run", "cast.bin", "--engine", "reference", "--json")
    assert json.loads(outcome.out)["kernels"] == "reference"
    assert outcome.err == ""


@pytest.mark.parametrize("threads", ["1", "2", " 7", "1024"])
def test_threads_leave_the_bits_alone(threads: str, lanewise: Command) -> None:
    array = np.random.default_rng(0).integers(0, 1 << 32, (128, 4096), np.uint32)
    np.save("x.npy", array)
    load, dump = "x.npy@sbuf:0+0x1000:FP32", "sbuf:0+0x8000:128x4096:BFLOAT16@y.npy"
    places = ("--load", load, "--dump", dump)
    outcome = lanewise("run", *places, "--threads", threads, stdin=programs.LARGE)
    assert (outcome.status, outcome.err) == (0, "")
    conversion = (number_format(find_dtype(name), Profile.ISA) for name in ("FP32", "BF16"))
    expected = reference.convert(array, *conversion, Profile.ISA.conversion)
    assert np.array_equal(np.load("y.npy").view(np.uint16), expected)


@pytest.mark.parametrize(
    ("threads", "why"),
    [
        ("0", "--threads must be at least 1, not 0"),
        ("two", "expected a number, decimal or 0x, for --threads, not 'two'"),
        ("1025", "threads must be 1 to 1024, not 1025"),
        ("9" * 20, "threads must be 1 to 1024, not 99999999999999999999"),
    ],
)
def test_threads_are_a_sensible_number(threads: str, why: str, lanewise: Command) -> None:
    outcome = lanewise("run", "--threads", threads, stdin=programs.CAST)
    outcome.assert_refused()
    assert why in outcome.err


def test_a_tile_program_takes_no_threads(lanewise: Command) -> None:
    outcome = lanewise("run", "--machine", "pto", "--threads", "2", stdin=b"")
    outcome.assert_refused()
    assert "--threads is for Neuron programs" in outcome.err


@pytest.mark.usefixtures("x")
def test_slow_kernels_are_said_in_one_line(
    lanewise: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LANEWISE_ENGINE", raising=False)
    monkeypatch.delenv("LANEWISE_ENGINE", raising=False)
    monkeypatch.setattr(lanewise_kernels, "native_problem", lambda: "it is Sunday")
    outcome = lanewise("run", "cast.bin")
    assert outcome.status == 0
    assert outcome.err == (
        "lanewise: using the NumPy kernels, because it is Sunday: same results, slower\n"
    )
    assert lanewise("run", "cast.bin", "--engine", "reference").err == ""
    lanewise("run", "cast.bin", "--engine", "native").assert_refused()


def test_long_dumps_are_cut(lanewise: Command) -> None:
    outcome = lanewise("run", "--dump", "sbuf:0+0:40x100:UINT8", stdin=programs.CAST)
    assert "  … 36 more elements a partition\n  … 8 more partitions\n" in outcome.out
    assert len(outcome.out.splitlines()) == 8 + 2 + 32 * 8 + 2
