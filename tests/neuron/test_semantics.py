"""All fourteen instructions against the element-by-element oracle, bit for bit."""

from __future__ import annotations

import pytest
from tests.neuron import layout
from tests.neuron.programs import Maker
from tests.neuron.twins import PROFILES, compare_run, options

CASES = [
    pytest.param(generation, opcode, id=f"{layout.NAME_OF[opcode]}-{generation}")
    for opcode in layout.OPCODES
    for generation in layout.generations_of(opcode)
]
# What fills the state that an instruction reads.
FEEDERS = {0x6E: 0x6D, 0x6F: 0x6D, 0xE9: 0x6F, 0x9B: 0xEA}


def run_random_words(generation: str, opcode: int, words: int, salt: str = "") -> list[str]:
    verdicts = []
    for name, profile in PROFILES.items():
        seed = f"{generation} {opcode} {name} {salt}"
        maker = Maker(seed, generation, options(profile), bad=0.03)
        steps = []
        for index in range(words):
            if opcode in FEEDERS and index % 3 == 0:
                steps.append(maker.step(FEEDERS[opcode]))
            steps.append(maker.step(opcode))
        verdicts += compare_run(generation, profile, steps, seed=seed)
    return verdicts


@pytest.mark.parametrize(("generation", "opcode"), CASES)
def test_random_legal_words_give_the_oracles_bits(generation: str, opcode: int) -> None:
    verdicts = run_random_words(generation, opcode, words=10)
    # The comparison is worth something only if most words really ran.
    assert verdicts.count("ok") > 0.8 * len(verdicts)


@pytest.mark.slow
@pytest.mark.parametrize(("generation", "opcode"), CASES)
def test_many_random_legal_words_give_the_oracles_bits(generation: str, opcode: int) -> None:
    run_random_words(generation, opcode, words=300, salt="long")


LONG = [op for op in layout.OPCODES if op not in (0x6D, 0x9B, 0xE9)]


@pytest.mark.parametrize("opcode", LONG, ids=layout.NAME_OF.get)
def test_long_rows_give_the_oracles_bits(opcode: int) -> None:
    """Rows long enough for every block-wise and table-driven path of the kernels."""
    for name in ("isa", "hardware"):
        seed = f"long rows {opcode} {name}"
        generation = "mariana"
        maker = Maker(
            seed, generation, options(PROFILES[name]), wide=False, counts=(513, 1000, 2047)
        )
        steps = []
        for _ in range(4):
            if opcode in FEEDERS:
                steps.append(maker.step(FEEDERS[opcode]))
            steps.append(maker.step(opcode))
        verdicts = compare_run(generation, PROFILES[name], steps, seed=seed)
        assert set(verdicts) == {"ok"}


@pytest.mark.parametrize("generation", layout.GENERATIONS)
def test_mixed_programs_share_state_as_the_oracle_says(generation: str) -> None:
    opcodes = [op for op in layout.OPCODES if generation in layout.generations_of(op)]
    for name in ("isa", "hardware"):
        seed = f"mixed {generation} {name}"
        maker = Maker(seed, generation, options(PROFILES[name]), bad=0.02)
        for part in range(4):
            steps = [maker.step(maker.rng.choice(opcodes)) for _ in range(25)]
            compare_run(generation, PROFILES[name], steps, seed=f"{seed} {part}")
