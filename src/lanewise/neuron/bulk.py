"""Decode and check of many words at once: what each of them is, and how often which rule broke.

:func:`check_words` gives for every word what :func:`~lanewise.neuron.check` gives for one, without
the words for people: those are made from the few words that are looked at.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lanewise.errors import UsageError
from lanewise.neuron.generation import Generation, find_generation
from lanewise.neuron.instruction import WORD_BYTES, Instruction, check_engine_name
from lanewise.neuron.instructions import BY_OPCODE
from lanewise.neuron.legality import Columns
from lanewise.neuron.profile import Profile
from lanewise.neuron.roster import opcodes_of, roster

#: What a word can be; the codes in ``BulkReport.verdicts`` are places in this list.
VERDICTS: Final = ("ok", "illegal", "malformed", "unmodelled")
OK, ILLEGAL, MALFORMED, UNMODELLED = range(len(VERDICTS))

#: So many words are looked at together, which bounds the memory that columns take.
_TOGETHER = 1 << 15
_OPCODES = 256


@dataclass(slots=True, eq=False)
class Tally:
    """How many words of each opcode there were, and how often they broke which rule.

    ``words`` is int64 [256, 4], by opcode and place in VERDICTS. ``broken`` and ``first`` are by
    opcode and rule id: words that break the rule, and words of which it is the first broken one.
    """

    words: NDArray[np.int64] = field(
        default_factory=lambda: np.zeros((_OPCODES, len(VERDICTS)), np.int64)
    )
    broken: dict[int, dict[str, int]] = field(default_factory=dict)
    first: dict[int, dict[str, int]] = field(default_factory=dict)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tally):
            return NotImplemented
        ours, theirs = (self.broken, self.first), (other.broken, other.first)
        return bool((self.words == other.words).all()) and ours == theirs

    __hash__ = None  # type: ignore[assignment]

    def add(self, other: Tally) -> None:
        """Count the words of another tally too."""
        self.words += other.words
        for ours, theirs in ((self.broken, other.broken), (self.first, other.first)):
            for opcode, rules in theirs.items():
                known = ours.setdefault(opcode, {})
                for rule, count in rules.items():
                    known[rule] = known.get(rule, 0) + count

    @property
    def total(self) -> int:
        """How many words were counted."""
        return int(self.words.sum())

    def by_verdict(self) -> dict[str, int]:
        """How many words there were of each verdict."""
        return dict(zip(VERDICTS, self.words.sum(axis=0).tolist(), strict=True))

    def by_instruction(self) -> dict[str, dict[str, int]]:
        """Words of each verdict by instruction, the most frequent first; no malformed ones."""
        counts = {
            entry.name: dict(zip(VERDICTS, self.words[opcode].tolist(), strict=True))
            for opcode, entry in roster().items()
            if self.words[opcode].sum() > self.words[opcode, MALFORMED]
        }
        return dict(sorted(counts.items(), key=lambda item: -sum(item[1].values())))

    def malformed_opcodes(self) -> dict[int, int]:
        """How many words there were of each opcode that the generation does not assign."""
        found = self.words[:, MALFORMED]
        return {opcode: int(found[opcode]) for opcode in np.flatnonzero(found).tolist()}


@dataclass(frozen=True, slots=True, eq=False)
class BulkReport:
    """What each of many words is.

    ``opcodes`` uint8 [n] is byte 0 of each word, ``verdicts`` uint8 [n] its place in VERDICTS,
    ``broken`` uint64 [n] a bit for each rule of the instruction (bit i for ``rules[i]``).
    """

    generation: Generation
    opcodes: NDArray[np.uint8]
    verdicts: NDArray[np.uint8]
    broken: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.opcodes)

    def verdict(self, index: int) -> str:
        """What the word at ``index`` is: ok, illegal, malformed or unmodelled."""
        return VERDICTS[self.verdicts[index]]

    def broken_rules(self, index: int) -> tuple[str, ...]:
        """The ids of the rules that the word at ``index`` breaks, in the rules' order."""
        broken = int(self.broken[index])
        if not broken:
            return ()
        rules = BY_OPCODE[int(self.opcodes[index])].rules
        return tuple(rule.id for place, rule in enumerate(rules) if broken >> place & 1)

    def tally(self) -> Tally:
        """The words counted by opcode, verdict and rule."""
        found = Tally()
        places = self.opcodes.astype(np.int64) * len(VERDICTS) + self.verdicts
        found.words += np.bincount(places, minlength=found.words.size).reshape(found.words.shape)
        for opcode in np.flatnonzero(found.words[:, ILLEGAL]).tolist():
            broken = self.broken[self.opcodes == opcode]
            rules = BY_OPCODE[opcode].rules
            found.broken[opcode] = _count_bits(broken, [rule.id for rule in rules])
            # The lowest set bit belongs to the first broken rule.
            first = broken & (~broken + np.uint64(1))
            found.first[opcode] = _count_bits(first, [rule.id for rule in rules])
        return found


def check_words(
    words: bytes | bytearray | memoryview | NDArray[np.uint8],
    generation: str | Generation = "cayman",
    profile: str | Profile = Profile.ISA,
    engine: str | None = None,
) -> BulkReport:
    """What :func:`~lanewise.neuron.check` finds in each of many words, some 100 times faster.

    ``words`` are bytes, 64 for a word, or uint8 [n, 64]. ``engine`` runs those words it can run,
    the instruction's own engine the others. UsageError when the bytes are no whole words.
    """
    generation = find_generation(generation)
    profile = Profile.named(profile)
    if engine is not None:
        engine = check_engine_name(engine)
    table = _as_table(words)
    opcodes = table[:, 0].copy()
    verdicts = _verdicts_of_opcodes(generation)[opcodes]
    broken = np.zeros(len(table), np.uint64)
    for start in range(0, len(table), _TOGETHER):
        piece = slice(start, start + _TOGETHER)
        modelled = verdicts[piece] == OK
        for opcode in np.unique(opcodes[piece][modelled]).tolist():
            kind = BY_OPCODE[opcode]
            which = start + np.flatnonzero(opcodes[piece] == opcode)
            runs_on = engine if engine in kind.engines else kind.engines[0]
            broken[which] = Columns(table[which], kind, generation, profile, runs_on).run()
    verdicts[broken != 0] = ILLEGAL
    return BulkReport(generation, opcodes, verdicts, broken)


def _as_table(words: object) -> NDArray[np.uint8]:
    if isinstance(words, np.ndarray):
        if words.dtype != np.uint8 or words.ndim != 2 or words.shape[1] != WORD_BYTES:
            raise UsageError(
                f"words are bytes or an array uint8 [n, {WORD_BYTES}], "
                f"not {words.dtype} {list(words.shape)}"
            )
        return words
    if not isinstance(words, (bytes, bytearray, memoryview)):
        raise UsageError(
            f"words are bytes or an array uint8 [n, {WORD_BYTES}], not {type(words).__name__}"
        )
    if isinstance(words, memoryview) and not words.c_contiguous:
        words = words.tobytes()
    flat = np.frombuffer(words, np.uint8)
    if flat.size % WORD_BYTES:
        raise UsageError(
            f"{flat.size} bytes are no whole number of words of {WORD_BYTES} bytes; "
            f"{flat.size % WORD_BYTES} are left over"
        )
    return flat.reshape(-1, WORD_BYTES)


@functools.cache
def _verdicts_of_opcodes(generation: Generation) -> NDArray[np.uint8]:
    """By opcode, what a word is before its rules are asked."""
    table = np.full(_OPCODES, MALFORMED, np.uint8)
    for opcode in opcodes_of(generation):
        kind: type[Instruction] | None = BY_OPCODE.get(opcode)
        table[opcode] = UNMODELLED if kind is None else OK
    table.flags.writeable = False
    return table


def _count_bits(broken: NDArray[np.uint64], names: list[str]) -> dict[str, int]:
    """How many of the words have the bit of each name, for those names that occur."""
    counts: dict[str, int] = {}
    for place, name in enumerate(names):
        count = int(np.count_nonzero(broken & np.uint64(1 << place)))
        if count:
            counts[name] = counts.get(name, 0) + count
    return counts
