"""Identities between instructions that hold whatever the data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.neuron import layout
from tests.neuron.bases import legal_word

from lanewise.neuron import NeuronCore, Profile

A, B, C, D = 0x100, 0x200, 0x300, 0x400
LANES, COUNT = 3, 12
PROFILES = st.sampled_from([Profile.ISA, Profile.HARDWARE])
GENERATIONS = st.sampled_from(layout.GENERATIONS)
TYPES = st.sampled_from(layout.BASE)
INTEGERS = st.sampled_from(layout.INTEGERS)
SEEDS = st.integers(0, 2**32 - 1)


def at(**operands: tuple[int, int]) -> dict[str, int]:
    """Field values for contiguous operands: name -> (offset, count)."""
    fields = {"num_active_channels": LANES}
    for name, (offset, count) in operands.items():
        fields |= {f"{name}.start": offset, f"{name}.num[0]": count}
    return fields


def fill(core: NeuronCore, seed: int, *, end: int = 0x500) -> np.ndarray:
    rng = np.random.default_rng(seed)
    block = rng.integers(0, 256, (LANES, end), np.uint8)
    # Bytes that make NaN, infinity and zero of any type, often.
    special = rng.random(block.shape) < 0.4
    block[special] = rng.choice(np.array([0, 0x7F, 0x80, 0xFF, 0x7C, 0x78, 0xC0]), special.sum())
    core.sbuf.data[:LANES, :end] = block
    return block.copy()


@given(GENERATIONS, PROFILES, TYPES, SEEDS)
def test_copy_there_and_back_is_nothing(generation, profile, dtype, seed) -> None:
    core = NeuronCore(generation, profile)
    before = fill(core, seed)
    types = {"in_dtype": dtype, "out_dtype": dtype}
    core.run(legal_word(0x46, at(src=(A, COUNT), dst=(B, COUNT)) | types))
    size = layout.SIZE[dtype] * COUNT
    moved = core.sbuf.data[:LANES, B : B + size]
    assert np.array_equal(moved, before[:, A : A + size])
    core.sbuf.data[:LANES, A : A + size] = 0
    core.run(legal_word(0x46, at(src=(B, COUNT), dst=(A, COUNT)) | types))
    after = core.sbuf.data[:LANES, :0x500].copy()
    after[:, B : B + size] = before[:, B : B + size]
    assert np.array_equal(after, before)


def same_effect(generation, profile, seed, *words: bytes) -> list[np.ndarray]:
    states = []
    for word in words:
        core = NeuronCore(generation, profile)
        fill(core, seed)
        core.run(word)
        states.append(core.sbuf.data[:LANES, :0x600].copy())
    for state in states[1:]:
        assert np.array_equal(state, states[0])
    return states


@given(GENERATIONS, PROFILES, TYPES, SEEDS)
def test_cast_between_equal_types_is_copy(generation, profile, dtype, seed) -> None:
    change = at(src=(A, COUNT), dst=(B + 8, COUNT)) | {"in_dtype": dtype, "out_dtype": dtype}
    same_effect(generation, profile, seed, legal_word(0x46, change), legal_word(0x47, change))


@given(GENERATIONS, PROFILES, st.tuples(TYPES, TYPES, INTEGERS), SEEDS)
def test_a_predicate_that_is_true_everywhere_makes_a_plain_copy(
    generation, profile, types_, seed
) -> None:
    """0x72 is 0x46 then, and 0x99 is 0x47."""
    source, target, predicate = types_
    for predicated, plain in ((0x72, 0x46), (0x99, 0x47)):
        out = source if plain == 0x46 else target
        types = {"data_dtype": source, "out_dtype": out, "predicate_dtype": predicate}
        word = legal_word(
            predicated, at(predicate=(D, COUNT), data=(A, COUNT), dst=(B, COUNT)) | types
        )
        base = at(src=(A, COUNT), dst=(B, COUNT)) | {"in_dtype": source, "out_dtype": out}
        results = []
        for program in (word, legal_word(plain, base)):
            core = NeuronCore(generation, profile)
            fill(core, seed)
            rng = np.random.default_rng(seed)
            size = layout.SIZE[predicate]
            truth = rng.integers(0, 256, (LANES, COUNT, size), np.uint8)
            truth[np.arange(LANES)[:, None], np.arange(COUNT), rng.integers(0, size)] |= 0x10
            core.sbuf.data[:LANES, D : D + COUNT * size] = truth.reshape(LANES, -1)
            core.run(program)
            results.append(core.sbuf.data[:LANES, :0x600].copy())
        assert np.array_equal(*results)


@given(GENERATIONS, PROFILES, st.tuples(TYPES, TYPES, INTEGERS), SEEDS)
def test_a_predicate_that_is_false_everywhere_changes_nothing(
    generation, profile, types_, seed
) -> None:
    source, target, predicate = types_
    for opcode, out in ((0x72, source), (0x99, target)):
        core = NeuronCore(generation, profile)
        fill(core, seed)
        core.sbuf.data[:LANES, D : D + 4 * COUNT] = 0
        before = core.sbuf.data[:LANES, :0x600].copy()
        types = {"data_dtype": source, "out_dtype": out, "predicate_dtype": predicate}
        core.run(
            legal_word(opcode, at(predicate=(D, COUNT), data=(A, COUNT), dst=(B, COUNT)) | types)
        )
        assert np.array_equal(core.sbuf.data[:LANES, :0x600], before)


@given(GENERATIONS, TYPES, INTEGERS, SEEDS, st.integers(0, 2**32 - 1))
def test_the_two_polarities_of_the_scalar_copy_write_complementary_elements(
    generation, dtype, predicate, seed, scalar
) -> None:
    written = []
    size = layout.SIZE[dtype]
    for flag in (0, 1):
        changed = np.zeros((LANES, COUNT * size), bool)
        # Two runs with the destination once all zeros and once all ones tell what was written.
        for background in (0, 0xFF):
            core = NeuronCore(generation)
            fill(core, seed)
            core.sbuf.data[:LANES, B : B + COUNT * size] = background
            types = {"predicate_dtype": predicate, "in_dtype": dtype, "out_dtype": dtype}
            change = at(predicate=(D, COUNT), dst=(B, COUNT)) | types
            core.run(legal_word(0xE8, change | {"reversed_pred": flag, "scalar": scalar}))
            changed |= core.sbuf.data[:LANES, B : B + COUNT * size] != background
        elements = changed.reshape(LANES, COUNT, size)
        assert np.array_equal(elements.any(axis=2), elements.all(axis=2))
        written.append(elements.all(axis=2))
    assert np.array_equal(written[0], ~written[1])


@given(SEEDS, st.permutations(range(20)))
def test_max8_does_not_see_the_order_of_distinct_elements(seed: int, order: list[int]) -> None:
    rng = np.random.default_rng(seed)
    values = rng.permutation(np.arange(-60, 60, dtype=np.float32) / 8)[:20]
    results = []
    for row in (values, values[order]):
        core = NeuronCore("cayman")
        core.sbuf.write(0, A, row, "FP32")
        change = {"src.num[0]": 20, "out_dtype": 0xA, "num_active_channels": 1}
        core.run(legal_word(0x6C, change))
        results.append(core.sbuf.read(0, C, 8, "FP32").tolist())
    assert results[0] == results[1] == sorted(values.tolist())[-8:]


@given(st.lists(st.integers(0, 9), min_size=8, max_size=40))
def test_find_after_max8_gives_the_positions_of_a_stable_descending_sort(values) -> None:
    core = NeuronCore("cayman")
    row = np.array(values, np.float32)
    core.sbuf.write(0, A, row, "FP32")
    one = {"num_active_channels": 1}
    core.run(
        legal_word(0x6C, one | {"src.num[0]": len(values), "out_dtype": 0xA})
        + legal_word(0x6D, one | {"src.start": C})
        + legal_word(0x6E, one | {"src.num[0]": len(values), "dst.start": D})
    )
    expected = np.argsort(-row, kind="stable")[:8]
    assert core.sbuf.read(0, D, 8, "UINT32").tolist() == expected.tolist()


@given(SEEDS, st.sampled_from(layout.FLOATS))
def test_a_range_that_takes_everything_is_a_cast_and_one_that_takes_nothing_a_fill(
    seed: int, source: int
) -> None:
    types = {"in_dtype": source, "out_dtype": 7, "reduce_command": 0}
    change = at(src=(A, COUNT), dst=(B, COUNT)) | types
    everything = {"bound0": 0, "bound1": 0x7F800000}
    cast = at(src=(A, COUNT), dst=(B, COUNT)) | {"in_dtype": source, "out_dtype": 7}
    for profile, fill_code in ((Profile.ISA, 0xFBFF), (Profile.HARDWARE, 0xFC00)):
        whole = legal_word(0xBC, change | everything)
        same_effect("cayman", profile, seed, whole, legal_word(0x47, cast))
        core = NeuronCore("cayman", profile)
        fill(core, seed)
        core.run(legal_word(0xBC, change | {"bound0": 0x7F800000, "bound1": 0}))
        for lane in range(LANES):
            codes = core.sbuf.read(lane, B, COUNT, "FP16").view(np.uint16)
            assert codes.tolist() == [fill_code] * COUNT


@pytest.mark.parametrize("reverse", [0, 1])
@given(seed=SEEDS)
def test_select_reduce_that_takes_everything_is_a_cast(reverse: int, seed: int) -> None:
    """With a predicate that is true everywhere the two readings are one."""
    results = []
    for profile in (Profile.ISA, Profile.ISA.with_(select_reduce="select")):
        core = NeuronCore("cayman", profile)
        fill(core, seed)
        core.sbuf.data[:LANES, D : D + COUNT] = 0 if reverse else 0x80
        change = at(predicate=(D, COUNT), data=(A, COUNT), dst=(B, COUNT))
        core.run(legal_word(0xEA, change | {"reverse_operands": reverse, "out_dtype": 6}))
        state = core.state.accumulator[:LANES].tolist()
        results.append((core.sbuf.data[:LANES, :0x600].tobytes(), state))
    assert results[0] == results[1]
