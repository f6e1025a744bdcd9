"""The HiF4 packing example: the chains give what the quantiser gives, and a wrong bit shows."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

ROOT = Path(__file__).parents[2]
if str(ROOT) not in sys.path:
    # The examples are not installed; they are run from the root of the checkout.
    sys.path.insert(0, str(ROOT))

from examples.hif4_pack import __main__ as program  # noqa: E402
from examples.hif4_pack.chains import BATCH, bf16_codes, code_bits, pack_matrix  # noqa: E402

from lanewise.kernels import hif4_reference as kernels  # noqa: E402
from lanewise.pto import PtoProfile, hif4  # noqa: E402


def groups(seed: int) -> NDArray[np.uint16]:
    """A batch of groups with ties, zeros of both signs, subnormals and wide exponents."""
    pick = random.Random(seed)
    made = np.zeros((BATCH, 64), np.uint16)
    for line in made:
        centre = pick.choice((1, 90, 120, 127, 128, 140, 200))
        for lane in range(64):
            field = max(centre + pick.randint(-4, 3), 0)
            fraction = pick.choice((pick.getrandbits(7), 0, 64, 32, 96))
            line[lane] = pick.choice((0, 0x8000, *(field << 7 | fraction,) * 6))
            line[lane] |= pick.getrandbits(1) << 15
    return made


@pytest.mark.parametrize("threshold", ["at_least", "above"])
@pytest.mark.parametrize("ties", ["even", "away"])
def test_the_chains_are_the_quantiser(threshold: str, ties: str) -> None:
    profile = PtoProfile(hif4_threshold=threshold, hif4_lane_ties=ties)
    codes = groups(len(threshold) + len(ties))
    packed = pack_matrix(codes, profile)
    expected = hif4.quantize(codes, profile)
    assert (packed.scales == expected.scales).all()
    assert (packed.data == expected.data).all()
    assert packed.bundles == 311


def test_lane_codes_from_thresholds() -> None:
    """One bit a word: k thresholds passed give code k, the sign gives bit 3."""
    for quarters in range(8):
        for sign in (0, 1):
            words = (*(int(quarters > k) for k in range(7)), 0, sign)
            bits = code_bits(words)
            assert sum(bit << place for place, bit in enumerate(bits)) == quarters | sign << 3


def test_every_finite_bf16_magnitude_survives() -> None:
    codes = np.arange(0x7F80, dtype=np.uint16)
    assert (bf16_codes(kernels.magnitudes(codes)) == codes).all()


def test_the_program_reports_equality(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "load_matrix", lambda: groups(3))
    assert program.main() == 0
    shown = capsys.readouterr().out
    assert "equal, bit for bit" in shown
    assert "fed as they are 99 (interleaved), halves re-paired a5" in shown
    monkeypatch.setattr(
        program.hif4,
        "quantize",
        lambda codes: hif4.Groups(
            np.zeros(len(codes), np.uint32), np.zeros((len(codes), 32), np.uint8)
        ),
    )
    assert program.main() == 1
    assert "DIFFERENT" in capsys.readouterr().out
