"""The bench verb, with rows that measure nothing."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.cli.conftest import Command

from lanewise.check import bench
from lanewise.check.bench import Result
from lanewise.check.bench.measure import Spread


@pytest.fixture(autouse=True)
def rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """One row whose results change from run to run, and another."""
    values = iter([0.5, 0.9, 0.7])

    def first(tiles: Any) -> list[Result]:
        value = next(values)
        spread = Spread(value, value - 0.1, value + 0.1)
        return [
            Result("cast-bf16", "FP32 to BF16", "x", spread, True, peers={"torch": "1/2"}),
            Result("one-in-a-list", "in a list", "us", Spread(0.02, 0.02, 0.02), False),
        ]

    def second(tiles: Any) -> list[Result]:
        parts = {f"part {n}": float(n) for n in range(1, 12)}
        return [Result("top8", "top-8", "x", Spread(12345.6, 1, 2), True, parts)]

    found = [SimpleNamespace(measure=first), SimpleNamespace(measure=second)]
    monkeypatch.setattr(bench, "choose_rows", lambda names: found[: len(names) or 2])


@pytest.fixture
def budgets(lanewise: Command) -> str:
    text = "[cast-bf16]\nfloor = 0.6\naim = 0.65\n[one-in-a-list]\naim = 0.01\n"
    Path("limits.toml").write_text(text)
    return "limits.toml"


def test_the_median_of_several_runs_is_shown(lanewise: Command, budgets: str) -> None:
    outcome = lanewise("bench", "--only", "cast-bf16", "--runs", "3", "--budgets", budgets)
    assert (outcome.status, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    assert lines[0].split() == ["row", "median", "spread", "floor", "aim", "what"]
    assert lines[1].split()[:6] == ["cast-bf16", "0.7x", "±14%", "0.6", "0.65", "aim"]
    assert "below aim" in lines[2]
    assert lines[3:] == ["  cast-bf16: torch: 1/2", "all floors hold"]


def test_floors_count_only_when_asked(lanewise: Command, budgets: str) -> None:
    outcome = lanewise("bench", "--budgets", budgets)
    assert outcome.status == 0
    assert "BELOW FLOOR" in outcome.out
    assert outcome.out.splitlines()[-1] == "floors that do not hold: cast-bf16"
    assert "12,346x" in outcome.out
    assert "  top8: part 1 1, part 2 2, median 6, part 11 11, 11 in all" in outcome.out
    assert lanewise("bench", "--budgets", budgets, "--check").status == 0  # 0.9


def test_a_floor_that_does_not_hold_fails_the_check(lanewise: Command, budgets: str) -> None:
    outcome = lanewise("bench", "--budgets", budgets, "--check")
    assert outcome.status == 1
    assert outcome.err == ""


def test_json_has_the_limits(lanewise: Command, budgets: str) -> None:
    outcome = lanewise("bench", "--json", "--budgets", budgets)
    documents = [json.loads(line) for line in outcome.out.splitlines()]
    assert [document["name"] for document in documents] == ["cast-bf16", "one-in-a-list", "top8"]
    assert (documents[0]["floor"], documents[0]["aim"], documents[0]["median"]) == (0.6, 0.65, 0.5)
    assert documents[2]["floor"] is None
    assert documents[2]["parts"]["part 11"] == 11


def test_the_picture_is_written(lanewise: Command, budgets: str) -> None:
    outcome = lanewise("bench", "--picture", "ratios.svg", "--budgets", budgets)
    assert outcome.status == 0
    assert ElementTree.parse("ratios.svg").getroot().tag.endswith("svg")


def test_bad_input_is_refused_before_anything_is_measured(lanewise: Command) -> None:
    Path("empty.toml").write_text("")
    for arguments, why in (
        (["--budgets", "nowhere.toml"], "nowhere.toml: No such file"),
        (["--check", "--budgets", "empty.toml"], "--check needs budgets"),
        (["--runs", "0"], "--runs must be at least 1"),
        (["--engine", "gpu"], "'gpu'"),
        (["--picture", "no/where.svg"], "no"),
    ):
        outcome = lanewise("bench", *arguments)
        outcome.assert_refused()
        assert why in outcome.err
