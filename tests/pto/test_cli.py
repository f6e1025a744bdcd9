"""The verbs on the PTO machine: run, check, cases, explain, cast, fuzz."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from lanewise.cli.application import main
from lanewise.kernels import available_engines
from lanewise.pto.assembly import assemble

PROGRAM = """// compare, pack
TCMPS <Row=32, Col=2, FP32, GT>, T#1, a3, ->x1
TGPR2T <Row=32, Col=4, U8, Max, off=1>, x1, zero, zero, zero, ->U<128B>
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    values = np.random.default_rng(1).normal(size=(32, 2)).astype(np.float32)
    np.save(tmp_path / "x.npy", values)
    (tmp_path / "p.pto").write_text(PROGRAM)
    return tmp_path


def run_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_run_loads_and_dumps_with_layout_conversion(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["run", str(folder / "p.pto"), "--register", "a3=0x3f000000"]
    arguments += ["--load", f"{folder}/x.npy@T:FP32:CUBE_M32", "--dump", "U#1"]
    arguments += ["--dump", f"T#1@{folder}/y.npy"]
    found = run_json(capsys, *arguments)
    values = np.load(folder / "x.npy")
    assert (found["verdict"], found["executed"], found["counts"]) == (
        "ok",
        2,
        {"TCMPS": 1, "TGPR2T": 1},
    )
    bits = sum(int(values[r, c] > 0.5) << (r + 32 * c) for r in range(32) for c in (0, 1))
    assert int(found["gprs"]["x1"], 16) == bits
    cell = np.frombuffer(bytes.fromhex(found["dumps"][0]["hex"]), np.uint8).reshape(32, 4)
    assert (cell[:, 1] == (values[:, 0] > 0.5) + 2 * (values[:, 1] > 0.5)).all()
    again = np.load(folder / "y.npy")
    assert again.dtype == np.float32
    assert (again == values).all()


def test_engines_give_the_same(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["run", str(folder / "p.pto"), "--load", f"{folder}/x.npy@T:FP32:CUBE_M32"]
    found = {
        name: run_json(capsys, *arguments, "--dump", "U#1", "--engine", name)
        for name in available_engines()
    }
    for name, report in found.items():
        assert report.pop("kernels") == name
        del report["seconds"]
    assert all(report == found["reference"] for report in found.values())
    assert main([*arguments, "--engine", "fast"]) == 2
    assert "'fast'" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["words", "bytes"])
def test_run_takes_words_and_bytes(
    form: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = assemble("TGPR2T <Row=32, Col=4, U8>, a0, zero, zero, zero, ->U<128B>\nC.BSTOP")[:-1]
    if form == "words":
        content = " ".join(f"{int(w):0{w.width // 4}x}" for w in words).encode()
    else:
        content = b"".join(word.to_bytes() for word in words)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    found = run_json(capsys, "run", "--machine", "pto", "--register", "a0=1")
    assert (found["counts"], found["hands"]) == ({"TGPR2T": 1}, {"U": 1})


def test_a_refused_bundle_exits_with_1(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(folder / "p.pto")]) == 1
    shown = capsys.readouterr().out
    assert "TileLegality in bundle 0, PE0: T#1 (left) does not exist [source.absent]" in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--load", "x.npy@T"], "expected FILE.npy@HAND:TYPE"),
        (["--load", "{}/x.npy@T:FP16"], "has 32 bits, FP16 has 16"),
        (["--load", "{}/x.npy@T:FP32:CUBE_M16"], "no CUBE_M16 tile has the valid shape 32x2"),
        (["--load", "{}/x.npy@Q:FP32"], "unknown hand 'Q'"),
        (["--load", "{}/z.npy@T:FP32"], "no such file"),
        (["--load", "{}/x.npy@T:mask:CUBE_M32"], "names its basis"),
        (["--dump", "T#17"], "a tile is named"),
        (["--register", "a9=1"], "unknown register 'a9'"),
        (["--register", "a0"], "expected NAME=VALUE"),
        (["--set", "tgpr2t_mim=zero"], "did you mean 'tgpr2t_min'"),
        (["--pe", "4"], "--pe must be 0..3"),
    ],
)
def test_bad_options_exit_with_2(
    arguments: list[str], message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [text.format(folder) for text in arguments]
    assert main(["run", str(folder / "p.pto"), *given]) == 2
    assert message in capsys.readouterr().err


def test_check_says_what_words_alone_break(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(folder / "p.pto"), "--every"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "2 bundles: 2 ok"
    bad = PROGRAM + "TCMP <Row=1, Col=1, HiF8>, T#1, T#1, ->a0\nB.IOR a0\n"
    (folder / "bad.pto").write_text(bad)
    assert main(["check", str(folder / "bad.pto")]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "bundle 2: TCMP TileLegality: TCMP does not operate on HiF8 [type.operation]",
        "bundle 3: BundleControl: B.IOR outside a bundle [bundle.outside]",
        "4 bundles: 2 ok, 1 TileLegality, 1 BundleControl",
    ]
    assert main(["check", str(folder / "bad.pto"), "--every", "--limit", "1"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "bundle 0: TCMPS ok",
        "… and 3 more bundles ('--limit all' lists them)",
        "4 bundles: 2 ok, 1 TileLegality, 1 BundleControl",
    ]
    assert main(["check", str(folder / "bad.pto"), "--json", "--limit", "0"]) == 1
    assert json.loads(capsys.readouterr().out)["summary"]["not_listed"] == 2


def test_text_errors_name_the_place(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "typo.pto").write_text("BSTOP\nB.IORR a0\n")
    assert main(["run", str(folder / "typo.pto")]) == 2
    err = capsys.readouterr().err
    assert "typo.pto:2:1: unknown command 'B.IORR'; did you mean" in err
    assert err.endswith(", in 'B.IORR a0'\n")


def test_an_empty_program_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "empty.pto").write_text("")
    assert main(["run", str(folder / "empty.pto")]) == 2
    assert capsys.readouterr().err.endswith("empty.pto: empty; expected a program\n")


@pytest.mark.parametrize(
    ("things", "parts"),
    [
        (["pto"], ["the PTO tile machine", "TGPR2T"]),
        (["pto", "revisions"], ["proposal", "frozen", "P2R: eight GPRs"]),
        (["pto", "evidence"], ["EV-01", "EV-15", "test_ev_15_catalogue_matches_the_decoder"]),
        (["pto", "profile"], ["null_gpr_padding", "why it is open"]),
        (["pto", "rules"], ["BundleControl", "dimension.cols"]),
        (["pto", "words"], ["B.DATR", "000c707f", "00001023"]),
        (["pto", "dtypes", "E4M3"], ["HiF4X2", "E4M3FN"]),
        (["pto", "instructions"], ["0x7e", "BSTART.SFU"]),
        (
            ["TSELS"],
            [
                "take each element from a tile or from a scalar",
                "B.IOR low, high (8-bit types), scalar",
            ],
        ),
        (["P2R"], ["eight 32-bit GPRs", "proposal"]),
        (["dimension.cols"], ["LB2 gives the physical columns"]),
        (["B.IOT"], ["bits 8..7", "destination hand"]),
        (["tgpr2t_min"], ["reject", "zero"]),
    ],
)
def test_explain(things: list[str], parts: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", *things]) == 0
    shown = capsys.readouterr().out
    for part in parts:
        assert part in shown


def test_explain_unknown_names_of_the_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "pto", "evidense"]) == 2
    err = capsys.readouterr().err
    assert "did you mean 'evidence'" in err
    assert "(lists: revisions, evidence, instructions, rules, words, dtypes, profile)" in err


def test_cast_with_the_machines_own_types(capsys: pytest.CaptureFixture[str]) -> None:
    found = run_json(capsys, "cast", "0x7e", "--from", "E4M3", "--to", "FP32", "--machine", "pto")
    assert found["values"][0]["value"] == "448"
    assert main(["cast", "1", "--from", "E4M4", "--to", "FP32", "--machine", "pto"]) == 2
    assert "explain pto dtypes" in capsys.readouterr().err


def test_fuzz(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["fuzz", "--machine", "pto", "-n", "300", "--seed", "2"]
    found = run_json(capsys, *arguments)
    assert sum(found["verdicts"].values()) == 300
    assert found["failures"] == []
    assert main(arguments) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("seed 2: 300 bundles, 0 failures")
