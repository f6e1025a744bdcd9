"""What a simulation did, in numbers and warnings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lanewise.neuron.roster import opcode_names
from lanewise.nki.estimate import OVERHEAD
from lanewise.nki.steps import Warned

if TYPE_CHECKING:
    from lanewise.nki.launch.simulation import Simulation


@dataclass(frozen=True, slots=True)
class Report:
    """Counts, estimates and warnings of a call.

    ``words`` counts instruction words by name, ``calls`` modelled calls by function, ``outside``
    the calls outside the modelled set. ``cycles`` sums the published formulas (an **estimate**),
    ``overhead`` the fixed overhead of the same steps, ``unknown`` counts steps without a formula.
    """

    target: str
    profile: str
    words: Mapping[str, int] = field(default_factory=dict)
    calls: Mapping[str, int] = field(default_factory=dict)
    outside: Mapping[str, int] = field(default_factory=dict)
    cycles: int = 0
    overhead: int = 0
    unknown: int = 0
    peak_bytes: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[Warned, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The report as plain values, for JSON."""
        return {
            "target": self.target,
            "profile": self.profile,
            "words": dict(self.words),
            "calls": dict(self.calls),
            "outside": dict(self.outside),
            "estimate": {
                "cycles": self.cycles,
                "overhead": self.overhead,
                "steps without formula": self.unknown,
            },
            "peak bytes per partition": dict(self.peak_bytes),
            "warnings": [
                {
                    "kind": warned.kind,
                    "message": warned.message,
                    "location": None if warned.location is None else str(warned.location),
                    "step": warned.step,
                }
                for warned in self.warnings
            ],
        }

    def __str__(self) -> str:
        def counted(counts: Mapping[str, int]) -> str:
            return ", ".join(f"{name} {count}" for name, count in counts.items()) or "none"

        lines = [
            f"target {self.target}, profile {self.profile}",
            f"words: {counted(self.words)}",
            f"modelled calls: {counted(self.calls)}",
            f"outside the modelled set: {counted(self.outside)}",
            f"estimate: {self.cycles} cycles + {self.overhead} overhead"
            f" ({self.unknown} steps without a published formula)",
            f"memory: {counted(self.peak_bytes)} bytes per partition at most",
        ]
        lines += [
            f"warning ({warned.kind}): {warned.message}"
            + (f" ({warned.location})" if warned.location else "")
            for warned in self.warnings
        ]
        return "\n".join(lines)


def make_report(simulation: Simulation) -> Report:
    """The report of a simulation's last call."""
    names = opcode_names()
    words: Counter[str] = Counter()
    calls: Counter[str] = Counter()
    outside: Counter[str] = Counter()
    cycles = overhead = unknown = 0
    for step in simulation.steps:
        (outside if step.outside else calls)[step.function] += 1
        words.update(names[word[0]] for word in step.words)
        if step.estimate.cycles is None:
            unknown += 1
        else:
            cycles += step.estimate.cycles
            overhead += OVERHEAD
    peak = {
        space: max((run.allocator(space).peak for run in simulation.runs), default=0)
        for space in ("sbuf", "psum")
    }
    return Report(
        target=simulation.target.name,
        profile=simulation.profile.description,
        words=dict(words),
        calls=dict(calls),
        outside=dict(outside),
        cycles=cycles,
        overhead=overhead,
        unknown=unknown,
        peak_bytes=peak,
        warnings=simulation.warnings,
    )
