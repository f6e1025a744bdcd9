"""Cycle estimates from the formulas the vendor last published. Estimates, not measurements.

N is elements a partition. A fixed overhead is shown apart from them.
"""

from __future__ import annotations

from dataclasses import dataclass

LOWER_BOUND = 64
#: Cycles of fixed overhead a step, one constant for everything.
OVERHEAD = 100


@dataclass(frozen=True, slots=True)
class Estimate:
    """Cycles a step is estimated to take on its engine, without the fixed overhead.

    ``cycles`` is None where no formula has been published.
    """

    cycles: int | None
    formula: str

    @property
    def text(self) -> str:
        """For people."""
        if self.cycles is None:
            return f"estimate: unknown ({self.formula})"
        return f"estimate: {self.cycles} cycles ({self.formula}) + {OVERHEAD} overhead"


UNKNOWN = Estimate(None, "no formula published")


def at_least(elements: int, factor: int = 1) -> Estimate:
    """max(64, factor * N)."""
    shown = "N" if factor == 1 else f"{factor}N"
    return Estimate(max(LOWER_BOUND, factor * elements), f"max({LOWER_BOUND}, {shown})")


def plain(elements: int, factor: int = 1) -> Estimate:
    """factor * N."""
    return Estimate(factor * elements, "N" if factor == 1 else f"{factor}N")


def copy(elements: int, *, speedup: int) -> Estimate:
    """max(64, N), over the speed-up that narrow copies have on trn2 and newer."""
    cycles = max(LOWER_BOUND, elements)
    if speedup == 1:
        return Estimate(cycles, f"max({LOWER_BOUND}, N)")
    return Estimate(cycles // speedup, f"max({LOWER_BOUND}, N) / {speedup}")
