"""The sweep verb; what it compares is tested with the sweep itself."""

from __future__ import annotations

import functools
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.cli.conftest import Command

from lanewise.check import sweep
from lanewise.kernels import select_engine
from lanewise.neuron import Dtype

CAST = ("sweep", "cast", "--from", "FP32", "--to", "BF16", "--jobs", "1")
PART = (*CAST, "--start", "0x3f800000", "--stop", "0x3f900000")


@pytest.fixture
def wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels that are wrong for one code."""

    def damaged(codes: Any, *others: Any) -> Any:
        result = select_engine("reference").convert(codes, *others)
        result[codes == 0x3F80_8001] ^= 1
        return result

    kernels = SimpleNamespace(convert=damaged)
    monkeypatch.setattr(sweep, "select_engine", lambda name: kernels)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A full sweep of three sources into three targets."""
    whole = sweep.full_sweep
    sources = (Dtype.FP32, Dtype.FP16, Dtype.INT8)
    targets = (Dtype.FP8_EXP4, Dtype.BFLOAT16, Dtype.UINT8)

    def some(one_in: int) -> list[sweep.Task]:
        return [
            task
            for task in whole(one_in)
            if task.pair.source in sources and task.pair.target in targets
        ]

    monkeypatch.setattr(sweep, "full_sweep", some)


def test_all_types_are_every_type_once(lanewise: Command) -> None:
    part = ("--stop", "0x40", "--jobs", "1", "--json")
    outcome = lanewise("sweep", "cast", "--from", "ALL,FP16", "--to", "all", "--to", "BF16", *part)
    assert (outcome.status, outcome.err) == (0, "")
    documents = [json.loads(line) for line in outcome.out.splitlines()]
    pairs = [(document["from"], document["to"]) for document in documents]
    assert pairs == [(str(a), str(b)) for a in sweep.SOURCES for b in sweep.TARGETS]
    assert {document["codes"] for document in documents} == {0x40}


def test_kernels_that_agree_exit_with_0(lanewise: Command) -> None:
    outcome = lanewise("sweep", "cast", "--from", "fp16", "--to", "bf16,INT8,fp16", "--jobs", "2")
    assert (outcome.status, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    assert [line.split(",")[0] for line in lines] == [
        "FP16 to BFLOAT16",
        "FP16 to INT8",
        "FP16 to FP16",
    ]
    assert all(" 65,536 codes, 0 differences, " in line for line in lines)


@pytest.mark.usefixtures("wrong")
def test_a_difference_is_shown_and_exits_with_1(lanewise: Command) -> None:
    outcome = lanewise(*PART, "--engine", "reference")
    assert (outcome.status, outcome.err) == (1, "")
    first, *table = outcome.out.splitlines()
    assert first.startswith("FP32 to BFLOAT16, isa, reference: 1,048,576 codes, 1 difference, ")
    assert [line.split() for line in table] == [
        ["code", "got", "expected"],
        ["0x3f808001", "0x3f80", "0x3f81"],
    ]


@pytest.mark.usefixtures("wrong")
def test_json_has_the_same(lanewise: Command) -> None:
    arguments = ("--engine", "reference", "-p", "hardware", "--set", "fp8_exp4=fn", "--json")
    outcome = lanewise(*PART, *arguments)
    assert outcome.status == 1
    report = json.loads(outcome.out)
    assert report["first"] == [{"code": 0x3F80_8001, "got": 0x3F80, "expected": 0x3F81}]
    assert report["profile"] == "hardware with fp8_exp4=fn"
    assert (report["from"], report["to"], report["differences"]) == ("FP32", "BFLOAT16", 1)
    assert (report["codes"], report["codes_before"]) == (1 << 20, 0)


@pytest.mark.usefixtures("few")
def test_without_a_verb_all_pairs_are_in_a_table(lanewise: Command) -> None:
    outcome = lanewise("sweep", "--one-in", "1048576", "--jobs", "1")
    assert (outcome.status, outcome.err) == (0, "")
    header, *rows, last = outcome.out.splitlines()
    columns = ["from", "to", "conversions, isa", "differ", "conversions, hardware", "differ"]
    assert re.split(r" {2,}", header) == columns
    assert len(rows) == 9
    assert last.startswith("18 pairs, ")
    assert " conversions, 0 differences, " in last


@pytest.mark.usefixtures("few", "wrong")
def test_without_a_verb_differences_exit_with_1(lanewise: Command) -> None:
    outcome = lanewise("sweep", "--one-in", "1048576", "--jobs", "1")
    assert outcome.status == 1
    assert "FP32 to BFLOAT16, isa, reference: 0x3f808001 gave 0x3f80, not 0x3f81" in outcome.out
    outcome = lanewise("sweep", "--one-in", "1048576", "--jobs", "1", "--json")
    *pairs, last = map(json.loads, outcome.out.splitlines())
    assert outcome.status == 1
    assert last["summary"]["pairs"] == len(pairs) == 18
    assert last["summary"]["differences"] == sum(pair["differences"] for pair in pairs) > 0


def test_an_interrupted_sweep_goes_on(lanewise: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    real, seen = sweep.compare_range, []

    def stops(pair: Any, engine: str, span: tuple[int, int]) -> sweep.Tally:
        seen.append(span)
        if len(seen) == 4:
            raise KeyboardInterrupt
        return real(pair, engine, span)

    monkeypatch.setattr(sweep, "compare_range", stops)
    arguments = (*PART, "--chunk", "0x20000", "--state", "s.json")
    outcome = lanewise(*arguments)
    assert (outcome.status, outcome.out, outcome.err) == (130, "", "")
    assert list(Path().iterdir()) == [Path("s.json")]
    outcome = lanewise(*arguments)
    assert outcome.status == 0
    assert ": 655,360 codes (393,216 more before), 0 differences, " in outcome.out
    assert seen[3] == seen[4]
    assert len(seen) == 9
    # All done: nothing is compared again, and other pairs have their own record.
    assert ": 0 codes (1,048,576 more before), " in lanewise(*arguments).out
    assert len(seen) == 9
    assert ": 1,048,576 codes, " in lanewise(*arguments, "-p", "hardware").out


@pytest.mark.usefixtures("wrong")
def test_differences_found_before_still_exit_with_1(lanewise: Command) -> None:
    arguments = (*PART, "--state", "s.json")
    assert [lanewise(*arguments).status for _ in range(2)] == [1, 1]


def test_an_interrupt_of_processes_leaves_a_state(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    arguments = [*CAST, "--to", "INT8", "--chunk", "0x100000", "--jobs", "2", "--state", path]
    with subprocess.Popen(
        [sys.executable, "-m", "lanewise.cli", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"LANEWISE_ENGINE": "reference"},
        # A shell that starts the tests in the background has them, and so us, ignore interrupts.
        preexec_fn=functools.partial(  # noqa: PLW1509 (one thread)
            signal.signal, signal.SIGINT, signal.SIG_DFL
        ),
    ) as process:
        end = time.monotonic() + 60
        while not path.exists() and time.monotonic() < end:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"")
    (record,) = json.loads(path.read_bytes())["pairs"].values()
    assert record["done"][0][0] == 0
    assert record["done"][0][1] % 0x10_0000 == 0


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--from", "FP33", "--to", "FP16"), "unknown dtype 'FP33'"),
        (("--from", "FP32R", "--to", "FP16"), "nothing converts from FP32R; use one of INT8, "),
        (("--from", "FP32", "--to", "INT64"), "nothing converts to INT64; use one of INT8, "),
        (("--from", "FP32", "--to", "FP16,"), "unknown dtype ''"),
        (("--from", "FP32"), "missing option '--to'"),
        ((*CAST[2:], "--start", "x"), "expected a number, decimal or 0x, for --start, not 'x'"),
        ((*CAST[2:], "--stop", "0x100000001"), "--stop at most 0x100000000 for FP32"),
        ((*CAST[2:], "--start", "2", "--stop", "2"), "not 0x2 and 0x2"),
        ((*CAST[2:], "--chunk", "0"), "--chunk must be at least 1, not 0"),
        ((*CAST[2:], "--chunk", "0x20000000"), "--chunk must be at most 268435456"),
        ((*CAST[2:], "--engine", "gpu"), "unknown engine 'gpu'"),
        ((*CAST[2:], "--set", "float_to_int=up"), "unknown value for profile field"),
        ((*CAST[2:], "--state", "none/s.json"), "there is no folder 'none' to write it to"),
        ((*CAST[2:], "--state", "/dev/null"), "--state needs a regular file"),
        ((*CAST[2:], "--state", "bad.json"), "bad.json: is no state of a sweep ("),
    ],
)
def test_bad_arguments_are_refused(arguments: tuple[str, ...], why: str, lanewise: Command) -> None:
    Path("bad.json").write_text("{}")
    outcome = lanewise("sweep", "cast", *arguments)
    outcome.assert_refused()
    assert why in outcome.err


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--one-in", "0"), "--one-in must be at least 1, not 0"),
        (("--one-in", "1048577"), "--one-in must be at most 1048576, not 1048577"),
        (("--jobs", "many"), "expected a number, decimal or 0x, for --jobs, not 'many'"),
        (("--json", *CAST[1:]), "options go after 'cast', which they are for"),
        (("move",), "no such command 'move'"),
    ],
)
def test_bad_arguments_without_a_verb_are_refused(
    arguments: tuple[str, ...], why: str, lanewise: Command
) -> None:
    outcome = lanewise("sweep", *arguments)
    outcome.assert_refused()
    assert why in outcome.err
