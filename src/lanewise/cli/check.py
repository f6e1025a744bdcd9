"""``lanewise check``: which words are legal, and every rule that the others break."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from lanewise.cli import pto
from lanewise.cli.support.inputs import check_input, shown_name, word_pieces
from lanewise.cli.support.options import (
    OutputOption,
    ProfileOption,
    SetOption,
    SurfaceOption,
    build_profile,
    check_surface,
    shortened,
)
from lanewise.cli.support.output import Output, opened_output
from lanewise.cli.support.reports import STYLES, broken_document, plural, show_broken
from lanewise.model import BrokenRule, MalformedWord
from lanewise.neuron import GENERATIONS, Generation, Profile, decode, find_generation
from lanewise.neuron import check as broken_rules
from lanewise.neuron.instruction import WORD_BYTES, Instruction

app = typer.Typer(rich_markup_mode=None, add_completion=False)

OK, MALFORMED, ILLEGAL, UNMODELLED = "ok", "malformed", "illegal", "unmodelled"
_REFUSED = (MALFORMED, ILLEGAL)
_REMEMBERED = 4096


@dataclass(frozen=True, slots=True)
class Finding:
    """What a word is in one generation. ``reason`` and ``message`` tell why it is malformed."""

    verdict: str
    name: str | None
    broken: tuple[BrokenRule, ...] = ()
    reason: str | None = None
    message: str | None = None

    def document(self) -> dict[str, Any]:
        """The finding as plain values."""
        return {
            "verdict": self.verdict,
            "name": self.name,
            "reason": self.reason,
            "message": self.message,
            "broken": [broken_document(rule) for rule in self.broken],
        }


@app.command(
    epilog="Example: lanewise check program.bin --generation all   "
    "(a word of an instruction that is not modelled has no rules here; it is counted apart)"
)
def check(
    *,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE",
            help="Files of 64-byte words, or for the PTO machine of bundles; - is standard input.",
        ),
    ] = None,
    machine: pto.MachineOption = "auto",
    generation: Annotated[
        str,
        typer.Option(
            "--generation",
            "-g",
            metavar="NAME",
            help="sunda, cayman, mariana or maverick, a product such as trn2, or all of them.",
        ),
    ] = "cayman",
    profile: ProfileOption = "isa",
    overrides: SetOption = None,
    surface: SurfaceOption = None,
    every: Annotated[bool, typer.Option("--every", help="List the legal words too.")] = False,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Write JSON Lines: one object a listed word, then a summary."),
    ] = False,
    output: OutputOption = None,
) -> None:
    """Check words without running them: every broken rule of every word, then a summary.

    Exits with 1 when a word is malformed or illegal in one of the generations.
    """
    paths = files or ["-"]
    if pto.is_pto(machine, *paths):
        from lanewise.cli.pto.check import Request
        from lanewise.cli.pto.check import check as check_pto

        if not check_pto(Request(paths, overrides, every, as_json, output)):
            raise typer.Exit(1)
        return
    checker = _Checker(
        tuple(GENERATIONS.values())
        if generation.casefold() == "all"
        else (find_generation(shortened(generation)),),
        build_profile(profile, overrides),
        check_surface(surface),
    )
    for path in paths:
        check_input(path, WORD_BYTES)
    counts: dict[str, Counter[str]] = {g.name: Counter() for g in checker.generations}
    first_rules: Counter[str] = Counter()
    with opened_output(output) as out:
        for path in paths:
            for index, word in enumerate(_words(path)):
                findings = checker.findings(word)
                for name, finding in findings.items():
                    counts[name][finding.verdict] += 1
                    if finding.broken:
                        first_rules[finding.broken[0].rule] += 1
                refused = any(finding.verdict in _REFUSED for finding in findings.values())
                if refused or every:
                    if as_json:
                        out.json(_document(path, index, findings))
                    else:
                        _show(out, path if len(paths) > 1 else None, index, findings)
        if as_json:
            out.json({"summary": _summary(counts, first_rules)})
        else:
            _show_summary(out, counts)
    if any(tally[verdict] for tally in counts.values() for verdict in _REFUSED):
        raise typer.Exit(1)


class _Checker:
    """Finds out about words, remembering the latest of them: programs repeat themselves."""

    def __init__(
        self, generations: tuple[Generation, ...], profile: Profile, surface: str | None
    ) -> None:
        self.generations = generations
        self._profile = profile
        self._surface = surface
        self.findings = functools.lru_cache(_REMEMBERED)(self._findings)

    def _findings(self, word: bytes) -> dict[str, Finding]:
        return {generation.name: self._finding(word, generation) for generation in self.generations}

    def _finding(self, word: bytes, generation: Generation) -> Finding:
        try:
            instruction = decode(word, generation)
        except MalformedWord as error:
            # The same in every generation, so that findings of several can be shown as one.
            message = str(error).removesuffix(f"; not {generation}")
            return Finding(MALFORMED, None, reason=error.reason, message=message)
        if not isinstance(instruction, Instruction):
            return Finding(UNMODELLED, instruction.name)
        engine = self._surface if self._surface in instruction.engines else None
        broken = broken_rules(instruction, generation, self._profile, engine)
        return Finding(ILLEGAL if broken else OK, instruction.name, broken)


def _words(path: str) -> Iterator[bytes]:
    for piece in word_pieces(path, WORD_BYTES):
        for start in range(0, len(piece), WORD_BYTES):
            yield piece[start : start + WORD_BYTES]


def _document(path: str, index: int, findings: dict[str, Finding]) -> dict[str, Any]:
    return {
        "file": shown_name(path),
        "index": index,
        "offset": index * WORD_BYTES,
        "generations": {name: finding.document() for name, finding in findings.items()},
    }


def _show(out: Output, path: str | None, index: int, findings: dict[str, Finding]) -> None:
    where = f"word {index} ({index * WORD_BYTES:#x})"
    if path is not None:
        where = f"{shown_name(path)}: {where}"
    for names, finding in _grouped(findings):
        among = f" on {', '.join(names)}" if len(findings) > 1 else ""
        name = "" if finding.name is None else f" {finding.name}"
        text = f"{where}:{name} {finding.verdict}{among}"
        if finding.reason is not None:
            text += f" ({finding.reason}): {finding.message}"
        out.line(text, STYLES.get(finding.verdict, ""))
        if finding.broken:
            show_broken(out, finding.broken)


def _grouped(findings: dict[str, Finding]) -> list[tuple[list[str], Finding]]:
    """Findings with the generations that share them, in the order of the first one."""
    groups: list[tuple[list[str], Finding]] = []
    for name, finding in findings.items():
        for names, known in groups:
            if known == finding:
                names.append(name)
                break
        else:
            groups.append(([name], finding))
    return groups


def _summary(counts: dict[str, Counter[str]], first_rules: Counter[str]) -> dict[str, Any]:
    verdicts = (OK, ILLEGAL, MALFORMED, UNMODELLED)
    return {
        "words": next(iter(counts.values())).total(),
        "generations": {
            name: {verdict: tally[verdict] for verdict in verdicts}
            for name, tally in counts.items()
        },
        "first_broken_rules": dict(first_rules.most_common()),
    }


def _show_summary(out: Output, counts: dict[str, Counter[str]]) -> None:
    for name, tally in counts.items():
        parts: Sequence[str] = [
            f"{tally[verdict]} {verdict}"
            for verdict in (OK, ILLEGAL, MALFORMED, UNMODELLED)
            if tally[verdict] or verdict == OK
        ]
        out.line(f"{name}: {plural(tally.total(), 'word')}: {', '.join(parts)}")
