"""The fuzzer: a short run finds nothing, and what is broken on purpose is found."""

from __future__ import annotations

import json
import os
from collections.abc import Callable

import numpy as np
import pytest

from lanewise.check import neuron_fuzz
from lanewise.check.cases import check_text
from lanewise.check.neuron_fuzz import (
    BLOCK,
    Crash,
    Tally,
    block_seed,
    crash_case,
    fuzz,
    fuzz_block,
    rule_ids,
)
from lanewise.errors import UsageError
from lanewise.model import Verdict
from lanewise.neuron import GENERATIONS, decode, dispatch
from lanewise.neuron.instruction import Instruction
from lanewise.neuron.instructions import BY_OPCODE

#: Another part of the stream of words for whoever wants one.
SEED = int(os.environ.get("LANEWISE_FUZZ_SEED", "1"))


@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_short_run_finds_nothing(generation: str) -> None:
    tally = fuzz_block(generation, SEED, 600)
    assert tally.crashes == []
    assert tally.words == 600
    assert sum(tally.verdicts.values()) == 600
    assert min(tally.verdicts[v] for v in (Verdict.OK, Verdict.ILLEGAL, Verdict.MALFORMED)) > 0
    assert tally.runs["ok"] > 0
    assert set(tally.rules) <= rule_ids(generation)


@pytest.mark.slow
@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_long_run_finds_nothing_and_breaks_every_rule(generation: str) -> None:
    total = Tally()
    for tally in fuzz(generation, 60_000, SEED, jobs=2):
        total.add(tally)
    assert total.crashes == []
    # Without PSUM there is nothing that the POOL engine cannot reach.
    beyond = set() if generation != "maverick" else {(n, "engine-reach") for n in ("COPY", "CAST")}
    assert rule_ids(generation) - set(total.rules) == beyond


def test_jobs_do_not_change_the_words() -> None:
    count = BLOCK + 50
    alone, together = ([*fuzz("cayman", count, 3, jobs=jobs)] for jobs in (1, 2))
    assert alone == together
    assert [tally.words for tally in alone] == [BLOCK, 50]


def test_a_block_is_repeated_by_its_own_seed() -> None:
    first, second = fuzz("sunda", BLOCK + 40, 11)
    assert block_seed(11, 0) == 11
    assert fuzz_block("sunda", block_seed(11, 1), 40) == second
    assert next(iter(fuzz("sunda", 40, block_seed(11, 1)))) == second
    assert first != second


@pytest.mark.parametrize(("count", "jobs"), [(0, 1), (1, 0), (-5, 1)])
def test_counts_and_jobs_are_at_least_1(count: int, jobs: int) -> None:
    with pytest.raises(UsageError, match="at least 1"):
        list(fuzz("cayman", count, 0, jobs=jobs))


# Mistakes on purpose. Each breaks one thing that the fuzzer watches.


def _encode_wrong(instruction: dispatch.AnyInstruction) -> bytes:
    return instruction.to_bytes()[:-1] + b"\x00"


def _check_raises(*_: object) -> tuple[()]:
    raise ZeroDivisionError("in a rule")


def _check_nothing(*_: object) -> tuple[()]:
    return ()


def _execute_divides(*_: object) -> None:
    raise IndexError("in execute")


def _execute_warns(*_: object) -> None:
    np.float32(3e38) * np.float32(10)


@pytest.mark.parametrize(
    ("target", "name", "instead", "problem"),
    [
        (neuron_fuzz, "encode", _encode_wrong, "_LawBroken: encodes to"),
        (neuron_fuzz, "check", _check_raises, "ZeroDivisionError: in a rule"),
        (neuron_fuzz, "check", _check_nothing, "_LawBroken: check finds nothing, running gives"),
        (BY_OPCODE[0x6D], "execute", _execute_divides, "IndexError: in execute"),
        (BY_OPCODE[0x6D], "execute", _execute_warns, "FloatingPointError"),
    ],
)
def test_a_mistake_is_found(
    target: object,
    name: str,
    instead: Callable[..., object],
    problem: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(target, name, instead)
    crashes = fuzz_block("cayman", 5, 300).crashes
    assert crashes
    assert any(crash.problem.startswith(problem) for crash in crashes)
    assert {(crash.generation, crash.seed) for crash in crashes} == {("cayman", 5)}


def test_a_refusal_that_changes_something_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = neuron_fuzz.NeuronCore.attempt

    def careless(core: neuron_fuzz.NeuronCore, program: list[bytes]) -> object:
        report = real(core, program)
        if report.verdict is not Verdict.OK:
            core.state.keys[7, 0] ^= 1
        return report

    monkeypatch.setattr(neuron_fuzz.NeuronCore, "attempt", careless)
    crashes = fuzz_block("cayman", 5, 300).crashes
    assert any("the word was refused and changed keys" in crash.problem for crash in crashes)


def _words() -> dict[str, bytes]:
    """One word for each expectation a crash's case can have."""
    found: dict[str, bytes] = {}
    for index in range(40):
        block = neuron_fuzz._Block(GENERATIONS["cayman"], index, "reference")
        for word, _ in zip(block._words(), range(12), strict=False):
            found.setdefault(json.loads(_case_of(word))["expect"]["verdict"], word)
    return found


def _case_of(word: bytes) -> str:
    return crash_case(Crash(word.hex(), "cayman", "isa", 1, "something"))


def test_a_crash_becomes_a_case_that_the_repaired_model_passes() -> None:
    words = _words()
    assert set(words) == {"ok", "illegal", "malformed", "fault"}
    for verdict, word in words.items():
        result = check_text(_case_of(word))
        if verdict == "ok":
            # The word alone is known to be legal; on an empty core it may still fault.
            assert isinstance(decode(word, "cayman"), Instruction)
        else:
            assert result.passed, result
