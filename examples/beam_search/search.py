"""Beam search with the machine: it picks the best sixteen words of every beam, the host the rest.

All prompts are searched side by side: with K beams a prompt, beam b of prompt p is partition
p * K + b. A step of the host is: write every live beam's row and the words it must not choose,
run the program, read sixteen values and positions a beam, add, sort, keep K.

Arithmetic of the host, all in FP32: the score of a beam is the sum of the log-probabilities of its
words in the order they were chosen; candidates are taken by falling score, then rising beam, then
rising rank among the beam's sixteen. A candidate that ends its sentence is finished when it is
among the first K; it takes no beam. Of the finished sentences of a prompt the one with the best
score for each chosen word (end included) wins, the earliest of equals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lanewise.neuron import Instruction, NeuronCore

from .model import END, PAUSE, UNKNOWN
from .program import BEST, Layout

Floats = NDArray[np.float32]
Numbers = tuple[int, ...]


class Rows(Protocol):
    """What a search needs of a model: its vocabulary and a row of log-probabilities a word."""

    @property
    def words(self) -> Sequence[str]: ...

    def row(self, word: int) -> Floats: ...


@dataclass(frozen=True)
class Settings:
    """``beams`` a prompt, ``steps`` at most; a sentence has ``least`` words or more.

    A beam never takes UNKNOWN, PAUSE, a word it has already or one that is ``barred``.
    """

    beams: int
    steps: int
    least: int = 8
    barred: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Best:
    """What one step found for one beam.

    ``values`` float32 [16], falling; ``positions`` int64 [16], -1 where the value is -inf, which
    means that there was no further candidate.
    """

    values: Floats
    positions: NDArray[np.int64]

    @classmethod
    def of(cls, values: Floats, positions: NDArray[np.generic]) -> Best:
        """The result with positions of no meaning made equal."""
        return cls(values, np.where(np.isneginf(values), -1, positions.astype(np.int64)))

    def same(self, other: Best) -> bool:
        """Whether both are equal in every bit."""
        return bool(
            np.array_equal(self.values.view(np.uint32), other.values.view(np.uint32))
            and np.array_equal(self.positions, other.positions)
        )


@dataclass(frozen=True)
class Sentence:
    """Words from the prompt on, their score, and how many of them were ``chosen``."""

    words: Numbers
    score: np.float32
    chosen: int

    @property
    def mean(self) -> np.float32:
        """Score for each chosen word, one FP32 division."""
        return np.float32(self.score / np.float32(max(self.chosen, 1)))

    @property
    def is_finished(self) -> bool:
        return self.words[-1] == END


@dataclass
class Outcome:
    """A whole search: what every step found by (prompt, beam), and a sentence a prompt."""

    steps: list[Mapping[tuple[int, int], Best]] = field(default_factory=list)
    sentences: list[Sentence] = field(default_factory=list)
    machine_seconds: float = 0.0


Progress = Callable[[int, Sequence[Sequence[Sentence]], Sequence[Sequence[Sentence]]], None]
"""Called after each step with its number, the live and the finished sentences of every prompt."""


def search_on_machine(
    core: NeuronCore,
    program: Sequence[Instruction],
    model: Rows,
    prompts: Sequence[Numbers],
    settings: Settings,
    *,
    progress: Progress | None = None,
) -> Outcome:
    """Search with ``program``, which :func:`examples.beam_search.program.one_step` has written."""
    layout = Layout(len(model.words))
    lanes = len(prompts) * settings.beams
    live = [[Sentence(prompt, np.float32(0), 0)] for prompt in prompts]
    finished: list[list[Sentence]] = [[] for _ in prompts]
    outcome = Outcome()
    # Partitions without a beam may choose nothing, so that they need no other program.
    rows = np.zeros((lanes, layout.words), dtype=np.float32)
    forbidden = np.empty((lanes, layout.words), dtype=np.uint8)
    never = [UNKNOWN, PAUSE, *settings.barred]
    for step in range(1, settings.steps + 1):
        if not any(live):
            break
        forbidden[...] = 1
        for prompt, sentences in enumerate(live):
            for lane, sentence in enumerate(sentences, start=prompt * settings.beams):
                rows[lane] = model.row(sentence.words[-1])
                forbidden[lane] = 0
                forbidden[lane, [*never, *sentence.words]] = 1
                forbidden[lane, END] = len(sentence.words) < settings.least
        core.sbuf.write_tile(layout.rows, rows, "FP32")
        core.sbuf.write_tile(layout.forbidden, forbidden, "UINT8")
        started = perf_counter()
        core.run(program)
        outcome.machine_seconds += perf_counter() - started
        values = core.sbuf.read_tile(layout.values, BEST, "FP32", partitions=lanes)
        positions = core.sbuf.read_tile(layout.positions, BEST, "UINT16", partitions=lanes)
        found = {}
        for prompt, sentences in enumerate(live):
            mine = slice(prompt * settings.beams, prompt * settings.beams + len(sentences))
            for beam, results in enumerate(zip(values[mine], positions[mine], strict=True)):
                found[prompt, beam] = Best.of(*results)
            live[prompt] = _joined(
                sentences, values[mine], positions[mine], finished[prompt], settings
            )
        outcome.steps.append(found)
        if progress is not None:
            progress(step, live, finished)
    for words, left, done in zip(prompts, live, finished, strict=True):
        ways = done or left or [Sentence(words, np.float32(0), 0)]
        # argmax names the first of equals.
        outcome.sentences.append(ways[int(np.argmax([sentence.mean for sentence in ways]))])
    return outcome


def _joined(
    sentences: Sequence[Sentence],
    values: Floats,
    positions: NDArray[np.uint16],
    finished: list[Sentence],
    settings: Settings,
) -> list[Sentence]:
    """The next live sentences of one prompt; those that end are appended to ``finished``."""
    if not sentences:
        return []
    scores = np.array([sentence.score for sentence in sentences], dtype=np.float32)
    candidates = (scores[:, None] + values).reshape(-1)
    # A stable sort keeps equal scores in the order of beams, then of ranks.
    order = np.argsort(-candidates, kind="stable")
    chosen: list[Sentence] = []
    for place, candidate in enumerate(order[candidates[order] > -np.inf]):
        before = sentences[int(candidate) // BEST]
        words = (*before.words, int(positions.reshape(-1)[candidate]))
        sentence = Sentence(words, candidates[candidate], before.chosen + 1)
        if not sentence.is_finished:
            chosen.append(sentence)
        elif place < settings.beams:
            finished.append(sentence)
        if len(chosen) == settings.beams:
            break
    return chosen


def differences(one: Outcome, other: Outcome) -> list[str]:
    """Where two searches differ, in words: every bit of every step, and the sentences."""
    found = []
    if len(one.steps) != len(other.steps):
        found.append(f"{len(one.steps)} steps against {len(other.steps)}")
    for number, (left, right) in enumerate(zip(one.steps, other.steps, strict=False), start=1):
        if left.keys() != right.keys():
            found.append(f"step {number}: {len(left)} live beams against {len(right)}")
        for prompt, beam in sorted(left.keys() & right.keys()):
            if not left[prompt, beam].same(right[prompt, beam]):
                found.append(f"step {number}, prompt {prompt + 1}, beam {beam + 1}: other words")
    for number, (mine, its) in enumerate(zip(one.sentences, other.sentences, strict=True), start=1):
        if mine != its or mine.score.tobytes() != its.score.tobytes():
            found.append(f"prompt {number}: another sentence or score")
    return found
