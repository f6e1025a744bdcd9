"""``lanewise fuzz``: random and damaged words, looking for anything that is not a verdict."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final

import typer

from lanewise.check import neuron_fuzz
from lanewise.check.neuron_fuzz import Crash, Tally
from lanewise.cli.support.options import (
    EngineOption,
    JobsOption,
    OutputOption,
    parse_count,
    parse_number,
    shortened,
)
from lanewise.cli.support.output import Output, check_target, opened_output, written_file
from lanewise.cli.support.reports import plural
from lanewise.errors import UsageError, unknown_name
from lanewise.kernels import engine_name
from lanewise.neuron import GENERATIONS, find_generation

app = typer.Typer(rich_markup_mode=None, add_completion=False)

_CRASHES_SHOWN: Final = 20
_LARGEST_SEED: Final = 1 << 48


@dataclass(frozen=True, slots=True)
class _Machine:
    """What fuzzing needs to know about a machine; its variants are generations or revisions."""

    variants: Callable[[str], list[str]]
    fuzz: Callable[..., Iterator[Tally]]
    rule_ids: Callable[[str], set[tuple[str, str]]]
    crash_case: Callable[[Crash], str]


def _generations(text: str) -> list[str]:
    return list(GENERATIONS) if text.casefold() == "all" else [find_generation(text).name]


MACHINES: Final[Mapping[str, _Machine]] = MappingProxyType(
    {
        "neuron": _Machine(
            _generations, neuron_fuzz.fuzz, neuron_fuzz.rule_ids, neuron_fuzz.crash_case
        )
    }
)


@app.command(epilog="Example: lanewise fuzz --count 1000000 --generation mariana --jobs 2 --seed 1")
def fuzz(
    *,
    count: Annotated[
        str, typer.Option("--count", "-n", metavar="N", help="Words a generation.")
    ] = "20000",
    generation: Annotated[
        str, typer.Option("--generation", "-g", metavar="NAME", help="A generation, or all.")
    ] = "all",
    seed: Annotated[
        str | None,
        typer.Option("--seed", metavar="S", help="Makes a run repeat; a new one when not given."),
    ] = None,
    machine: Annotated[
        str, typer.Option("--machine", metavar="NAME", help="One of: neuron, pto.")
    ] = "neuron",
    jobs: JobsOption = "1",
    engine: EngineOption = "auto",
    save: Annotated[
        str | None,
        typer.Option("--save", metavar="DIR", help="Write each crash as a case file there."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON for machines.")] = False,
    output: OutputOption = None,
) -> None:
    """Put random, legal and damaged words through decoding, encoding, checking and running.

    A word may be refused, but only with a verdict, and a refusal must change nothing. Whatever
    else happens is shown with the word and the seed that repeats it; the exit status is 1 then.
    """
    chosen = MACHINES.get(machine.casefold())
    if chosen is None and machine.casefold() != "pto":
        raise unknown_name("machine", shortened(machine), (*MACHINES, "pto"))
    words, processes = parse_count(count, "--count"), parse_count(jobs, "--jobs")
    start = _seed(seed)
    if save is not None:
        check_target(os.path.join(save, "x"))
    if chosen is None:
        from lanewise.cli.pto.fuzz import Request
        from lanewise.cli.pto.fuzz import fuzz as fuzz_pto

        if not fuzz_pto(Request(words, start, processes, save, as_json, output)):
            raise typer.Exit(1)
        return
    variants = chosen.variants(shortened(generation))
    kernels = engine_name(shortened(engine))
    tallies: dict[str, Tally] = {}
    started = time.perf_counter()
    for name in variants:
        tallies[name] = Tally()
        for tally in chosen.fuzz(name, words, start, jobs=processes, engine=kernels):
            tallies[name].add(tally)
            _show_progress(name, tallies[name].words, words)
    seconds = time.perf_counter() - started
    crashes = [crash for tally in tallies.values() for crash in tally.crashes]
    saved = [] if save is None else [_save(chosen, crash, Path(save)) for crash in crashes]
    missed = {name: _missed(chosen.rule_ids(name), tally) for name, tally in tallies.items()}
    with opened_output(output) as out:
        if as_json:
            out.json(
                {
                    "machine": machine.casefold(),
                    "seed": start,
                    "count": words,
                    "seconds": seconds,
                    "generations": {
                        name: _document(tally, missed[name]) for name, tally in tallies.items()
                    },
                    "crashes": [_crash_document(crash) for crash in crashes],
                    "saved": saved,
                }
            )
        else:
            _show(out, tallies, missed)
            for crash in crashes[:_CRASHES_SHOWN]:
                _show_crash(out, crash)
            for path in saved:
                out.line(f"wrote {path}")
            total = plural(sum(tally.words for tally in tallies.values()), "word")
            found = plural(len(crashes), "crash", "crashes")
            style = "red" if crashes else "green"
            out.line(f"seed {start}: {total}, {found}, {seconds:.1f} s", style)
    if crashes:
        raise typer.Exit(1)


def _seed(text: str | None) -> int:
    if text is None:
        return int.from_bytes(os.urandom(4), "little")
    seed = parse_number(text.strip(), "--seed")
    if seed >= _LARGEST_SEED:
        raise UsageError(f"--seed must be below 2^48, not {seed}")
    return seed


def _show_progress(name: str, words: int, count: int) -> None:
    if sys.stderr.isatty():
        end = "\r" if words < count else "\r\x1b[K"
        print(f"{name}: {words} of {count} words", end=end, file=sys.stderr, flush=True)


def _save(machine: _Machine, crash: Crash, folder: Path) -> str:
    case = machine.crash_case(crash)
    path = str(folder / f"{crash.generation}-{crash.word[:2]}-{crash.word[-16:]}.case.json")
    with written_file(path) as stream:
        stream.write(case.encode())
    return path


def _missed(known: set[tuple[str, str]], tally: Tally) -> list[str]:
    """The rules that no word broke, as "INSTRUCTION rule"."""
    return sorted(f"{name} {rule}" for name, rule in known - set(tally.rules))


def _document(tally: Tally, missed: list[str]) -> dict[str, Any]:
    return {
        "words": tally.words,
        "verdicts": _plain(tally.verdicts),
        "runs": _plain(tally.runs),
        "first_broken_rules": dict(_by_rule(tally.first_rules).most_common()),
        "broken_rules": dict(_by_rule(tally.rules).most_common()),
        "never_broken": missed,
    }


def _plain(counter: Counter[str]) -> dict[str, int]:
    return {str(key): value for key, value in sorted(counter.items())}


def _by_rule(counter: Counter[tuple[str, str]]) -> Counter[str]:
    totals: Counter[str] = Counter()
    for (_, rule), number in counter.items():
        totals[rule] += number
    return totals


def _crash_document(crash: Crash) -> dict[str, Any]:
    return {
        "word": crash.word,
        "generation": crash.generation,
        "profile": crash.profile,
        "seed": crash.seed,
        "problem": crash.problem,
    }


def _show(out: Output, tallies: dict[str, Tally], missed: dict[str, list[str]]) -> None:
    for title, pick in (
        ("words by verdict of the check", lambda tally: tally.verdicts),
        ("legal words by what running them gave", lambda tally: tally.runs),
        ("illegal words by first broken rule", lambda tally: _by_rule(tally.first_rules)),
    ):
        counters = {name: pick(tally) for name, tally in tallies.items()}
        keys = sum(counters.values(), Counter()).most_common()
        rows = [[str(key), *(str(c[key]) for c in counters.values())] for key, _ in keys]
        out.table(rows, [title, *counters], right=range(1, len(counters) + 1))
        out.line()
    for name, rules in missed.items():
        if rules:
            out.line(f"{name}: never broken: {', '.join(rules)}")


def _show_crash(out: Output, crash: Crash) -> None:
    out.line(f"{crash.generation}, profile {crash.profile}: {crash.problem}", "red")
    out.line(f"  word {crash.word}")
    out.line(f"  repeat with: lanewise fuzz -g {crash.generation} --seed {crash.seed} -n 1024")
