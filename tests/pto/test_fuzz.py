"""Random bundles: typed refusals only, no half-done effects, and the same run for a seed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lanewise.check.pto_cases import _initial_core, parse_case, run_case
from lanewise.check.pto_crash import failure_case
from lanewise.check.pto_fuzz import FuzzReport, fuzz_bundles
from lanewise.check.pto_schema import CompareElement
from lanewise.cli.application import main
from lanewise.errors import UsageError
from lanewise.kernels import native_problem, select_tile_engine
from lanewise.model import RunReport
from lanewise.pto import PtoCore

CASES = Path(__file__).parents[2] / "cases" / "pto"


def test_random_bundles_keep_every_promise() -> None:
    report = fuzz_bundles(3000, seed=11)
    assert report.failures == ()
    assert sum(report.verdicts.values()) == 3000
    assert set(report.verdicts) == {
        "ok",
        "IllegalInstruction",
        "BundleControl",
        "TileLegality",
        "TileAllocation",
    }
    assert report.verdicts["ok"] > 600
    assert len(report.rules) > 25


def test_a_seed_gives_the_same_bundles() -> None:
    assert fuzz_bundles(200, seed=4) == fuzz_bundles(200, seed=4)
    assert fuzz_bundles(200, seed=4) != fuzz_bundles(200, seed=5)


def test_a_negative_count_is_refused() -> None:
    with pytest.raises(UsageError, match="must not be negative"):
        fuzz_bundles(-1)


@pytest.mark.slow
def test_a_million_bundles() -> None:
    assert fuzz_bundles(1_000_000, seed=7).failures == ()


def failures(monkeypatch: pytest.MonkeyPatch, attempt: Callable[..., RunReport]) -> FuzzReport:
    """A report of bundles on a core whose ``attempt`` is this one."""
    with monkeypatch.context() as patch:
        patch.setattr(PtoCore, "attempt", attempt)
        return fuzz_bundles(40, seed=3)


def crash(core: PtoCore, program: object) -> RunReport:
    raise ZeroDivisionError("oh")


def half_done(core: PtoCore, program: list[str]) -> RunReport:
    report = ATTEMPT(core, program)
    core.set_flags(core.flags() ^ 16)
    return report


ATTEMPT = PtoCore.attempt


@pytest.mark.parametrize("attempt", [crash, half_done])
def test_failures_are_cases_that_a_sound_machine_passes(
    attempt: Callable[..., RunReport], monkeypatch: pytest.MonkeyPatch
) -> None:
    report = failures(monkeypatch, attempt)
    assert len(report.failures) > 3
    for failure in report.failures:
        text = failure_case(failure, report.seed)
        case = parse_case(json.loads(text))
        assert case.note is not None
        assert failure.problem in case.note
        assert _initial_core(case, "auto").state == failure.initial
        assert run_case(case) == []
        with monkeypatch.context() as patch:
            patch.setattr(PtoCore, "attempt", attempt)
            if attempt is crash:
                with pytest.raises(ZeroDivisionError):
                    run_case(case)
            else:
                assert run_case(case) != []


@pytest.mark.skipif(native_problem() is not None, reason="there is but one engine")
def test_engines_that_differ_are_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    tiles = select_tile_engine("native")

    def wrong(*operands: Any) -> tuple[Any, bool]:
        words, raised = select_tile_engine("reference").compare_planes(*operands)
        return words ^ np.uint64(1), raised

    monkeypatch.setattr(tiles, "compare_planes", wrong)
    report = fuzz_bundles(400, seed=3)
    assert report.failures
    assert {failure.problem for failure in report.failures} == {
        "the engines native and reference end differently"
    }


@pytest.mark.skipif(native_problem() is not None, reason="there is but one engine")
def test_a_case_runs_on_the_engine_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        line
        for path in sorted(CASES.glob("*.jsonl"))
        for line in path.read_text().splitlines()
        if "compare_element" in line
    ]
    cases = [parse_case(json.loads(line)) for line in lines]
    elements = [case for case in cases if isinstance(case.operation, CompareElement)][:20]
    assert elements

    def stop(*operands: Any) -> None:
        raise AssertionError("this engine was not asked for")

    monkeypatch.setattr(select_tile_engine("native"), "relate", stop)
    for case in elements:
        assert run_case(case, "reference") == []


def test_the_verb_saves_failures_as_cases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["fuzz", "--machine", "pto", "-n", "30", "--seed", "3", "--save", str(tmp_path)]
    with monkeypatch.context() as patch:
        patch.setattr(PtoCore, "attempt", half_done)
        assert main([*arguments, "--json"]) == 1
    saved = json.loads(capsys.readouterr().out)["saved"]
    assert sorted(saved) == sorted(map(str, tmp_path.iterdir()))
    assert main(["cases", "check", str(tmp_path)]) == 0
