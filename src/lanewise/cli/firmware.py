"""``lanewise firmware``: what a binary tells about the instructions in it."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from lanewise.cli.support.options import OutputOption
from lanewise.cli.support.output import Output, opened_output
from lanewise.cli.support.reports import plural
from lanewise.view.firmware import Image, Names, Search, find_names, find_tables, opened_image

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command(
    help="""Find kernel dispatch tables and instruction names in firmware images.

    Any file will do; one that is no firmware gives an empty report. Offsets are in the file,
    addresses as loaded.
    """,
    epilog="Example: lanewise firmware libfirmware.so --json",
)
def firmware(
    *,
    files: Annotated[
        list[str], typer.Argument(metavar="FILE…", help="Images, ELF or raw, up to 1 GiB each.")
    ],
    as_json: Annotated[
        bool, typer.Option("--json", help="Write JSON Lines: one object a file.")
    ] = False,
    output: OutputOption = None,
) -> None:
    """Find kernel dispatch tables and instruction names in firmware images."""
    with opened_output(output) as out:
        for number, path in enumerate(files):
            with opened_image(path) as image:
                search, names = find_tables(image), find_names(image)
                if as_json:
                    out.json(_document(path, image, search, names))
                    continue
                if number:
                    out.line()
                _show(out, path, image, search, names)


def _show(out: Output, path: str, image: Image, search: Search, names: Names) -> None:
    out.line(f"{path}: {len(image.data)} bytes, {image.kind}", "bold")
    if image.trouble is not None:
        out.line(f"  searched as raw bytes: {image.trouble}", "yellow")
    for table in search.tables:
        out.line()
        place = "" if table.address is None else f", loaded at {table.address:#x}"
        like = "" if table.resembles is None else f", resembles the table of {table.resembles}"
        count = plural(len(table.records), "record")
        out.line(f"kernel table at {table.offset:#x}{place}: {count}{like}", "bold")
        out.table(
            [
                (
                    f"{record.offset:#x}",
                    str(record.spec),
                    f"{record.opcode:#04x}",
                    record.name,
                    f"{record.address:#010x}",
                    "-" if record.function_offset is None else f"{record.function_offset:#x}",
                )
                for record in table.records
            ],
            ("offset", "spec", "opcode", "instruction", "function", "in the file"),
            indent=2,
        )
    if not search.tables:
        out.line("no kernel table")
    if not search.is_complete:
        out.line(
            "note: too much looks like records; the rest was not searched for tables", "yellow"
        )
    if names.self_names:
        out.line()
        out.line("instruction names", "bold")
        out.table(
            [
                (
                    f"S: {name.name}",
                    str(name.count),
                    name.engine_class or "no rule for this number",
                    "-" if name.opcode is None else f"{name.opcode:#04x}",
                    name.instruction or "unknown",
                )
                for name in names.self_names
            ],
            ("string", "count", "engine class", "opcode", "instruction"),
            indent=2,
            right=(1,),
        )
    for message, number in names.kernel_messages.items():
        out.line(f"kernel message 'P%i: {message} : num_chans': {plural(number, 'time')}")
    for text in names.notes:
        out.line(f"note: {text}")


def _document(path: str, image: Image, search: Search, names: Names) -> dict[str, Any]:
    return {
        "file": path,
        "bytes": len(image.data),
        "kind": image.kind,
        "trouble": image.trouble,
        "tables_complete": search.is_complete,
        "tables": [
            {
                "offset": table.offset,
                "address": table.address,
                "bytes": table.size,
                "resembles": table.resembles,
                "records": [
                    {
                        "offset": record.offset,
                        "spec": record.spec,
                        "opcode": record.opcode,
                        "name": record.name,
                        "function": record.address,
                        "function_offset": record.function_offset,
                    }
                    for record in table.records
                ],
            }
            for table in search.tables
        ],
        "names": [
            {
                "name": name.name,
                "count": name.count,
                "engine_class": name.engine_class,
                "opcode": name.opcode,
                "instruction": name.instruction,
                "first_offset": name.first_offset,
            }
            for name in names.self_names
        ],
        "kernel_messages": dict(names.kernel_messages),
        "notes": list(names.notes),
    }
