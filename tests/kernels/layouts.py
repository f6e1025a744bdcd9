"""Operands of row kernels in every layout: where they lie in a memory, and what they hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanewise.formats import FORMATS, FP32, Format, fp32r
from lanewise.kernels.arrays import code_dtype

SHAPES = ("packed", "step 2", "step 3", "step -1", "step 0", "4-D", "transposed", "any")

SOURCES = tuple(
    FORMATS[name]
    for name in ("INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "BF16", "FP16", "FP32",
                 "E3M4", "E4M3", "E4M3FN", "E5M2")
)  # fmt: skip
TARGETS = (*SOURCES, *(fp32r(bits) for bits in (1, 10, 13, 22)))

SPECIALS = np.array(
    [0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x40200000, 0xC0200000, 0x3F000000,
     0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC01234, 0x7F800001, 0xFF800001, 0x7FFFFFFF,
     0x7F7FFFFF, 0xFF7FFFFF, 0x7F7F8000, 0x7F7F7FFF, 0x00000001, 0x80000001, 0x007FFFFF,
     0x00800000, 0x477FEFFF, 0x477FF000, 0x43770000, 0x43780000, 0x43E80000, 0x43E88000,
     0x417C0000, 0x476FFFFF, 0x47700000, 0x4F000000, 0xCF000000, 0x4EFFFFFF, 0x4F800000,
     0x4F7FFFFF, 0x33000000, 0x33000001, 0x37C00000, 0x3A800000, 0x3AC00000, 0x3C000000,
     0x3F801000, 0x3F803000, 0x3F808000, 0x3F818000, 0x3F800FFF, 0x43960000, 0x3F7FFFFF,
     0x4B000001, 0x4B800001, 0x42FF0000, 0xC3008000, 0x43FF8000, 0x477FFF00],
    np.uint32,
)  # fmt: skip


@dataclass(frozen=True)
class Place:
    """A view into a memory, as offset, shape and strides in bytes."""

    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    size: int

    def of(self, memory: NDArray[np.uint8]) -> NDArray[Any]:
        """The view into this memory."""
        return np.ndarray(self.shape, f"u{self.size}", memory, self.offset, self.strides)


def split(rng: np.random.Generator, count: int, axes: int) -> list[int]:
    """``axes`` numbers with that product."""
    nums = []
    for _ in range(axes - 1):
        num = int(rng.choice([d for d in range(1, max(count, 1) + 1) if count % d == 0]))
        nums.append(num)
        count //= num
    return [*nums, count]


def steps_of(rng: np.random.Generator, shape: str, nums: list[int]) -> list[int]:
    """Steps in elements for axes of these lengths, the last axis fastest."""
    if shape == "any":
        return [int(rng.integers(-3, 4)) for _ in nums]
    unit = {"step 2": 2, "step 3": 3, "step -1": -1, "step 0": 0}.get(shape, 1)
    order = list(range(len(nums)))[::-1]
    if shape in ("4-D", "transposed"):
        rng.shuffle(order)
    steps, reach = [0] * len(nums), unit
    for axis in order:
        steps[axis] = reach * (1 if shape != "4-D" else int(rng.choice((-1, 1))))
        reach *= nums[axis]
        if shape == "4-D":
            reach += int(rng.integers(0, 3))
    return steps


def place(
    rng: np.random.Generator,
    memory: int,
    rows: int,
    count: int,
    size: int,
    shape: str,
    *,
    pitch: int | None = None,
    aligned: bool = False,
) -> Place:
    """A view of ``count`` elements in each of ``rows`` rows, somewhere in ``memory`` bytes.

    Rows are ``pitch`` bytes apart, or as far as they have to be.
    """
    axes = {"4-D": 4, "transposed": 2, "any": int(rng.integers(1, 5))}.get(shape, 1)
    nums = split(rng, count, axes)
    steps = steps_of(rng, shape, nums)
    reach = [step * size * (num - 1) for step, num in zip(steps, nums, strict=True) if num]
    low, high = sum(min(0, r) for r in reach), sum(max(0, r) for r in reach) + size
    if pitch is None:
        gap = int(rng.integers(0, 40))
        pitch = high - low + (gap - gap % size if aligned else gap)
    room = memory - (high - low) - (rows - 1) * pitch
    assert room > 0
    start = int(rng.integers(0, room))
    start -= start % size if aligned else 0
    strides = (pitch, *(step * size for step in steps))
    return Place(start - low, (rows, *nums), strides, size)


def codes(rng: np.random.Generator, format: Format, count: int) -> NDArray[Any]:
    """Random codes of a format, those where something is decided among them."""
    dtype = code_dtype(format)
    if dtype.itemsize < 4:
        return rng.integers(0, 1 << 8 * dtype.itemsize, count).astype(dtype)
    made = rng.integers(0, 1 << 32, count, np.uint32)
    kind = rng.integers(0, 4, count)
    special = SPECIALS[rng.integers(0, len(SPECIALS), count)]
    if format != FP32:
        special = special >> rng.integers(0, 32, count).astype(np.uint32)
    near = (made & 0x807FFFFF) | (rng.integers(100, 162, count).astype(np.uint32) << np.uint32(23))
    return np.select([kind == 0, kind == 1], [special, near], made).astype(np.uint32)
