"""Legal words that cannot run: each kind of fault, its reasons, and which comes first."""

from __future__ import annotations

import numpy as np
import pytest
from tests.neuron import layout
from tests.neuron.bases import legal_word, operands_of, size_of
from tests.neuron.test_rules import CASES, SCALARS

from lanewise.model import MachineFault
from lanewise.neuron import Dispatch, NeuronCore, Profile, check


def attempt(
    word: bytes,
    generation: str,
    registers: dict[int, int] | None = None,
    *,
    engine: str | None = None,
    profile: Profile = Profile.ISA,
    memory: dict[int, list[int]] | None = None,
):
    """Run a word, which must be legal, with registers and UINT32 lists in partition 0..3."""
    assert check(word, generation, profile, engine) == ()
    core = NeuronCore(generation, profile)
    for number, value in (registers or {}).items():
        core.state.registers[number] = value
    for offset, values in (memory or {}).items():
        for partition in range(4):
            core.sbuf.write(partition, offset, np.array(values, np.uint32), "UINT32")
    return core.attempt(word if engine is None else Dispatch(word, engine))


def outside_addresses(generation: str, size: int, *, writes: bool, pool: bool):
    """Register values that must fault for an 8-element walk, with a name for each."""
    active, stride = layout.SBUF_BYTES[generation], layout.SBUF_STRIDE[generation]
    for bit in (29, 30, 31):
        yield f"bit {bit} set", 1 << bit
    if size > 1:
        yield "misaligned", size + 1
    yield "walk past the end", active - 7 * size
    if active < stride:
        yield "between active bytes and stride", active
    yield "past both windows", 0x8000000 if generation == "maverick" else 0x2400000
    yield "too many partitions", layout.sbuf(generation, 125)
    yield "largest address", 0x1FFFFFFF & ~(size - 1)
    if layout.PSUM_BYTES[generation]:
        if pool or (writes and size != 4):
            yield "PSUM", layout.psum(0)
        yield "PSUM walk past the end", layout.psum(0, 0x4000 - 7 * size)


@pytest.mark.parametrize(("opcode", "generation"), CASES)
def test_a_bad_address_in_a_register_faults(opcode: int, generation: str) -> None:
    for operand in operands_of(opcode):
        if opcode == 0x9B:
            continue  # one element: its own test below
        size = size_of(opcode, operand)
        word = legal_word(opcode, {f"{operand}.start": 0x8000003F})
        pool = opcode in (0x46, 0x47, 0xF2)
        writes = operand == "dst"
        for story, address in outside_addresses(generation, size, writes=writes, pool=pool):
            seven = (opcode, operand) == (0xF2, "src") and "walk" in story
            report = attempt(word, generation, {63: address + size if seven else address})
            assert (report.verdict, report.reason) == ("fault", "address"), story
            assert operand in str(report.error)
            assert "register 63" in str(report.error)
        report = attempt(word, generation, {63: layout.sbuf(generation, 124)})
        assert report.verdict == "ok"


@pytest.mark.parametrize("generation", layout.GENERATIONS)
def test_the_single_element_of_read_accumulator_faults_too(generation: str) -> None:
    word = legal_word(0x9B, {"dst.start": 0x80000000})
    active = layout.SBUF_BYTES[generation]
    for address in (1, 2, 1 << 31, layout.sbuf(generation, 125), active - 2):
        assert attempt(word, generation, {0: address}).reason == "address"
    assert attempt(word, generation, {0: active - 4}).verdict == "ok"


@pytest.mark.parametrize("generation", ["sunda", "cayman", "mariana"])
@pytest.mark.parametrize("opcode", [0x46, 0x47])
def test_only_the_pool_engine_faults_on_a_register_that_leads_to_psum(opcode, generation) -> None:
    word = legal_word(opcode, {"src.start": 0x80000000})
    registers = {0: layout.psum(0)}
    assert attempt(word, generation, registers).reason == "address"
    assert attempt(word, generation, registers, engine="pool").reason == "address"
    assert attempt(word, generation, registers, engine="act").verdict == "ok"
    assert attempt(word, generation, registers, engine="dve").verdict == "ok"


@pytest.mark.parametrize(("opcode", "generation"), CASES)
def test_a_window_is_tested_when_the_register_is_read(opcode: int, generation: str) -> None:
    quadrant = Profile.ISA.with_(partition_window="quadrant")
    for operand in operands_of(opcode):
        word = legal_word(opcode, {f"{operand}.start": 0x80000005})
        registers = {5: layout.sbuf(generation, 16)}
        assert attempt(word, generation, registers).verdict == "ok"
        assert attempt(word, generation, registers, profile=quadrant).reason == "address"


@pytest.mark.parametrize(("opcode", "generation"), CASES)
def test_a_zero_num_behind_a_register_faults(opcode: int, generation: str) -> None:
    operands = operands_of(opcode)
    numbers = {name: index for index, name in enumerate(operands)}
    if opcode in (0x6C, 0x6E, 0x6D, 0x6F, 0xF2, 0x9B, 0xE9):
        return  # a count rule refuses zero elements before
    change = {f"{name}.start": 0x80000000 | numbers[name] for name in operands}
    change |= {f"{name}.num[1]": 0 for name in operands}
    report = attempt(legal_word(opcode, change), generation)
    assert report.reason == "address"


@pytest.mark.parametrize(("opcode", "generation"), CASES)
def test_a_shape_in_a_register_is_not_modelled(opcode: int, generation: str) -> None:
    for operand in operands_of(opcode):
        for start in (0x40000000, 0xC0000000):
            word = legal_word(opcode, {f"{operand}.start": start})
            report = attempt(word, generation)
            assert (report.verdict, report.reason) == ("fault", "not-modelled")


def test_a_shape_register_waives_the_counts_but_not_the_keys_of_sunda() -> None:
    for generation in layout.GENERATIONS:
        waived = legal_word(0x6D, {"src.start": 0x40000000, "src.num[0]": 3})
        ids = [finding.rule for finding in check(waived, generation)]
        assert ids == (["key-count"] if generation == "sunda" else [])
        kept = legal_word(0x6D, {"src.start": 0xC0000000, "src.num[0]": 4, "src.num[1]": 2})
        assert check(kept, generation) == ()
    # The first element is still tested, the shape is not.
    far = layout.SBUF_BYTES["cayman"] - 4
    shaped = legal_word(0x46, {"src.start": 0x40000000 | far, "src.num[2]": 0})
    assert check(shaped, "cayman") == ()
    past = legal_word(0x46, {"src.start": 0x40000000 | (far + 4)})
    assert [finding.rule for finding in check(past, "cayman")] == ["src-readable"]


@pytest.mark.parametrize(("opcode", "rule"), list(SCALARS))
def test_a_bad_scalar_address_in_a_register_faults(opcode: int, rule: str) -> None:
    source, value = SCALARS[opcode, rule]
    word = legal_word(opcode, {source: 2, value: 7})
    for generation in layout.generations_of(opcode):
        bad = [1, 2, 1 << 29, 1 << 31, layout.sbuf(generation, 125), 0x1FFFFFFC]
        if layout.PSUM_BYTES[generation]:
            bad += [layout.psum(0, 0x4000), layout.psum(125)]
            assert attempt(word, generation, {7: layout.psum(3)}).verdict == "ok"
        for address in bad:
            report = attempt(word, generation, {7: address})
            assert report.reason == "address", hex(address)
        assert attempt(word, generation, {7: 0x400}).verdict == "ok"


@pytest.mark.parametrize("profile", ["isa", "hardware"])
def test_a_scalar_register_is_checked_even_where_no_result_needs_it(profile: str) -> None:
    """Under ``merge`` the scalar of SELECT_REDUCE is not used, yet a bad register faults."""
    word = legal_word(0xEA, {"imm0_source": 2, "imm0": 1})
    report = attempt(word, "cayman", {1: 1}, profile=Profile.named(profile))
    assert report.reason == "address"


@pytest.mark.parametrize("generation", layout.WITH_INDEX_LISTS)
@pytest.mark.parametrize(
    ("opcode", "operand"), [(op, name) for op, names in layout.INDIRECT.items() for name in names]
)
def test_an_index_past_the_active_bytes_faults(opcode, operand, generation) -> None:
    size, active = size_of(opcode, operand), layout.SBUF_BYTES[generation]
    change = {f"{operand}.index": 0x20000400, f"{operand}.data": 64, f"{operand}.num_elem": 8}
    word = legal_word(opcode, change)
    most = (active - 64) // size
    for at in (0, 7):
        indices = [0] * 8
        indices[at] = most - 1
        assert attempt(word, generation, memory={0x400: indices}).verdict == "ok"
        for index in (most, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF):
            indices[at] = index
            report = attempt(word, generation, memory={0x400: indices})
            assert (report.verdict, report.reason) == ("fault", "index")


@pytest.mark.parametrize("generation", layout.WITH_INDEX_LISTS)
def test_faults_come_as_not_modelled_then_address_then_index(generation: str) -> None:
    bad_list = {"src.index": 0x20000400, "src.data": 64, "src.num_elem": 8}
    memory = {0x400: [0xFFFFFFFF] * 8}
    shaped = legal_word(0x46, bad_list | {"dst.start": 0x40000000})
    assert attempt(shaped, generation, memory=memory).reason == "not-modelled"
    register = legal_word(0x46, bad_list | {"dst.start": 0x80000000})
    assert attempt(register, generation, {0: 1}, memory=memory).reason == "address"
    assert attempt(register, generation, {0: 0}, memory=memory).reason == "index"
    both = legal_word(0x46, {"src.start": 0x80000000, "dst.start": 0x40000000})
    assert attempt(both, generation, {0: 1}).reason == "not-modelled"
    scalar = {"predicate.index": 0x20000400, "predicate.data": 64, "predicate.num_elem": 8}
    scalar |= {"scalar_source": 2, "scalar": 3}
    word = legal_word(0xE8, scalar)
    assert attempt(word, generation, {3: 1}, memory=memory).reason == "address"
    assert attempt(word, generation, {3: 0}, memory=memory).reason == "index"


@pytest.mark.parametrize("generation", layout.WITH_INDEX_LISTS)
def test_an_index_list_address_in_a_register_is_tested(generation: str) -> None:
    change = {"src.index": 0xA0000009, "src.data": 64, "src.num_elem": 8}
    word = legal_word(0x46, change)
    active = layout.SBUF_BYTES[generation]
    for address in (1, 2, 1 << 30, active - 28, layout.sbuf(generation, 125)):
        assert attempt(word, generation, {9: address}).reason == "address"
    assert attempt(word, generation, {9: active - 32}).verdict == "ok"
    # The quadrant of a list behind a register is waived for good.
    assert attempt(word, generation, {9: layout.sbuf(generation, 64)}).verdict == "ok"
    if layout.PSUM_BYTES[generation]:
        assert attempt(word, generation, {9: layout.psum(0)}).reason == "address"
        assert attempt(word, generation, {9: layout.psum(0)}, engine="act").verdict == "ok"


def test_source_placement_stays_waived_for_registers() -> None:
    word = legal_word(0x72, {"predicate.start": 0x80000000, "data.start": 0x80000001})
    for predicate, data in ((0, 64), (0x2000000, 0x2008000)):
        registers = {0: layout.sbuf("cayman", predicate) if predicate < 128 else predicate}
        registers[1] = layout.sbuf("cayman", data) if data < 128 else data
        assert attempt(word, "cayman", registers).verdict == "ok"


@pytest.mark.parametrize("generation", layout.GENERATIONS)
def test_an_unmodelled_opcode_is_the_fault_not_modelled_whatever_its_bytes(generation) -> None:
    for opcode in (0x41, 0x6B, 0x02):
        for filling in (b"\x00", b"\xff", b"\x5a"):
            report = NeuronCore(generation).attempt(bytes([opcode]) + filling * 63)
            assert (report.verdict, report.reason) == ("fault", "not-modelled")


def test_a_fault_is_raised_by_run_with_its_report() -> None:
    word = legal_word(0x46, {"src.start": 0x80000000})
    core = NeuronCore("cayman")
    core.state.registers[0] = 1 << 29
    with pytest.raises(MachineFault) as caught:
        core.run(legal_word(0x46) + word)
    assert caught.value.reason == "address"
    assert caught.value.report is not None
    assert (caught.value.report.index, caught.value.report.executed) == (1, 1)
    assert str(caught.value) == (
        "COPY: src takes its address from register 0; its start is 0x20000000, must be a direct "
        "address (top three bits 0)"
    )
