"""The machine and the oracle side by side."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterable

import numpy as np
from tests.neuron.oracle import Fault, Oracle
from tests.neuron.programs import FP32_VALUES, SMALL_VALUES, Step

from lanewise.neuron import Dispatch, NeuronCore, Profile

#: One profile for each value of each field, and the two that ship.
PROFILES = {
    "isa": Profile.ISA,
    "hardware": Profile.HARDWARE,
    "nearest": Profile.ISA.with_(float_to_int="nearest"),
    "infinity": Profile.ISA.with_(float_overflow="infinity"),
    "fn": Profile.ISA.with_(fp8_exp4="fn"),
    "fn-infinity": Profile.ISA.with_(fp8_exp4="fn", float_overflow="infinity"),
    "one-mantissa-bit": Profile.ISA.with_(fp32r_mantissa_bits=1),
    "22-mantissa-bits": Profile.ISA.with_(fp32r_mantissa_bits=22, float_overflow="infinity"),
    "select": Profile.ISA.with_(select_reduce="select"),
    "element": Profile.ISA.with_(range_select_operand="element"),
    "every16": Profile.ISA.with_(nonzero_lanes="every16"),
    "count-nan": Profile.ISA.with_(nonzero_nan="count"),
    "quadrant": Profile.ISA.with_(partition_window="quadrant"),
}


def options(profile: Profile) -> dict:
    return dataclasses.asdict(profile)


class Twins:
    """A core and an oracle that are given the same things."""

    def __init__(self, generation: str, profile: Profile, engine: str = "auto") -> None:
        self.core = NeuronCore(generation, profile, engine=engine)
        self.oracle = Oracle(generation, options(profile))

    def randomise_state(self, seed: object) -> None:
        """Keys with ties, used-up keys, old positions and accumulators."""
        rng = random.Random(str(seed))
        state, oracle = self.core.state, self.oracle
        for lane in range(128):
            oracle.keys[lane] = [rng.choice(SMALL_VALUES) for _ in range(8)]
            oracle.matched[lane] = [rng.random() < 0.3 for _ in range(8)]
            oracle.indices[lane] = [rng.getrandbits(32) for _ in range(8)]
            oracle.accumulator[lane] = rng.choice((0xFF800000, *FP32_VALUES))
        state.keys[...] = oracle.keys
        state.matched[...] = oracle.matched
        state.indices[...] = oracle.indices
        state.accumulator[...] = oracle.accumulator

    def prepare(self, step: Step) -> None:
        for (space, partition, offset), data in step.memory:
            row = self.core.state.memories[space].data[partition]
            row[offset : offset + len(data)] = np.frombuffer(data, np.uint8)
            for index, value in enumerate(data):
                self.oracle.memory[space, partition, offset + index] = value
        for number, value in step.registers.items():
            self.core.state.registers[number] = value
            self.oracle.registers[number] = value

    def run(self, step: Step) -> str:
        """Run a step on both; the verdict they agree on ("ok" or a fault's reason)."""
        self.prepare(step)
        try:
            self.oracle.run(step.word, step.engine)
            expected = "ok"
        except Fault as fault:
            expected = str(fault)
        word = step.word if step.engine is None else Dispatch(step.word, step.engine)
        report = self.core.attempt(word)
        got = "ok" if report.error is None else report.reason or str(report.error)
        assert got == expected, f"{step.word.hex()} on {step.engine}: {report.error}"
        return expected

    def differences(self) -> list[str]:
        """What the two disagree on, as text; every byte of every memory is compared."""
        found = []
        state, oracle = self.core.state, self.oracle
        expected: dict[str, np.ndarray] = {}
        for (space, partition, offset), value in oracle.memory.items():
            got = int(state.memories[space].data[partition, offset])
            if got != value:
                found.append(f"{space} {partition}:{offset:#x} {got:02x}, expected {value:02x}")
        for space, memory in state.memories.items():
            nonzero = int(np.count_nonzero(memory.data))
            expected_count = sum(1 for k, v in oracle.memory.items() if k[0] == space and v)
            if not found and nonzero != expected_count:
                found.append(f"{space}: bytes changed that no element covers")
        expected = {
            "keys": np.array(oracle.keys, np.uint32),
            "matched": np.array(oracle.matched, np.bool_),
            "indices": np.array(oracle.indices, np.uint32),
            "accumulator": np.array(oracle.accumulator, np.uint32),
            "registers": np.array(oracle.registers, np.uint32),
        }
        for name, wanted in expected.items():
            got = getattr(state, name)
            if not np.array_equal(got, wanted):
                at = tuple(np.argwhere(got != wanted)[0])
                found.append(f"{name}{list(map(int, at))} is {got[at]!r}, expected {wanted[at]!r}")
        return found


def compare_run(
    generation: str, profile: Profile, steps: Iterable[Step], *, engine: str = "auto", seed: str
) -> list[str]:
    """Run steps on both and demand the same state; the verdicts."""
    steps = list(steps)
    twins = Twins(generation, profile, engine)
    twins.randomise_state(seed)
    verdicts = [twins.run(step) for step in steps]
    if twins.differences():
        again = Twins(generation, profile, engine)
        again.randomise_state(seed)
        for index, step in enumerate(steps):
            again.run(step)
            found = again.differences()
            assert not found, f"step {index} {step.word.hex()}:\n  " + "\n  ".join(found[:8])
        raise AssertionError(f"differences only without looking: {twins.differences()[:4]}")
    return verdicts
