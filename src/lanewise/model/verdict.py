"""The four verdicts on a word, and the errors that carry three of them.

A word is *malformed* (not a word of this machine at all), *illegal* (a rule refuses it), a
*fault* (legal, but it cannot run on this state) or *ok*. With any verdict but ok the machine is
as it was before the word.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from lanewise.errors import LanewiseError
from lanewise.words import BitRange

if TYPE_CHECKING:
    from lanewise.model.report import RunReport


class Verdict(enum.StrEnum):
    """What became of a word."""

    OK = "ok"
    MALFORMED = "malformed"
    ILLEGAL = "illegal"
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """One legality rule that a word breaks, and where.

    ``rule`` is the rule's stable id; ``field`` the path of the field it points at (``src.num``),
    ``ranges`` that field's bits in the whole word, ``value`` what is there, ``allowed`` what may
    be, ``hint`` what to try (may be empty).
    """

    rule: str
    field: str
    ranges: tuple[BitRange, ...]
    value: str
    allowed: str
    hint: str = ""

    @property
    def place(self) -> str:
        """The field's bytes or bits, for people."""
        return ", ".join(run.byte_text for run in self.ranges)

    def __str__(self) -> str:
        hint = f" ({self.hint})" if self.hint else ""
        what = f"{self.field} ({self.place}) is {self.value}, must be {self.allowed}"
        return f"{self.rule}: {what}{hint}"


class VerdictError(LanewiseError):
    """A word that did not run. ``report`` is the run's report when a run raised it."""

    verdict: ClassVar[Verdict]

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.report: RunReport | None = None


class MalformedWord(VerdictError):
    """Bytes that are no word of this machine.

    ``reason`` is a short stable id (``length``, ``opcode``, …), ``field`` the field that decides,
    ``bits`` the bytes that came, as they came.
    """

    verdict = Verdict.MALFORMED

    def __init__(self, reason: str, field: str, bits: bytes, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.field = field
        self.bits = bits

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.reason, self.field, self.bits, str(self))


class IllegalInstruction(VerdictError):
    """A word that breaks legality rules; ``broken`` lists all of them, in the rules' order."""

    verdict = Verdict.ILLEGAL

    def __init__(self, name: str, broken: tuple[BrokenRule, ...]) -> None:
        lines = "".join(f"\n  {rule}" for rule in broken)
        plural = "rule" if len(broken) == 1 else "rules"
        super().__init__(f"{name} breaks {len(broken)} {plural}:{lines}")
        self.name = name
        self.broken = broken

    @property
    def rule(self) -> str:
        """The id of the first broken rule."""
        return self.broken[0].rule

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.name, self.broken)


class MachineFault(VerdictError):
    """A legal word that cannot run on this state; ``reason`` is a short stable id."""

    verdict = Verdict.FAULT

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.reason, str(self))
