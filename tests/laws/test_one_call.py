"""A program gives the same in one call, prepared, watched, executed word by word, and in NumPy."""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.neuron import layout
from tests.neuron.bases import legal_word
from tests.neuron.programs import FP32_VALUES, SMALL_VALUES, Maker, Step
from tests.neuron.twins import PROFILES, options

from lanewise.kernels import available_engines
from lanewise.model import MalformedWord, Observer, RunReport
from lanewise.neuron import Dispatch, NeuronCore, Profile

WINDOW = 2048
Program = list[bytes | Dispatch]
Way = Callable[[NeuronCore, Program], RunReport]


def watched(core: NeuronCore, program: Program) -> RunReport:
    core.attach(Observer())
    return core.attempt(program)


def executed(core: NeuronCore, program: Program) -> RunReport:
    core._lowers = False
    return core.attempt(program)


def lowered(core: NeuronCore, program: Program) -> RunReport:
    core._lowers = True
    return core.attempt(program)


def lazily(core: NeuronCore, program: Program) -> RunReport:
    return core.attempt(iter(program))


def prepared(core: NeuronCore, program: Program) -> RunReport:
    return core.prepare(program).attempt()


def word_by_word(core: NeuronCore, program: Program) -> RunReport:
    """One report put together from one run a word."""
    counts: dict[str, int] = {}
    warnings = []
    for index, word in enumerate(program):
        report = core.attempt(word)
        for warned in report.warnings:
            warnings.append(type(warned)(index, warned.warning, warned.message))
        for name, count in report.counts.items():
            counts[name] = counts.get(name, 0) + count
        if report.error is not None:
            break
    refused = report.error is not None
    return RunReport(
        report.verdict,
        index if refused else len(program),
        report.profile,
        counts,
        tuple(warnings),
        index if refused else None,
        report.error,
    )


def threaded(core: NeuronCore, program: Program) -> RunReport:
    core.threads = 2
    return core.attempt(program)


WAYS: dict[str, tuple[str, Way]] = {
    "executed in NumPy": ("reference", executed),
    "lowered in NumPy": ("reference", lowered),
    "executed": ("native", executed),
    "one call": ("native", NeuronCore.attempt),
    "prepared": ("native", prepared),
    "watched": ("native", watched),
    "taken lazily": ("native", lazily),
    "word by word": ("native", word_by_word),
    "threads": ("native", threaded),
}
USABLE = {name: way for name, (engine, way) in WAYS.items() if engine in available_engines()}


BAD = (
    b"\xff" * 64,
    b"short",
    legal_word(0x46, {"num_active_channels": 200}),
    b"\x41" * 64,
    legal_word(0x46, {"src.start": 0x40000000}),
    legal_word(0x46, {"src.start": 0x80000007, "num_active_channels": 1}),
)


def fill(core: NeuronCore, steps: list[Step]) -> None:
    """Memory and registers as the steps want them, the state of the lanes with ties and NaN."""
    state, rng = core.state, np.random.default_rng(len(steps))
    for step in steps:
        for (space, partition, offset), data in step.memory:
            row = state.memories[space].data[partition]
            row[offset : offset + len(data)] = np.frombuffer(data, np.uint8)
        for number, value in step.registers.items():
            state.registers[number] = value
    state.registers[7] = 0xFFFFFFFF
    state.keys[...] = rng.choice(np.array(SMALL_VALUES, np.uint32), state.keys.shape)
    state.matched[...] = rng.random(state.matched.shape) < 0.3
    state.accumulator[...] = rng.choice(np.array(FP32_VALUES, np.uint32), 128)


def random_program(
    seed: str, generation: str, profile: Profile, words: int
) -> tuple[Program, Callable[[NeuronCore], None]]:
    """A program and what fills a core for it. It runs, unless a bad word was put in."""
    maker = Maker(seed, generation, options(profile))
    opcodes = [op for op in layout.OPCODES if generation in layout.generations_of(op)]
    rng = random.Random(seed)
    steps = [maker.step(rng.choice(opcodes)) for _ in range(words)]
    # Some words find in registers and index lists what others have left there: those that fault
    # are left out.
    scratch = NeuronCore(generation, profile, engine="reference")
    fill(scratch, steps)
    program: Program = []
    for step in steps:
        word = step.word if step.engine is None else Dispatch(step.word, step.engine)
        if scratch.attempt(word).error is None:
            program.append(word)
    if rng.random() < 0.4:
        program.insert(rng.randrange(len(program) + 1), rng.choice(BAD))
    return program, lambda core: fill(core, steps)


def outcome(engine: str, way: Way, generation: str, profile: Profile, made: Any) -> dict[str, Any]:
    program, fill = made
    core = NeuronCore(generation, profile, engine=engine)
    fill(core)
    report = way(core, program)
    found: dict[str, Any] = {"report": report.as_dict(), "type": type(report.error)}
    for name, array in core.state.arrays().items():
        if name in core.state.memories:
            # Where the makers put operands; nothing else may have changed.
            found[f"{name} low"] = array[:, :WINDOW].copy()
            found[f"{name} high"] = array[:, -WINDOW:].copy()
            found[f"{name} inner"] = array[:, WINDOW:-WINDOW].any()
        else:
            found[name] = array
    found["idle_since"] = core.state.idle_since.copy()
    return found


@pytest.mark.parametrize("generation", layout.GENERATIONS)
@pytest.mark.parametrize("profile", ["isa", "hardware", "fn-infinity", "select", "element"])
def test_every_way_of_running_gives_the_same(generation: str, profile: str) -> None:
    ran = 0
    for part, words in enumerate((1, 6, 40, 40)):
        made = random_program(
            f"{generation} {profile} {part}", generation, PROFILES[profile], words
        )
        found = {
            name: outcome(WAYS[name][0], way, generation, PROFILES[profile], made)
            for name, way in USABLE.items()
        }
        expected = found.pop("executed in NumPy")
        ran += expected["report"]["executed"]
        for name, got in found.items():
            for key, value in expected.items():
                same = np.array_equal(got[key], value)
                assert same, f"{name} {part}: {key}\n{got[key]}\n{value}"
    assert ran > 0


needs_native = pytest.mark.skipif("native" not in available_engines(), reason="no native engine")


@needs_native
def test_a_long_program_runs_in_one_call_and_prepared_again_and_again() -> None:
    maker = Maker("long", "cayman", options(Profile.ISA), wide=False)
    words = [maker.step(op).word for op in (0x46, 0x72, 0xE8, 0x6C, 0x6D, 0x6E) for _ in range(4)]
    planner = NeuronCore("cayman", engine="native")
    program = [word for word in words if planner.plan(word) is not None] * 200
    cores = [NeuronCore("cayman", engine="native") for _ in range(3)]
    for core in cores:
        core.sbuf.data[:, :2048] = np.random.default_rng(1).integers(0, 256, 2048, np.uint8)
    ready = cores[1].prepare(program)
    reports = [cores[0].attempt(program), ready.attempt(), watched(cores[2], program)]
    reports += [cores[0].attempt(b"".join(program)), ready.run(), cores[2].attempt(program)]
    assert len(program) > 1024
    assert all(report == reports[0] for report in reports)
    assert reports[0].executed == len(program)
    for core in cores[1:]:
        assert np.array_equal(core.sbuf.data, cores[0].sbuf.data)


def test_an_error_in_the_program_itself_comes_after_the_words_before_it() -> None:
    copy = legal_word(0x46, {"num_active_channels": 1})
    for engine in available_engines():
        core = NeuronCore("cayman", engine=engine)
        core.sbuf.data[0, 0x100:0x120] = 7
        with pytest.raises(ValueError, match="a program is instructions or bytes"):
            core.attempt([copy, 17])
        assert core.sbuf.data[0, 0x300] == 7


def test_words_that_depend_on_the_words_before_them_are_taken_one_by_one() -> None:
    copy = legal_word(0x46, {"num_active_channels": 1})
    for engine in available_engines():
        core = NeuronCore("cayman", engine=engine)
        core.sbuf.data[0, 0x100:0x120] = 7
        seen = []

        def words(core: NeuronCore = core, seen: list[int] = seen) -> Any:
            for _ in range(2):
                seen.append(int(core.sbuf.data[0, 0x300]))
                yield copy

        core.run(words())
        assert seen == [0, 7]


def test_a_prepared_program_follows_its_core() -> None:
    core = NeuronCore("cayman")
    word = legal_word(0x46, {"num_active_channels": 1})
    ready = core.prepare([word])
    core.sbuf.data[0, 0x100:0x120] = 7
    assert ready.run().executed == 1
    assert core.sbuf.data[0, 0x300] == 7
    # Another state takes the place of the one it was prepared for.
    old, core.state = core.state, NeuronCore("cayman").state
    core.sbuf.data[0, 0x100:0x120] = 9
    assert ready.run().executed == 1
    assert (core.sbuf.data[0, 0x300], old.memories["sbuf"].data[0, 0x300]) == (9, 7)
    # And an observer sees it.
    calls: list[int] = []

    class Watch(Observer):
        def after_commit(self, machine: Any, index: int, instruction: Any) -> None:
            calls.append(index)

    core.attach(Watch())
    ready.run()
    assert calls == [0]
    with pytest.raises(MalformedWord):
        core.prepare([word, b"\xff" * 64]).run()


def test_warnings_come_from_one_call_as_from_single_words() -> None:
    core = NeuronCore("cayman")
    idle = legal_word(0xEA, {"accumulator_command": 0, "num_active_channels": 3, "op1": 8})
    more = legal_word(0xEA, {"accumulator_command": 2, "num_active_channels": 5, "op1": 8})
    fresh = legal_word(0xEA, {"accumulator_command": 3, "num_active_channels": 2, "op1": 8})
    ready = core.prepare([idle, more, fresh, more])
    for report in (ready.run(), core.run([idle, more, fresh, more])):
        assert [warned.index for warned in report.warnings] == [1, 3]
        assert "lanes 0..2" in report.warnings[0].message
        assert "lane 2 " in report.warnings[1].message


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
@pytest.mark.parametrize("engine", available_engines())
def test_a_copy_of_a_prepared_program_has_a_core_of_its_own(engine: str, copied: Any) -> None:
    core = NeuronCore("cayman", engine=engine)
    ready = core.prepare([legal_word(0x46, {"num_active_channels": 1})])
    core.sbuf.data[0, 0x100:0x120] = 7
    again = copied(ready)
    core.sbuf.data[0, 0x100:0x120] = 9
    assert again.run() == ready.run()
    other = again.core
    assert other is not core
    assert (other.sbuf.data[0, 0x300], core.sbuf.data[0, 0x300]) == (7, 9)


def test_memories_are_the_same_ones_for_good() -> None:
    core = NeuronCore("cayman")
    assert list(core.state.memories) == ["sbuf", "psum"]
    with pytest.raises(TypeError):
        core.state.memories["sbuf"] = core.psum  # type: ignore[index]


def test_threads_are_named_by_argument_or_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert NeuronCore().threads == 1
    assert NeuronCore(threads=3).threads == 3
    monkeypatch.setenv("LANEWISE_THREADS", "2")
    assert NeuronCore().threads == 2
    monkeypatch.setenv("LANEWISE_THREADS", "two")
    message = "LANEWISE_THREADS must be a number of threads, 1 to 1024, not 'two'"
    with pytest.raises(ValueError, match=message):
        NeuronCore()
    with pytest.raises(ValueError, match="threads must be 1 to 1024, not 0"):
        NeuronCore(threads=0)
