"""How verdicts and broken rules look, for people and for machines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from lanewise.cli.support.output import Output
from lanewise.model import BrokenRule

if TYPE_CHECKING:
    from lanewise.text.diagnostics import Diagnostic, Source

#: Colours of verdicts, for terminals that have them.
STYLES: Final = {"ok": "green", "malformed": "red", "illegal": "red", "fault": "yellow"}
BROKEN_HEADER: Final = ("rule", "field", "where", "value", "must be", "try")


def broken_row(rule: BrokenRule) -> tuple[str, ...]:
    """A broken rule under :data:`BROKEN_HEADER`."""
    return rule.rule, rule.field, rule.place, rule.value, rule.allowed, rule.hint


def show_broken(output: Output, broken: Iterable[BrokenRule]) -> None:
    """The broken rules of one word as a table."""
    rows = [broken_row(rule) for rule in broken]
    if any(row[-1] for row in rows):
        output.table(rows, BROKEN_HEADER, indent=2)
    else:
        output.table([row[:-1] for row in rows], BROKEN_HEADER[:-1], indent=2)


def broken_document(rule: BrokenRule) -> dict[str, Any]:
    """A broken rule as plain values, with the keys that run reports use."""
    return {
        "rule": rule.rule,
        "field": rule.field,
        "bits": [[run.low, run.high] for run in rule.ranges],
        "value": rule.value,
        "allowed": rule.allowed,
        "hint": rule.hint,
    }


def diagnostic_document(source: Source, diagnostic: Diagnostic) -> dict[str, Any]:
    """What is wrong at a place in a text, as plain values."""
    line, column = source.position(diagnostic.span.start)
    return {
        "line": line,
        "column": column,
        "message": diagnostic.message,
        "expected": diagnostic.expected,
        "suggestion": diagnostic.suggestion,
    }


def plural(count: int, noun: str, nouns: str | None = None) -> str:
    """The count with its noun: 1 word, 2 words."""
    return f"{count} {noun if count == 1 else nouns or noun + 's'}"


def show_passed_over(output: Output, passed_over: int, listed: int, noun: str) -> None:
    """One line about what ``--limit`` left out, if anything."""
    if passed_over:
        more = "more " if listed else ""
        output.line(f"… and {plural(passed_over, more + noun)} ('--limit all' lists them)")
