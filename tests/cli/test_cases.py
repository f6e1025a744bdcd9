"""The cases verb."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli import programs
from tests.cli.conftest import Command


def _case(name: str, word: bytes, **expect: object) -> str:
    return json.dumps(
        {
            "schema": "lanewise.case/1",
            "id": name,
            "machine": "neuron",
            "generation": "cayman",
            "program": [{"word": word.hex()}],
            "expect": expect,
        }
    )


@pytest.fixture
def folder(lanewise: Command) -> Path:
    """A folder with three cases that pass, two that fail and one that cannot be read."""
    folder = Path("cases")
    (folder / "deep").mkdir(parents=True)
    good = [_case(f"good/{n}", programs.CAST, verdict="ok") for n in range(3)]
    (folder / "a.jsonl").write_text("\n".join(good) + "\n")
    wrong = _case("bad/rule", programs.ILLEGAL, verdict="illegal", rule="channels")
    wrong_verdict = _case("bad/verdict", programs.MALFORMED, verdict="ok")
    (folder / "deep" / "b.jsonl").write_text(f"{wrong}\n\n{wrong_verdict}\nnot json\n")
    return folder


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.usefixtures("folder")
def test_failing_cases_have_a_line_each_and_a_closing_line_counts(
    jobs: str, lanewise: Command
) -> None:
    outcome = lanewise("cases", "check", "cases", "--jobs", jobs)
    assert outcome.status == 1
    first, second, third, last = outcome.out.splitlines()
    assert first == "bad/rule: first broken rule is mask-disabled, expected channels"
    assert second.startswith("bad/verdict: verdict is malformed opcode, expected ok (")
    assert third.startswith("cases/deep/b.jsonl:4: cannot be read: not JSON: ")
    assert last == "3 passed, 3 failed"


@pytest.mark.usefixtures("folder")
def test_passing_cases_only_count(lanewise: Command) -> None:
    outcome = lanewise("cases", "check", "cases/a.jsonl", "--engine", "reference")
    assert (outcome.status, outcome.out, outcome.err) == (0, "3 passed, 0 failed\n", "")


@pytest.mark.usefixtures("folder")
def test_json_lines(lanewise: Command) -> None:
    lines = lanewise("cases", "check", "cases", "--json").out.splitlines()
    *failing, summary = map(json.loads, lines)
    assert [case["id"] for case in failing] == ["bad/rule", "bad/verdict", "cases/deep/b.jsonl:4"]
    assert [case["unreadable"] for case in failing] == [False, False, True]
    assert summary == {"summary": {"passed": 3, "failed": 3}}
