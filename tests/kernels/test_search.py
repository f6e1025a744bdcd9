"""Searches against their descriptions: one element after another, in plain Python."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanewise.errors import UsageError
from lanewise.kernels import reference

Bits = npt.NDArray[np.uint32]

MINUS_INFINITY = 0xFF80_0000
NAN = 0x7FC0_0000
MISS = -1


def number(bits: int) -> float:
    """The host's view of FP32 bits: comparisons only, so nothing is rounded."""
    result: float = struct.unpack("<f", struct.pack("<I", bits))[0]
    return result


def bits_of(*values: float) -> list[int]:
    return [struct.unpack("<I", struct.pack("<f", value))[0] for value in values]


def top8_of(elements: Sequence[int]) -> list[int]:
    """Eight slots, ascending; an element greater than the smallest drops it and enters below its
    equals."""
    slots = [MINUS_INFINITY] * 8
    for bits in elements:
        if number(bits) > number(slots[0]):
            del slots[0]
            place = 0
            while place < len(slots) and number(slots[place]) < number(bits):
                place += 1
            slots.insert(place, bits)
    return slots


def find8_of(
    elements: Sequence[int], keys: Sequence[int], matched: Sequence[bool]
) -> tuple[list[int], list[bool]]:
    """Each element serves the first open slot equal to it."""
    flags, found = list(matched), [MISS] * 8
    for position, bits in enumerate(elements):
        for slot in range(8):
            if not flags[slot] and number(bits) == number(keys[slot]):
                flags[slot], found[slot] = True, position
                break
    return found, flags


def fold_of(accumulator: int, elements: Sequence[int], offered: Sequence[bool]) -> int:
    for bits, offer in zip(elements, offered, strict=True):
        if offer and number(bits) > number(accumulator):
            accumulator = bits
    return accumulator


def nonzero_of(truth: Sequence[bool], offset: int, padding: int) -> list[int]:
    found = [(position + offset) % 2**32 for position, value in enumerate(truth) if value]
    return found + [padding] * (len(truth) - len(found)) + [len(found)]


SPECIAL = [0, 0x8000_0000, 0x7F80_0000, MINUS_INFINITY, NAN, 0xFFC0_0000, 0x7F80_0001]
SPECIAL += [1, 0x8000_0001, 0x7F7F_FFFF, 0xFF7F_FFFF]
LENGTHS = [*range(1, 71), 127, 128, 511, 512, 513, 576, 577, 640, 1000, 1601]


def mixtures(generator: np.random.Generator) -> list[Callable[[int], Bits]]:
    """Kinds of lanes: anything, few values, none, zeros, sorted, a few here and there."""
    few = np.array(SPECIAL + bits_of(1, 2, 3, -1, -2, 0.5), np.uint32)
    dull = np.array([NAN, MINUS_INFINITY, MINUS_INFINITY, 0, 0x8000_0000], np.uint32)
    zeros = np.array([0, 0x8000_0000], np.uint32)
    return [
        lambda count: generator.integers(0, 2**32, count, dtype=np.uint32),
        lambda count: generator.choice(few, count),
        lambda count: generator.choice(dull, count),
        lambda count: generator.choice(zeros, count),
        lambda count: np.sort(generator.integers(0, 2**31, count, dtype=np.uint32)),
        lambda count: np.sort(generator.integers(0, 2**31, count, dtype=np.uint32))[::-1],
        lambda count: np.full(count, MINUS_INFINITY, np.uint32),
        lambda count: sparse(generator, count, dull[:2], few[-6:]),
        lambda count: sparse(generator, count, few[-3:-1], np.append(few[-6:-3], zeros)),
    ]


def sparse(generator: np.random.Generator, count: int, ground: Bits, values: Bits) -> Bits:
    """A lane of ``ground`` with some ``values`` in a few places."""
    lane = generator.choice(ground, count)
    places = generator.integers(0, count, 9)
    lane[places] = generator.choice(values, places.size)
    return lane


def lanes(count: int, seed: int) -> Bits:
    generator = np.random.default_rng([count, seed])
    kinds = mixtures(generator)
    return np.array([kind(count) for kind in kinds for _ in range(3)], np.uint32)


@pytest.mark.parametrize("count", LENGTHS)
def test_top8_is_the_stream_of_slots(count: int) -> None:
    hub = lanes(count, 1)
    expected = [top8_of(row) for row in hub.tolist()]
    assert reference.top8(hub).tolist() == expected


def search_case(count: int) -> tuple[Bits, Bits, npt.NDArray[np.bool_]]:
    hub = lanes(count, 2)
    generator = np.random.default_rng([count, 3])
    keys = generator.choice(np.array(SPECIAL + bits_of(1, 2, 3), np.uint32), (hub.shape[0], 8))
    # Most keys come from the lane, some of them more often than it holds them.
    picks = np.take_along_axis(hub, generator.integers(0, count, keys.shape), axis=1)
    keys = np.where(generator.random(keys.shape) < 0.7, picks, keys)
    keys[::3, 4:] = keys[::3, :4]
    keys[1::5] = keys[1::5, :1]
    matched = generator.random(keys.shape) < generator.choice([0.0, 0.3, 1.0], (len(keys), 1))
    return hub, keys, matched


@pytest.mark.parametrize("count", LENGTHS)
def test_find8_is_the_scan(count: int) -> None:
    hub, keys, matched = search_case(count)
    before = matched.copy()
    found, after = reference.find8(hub, keys, matched)
    for lane in range(len(hub)):
        expected = find8_of(hub[lane].tolist(), keys[lane].tolist(), matched[lane].tolist())
        assert (found[lane].tolist(), after[lane].tolist()) == expected, f"lane {lane}"
    assert np.array_equal(matched, before)
    assert found.dtype == np.int64


@pytest.mark.parametrize("count", LENGTHS)
def test_fold_maximum_is_the_walk(count: int) -> None:
    hub = lanes(count, 4)
    generator = np.random.default_rng([count, 5])
    accumulator = generator.choice(np.array(SPECIAL + bits_of(1, -3), np.uint32), len(hub))
    accumulator[::3] = MINUS_INFINITY
    for share in (0.0, 0.1, 0.6):
        offered = generator.random(hub.shape) < share
        rows = zip(accumulator.tolist(), hub.tolist(), offered.tolist(), strict=True)
        expected = [fold_of(*row) for row in rows]
        assert reference.fold_maximum(accumulator, hub, offered).tolist() == expected
    every = [True] * count
    expected = [fold_of(a, row, every) for a, row in zip(accumulator, hub.tolist(), strict=True)]
    assert reference.fold_maximum(accumulator, hub).tolist() == expected


@pytest.mark.parametrize("count", [1, 2, 7, 8, 63, 64, 65, 1000])
def test_nonzero_positions_are_packed(count: int) -> None:
    generator = np.random.default_rng([count, 6])
    share = np.array([0.0, 0.05, 0.5, 0.95, 1.0])
    truth = generator.random((5, count)) < share[:, None]
    offset = np.array([0, 100, 2**32 - 3, 2**31, 5], np.uint32)
    padding = np.array([2**32 - 1, 0, 7, 2**31, 1], np.uint32)
    rows = zip(truth.tolist(), offset.tolist(), padding.tolist(), strict=True)
    expected = [nonzero_of(*row) for row in rows]
    got = reference.nonzero_positions(truth, offset, padding)
    assert got.tolist() == expected
    assert got.dtype == np.uint32


SMALL_NUMBERS = st.sampled_from([*SPECIAL, *bits_of(1, 2, 3, -1)])


@given(
    st.lists(SMALL_NUMBERS, min_size=1, max_size=80),
    st.lists(SMALL_NUMBERS, min_size=8, max_size=8),
    st.lists(st.booleans(), min_size=8, max_size=8),
)
def test_searches_over_few_values(
    elements: list[int], keys: list[int], matched: list[bool]
) -> None:
    hub = np.array([elements], np.uint32)
    assert reference.top8(hub)[0].tolist() == top8_of(elements)
    found, after = reference.find8(
        hub, np.array([keys], np.uint32), np.array([matched], dtype=bool)
    )
    assert (found[0].tolist(), after[0].tolist()) == find8_of(elements, keys, matched)


# -- the examples of the documents -----------------------------------------------------------

INF = float("inf")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ([5, 1, 5, 2, 9, 9, 3, 0, 7, 9], [2, 3, 5, 5, 7, 9, 9, 9]),
        ([float("nan"), 1, 2, float("nan"), 3, -INF, 4, 5], [-INF, -INF, -INF, 1, 2, 3, 4, 5]),
        ([0.0, -0.0, 1, 2, 3, 4, 5, 6], [-0.0, 0.0, 1, 2, 3, 4, 5, 6]),
        ([0.0, -0.0, 1, 2, 3, 4, 5, 6, 7], [0.0, 1, 2, 3, 4, 5, 6, 7]),
        ([-0.0, 0.0, 1, 2, 3, 4, 5, 6, 7], [-0.0, 1, 2, 3, 4, 5, 6, 7]),
    ],
)
def test_top8_examples(source: list[float], expected: list[float]) -> None:
    hub = np.array([bits_of(*source)], np.uint32)
    assert reference.top8(hub)[0].tolist() == bits_of(*expected)


def test_find8_example_and_its_repetition() -> None:
    hub = np.array([bits_of(4, 7, 4, 1, 7, 7, 0, 2)], np.uint32)
    keys = np.array([bits_of(7, 7, 7, 7, 4, 100, -0.0, float("nan"))], np.uint32)
    found, matched = reference.find8(hub, keys, np.zeros((1, 8), dtype=bool))
    assert found.tolist() == [[1, 4, 5, -1, 0, -1, 6, -1]]
    assert matched.astype(int).tolist() == [[1, 1, 1, 0, 1, 0, 1, 0]]
    found, matched = reference.find8(hub, keys, matched)
    assert found.tolist() == [[-1, -1, -1, 1, -1, -1, -1, -1]]
    assert matched.astype(int).tolist() == [[1, 1, 1, 1, 1, 0, 1, 0]]


def test_top8_feeds_find8() -> None:
    hub = np.array([bits_of(4, 7, 4, 1, 7, 7, 0, 2, 9, 3)], np.uint32)
    best = reference.top8(hub)
    assert best[0].tolist() == bits_of(2, 3, 4, 4, 7, 7, 7, 9)
    found, _ = reference.find8(hub, best[:, ::-1], np.zeros((1, 8), dtype=bool))
    assert found.tolist() == [[8, 1, 4, 5, 0, 2, 9, 7]]


@pytest.mark.parametrize("lane_count", [0, 1, 128])
def test_lanes_without_elements(lane_count: int) -> None:
    hub = np.zeros((lane_count, 0), np.uint32)
    flags = np.zeros((lane_count, 8), dtype=bool)
    lane = np.arange(lane_count, dtype=np.uint32)
    assert (reference.top8(hub) == MINUS_INFINITY).all()
    found, matched = reference.find8(hub, np.zeros((lane_count, 8), np.uint32), flags)
    assert (found == MISS).all()
    assert not matched.any()
    assert np.array_equal(reference.fold_maximum(lane, hub), lane)
    none = reference.nonzero_positions(np.zeros((lane_count, 0), dtype=bool), lane, lane)
    assert none.tolist() == [[0]] * lane_count


def test_strided_lanes() -> None:
    hub = lanes(600, 7)
    view = np.repeat(hub, 3, axis=1)[::2, ::3]
    assert not view.flags.c_contiguous
    assert np.array_equal(reference.top8(view), reference.top8(hub[::2]))
    accumulator = np.full(len(view), MINUS_INFINITY, np.uint32)
    folded = reference.fold_maximum(accumulator, view)
    assert np.array_equal(folded, reference.fold_maximum(accumulator, hub[::2]))


HUB = np.zeros((2, 4), np.uint32)
KEYS = np.zeros((2, 8), np.uint32)
FLAGS = np.zeros((2, 8), dtype=bool)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: reference.top8(HUB[0]), "hub must have 2 dimensions, not shape (4,)"),
        (lambda: reference.find8(HUB, KEYS[:1], FLAGS), "keys must have shape (2, 8), not (1, 8)"),
        (
            lambda: reference.find8(HUB, KEYS, FLAGS[:, :4]),
            "matched must have shape (2, 8), not (2, 4)",
        ),
        (
            lambda: reference.fold_maximum(KEYS[0], HUB),
            "accumulator must have shape (2,), not (8,)",
        ),
        (
            lambda: reference.fold_maximum(KEYS[:, 0], HUB, FLAGS),
            "offered must have shape (2, 4), not (2, 8)",
        ),
        (
            lambda: reference.nonzero_positions(FLAGS[0], KEYS[0], KEYS[0]),
            "truth must have 2 dimensions, not shape (8,)",
        ),
        (
            lambda: reference.nonzero_positions(FLAGS, KEYS[0], KEYS[:, 0]),
            "offset must have shape (2,), not (8,)",
        ),
    ],
)
def test_shapes_are_checked(call: Any, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        call()
    assert str(caught.value) == message
