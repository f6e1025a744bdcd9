"""``lanewise isa``: the instruction set to look through, compare and export."""

from __future__ import annotations

import enum
from typing import Annotated

import typer

from lanewise.cli.support.options import JsonOption, OutputOption, shortened
from lanewise.cli.support.output import Output, opened_output
from lanewise.errors import UsageError, unknown_name
from lanewise.neuron import find_generation
from lanewise.neuron.instructions import BY_OPCODE
from lanewise.view.isa.bit_table import svg_table, text_table
from lanewise.view.isa.database import InstructionEntry, OpcodeEntry, database, json_schema
from lanewise.view.isa.difference import Change, differences
from lanewise.view.isa.export import (
    TABLES,
    csv_text,
    html_page,
    json_text,
    markdown_page,
    markdown_text,
    sections,
)

app = typer.Typer(rich_markup_mode=None, add_completion=False)

_GenerationFilter = Annotated[
    str | None,
    typer.Option("--generation", "-g", metavar="NAME", help="Only what this generation has."),
]


@app.callback(
    help="The NeuronCore's instruction set: list, search, show, diff, export.",
    epilog="Example: lanewise isa show find_index8",
)
def _overview() -> None:
    """The NeuronCore's instruction set: list, search, show, diff, export."""


@app.command(
    "list",
    help="List the instructions, or all assigned opcodes.",
    epilog="Example: lanewise isa list --generation sunda --all",
)
def list_instructions(
    *,
    generation: _GenerationFilter = None,
    every: Annotated[
        bool, typer.Option("--all", help="Also the opcodes that are assigned but not modelled.")
    ] = False,
    as_json: JsonOption = False,
    output: OutputOption = None,
) -> None:
    """List the instructions, or all assigned opcodes."""
    name = None if generation is None else find_generation(shortened(generation)).name
    found = [
        entry
        for entry in database().opcodes
        if (every or entry.modelled) and (name is None or name in entry.generations)
    ]
    _show_opcodes(found, as_json, output)


@app.command(
    help="Find opcodes by name, struct, field, rule or description.",
    epilog="Example: lanewise isa search predicate",
)
def search(
    *,
    words: Annotated[list[str], typer.Argument(metavar="WORD…", help="All of them must occur.")],
    as_json: JsonOption = False,
    output: OutputOption = None,
) -> None:
    """Find opcodes by name, struct, field, rule or description."""
    wanted = [shortened(word).casefold() for word in words]
    texts = {entry.opcode: _searchable(entry) for entry in database().instructions}
    found = []
    for entry in database().opcodes:
        text = f"{entry.name} {entry.struct} {entry.code:#04x} {texts.get(entry.code, '')}"
        if all(word in text.casefold() for word in wanted):
            found.append(entry)
    if not found:
        raise UsageError(
            f"nothing in the instruction set has {' and '.join(map(repr, words))}; "
            "'lanewise isa list --all' shows every opcode"
        )
    _show_opcodes(found, as_json, output)


def _searchable(entry: InstructionEntry) -> str:
    fields = " ".join(f"{field.path} {field.doc}" for field in entry.fields)
    rules = " ".join(f"{rule.id} {rule.demand}" for rule in entry.rules)
    return f"{entry.summary} {entry.doc} {entry.mnemonic} {fields} {rules}"


def _show_opcodes(found: list[OpcodeEntry], as_json: bool, output: str | None) -> None:
    summaries = {entry.opcode: entry.summary for entry in database().instructions}
    with opened_output(output) as out:
        if as_json:
            print(json_text(found), end="", file=out.stream)
            return
        rows = [
            (
                f"{entry.code:#04x}",
                entry.name,
                entry.struct or "-",
                "all" if len(entry.generations) == 4 else ", ".join(entry.generations),
                summaries.get(entry.code, "not modelled"),
            )
            for entry in found
        ]
        out.table(rows, ("opcode", "name", "struct", "generations", "what it does"))


class PageForm(enum.StrEnum):
    """How an instruction is shown."""

    TEXT = "text"
    SVG = "svg"
    HTML = "html"
    MARKDOWN = "markdown"
    JSON = "json"


@app.command(
    help="Show one instruction: bit table, fields, rules, types, generations, engines, assembly.",
    epilog="Example: lanewise isa show select_reduce   or: … show 0x46 --format svg -o copy.svg",
)
def show(
    *,
    name: Annotated[str, typer.Argument(metavar="NAME", help="An instruction or its opcode.")],
    form: Annotated[
        PageForm, typer.Option("--format", help="svg draws the bit table alone.")
    ] = PageForm.TEXT,
    output: OutputOption = None,
) -> None:
    """Show one instruction: bit table, fields, rules, types, generations, engines, assembly."""
    entry = _entry(name)
    with opened_output(output) as out:
        match form:
            case PageForm.TEXT:
                _show_text(out, entry)
            case PageForm.SVG:
                print(svg_table(BY_OPCODE[entry.opcode]), end="", file=out.stream)
            case PageForm.HTML:
                print(html_page(entry), end="", file=out.stream)
            case PageForm.MARKDOWN:
                print("\n".join(markdown_page(entry)), file=out.stream)
            case PageForm.JSON:
                print(json_text(entry), end="", file=out.stream)


def _entry(name: str) -> InstructionEntry:
    wanted = shortened(name).strip().casefold().replace("-", "_")
    entries = database().instructions
    for entry in entries:
        if wanted in (entry.mnemonic, entry.mnemonic.replace("_", ""), f"{entry.opcode:#04x}"):
            return entry
    for opcode in database().opcodes:
        if wanted in (opcode.name.casefold(), f"{opcode.code:#04x}"):
            raise UsageError(
                f"{opcode.code:#04x} {opcode.name} is assigned but not modelled, so nothing but "
                f"its struct ({opcode.struct or 'unknown'}) is known here"
            )
    raise unknown_name("instruction", shortened(name), [entry.mnemonic for entry in entries])


def _show_text(out: Output, entry: InstructionEntry) -> None:
    out.line(f"{entry.opcode:#04x} {entry.name}: {entry.summary}", "bold")
    out.line()
    for line in entry.doc.splitlines():
        out.line(line)
    out.line()
    for line in text_table(BY_OPCODE[entry.opcode]):
        out.line(line)
    for title, (header, *body) in sections(entry):
        out.line()
        out.line(title, "bold")
        out.table(body, header, indent=2)
    out.line()
    out.line("Assembly", "bold")
    out.line(f"  {entry.syntax}")
    out.line(f"  {entry.example.text}")
    out.line()
    out.line(f"Example word ({entry.example.generation})", "bold")
    data = bytes.fromhex(entry.example.hex)
    for start in range(0, len(data), 16):
        out.line(f"  0x{start:02x}  {data[start : start + 16].hex(' ')}")


@app.command(
    help="Say what changed between two generations: memory, patterns, opcodes, types, rules.",
    epilog="Example: lanewise isa diff sunda mariana",
)
def diff(
    *,
    old: Annotated[str, typer.Argument(metavar="OLD", help="A generation.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="Another one.")],
    as_json: JsonOption = False,
    output: OutputOption = None,
) -> None:
    """Say what changed between two generations: memory, patterns, opcodes, types, rules."""
    changes = differences(find_generation(shortened(old)), find_generation(shortened(new)))
    with opened_output(output) as out:
        if as_json:
            print(json_text(changes), end="", file=out.stream)
            return
        for topic in dict.fromkeys(change.topic for change in changes):
            out.line(topic, "bold")
            for change in changes:
                if change.topic == topic:
                    _show_change(out, change)
        if not changes:
            out.line("no difference")


_MARKS = {"added": ("+", "green"), "removed": ("-", "red"), "changed": ("~", "yellow")}


def _show_change(out: Output, change: Change) -> None:
    mark, style = _MARKS[change.kind]
    values = f": {change.before} -> {change.after}" if change.before or change.after else ""
    out.line(f"  {mark} {change.name}{values}", style)


class ExportForm(enum.StrEnum):
    """Forms of an export."""

    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


@app.command(
    help="Write the instruction set for other tools: fields, bits, rules, types, opcodes.",
    epilog="Example: lanewise isa export --format csv --table fields -o fields.csv",
)
def export(
    *,
    form: Annotated[ExportForm, typer.Option("--format", help="json holds everything.")] = (
        ExportForm.JSON
    ),
    table: Annotated[
        str, typer.Option("--table", metavar="NAME", help=f"For csv: {', '.join(TABLES)}.")
    ] = "fields",
    schema: Annotated[
        bool, typer.Option("--schema", help="Write the JSON Schema of the json form instead.")
    ] = False,
    output: OutputOption = None,
) -> None:
    """Write the instruction set for other tools: fields, bits, rules, types, opcodes."""
    if table not in TABLES:
        raise unknown_name("table", shortened(table), TABLES)
    if schema:
        text = json_text(json_schema())
    elif form is ExportForm.JSON:
        text = json_text(database())
    elif form is ExportForm.CSV:
        text = csv_text(table)
    else:
        text = markdown_text()
    with opened_output(output) as out:
        print(text, end="", file=out.stream)
