"""Random words through everything a NeuronCore does with a word.

A word may be refused, but only by a verdict; it must survive decoding and encoding, its fields
must cover its bits, and a refusal must change nothing. Anything else is a :class:`Crash`.

The words come in blocks. A block depends on nothing but its seed, its core's state included, so a
crash is repeated by running the one block.
"""

from __future__ import annotations

import hashlib
import json
import signal
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from multiprocessing import get_context
from random import Random
from typing import Any, Final

import numpy as np

from lanewise.check.generators import INDEX_LISTS, legal_word, mutated, random_word
from lanewise.errors import UsageError
from lanewise.model import BrokenRule, MachineFault, MalformedWord, Verdict
from lanewise.neuron import (
    PROFILES,
    AnyInstruction,
    Generation,
    NeuronCore,
    Profile,
    check,
    decode,
    encode,
    find_generation,
)
from lanewise.neuron.instruction import WORD_BYTES, Instruction
from lanewise.neuron.instructions import BY_OPCODE

__all__ = ["BLOCK", "Crash", "Tally", "block_seed", "crash_case", "fuzz", "fuzz_block", "rule_ids"]

#: Words in a block.
BLOCK: Final = 1024

_MUTANTS: Final = 4
# Where the words are many and the law is the same for all words of a kind, some are enough.
_ATTEMPT_REFUSED_ONE_IN: Final = 16
_LEAVES_ONE_IN: Final = 4
_RANDOM_BYTES: Final = 0x2000


@dataclass(frozen=True, slots=True)
class Crash:
    """A word that something went wrong with: what, and the block that shows it again."""

    word: str
    generation: str
    profile: str
    seed: int
    problem: str


@dataclass(slots=True)
class Tally:
    """What became of the words.

    ``verdicts`` counts words by verdict of the check (``unmodelled`` for assigned opcodes without
    a model), ``runs`` those that were run by verdict and reason, ``first_rules`` and ``rules``
    the illegal ones by (instruction, rule): the first one broken, and any.
    """

    words: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    runs: Counter[str] = field(default_factory=Counter)
    first_rules: Counter[tuple[str, str]] = field(default_factory=Counter)
    rules: Counter[tuple[str, str]] = field(default_factory=Counter)
    crashes: list[Crash] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Count another tally's words here too."""
        self.words += other.words
        self.verdicts += other.verdicts
        self.runs += other.runs
        self.first_rules += other.first_rules
        self.rules += other.rules
        self.crashes += other.crashes


class _LawBroken(Exception):
    """A word for which something that always holds does not."""


def rule_ids(generation: str | Generation) -> set[tuple[str, str]]:
    """Every (instruction, rule id) of a generation."""
    generation = find_generation(generation)
    return {
        (kind.name, rule.id)
        for kind in BY_OPCODE.values()
        if generation in kind.generations()
        for rule in kind.rules
        if rule.applies(generation)
    }


def block_seed(seed: int, number: int) -> int:
    """The seed of block ``number`` of a run; the first block has the run's own."""
    if not number:
        return seed
    digest = hashlib.sha256(f"{seed}:{number}".encode()).digest()
    return int.from_bytes(digest[:6], "little")


def fuzz(
    generation: str | Generation,
    count: int,
    seed: int,
    *,
    jobs: int = 1,
    engine: str = "auto",
) -> Iterator[Tally]:
    """Look for trouble with ``count`` words; one tally a block, in order.

    The words depend on ``seed`` alone, not on ``jobs`` (processes). UsageError for counts and
    jobs below 1.
    """
    if count < 1 or jobs < 1:
        raise UsageError(f"count and jobs must be at least 1, not {count} and {jobs}")
    name = find_generation(generation).name
    sizes = [BLOCK] * (count // BLOCK) + ([count % BLOCK] if count % BLOCK else [])
    seeds = (block_seed(seed, number) for number in range(len(sizes)))
    block = partial(fuzz_block, name, engine=engine)
    if jobs == 1:
        yield from map(block, seeds, sizes)
        return
    # Fresh processes, because a fork copies threads' locks; interrupts are the parent's to handle.
    context = get_context("spawn")
    with ProcessPoolExecutor(jobs, context, signal.signal, (signal.SIGINT, signal.SIG_IGN)) as pool:
        try:
            yield from pool.map(block, seeds, sizes)
        finally:
            pool.shutdown(cancel_futures=True)


def fuzz_block(
    generation: str | Generation, seed: int, count: int = BLOCK, *, engine: str = "auto"
) -> Tally:
    """Look for trouble with the first ``count`` words of one block."""
    return _Block(find_generation(generation), seed, engine).run(count)


class _Block:
    """One block: a core with something in its memory and registers, and a stream of words."""

    def __init__(self, generation: Generation, seed: int, engine: str) -> None:
        self._rng = Random(seed)
        self._seed = seed
        self._generation = generation
        self._profile_name = self._rng.choice(tuple(PROFILES))
        self._profile = PROFILES[self._profile_name]
        self._core = _prepared_core(generation, self._profile, engine, self._rng)
        self._tally = Tally()
        self._compare_memory_at = self._rng.randrange(BLOCK)

    def run(self, count: int) -> Tally:
        tally = self._tally
        for index, word in enumerate(islice(self._words(), count)):
            tally.words += 1
            try:
                with np.errstate(over="raise", invalid="raise", divide="raise"):
                    self._examine(word, compare_memory=index >= self._compare_memory_at)
            except Exception as error:  # whatever it is, it is what we are looking for
                problem = f"{type(error).__name__}: {error}"
                tally.crashes.append(
                    Crash(
                        word.hex(), self._generation.name, self._profile_name, self._seed, problem
                    )
                )
        return tally

    def _words(self) -> Iterator[bytes]:
        """Random bytes, legal words, and what becomes of those when they are damaged."""
        rng = self._rng
        kinds = [k for k in BY_OPCODE.values() if self._generation in k.generations()]
        while True:
            yield random_word(self._generation, rng)
            word = legal_word(rng.choice(kinds), self._generation, self._profile, rng)
            yield encode(word)
            damaged = encode(word)
            for _ in range(_MUTANTS):
                damaged = mutated(damaged if rng.randrange(3) == 0 else word, rng)
                yield damaged

    def _examine(self, word: bytes, *, compare_memory: bool) -> None:
        try:
            instruction = decode(word, self._generation)
        except MalformedWord as error:
            self._tally.verdicts[Verdict.MALFORMED] += 1
            self._expect_refusal(word, Verdict.MALFORMED, error.reason)
            return
        if encode(instruction) != word:
            raise _LawBroken(f"encodes to {encode(instruction).hex()}")
        if not self._rng.randrange(_LEAVES_ONE_IN):
            _check_leaves(word, instruction)
        if not isinstance(instruction, Instruction):
            self._tally.verdicts["unmodelled"] += 1
            self._expect_refusal(word, Verdict.FAULT, "not-modelled")
            return
        broken = check(word, self._generation, self._profile)
        if broken:
            self._count_broken(instruction, broken)
            if compare_memory or not self._rng.randrange(_ATTEMPT_REFUSED_ONE_IN):
                self._expect_illegal(word, broken, compare_memory=compare_memory)
            return
        self._tally.verdicts[Verdict.OK] += 1
        self._run_legal(word)

    def _count_broken(self, instruction: Instruction, broken: tuple[BrokenRule, ...]) -> None:
        self._tally.verdicts[Verdict.ILLEGAL] += 1
        self._tally.first_rules[instruction.name, broken[0].rule] += 1
        known = [rule.id for rule in instruction.rules]
        places = [known.index(rule.rule) for rule in broken]
        if places != sorted(set(places)):
            raise _LawBroken(f"rules out of order: {[rule.rule for rule in broken]}")
        for rule in broken:
            self._tally.rules[instruction.name, rule.rule] += 1
            if not (rule.ranges and rule.value and rule.allowed and "\n" not in str(rule)):
                raise _LawBroken(f"a broken rule without a place, value or demand: {rule!r}")

    def _expect_refusal(self, word: bytes, verdict: Verdict, reason: str) -> None:
        if self._rng.randrange(_ATTEMPT_REFUSED_ONE_IN):
            return
        report = self._core.attempt([word])
        if (report.verdict, report.reason) != (verdict, reason):
            raise _LawBroken(f"running gives {report.verdict} {report.reason}, not {reason}")

    def _expect_illegal(
        self, word: bytes, broken: tuple[BrokenRule, ...], *, compare_memory: bool
    ) -> None:
        if compare_memory:  # once a block: the memories are large
            self._compare_memory_at = BLOCK
        before = _snapshot(self._core, memory=compare_memory)
        report = self._core.attempt([word])
        if report.verdict is not Verdict.ILLEGAL or getattr(report.error, "broken", ()) != broken:
            raise _LawBroken(f"check says illegal, running gives {report.verdict}: {report.error}")
        _expect_same(before, self._core)

    def _run_legal(self, word: bytes) -> None:
        before = _snapshot(self._core, memory=False)
        report = self._core.attempt([word])
        if isinstance(report.error, MachineFault):
            self._tally.runs[f"fault {report.reason}"] += 1
            _expect_same(before, self._core)
        elif report.verdict is Verdict.OK:
            self._tally.runs["ok"] += 1
        else:
            raise _LawBroken(f"check finds nothing, running gives {report.error}")


def _prepared_core(
    generation: Generation, profile: Profile, engine: str, rng: Random
) -> NeuronCore:
    """A core with random low bytes, index lists that can be followed, and some useful registers."""
    core = NeuronCore(generation, profile, engine=engine)
    state = core.state
    numbers = np.random.default_rng(rng.getrandbits(64))
    for memory in state.memories.values():
        low = memory.data[:, :_RANDOM_BYTES]
        low[...] = numbers.integers(0, 256, low.shape, dtype=np.uint8)
    lists = state.memories["sbuf"].data[:, INDEX_LISTS.start : INDEX_LISTS.stop].view("<u4")
    lists[...] = numbers.integers(0, 64, lists.shape, dtype=np.uint32)
    for number in range(0, len(state.registers), 2):
        place = rng.choice((0, 0, 32, 64)), 4 * rng.randrange(0x100)
        state.registers[number] = generation.address("sbuf", *place)
    state.registers[1::4] = numbers.integers(0, 1 << 32, len(state.registers[1::4]), dtype="u4")
    state.accumulator[...] = numbers.integers(0, 1 << 32, state.accumulator.shape, dtype="u4")
    return core


def _check_leaves(word: bytes, instruction: AnyInstruction) -> None:
    """The innermost fields cover every bit once and hold what is there."""
    bits = rebuilt = covered = 0
    for leaf in instruction.leaves():
        raw = leaf.raw
        for run in reversed(leaf.ranges):
            rebuilt |= (raw & ((1 << run.width) - 1)) << run.low
            raw >>= run.width
            covered |= run.mask
            bits += run.width
    if (
        bits != 8 * WORD_BYTES
        or covered != (1 << bits) - 1
        or rebuilt != int.from_bytes(word, "little")
    ):
        raise _LawBroken(f"fields cover {bits} bits and give {rebuilt:#x}")
    if type(instruction).__name__ not in repr(instruction):
        raise _LawBroken(f"shown as {instruction!r}")


def _snapshot(core: NeuronCore, *, memory: bool) -> dict[str, Any]:
    """A copy of the state; the memories only when asked for, they are large."""
    return {
        name: array.copy()
        for name, array in core.state.arrays().items()
        if memory or name not in core.state.memories
    }


def _expect_same(before: dict[str, Any], core: NeuronCore) -> None:
    now = core.state.arrays()
    changed = [name for name, array in before.items() if not np.array_equal(array, now[name])]
    if changed:
        raise _LawBroken(f"the word was refused and changed {', '.join(changed)}")


def crash_case(crash: Crash) -> str:
    """A crash as a case file (JSON): the word on an empty core, and the verdict it should have."""
    word = bytes.fromhex(crash.word)
    expect: dict[str, Any] = {"verdict": "ok"}
    try:
        broken = check(word, crash.generation, crash.profile)
        if broken:
            expect = {"verdict": "illegal", "rule": broken[0].rule}
        elif not isinstance(decode(word, crash.generation), Instruction):
            expect = {"verdict": "fault", "reason": "not-modelled"}
    except MalformedWord as error:
        expect = {"verdict": "malformed", "reason": error.reason}
    except Exception:  # the check itself may be what crashes
        expect = {"verdict": "ok"}
    document = {
        "schema": "lanewise.case/1",
        "id": f"neuron/crash/{hashlib.sha256(word).hexdigest()[:12]}",
        "machine": "neuron",
        "note": f"found by fuzzing, seed {crash.seed}: {crash.problem}",
        "generation": crash.generation,
        "profile": crash.profile,
        "program": [{"word": crash.word}],
        "expect": expect,
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
