"""The examples in the instructions' own files, on the machine and on the oracle."""

from __future__ import annotations

import numpy as np
import pytest
from tests.neuron import layout
from tests.neuron.oracle import Oracle
from tests.neuron.twins import options

from lanewise.neuron import NeuronCore, Profile, check
from lanewise.neuron.instruction import Example
from lanewise.neuron.instructions import BY_OPCODE

EXAMPLES = [
    pytest.param(kind, example, id=f"{kind.name}-{index}")
    for kind in BY_OPCODE.values()
    for index, example in enumerate(kind.examples)
]
FORMS = {"keys": 8, "matched": 8, "indices": 8, "accumulator": 1}


def numbers(text: str) -> list[int]:
    return [int(code, 16) for code in text.split()]


def memory_of(runs) -> dict[tuple[str, int, int], int]:
    """Place -> byte, of runs that must not overlap."""
    found: dict[tuple[str, int, int], int] = {}
    for space, partition, offset, text in runs:
        for index, value in enumerate(bytes.fromhex(text)):
            place = (space, partition, offset + index)
            assert place not in found
            found[place] = value
    return found


def test_every_instruction_has_an_example() -> None:
    assert [layout.NAME_OF[opcode] for opcode, kind in BY_OPCODE.items() if not kind.examples] == []


@pytest.mark.parametrize(("kind", "example"), EXAMPLES)
def test_an_example_is_a_legal_word_of_its_instruction(kind, example: Example) -> None:
    assert len(example.encoded) == 64
    assert example.encoded[0] == kind.opcode
    assert example.generation in layout.generations_of(kind.opcode)
    assert check(example.encoded, example.generation, example.profile) == ()
    assert example.after or example.state_after
    for name, text in example.state_before + example.state_after:
        assert len(text.split()) == FORMS[name]


@pytest.mark.parametrize(("kind", "example"), EXAMPLES)
def test_an_example_comes_true_on_the_machine(kind, example: Example) -> None:
    core = NeuronCore(example.generation, example.profile)
    for (space, partition, offset), value in memory_of(example.before).items():
        core.state.memories[space].data[partition, offset] = value
    for name, text in example.state_before:
        getattr(core.state, name)[0] = numbers(text) if FORMS[name] > 1 else numbers(text)[0]
    state = {name: getattr(core.state, name).copy() for name in FORMS}
    core.run(example.encoded)
    expected = memory_of(example.before) | memory_of(example.after)
    for name, memory in core.state.memories.items():
        wanted = np.zeros_like(memory.data)
        for (space, partition, offset), value in expected.items():
            if space == name:
                wanted[partition, offset] = value
        # A word may have more lanes than the example shows; theirs started as zero.
        assert np.array_equal(memory.data[0], wanted[0])
        assert np.array_equal(memory.data[8:], wanted[8:])
    after = dict(example.state_after)
    for name in FORMS:
        row = np.atleast_1d(getattr(core.state, name)[0]).tolist()
        if name in after:
            assert row == numbers(after[name]), name
        else:
            assert row == np.atleast_1d(state[name][0]).tolist(), name


@pytest.mark.parametrize(("kind", "example"), EXAMPLES)
def test_an_example_comes_true_on_the_oracle(kind, example: Example) -> None:
    oracle = Oracle(example.generation, options(Profile.named(example.profile)))
    oracle.memory.update(memory_of(example.before))
    for name, text in example.state_before:
        codes = numbers(text)
        getattr(oracle, name)[0] = codes if FORMS[name] > 1 else codes[0]
    oracle.run(example.encoded)
    for place, value in memory_of(example.after).items():
        assert oracle.memory.get(place) == value, place
    for name, text in example.state_after:
        row = getattr(oracle, name)[0]
        assert (row if FORMS[name] > 1 else [row]) == numbers(text)
