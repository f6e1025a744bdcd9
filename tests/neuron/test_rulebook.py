"""Random damage to random legal words: the first broken rule is the one the rulebook names."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from tests.neuron import layout
from tests.neuron.programs import Maker
from tests.neuron.rulebook import Book
from tests.neuron.test_rules import CASES, ORDER, rules_in
from tests.neuron.twins import PROFILES, options

from lanewise.neuron import check

# Values where rules turn: markers, register forms, window and partition edges, small codes.
VALUES = (0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 63, 64, 127, 128, 129, 255, 0x100, 0x7FFF, 0x8000, 0xFFFF)
ADDRESSES = (
    0, 1, 2, 4, 0x2FFFC, 0x30000, 0x37FFC, 0x38000, 0x3FFFC, 0x40000, 0x7FFFC, 0x80000, 0xFFFFC,
    0x1F00000, 0x1FC0000, 0x1FF7FFC, 0x2000000, 0x2003FFC, 0x2004000, 0x23F8000, 0x23FBFFC,
    0x2400000, 0x7F00000, 0x7F80000, 0x8000000, 0x1FFFFFFF, 0x20000000, 0x20000400, 0x40000100,
    0x60000000, 0x80000000, 0x8000003F, 0x80000040, 0x80010000, 0x81000000, 0xA0000001,
    0xA1000000, 0xC0000000, 0xE0000000,
)  # fmt: skip


def damaged(rng: random.Random, word: bytes) -> bytes:
    """The word with one to three fields changed: to turning points, single bits or anything."""
    places = layout.places_of(word[0])
    whole = [name for name in places if name.endswith((".start", ".index", ".data"))]
    value = int.from_bytes(word, "little")
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
        name = rng.choice(whole if rng.random() < 0.35 else [n for n in places if n != OPCODE])
        place = places[name]
        old = layout.get(value, place)
        new = rng.choice(
            (
                rng.choice(ADDRESSES) if place[1] == 32 else rng.choice(VALUES),
                old ^ 1 << rng.randrange(place[1]),
                old + rng.choice((-8, -4, -1, 1, 4, 8)),
                rng.getrandbits(place[1]),
            )
        )
        value = layout.put(value, place, new)
    return value.to_bytes(64, "little")


OPCODE = "header.opcode"


def disagreements(opcode: int, generation: str, words: int) -> tuple[list[str], Counter[str]]:
    rng = random.Random(f"damage {opcode} {generation} {words}")
    found, seen = [], Counter()
    for name in ("isa", "quadrant"):
        profile = PROFILES[name]
        maker = Maker(rng.random(), generation, options(profile))
        for number in range(words):
            if number % 4 == 0:
                step = maker.step(opcode)
                engine = step.engine or ("pool" if opcode in (0x46, 0x47, 0xF2) else "dve")
            word = damaged(rng, step.word)
            book = Book(word, generation, name == "quadrant", engine)
            expected = next((r for r in ORDER[opcode] if not book.holds(r)), None)
            broken = [finding.rule for finding in check(word, generation, profile, engine)]
            got = broken[0] if broken else None
            seen[expected or "legal"] += 1
            # Whatever else is listed is really broken, and in order.
            order = rules_in(opcode, generation)
            honest = all(not book.holds(rule) for rule in broken)
            if got != expected or not honest or broken != sorted(broken, key=order.index):
                found.append(f"{word.hex()} {engine} {name}: {broken}, expected {expected}")
    return found, seen


@pytest.mark.parametrize(("opcode", "generation"), CASES)
def test_damaged_words_break_the_rule_the_book_names_first(opcode: int, generation: str) -> None:
    found, seen = disagreements(opcode, generation, 200)
    assert not found, "\n".join(found[:5])
    assert seen["legal"] > 40
    assert len(seen) > 6


@pytest.mark.slow
@pytest.mark.parametrize(("opcode", "generation"), CASES)
def test_many_damaged_words(opcode: int, generation: str) -> None:
    found, _ = disagreements(opcode, generation, 10_000)
    assert not found, "\n".join(found[:5])
