"""The Neuron case files: all of them pass, on every engine, and none of them has lost a case."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lanewise.check.cases import check_files, check_text
from lanewise.kernels import available_engines

FOLDER = Path(__file__).parents[2] / "cases" / "neuron"
COUNTS = {
    "cast": 502,
    "cast_predicated": 206,
    "copy": 167,
    "copy_predicated": 124,
    "copy_predicated_scalar": 150,
    "dve_read_accumulator": 84,
    "dve_read_indices": 50,
    "find_index8": 128,
    "malformed": 45,
    "match_replace8": 157,
    "match_value_load": 88,
    "max8": 167,
    "nonzero_with_count": 105,
    "programs": 58,
    "range_select": 154,
    "select_reduce": 180,
}


@pytest.mark.parametrize("engine", available_engines())
@pytest.mark.parametrize("name", COUNTS)
def test_every_case_of_a_file_passes(name: str, engine: str) -> None:
    results = list(check_files([FOLDER / f"{name}.jsonl"], engine=engine))
    failures = [f"{r.id}: {'; '.join(r.differences)}" for r in results if not r.passed]
    assert not failures, "\n".join(failures[:10])
    assert len(results) == COUNTS[name]
    assert len({r.id for r in results}) == len(results)


def test_there_are_no_other_files() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {f"{name}.jsonl" for name in COUNTS}
    assert sum(COUNTS.values()) == 2365


def _cases(name: str) -> list[dict]:
    lines = (FOLDER / f"{name}.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("name", [name for name in COUNTS if name != "malformed"])
def test_cases_notice_one_wrong_bit_of_memory(name: str) -> None:
    """Turn one expected bit around in a tenth of the cases: each must fail and name that bit."""
    tried = 0
    for number, case in enumerate(_cases(name)):
        ranges = case["expect"].get("memory", [])
        if number % 10 or not ranges:
            continue
        part = ranges[number % len(ranges)]
        data = bytearray.fromhex(part["hex"])
        at, bit = number % len(data), number % 8
        data[at] ^= 1 << bit
        part["hex"] = data.hex()
        result = check_text(json.dumps(case))
        assert len(result.differences) == 1
        place = f"{part['space']} partition {part['partition']} offset {part['offset'] + at:#x} "
        wrong = f"expected {data[at]:02x} (bit {bit}; 1 of {len(data)} bytes differ)"
        assert result.differences[0].startswith(place)
        assert wrong in result.differences[0]
        tried += 1
    assert tried or name == "match_value_load"


@pytest.mark.parametrize("name", COUNTS)
def test_cases_notice_a_wrong_verdict(name: str) -> None:
    for case in _cases(name)[::7]:
        expect = case["expect"]
        wrong = "malformed" if expect["verdict"] != "malformed" else "fault"
        expect["verdict"] = wrong
        expect.pop("rule", None)
        expect.pop("reason", None)
        result = check_text(json.dumps(case))
        assert not result.passed
        assert f"expected {wrong}" in result.differences[0]


def test_cases_notice_a_wrong_rule() -> None:
    tried = 0
    for name in COUNTS:
        for case in _cases(name):
            if case["expect"]["verdict"] == "illegal":
                rule, case["expect"]["rule"] = case["expect"]["rule"], "no-such-rule"
                result = check_text(json.dumps(case))
                expected = f"first broken rule is {rule}, expected no-such-rule"
                assert result.differences == (expected,)
                tried += 1
                break
    assert tried >= 14


def test_cases_notice_wrong_state() -> None:
    changed = {"keys": 0, "matched": 0, "accumulator": 0, "indices": 0}
    for name in COUNTS:
        for case in _cases(name)[::3]:
            state = case["expect"].get("state", {})
            for key, entries in state.items():
                entry, kind = entries[0], key
                if kind == "accumulator":
                    entry["hex"] = f"{int(entry['hex'], 16) ^ 1:08x}"
                elif kind == "indices":
                    entry["values"][5] ^= 4
                elif "matched" in entry and changed["matched"] <= changed["keys"]:
                    entry["matched"][3] ^= 1
                    kind = "matched"
                else:
                    entry["values"][7] = f"{int(entry['values'][7], 16) ^ 1:08x}"
                result = check_text(json.dumps(case))
                assert len(result.differences) == 1
                assert "of lane" in result.differences[0]
                assert kind.rstrip("s") in result.differences[0]
                changed[kind] += 1
                break
    assert min(changed.values()) >= 5, changed


def test_every_instruction_has_cases_of_every_verdict_in_every_generation() -> None:
    seen = {}
    for name in COUNTS:
        if name in ("malformed", "programs"):
            continue
        for case in _cases(name):
            seen.setdefault(name, set()).add((case["generation"], case["expect"]["verdict"]))
    for name, pairs in seen.items():
        later = name in ("range_select", "nonzero_with_count", "dve_read_indices")
        generations = ("cayman", "mariana", "maverick") + (() if later else ("sunda",))
        for generation in generations:
            assert {(generation, "ok"), (generation, "illegal")} <= pairs, name
