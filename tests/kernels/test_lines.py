"""Long rows that begin anywhere in a cache line: where loops are cut makes no difference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from lanewise.formats import FORMATS, FP32, ConversionPolicy
from lanewise.kernels import native_problem, reference, select_engine

pytestmark = pytest.mark.skipif(native_problem() is not None, reason="no compiled kernels")

POLICY = ConversionPolicy(float_to_int="truncate", float_overflow="saturate")
STARTS = (0, 1, 2, 4, 15)
LENGTHS = (255, 256, 257, 300, 1000, 1040)
STEPS = (1, -1, 2, -2, 3, -3, 4, 5)


@pytest.fixture(scope="module")
def native() -> Any:
    return select_engine("native")


def room(shape: tuple[int, int], dtype: str, start: int) -> NDArray[Any]:
    """An array that begins ``start`` elements after a cache line does."""
    rows, columns = shape
    size = np.dtype(dtype).itemsize
    memory = np.zeros((rows * columns + start) * size + 64, np.uint8)
    first = -memory.ctypes.data % 64 + start * size
    return memory[first : first + rows * columns * size].view(dtype).reshape(shape)


@pytest.mark.parametrize("start", range(16))
@pytest.mark.parametrize("length", [256, 300, 1025])
def test_the_largest_may_lie_anywhere(start: int, length: int, native: Any) -> None:
    """Row r has its largest number at r, its second largest after that, and few others."""
    rows = room((length, length), "u4", start)
    values = np.zeros((length, length), np.float32)
    place = np.arange(length)
    values[place, place], values[place, (place + 1) % length] = 9, 8
    values[place, (place * 7 + 3) % length] += 1
    rows[...] = values.view(np.uint32)
    for sign in (0, 0x8000_0000):
        signed = room((length, length), "u4", start)
        signed[...] = rows ^ np.uint32(sign)
        assert np.array_equal(native.top8(signed), reference.top8(signed))


@pytest.mark.parametrize("start", range(16))
def test_a_key_may_lie_anywhere(start: int, native: Any) -> None:
    length = 600
    rows = room((length, length), "u4", start)
    place = np.arange(length)
    rows[...] = 0x3F80_0000
    rows[place, place] = 0x4640_E400
    keys = np.zeros((length, 8), np.uint32) + np.arange(8, dtype=np.uint32) + 0x4640_E400
    matched = np.zeros((length, 8), np.bool_)
    found, served = native.find8(rows, keys, matched)
    assert (found[:, 0] == place).all()
    assert (found[:, 1:] == -1).all()
    assert served.sum() == length


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize(
    ("source", "target"),
    [("FP32", "BF16"), ("FP32", "E4M3"), ("FP32", "INT8"), ("FP32", "FP32"), ("INT8", "FP32"),
     ("FP16", "FP32"), ("INT16", "E5M2"), ("INT32", "FP32"), ("UINT8", "BF16")],
)  # fmt: skip
def test_casts(source: str, target: str, start: int, native: Any) -> None:
    rng = np.random.default_rng(start)
    codes = np.dtype(f"u{FORMATS[source].container // 8}")
    results = f"u{FORMATS[target].container // 8}"
    conversion = native.conversion(FORMATS[source], FORMATS[target], POLICY, stream=True)
    for length in LENGTHS:
        data = room((3, length), codes.str, start)
        data[...] = rng.integers(0, np.iinfo(codes).max, data.shape, codes, endpoint=True)
        for other in STARTS:
            found = room((3, length), results, other)
            native.cast_rows(found, data, conversion)
            wanted = reference.convert(data, FORMATS[source], FORMATS[target], POLICY, stream=True)
            assert np.array_equal(found, wanted), (length, other)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("truth_size", [1, 2, 4])
def test_merges_and_fills_of_equal_steps(
    truth_size: int, size: int, step: int, native: Any
) -> None:
    """Elements between those of a step keep their bits; a step may go either way."""
    rng = np.random.default_rng(step + 100 * size + truth_size)
    same = {1: FORMATS["UINT8"], 2: FORMATS["UINT16"], 4: FP32}[size]
    conversion = native.conversion(same, same, POLICY)
    top = (1 << 8 * size) - 1
    for length in (1, 7, 63, 64, 65, 130, 300, 1100):
        for start in STARTS:
            shape = (3, length)
            target, source = (room(shape, f"u{size}", start + n) for n in (0, 1))
            where = room(shape, f"u{truth_size}", start)
            for array, most in ((target, top), (source, top)):
                array[...] = rng.integers(0, most, shape, np.uint64, endpoint=True)
            # The lowest byte alone must not decide.
            high = rng.integers(0, 2, shape) << (8 * truth_size - 1)
            where[...] = high if rng.integers(0, 2) else rng.integers(0, 2, shape)
            wanted = target.copy()
            chosen = where[:, ::step] != 0
            wanted[:, ::step] = np.where(chosen, source[:, ::step], wanted[:, ::step])
            native.merge_rows(target[:, ::step], source[:, ::step], where[:, ::step], conversion)
            assert np.array_equal(target, wanted), (length, start)
            value = np.full((3, 1), 0x5A, f"u{size}")
            wanted[:, ::step] = np.where(chosen, wanted[:, ::step], value)
            native.fill_rows(target[:, ::step], value, where[:, ::step], False)
            assert np.array_equal(target, wanted), (length, start)
