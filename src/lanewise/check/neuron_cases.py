"""Cases of the NeuronCore: parsing them strictly and comparing a run with what they expect."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal, TypeVar

import msgspec
import numpy as np

from lanewise.check.errors import CaseError
from lanewise.errors import LanewiseError, UsageError
from lanewise.model import RunReport, Verdict
from lanewise.neuron import Dispatch, NeuronCore, Profile, Unmodelled, decode, find_generation
from lanewise.neuron.codes import REGISTERS
from lanewise.neuron.generation import PARTITIONS, Generation, Space

SCHEMA = "lanewise.case/1"
Lane = int
Found = TypeVar("Found")


class _Strict(msgspec.Struct, forbid_unknown_fields=True):
    """A JSON object whose unknown keys are an error."""


class MemoryRange(_Strict):
    """Bytes of one partition."""

    space: Space
    partition: int
    offset: int
    hex: str


class LaneKeys(_Strict):
    """The eight keys of a lane as little-endian hex, slot 0 first, and their flags."""

    partition: Lane
    values: list[str]
    matched: list[int] | None = None


class LaneAccumulator(_Strict):
    """The accumulator of a lane as little-endian hex."""

    partition: Lane
    hex: str


class LaneIndices(_Strict):
    """The eight stored positions of a lane."""

    partition: Lane
    values: list[int]


class LaneState(_Strict):
    """Per-lane state, as much of it as the case names."""

    keys: list[LaneKeys] = []
    accumulator: list[LaneAccumulator] = []
    indices: list[LaneIndices] = []


class ProgramWord(_Strict):
    """A word in hex and, optionally, the engine that runs it."""

    word: str
    engine: Literal["pool", "act", "dve"] | None = None


class Expectation(_Strict):
    """What the run must give; absent keys are not compared."""

    verdict: Literal["ok", "malformed", "illegal", "fault"]
    memory: list[MemoryRange] = []
    state: LaneState = msgspec.field(default_factory=LaneState)
    rule: str | None = None
    reason: str | None = None
    index: int | None = None


class NeuronCase(_Strict):
    """One test vector of the NeuronCore."""

    schema: Literal["lanewise.case/1"]
    id: str
    machine: Literal["neuron"]
    generation: str
    program: list[ProgramWord]
    expect: Expectation
    profile: str = "isa"
    profile_overrides: dict[str, str | int] = {}
    memory: list[MemoryRange] = []
    registers: dict[str, int] = {}
    state: LaneState = msgspec.field(default_factory=LaneState)
    note: str | None = None


def parse_case(document: Any) -> NeuronCase:
    """A case from decoded JSON; CaseError with the JSON path of what is wrong."""
    try:
        case = msgspec.convert(document, NeuronCase, strict=True)
    except msgspec.ValidationError as error:
        # msgspec leaves the path out at the top.
        message = str(error)
        raise CaseError(message if "`$" in message else f"{message} - at `$`") from error
    _validate(case)
    return case


def _fail(path: str, problem: str) -> CaseError:
    return CaseError(f"{problem} - at `$.{path}`")


def _named(path: str, find: Callable[[], Found]) -> Found:
    """What ``find`` gives; its refusal of a name becomes a failure at ``path``."""
    try:
        return find()
    except UsageError as error:
        raise _fail(path, str(error)) from error


def _bytes(text: str, path: str, size: int | None = None) -> bytes:
    try:
        data = bytes.fromhex(text)
    except ValueError:
        raise _fail(path, f"expected pairs of hex digits, got {text[:40]!r}") from None
    if size is not None and len(data) != size:
        raise _fail(path, f"expected {size} bytes in hex, got {len(data)}")
    return data


def _validate(case: NeuronCase) -> None:
    """What the types cannot say: names, sizes, ranges and engines."""
    generation = _named("generation", lambda: find_generation(case.generation))
    profile = _named("profile", lambda: Profile.named(case.profile))
    _named("profile_overrides", lambda: profile.with_(**case.profile_overrides))
    for name, register in case.registers.items():
        # One spelling a register, so that no two keys name the same.
        named = re.fullmatch("0|[1-9][0-9]?", name) and int(name) < REGISTERS
        if not (named and 0 <= register < 1 << 32):
            raise _fail(f"registers.{name}", f"expected registers 0..{REGISTERS - 1} of 32 bits")
    _validate_memory(case.memory, generation, "memory")
    _validate_memory(case.expect.memory, generation, "expect.memory")
    _validate_state(case.state, "state")
    _validate_state(case.expect.state, "expect.state")
    if not case.program:
        raise _fail("program", "expected at least one word")
    if case.expect.index is not None and not 0 <= case.expect.index < len(case.program):
        raise _fail("expect.index", f"expected 0..{len(case.program) - 1}")
    if (case.expect.rule is not None) != (case.expect.verdict == "illegal"):
        raise _fail("expect", "expected a rule with the verdict illegal, and only with it")
    for index, item in enumerate(case.program):
        word = _bytes(item.word, f"program[{index}].word")
        if item.engine is not None:
            _validate_engine(word, item.engine, generation, f"program[{index}].engine")


def _validate_memory(ranges: list[MemoryRange], generation: Generation, path: str) -> None:
    for index, part in enumerate(ranges):
        here = f"{path}[{index}]"
        data = _bytes(part.hex, f"{here}.hex")
        if not 0 <= part.partition < PARTITIONS:
            raise _fail(f"{here}.partition", f"expected 0..{PARTITIONS - 1}, got {part.partition}")
        active = generation.active_bytes(part.space)
        if not active:
            raise _fail(f"{here}.space", f"{generation} has no {part.space.upper()}")
        if part.offset < 0 or part.offset + len(data) > active:
            raise _fail(
                f"{here}.offset",
                f"expected {len(data)} bytes inside the {active:#x} of {part.space} on "
                f"{generation}, got offset {part.offset:#x}",
            )


def _validate_state(state: LaneState, path: str) -> None:
    entries: list[tuple[str, int, LaneKeys | LaneAccumulator | LaneIndices]] = [
        *(("keys", i, entry) for i, entry in enumerate(state.keys)),
        *(("accumulator", i, entry) for i, entry in enumerate(state.accumulator)),
        *(("indices", i, entry) for i, entry in enumerate(state.indices)),
    ]
    for name, index, entry in entries:
        here = f"{path}.{name}[{index}]"
        if not 0 <= entry.partition < PARTITIONS:
            raise _fail(f"{here}.partition", f"expected a lane 0..{PARTITIONS - 1}")
        if isinstance(entry, LaneAccumulator):
            _bytes(entry.hex, f"{here}.hex", 4)
            continue
        if len(entry.values) != 8:
            raise _fail(f"{here}.values", f"expected 8 values, got {len(entry.values)}")
        if isinstance(entry, LaneKeys):
            for slot, text in enumerate(entry.values):
                _bytes(text, f"{here}.values[{slot}]", 4)
            flags = entry.matched
            if flags is not None and (len(flags) != 8 or not set(flags) <= {0, 1}):
                raise _fail(f"{here}.matched", "expected 8 flags, 0 or 1")
        elif any(not 0 <= value < 1 << 32 for value in entry.values):
            raise _fail(f"{here}.values", "expected values of 32 bits")


def _validate_engine(word: bytes, engine: str, generation: Generation, path: str) -> None:
    """An engine outside the instruction's list makes the case itself invalid."""
    try:
        instruction = decode(word, generation)
    except LanewiseError:
        return
    if not isinstance(instruction, Unmodelled):
        try:
            instruction.check_engine(engine)
        except UsageError as error:
            raise _fail(path, str(error)) from None


def run_case(case: NeuronCase, engine: str = "auto") -> list[str]:
    """Run a case with the kernels of ``engine``; what differs, empty when it passes."""
    profile = Profile.named(case.profile).with_(**case.profile_overrides)
    core = NeuronCore(case.generation, profile, engine=engine)
    _prepare(core, case)
    program = [
        bytes.fromhex(item.word)
        if item.engine is None
        else Dispatch(bytes.fromhex(item.word), item.engine)
        for item in case.program
    ]
    report = core.attempt(program)
    return [*_verdict_differences(case, report), *_state_differences(core, case.expect)]


def _prepare(core: NeuronCore, case: NeuronCase) -> None:
    state = core.state
    for part in case.memory:
        data = bytes.fromhex(part.hex)
        row = state.memories[part.space].data[part.partition]
        row[part.offset : part.offset + len(data)] = np.frombuffer(data, np.uint8)
    for name, value in case.registers.items():
        state.registers[int(name)] = value
    for keys in case.state.keys:
        state.keys[keys.partition] = [_fp32(text) for text in keys.values]
        if keys.matched is not None:
            state.matched[keys.partition] = [bool(flag) for flag in keys.matched]
    for accumulator in case.state.accumulator:
        state.accumulator[accumulator.partition] = _fp32(accumulator.hex)
    for indices in case.state.indices:
        state.indices[indices.partition] = indices.values


def _fp32(text: str) -> int:
    return int.from_bytes(bytes.fromhex(text), "little")


def _verdict_differences(case: NeuronCase, report: RunReport) -> list[str]:
    expect = case.expect
    if report.verdict != expect.verdict:
        story = "" if report.error is None else f" ({str(report.error).splitlines()[0]})"
        detail = f" {report.rule or report.reason}" if report.error is not None else ""
        return [f"verdict is {report.verdict}{detail}, expected {expect.verdict}{story}"]
    if report.verdict is Verdict.OK:
        return []
    differences = []
    if expect.rule is not None and report.rule != expect.rule:
        differences.append(f"first broken rule is {report.rule}, expected {expect.rule}")
    if expect.reason is not None and report.reason != expect.reason:
        differences.append(f"reason is {report.reason}, expected {expect.reason}")
    index = len(case.program) - 1 if expect.index is None else expect.index
    if report.index != index:
        differences.append(f"word {report.index} was refused, expected word {index}")
    return differences


def _state_differences(core: NeuronCore, expect: Expectation) -> list[str]:
    state, differences = core.state, []
    for part in expect.memory:
        wanted = bytes.fromhex(part.hex)
        row = state.memories[part.space].data[part.partition]
        got = row[part.offset : part.offset + len(wanted)].tobytes()
        if got != wanted:
            differences.append(_first_difference(part, got, wanted))
    for keys in expect.state.keys:
        lane = keys.partition
        wanted_keys = [_fp32(text) for text in keys.values]
        if state.keys[lane].tolist() != wanted_keys:
            differences.append(
                f"keys of lane {lane} are {_hexed(state.keys[lane])}, expected "
                f"{_hexed(np.array(wanted_keys))}"
            )
        flags = state.matched[lane].astype(int).tolist()
        if keys.matched is not None and flags != keys.matched:
            differences.append(f"matched flags of lane {lane} are {flags}, expected {keys.matched}")
    for accumulator in expect.state.accumulator:
        lane, wanted_bits = accumulator.partition, _fp32(accumulator.hex)
        got_bits = int(state.accumulator[lane])
        if got_bits != wanted_bits:
            differences.append(
                f"accumulator of lane {lane} is {got_bits:08x}, expected {wanted_bits:08x}"
            )
    for indices in expect.state.indices:
        found = state.indices[indices.partition].tolist()
        if found != indices.values:
            differences.append(
                f"indices of lane {indices.partition} are {found}, expected {indices.values}"
            )
    return differences


def _hexed(values: Any) -> str:
    return " ".join(f"{int(value):08x}" for value in values)


def _first_difference(part: MemoryRange, got: bytes, wanted: bytes) -> str:
    """The first differing byte of a range, and its lowest differing bit."""
    at = next(i for i, (a, b) in enumerate(zip(got, wanted, strict=True)) if a != b)
    flipped = got[at] ^ wanted[at]
    bit = (flipped & -flipped).bit_length() - 1
    count = sum(a != b for a, b in zip(got, wanted, strict=True))
    return (
        f"{part.space} partition {part.partition} offset {part.offset + at:#x} holds "
        f"{got[at]:02x}, expected {wanted[at]:02x} (bit {bit}; {count} of {len(wanted)} bytes "
        "differ)"
    )
