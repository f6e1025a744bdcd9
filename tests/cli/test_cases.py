"""The cases verb."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

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


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_case_that_cannot_be_read_keeps_its_place(
    form: tuple[str, ...], lanewise: Command
) -> None:
    good = _case("good", programs.CAST, verdict="ok")
    bad = [
        '{"schema": "lanewise.case/1", "id": "named"}',
        '{"schema": "lanewise.case/1"}',
        json.dumps(json.loads(good) | {"id": "unknown key", "colour": "red"}),
        '{"id": "c.jsonl:9"}',
    ]
    Path("c.jsonl").write_text("\n".join([good, *bad, good]) + "\n")
    Path("one.case.json").write_text(bad[0])
    outcome = lanewise("cases", "check", "c.jsonl", "one.case.json", *form)
    assert outcome.status == 1
    *failing, _ = outcome.out.splitlines()
    places = [*(f"c.jsonl:{line}" for line in (2, 3, 4, 5)), "one.case.json"]
    ids = ["named", "c.jsonl:3", "unknown key", "c.jsonl:9", "named"]
    for line, place, name in zip(failing, places, ids, strict=True):
        if form:
            assert (json.loads(line)["id"], json.loads(line)["place"]) == (name, place)
        else:
            assert line.startswith(f"{name}: cannot be read: ")
            assert line.count(place) == 1


CONTROLS = ["\n", "\r", "\t", "\0", "\x1b[2J", "\x7f", "\x85", "\x9b31m", "\u2028", "\u202e"]


@pytest.mark.parametrize("control", CONTROLS)
def test_a_failing_case_is_one_line_whatever_its_text(control: str, lanewise: Command) -> None:
    word = programs.ILLEGAL
    wrong = [
        _case(f"a{control}b", word, verdict="ok"),
        _case("c", word, verdict="illegal", rule=f"d{control}e"),
        json.dumps({"schema": "lanewise.case/1", "id": f"f{control}g", f"h{control}i": 1}),
        json.dumps({"schema": "lanewise.case/1", "id": "j", "machine": f"k{control}l"}),
    ]
    Path("c.jsonl").write_text("\n".join(wrong) + "\n")
    outcome = lanewise("cases", "check", "c.jsonl")
    assert outcome.out.count("\n") == len(outcome.out.splitlines()) == 5
    assert control not in outcome.out.replace("\n", "")
    assert outcome.out.startswith(f"a{control.encode('unicode_escape').decode()}b: ")
    lines = lanewise("cases", "check", "c.jsonl", "--json").out.split("\n")[:-1]
    assert [json.loads(line).get("id") for line in lines][:3:2] == [
        f"a{control}b",
        f"f{control}g",
    ]


def test_a_file_that_cannot_be_opened_fails_and_the_rest_is_run(
    lanewise: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path.open

    def opened(path: Path, *arguments: Any, **named: Any) -> Any:
        if path.name == "a.jsonl":
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, *arguments, **named)

    monkeypatch.setattr(Path, "open", opened)
    outcome = lanewise("cases", "check", "cases")
    assert outcome.status == 1
    lines = outcome.out.splitlines()
    assert lines[0].startswith("cases/a.jsonl: ")
    assert lines[0].count("cases/a.jsonl") == 1
    assert "Permission denied" in lines[0]
    assert lines[-1] == "0 passed, 4 failed"
