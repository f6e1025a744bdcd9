"""Loading numbers as codes: nearest even, the type's own limits, any array of numbers."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from lanewise.cli.application import main
from lanewise.errors import UsageError
from lanewise.formats import decode
from lanewise.pto import DataType
from lanewise.pto.convert import codes_of

VALUES = [[0.0, -0.0, 1.0, 3.3], [1e9, np.inf, -np.inf, np.nan]]
CODES = {
    "FP64": "0 8000000000000000 3ff0000000000000 400a666666666666 "
    "41cdcd6500000000 7ff0000000000000 fff0000000000000 7ff8000000000000",
    "TF32": "0 80000000 3f800000 40534000 4e6e6000 7f800000 ff800000 7fc00000",
    "HF32": "0 80000000 3f800000 40533000 4e6e7000 7f800000 ff800000 7fc00000",
    "FP16": "0 8000 3c00 429a 7c00 7c00 fc00 7e00",
    "BF16": "0 8000 3f80 4053 4e6e 7f80 ff80 7fc0",
    "E4M3": "0 80 38 45 7e 7e fe 7f",
    "E5M2": "0 80 3c 43 7c 7c fc 7e",
    "S8": "0 0 1 3 7f 7f 80 0",
    "U8": "0 0 1 3 ff ff 0 0",
    "E2M1X2": "0 8 2 5 7 7 f 0",
    "S4X2": "0 0 1 3 7 7 8 0",
}


@pytest.mark.parametrize("name", CODES)
@pytest.mark.parametrize("order", ["<", ">"])
def test_values_become_codes(name: str, order: str) -> None:
    found = codes_of(np.array(VALUES, f"{order}f8"), name)
    assert found.shape == (2, 4)
    assert [int(code) for code in found.ravel()] == [int(t, 16) for t in CODES[name].split()]


@pytest.mark.parametrize("name", ["FP16", "BF16", "E4M3", "E5M2", "E3M2", "E2M1X2"])
def test_every_number_of_a_type_is_its_own_code(name: str) -> None:
    form = DataType.named(name).format
    width = min(form.container, 6) if name in ("E3M2", "E2M3") else form.container
    decoded = [(code, decode(form, code)) for code in range(1 << width)]
    exact = [(c, v) for c, v in decoded if v.value is not None and not (v.negative and not v.value)]
    values = np.array([float(v.value or 0) for _, v in exact])
    assert codes_of(values, name).tolist() == [code for code, _ in exact]


def test_integers_are_exact() -> None:
    big = np.array([[2**63 + 1, 2**64 - 1]], np.uint64)
    assert (codes_of(big, "U64") == big).all()
    assert codes_of(np.array([-(2**63)]), "S64").tolist() == [1 << 63]
    assert codes_of([True, False], "FP32").tolist() == [0x3F800000, 0]
    tie = np.array([Fraction(5, 2), Fraction(7, 2)], float)
    assert codes_of(tie, "S8").tolist() == [2, 4]


@pytest.mark.parametrize("bad", [["a"], [1j], [None], np.zeros(2, "M8[s]")])
def test_only_numbers_convert(bad: object) -> None:
    with pytest.raises(UsageError, match="only numbers convert to FP32"):
        codes_of(bad, "FP32")  # type: ignore[arg-type]


def test_a_type_without_a_rounding_rule_says_so() -> None:
    with pytest.raises(UsageError, match="no rounding rule"):
        codes_of([1.0], "HiF8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "p.pto").write_text("TCMPS <Row=32, Col=2, BF16, GT>, T#1, a3, ->x1\n")
    np.save(tmp_path / "x.npy", np.random.default_rng(1).normal(size=(32, 2)))
    np.save(tmp_path / "swapped.npy", np.arange(64, dtype=">i2").reshape(32, 2))
    return tmp_path


@pytest.mark.parametrize("shape", ["", ":32x2"])
def test_the_command_rounds_when_asked(folder: Path, shape: str) -> None:
    load = f"{folder}/x.npy@T:BF16:CUBE_M32{shape}:convert"
    arguments = ["run", f"{folder}/p.pto", "--load", load, "--dump", f"T#1@{folder}/y.npy"]
    assert main(arguments) == 0
    assert (np.load(folder / "y.npy") == codes_of(np.load(folder / "x.npy"), "BF16")).all()


def test_bits_of_the_other_byte_order_are_put_right(folder: Path) -> None:
    load = f"{folder}/swapped.npy@T:S16:CUBE_M32"
    (folder / "p.pto").write_text("TCMPS <Row=32, Col=2, S16, GT>, T#1, a3, ->x1\n")
    assert main(["run", f"{folder}/p.pto", "--load", load, "--dump", f"T#1@{folder}/y.npy"]) == 0
    assert (np.load(folder / "y.npy") == np.load(folder / "swapped.npy")).all()


@pytest.mark.parametrize(
    ("load", "message"),
    [
        ("T:BF16:CUBE_M32", "add :convert to round its numbers"),
        ("M:mask=BF16:CUBE_M32:convert", "there is nothing to convert"),
        ("T:BF16:convert:CUBE_M32", "expected FILE.npy@HAND:TYPE"),
        ("T:HiF8:convert", "no rounding rule"),
    ],
)
def test_bad_conversions_are_named(
    load: str, message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", f"{folder}/p.pto", "--load", f"{folder}/x.npy@{load}"]) == 2
    assert message in capsys.readouterr().err
