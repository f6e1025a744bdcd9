"""``lanewise check --machine pto``: which words and bundles are structurally legal.

Without state a bundle can be checked as far as its words go: encodings, structure, selector,
completeness, forms, types and attributes. What depends on tiles and registers needs a run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lanewise.cli.pto.program import build_profile, read_words
from lanewise.cli.support.inputs import shown_name
from lanewise.cli.support.output import Output, opened_output
from lanewise.cli.support.reports import plural
from lanewise.pto import PtoFault, PtoProfile
from lanewise.pto.checking import BundleFinding, check_program


@dataclass(frozen=True, slots=True)
class Request:
    """What the verb was asked to do."""

    files: list[str]
    overrides: list[str] | None
    every: bool
    as_json: bool
    output: str | None


def check(request: Request) -> bool:
    """Check the programs and report; whether all of their bundles are legal."""
    profile = build_profile(request.overrides)
    counts: Counter[str] = Counter()
    rules: Counter[str] = Counter()
    with opened_output(request.output) as out:
        for path in request.files:
            for finding in _findings(path, profile):
                fault = finding.fault
                counts["ok" if fault is None else str(fault.kind)] += 1
                if fault is not None:
                    rules[fault.rule] += 1
                if fault is not None or request.every:
                    if request.as_json:
                        out.json(_document(path, finding))
                    else:
                        _show(out, path if len(request.files) > 1 else None, finding)
        if request.as_json:
            summary = {"bundles": counts.total(), "verdicts": dict(counts), "rules": dict(rules)}
            out.json({"summary": summary})
        else:
            parts = [f"{number} {kind}" for kind, number in counts.most_common()]
            out.line(f"{plural(counts.total(), 'bundle')}: {', '.join(parts) or 'none'}")
    return set(counts) <= {"ok"}


def _findings(path: str, profile: PtoProfile) -> Iterator[BundleFinding]:
    return check_program(read_words(path), profile)


def _document(path: str, finding: BundleFinding) -> dict[str, Any]:
    fault = finding.fault
    return {
        "file": shown_name(path),
        "index": finding.index,
        "name": finding.name,
        "verdict": "ok" if fault is None else "fault",
        "fault": None if fault is None else str(fault.kind),
        "rule": None if fault is None else fault.rule,
        "message": None if fault is None else fault.args[0],
    }


def _show(out: Output, path: str | None, finding: BundleFinding) -> None:
    where = f"bundle {finding.index}"
    if path is not None:
        where = f"{shown_name(path)}: {where}"
    name = "" if finding.name is None else f" {finding.name}"
    fault: PtoFault | None = finding.fault
    if fault is None:
        out.line(f"{where}:{name} ok", "green")
    else:
        out.line(f"{where}:{name} {fault.kind}: {fault.args[0]} [{fault.rule}]", "red")
