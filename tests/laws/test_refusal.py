"""A word that is refused changes nothing: not a bit of any memory, register, key, flag or lane."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest
from tests.neuron import layout
from tests.neuron.bases import legal_word, operands_of
from tests.neuron.programs import Maker
from tests.neuron.test_rules import CASES, rows
from tests.neuron.twins import options

from lanewise.errors import UsageError
from lanewise.model import IllegalInstruction, MachineFault, MalformedWord, VerdictError
from lanewise.neuron import Dispatch, NeuronCore, Profile

WINDOW = 2048


def random_core(generation: str, profile: Profile = Profile.ISA) -> NeuronCore:
    """A core whose whole state is random and not zero; memories at both ends of a partition."""
    core = NeuronCore(generation, profile)
    rng = np.random.default_rng(7)
    for memory in core.state.memories.values():
        for part in (memory.data[:, :WINDOW], memory.data[:, -WINDOW:]):
            part[...] = rng.integers(1, 256, part.shape, np.uint8)
    state = core.state
    for name in ("keys", "indices", "accumulator", "registers"):
        array = getattr(state, name)
        array[...] = rng.integers(1, 1 << 32, array.shape, np.uint32)
    state.matched[...] = rng.integers(0, 2, state.matched.shape).astype(bool)
    state.idle_since[...] = rng.integers(0, 2, 128).astype(bool)
    return core


def snapshot(core: NeuronCore) -> dict[str, object]:
    """Everything of the state; memories as their random ends and the count of other bytes."""
    state = core.state
    found: dict[str, object] = {}
    for space, memory in state.memories.items():
        found[f"{space} low"] = memory.data[:, :WINDOW].tobytes()
        found[f"{space} high"] = memory.data[:, -WINDOW:].tobytes()
    for name in ("keys", "matched", "indices", "accumulator", "registers", "idle_since"):
        found[name] = getattr(state, name).tobytes()
    return found


def inner_bytes(core: NeuronCore) -> int:
    return sum(int(m.data[:, WINDOW:-WINDOW].any()) for m in core.state.memories.values())


def test_the_snapshot_sees_all_of_the_state() -> None:
    core = random_core("cayman")
    before = snapshot(core)
    assert set(core.state.arrays()) == {"sbuf", "psum", "keys", "matched", "indices",
                                        "accumulator", "registers"}  # fmt: skip
    for change in (
        lambda s: s.memories["psum"].data.__setitem__((127, 3), 0),
        lambda s: s.memories["sbuf"].data.__setitem__((0, -1), 0),
        lambda s: s.keys.__setitem__((127, 7), 0),
        lambda s: s.matched.__setitem__(127, ~s.matched[127]),
        lambda s: s.indices.__setitem__((127, 7), 0),
        lambda s: s.accumulator.__setitem__(127, 0),
        lambda s: s.registers.__setitem__(63, 0),
    ):
        change(core.state)
        after = snapshot(core)
        assert after != before
        before = after


def refused_words(opcode: int, generation: str) -> Iterator[tuple[bytes, str | None, type]]:
    """Words of each refusal: malformed, breaking each rule, and every kind of fault."""
    base = legal_word(opcode)
    yield base[:-1], None, MalformedWord
    yield base + b"\0", None, MalformedWord
    yield b"\xff" + base[1:], None, MalformedWord
    yield b"\x00" + base[1:], None, MalformedWord
    seen = set()
    for row in rows(opcode, generation):
        if row.profile == "isa" and row.rule not in seen:
            seen.add(row.rule)
            yield legal_word(opcode, row.change), row.engine, IllegalInstruction
    yield legal_word(opcode, {"events.wait_mode": 200}), None, IllegalInstruction
    yield b"\x41" + base[1:], None, MachineFault
    for operand in operands_of(opcode):
        yield legal_word(opcode, {f"{operand}.start": 0x40000000}), None, MachineFault
        # Random registers hold no address.
        yield legal_word(opcode, {f"{operand}.start": 0x80000005}), None, MachineFault
        if operand in layout.INDIRECT.get(opcode, ()) and generation in layout.WITH_INDEX_LISTS:
            lists = {f"{operand}.data": 0, f"{operand}.num_elem": 8}
            for index in (0x20000010, 0xA0000005):
                change = lists | {f"{operand}.index": index}
                yield legal_word(opcode, change), None, MachineFault


@pytest.mark.parametrize(("opcode", "generation"), CASES)
def test_a_refused_word_changes_nothing(opcode: int, generation: str) -> None:
    core = random_core(generation)
    before = snapshot(core)
    for word, engine, kind in refused_words(opcode, generation):
        program = word if engine is None else Dispatch(word, engine)
        with pytest.raises(kind):
            core.run([program])
        assert snapshot(core) == before, f"{kind.__name__}: {word.hex()}"
    assert not inner_bytes(core)


@pytest.mark.parametrize(("opcode", "generation"), CASES)
def test_in_the_middle_of_a_program_only_the_words_before_take_effect(opcode, generation) -> None:
    profile = Profile.ISA
    rng = random.Random(f"{opcode} {generation}")
    refusals = list(refused_words(opcode, generation))
    for word, engine, kind in rng.sample(refusals, min(6, len(refusals))):
        maker = Maker(f"{word.hex()}", generation, options(profile), wide=False)
        first, last = maker.step(opcode), maker.step(opcode)
        cores = [random_core(generation), random_core(generation)]
        for core in cores:
            for (space, partition, offset), data in first.memory:
                row = core.state.memories[space].data[partition]
                row[offset : offset + len(data)] = np.frombuffer(data, np.uint8)
            for number, value in first.registers.items():
                core.state.registers[number] = value
            core.state.registers[5] = first.registers.get(5, 0xFFFFFFFF)
        if kind is MachineFault and 5 in first.registers:
            continue  # the register would hold an address after all

        def item(data: bytes, name: str | None) -> bytes | Dispatch:
            return data if name is None else Dispatch(data, name)

        program = [item(first.word, first.engine), item(word, engine), item(last.word, last.engine)]
        report = cores[0].attempt(program)
        cores[1].run(program[:1])
        assert (report.index, report.executed) == (1, 1), str(report.error)
        assert isinstance(report.error, kind)
        assert snapshot(cores[0]) == snapshot(cores[1])


def test_a_wrong_engine_is_an_error_of_the_request_and_changes_nothing() -> None:
    core = random_core("cayman")
    before = snapshot(core)
    for opcode in layout.OPCODES:
        for engine in ("pool", "act", "dve"):
            allowed = {0x46: ("pool", "act", "dve"), 0xF2: ("pool",)}
            allowed[0x47] = allowed[0x46]
            if engine in allowed.get(opcode, ("dve",)):
                continue
            with pytest.raises(UsageError) as caught:
                core.run(Dispatch(legal_word(opcode), engine))
            assert not isinstance(caught.value, VerdictError)
            runs_on = ", ".join(allowed.get(opcode, ("dve",)))
            name = layout.NAME_OF[opcode]
            assert str(caught.value) == f"{name} runs on {runs_on}, not on {engine}"
    assert snapshot(core) == before
