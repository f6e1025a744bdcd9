"""base + k against exact fractions rounded once."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanewise.errors import UsageError
from lanewise.formats import FP32, ConversionPolicy, decode, encode
from lanewise.kernels.reference import index_sequence

NEAREST = ConversionPolicy(float_to_int="nearest", float_overflow="infinity", nan_to_int="zero")
LARGEST = 0x4B80_0000  # 2**24


def expected(base_bits: int, step: int) -> int:
    base = decode(FP32, base_bits).value
    assert base is not None
    total = base + step
    if total == 0:
        return 0
    # The interpreter's own rounding, half to even, of the 24-bit significand.
    exponent = -149
    while total >= Fraction(2) ** (exponent + 24):
        exponent += 1
    return encode(FP32, round(total / Fraction(2) ** exponent) * Fraction(2) ** exponent, NEAREST)


BASES = [0, 1, 2, 3, 0x007F_FFFF, 0x0080_0000, 0x0080_0001, 0x3F80_0000, 0x3F00_0000, LARGEST]
BASES += [0x3F80_0001, 0x3F7F_FFFF, 0x4B7F_FFFF, 0x4B00_0001, 0x4B7F_FFFE, 0x4120_0000]
# Halves of the last place of 1, of 2, of 2**23, and their neighbours.
BASES += [bits + step for bits in (0x3380_0000, 0x3400_0000, 0x3F00_0000) for step in (-1, 1)]
BASES += [0x3380_0000, 0x3400_0000, 0x3300_0000, 0x3300_0001, 0x2F80_0000, 0x2F80_0001]


@pytest.mark.parametrize("base_bits", BASES, ids=hex)
def test_the_first_steps(base_bits: int) -> None:
    got = index_sequence(base_bits, 300)
    assert got.tolist() == [expected(base_bits, step) for step in range(300)]
    assert got.dtype == np.uint32


@pytest.mark.parametrize("base_bits", BASES, ids=hex)
def test_steps_far_away(base_bits: int) -> None:
    count = 1 << 18
    got = index_sequence(base_bits, count)
    steps = {2**power + delta for power in range(18) for delta in (-1, 0, 1)}
    for step in sorted(steps - {count, 0}):
        assert got[step] == expected(base_bits, step), step


@given(st.integers(0, LARGEST), st.integers(1, 4000))
def test_any_base(base_bits: int, count: int) -> None:
    got = index_sequence(base_bits, count)
    assert got.shape == (count,)
    for step in {0, 1, 2, count // 2, count - 1}:
        if step < count:
            assert got[step] == expected(base_bits, step)


def test_against_the_adder_of_the_host() -> None:
    generator = np.random.default_rng(40)
    for base_bits in [*BASES, *generator.integers(0, LARGEST + 1, 60).tolist()]:
        base = np.array([base_bits], np.uint32).view(np.float32)
        host = base + np.arange(1 << 14, dtype=np.float32)
        assert np.array_equal(index_sequence(base_bits, 1 << 14), host.view(np.uint32))


def test_the_longest_sequence() -> None:
    got = index_sequence(0x3F00_0000, 1 << 24)
    host = np.float32(0.5) + np.arange(1 << 24, dtype=np.float32)
    assert np.array_equal(got, host.view(np.uint32))


def test_the_example_of_the_documents() -> None:
    ten = index_sequence(0x4120_0000, 5)
    assert ten.view(np.float32).tolist() == [10, 11, 12, 13, 14]


def test_minus_zero_counts_as_zero() -> None:
    assert index_sequence(0x8000_0000, 2).tolist() == [0, 0x3F80_0000]


def test_nothing_to_count() -> None:
    assert index_sequence(0x3F80_0000, 0).shape == (0,)


@pytest.mark.parametrize("base_bits", [LARGEST + 1, 0x7F80_0000, 0x7FC0_0000, 0xBF80_0000, -1])
def test_bases_out_of_range(base_bits: int) -> None:
    with pytest.raises(UsageError, match=r"^base must be FP32 bits of 0\.\.2\*\*24, not "):
        index_sequence(base_bits, 4)


@pytest.mark.parametrize("count", [-1, (1 << 24) + 1])
def test_counts_out_of_range(count: int) -> None:
    with pytest.raises(UsageError, match=rf"^count must be in 0\.\.2\*\*24, not {count}$"):
        index_sequence(0, count)
