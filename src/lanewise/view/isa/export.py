"""The database in forms that other tools read: JSON, CSV tables, Markdown, an HTML page."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from types import MappingProxyType

import msgspec

from lanewise.neuron.instructions import BY_OPCODE
from lanewise.view.isa.bit_table import svg_table, text_table
from lanewise.view.isa.database import Database, FieldEntry, InstructionEntry, database
from lanewise.words import Array, Part, Word

Rows = list[tuple[str, ...]]


def json_text(document: object) -> str:
    """A document as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(document), indent=1).decode() + "\n"


# Tables.


def _opcodes(data: Database) -> Iterable[Sequence[object]]:
    yield ("code", "name", "struct", "engines", "generations", "modelled")
    for e in data.opcodes:
        yield (f"{e.code:#04x}", e.name, e.struct, _all(e.engines), _all(e.generations), e.modelled)


def _fields(data: Database) -> Iterable[Sequence[object]]:
    yield ("instruction", "opcode", "field", "bits", "kind", "default", "doc")
    for i in data.instructions:
        for f in i.fields:
            yield (i.name, f"{i.opcode:#04x}", f.path, _bits(f), f.kind, f.default, f.doc)


def _rules(data: Database) -> Iterable[Sequence[object]]:
    yield ("instruction", "opcode", "position", "rule", "generations", "demand")
    for i in data.instructions:
        for position, rule in enumerate(i.rules, start=1):
            generations = _all(rule.generations)
            yield (i.name, f"{i.opcode:#04x}", position, rule.id, generations, rule.demand)


def _operands(data: Database) -> Iterable[Sequence[object]]:
    yield ("instruction", "opcode", "operand", "access", "first_byte", "bytes", "dtypes", "doc")
    for i in data.instructions:
        for o in i.operands:
            place = (o.first_byte, o.bytes)
            yield (i.name, f"{i.opcode:#04x}", o.name, o.access, *place, _all(o.dtypes), o.doc)
        for s in i.scalars:
            place = (s.first_byte, 4)
            yield (i.name, f"{i.opcode:#04x}", s.name, "scalar", *place, _all(s.dtypes), s.doc)


def _dtypes(data: Database) -> Iterable[Sequence[object]]:
    yield ("code", "name", "size", "generations")
    for e in data.dtypes:
        yield (f"{e.code:#04x}", e.name, "" if e.size is None else e.size, _all(e.generations))


def _alu_operations(data: Database) -> Iterable[Sequence[object]]:
    yield ("code", "name", "generations")
    for e in data.alu_operations:
        yield (f"{e.code:#04x}", e.name, _all(e.generations))


def _generations(data: Database) -> Iterable[Sequence[object]]:
    names = msgspec.structs.fields(type(data.generations[0]))
    yield [field.name for field in names]
    for e in data.generations:
        yield [getattr(e, field.name) for field in names]


def _all(names: Iterable[str]) -> str:
    return "|".join(names)


def _bits(field: FieldEntry) -> str:
    return ", ".join(f"{high}..{low}" if high > low else str(low) for low, high in field.bits)


#: The tables of a CSV export by name.
TABLES: Mapping[str, Callable[[Database], Iterable[Sequence[object]]]] = MappingProxyType(
    {
        "opcodes": _opcodes,
        "fields": _fields,
        "operands": _operands,
        "rules": _rules,
        "dtypes": _dtypes,
        "alu": _alu_operations,
        "generations": _generations,
    }
)


def table(name: str) -> Rows:
    """A table of the database as texts, its header first."""
    return [tuple(map(_text, row)) for row in TABLES[name](database())]


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def csv_text(name: str) -> str:
    """A table as CSV."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(table(name))
    return stream.getvalue()


# Pages.


def markdown_text() -> str:
    """All instructions and tables as one Markdown document."""
    parts = ["# NeuronCore instructions", ""]
    for entry in database().instructions:
        parts += [*markdown_page(entry), ""]
    for name in ("generations", "dtypes", "alu", "opcodes"):
        parts += [f"## Table: {name}", "", *_markdown_table(table(name)), ""]
    return "\n".join(parts)


def markdown_page(entry: InstructionEntry) -> list[str]:
    """One instruction in Markdown."""
    lines = [f"## {entry.opcode:#04x} {entry.name}", "", entry.doc, ""]
    lines += ["```", *text_table(BY_OPCODE[entry.opcode]), "```", ""]
    for title, rows in sections(entry):
        lines += [f"### {title}", "", *_markdown_table(rows), ""]
    lines += ["### Assembly", "", "```", entry.syntax, entry.example.text, "```"]
    return lines


def _markdown_table(rows: Rows) -> list[str]:
    cleaned = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    lines = ["| " + " | ".join(row) + " |" for row in cleaned]
    lines.insert(1, "|" + "---|" * len(rows[0]))
    return lines


def sections(entry: InstructionEntry) -> list[tuple[str, Rows]]:
    """The tables of an instruction: facts, operands, fields, rules; headers first."""
    facts: Rows = [
        ("property", "value"),
        ("opcode", f"{entry.opcode:#04x}"),
        ("struct", entry.struct),
        ("engines", ", ".join(entry.engines) + f" ({entry.engines[0]} unless named)"),
        ("generations", ", ".join(entry.generations)),
    ]
    operands: Rows = [("operand", "access", "bytes", "dimensions", "types", "meaning")]
    for o in entry.operands:
        last = o.first_byte + o.bytes - 1
        extra = " or an index list" if o.allows_indirect else ""
        extra += ", SBUF only" if o.sbuf_only else ""
        dimensions = f"{o.dimensions}{extra}"
        operands.append(
            (o.name, o.access, f"{o.first_byte}..{last}", dimensions, _listed(o.dtypes), o.doc)
        )
    for s in entry.scalars:
        place = f"{s.first_byte}..{s.first_byte + 3}"
        operands.append((s.name, "scalar", place, "-", _listed(s.dtypes), s.doc))
    fields: Rows = [("bits", "field", "kind", "default", "meaning")]
    kind = BY_OPCODE[entry.opcode]
    fields += [(_bits(f), f.path, f.kind, _default(kind, f), f.doc) for f in entry.fields]
    rules: Rows = [("no.", "rule", "generations", "demands")]
    for position, rule in enumerate(entry.rules, start=1):
        where = "all" if rule.generations == entry.generations else ", ".join(rule.generations)
        rules.append((str(position), rule.id, where, rule.demand))
    return [
        ("Facts", facts),
        ("Operands", operands),
        ("Fields", fields),
        ("Rules, in order", rules),
    ]


def _default(kind: type[Word], entry: FieldEntry) -> str:
    """A field's default for people: an array's as its elements."""
    *parts, name = entry.path.split(".")
    for part in parts:
        holder = kind.fields[part]
        assert isinstance(holder, Part)
        kind = holder.word_type
    field = kind.fields[name]
    if isinstance(field, Array):
        return ",".join(map(str, field.from_raw(entry.default)))
    return str(entry.default)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)


_STYLE = """body{font-family:system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem;
color:#111827;background:#fff}table{border-collapse:collapse;margin:1rem 0}
td,th{border:1px solid #d1d5db;padding:.2rem .5rem;text-align:left;vertical-align:top;
font-size:.9rem}pre{background:#f3f4f6;padding:.7rem;overflow-x:auto}svg{max-width:100%;height:auto}
"""


def html_page(entry: InstructionEntry) -> str:
    """One instruction as a page that needs nothing else."""
    parts = [
        "<!doctype html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{escape(entry.name)}</title>',
        f"<style>{_STYLE}</style></head><body>",
        f"<h1>{entry.opcode:#04x} {escape(entry.name)}</h1>",
        *(f"<p>{escape(text)}</p>" for text in entry.doc.split("\n\n")),
        svg_table(BY_OPCODE[entry.opcode]),
    ]
    for title, (header, *body) in sections(entry):
        parts.append(f"<h2>{escape(title)}</h2><table><tr>")
        parts += [f"<th>{escape(cell)}</th>" for cell in header]
        parts.append("</tr>")
        for row in body:
            parts.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>")
        parts.append("</table>")
    parts += [
        f"<h2>Assembly</h2><pre>{escape(entry.syntax)}\n{escape(entry.example.text)}</pre>",
        "</body></html>",
        "",
    ]
    return "\n".join(parts)
