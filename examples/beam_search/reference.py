"""The same beam search in plain NumPy and Python, written apart from the one on the machine.

It shares the settings and the shape of the results with ``search``, no code that decides. Rows
are sorted whole; BFLOAT16 is rounded with integers; candidates are a list of tuples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import pairwise

import numpy as np

from .model import END, PAUSE, UNKNOWN
from .program import BEST
from .search import Best, Floats, Numbers, Outcome, Rows, Sentence, Settings


@dataclass
class Ties:
    """How often position had to settle an order.

    ``rows`` were searched; in ``tied`` of them equal values are among the best sixteen, in ``cut``
    the sixteenth is also outside; ``pairs`` counts neighbours of equal value; ``scores`` counts
    neighbouring candidates of equal score when beams are joined.
    """

    rows: int = 0
    tied: int = 0
    cut: int = 0
    pairs: int = 0
    scores: int = 0

    def __iadd__(self, other: Ties) -> Ties:
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))
        return self

    def add_row(self, row: Floats, best: Floats) -> None:
        """Count the ties of one row; what is -inf is no candidate."""
        best = best[best > -np.inf]
        pairs = int(np.count_nonzero(best[1:] == best[:-1]))
        self.rows += 1
        self.pairs += pairs
        self.tied += pairs > 0
        self.cut += bool(np.count_nonzero(row >= best[-1]) > len(best)) if len(best) else False


def through_bfloat16(row: Floats) -> Floats:
    """FP32 values rounded to BFLOAT16, ties to even, and back; no NaN and no overflow here."""
    bits = row.view(np.uint32)
    rounded = bits + 0x7FFF + (bits >> 16 & 1)
    return (rounded & np.uint32(0xFFFF0000)).view(np.float32)


def best_of(row: Floats) -> Best:
    """The sixteen largest values, falling, equal ones in rising position."""
    order = np.argsort(-row, kind="stable")[:BEST]
    return Best.of(row[order], order)


def search_in_numpy(
    model: Rows, prompts: Sequence[Numbers], settings: Settings, *, via_bfloat16: bool
) -> tuple[Outcome, Ties]:
    """The whole search, one prompt after the other, and the ties it met."""
    outcome, ties = Outcome(), Ties()
    steps: list[dict[tuple[int, int], Best]] = []
    for number, prompt in enumerate(prompts):
        sentence, found = _search_prompt(model, prompt, settings, via_bfloat16, ties)
        outcome.sentences.append(sentence)
        for step, beams in enumerate(found):
            if step == len(steps):
                steps.append({})
            steps[step].update({(number, beam): best for beam, best in enumerate(beams)})
    outcome.steps.extend(steps)
    return outcome, ties


def _search_prompt(
    model: Rows, prompt: Numbers, settings: Settings, via_bfloat16: bool, ties: Ties
) -> tuple[Sentence, list[list[Best]]]:
    beams: list[tuple[Numbers, np.float32]] = [(prompt, np.float32(0))]
    ended: list[Sentence] = []
    found: list[list[Best]] = []
    while beams and len(found) < settings.steps:
        found.append([])
        candidates = []
        for beam, (words, score) in enumerate(beams):
            row = model.row(words[-1])
            row = through_bfloat16(row) if via_bfloat16 else row.copy()
            for word in {UNKNOWN, PAUSE, *words} | settings.barred:
                row[word] = -np.inf
            if len(words) < settings.least:
                row[END] = -np.inf
            best = best_of(row)
            ties.add_row(row, best.values)
            found[-1].append(best)
            for rank, (value, word) in enumerate(zip(best.values, best.positions, strict=True)):
                if word >= 0:
                    candidates.append((-(score + value), beam, rank, int(word)))
        candidates.sort()
        previous, beams = beams, []
        for place, (negative, beam, _, word) in enumerate(candidates):
            words = (*previous[beam][0], word)
            if word != END:
                beams.append((words, -negative))
            elif place < settings.beams:
                ended.append(Sentence(words, -negative, len(found)))
            if len(beams) == settings.beams:
                considered = candidates[: place + 1]
                break
        else:
            considered = candidates
        ties.scores += sum(bool(one[0] == two[0]) for one, two in pairwise(considered))
    left = [Sentence(words, score, len(words) - len(prompt)) for words, score in beams]
    nothing = Sentence(prompt, np.float32(0), 0)
    best_first = sorted(ended or left or [nothing], key=lambda sentence: -sentence.mean)
    return best_first[0], found
