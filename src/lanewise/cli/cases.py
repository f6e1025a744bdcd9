"""``lanewise cases``: portable case files."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from lanewise.check.cases import check_files
from lanewise.cli.support.options import (
    EngineOption,
    JobsOption,
    OutputOption,
    parse_count,
    shortened,
)
from lanewise.cli.support.output import opened_output
from lanewise.kernels import engine_name

app = typer.Typer(subcommand_metavar="VERB …", rich_markup_mode=None, add_completion=False)


@app.callback()
def _overview() -> None:
    """Run case files (JSON Lines or .case.json), test vectors that models can exchange."""


@app.command(epilog="Example: lanewise cases check cases/ --jobs 2")
def check(
    *,
    paths: Annotated[
        list[str], typer.Argument(metavar="FILE|FOLDER", help="Case files, or folders of them.")
    ],
    jobs: JobsOption = "1",
    engine: EngineOption = "auto",
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Write JSON Lines: one object a failing case, then a summary."),
    ] = False,
    output: OutputOption = None,
) -> None:
    """Run cases and print one line for each that fails.

    A case that cannot be read counts as failed and does not stop the rest. Exits with 1 when any
    failed.
    """
    # Found out once, here: a worker that cannot find its kernels could only fail every case.
    kernels = engine_name(shortened(engine))
    processes = parse_count(jobs, "--jobs")
    passed = failed = 0
    with opened_output(output) as out:
        for result in check_files(paths, jobs=processes, engine=kernels):
            if result.passed:
                passed += 1
                continue
            failed += 1
            if as_json:
                document: dict[str, Any] = {
                    "id": result.id,
                    "place": result.place,
                    "unreadable": result.unreadable,
                    "differences": list(result.differences),
                }
                out.json(document)
            else:
                # The place of a case that cannot be read is in front already, as its name.
                story = "; ".join(result.differences).replace(f" {result.place}:", "", 1)
                out.line(f"{result.id}: {story}", "red")
        if as_json:
            out.json({"summary": {"passed": passed, "failed": failed}})
        else:
            out.line(f"{passed} passed, {failed} failed", "red" if failed else "green")
    if failed:
        raise typer.Exit(1)
