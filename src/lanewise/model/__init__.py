"""What both machines share: verdicts, rules, faults, observers and run reports."""

from lanewise.model.observers import Observer
from lanewise.model.report import RunReport, Warned
from lanewise.model.verdict import (
    BrokenRule,
    IllegalInstruction,
    MachineFault,
    MalformedWord,
    Verdict,
    VerdictError,
)

__all__ = [
    "BrokenRule",
    "IllegalInstruction",
    "MachineFault",
    "MalformedWord",
    "Observer",
    "RunReport",
    "Verdict",
    "VerdictError",
    "Warned",
]
