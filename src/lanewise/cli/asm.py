"""``lanewise asm``: text into words."""

from __future__ import annotations

import enum
import sys
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from lanewise.cli.pto import MachineOption, is_pto
from lanewise.cli.support.files import check_target, written_file
from lanewise.cli.support.inputs import read_text, shown_name
from lanewise.cli.support.options import (
    JsonOption,
    OutputOption,
    ProfileOption,
    SetOption,
    build_profile,
    shortened,
)
from lanewise.cli.support.output import note, opened_output
from lanewise.cli.support.reports import diagnostic_document, plural
from lanewise.neuron import Profile
from lanewise.neuron import check as broken_rules
from lanewise.neuron.instruction import WORD_BYTES
from lanewise.neuron.instructions import BY_OPCODE
from lanewise.neuron.roster import opcodes_of
from lanewise.text.diagnostics import AssemblyError, Diagnostic, Source
from lanewise.text.neuron import Assembly, assemble

app = typer.Typer(rich_markup_mode=None, add_completion=False)


class Form(enum.StrEnum):
    """How words are written."""

    AUTO = "auto"
    BINARY = "binary"
    HEX = "hex"
    C = "c"


@app.command(
    help="""Assemble a text; every error in it is reported with its line and a caret.

    Exits with 2 when the text does not assemble, and with 1 when --check finds a broken rule.
    """,
    epilog="Example: lanewise asm search.nasm | lanewise run - --dump sbuf:0+0x4000:8:FP32",
)
def asm(
    *,
    file: Annotated[
        str, typer.Argument(metavar="[FILE]", help="Assembly text; - is standard input.")
    ] = "-",
    generation: Annotated[
        str | None,
        typer.Option(
            "--generation",
            "-g",
            metavar="NAME",
            help="What the text must be for; without it the text's .generation, else cayman.",
        ),
    ] = None,
    machine: MachineOption = "auto",
    form: Annotated[
        Form,
        typer.Option(
            "--format", help="auto: binary, but hex on a terminal. hex: a word a line. c: an array."
        ),
    ] = Form.AUTO,
    check: Annotated[
        bool,
        typer.Option("--check", help="Also check every word; a broken rule is shown in the text."),
    ] = False,
    profile: ProfileOption = "isa",
    overrides: SetOption = None,
    as_json: JsonOption = False,
    output: OutputOption = None,
) -> None:
    """Assemble a text; every error in it is reported with its line and a caret."""
    if is_pto(machine, file):
        _assemble_pto(
            file,
            form=form,
            check=check,
            overrides=overrides,
            as_json=as_json,
            output=output,
        )
        return
    decisions = build_profile(profile, overrides)
    asked = None if generation is None else shortened(generation)
    assembly = assemble(read_text(file), asked, name=shown_name(file))
    found = tuple(_illegal(assembly, decisions)) if check else ()
    if as_json:
        with opened_output(output) as out:
            out.json(_document(assembly, found))
    else:
        _write(assembly.data, form, output, _hex_lines(assembly.data))
    _tell(file, assembly.source, found)


def _assemble_pto(
    file: str,
    *,
    form: Form,
    check: bool,
    overrides: list[str] | None,
    as_json: bool,
    output: str | None,
) -> None:
    from lanewise.cli.pto import texts

    profile = texts.build_profile(overrides)
    assembly = texts.assembled(file)
    found = tuple(texts.refused(assembly, profile)) if check else ()
    if as_json:
        with opened_output(output) as out:
            out.json(texts.document(assembly, found))
    else:
        _write(assembly.data, form, output, texts.hex_lines(assembly))
    _tell(file, assembly.source, found)


def _tell(file: str, source: Source, found: tuple[Diagnostic, ...]) -> None:
    """Show broken rules where they were written, and fail."""
    if found:
        print(AssemblyError(source, found), file=sys.stderr)
        note(f"{shown_name(file)}: {plural(len(found), 'broken rule')}")
        raise typer.Exit(1)


def _illegal(assembly: Assembly, profile: Profile) -> Iterator[Diagnostic]:
    """What the rules say, at the places where the fields were written."""
    for item in assembly.items:
        if len(item.data) != WORD_BYTES or item.data[0] not in BY_OPCODE:
            continue
        if item.data[0] not in opcodes_of(assembly.generation):
            continue
        for rule in broken_rules(item.data, assembly.generation, profile, item.engine):
            yield Diagnostic(
                item.span_of(rule.field),
                f"{rule.rule}: {rule.field} is {rule.value}",
                rule.allowed,
                rule.hint,
                severity="illegal",
            )


def _write(data: bytes, form: Form, output: str | None, hex_lines: Iterator[str]) -> None:
    to_standard_output = output is None or output == "-"
    if form is Form.AUTO:
        is_terminal = to_standard_output and sys.stdout.isatty()
        form = Form.HEX if is_terminal else Form.BINARY
    if form is Form.BINARY:
        if output is not None and output != "-":
            check_target(output, binary=True)
            with written_file(output) as stream:
                stream.write(data)
            return
        if sys.stdout.isatty():
            raise typer.BadParameter("binary words do not go to a terminal; name a file with -o")
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        return
    with opened_output(output) as out:
        for line in hex_lines if form is Form.HEX else _array_lines(data):
            out.line(line)


def _hex_lines(data: bytes) -> Iterator[str]:
    for start in range(0, len(data), WORD_BYTES):
        yield data[start : start + WORD_BYTES].hex(" ", -4)


def _array_lines(data: bytes) -> Iterator[str]:
    yield f"const unsigned char words[{len(data)}] = {{"
    for start in range(0, len(data), 16):
        yield "    " + " ".join(f"0x{byte:02x}," for byte in data[start : start + 16])
    yield "};"


def _document(assembly: Assembly, found: tuple[Diagnostic, ...]) -> dict[str, Any]:
    position = assembly.source.position
    words: list[dict[str, Any]] = []
    offset = 0
    for item in assembly.items:
        line, column = position(item.span.start)
        words.append(
            {
                "offset": offset,
                "line": line,
                "column": column,
                "engine": item.engine,
                "hex": item.data.hex(),
            }
        )
        offset += len(item.data)
    return {
        "generation": assembly.generation.name,
        "words": words,
        "buffers": [
            {
                "name": buffer.name,
                "space": buffer.space,
                "partition": buffer.partition,
                "partitions": buffer.partitions,
                "offset": buffer.offset,
                "dtype": buffer.dtype.name,
                "shape": list(buffer.shape),
            }
            for buffer in assembly.buffers.values()
        ],
        "broken": [diagnostic_document(assembly.source, diagnostic) for diagnostic in found],
    }
