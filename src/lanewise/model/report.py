"""Run reports: what happened to a program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lanewise.model.verdict import (
    IllegalInstruction,
    MachineFault,
    MalformedWord,
    Verdict,
    VerdictError,
)


@dataclass(frozen=True, slots=True)
class Warned:
    """Something that ran but deserves a look: ``index`` of the word, an id, and the story."""

    index: int
    warning: str
    message: str


@dataclass(frozen=True, slots=True)
class RunReport:
    """The outcome of a program.

    ``executed`` counts the words whose effects are in the state; ``index`` is the position of the
    refused word (None when all ran); ``counts`` maps instruction names to how often they ran;
    ``profile`` names the decisions on open points that were in force.
    """

    verdict: Verdict
    executed: int
    profile: str
    counts: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[Warned, ...] = ()
    index: int | None = None
    error: VerdictError | None = None

    @property
    def rule(self) -> str | None:
        """The id of the first broken rule of an illegal word."""
        return self.error.rule if isinstance(self.error, IllegalInstruction) else None

    @property
    def reason(self) -> str | None:
        """The reason of a malformed word or a fault."""
        if isinstance(self.error, (MalformedWord, MachineFault)):
            return self.error.reason
        return None

    def raise_if_refused(self) -> None:
        """Raise the verdict's error unless every word ran."""
        if self.error is not None:
            raise self.error

    def as_dict(self) -> dict[str, Any]:
        """The report as plain values, for JSON."""
        broken = self.error.broken if isinstance(self.error, IllegalInstruction) else ()
        return {
            "verdict": str(self.verdict),
            "executed": self.executed,
            "index": self.index,
            "rule": self.rule,
            "reason": self.reason,
            "message": None if self.error is None else str(self.error),
            "broken": [
                {
                    "rule": b.rule,
                    "field": b.field,
                    "bits": [[run.low, run.high] for run in b.ranges],
                    "value": b.value,
                    "allowed": b.allowed,
                    "hint": b.hint,
                }
                for b in broken
            ],
            "profile": self.profile,
            "counts": dict(self.counts),
            "warnings": [
                {"index": w.index, "warning": w.warning, "message": w.message}
                for w in self.warnings
            ],
        }
