"""``lanewise fuzz --machine pto``: nearly legal and random bundles on a core."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lanewise.check.pto_fuzz import FuzzReport, fuzz_bundles
from lanewise.cli.support.output import opened_output, written_file
from lanewise.cli.support.reports import plural
from lanewise.pto.assembly import disassemble
from lanewise.pto.rules import RULES

#: Bundles a block: a block depends on its seed alone, so it can be run again by itself.
BLOCK: Final = 4096


@dataclass(frozen=True, slots=True)
class Request:
    """What the verb was asked to do."""

    count: int
    seed: int
    jobs: int
    save: str | None
    as_json: bool
    output: str | None


def fuzz(request: Request) -> bool:
    """Fuzz and report; whether every bundle kept every promise."""
    started = time.perf_counter()
    verdicts: Counter[str] = Counter()
    rules: Counter[str] = Counter()
    failures: list[tuple[int, tuple[str, ...], str]] = []
    for report in _reports(request):
        verdicts.update(report.verdicts)
        rules.update(report.rules)
        failures += [(report.seed, f.words, f.problem) for f in report.failures]
    seconds = time.perf_counter() - started
    missed = sorted({rule.id for rule in RULES} - set(rules))
    saved = [] if request.save is None else [_save(Path(request.save), f) for f in failures]
    with opened_output(request.output) as out:
        if request.as_json:
            out.json(
                {
                    "machine": "pto",
                    "seed": request.seed,
                    "count": request.count,
                    "seconds": seconds,
                    "verdicts": dict(verdicts),
                    "rules": dict(rules.most_common()),
                    "never_broken": missed,
                    "failures": [
                        {"seed": seed, "words": list(words), "problem": problem}
                        for seed, words, problem in failures
                    ],
                    "saved": saved,
                }
            )
            return not failures
        out.table([(name, str(n)) for name, n in verdicts.most_common()], right=(1,))
        out.line()
        out.table([(name, str(n)) for name, n in rules.most_common()], right=(1,))
        out.line()
        if missed:
            out.line(f"never broken: {', '.join(missed)}")
        for seed, words, problem in failures:
            out.line(f"block seed {seed}: {problem}", "red")
            out.line(f"  words {' '.join(words)}")
        for path in saved:
            out.line(f"wrote {path}")
        bundles, found = plural(request.count, "bundle"), plural(len(failures), "failure")
        style = "red" if failures else "green"
        out.line(f"seed {request.seed}: {bundles}, {found}, {seconds:.1f} s", style)
    return not failures


def _reports(request: Request) -> Iterator[FuzzReport]:
    """One report a block, in order."""
    starts = range(0, request.count, BLOCK)
    sizes = [min(BLOCK, request.count - start) for start in starts]
    seeds = [request.seed * 0x1_0000_0000 + number for number in range(len(sizes))]
    if request.jobs == 1:
        yield from map(fuzz_bundles, sizes, seeds)
        return
    with ProcessPoolExecutor(request.jobs) as pool:
        yield from pool.map(fuzz_bundles, sizes, seeds)


def _save(folder: Path, failure: tuple[int, tuple[str, ...], str]) -> str:
    seed, words, problem = failure
    path = str(folder / f"pto-{seed:x}-{''.join(words)[-16:]}.pto")
    text = "".join(f"; {line}\n" for line in (f"block seed {seed}", *problem.splitlines()))
    with written_file(path) as stream:
        stream.write((text + disassemble(words)).encode())
    return path
