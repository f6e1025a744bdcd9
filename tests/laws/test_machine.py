"""How the machine runs programs: observers, engines, the plan cache, reports and warnings."""

from __future__ import annotations

import numpy as np
import pytest
from tests.neuron import layout
from tests.neuron.bases import legal_word
from tests.neuron.programs import Maker
from tests.neuron.twins import PROFILES, compare_run, options

from lanewise.errors import UsageError
from lanewise.kernels import available_engines
from lanewise.model import IllegalInstruction, MachineFault, MalformedWord, Observer, Verdict
from lanewise.neuron import Dispatch, NeuronCore, Profile, check
from lanewise.neuron import core as core_module
from lanewise.neuron.instructions import BY_OPCODE

COPY = legal_word(0x46, {"num_active_channels": 1})


class Log(Observer):
    """Writes down every call, with a digest of what the destination holds at that moment."""

    def __init__(self) -> None:
        self.calls: list[tuple] = []

    def before_legality(self, machine, index, word) -> None:
        self.calls.append(("before", index, word, int(machine.sbuf.data[0, 0x300])))

    def after_legality(self, machine, index, instruction) -> None:
        self.calls.append(("legal", index, instruction, int(machine.sbuf.data[0, 0x300])))

    def after_commit(self, machine, index, instruction) -> None:
        self.calls.append(("commit", index, instruction, int(machine.sbuf.data[0, 0x300])))

    def refused(self, machine, index, error) -> None:
        self.calls.append(("refused", index, type(error), int(machine.sbuf.data[0, 0x300])))


def watched_core() -> tuple[NeuronCore, Log]:
    core, log = NeuronCore("cayman"), Log()
    core.sbuf.data[0, 0x100:0x120] = 7
    core.attach(log)
    return core, log


def test_observers_see_each_word_before_legality_after_it_and_after_commit() -> None:
    core, log = watched_core()
    core.run([COPY, COPY])
    copy = BY_OPCODE[0x46].from_bytes(COPY)
    assert log.calls == [
        ("before", 0, COPY, 0),
        ("legal", 0, copy, 0),
        ("commit", 0, copy, 7),
        ("before", 1, COPY, 7),
        ("legal", 1, copy, 7),
        ("commit", 1, copy, 7),
    ]


@pytest.mark.parametrize(
    ("word", "error", "legal"),
    [
        (b"\xff" * 64, MalformedWord, False),
        (COPY[:20], MalformedWord, False),
        (legal_word(0x46, {"events.wait_mode": 99}), IllegalInstruction, False),
        (b"\x41" * 64, MachineFault, False),
        (legal_word(0x46, {"src.start": 0x40000000}), MachineFault, True),
    ],
)
def test_observers_see_no_commit_of_a_refused_word(word: bytes, error: type, legal: bool) -> None:
    core, log = watched_core()
    core.attempt([word, COPY])
    expected = ["before", *(["legal"] if legal else []), "refused"]
    assert [call[0] for call in log.calls] == expected
    assert log.calls[-1] == ("refused", 0, error, 0)


def test_observers_come_and_go_and_are_called_in_order() -> None:
    core, log = watched_core()
    second = Log()
    core.attach(second)
    core.run(COPY)
    core.detach(log)
    core.run(COPY)
    assert (len(log.calls), len(second.calls)) == (3, 6)
    with pytest.raises(UsageError, match="this observer is not attached"):
        core.detach(log)


@pytest.mark.skipif(len(available_engines()) < 2, reason="the native engine is not built")
@pytest.mark.parametrize("generation", layout.GENERATIONS)
def test_engines_give_the_same_state_on_random_programs(generation: str) -> None:
    opcodes = [op for op in layout.OPCODES if generation in layout.generations_of(op)]
    for name in ("isa", "hardware"):
        seed = f"engines {generation} {name}"
        maker = Maker(seed, generation, options(PROFILES[name]), bad=0.02)
        steps = [maker.step(maker.rng.choice(opcodes)) for _ in range(60)]
        for engine in available_engines():
            compare_run(generation, PROFILES[name], steps, engine=engine, seed=seed)


def test_engines_are_named_and_refused() -> None:
    for engine in available_engines():
        assert NeuronCore(engine=engine).engine == engine
    with pytest.raises(UsageError, match="unknown engine 'refrence'; did you mean 'reference'"):
        NeuronCore(engine="refrence")


@pytest.mark.parametrize("engine", available_engines())
def test_a_word_run_again_reads_its_registers_and_lists_again(engine: str) -> None:
    core = NeuronCore("mariana", engine=engine)
    core.sbuf.write(0, 0, np.arange(1, 65, dtype=np.float32), "FP32")
    change = {"num_active_channels": 1, "src.num[0]": 1, "dst.num[0]": 1, "src.start": 0x80000007}
    word = legal_word(0x46, change)
    for offset in (0, 4, 96, 8):
        core.state.registers[7] = offset
        core.run(word)
        assert core.sbuf.read(0, 0x300, 1, "FP32").tolist() == [offset / 4 + 1]
    core.state.registers[7] = 1
    assert core.attempt(word).reason == "address"
    core.state.registers[7] = 12
    core.run(word)
    assert core.sbuf.read(0, 0x300, 1, "FP32").tolist() == [4.0]

    lists = {"src.index": 0x20000400, "src.data": 0, "src.num_elem": 4, "dst.num[0]": 4}
    gather = legal_word(0x46, {"num_active_channels": 1} | lists)
    for indices in ([0, 1, 2, 3], [9, 9, 0, 63], [5, 4, 3, 2]):
        core.sbuf.write(0, 0x400, np.array(indices, np.uint32), "UINT32")
        core.run(gather)
        got = core.sbuf.read(0, 0x300, 4, "FP32").tolist()
        assert got == [index + 1 for index in indices]
    core.sbuf.write(0, 0x400, np.array([0, 0, 1 << 30, 0], np.uint32), "UINT32")
    assert core.attempt(gather).reason == "index"

    scalar = {"num_active_channels": 1, "scalar_source": 1, "scalar": 0x500, "reversed_pred": 0}
    fill = legal_word(0xE8, scalar | {"predicate.start": 0x600})
    for value in (3.5, -1.0):
        core.sbuf.write(0, 0x500, np.float32([value]), "FP32")
        core.run(fill)
        assert core.sbuf.read(0, 0x300, 8, "FP32").tolist() == [value] * 8


def test_a_word_is_checked_for_the_engine_it_runs_on_each_time() -> None:
    core = NeuronCore("cayman")
    word = legal_word(0x46, {"src.start": layout.psum(0)})
    assert core.attempt(Dispatch(word, "act")).verdict is Verdict.OK
    assert core.attempt(word).rule == "engine-reach"
    assert core.attempt(Dispatch(word, "pool")).rule == "engine-reach"
    assert core.attempt(Dispatch(word, "dve")).verdict is Verdict.OK


def test_the_plan_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert core_module.MOST_PLANS <= 1 << 16
    monkeypatch.setattr(core_module, "MOST_PLANS", 16)
    core = NeuronCore("cayman")
    words = [legal_word(0x46, {"events.semaphore_value": n}) for n in range(70)]
    for _ in range(2):
        for word in words:
            assert core.run(word).executed == 1
            assert len(core._plans) <= 16


def test_programs_come_in_every_form() -> None:
    copy = BY_OPCODE[0x46].from_bytes(COPY)
    forms = [
        COPY,
        bytearray(COPY),
        memoryview(COPY),
        copy,
        Dispatch(COPY, "act"),
        Dispatch(copy, "act"),
        Dispatch(bytearray(COPY), "act"),
        [COPY],
        [copy, COPY],
        (word for word in [copy, Dispatch(COPY, "dve"), COPY]),
        COPY * 5,
        b"",
        [],
    ]
    ran = [NeuronCore("cayman").run(form).executed for form in forms]
    assert ran == [1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 5, 0, 0]
    for wrong in ("46" * 64, 7, None, 1.5):
        with pytest.raises(UsageError, match="a program is instructions or bytes of 64 a word"):
            NeuronCore("cayman").run(wrong)


def test_bytes_that_end_inside_a_word_are_malformed_there() -> None:
    report = NeuronCore("cayman").attempt(COPY + COPY[:63])
    assert (report.verdict, report.reason) == (Verdict.MALFORMED, "length")
    assert (report.index, report.executed) == (1, 1)
    report = NeuronCore("cayman").attempt([COPY + COPY])
    assert (report.verdict, report.reason, report.index) == (Verdict.MALFORMED, "length", 0)


def test_the_report_counts_names_and_quotes_the_profile() -> None:
    profile = Profile.ISA.with_(fp8_exp4="fn")
    report = NeuronCore("cayman", profile).run([COPY, legal_word(0x47), COPY])
    assert dict(report.counts) == {"COPY": 2, "CAST": 1}
    assert report.profile == "isa with fp8_exp4=fn"
    assert (report.executed, report.index, report.error) == (3, None, None)
    refused = NeuronCore("cayman").attempt([COPY, legal_word(0x46, {"op_dim": 1})]).as_dict()
    assert (refused["verdict"], refused["rule"], refused["index"]) == ("illegal", "op-dim", 1)
    assert refused["broken"][0]["bits"] == [[37 * 8, 37 * 8 + 7]]
    assert refused["executed"] == 1


def accumulate(opcode: int, command: int, lanes: int = 4) -> bytes:
    field = "accumulator_command" if opcode == 0xEA else "reduce_command"
    return legal_word(opcode, {field: command, "num_active_channels": lanes})


@pytest.mark.parametrize("first", [0xEA, 0xBC])
@pytest.mark.parametrize("last", [0xEA, 0xBC])
def test_continuing_after_an_idle_command_is_warned_about_by_lane(first, last) -> None:
    core = NeuronCore("cayman")
    idle, go_on, reset = accumulate(first, 0, 3), accumulate(last, 2), accumulate(first, 3, 2)
    report = core.run([go_on, idle, go_on, reset, go_on, accumulate(first, 3), go_on])
    assert [(w.index, w.warning) for w in report.warnings] == [
        (2, "idle-accumulator"),
        (4, "idle-accumulator"),
    ]
    assert "the accumulator of lanes 0..2 after" in report.warnings[0].message
    assert "the accumulator of lane 2 after" in report.warnings[1].message


def test_check_needs_no_core_and_takes_words_or_bytes() -> None:
    word = legal_word(0x46, {"op_dim": 9})
    assert check(word) == check(BY_OPCODE[0x46].from_bytes(word))
    assert check(b"\x41" * 64) == ()
    with pytest.raises(MalformedWord):
        check(b"\xff" * 64)
    with pytest.raises(UsageError, match="COPY_PREDICATED runs on dve, not on pool"):
        check(legal_word(0x72), engine="pool")
