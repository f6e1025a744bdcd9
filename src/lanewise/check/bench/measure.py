"""Time, measured so that a busy machine does not decide.

What is compared runs in turn, again and again, so that whatever slows the machine down slows all
of it down; a ratio is taken within each turn, and the median of the turns is reported with the
spread between the quartiles.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Call = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Spread:
    """A median with the quartiles around it."""

    median: float
    low: float
    high: float

    def scaled(self, factor: float) -> Spread:
        """The same times ``factor``."""
        return Spread(self.median * factor, self.low * factor, self.high * factor)

    def inverted(self, of: float = 1.0) -> Spread:
        """``of`` divided by it."""
        return Spread(of / self.median, of / self.high, of / self.low)

    @property
    def relative(self) -> float:
        """Half the distance of the quartiles, as a part of the median."""
        return (self.high - self.low) / 2 / self.median if self.median else 0.0


def spread_of(values: Sequence[float]) -> Spread:
    """Median and quartiles of at least one value."""
    if len(values) < 2:
        return Spread(values[0], values[0], values[0])
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return Spread(median, low, high)


@dataclass(frozen=True, slots=True)
class Clock:
    """How much is measured: ``turns`` turns, in which each call takes at least ``least`` s."""

    turns: int = 11
    least: float = 0.004

    def times(self, *calls: Call) -> list[list[float]]:
        """Seconds a call takes, one list a call, measured in turn."""
        numbers = [self._repetitions(call) for call in calls]
        found: list[list[float]] = [[] for _ in calls]
        for _ in range(self.turns):
            for call, number, times in zip(calls, numbers, found, strict=True):
                # The other calls have filled the caches with their data, and a last-level cache
                # takes several rounds to hold what is used now: so the first half does not count.
                _time(call, number)
                times.append(_time(call, number))
        return found

    def time(self, call: Call) -> Spread:
        """Seconds a call takes."""
        return spread_of(self.times(call)[0])

    def speed_ratio(self, call: Call, reference: Call) -> Spread:
        """How many times as fast ``call`` is as ``reference``."""
        ours, theirs = self.times(call, reference)
        return spread_of([b / a for a, b in zip(ours, theirs, strict=True)])

    def _repetitions(self, call: Call) -> int:
        call()
        number = 1
        while (spent := _time(call, number) * number) < self.least:
            number = max(2 * number, int(number * self.least / max(spent, 1e-9)))
        return number


def _time(call: Call, number: int) -> float:
    """Seconds a call takes, from ``number`` calls."""
    repeat = range(number)
    start = time.perf_counter()
    for _ in repeat:
        call()
    return (time.perf_counter() - start) / number
