"""``lanewise dump``: annotated hex."""

from __future__ import annotations

from typing import Annotated

import typer

from lanewise.cli.pto import MachineOption, is_pto
from lanewise.cli.support.inputs import STDIN, shown_name
from lanewise.cli.support.options import (
    GenerationOption,
    OutputOption,
    ProfileOption,
    SetOption,
    SurfaceOption,
    build_profile,
    check_surface,
    shortened,
)
from lanewise.cli.support.output import opened_output
from lanewise.cli.support.streams import HexOption, InputOption, Kind, words_of
from lanewise.neuron import find_generation
from lanewise.view.dump import Dumper, rendered

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command(
    help="""Show every field of every word: its bytes, bits, value and meaning.

    Reserved bits that are set and fields that break a rule have a ! before them, and the rule
    below. Nothing is refused: bytes that are no word are shown with the reason.
    """,
    epilog="Example: lanewise dump program.bin --brief   or: lanewise dump --hex '47 10 …'",
)
def dump(
    *,
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILE]…", help="Words or hex text; - is standard input."),
    ] = None,
    hex_text: HexOption = None,
    kind: InputOption = Kind.AUTO,
    machine: MachineOption = "auto",
    generation: GenerationOption = "cayman",
    profile: ProfileOption = "isa",
    overrides: SetOption = None,
    surface: SurfaceOption = None,
    brief: Annotated[
        bool, typer.Option("--brief", help="Leave out the fields that have their default.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write JSON Lines: one object a word.")
    ] = False,
    output: OutputOption = None,
) -> None:
    """Show every field of every word: its bytes, bits, value and meaning."""
    if is_pto(machine, *(files or ())):
        from lanewise.cli.pto import texts

        texts.dump(texts.inputs(files or [STDIN], hex_text, kind), as_json, output)
        return
    dumper = Dumper(
        find_generation(shortened(generation)),
        build_profile(profile, overrides),
        check_surface(surface),
    )
    paths = files or [STDIN]
    inputs = words_of(paths, hex_text, kind)
    with opened_output(output) as out:
        for place, pieces in enumerate(inputs):
            if hex_text is None and len(paths) > 1 and not as_json:
                out.line(f"{shown_name(paths[place])}:", "bold")
            for number, word in enumerate(dumper.words(pieces)):
                if as_json:
                    out.json(word.document())
                    continue
                if number:
                    out.line()
                for line, style in rendered(word, brief=brief):
                    out.line(line, style)
