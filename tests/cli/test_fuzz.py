"""The fuzz verb; what it looks for is tested with the fuzzer itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli import programs
from tests.cli.conftest import Command

from lanewise.check.neuron_fuzz import Crash, Tally, crash_case, rule_ids
from lanewise.cli import fuzz as verb


def test_a_run_without_crashes_exits_with_0(lanewise: Command) -> None:
    outcome = lanewise("fuzz", "-n", "200", "-g", "cayman", "--seed", "5")
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out.splitlines()[-1].startswith("seed 5: 200 words, 0 crashes, ")


def test_json_counts_every_word(lanewise: Command) -> None:
    outcome = lanewise("fuzz", "-n", "100", "--seed", "0x7", "--json")
    report = json.loads(outcome.out)
    assert (report["seed"], report["count"], report["crashes"]) == (7, 100, [])
    assert list(report["generations"]) == ["sunda", "cayman", "mariana", "maverick"]
    for found in report["generations"].values():
        assert sum(found["verdicts"].values()) == found["words"] == 100
        assert sum(found["runs"].values()) == found["verdicts"]["ok"]
        assert sum(found["first_broken_rules"].values()) == found["verdicts"]["illegal"]


def test_equal_seeds_give_equal_words(lanewise: Command) -> None:
    arguments = ("fuzz", "-n", "100", "-g", "trn3", "--seed", "3", "--json")
    first, second = (json.loads(lanewise(*arguments).out)["generations"] for _ in range(2))
    assert first == second


@pytest.fixture
def crashing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that chokes on one word."""

    def fuzz(name: str, count: int, seed: int, **_: Any) -> Iterator[Tally]:
        crash = Crash(programs.CAST.hex(), name, "isa", seed, "ZeroDivisionError: oh")
        yield Tally(words=count, crashes=[crash])

    machine = verb._Machine(lambda text: [text], fuzz, rule_ids, crash_case)
    monkeypatch.setattr(verb, "MACHINES", {"neuron": machine})


@pytest.mark.usefixtures("crashing")
def test_a_crash_is_shown_with_what_repeats_it(lanewise: Command) -> None:
    outcome = lanewise("fuzz", "-n", "10", "-g", "cayman", "--seed", "99")
    assert outcome.status == 1
    assert "cayman, profile isa: ZeroDivisionError: oh" in outcome.out
    assert f"word {programs.CAST.hex()}" in outcome.out
    assert "lanewise fuzz -g cayman --seed 99 -n 1024" in outcome.out
    assert list(Path().iterdir()) == []


@pytest.mark.usefixtures("crashing")
def test_a_saved_crash_is_a_case_file(lanewise: Command) -> None:
    Path("crashers").mkdir()
    outcome = lanewise("fuzz", "-n", "10", "-g", "cayman", "--save", "crashers", "--json")
    (path,) = json.loads(outcome.out)["saved"]
    assert list(Path("crashers").iterdir()) == [Path(path)]
    assert lanewise("cases", "check", "crashers").out == "1 passed, 0 failed\n"
