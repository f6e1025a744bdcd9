"""``lanewise bench``: how fast the kernels and the machine are, against peers and budgets."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Annotated, Any

import typer

from lanewise.cli.support.files import check_target, written_file
from lanewise.cli.support.options import (
    EngineOption,
    JsonOption,
    OutputOption,
    parse_count,
    shortened,
    slow_kernels_reason,
)
from lanewise.cli.support.output import Output, note, opened_output
from lanewise.cli.support.progress import progress
from lanewise.errors import UsageError

app = typer.Typer(rich_markup_mode=None, add_completion=False)

_QUICK_TURNS = 5


@app.command(
    help="""Measure, compare with peers in the same process, and hold the result to the budgets.

    What is compared runs in turn, so that a busy machine slows all of it down; medians are shown
    with the spread of the turns. Exits with 0 unless --check finds a floor that does not hold.
    """,
    epilog="Example: lanewise bench --only cast-bf16 --only top8   "
    "(ratios are times np.copyto of an 8 MiB tile unless they say otherwise)",
)
def bench(
    *,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="NAME", help="Measure this row; may be repeated."),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Exit with 1 when a floor does not hold.")
    ] = False,
    runs: Annotated[
        str, typer.Option("--runs", metavar="N", help="Measure so often; medians count.")
    ] = "1",
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer turns: a first look, less sure.")
    ] = False,
    budgets: Annotated[
        str | None,
        typer.Option("--budgets", metavar="FILE", help="Floors and aims [bench/budgets.toml]."),
    ] = None,
    picture: Annotated[
        str | None,
        typer.Option("--picture", metavar="FILE", help="Draw the ratios to memory (SVG)."),
    ] = None,
    engine: EngineOption = "auto",
    as_json: JsonOption = False,
    output: OutputOption = None,
) -> None:
    """Run the rows, show them, and look at their budgets."""
    from lanewise.check.bench import ROWS, Clock, choose_rows, draw, find_budgets, read_budgets
    from lanewise.check.bench.kernels import Tiles
    from lanewise.kernels import select_engine

    rows = choose_rows([shortened(name) for name in only or ()])
    path = find_budgets() if budgets is None else Path(budgets)
    limits = {} if path is None else read_budgets(path, ROWS)
    if check and not limits:
        raise UsageError("--check needs budgets; name a file with --budgets")
    if picture is not None:
        check_target(picture)
    kernels = select_engine(shortened(engine))
    reason = slow_kernels_reason(engine)
    if reason is not None:
        note(f"measuring the NumPy kernels, because {reason}")
    clock = Clock(turns=_QUICK_TURNS) if quick else Clock()
    found: dict[str, list[Any]] = {}
    times = parse_count(runs, "--runs")
    with progress("bench", times * len(rows)) as advance:
        for _ in range(times):
            tiles = Tiles(kernels, clock)
            for row in rows:
                for result in row.measure(tiles):
                    found.setdefault(result.name, []).append(result)
                advance(1)
    results = [_middle(same) for same in found.values()]
    failed = []
    with opened_output(output) as out:
        for result in results:
            floor = limits[result.name].floor if result.name in limits else None
            if floor is not None and not result.meets(floor):
                failed.append(result.name)
        if as_json:
            for result in results:
                limit = limits.get(result.name)
                extra = {"floor": limit and limit.floor, "aim": limit and limit.aim}
                out.json(result.document() | extra)
        else:
            _show(out, results, limits)
            missed = ", ".join(failed)
            out.line(f"floors that do not hold: {missed}" if failed else "all floors hold")
    if picture is not None:
        with written_file(picture) as stream:
            stream.write(draw(results, limits).encode())
    if check and failed:
        raise typer.Exit(1)


def _middle(results: list[Any]) -> Any:
    """Of several runs the one with the median value."""
    ordered = sorted(results, key=lambda result: result.value.median)
    return ordered[len(ordered) // 2]


def _show(out: Output, results: list[Any], limits: dict[str, Any]) -> None:
    lines = []
    for result in results:
        limit = limits.get(result.name)
        floor, aim = (None, None) if limit is None else (limit.floor, limit.aim)
        lines.append(
            (
                result.name,
                f"{_number(result.value.median)}{result.unit}",
                f"±{100 * result.value.relative:.0f}%",
                "" if floor is None else _number(floor),
                "" if aim is None else _number(aim),
                _judgement(result, floor, aim),
                result.what,
            )
        )
    header = ("row", "median", "spread", "floor", "aim", "", "what")
    out.table(lines, header, right=(1, 2, 3, 4))
    for result in results:
        parts = [f"{name} {_number(value)}" for name, value in result.parts.items()]
        parts += [f"{name}: {text}" for name, text in result.peers.items()]
        if len(parts) > 1 or result.peers:
            shown = parts if len(parts) < 9 else [*_ends(result.parts), f"{len(parts)} in all"]
            out.line(f"  {result.name}: {', '.join(shown)}")


def _ends(parts: dict[str, float]) -> list[str]:
    """The lowest two, the middle and the highest of many parts."""
    ordered = sorted(parts.items(), key=lambda part: part[1])
    shown = [f"{name} {_number(value)}" for name, value in (*ordered[:2], ordered[-1])]
    middle = statistics.median(parts.values())
    return [*shown[:2], f"median {_number(middle)}", shown[2]]


def _judgement(result: Any, floor: float | None, aim: float | None) -> str:
    if floor is not None and not result.meets(floor):
        return "BELOW FLOOR"
    if aim is None:
        return "" if floor is None else "ok"
    return "aim" if result.meets(aim) else "ok" if floor is not None else "below aim"


def _number(value: float) -> str:
    if value >= 10_000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"
