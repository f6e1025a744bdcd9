"""Run the example: ``python -m examples.hif4_pack``."""

from __future__ import annotations

import sys
import time

import numpy as np
from numpy.typing import NDArray

from examples.hif4_pack.chains import pack_matrix, repaired
from examples.hif4_pack.matrix import load_matrix
from lanewise.pto import PtoCore, hif4
from lanewise.pto.assembly import assemble


def main() -> int:
    """Pack, check and report; the exit status is 1 when a bit differs."""
    matrix = load_matrix()
    groups = matrix.reshape(-1, hif4.GROUP)
    print(f"matrix: {matrix.shape[0]} x {matrix.shape[1]} BF16 log-probabilities")
    print(f"        {len(groups)} groups of {hif4.GROUP}, 32 groups a PE, 4 PEs at once\n")
    show_repairing()
    started = time.perf_counter()
    packed = pack_matrix(groups)
    seconds = time.perf_counter() - started
    print(f"chains: {packed.bundles} bundles in {seconds:.2f} s")
    expected = hif4.quantize(groups)
    wrong = int((packed.scales != expected.scales).sum())
    wrong_bytes = int((packed.data != expected.data).sum())
    verdict = "equal, bit for bit" if not wrong + wrong_bytes else "DIFFERENT"
    print(
        f"check:  {len(groups)} scale words and {packed.data.size} bytes of lanes against "
        f"the group quantiser: {verdict}"
    )
    if wrong + wrong_bytes:
        print(f"        {wrong} scale words and {wrong_bytes} bytes differ")
        return 1
    show_group(groups[0], packed.scales[0], packed.data[0])
    show_error(groups, hif4.dequantize(hif4.Groups(packed.scales, packed.data)))
    return 0


def show_repairing() -> None:
    """One lane pair, low 5 and high a: planes fed as they are, and with their halves re-paired."""
    planes = [(0x5 >> bit & 1) | (0xA >> bit & 1) << 32 for bit in range(4)]
    found = []
    for words in (planes, repaired(planes)):
        core = PtoCore()
        for register, word in enumerate(words):
            core.set_gpr(f"a{register}", word)
        core.run(assemble("TGPR2T <Row=32, Col=4, U8>, a0, a1, a2, a3, ->T<128B>"))
        tile = core.tile("T#1")
        assert tile is not None
        found.append(int(tile.to_array()[0, 0]))
    print("nibbles 5 (low) and a (high) as compare words {high.b, low.b}:")
    print(
        f"        fed as they are {found[0]:02x} (interleaved), halves re-paired {found[1]:02x}\n"
    )


def show_group(group: NDArray[np.uint16], scale: np.uint32, data: NDArray[np.uint8]) -> None:
    """The first group: its scale word taken apart and some of its lanes."""
    word = hif4.ScaleWord.from_bits(int(scale))
    kept = hif4.dequantize(hif4.Groups(np.array([scale]), data[np.newaxis]))[0]
    print(f"\nfirst group: scale word {int(scale):08x} = E6M2 {word.e6m2:02x}, ", end="")
    print(f"E1_8 {int(scale) >> 8 & 0xFF:02x}, E1_16 {int(scale) >> 16:04x}")
    print(f"        original {' '.join(f'{v:7.3f}' for v in numbers(group)[:8])} …")
    print(f"        packed   {' '.join(f'{v:7.3f}' for v in numbers(kept)[:8])} …")


def show_error(original: NDArray[np.uint16], kept: NDArray[np.uint16]) -> None:
    """What packing costs, over the whole matrix."""
    before, after = numbers(original), numbers(kept)
    error = np.abs(before - after)
    print(
        f"\nerror:  mean {error.mean():.4f}, largest {error.max():.4f}, values from "
        f"{before.min():.3f} to {before.max():.3f}"
    )
    size = 4 * len(original) + original.size // 2
    print(f"size:   {original.size * 2} bytes of BF16, {size} bytes of HiF4 with its scales")


def numbers(codes: NDArray[np.uint16]) -> NDArray[np.float64]:
    """BF16 codes as host floats, for printing only."""
    return (codes.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)


if __name__ == "__main__":
    sys.exit(main())
