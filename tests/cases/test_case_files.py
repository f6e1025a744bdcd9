"""Case files that cannot be read: one failing result each, with its place; the rest still run."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from tests.neuron.bases import legal_word

from lanewise.check.cases import check_files, check_text, find_files
from lanewise.errors import UsageError

COPY = legal_word(0x46, {"num_active_channels": 1})
GOOD: dict[str, Any] = {
    "schema": "lanewise.case/1",
    "id": "good",
    "machine": "neuron",
    "generation": "cayman",
    "memory": [{"space": "sbuf", "partition": 0, "offset": 0x100, "hex": "0102030405060708"}],
    "state": {
        "keys": [{"partition": 0, "values": ["00000000"] * 8, "matched": [0] * 8}],
        "accumulator": [{"partition": 0, "hex": "00000000"}],
        "indices": [{"partition": 0, "values": [0] * 8}],
    },
    "registers": {"3": 4096},
    "program": [{"word": COPY.hex(), "engine": "pool"}],
    "expect": {
        "verdict": "ok",
        "memory": [{"space": "sbuf", "partition": 0, "offset": 0x300, "hex": "0102030405060708"}],
    },
}


def changed(path: str, value: object) -> dict[str, Any]:
    """The good case with the value at a dotted path replaced (or, for ``...``, removed)."""
    case = copy.deepcopy(GOOD)
    here: Any = case
    *parents, last = [int(part) if part.isdecimal() else part for part in path.split(".")]
    for part in parents:
        here = here[part]
    if value is ...:
        del here[last]
    else:
        here[last] = value
    return case


UNREADABLE = [
    ("extra", 1, "$"),
    ("schema", "lanewise.case/2", "$.schema"),
    ("schema", ..., "$"),
    ("id", ..., "$"),
    ("id", 5, "$.id"),
    ("machine", "gpu", "$.machine"),
    ("machine", ..., "$.machine"),
    ("generation", "caiman", "$.generation"),
    ("generation", 3, "$.generation"),
    ("profile", "real", "$.profile"),
    ("profile_overrides", {"fp8_exp4": "e4"}, "$.profile_overrides"),
    ("profile_overrides", {"no_such": "e4"}, "$.profile_overrides"),
    ("profile_overrides", {"self": "e4"}, "$.profile_overrides"),
    ("profile_overrides", {"fp32r_mantissa_bits": 23}, "$.profile_overrides"),
    ("profile_overrides", {"fp32r_mantissa_bits": "13"}, "$.profile_overrides"),
    ("program", [], "$.program"),
    ("program", ..., "$"),
    ("program.0.word", "zz" * 64, "$.program[0].word"),
    ("program.0.word", "0", "$.program[0].word"),
    ("program.0.word", 5, "$.program[0].word"),
    ("program.0.engine", "gpu", "$.program[0].engine"),
    ("program.0.engine", "pe", "$.program[0].engine"),
    ("program.0.note", "x", "$.program[0]"),
    ("program.0", {"word": legal_word(0x72).hex(), "engine": "act"}, "$.program[0].engine"),
    ("program.0", {"word": legal_word(0xF2).hex(), "engine": "dve"}, "$.program[0].engine"),
    ("program.0", {"word": "02" * 64, "engine": "gpu"}, "$.program[0].engine"),
    ("memory.0.space", "dram", "$.memory[0].space"),
    ("memory.0.partition", 128, "$.memory[0].partition"),
    ("memory.0.partition", -1, "$.memory[0].partition"),
    ("memory.0.partition", "0", "$.memory[0].partition"),
    ("memory.0.offset", 0x38000 - 7, "$.memory[0].offset"),
    ("memory.0.offset", -1, "$.memory[0].offset"),
    ("memory.0.offset", 1 << 70, "$.memory[0].offset"),
    ("memory.0.hex", "0", "$.memory[0].hex"),
    ("memory.0.hex", "xy", "$.memory[0].hex"),
    ("memory.0.hex", "é", "$.memory[0].hex"),
    ("expect.memory.0.hex", "1", "$.expect.memory[0].hex"),
    ("expect.memory.0.offset", 0x38000, "$.expect.memory[0].offset"),
    ("registers", {"64": 0}, "$.registers"),
    ("registers", {"-1": 0}, "$.registers"),
    ("registers", {"²": 0}, "$.registers"),
    ("registers", {"r1": 0}, "$.registers"),
    ("registers", {"1": 1 << 32}, "$.registers"),
    ("registers", {"1": -1}, "$.registers"),
    ("registers", {"1": 1 << 70}, "$.registers"),
    ("state.keys.0.values", ["00000000"] * 7, "$.state.keys[0].values"),
    ("state.keys.0.values.3", "000000", "$.state.keys[0].values[3]"),
    ("state.keys.0.matched", [0] * 9, "$.state.keys[0].matched"),
    ("state.keys.0.matched", [2] + [0] * 7, "$.state.keys[0].matched"),
    ("state.keys.0.matched", [True] * 8, "$.state.keys[0].matched"),
    ("state.keys.0.partition", 128, "$.state.keys[0].partition"),
    ("state.accumulator.0.hex", "0000000000", "$.state.accumulator[0].hex"),
    ("state.indices.0.values", [0] * 9, "$.state.indices[0].values"),
    ("state.indices.0.values", [-1] * 8, "$.state.indices[0].values"),
    ("state.indices.0.values", [1 << 32] * 8, "$.state.indices[0].values"),
    ("state.more", [], "$.state"),
    ("expect.verdict", "maybe", "$.expect.verdict"),
    ("expect.verdict", "illegal", "$.expect"),
    ("expect.rule", "events", "$.expect"),
    ("expect.index", 1, "$.expect.index"),
    ("expect.index", -1, "$.expect.index"),
    ("expect", ..., "$"),
]


def test_the_good_case_passes() -> None:
    assert check_text(json.dumps(GOOD)).differences == ()


@pytest.mark.parametrize(("path", "value", "where"), UNREADABLE)
def test_a_bad_key_is_one_failing_result_with_its_json_path(path, value, where: str) -> None:
    result = check_text(json.dumps(changed(path, value)), "vectors.jsonl:7")
    assert result.unreadable
    assert not result.passed
    assert len(result.differences) == 1
    assert result.differences[0].startswith("cannot be read: vectors.jsonl:7: ")
    assert f"`{where}" in result.differences[0]


def test_maverick_has_no_psum_to_fill() -> None:
    for text in ("", "00"):
        case = changed("memory.0", {"space": "psum", "partition": 0, "offset": 0, "hex": text})
        case["generation"] = "maverick"
        result = check_text(json.dumps(case))
        assert result.unreadable
        assert "maverick has no PSUM - at `$.memory[0].space`" in result.differences[0]


GARBAGE = {
    "empty object": b"{}",
    "list": b"[1, 2]",
    "number": b"7",
    "null": b"null",
    "truncated": json.dumps(GOOD).encode()[:-9],
    "two documents": json.dumps(GOOD).encode() * 2,
    "not a number": b'{"id": NaN}',
    "not UTF-8": b'{"id": "\xff\xfe"}',
    "binary": bytes(range(11, 256)),
    "deep list": b"[" * 200_000,
    "deep object": b'{"a":' * 200_000,
    "deep and closed": b"[" * 50_000 + b"]" * 50_000,
    "huge number": b'{"id": ' + b"9" * 50_000 + b"}",
}


@pytest.mark.parametrize("content", GARBAGE.values(), ids=GARBAGE)
def test_garbage_is_one_failing_result_and_does_not_stop_the_rest(tmp_path, content) -> None:
    file = tmp_path / "mixed.jsonl"
    good = json.dumps(GOOD).encode()
    file.write_bytes(good + b"\n\n" + content + b"\n" + good)
    results = list(check_files([file]))
    assert [(r.passed, r.unreadable) for r in results] == [
        (True, False),
        (False, True),
        (True, False),
    ]
    assert results[1].place == f"{file}:3"
    assert results[1].differences[0].startswith(f"cannot be read: {file}:3: ")


@pytest.mark.parametrize("jobs", [1, 2])
def test_results_come_in_file_order_whatever_the_number_of_jobs(tmp_path: Path, jobs: int) -> None:
    for number in range(3):
        lines = [json.dumps(GOOD | {"id": f"{number}/{line}"}) for line in range(70)]
        lines[5] = "{"
        (tmp_path / f"{number}.jsonl").write_text("\n".join(lines))
    (tmp_path / "9.case.json").write_text(json.dumps(GOOD | {"id": "9"}, indent=2))
    results = list(check_files([tmp_path], jobs=jobs))
    assert len(results) == 211
    expected = [f"{n}/{line}" for n in range(3) for line in range(70) if line != 5] + ["9"]
    assert [r.id for r in results if r.passed] == expected
    assert [r.place.rsplit(":", 1)[1] for r in results if not r.passed] == ["6"] * 3


@pytest.mark.parametrize("content", ["", "\n", "  \n\n"])
def test_an_empty_file_is_a_failing_case(tmp_path: Path, content: str) -> None:
    file = tmp_path / "empty.jsonl"
    file.write_text(content)
    (result,) = check_files([file])
    assert result.differences == (f"cannot be read: {file}:1: the file holds no case",)


def test_files_are_found_by_their_names(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    for name in ("b/z.jsonl", "a.case.json", "c.jsonl", "notes.json", "d.txt"):
        (tmp_path / name).write_text("{}")
    found = [str(path.relative_to(tmp_path)) for path in find_files([tmp_path])]
    assert found == ["a.case.json", "b/z.jsonl", "c.jsonl"]
    for path, message in (
        (tmp_path / "nothing", "no such file or folder"),
        (tmp_path / "d.txt", "a case file ends in .jsonl or .case.json"),
    ):
        with pytest.raises(UsageError, match=message):
            find_files([path])
    (tmp_path / "hollow").mkdir()
    with pytest.raises(UsageError, match="no case files"):
        find_files([tmp_path / "hollow"])
    with pytest.raises(UsageError, match="jobs must be at least 1, not 0"):
        list(check_files([tmp_path], jobs=0))


# Expectations that are wrong: what the one difference says.
WRONG = [
    (
        "expect.memory.0.hex",
        "0102030405060788",
        "sbuf partition 0 offset 0x307 holds 08, expected 88 (bit 7; 1 of 8 bytes differ)",
    ),
    (
        "expect.memory.0.hex",
        "01fa030405060700",
        "sbuf partition 0 offset 0x301 holds 02, expected fa (bit 3; 2 of 8 bytes differ)",
    ),
    (
        "memory.0.hex",
        "0102030405060709",
        "sbuf partition 0 offset 0x307 holds 09, expected 08 (bit 0; 1 of 8 bytes differ)",
    ),
    (
        "expect.state",
        {"accumulator": [{"partition": 0, "hex": "000080ff"}]},
        "accumulator of lane 0 is 00000000, expected ff800000",
    ),
    (
        "expect.state",
        {"indices": [{"partition": 0, "values": [0, 1, 0, 0, 0, 0, 0, 0]}]},
        "indices of lane 0 are [0, 0, 0, 0, 0, 0, 0, 0], expected [0, 1, 0, 0, 0, 0, 0, 0]",
    ),
    (
        "expect.state",
        {"keys": [{"partition": 0, "values": ["00000000"] * 8, "matched": [1] * 8}]},
        "matched flags of lane 0 are [0, 0, 0, 0, 0, 0, 0, 0], expected [1, 1, 1, 1, 1, 1, 1, 1]",
    ),
    ("program.0.word", "46" * 64, None),
    ("expect.verdict", "fault", "verdict is ok, expected fault"),
    ("expect.verdict", "malformed", "verdict is ok, expected malformed"),
]


@pytest.mark.parametrize(("path", "value", "message"), WRONG)
def test_a_case_that_must_fail_does_and_says_what_differs(path, value, message) -> None:
    result = check_text(json.dumps(changed(path, value)))
    assert not result.passed
    assert not result.unreadable
    if message is not None:
        assert result.differences == (message,)


def test_the_refused_word_is_compared() -> None:
    case = changed("program", [{"word": COPY.hex()}, {"word": "00" * 64}, {"word": COPY.hex()}])
    case["expect"] |= {"verdict": "malformed", "reason": "opcode", "index": 1}
    assert check_text(json.dumps(case)).passed
    del case["expect"]["index"]
    assert check_text(json.dumps(case)).differences == ("word 1 was refused, expected word 2",)
    case["expect"] |= {"index": 1, "reason": "length"}
    assert check_text(json.dumps(case)).differences == ("reason is opcode, expected length",)
