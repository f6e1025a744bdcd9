"""The tile machine's kernels: compiled ones equal their NumPy twins for all kinds of codes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from lanewise.kernels import native_problem, select_tile_engine
from lanewise.kernels import tiles_reference as reference
from lanewise.kernels.tiles_reference import ELEMENT_TYPES, Ordering
from lanewise.pto import DataType

pytestmark = pytest.mark.skipif(native_problem() is not None, reason="no compiled kernels")

RELATIONS = ("EQ", "NE", "LT", "GT", "LE", "GE")
COMPARABLE = ("FP64", "FP32", "TF32", "HF32", "FP16", "BF16", "E4M3", "E5M2",
              "S64", "S32", "S16", "S8", "U64", "U32", "U16", "U8")  # fmt: skip
ORDERINGS = {
    **{name: DataType.named(name).order.ordering for name in COMPARABLE},
    "4 bits unsigned": Ordering(4, "unsigned"),
    "4 bits signed": Ordering(4, "signed"),
    "4 bits E2M1": Ordering(4, "sign_magnitude", 6, 1),
}
LAYOUTS = ("packed", "misaligned", "step 2", "step 3", "step -1", "step 0", "transposed", "pitch")


@pytest.fixture(scope="module")
def native() -> Any:
    return select_tile_engine("native")


def codes_of(rng: np.random.Generator, ordering: Ordering, count: int) -> NDArray[Any]:
    """Random codes, many of them at the ends: zeros, largest numbers, both kinds of NaN."""
    width = ordering.width
    sign, top = 1 << (width - 1), (1 << width) - 1
    largest, quiet = ordering.largest_number, ordering.quiet_bit
    ends = [0, 1, top, sign, sign - 1, sign + 1, largest, largest + 1, largest | quiet,
            sign | largest, sign | largest + 1, sign | largest | quiet]  # fmt: skip
    codes = rng.integers(0, top, count, dtype=np.uint64, endpoint=True)
    special = rng.choice(np.array([end & top for end in ends], np.uint64), count)
    return np.where(rng.random(count) < 0.5, codes, special).astype(ELEMENT_TYPES[width])


def laid_out(values: NDArray[Any], layout: str) -> NDArray[Any]:
    """The values where the layout has them; with step 0 the first of each row in all columns."""
    *lead, last = values.shape
    if layout == "transposed":
        return np.ascontiguousarray(values.T).T
    if layout == "pitch":
        room = np.zeros((*lead, last + 5), values.dtype)
        room[..., :last] = values
        return room[..., :last]
    if layout == "step 0":
        return np.broadcast_to(values[..., :1], values.shape)
    step = {"step 2": 2, "step 3": 3, "step -1": -1}.get(layout, 1)
    shift = 1 if layout == "misaligned" else 0
    size = values.dtype.itemsize
    memory = np.zeros(shift + values.size * size * abs(step) + 8, np.uint8)
    strides, reach = [], size * step
    for length in values.shape[::-1]:
        strides.insert(0, reach)
        reach *= length
    offset = shift + (sum(-s * (n - 1) for s, n in zip(strides, values.shape, strict=True))
                      if step < 0 and values.size else 0)  # fmt: skip
    view: NDArray[Any] = np.ndarray(values.shape, values.dtype, memory, offset, tuple(strides))
    view[...] = values
    return view


def equal(found: Any, wanted: Any) -> bool:
    same = found.shape == wanted.shape and found.dtype == wanted.dtype
    return bool(same and np.array_equal(found, wanted))


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", ORDERINGS)
def test_relations(name: str, relation: str, native: Any) -> None:
    ordering = ORDERINGS[name]
    rng = np.random.default_rng(sum(map(ord, name + relation)))
    for count in (*range(9), 31, 32, 33, 63, 64, 65, 70, 511, 512, 513, 1500):
        left, right = codes_of(rng, ordering, count), codes_of(rng, ordering, count)
        right = np.where(rng.random(count) < 0.3, left, right)
        for layout in LAYOUTS:
            a, b = laid_out(left, layout), laid_out(right, layout)
            for sides in ((a, b), (a, right[:1].reshape(())) if count else (a, b), (left, b)):
                found, signals = native.relate(*sides, ordering, relation)
                wanted, wanted_signals = reference.relate(*sides, ordering, relation)
                assert equal(found, wanted), (count, layout)
                assert signals == wanted_signals, (count, layout)


def test_all_pairs_of_codes_of_8_bits(native: Any) -> None:
    left, right = (side.reshape(-1).astype(np.uint8) for side in np.mgrid[0:256, 0:256])
    for name in ("E4M3", "E5M2", "S8", "U8"):
        for relation in RELATIONS:
            ordering = ORDERINGS[name]
            found, _ = native.relate(left, right, ordering, relation)
            wanted, _ = reference.relate(left, right, ordering, relation)
            assert np.array_equal(found, wanted), (name, relation)


@pytest.mark.parametrize("name", ["FP16", "BF16", "S16"])
def test_all_codes_of_16_bits(name: str, native: Any) -> None:
    ordering = ORDERINGS[name]
    left = np.arange(1 << 16, dtype=np.uint16)
    for right in (np.random.default_rng(4).permutation(left), left, np.uint16(0x8000) ^ left):
        for relation in RELATIONS:
            found, signals = native.relate(left, right, ordering, relation)
            wanted, wanted_signals = reference.relate(left, right, ordering, relation)
            assert np.array_equal(found, wanted)
            assert signals == wanted_signals


def cells() -> Iterator[tuple[tuple[int, ...], int, int]]:
    """Shapes (…, rows, columns), bits of a plane, bytes of a word."""
    for lead in ((), (1,), (3,), (200,), (2, 3, 2)):
        yield (*lead, 32, 2), 32, 8
        yield (*lead, 16, 4), 16, 8
        yield (*lead, 7, 3), 16, 8
        yield (*lead, 1, 1), 16, 8
        yield (*lead, 31, 1), 32, 4
        yield (*lead, 5, 4), 5, 8
        yield (*lead, 64, 1), 64, 8
        yield (*lead, 8, 7), 9, 8


@pytest.mark.parametrize("name", ORDERINGS)
def test_compares_into_words(name: str, native: Any) -> None:
    ordering = ORDERINGS[name]
    rng = np.random.default_rng(len(name))
    for place, (shape, plane, word_bytes) in enumerate(cells()):
        count = int(np.prod(shape))
        left = codes_of(rng, ordering, count).reshape(shape)
        right = codes_of(rng, ordering, count).reshape(shape)
        relation = RELATIONS[place % len(RELATIONS)]
        for layout in LAYOUTS:
            a, b = laid_out(left, layout), laid_out(right, layout)
            for sides in ((a, b), (a, right.flat[0].reshape(())), (left, b[..., :1])):
                arguments = (*sides, ordering, relation, plane, word_bytes)
                words, raised = native.compare_planes(*arguments)
                wanted_words, wanted_raised = reference.compare_planes(*arguments)
                assert equal(np.asarray(words), np.asarray(wanted_words)), (shape, layout)
                assert equal(np.asarray(raised), np.asarray(wanted_raised)), (shape, layout)


def test_a_cell_without_columns_publishes_nothing(native: Any) -> None:
    empty = np.zeros((3, 16, 0), np.uint16)
    for kernels in (native, reference):
        words, raised = kernels.compare_planes(empty, empty, ORDERINGS["FP16"], "NE", 16)
        assert not words.any()
        assert words.shape == raised.shape == (3,)


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_selects_by_words_and_by_masks(bits: int, native: Any) -> None:
    rng = np.random.default_rng(bits)
    for lead in ((), (1,), (300,), (2, 3, 2)):
        for rows, columns, plane, number in (
            (32, 2, 32, 1), (32, 4, 32, 2), (31, 3, 32, 2), (1, 1, 32, 1), (16, 4, 16, 1),
            (16, 8, 16, 2), (15, 7, 16, 2), (16, 3, 16, 4), (9, 5, 16, 4),
        ):  # fmt: skip
            shape = (*lead, rows, columns)
            true, false = (
                rng.integers(0, (1 << bits) - 1, shape, np.uint64, endpoint=True).astype(
                    f"u{bits // 8}"
                )
                for _ in range(2)
            )
            words = rng.integers(0, 1 << 64, (*lead, number), np.uint64)
            mask = reference.unpack_planes(words, plane)[..., :rows, :columns]
            for layout in LAYOUTS:
                a, b = laid_out(true, layout), laid_out(false, layout)
                for other in (b, false.flat[0].reshape(())):
                    found = native.select_planes(words, a, other, plane)
                    assert equal(found, reference.select_planes(words, a, other, plane))
                    found = native.choose(mask, a, other)
                    assert equal(found, reference.choose(mask, a, other))


def test_planes_to_masks_and_bytes(native: Any) -> None:
    rng = np.random.default_rng(0)
    for lead in ((), (1,), (129,), (2, 3), (0,)):
        for dtype, number in ((np.uint64, 4), (np.uint64, 1), (np.uint32, 8), (np.uint32, 3)):
            top = np.iinfo(dtype).max
            words = rng.integers(0, top, (*lead, 2 * number), dtype, endpoint=True)
            for some in (words[..., :number], words[..., ::2], words[..., ::-1][..., :number]):
                for plane in (16, 32):
                    found = native.unpack_planes(some, plane)
                    assert equal(found, reference.unpack_planes(some, plane))
                    if number * words.itemsize * 8 // plane % 8:
                        continue
                    found = native.transpose_planes(some, plane)
                    assert equal(found, reference.transpose_planes(some, plane))


def test_every_bit_of_a_transpose_goes_to_one_place(native: Any) -> None:
    for plane in (16, 32):
        for bit in range(256):
            words = np.frombuffer((1 << bit).to_bytes(32, "little"), np.uint64)
            found = native.transpose_planes(words, plane)
            row, place = bit % plane, bit // plane
            assert found.sum() == found[row, place // 8] == 1 << place % 8


@pytest.mark.parametrize(
    ("truth", "left", "right", "message"),
    [
        ("4?", "5u2", "5u2", "truth"),
        ("4?", "4u2", "3u2", "right"),
        ("4?", "4u4", "4u4", "2 bytes"),
        ("4u2", "4u2", "4u2", "truth"),
    ],
)
def test_operands_that_do_not_fit_are_refused(
    truth: str, left: str, right: str, message: str
) -> None:
    from lanewise.kernels import _native

    ordering = _native.ordering(2, 16, "signed", 0, 0)
    operands = (np.zeros((1, int(text[0])), text[1:]) for text in (truth, left, right))
    with pytest.raises(ValueError, match=message):
        _native.relate(*operands, ordering, "EQ", np.zeros(1, bool))


def test_cells_that_do_not_fit_a_word_are_refused() -> None:
    from lanewise.kernels import _native

    ordering = _native.ordering(2, 16, "signed", 0, 0)
    words, flags = np.zeros((2, 1), np.uint64), np.zeros(2, bool)
    data = np.zeros((2, 6, 4), np.uint16)
    for columns, plane, what in (
        (4, 17, "words"),
        (4, 5, "plane"),
        (5, 16, "rows"),
        (0, 16, "rows"),
    ):
        with pytest.raises(ValueError, match=what):
            _native.compare_words(words, data, data, columns, plane, ordering, "EQ", flags)
    with pytest.raises(ValueError, match="relation"):
        _native.compare_words(words, data, data, 4, 16, ordering, "eq", flags)
    masks = np.zeros((2, 1), np.uint64)
    for plane in (8, 64):
        with pytest.raises(ValueError, match="16 or 32"):
            _native.select_words(np.zeros_like(data), masks, data, data, 4, plane)
    with pytest.raises(ValueError, match="share"):
        _native.select_words(data, masks, data, data, 4, 16)
    with pytest.raises(ValueError, match="overlap"):
        _native.expand_words(np.lib.stride_tricks.as_strided(
            np.zeros(64, np.uint8), (2, 6, 4), (24, 1, 1)), masks, 4, 16)  # fmt: skip
    with pytest.raises(ValueError, match="width"):
        _native.ordering(2, 17, "signed", 0, 0)
    with pytest.raises(ValueError, match="kind"):
        _native.ordering(2, 16, "float", 0, 0)
    with pytest.raises(ValueError, match="32 bytes"):
        _native.transpose_words(np.zeros((2, 32), np.uint8), np.zeros((2, 3), np.uint64), 16)
