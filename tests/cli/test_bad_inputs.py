"""Bad input of every kind to every verb: status 2, one line that helps, nothing written."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from tests.cli import programs
from tests.cli.conftest import MALFORMED, Command

PLACE = "sbuf:0+0x100:FP32"

# What is given to the command, and what its line must mention.
REFUSED: dict[str, tuple[list[str], str]] = {
    # The command itself.
    "unknown verb": (["rnu"], "did you mean 'run'"),
    "unknown option": (["check", "--genration", "all"], "--generation"),
    "option of the whole command": (["--versoin"], "--version"),
    "option without its value": (["run", "ok.bin", "--generation"], "--generation"),
    "one file too many": (["run", "ok.bin", "ok.bin"], "ok.bin"),
    # Words.
    "run: empty": (["run", "malformed/empty.bin"], "empty; expected words of 64 bytes"),
    "run: odd length": (["run", "malformed/odd_length.bin"], "offset 64 (0x40): 36"),
    "run: one byte": (["run", "malformed/one_byte.bin"], "offset 0 (0x0): 1"),
    "run: hex text": (["run", "malformed/hex_text.bin"], "looks like text"),
    "run: folder": (["run", "malformed"], "is a folder"),
    "run: missing": (["run", "nowhere.bin"], "no such file"),
    "run: empty standard input": (["run"], "standard input: empty"),
    "run: name with a line break": (["run", "a\nb"], "no such file"),
    "run: empty name": (["run", ""], "no such file"),
    "check: empty": (["check", "malformed/empty.bin"], "empty"),
    "check: odd length": (["check", "malformed/odd_length.bin"], "36"),
    "check: folder": (["check", "malformed"], "is a folder"),
    "check: missing": (["check", "nowhere.bin"], "no such file"),
    "check: a bad file after a good one": (["check", "ok.bin", "nowhere.bin"], "nowhere.bin"),
    "check: empty standard input": (["check", "-"], "standard input: empty"),
    # Settings.
    "run: generation": (["run", "ok.bin", "-g", "caymen"], "'cayman'"),
    "run: profile": (["run", "ok.bin", "-p", "hardwire"], "'hardware'"),
    "run: profile field": (["run", "ok.bin", "--set", "float_too_int=nearest"], "'float_to_int'"),
    "run: profile value": (["run", "ok.bin", "--set", "float_to_int=nearer"], "'nearest'"),
    "run: number as text": (["run", "ok.bin", "--set", "fp32r_mantissa_bits=x"], "1..22"),
    "run: number too large": (["run", "ok.bin", "--set", "fp32r_mantissa_bits=23"], "1..22"),
    "run: endless number": (["run", "ok.bin", "--set", "fp32r_mantissa_bits=" + "9" * 5000], "22"),
    "run: no value": (["run", "ok.bin", "--set", "float_to_int"], "FIELD=VALUE"),
    "run: nothing set": (["run", "ok.bin", "--set", ""], "FIELD=VALUE"),
    "run: engine": (["run", "ok.bin", "--engine", "natvie"], "'native'"),
    "run: surface": (["run", "ok.bin", "--surface", "pol"], "'pool'"),
    "run: endless name": (["run", "ok.bin", "-g", "x" * 100_000], "generation"),
    "check: generation": (["check", "ok.bin", "-g", "trn9"], "'trn2'"),
    "check: profile field": (["check", "ok.bin", "--set", "fp8=fn"], "fp8_exp4"),
    "check: surface": (["check", "ok.bin", "--surface", "sp"], "surface"),
    "run: register": (["run", "ok.bin", "--register", "64=1"], "0..63"),
    "run: register value": (["run", "ok.bin", "--register", "1=0x100000000"], "32 bits"),
    "run: register text": (["run", "ok.bin", "--register", "r1=1"], "'r1'"),
    "run: register without value": (["run", "ok.bin", "--register", "1"], "N=VALUE"),
    "run: negative register": (["run", "ok.bin", "--register", "-1=1"], "'-1'"),
    # Places in memory.
    "load: no place": (["run", "ok.bin", "--load", "ok.npy"], "FILE.npy@sbuf"),
    "load: no file": (["run", "ok.bin", "--load", f"@{PLACE}"], "FILE.npy@sbuf"),
    "load: nothing": (["run", "ok.bin", "--load", ""], "FILE.npy@sbuf"),
    "load: no dtype": (["run", "ok.bin", "--load", "ok.npy@sbuf:0+0"], "FILE.npy@sbuf"),
    "load: space": (["run", "ok.bin", "--load", "ok.npy@sbuff:0+0:FP32"], "'sbuf'"),
    "load: dtype": (["run", "ok.bin", "--load", "ok.npy@sbuf:0+0:FP33"], "'FP32'"),
    "load: dtype without values": (["run", "ok.bin", "--load", "ok.npy@sbuf:0+0:INVALID"], "dtype"),
    "load: suffix": (["run", "ok.bin", "--load", f"ok.npy@{PLACE}:covert"], ":convert"),
    "load: partition": (["run", "ok.bin", "--load", "ok.npy@sbuf:x+0:FP32"], "partition"),
    "load: partition 128": (["run", "ok.bin", "--load", "ok.npy@sbuf:128+0:FP32"], "0..127"),
    "load: partitions": (["run", "ok.bin", "--load", "ok.npy@sbuf:126+0:FP32"], "0..127"),
    "load: negative": (["run", "ok.bin", "--load", "ok.npy@sbuf:0+-4:FP32"], "'-4'"),
    "load: misaligned": (["run", "ok.bin", "--load", "ok.npy@sbuf:0+2:FP32"], "aligned"),
    "load: outside": (["run", "ok.bin", "--load", "ok.npy@sbuf:0+0x37ff0:FP32"], "0x38000"),
    "load: far outside": (["run", "ok.bin", "--load", f"ok.npy@sbuf:0+{9**20}:FP32"], "inside"),
    "load: no PSUM": (
        ["run", "ok.bin", "-g", "maverick", "--load", "ok.npy@psum:0+0:FP32"],
        "no PSUM",
    ),
    "dump: no shape": (["run", "ok.bin", "--dump", PLACE], "SHAPE"),
    "dump: nothing": (["run", "ok.bin", "--dump", ""], "SHAPE"),
    "dump: no file after @": (["run", "ok.bin", "--dump", "sbuf:0+0:4:FP32@"], "@FILE.npy"),
    "dump: shape": (["run", "ok.bin", "--dump", "sbuf:0+0:4xx4:FP32"], "extent"),
    "dump: empty shape": (["run", "ok.bin", "--dump", "sbuf:0+0:0x4:FP32"], "at least 1"),
    "dump: large shape": (["run", "ok.bin", "--dump", "sbuf:0+0:4294967296:FP32"], "elements"),
    "dump: shape past 64 bits": (
        ["run", "ok.bin", "--dump", "sbuf:0+0:4294967296x4294967296:FP32"],
        "elements",
    ),
    "dump: many partitions": (["run", "ok.bin", "--dump", "sbuf:0+0:129x1:FP32"], "0..127"),
    "dump: misaligned": (["run", "ok.bin", "--dump", "sbuf:0+1:4:FP16"], "aligned"),
    "dump: outside": (["run", "ok.bin", "--dump", "psum:0+0x4000:1:FP32"], "inside"),
    "dump: no folder": (["run", "ok.bin", "--dump", "sbuf:0+0:4:FP32@no/x.npy"], "no folder"),
    "dump: to a folder": (["run", "ok.bin", "--dump", "sbuf:0+0:4:FP32@malformed"], "is a folder"),
    "output: no folder": (["run", "ok.bin", "-o", "no/report.txt"], "no folder"),
    "output: a folder": (["check", "ok.bin", "-o", "malformed"], "is a folder"),
    # Cases.
    "cases: missing": (["cases", "check", "nowhere"], "no such file or folder"),
    "cases: no paths": (["cases", "check"], "FILE|FOLDER"),
    "cases: another file": (["cases", "check", "ok.bin"], ".jsonl"),
    "cases: empty folder": (["cases", "check", "hollow"], "no case files"),
    "cases: jobs": (["cases", "check", "malformed", "--jobs", "0"], "at least 1"),
    "cases: jobs as text": (["cases", "check", "malformed", "--jobs", "two"], "'two'"),
    "cases: engine": (["cases", "check", "malformed", "--engine", "gpu"], "engine"),
    "cases: verb": (["cases", "chekc"], "check"),
    # Cast.
    "cast: no source": (["cast", "1", "--to", "FP16"], "--from"),
    "cast: no target": (["cast", "1", "--from", "FP16"], "--to"),
    "cast: source": (["cast", "1", "--from", "FP17", "--to", "FP16"], "'FP16'"),
    "cast: target": (["cast", "1", "--from", "FP16", "--to", "FP16,FP23"], "'FP23'"),
    "cast: empty target": (["cast", "1", "--from", "FP16", "--to", ""], "unknown type ''"),
    "cast: value": (["cast", "1.5.2", "--from", "FP16", "--to", "FP32"], "'1.5.2'"),
    "cast: empty value": (["cast", "", "--from", "FP16", "--to", "FP32"], "expected a number"),
    "cast: endless value": (["cast", "1" * 5000, "--from", "FP16", "--to", "FP32"], "no value"),
    "cast: endless exponent": (["cast", "1e999999999", "--from", "FP16", "--to", "FP32"], "no val"),
    "cast: wide bits": (["cast", "0x12345", "--from", "FP16", "--to", "FP32"], "16 bits"),
    "cast: bits of a 6-bit code": (["cast", "0x7f", "--from", "E3M2", "--to", "FP32"], "E3M2"),
    "cast: no NaN there": (["cast", "nan", "--from", "FP16", "--to", "E2M1"], "E2M1"),
    "cast: decode only": (["cast", "1", "--from", "FP16", "--to", "HiF8"], "HiF8"),
    "cast: nothing": (["cast", "--from", "FP16", "--to", "FP32"], "standard input: empty"),
    "cast: profile": (["cast", "1", "--from", "FP16", "--to", "FP32", "-p", "is"], "'isa'"),
    # Explain.
    "explain: nothing": (["explain"], "name something"),
    "explain: unknown": (["explain", "same-dtpye"], "'same-dtype'"),
    "explain: empty": (["explain", ""], "nothing here is called ''"),
    "explain: one of two": (["explain", "FP32", "zzz"], "'zzz'"),
    "explain: endless": (["explain", "x" * 100_000], "nothing here"),
    "explain: opcode of no generation": (["explain", "0x00"], "'0x00'"),
    # Fuzz.
    "fuzz: count": (["fuzz", "--count", "0"], "at least 1"),
    "fuzz: count as text": (["fuzz", "--count", "many"], "'many'"),
    "fuzz: generation": (["fuzz", "-g", "sundae"], "'sunda'"),
    "fuzz: machine": (["fuzz", "--machine", "nueron"], "'neuron'"),
    "fuzz: seed": (["fuzz", "--seed", "-1"], "seed"),
    "fuzz: no folder": (["fuzz", "--save", "nowhere", "-n", "10"], "no folder"),
}


@pytest.fixture
def folder(malformed: Path) -> Path:
    """The working folder: a good program, a good array, the bad files, an empty folder."""
    here = malformed.parent
    (here / "ok.bin").write_bytes(programs.CAST)
    np.save(here / "ok.npy", np.ones((4, 16), np.float32))
    (here / "hollow").mkdir()
    return here


def _content(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_gives_one_line_and_status_2(name: str, lanewise: Command, folder: Path) -> None:
    arguments, mentioned = REFUSED[name]
    before = _content(folder)
    outcome = lanewise(*arguments)
    outcome.assert_refused()
    assert mentioned in outcome.err
    assert len(outcome.err) < 1000
    assert _content(folder) == before


# What the line must say about each file of tests/malformed that should have been an array.
ARRAYS = {
    "code_in_header.npy": "not a usable .npy file",
    "huge_shape.npy": "fewer bytes than its header announces",
    "magic_only.npy": "not a usable .npy file",
    "negative_shape.npy": "not a usable .npy file",
    "no_elements.npy": "no elements",
    "not_an_array.npy": "not a usable .npy file",
    "object_dtype.npy": "Python objects",
    "strings.npy": "does not hold FP32 bits",
    "structured.npy": "does not hold FP32 bits",
    "truncated.npy": "fewer bytes than its header announces",
    "truncated_header.npy": "not a usable .npy file",
    "unknown_dtype.npy": "not a usable .npy file",
    "version_9.npy": "not a usable .npy file",
}


def test_every_malformed_array_is_in_the_table() -> None:
    assert {path.name for path in MALFORMED.glob("*.npy")} == set(ARRAYS)


@pytest.mark.parametrize("convert", ["", ":convert"])
@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.usefixtures("folder")
def test_a_bad_array_is_refused(name: str, convert: str, lanewise: Command) -> None:
    outcome = lanewise("run", "ok.bin", "--load", f"malformed/{name}@{PLACE}{convert}")
    outcome.assert_refused()
    wanted = ARRAYS[name]
    if convert and wanted == "does not hold FP32 bits":
        wanted = "only numbers convert"
    assert wanted in outcome.err


@pytest.mark.parametrize(
    ("dtype", "array"),
    [
        ("FP32", np.ones(4, np.float64)),
        ("FP32", np.ones(4, np.uint16)),
        ("FP16", np.ones(4, np.float32)),
        ("BFLOAT16", np.ones(4, np.float64)),
        ("BFLOAT16", np.ones(4, np.float16)),
        ("FP8_EXP4", np.ones(4, np.int8)),
        ("UINT8", np.ones(4, np.bool_)),
        ("INT32", np.ones(4, np.complex64)),
    ],
)
@pytest.mark.usefixtures("folder")
def test_an_array_of_another_type_is_refused(
    dtype: str, array: np.ndarray[tuple[int], np.dtype[np.generic]], lanewise: Command
) -> None:
    np.save("other.npy", array)
    outcome = lanewise("run", "ok.bin", "--load", f"other.npy@sbuf:0+0:{dtype}")
    outcome.assert_refused()
    assert f"{array.dtype} does not hold {dtype} bits" in outcome.err


class _Trap:
    """Makes a folder when it is unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("unpickled",)


@pytest.mark.usefixtures("folder")
def test_nothing_is_ever_unpickled(lanewise: Command) -> None:
    trap = np.array([_Trap()], dtype=object)
    np.save("trap.npy", trap, allow_pickle=True)
    Path("pickle.npy").write_bytes(trap.dumps())
    for file in ("trap.npy", "pickle.npy"):
        lanewise("run", "ok.bin", "--load", f"{file}@{PLACE}").assert_refused()
    assert not Path("unpickled").exists()


def test_an_unreadable_file_is_refused(lanewise: Command, folder: Path) -> None:
    Path("closed.bin").write_bytes(programs.CAST)
    Path("closed.bin").chmod(0)
    if os.access("closed.bin", os.R_OK):
        pytest.skip("this user may read everything")
    for verb in ("run", "check"):
        outcome = lanewise(verb, "closed.bin")
        outcome.assert_refused()
        assert "closed.bin: Permission denied" in outcome.err


@pytest.mark.parametrize("verb", ["run", "check"])
def test_an_odd_end_of_standard_input_is_refused(verb: str, lanewise: Command) -> None:
    outcome = lanewise(verb, stdin=programs.CAST + b"\0" * 5)
    assert outcome.status == 2
    assert outcome.err == (
        "lanewise: standard input: the size, 69, is no multiple of the word's 64 bytes; "
        "bytes left over at offset 64 (0x40): 5\n"
    )


@pytest.mark.usefixtures("folder")
def test_an_odd_file_is_refused_before_anything_is_printed(lanewise: Command) -> None:
    Path("long.bin").write_bytes(programs.ILLEGAL * 10_000 + b"\0")
    lanewise("check", "ok.bin", "long.bin").assert_refused()


@pytest.mark.parametrize("name", ["invalid_opcode.bin", "garbage.bin"])
@pytest.mark.parametrize("generation", ["sunda", "cayman", "mariana", "maverick"])
@pytest.mark.usefixtures("folder")
def test_words_of_garbage_have_verdicts(name: str, generation: str, lanewise: Command) -> None:
    for verb in ("run", "check"):
        outcome = lanewise(verb, f"malformed/{name}", "-g", generation)
        assert outcome.status == 1
        assert outcome.err.count("\n") <= 1  # at most the note about kernels


@pytest.mark.parametrize(
    "name", ["binary.jsonl", "no_case.jsonl", "not_json.jsonl", "unknown_key.case.json"]
)
@pytest.mark.usefixtures("folder")
def test_a_case_that_cannot_be_read_fails_with_its_place(name: str, lanewise: Command) -> None:
    outcome = lanewise("cases", "check", f"malformed/{name}")
    assert outcome.status == 1
    assert outcome.out.splitlines()[-1] == "0 passed, 1 failed"
    assert "cannot be read" in outcome.out
    assert outcome.err == ""
