"""HiF4: groups of 64 four-bit lanes under one 32-bit scale word.

A lane is sign and magnitude in quarters (1.75 at most). The scale word has an E6M2 base in bits
7:0, a bit for every eight lanes in 15:8 and one for every four in 31:16; each set bit doubles
its lanes. Two lanes share a byte, the lower index in the low nibble.

Decoding is exact. Quantisation is no part of the instruction set: it follows a public script and
its doubtful choices are the profile's ``hif4_*`` fields; treat its results with that in mind.

Source: PTO number formats (HiF4 scale word); PTO HiF4 quantisation.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lanewise.errors import UsageError
from lanewise.formats import (
    BF16,
    E6M2,
    HIF4,
    RCPE6M2,
    ConversionPolicy,
    decode,
    encode,
)
from lanewise.kernels import hif4_reference as kernels
from lanewise.kernels.tiles_reference import join_nibbles, split_nibbles
from lanewise.pto.profile import PtoProfile
from lanewise.words import Array, Unsigned, Word, bits

GROUP = kernels.GROUP
#: Lanes under one bit of each scale level.
COARSE_LANES, FINE_LANES = 8, 4
#: The largest magnitude a lane of a group can have: 1.75 * 4 * 49152.
LARGEST = 344064

_POLICY = ConversionPolicy("nearest", "infinity")


class ScaleWord(Word, width=32):
    """The scale of a group of 64 lanes."""

    e6m2 = Unsigned(bits(7, 0), doc="base scale, an E6M2 code; ff is NaN")
    e1_8 = Array(bits(15, 8), count=8, signed=False, default=(0,) * 8, doc="doubles lanes 8j..8j+7")
    e1_16 = Array(
        bits(31, 16), count=16, signed=False, default=(0,) * 16, doc="doubles lanes 4j..4j+3"
    )


@dataclass(frozen=True, slots=True)
class Groups:
    """Quantised groups: scale words ``(n,)`` and packed lanes ``(n, 32)``."""

    scales: NDArray[np.uint32]
    data: NDArray[np.uint8]


def increment(scale: int, lane: int) -> int:
    """How often the scale word doubles a lane: 0, 1 or 2."""
    if not 0 <= lane < GROUP:
        raise UsageError(f"a group has lanes 0..{GROUP - 1}, not {lane}")
    word = ScaleWord.from_bits(scale)
    return word.e1_8[lane // COARSE_LANES] + word.e1_16[lane // FINE_LANES]


def increments(scales: ArrayLike) -> NDArray[np.int64]:
    """How often scale words ``(n,)`` double each lane, as ``(n, 64)``."""
    words = _words(scales)[:, np.newaxis].astype(np.int64)
    coarse = words >> np.arange(8, 16) & 1
    fine = words >> np.arange(16, 32) & 1
    total: NDArray[np.int64] = coarse.repeat(COARSE_LANES, axis=1)
    return total + fine.repeat(FINE_LANES, axis=1)


def _words(scales: ArrayLike) -> NDArray[np.uint32]:
    """Scale words as an array ``(n,)``; UsageError for anything else."""
    found = np.asarray(scales)
    if found.ndim != 1 or found.dtype.kind not in "iu":
        raise UsageError(f"scale words are integers (n,), not {found.dtype} {found.shape}")
    if found.size and not 0 <= int(found.min()) <= int(found.max()) < 1 << 32:
        raise UsageError("a scale word has 32 bits")
    return found.astype(np.uint32)


def lane_value(scale: int, lane: int, code: int) -> Fraction | None:
    """The exact value of a lane's code; None under a NaN scale."""
    base = decode(E6M2, scale & 0xFF).value
    if base is None:
        return None
    quarter = decode(HIF4, code).value
    assert quarter is not None  # Every lane code is a number.
    return quarter * base * (1 << increment(scale, lane))


def unpack(data: ArrayLike) -> NDArray[np.uint8]:
    """Packed bytes ``(…, 32)`` as lane codes ``(…, 64)``."""
    packed = np.asarray(data)
    if packed.dtype != np.uint8 or packed.shape[-1:] != (GROUP // 2,):
        raise UsageError(f"packed lanes are uint8 (…, 32), not {packed.dtype} {packed.shape}")
    return split_nibbles(packed).astype(np.uint8, copy=False)


def pack(lanes: ArrayLike) -> NDArray[np.uint8]:
    """Lane codes ``(…, 64)`` as packed bytes ``(…, 32)``."""
    codes = np.asarray(lanes)
    if codes.shape[-1:] != (GROUP,) or codes.dtype.kind not in "iu":
        raise UsageError(f"lanes are codes (…, 64), not {codes.dtype} {codes.shape}")
    if codes.size and not 0 <= int(codes.min()) <= int(codes.max()) < 16:
        raise UsageError("a lane code must be 0..15")
    return join_nibbles(codes.astype(np.uint8)).astype(np.uint8, copy=False)


def scale_words(base: ArrayLike, coarse: ArrayLike, fine: ArrayLike) -> NDArray[np.uint32]:
    """Scale words from base codes ``(n,)`` and bits ``(n, 8)`` and ``(n, 16)``."""
    word = np.asarray(base).astype(np.uint32)
    eight = np.packbits(np.asarray(coarse), axis=-1, bitorder="little")[..., 0]
    sixteen = np.packbits(np.asarray(fine), axis=-1, bitorder="little").view("<u2")[..., 0]
    word |= eight.astype(np.uint32) << np.uint32(8)
    word |= sixteen.astype(np.uint32) << np.uint32(16)
    return word


def quantize(values: ArrayLike, profile: PtoProfile = PtoProfile.DEFAULT) -> Groups:
    """Quantise groups ``(n, 64)``, or one group ``(64,)``, of finite BF16 codes.

    Raises UsageError for another shape, another element type than uint16, or codes that are
    infinite or NaN.
    """
    codes = np.atleast_2d(np.asarray(values))
    if (codes.dtype.kind, codes.dtype.itemsize) != ("u", 2) or codes.shape[1:] != (GROUP,):
        raise UsageError(f"values are BF16 codes, uint16 (n, 64), not {codes.dtype} {codes.shape}")
    codes = codes.astype(np.uint16)
    if (codes & np.uint16(0x7F80) == 0x7F80).any():
        raise UsageError("an infinite or NaN value cannot be quantised")
    found = kernels.quantize(
        codes,
        reciprocals(),
        strict=_IS_STRICT[profile.hif4_threshold],
        ties_away=_TIES_AWAY[profile.hif4_lane_ties],
    )
    return Groups(scale_words(found.base, found.coarse, found.fine), pack(found.lanes))


_IS_STRICT = {"at_least": False, "above": True}
_TIES_AWAY = {"even": False, "away": True}


@cache
def reciprocals() -> NDArray[np.uint16]:
    """BF16 of the reciprocal of every E6M2 code, as an array of 256 codes (NaN for ff)."""
    codes = [encode(BF16, decode(RCPE6M2, code), _POLICY) for code in range(256)]
    table = np.array(codes, np.uint16)
    table.flags.writeable = False
    return table


def dequantize(groups: Groups) -> NDArray[np.uint16]:
    """The values of groups as BF16 codes ``(n, 64)``; every HiF4 value is one exactly.

    Lanes under a NaN scale become the quiet NaN.
    """
    scales, lanes = _words(groups.scales), unpack(groups.data)
    table = _value_table()
    bases = scales[:, np.newaxis] & np.uint32(0xFF)
    found: NDArray[np.uint16] = table[bases, increments(scales), lanes]
    return found


@cache
def _value_table() -> NDArray[np.uint16]:
    """BF16 codes by base code, doublings and lane code."""
    table = np.zeros((256, 3, 16), np.uint16)
    for base in range(256):
        scale = decode(E6M2, base)
        for doublings in range(3):
            for code in range(16):
                lane = decode(HIF4, code)
                assert lane.value is not None
                if scale.value is None:
                    number = encode(BF16, scale, _POLICY)
                else:
                    value = abs(lane.value) * scale.value * 2**doublings
                    number = encode(BF16, value, _POLICY) | lane.negative << 15
                table[base, doublings, code] = number
    return table


__all__ = [
    "GROUP",
    "LARGEST",
    "Groups",
    "ScaleWord",
    "dequantize",
    "increment",
    "increments",
    "lane_value",
    "pack",
    "quantize",
    "reciprocals",
    "scale_words",
    "unpack",
]
