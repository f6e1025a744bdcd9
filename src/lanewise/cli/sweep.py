"""``lanewise sweep``: every code of a type through the kernels, against an independent oracle."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final

import typer

from lanewise.cli.support.files import check_distinct, check_target, written_file
from lanewise.cli.support.options import (
    EngineOption,
    JsonOption,
    OutputOption,
    ProfileOption,
    SetOption,
    build_profile,
    parse_count,
    parse_number,
    shortened,
)
from lanewise.cli.support.output import Output, opened_output
from lanewise.cli.support.progress import progress
from lanewise.cli.support.reports import plural
from lanewise.errors import UsageError

app = typer.Typer(
    subcommand_metavar="[VERB …]",
    rich_markup_mode=None,
    add_completion=False,
    invoke_without_command=True,
)

_ONE_IN: Final = "256"
_CHUNK: Final = str(1 << 24)
_LARGEST_CHUNK: Final = 1 << 28
_SPARSEST: Final = 1 << 20

AllJobsOption = Annotated[
    str | None, typer.Option("--jobs", "-j", metavar="N", help="Processes [one a processor].")
]


@app.callback(
    help="""Convert the codes of every type to every type, and compare with an independent oracle.

    All codes of 8 and 16 bits; of 32 bits one in N, and the codes around every place where the
    result changes. Both profiles, all engines that are there. Exits with 1 when anything differs.
    'cast' sweeps all codes of one type.
    """,
    epilog="Example: lanewise sweep --one-in 4096",
)
def sweep(
    context: typer.Context,
    *,
    one_in: Annotated[
        str, typer.Option("--one-in", metavar="N", help="Thins out the codes of 32 bits.")
    ] = _ONE_IN,
    jobs: AllJobsOption = None,
    as_json: JsonOption = False,
    output: OutputOption = None,
) -> None:
    if context.invoked_subcommand is not None:
        if one_in != _ONE_IN or jobs is not None or as_json or output is not None:
            raise UsageError(f"options go after '{context.invoked_subcommand}', which they are for")
        return
    from lanewise.check.sweep import by_pair, full_sweep, sweep_all
    from lanewise.kernels import available_engines

    sparse, processes = parse_count(one_in, "--one-in"), _jobs(jobs)
    if sparse > _SPARSEST:
        raise UsageError(f"--one-in must be at most {_SPARSEST}, not {sparse}")
    tasks, engines = full_sweep(sparse), available_engines()
    found = {}
    started = time.perf_counter()
    with progress("sweep", len(tasks)) as advance:
        for task, tally in zip(tasks, sweep_all(tasks, engines, processes), strict=True):
            found[task] = tally
            advance(1)
    seconds = time.perf_counter() - started
    pairs = by_pair(found)
    differences = sum(tally.differences for tally in pairs.values())
    codes = sum(tally.codes for tally in pairs.values())
    with opened_output(output) as out:
        if as_json:
            for pair, tally in pairs.items():
                out.json(_document(pair) | _tally_document(tally))
            out.json(
                {
                    "summary": {
                        "pairs": len(pairs),
                        "engines": list(engines),
                        "codes": codes,
                        "differences": differences,
                        "seconds": seconds,
                    }
                }
            )
        else:
            _show_pairs(out, pairs)
            for pair, tally in pairs.items():
                _show_first(out, pair, tally)
            out.line(
                f"{plural(len(pairs), 'pair')}, {' and '.join(engines)}: {codes:,} conversions, "
                f"{plural(differences, 'difference')}, {seconds:.1f} s",
                "red" if differences else "green",
            )
    if differences:
        raise typer.Exit(1)


@app.command(
    help="""Convert every code of a type, and compare with an independent oracle.

    Shows the first differences, and how many there are; exits with 1 when there is one. With
    --state an interrupted sweep goes on where it was.
    """,
    epilog="Example: lanewise sweep cast --from FP32 --to BF16,FP16 --state sweep.json   "
    "(all FP32, INT32 and UINT32 codes to every type take about five minutes on two processors)",
)
def cast(
    *,
    sources: Annotated[
        list[str],
        typer.Option(
            "--from", metavar="TYPE,…", help="Types whose codes are converted, or all; repeatable."
        ),
    ],
    targets: Annotated[
        list[str],
        typer.Option("--to", metavar="TYPE,…", help="To these types, or all; may be repeated."),
    ],
    profile: ProfileOption = "isa",
    overrides: SetOption = None,
    engine: EngineOption = "auto",
    start: Annotated[
        str, typer.Option("--start", metavar="CODE", help="The first code, such as 0x3f800000.")
    ] = "0",
    stop: Annotated[
        str | None, typer.Option("--stop", metavar="CODE", help="The code to stop before [all].")
    ] = None,
    chunk: Annotated[
        str, typer.Option("--chunk", metavar="N", help="Codes between two looks at the state.")
    ] = _CHUNK,
    jobs: AllJobsOption = None,
    state: Annotated[
        str | None,
        typer.Option("--state", metavar="FILE", help="Keeps what is done; made if new."),
    ] = None,
    as_json: JsonOption = False,
    output: OutputOption = None,
) -> None:
    from lanewise.check.sweep import SOURCES, TARGETS, Pair, source_type, target_type
    from lanewise.kernels import engine_name

    chosen = build_profile(profile, overrides)
    from_types = _types(sources, SOURCES, source_type)
    to_types = _types(targets, TARGETS, target_type)
    pairs = [Pair(from_type, to_type, chosen) for from_type in from_types for to_type in to_types]
    request = _Request(
        engine_name(shortened(engine)),
        {pair: _span(start, stop, pair) for pair in pairs},
        _chunk(chunk),
        _jobs(jobs),
        state,
    )
    differences = 0
    with opened_output(output) as out:
        for pair in pairs:
            document = request.run(pair)
            differences += document["differences"]
            if as_json:
                out.json(document)
            else:
                _show_pair(out, document)
    if differences:
        raise typer.Exit(1)


class _Request:
    """What is swept how, and the state that is kept."""

    def __init__(
        self,
        engine: str,
        spans: dict[Any, tuple[int, int]],
        chunk: int,
        jobs: int,
        path: str | None,
    ) -> None:
        self._engine, self._spans, self._chunk, self._jobs = engine, spans, chunk, jobs
        self._path = path
        self._state = _opened_state(path)

    def run(self, pair: Any) -> dict[str, Any]:
        """Sweep what of a pair is not done yet, and tell what is known about it then."""
        from lanewise.check.sweep import sweep_range

        record = self._state.record(pair, self._engine)
        spans = record.missing(*self._spans[pair], self._chunk)
        codes = sum(high - low for low, high in spans)
        started = time.perf_counter()
        with progress(f"{pair.source} to {pair.target}", codes) as advance:
            for span, tally in sweep_range(pair, self._engine, spans, self._jobs):
                record.add(span, tally)
                self._save()
                advance(tally.codes)
        seconds = time.perf_counter() - started
        return _document(pair) | {
            "engine": self._engine,
            "codes": codes,
            "codes_before": record.codes - codes,
            "differences": record.differences,
            "first": [_difference(found) for found in record.first],
            "seconds": seconds,
            "codes_per_second": codes / seconds if codes else 0.0,
        }

    def _save(self) -> None:
        if self._path is not None:
            with written_file(self._path) as stream:
                stream.write(self._state.text())


def _opened_state(path: str | None) -> Any:
    from lanewise import __version__
    from lanewise.check.sweep_state import new_state, read_state

    if path is None:
        return new_state(__version__)
    if not check_target(path).is_replaced:
        raise UsageError(f"{path}: --state needs a regular file, which is read and replaced")
    check_distinct([path])
    try:
        with open(path, "rb") as stream:
            content = stream.read()
    except FileNotFoundError:
        return new_state(__version__)
    return read_state(path, content, __version__)


def _types(texts: list[str], every: Sequence[Any], checked: Callable[[Any], Any]) -> list[Any]:
    """The types that options name, each once."""
    from lanewise.neuron.dtypes import find_dtype

    found: list[Any] = []
    for name in (name.strip() for text in texts for name in shortened(text).split(",")):
        found += every if name.casefold() == "all" else [checked(find_dtype(name))]
    return list(dict.fromkeys(found))


def _span(start: str, stop: str | None, pair: Any) -> tuple[int, int]:
    low = parse_number(start.strip(), "--start")
    high = pair.codes if stop is None else parse_number(stop.strip(), "--stop")
    if not low < high <= pair.codes:
        raise UsageError(
            f"--start must be below --stop, and --stop at most {pair.codes:#x} for "
            f"{pair.source}, not {low:#x} and {high:#x}"
        )
    return low, high


def _chunk(text: str) -> int:
    chunk = parse_count(text, "--chunk")
    if chunk > _LARGEST_CHUNK:
        raise UsageError(f"--chunk must be at most {_LARGEST_CHUNK}, not {chunk}")
    return chunk


def _jobs(text: str | None) -> int:
    if text is not None:
        return parse_count(text, "--jobs")
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _document(pair: Any) -> dict[str, Any]:
    return {
        "from": str(pair.source),
        "to": str(pair.target),
        "profile": pair.profile.description,
    }


def _tally_document(tally: Any) -> dict[str, Any]:
    return {
        "codes": tally.codes,
        "differences": tally.differences,
        "first": [_difference(found) | {"engine": found.engine} for found in tally.first],
        "seconds": tally.seconds,
    }


def _difference(found: Any) -> dict[str, Any]:
    return {"code": found.code, "got": found.got, "expected": found.expected}


def _show_pair(out: Output, document: dict[str, Any]) -> None:
    codes, before = document["codes"], document["codes_before"]
    earlier = f" ({before:,} more before)" if before else ""
    different = document["differences"]
    speed = f", {document['codes_per_second']:,.0f} codes/s" if codes else ""
    out.line(
        f"{document['from']} to {document['to']}, {document['profile']}, {document['engine']}: "
        f"{codes:,} codes{earlier}, {plural(different, 'difference')}, "
        f"{document['seconds']:.1f} s{speed}",
        "red" if different else "green",
    )
    if document["first"]:
        rows = [
            (f"{d['code']:#x}", f"{d['got']:#x}", f"{d['expected']:#x}") for d in document["first"]
        ]
        out.table(rows, ("code", "got", "expected"), indent=2, right=(0, 1, 2))


def _show_pairs(out: Output, pairs: dict[Any, Any]) -> None:
    """A line a pair, the profiles beside each other."""
    profiles = list(dict.fromkeys(pair.profile.description for pair in pairs))
    rows: dict[tuple[str, str], list[str]] = {}
    for pair, tally in pairs.items():
        row = rows.setdefault((str(pair.source), str(pair.target)), [])
        row += [f"{tally.codes:,}", str(tally.differences)]
    header = ["from", "to"]
    for name in profiles:
        header += [f"conversions, {name}", "differ"]
    body = [[*names, *cells] for names, cells in rows.items()]
    out.table(body, header, right=range(2, len(header)))


def _show_first(out: Output, pair: Any, tally: Any) -> None:
    for found in tally.first:
        out.line(
            f"{pair.source} to {pair.target}, {pair.profile.description}, {found.engine}: "
            f"{found.code:#x} gave {found.got:#x}, not {found.expected:#x}",
            "red",
        )
