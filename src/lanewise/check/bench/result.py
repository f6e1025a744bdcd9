"""What a row of the benchmark found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from lanewise.check.bench.measure import Spread


@dataclass(frozen=True, slots=True)
class Result:
    """One number of the benchmark.

    ``value`` is in ``unit`` (a ratio has the unit "x"); ``parts`` are the numbers of the single
    things it is the worst of; ``peers`` what others do at the same work, in their own units.
    """

    name: str
    what: str
    unit: str
    value: Spread
    more_is_better: bool
    parts: dict[str, float] = field(default_factory=dict)
    peers: dict[str, str] = field(default_factory=dict)

    def meets(self, limit: float) -> bool:
        """Whether the median is on the right side of a limit."""
        median = self.value.median
        return median >= limit if self.more_is_better else median <= limit

    def document(self) -> dict[str, Any]:
        """The result as plain values."""
        return {
            "name": self.name,
            "what": self.what,
            "unit": self.unit,
            "median": self.value.median,
            "low": self.value.low,
            "high": self.value.high,
            "more_is_better": self.more_is_better,
            "parts": self.parts,
            "peers": self.peers,
        }


def worst(parts: dict[str, Spread]) -> tuple[Spread, dict[str, float]]:
    """The lowest of several spreads, and the medians of all."""
    name = min(parts, key=lambda part: parts[part].median)
    return parts[name], {part: spread.median for part, spread in parts.items()}


def slowest(parts: dict[str, Spread]) -> tuple[Spread, dict[str, float]]:
    """The highest of several times, and the medians of all."""
    name = max(parts, key=lambda part: parts[part].median)
    return parts[name], {part: spread.median for part, spread in parts.items()}
