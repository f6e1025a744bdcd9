"""Verdicts, the errors that carry them, and run reports."""

from __future__ import annotations

import json
import pickle

import pytest

from lanewise.errors import LanewiseError, UsageError, nearest_names, unknown_name
from lanewise.model import (
    BrokenRule,
    IllegalInstruction,
    MachineFault,
    MalformedWord,
    Observer,
    RunReport,
    Verdict,
    VerdictError,
    Warned,
)
from lanewise.words import bits, byte

OP = BrokenRule("bypass", "op", (byte(36),), "0x1 (NOT)", "0x0 (BYPASS)")
STEP = BrokenRule("src-readable", "src.step", (byte(16, 8),), "[9]", "inside", "try less")
SPLIT = BrokenRule("parts", "x", (bits(9, 4), byte(3)), "1", "0")


def test_there_are_four_verdicts() -> None:
    assert [str(verdict) for verdict in Verdict] == ["ok", "malformed", "illegal", "fault"]


def test_a_broken_rule_reads_as_id_field_place_value_and_what_to_try() -> None:
    assert str(OP) == "bypass: op (byte 36) is 0x1 (NOT), must be 0x0 (BYPASS)"
    assert str(STEP) == ("src-readable: src.step (bytes 16..23) is [9], must be inside (try less)")
    assert SPLIT.place == "bits 9..4, byte 3"


def test_an_illegal_instruction_lists_all_its_rules_and_names_the_first() -> None:
    error = IllegalInstruction("COPY", (OP, STEP))
    assert error.rule == "bypass"
    assert error.verdict is Verdict.ILLEGAL
    assert str(error) == f"COPY breaks 2 rules:\n  {OP}\n  {STEP}"
    assert str(IllegalInstruction("COPY", (OP,))).startswith("COPY breaks 1 rule:\n")


@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        (MalformedWord("length", "word", b"\x01", "one byte"), Verdict.MALFORMED),
        (IllegalInstruction("COPY", (OP, STEP)), Verdict.ILLEGAL),
        (MachineFault("index", "too far"), Verdict.FAULT),
    ],
)
def test_errors_carry_their_verdict_through_pickle(error: VerdictError, verdict) -> None:
    assert isinstance(error, LanewiseError)
    assert error.verdict is verdict
    assert error.report is None
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again)) == (type(error), str(error))
    for name in ("reason", "field", "bits", "name", "broken"):
        assert getattr(again, name, None) == getattr(error, name, None)


@pytest.mark.parametrize(
    ("error", "rule", "reason"),
    [
        (None, None, None),
        (MalformedWord("opcode", "header.opcode", bytes(64), "no"), None, "opcode"),
        (IllegalInstruction("COPY", (OP, STEP)), "bypass", None),
        (MachineFault("address", "no"), None, "address"),
    ],
)
def test_a_report_says_rule_or_reason_and_becomes_json(error, rule, reason) -> None:
    verdict = Verdict.OK if error is None else error.verdict
    warning = Warned(3, "idle-accumulator", "look")
    report = RunReport(verdict, 5, "isa", {"COPY": 5}, (warning,), 5, error)
    assert (report.rule, report.reason) == (rule, reason)
    plain = json.loads(json.dumps(report.as_dict()))
    assert plain["verdict"] == str(verdict)
    assert (plain["rule"], plain["reason"]) == (rule, reason)
    assert plain["warnings"] == [{"index": 3, "warning": "idle-accumulator", "message": "look"}]
    assert [b["rule"] for b in plain["broken"]] == (["bypass", "src-readable"] if rule else [])
    if error is None:
        report.raise_if_refused()
    else:
        with pytest.raises(type(error)):
            report.raise_if_refused()


def test_an_observer_that_overrides_nothing_does_nothing() -> None:
    observer = Observer()
    assert observer.before_legality(None, 0, b"") is None
    assert observer.after_legality(None, 0, None) is None
    assert observer.after_commit(None, 0, None) is None
    assert observer.refused(None, 0, MachineFault("index", "")) is None


def test_names_nearby_are_suggested() -> None:
    assert nearest_names("CAYMEN", ["sunda", "cayman"]) == ("cayman",)
    assert nearest_names("xyzzy", ["sunda", "cayman"]) == ()
    error = unknown_name("generation", "caymen", ["sunda", "cayman"])
    assert isinstance(error, UsageError)
    assert isinstance(error, ValueError)
    assert str(error) == (
        "unknown generation 'caymen'; did you mean 'cayman'? (expected sunda, cayman)"
    )
    assert str(unknown_name("thing", 7, ["a"])) == "unknown thing '7' (expected a)"
    many = unknown_name("thing", "zz", [f"n{i}" for i in range(50)])
    assert str(many) == "unknown thing 'zz' (expected one of 50 names)"
