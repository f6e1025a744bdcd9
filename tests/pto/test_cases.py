"""Every case of the project's PTO case files, and that broken ones are told apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lanewise.check.cases import check_files, check_text
from lanewise.check.errors import CaseError
from lanewise.check.pto_cases import parse_case, run_case

FOLDER = Path(__file__).parents[2] / "cases" / "pto"
FILES = sorted(FOLDER.glob("*.jsonl"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_case_passes(path: Path) -> None:
    results = list(check_files([path]))
    assert results
    assert [(r.id, r.differences) for r in results if not r.passed] == []


def first(stem: str) -> dict[str, object]:
    with (FOLDER / f"{stem}.jsonl").open() as lines:
        found: dict[str, object] = json.loads(next(lines))
        return found


@pytest.mark.parametrize(
    ("stem", "path", "value", "message"),
    [
        ("tcmp", ("surprise",), 1, "unknown field `surprise`"),
        ("tcmp", ("tiles", 0, "colour"), 1, "$.tiles[0]"),
        ("tcmp", ("tiles", 0, "dtype"), "FP33", "unknown PTO data type 'FP33'"),
        ("tcmp", ("tiles", 1, "hex"), "00", "$.tiles[1]"),
        ("tcmp", ("program", 0), "0x123", "$.program[0]"),
        ("tcmp", ("gprs",), {"24": "0x1"}, "$.gprs"),
        ("tcmp", ("gprs",), {"4": "0x1" + 16 * "0"}, "holds 64 bits"),
        ("tcmp", ("revision",), "proposal", "$.revision"),
        ("tcmp", ("pe",), 4, "$.pe"),
        ("tcmp", ("pes",), {"4": {}}, "expected a PE 0..3"),
        ("tcmp", ("expect", "fault"), "BundleControl", "$.expect"),
        ("tcmp", ("operation",), {"op": "assemble", "text": []}, "either a program"),
        ("decode", ("operation", "op"), "decode", "$.operation"),
    ],
)
def test_a_case_that_cannot_be_read_says_where(
    stem: str, path: tuple[str | int, ...], value: object, message: str
) -> None:
    case = first(stem)
    place: object = case
    for step in path[:-1]:
        place = place[step]  # type: ignore[index]
    place[path[-1]] = value  # type: ignore[index]
    with pytest.raises(CaseError) as caught:
        parse_case(case)
    assert message in str(caught.value)


def test_differences_name_the_first_bit() -> None:
    lines = (FOLDER / "tgpr2t.jsonl").read_text().splitlines()
    case = next(found for found in map(json.loads, lines) if found["expect"].get("tiles"))
    expected = case["expect"]["tiles"][0]
    byte = int(expected["hex"][:2], 16)
    expected["hex"] = f"{byte ^ 4:02x}" + expected["hex"][2:]
    case["expect"]["flags"] = 1
    assert run_case(parse_case(case)) == [
        "flags: expected 1, got 0",
        f"{expected['tile']}: payload: byte 0 expected {byte ^ 4:02x}, got {byte:02x} "
        "(bit 2 first)",
    ]


def test_an_unreadable_case_counts_as_failed() -> None:
    result = check_text('{"machine": "pto"}', "here")
    assert result.unreadable
    assert "here" in result.differences[0]
