"""``lanewise check``: which words are legal, and every rule that the others break."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import numpy as np
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
    parse_number,
    shortened,
)
from lanewise.cli.support.output import Output, opened_output
from lanewise.cli.support.reports import (
    STYLES,
    broken_document,
    plural,
    show_broken,
    show_passed_over,
)
from lanewise.model import BrokenRule, MalformedWord
from lanewise.neuron import (
    GENERATIONS,
    BulkReport,
    Generation,
    Profile,
    Tally,
    check_words,
    decode,
    find_generation,
)
from lanewise.neuron import check as broken_rules
from lanewise.neuron.bulk import ILLEGAL, MALFORMED, OK, UNMODELLED, VERDICTS
from lanewise.neuron.instruction import WORD_BYTES, Instruction
from lanewise.neuron.roster import roster

app = typer.Typer(rich_markup_mode=None, add_completion=False)

_Found = TypeVar("_Found")

_REFUSED = (ILLEGAL, MALFORMED)
_REMEMBERED = 4096
#: Words listed where nothing else is said, so that a large file is told within seconds.
_LISTED = 1000
_PIECE = 1 << 21


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
    help="""Check words without running them: every broken rule of every word, then a summary.

    The summary counts words by instruction and verdict, and by broken rule. Exits with 1 when a
    word is malformed or illegal in one of the generations.
    """,
    epilog="Example: lanewise check program.bin --generation all   "
    "(a word of an instruction that is not modelled has no rules here; it is counted apart)",
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
    limit: Annotated[
        str | None,
        typer.Option(
            "--limit",
            metavar="N",
            help="List so many words at most, 0 for the summary alone, or all "
            "[1000; all with --json]. The summary counts every word.",
        ),
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Write JSON Lines: one object a listed word, then a summary."),
    ] = False,
    output: OutputOption = None,
) -> None:
    paths = files or ["-"]
    most = _parse_limit(limit, as_json=as_json)
    if pto.is_pto(machine, *paths):
        from lanewise.cli.pto.check import Request
        from lanewise.cli.pto.check import check as check_pto

        if not check_pto(Request(paths, overrides, every, most, as_json, output)):
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
    tallies = {generation.name: Tally() for generation in checker.generations}
    listed = passed_over = 0
    with opened_output(output) as out:
        for path in paths:
            first = 0
            for words in word_pieces(path, WORD_BYTES, _PIECE):
                chosen = _count(words, checker, tallies, every=every)
                shown = chosen if most is None else chosen[: most - listed]
                for place in shown:
                    word = words[place * WORD_BYTES :][:WORD_BYTES]
                    if as_json:
                        out.json(_document(path, first + place, checker.findings(word)))
                    else:
                        name = path if len(paths) > 1 else None
                        _show(out, name, first + place, checker.findings(word))
                listed += len(shown)
                passed_over += len(chosen) - len(shown)
                first += len(words) // WORD_BYTES
        if as_json:
            out.json({"summary": {**_summary(tallies), "not_listed": passed_over}})
        else:
            show_passed_over(out, passed_over, listed, "word")
            _show_summary(out, tallies)
    if any(tally.words[:, _REFUSED].any() for tally in tallies.values()):
        raise typer.Exit(1)


def _parse_limit(text: str | None, *, as_json: bool) -> int | None:
    """How many words to list at most; None for all of them."""
    if text is None:
        return None if as_json else _LISTED
    if text.strip().casefold() == "all":
        return None
    return parse_number(text.strip(), "--limit (or all)")


def _count(words: bytes, checker: _Checker, tallies: dict[str, Tally], *, every: bool) -> list[int]:
    """Count words in the tallies; the places of those that are to be listed."""
    chosen = np.full(len(words) // WORD_BYTES, every)
    for name, report in checker.reports(words).items():
        tallies[name].add(report.tally())
        chosen |= np.isin(report.verdicts, _REFUSED)
    places: list[int] = np.flatnonzero(chosen).tolist()
    return places


class _Checker:
    """Finds out about words: which are refused in bulk, and for each of those what is wrong.

    The latest findings are remembered, since programs repeat themselves.
    """

    def __init__(
        self, generations: tuple[Generation, ...], profile: Profile, surface: str | None
    ) -> None:
        self.generations = generations
        self._profile = profile
        self._surface = surface
        self.findings = functools.lru_cache(_REMEMBERED)(self._findings)

    def reports(self, words: bytes) -> dict[str, BulkReport]:
        """What each of many words is, by generation."""
        return {
            generation.name: check_words(words, generation, self._profile, self._surface)
            for generation in self.generations
        }

    def _findings(self, word: bytes) -> dict[str, Finding]:
        return {generation.name: self._finding(word, generation) for generation in self.generations}

    def _finding(self, word: bytes, generation: Generation) -> Finding:
        try:
            instruction = decode(word, generation)
        except MalformedWord as error:
            # The same in every generation, so that findings of several can be shown as one.
            message = str(error).removesuffix(f"; not {generation}")
            return Finding(VERDICTS[MALFORMED], None, reason=error.reason, message=message)
        if not isinstance(instruction, Instruction):
            return Finding(VERDICTS[UNMODELLED], instruction.name)
        engine = self._surface if self._surface in instruction.engines else None
        broken = broken_rules(instruction, generation, self._profile, engine)
        return Finding(VERDICTS[ILLEGAL if broken else OK], instruction.name, broken)


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


def _grouped(found: dict[str, _Found]) -> list[tuple[list[str], _Found]]:
    """What was found, with the generations that share it, in the order of the first one."""
    groups: list[tuple[list[str], _Found]] = []
    for name, one in found.items():
        for names, known in groups:
            if known == one:
                names.append(name)
                break
        else:
            groups.append(([name], one))
    return groups


def _summary(tallies: dict[str, Tally]) -> dict[str, Any]:
    return {
        "words": next(iter(tallies.values())).total,
        "generations": {name: tally.by_verdict() for name, tally in tallies.items()},
        "instructions": {name: tally.by_instruction() for name, tally in tallies.items()},
        "malformed_opcodes": {
            name: {f"{opcode:#04x}": count for opcode, count in tally.malformed_opcodes().items()}
            for name, tally in tallies.items()
        },
        "broken_rules": {name: _by_rule([tally.broken]) for name, tally in tallies.items()},
        "first_broken_rules": _by_rule(tally.first for tally in tallies.values()),
    }


def _by_rule(counts: Iterable[dict[int, dict[str, int]]]) -> dict[str, int]:
    """Counts by opcode and rule as counts by rule, the most frequent first."""
    total: Counter[str] = Counter()
    for by_opcode in counts:
        for rules in by_opcode.values():
            total.update(rules)
    return dict(total.most_common())


def _show_summary(out: Output, tallies: dict[str, Tally]) -> None:
    """The tables, one for generations that agree in everything, and a line for each generation."""
    for names, tally in _grouped(tallies):
        if tally.total > 1:
            if len(tallies) > 1:
                out.line(f"{', '.join(names)}:")
            _show_tables(out, tally)
    for name, tally in tallies.items():
        parts = [
            f"{count} {verdict}"
            for verdict, count in tally.by_verdict().items()
            if count or verdict == VERDICTS[OK]
        ]
        out.line(f"{name}: {plural(tally.total, 'word')}: {', '.join(parts)}")


def _show_tables(out: Output, tally: Tally) -> None:
    """Words by instruction and verdict, and by the rules they break."""
    codes = {entry.name: opcode for opcode, entry in roster().items()}
    shown = [VERDICTS[OK], VERDICTS[ILLEGAL], VERDICTS[UNMODELLED]]
    rows = [
        [name, f"{codes[name]:#04x}", str(sum(counts.values())), *(str(counts[v]) for v in shown)]
        for name, counts in tally.by_instruction().items()
    ]
    if unassigned := tally.malformed_opcodes():
        one = next(iter(unassigned)) if len(unassigned) == 1 else None
        which = f"{len(unassigned)} codes" if one is None else f"{one:#04x}"
        rows.append(["(malformed)", which, str(sum(unassigned.values())), "", "", ""])
    out.table(rows, ("instruction", "opcode", "words", *shown), indent=2, right=(2, 3, 4, 5))
    if tally.broken:
        first = _by_rule([tally.first])
        broken = [
            [rule, str(count), str(first.get(rule, 0))]
            for rule, count in _by_rule([tally.broken]).items()
        ]
        out.table(broken, ("broken rule", "words", "first in"), indent=2, right=(1, 2))
