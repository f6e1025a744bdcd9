"""Random bundles: typed refusals only, no half-done effects, and the same run for a seed."""

from __future__ import annotations

import pytest

from lanewise.check.pto_fuzz import fuzz_bundles
from lanewise.errors import UsageError


def test_random_bundles_keep_every_promise() -> None:
    report = fuzz_bundles(3000, seed=11)
    assert report.failures == ()
    assert sum(report.verdicts.values()) == 3000
    assert set(report.verdicts) == {
        "ok",
        "IllegalInstruction",
        "BundleControl",
        "TileLegality",
        "TileAllocation",
    }
    assert report.verdicts["ok"] > 600
    assert len(report.rules) > 25


def test_a_seed_gives_the_same_bundles() -> None:
    assert fuzz_bundles(200, seed=4) == fuzz_bundles(200, seed=4)
    assert fuzz_bundles(200, seed=4) != fuzz_bundles(200, seed=5)


def test_a_negative_count_is_refused() -> None:
    with pytest.raises(UsageError, match="must not be negative"):
        fuzz_bundles(-1)


@pytest.mark.slow
def test_a_million_bundles() -> None:
    assert fuzz_bundles(1_000_000, seed=7).failures == ()
