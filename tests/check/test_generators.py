"""The random words: legal ones are legal and varied, seeds repeat them, damage is damage."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from lanewise.check.generators import legal_word, mutated, random_word
from lanewise.errors import LanewiseError
from lanewise.neuron import GENERATIONS, PROFILES, Generation, Profile, check, encode
from lanewise.neuron.instruction import Instruction
from lanewise.neuron.instructions import BY_OPCODE
from lanewise.neuron.roster import opcodes_of
from lanewise.neuron.words import Indirect

PAIRS = [
    pytest.param(kind, generation, id=f"{kind.name}-{generation}")
    for kind in BY_OPCODE.values()
    for generation in kind.generations()
]


@pytest.mark.parametrize(("kind", "generation"), PAIRS)
def test_legal_words_break_no_rule(kind: type[Instruction], generation: Generation) -> None:
    for name, profile in PROFILES.items():
        rng = Random(name)
        words = [legal_word(kind, generation, profile, rng) for _ in range(12)]
        assert all(check(word, generation, profile) == () for word in words)
        assert len(set(words)) == len(words)


@pytest.mark.parametrize("kind", BY_OPCODE.values(), ids=lambda kind: kind.name)
def test_the_legal_values_of_every_field_occur(kind: type[Instruction]) -> None:
    """Types, lane counts, steps and the rare forms of operands vary from word to word."""
    rng = Random(0)
    words = [legal_word(kind, "mariana", Profile.ISA, rng) for _ in range(150)]
    seen = {name: {field.extract(int(word)) for word in words} for name, field in _fields(kind)}
    assert len(seen["num_active_channels"]) > 10
    for name, operand in kind.operands().items():
        assert len(seen[name]) > 100
        patterns = [getattr(word, name) for word in words]
        registers = [p for p in patterns if not isinstance(p, Indirect) and p.start.in_register]
        assert registers
        indirect = [p for p in patterns if isinstance(p, Indirect)]
        assert bool(indirect) == operand.allows_indirect
        if isinstance(operand.dtype, str):
            assert len(seen[operand.dtype]) >= (2 if kind.name != "NONZERO_WITH_COUNT" else 1)
    for scalar in kind.immediates().values():
        assert seen[scalar.source] == {0, 1, 2}


def _fields(kind: type[Instruction]) -> list[tuple[str, object]]:
    return list(kind.fields.items())


def test_equal_seeds_give_equal_words() -> None:
    def words(seed: int) -> list[bytes]:
        rng = Random(seed)
        legal = [legal_word(k, "cayman", Profile.ISA, rng) for k in BY_OPCODE.values()]
        return [*map(encode, legal), *(mutated(word, rng) for word in legal)]

    assert words(7) == words(7) != words(8)


def test_an_instruction_the_generation_lacks_is_refused() -> None:
    with pytest.raises(LanewiseError, match="sunda has no RANGE_SELECT"):
        legal_word(BY_OPCODE[0xBC], "sunda", Profile.ISA, Random(0))


@pytest.mark.parametrize("generation", GENERATIONS)
def test_random_words_reach_every_opcode(generation: str) -> None:
    rng = Random(generation)
    opcodes = Counter(random_word(generation, rng)[0] for _ in range(8000))
    assert set(opcodes_of(GENERATIONS[generation])) <= set(opcodes)
    assert set(opcodes) - set(opcodes_of(GENERATIONS[generation]))


def test_mutations_reach_every_byte_and_mostly_break_something() -> None:
    rng = Random(1)
    word = encode(legal_word(BY_OPCODE[0xEA], "mariana", Profile.ISA, rng))
    others = [mutated(word, rng) for _ in range(2000)]
    assert {at for other in others for at in range(64) if other[at] != word[at]} == set(range(64))
    assert sum(other != word for other in others) > 1800
    # Bytes that belong to no known instruction are damaged as well.
    assert len({mutated(b"\x01" + bytes(63), rng) for _ in range(50)}) > 25
