"""The two chains: scale bytes and nibble pairs, 32 groups a PE, four PEs at once.

Lane r of every tile is group r, so the machine works on 128 groups side by side. What these
instructions do not do (maxima, products, magnitudes) is done beside the machine, and so is the
scalar code between bundles, which reads and writes GPRs.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanewise.kernels import hif4_reference as kernels
from lanewise.kernels.hif4_reference import Numbers
from lanewise.pto import BundleWord, PtoCore, PtoProfile, Tile, hif4
from lanewise.pto.assembly import assemble

LANES, PES = 32, 4
BATCH = LANES * PES

#: Relation of the scale compares, and of the seven lane thresholds, by profile. Half way between
#: two lane codes the even one is taken: the threshold belongs to the upper code when that is even.
SCALE_RELATION = {"at_least": "GE", "above": "GT"}
LANE_RELATIONS = {
    "even": ("GT", "GE", "GT", "GE", "GT", "GE", "GT"),
    "away": ("GE",) * 7,
}
#: BF16 of (k - 1/2) / 4: above it a magnitude rounds to at least k quarters.
THRESHOLDS = (0x3E00, 0x3EC0, 0x3F20, 0x3F60, 0x3F90, 0x3FB0, 0x3FD0)
FOUR, TWO = 0x4080, 0x4000
HALF_WORD = 0xFFFF_FFFF


@dataclass(frozen=True, slots=True)
class Packed:
    """What the chains made: scale words ``(n,)``, packed lanes ``(n, 32)``, and bundles run."""

    scales: NDArray[np.uint32]
    data: NDArray[np.uint8]
    bundles: int


class Machine:
    """A core with the few moves that the chains are made of."""

    def __init__(self, profile: PtoProfile) -> None:
        self.core = PtoCore(profile=profile)
        self.profile = profile
        self.bundles = 0

    def load(self, hand: str, columns: NDArray[np.uint16]) -> None:
        """Push a cell of BF16 pairs ``(128 groups, 2)`` on a hand, 32 groups to each PE."""
        for pe in range(PES):
            part = columns[LANES * pe : LANES * (pe + 1)]
            self.core.push(hand, Tile.from_array(part, "BF16", "CUBE_M32"), pe=pe)

    def run(self, text: str) -> None:
        """Run one operation on all PEs."""
        self.bundles += self.core.run(_words(text)).executed

    def compare(self, relation: str, scalar: int, into: str, dtype: str = "BF16") -> None:
        """Both columns of T#1 against a scalar: {high, low} halves of a register."""
        self.core.set_gpr("x0", scalar)
        self.run(f"TCMPS <Row=32, Col=2, {dtype}, {relation}>, T#1, x0, ->{into}")

    def words(self, register: str) -> list[int]:
        """A register of every PE, as scalar code sees it."""
        return [self.core.gpr(register, pe=pe) for pe in range(PES)]

    def set_words(self, register: str, words: list[int]) -> None:
        """Write a register of every PE."""
        for pe, word in enumerate(words):
            self.core.set_gpr(register, word, pe=pe)

    def pack(self, registers: str, offset: int) -> NDArray[np.uint8]:
        """TGPR2T: the cell ``(128 groups, 4)`` with the planes at a byte, zeros elsewhere."""
        self.run(f"TGPR2T <Row=32, Col=4, U8, Zero, off={offset}>, {registers}, ->N<128B>")
        return self.cells("N#1")

    def cells(self, name: str) -> NDArray[np.uint8]:
        """A tile of every PE, one under the other."""
        found = [self.core.tile(name, pe=pe) for pe in range(PES)]
        return np.concatenate([tile.to_array() for tile in found if tile is not None])


@functools.cache
def _words(text: str) -> list[BundleWord]:
    """The words of an operation; the chains repeat a few of them."""
    return assemble(text)


def scale_chain(
    machine: Machine, base: NDArray[np.uint8], eights: Numbers, fours: Numbers
) -> NDArray[np.uint32]:
    """Scale words from base codes and the scaled maxima of 8 and of 4 lanes."""
    relation = SCALE_RELATION[machine.profile.hif4_threshold]
    cell = np.zeros((BATCH, 4), np.uint8)
    cell[:, 0] = base
    full = bf16_codes(eights)
    masks = []
    for pair in range(4):
        machine.load("T", full[:, 2 * pair : 2 * pair + 2])
        machine.compare(relation, FOUR, f"a{pair}")
        masks.append(machine.words(f"a{pair}"))
    cell |= machine.pack("a0, a1, a2, a3", 1)
    whole = bf16_codes(fours)
    halved = bf16_codes(kernels.round_bf16(Numbers(fours.significand, fours.exponent - 1)))
    for byte in range(2):
        for pair in range(4):
            column = 4 * byte + pair
            both = slice(2 * column, 2 * column + 2)
            machine.load("T", halved[:, both])
            machine.load("U", whole[:, both])
            # One bit of the coarser level rules two columns of this one: double its half.
            shift = 32 * (column % 2)
            halves = [word >> shift & HALF_WORD for word in masks[column // 2]]
            machine.set_words("s0", [half << 32 | half for half in halves])
            machine.run("TSEL <Row=32, Col=2, BF16>, s0, T#1, U#1, ->T<128B>")
            machine.compare(relation, TWO, f"a{pair}")
        cell |= machine.pack("a0, a1, a2, a3", 2 + byte)
    words: NDArray[np.uint32] = cell.view("<u4")[:, 0]
    return words


def nibble_chain(
    machine: Machine, signs: NDArray[np.uint16], magnitudes: NDArray[np.uint16]
) -> NDArray[np.uint8]:
    """Packed lanes ``(128, 32)`` from the original codes and the scaled magnitudes."""
    relations = LANE_RELATIONS[machine.profile.hif4_lane_ties]
    data = np.zeros((BATCH, 32), np.uint8)
    for byte in range(32):
        both = slice(2 * byte, 2 * byte + 2)
        machine.load("T", signs[:, both])
        # Read as S16 the sign bit alone decides, so that -0 keeps its sign.
        machine.compare("LT", 0, "s8", dtype="S16")
        machine.load("T", magnitudes[:, both])
        for step, (relation, threshold) in enumerate(zip(relations, THRESHOLDS, strict=True)):
            machine.compare(relation, threshold, f"s{step}")
        bits = [code_bits(words) for words in zip(*_registers(machine, 9), strict=True)]
        for register in range(4):
            machine.set_words(f"a{register}", [repaired(planes)[register] for planes in bits])
        cell = machine.pack("a0, a1, a2, a3", byte % 4)
        data[:, byte - byte % 4 : byte - byte % 4 + 4] |= cell
    return data


def _registers(machine: Machine, count: int) -> list[list[int]]:
    return [machine.words(f"s{number}") for number in range(count)]


def code_bits(words: tuple[int, ...]) -> list[int]:
    """Bits 0..3 of the lane codes as words, from registers s0..s8.

    s0..s6 say "at least 1..7 quarters", s7 is not used, s8 is the sign.
    """
    one, two, three, four, five, six, seven, _, sign = words
    return [
        one & ~two | three & ~four | five & ~six | seven,
        two & ~four | six,
        four,
        sign,
    ]


def repaired(planes: list[int]) -> list[int]:
    """The four words {high.b, low.b} with their halves paired anew, ready to be transposed.

    Fed as they are, the planes would interleave the two lanes' bits. TGPR2T wants the low lane's
    four planes first: {low.1, low.0}, {low.3, low.2}, then the high lane's.
    """
    low = [plane & HALF_WORD for plane in planes]
    high = [plane >> 32 for plane in planes]
    return [upper << 32 | lower for half in (low, high) for lower, upper in (half[:2], half[2:])]


def bf16_codes(numbers: Numbers) -> NDArray[np.uint16]:
    """Non-negative BF16 numbers as codes."""
    significand, exponent = numbers
    length = kernels.bit_lengths(significand)
    # Eight significant bits where the exponent allows, fewer below the smallest normal number.
    up = np.minimum(8 - length, exponent + 133)
    scaled = np.where(up >= 0, significand << np.maximum(up, 0), significand >> np.maximum(-up, 0))
    field = np.where(scaled >= 128, exponent - up + 134, 0)
    codes = np.where(scaled >= 128, (field << 7) + scaled - 128, scaled)
    return codes.astype(np.uint16)


def pack_matrix(groups: NDArray[np.uint16], profile: PtoProfile = PtoProfile.DEFAULT) -> Packed:
    """Pack groups ``(n, 64)`` of BF16 codes, n a multiple of 128, on the machine."""
    machine = Machine(profile)
    scales, data = [], []
    for first in range(0, len(groups), BATCH):
        codes = groups[first : first + BATCH]
        values = kernels.magnitudes(codes)
        absolute = codes & np.uint16(0x7FFF)
        seventh = kernels.magnitudes(np.array(kernels.SEVENTH, np.uint16))
        largest = kernels.magnitudes(absolute.max(axis=1))
        base = kernels.base_codes(kernels.product(largest, seventh))
        rate = kernels.magnitudes(hif4.reciprocals()[base])
        column = Numbers(rate.significand[:, np.newaxis], rate.exponent[:, np.newaxis])
        peaks = [
            kernels.product(
                kernels.magnitudes(absolute.reshape(BATCH, -1, size).max(axis=2)), column
            )
            for size in (8, 4)
        ]
        words = scale_chain(machine, base, *peaks)
        scaled = kernels.round_bf16(
            Numbers(
                values.significand * column.significand,
                values.exponent + column.exponent - hif4.increments(words),
            )
        )
        scales.append(words)
        data.append(nibble_chain(machine, codes, bf16_codes(scaled)))
    return Packed(np.concatenate(scales), np.concatenate(data), machine.bundles)
