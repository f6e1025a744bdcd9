"""Element positions as FP32 numbers."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from lanewise.errors import UsageError

_FRACTION_BITS: Final = 30
"""Bits kept below the binary point. A sum is at least 1, so its 24 bits end at 2**-23 or above."""

_BLOCK: Final = 1 << 14
"""Steps computed at a time: some 64-bit temporaries of it fit the second-level cache."""

_LARGEST_BASE: Final = 0x4B80_0000
_LARGEST_COUNT: Final = 1 << 24


def index_sequence(base_bits: int, count: int) -> npt.NDArray[np.uint32]:
    """``base + k`` for k = 0..count-1 as FP32 bits: each one FP32 addition, ties to even.

    ``base_bits`` is FP32, 0 <= base <= 2**24 (-0 counts as +0), ``count`` at most 2**24. Raises
    ``UsageError`` beyond that.

    Source: RANGE_SELECT, rule index-range.
    """
    base_bits = 0 if base_bits == 0x8000_0000 else base_bits
    if not 0 <= base_bits <= _LARGEST_BASE:
        raise UsageError(f"base must be FP32 bits of 0..2**24, not {base_bits:#x}")
    if not 0 <= count <= _LARGEST_COUNT:
        raise UsageError(f"count must be in 0..2**24, not {count}")
    base = np.uint64(_fixed_point(base_bits))
    result = np.empty(count, dtype=np.uint32)
    for start in range(0, count, _BLOCK):
        steps = np.arange(start, min(start + _BLOCK, count), dtype=np.uint64)
        result[start : start + _BLOCK] = _round_to_fp32((steps << np.uint64(_FRACTION_BITS)) + base)
    # base + 0 is the base itself, however small: the fixed point would have lost its bits.
    result[:1] = base_bits
    return result


def _fixed_point(bits: int) -> int:
    """FP32 in steps of 2**-30, the lowest bit set when any bit below it was.

    That bit lies below the half of every rounding, where only "something" or "nothing" counts.
    """
    exponent = max(bits >> 23, 1)
    significand = bits & 0x7F_FFFF | (0x80_0000 if bits >> 23 else 0)
    shift = exponent - 150 + _FRACTION_BITS
    if shift >= 0:
        return significand << shift
    kept = significand >> -shift
    return kept | (kept << -shift != significand)


def _round_to_fp32(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint32]:
    """Fixed point of at least 1 to FP32, ties to even."""
    smeared = values.copy()
    for places in (1, 2, 4, 8, 16, 32):
        smeared |= smeared >> np.uint64(places)
    length = np.bitwise_count(smeared).astype(np.uint64)
    # A value below 1 is the first one, whose result is not taken from here.
    dropped = np.maximum(length, np.uint64(24)) - np.uint64(24)
    significand = values >> dropped
    remainder = values - (significand << dropped)
    odd = significand & np.uint64(1)
    up = (remainder << np.uint64(1)) + odd > np.uint64(1) << dropped
    # The leading one of the significand adds one to the exponent field, a carry another one.
    exponent = length + np.uint64(127 - 1 - _FRACTION_BITS - 1)
    return ((exponent << np.uint64(23)) + significand + up).astype(np.uint32)
