"""``lanewise check --machine pto``: which words and bundles are structurally legal.

Without state a bundle can be checked as far as its words go: encodings, structure, selector,
completeness, forms, types and attributes. What depends on tiles and registers needs a run.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from lanewise.cli.pto.program import build_profile, read_words
from lanewise.cli.support.inputs import shown_name
from lanewise.cli.support.output import Output, opened_output
from lanewise.cli.support.reports import plural, show_passed_over
from lanewise.pto import PtoFault
from lanewise.pto.checking import BundleFinding, check_program


@dataclass(frozen=True, slots=True)
class Request:
    """What the verb was asked to do."""

    files: list[str]
    overrides: list[str] | None
    every: bool
    limit: int | None
    as_json: bool
    output: str | None


def check(request: Request) -> bool:
    """Check the programs and report; whether all of their bundles are legal."""
    profile = build_profile(request.overrides)
    # All are read before anything is said, so that a bad one is the only thing that is.
    programs = [(path, read_words(path)) for path in request.files]
    counts: Counter[str] = Counter()
    rules: Counter[str] = Counter()
    listed = passed_over = 0
    with opened_output(request.output) as out:
        for path, words in programs:
            for finding in check_program(words, profile):
                fault = finding.fault
                counts["ok" if fault is None else str(fault.kind)] += 1
                if fault is not None:
                    rules[fault.rule] += 1
                if fault is None and not request.every:
                    continue
                if request.limit is not None and listed >= request.limit:
                    passed_over += 1
                    continue
                listed += 1
                if request.as_json:
                    out.json(_document(path, finding))
                else:
                    _show(out, path if len(request.files) > 1 else None, finding)
        if request.as_json:
            summary = {
                "bundles": counts.total(),
                "verdicts": dict(counts),
                "rules": dict(rules),
                "not_listed": passed_over,
            }
            out.json({"summary": summary})
        else:
            show_passed_over(out, passed_over, listed, "bundle")
            parts = [f"{number} {kind}" for kind, number in counts.most_common()]
            out.line(f"{plural(counts.total(), 'bundle')}: {', '.join(parts) or 'none'}")
    return set(counts) <= {"ok"}


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
