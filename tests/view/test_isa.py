"""The instruction set as data: complete, equal to the tables, and valid under its own schema."""

from __future__ import annotations

import csv
import io
import json
import xml.etree.ElementTree as ET
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest

from lanewise.neuron import GENERATIONS, check, find_generation
from lanewise.neuron.instructions import BY_OPCODE
from lanewise.neuron.roster import roster
from lanewise.text.neuron import assemble
from lanewise.view.isa.bit_table import cells, svg_table, text_table
from lanewise.view.isa.database import Database, InstructionEntry, database, json_schema
from lanewise.view.isa.difference import differences
from lanewise.view.isa.export import (
    TABLES,
    csv_text,
    html_page,
    json_text,
    markdown_text,
    table,
)

ENTRIES = database().instructions
ids = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
SCHEMA_FILE = Path(__file__).parents[2] / "docs" / "isa.schema.json"


@ids
def test_fields_tile_the_word(entry: InstructionEntry) -> None:
    covered: Counter[int] = Counter()
    for field in entry.fields:
        for low, high in field.bits:
            covered.update(range(low, high + 1))
    assert set(covered) == set(range(512))
    assert set(covered.values()) == {1}


@ids
def test_examples_are_legal_and_assemble(entry: InstructionEntry) -> None:
    data = bytes.fromhex(entry.example.hex)
    assert check(data, entry.example.generation) == ()
    assert assemble(entry.example.text, entry.example.generation).data == data


@ids
def test_types_are_those_the_rules_let_pass(entry: InstructionEntry) -> None:
    for operand in entry.operands:
        assert operand.dtypes
        if operand.access == "read":
            assert "FP32R" not in operand.dtypes


@ids
def test_cells_tile_the_word(entry: InstructionEntry) -> None:
    covered: Counter[int] = Counter()
    for cell in cells(BY_OPCODE[entry.opcode]):
        begin = 64 * cell.row + cell.low
        covered.update(range(begin, begin + cell.width))
        assert cell.low + cell.width <= 64
    assert set(covered) == set(range(512))
    assert set(covered.values()) == {1}


@ids
def test_text_tables_are_rectangles(entry: InstructionEntry) -> None:
    lines = text_table(BY_OPCODE[entry.opcode])
    assert {len(line) for line in lines[1:]} == {86}
    assert len(lines) == 2 + 2 * 8


@ids
def test_drawings_are_xml(entry: InstructionEntry) -> None:
    root = ET.fromstring(svg_table(BY_OPCODE[entry.opcode]))
    rectangles = root.iter("{http://www.w3.org/2000/svg}rect")
    assert len(list(rectangles)) == len(cells(BY_OPCODE[entry.opcode]))


class _Closed(HTMLParser):
    """Notes elements that are opened and closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: Counter[str] = Counter()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open[tag] += tag not in ("meta", "br")

    def handle_endtag(self, tag: str) -> None:
        self.open[tag] -= 1


@ids
def test_pages_need_nothing_from_elsewhere(entry: InstructionEntry) -> None:
    page = html_page(entry)
    parser = _Closed()
    parser.feed(page)
    assert set(parser.open.values()) == {0}
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
    for rule in entry.rules:
        assert rule.id in page


def test_the_export_is_valid_under_its_schema() -> None:
    text = json_text(database())
    assert msgspec.json.decode(text, type=Database, strict=True) == database()
    schema = json_schema()
    assert schema["$ref"] == "#/$defs/Database"
    assert set(json.loads(text)) == set(schema["$defs"]["Database"]["properties"])


def test_the_schema_in_the_documents_is_current() -> None:
    assert SCHEMA_FILE.read_text(encoding="utf-8") == json_text(json_schema())


def test_opcodes_are_the_roster() -> None:
    assert {e.code: e.name for e in database().opcodes} == {
        code: entry.name for code, entry in roster().items()
    }
    assert {e.code for e in database().opcodes if e.modelled} == set(BY_OPCODE)


@pytest.mark.parametrize("name", TABLES)
def test_csv_tables_are_rectangles(name: str) -> None:
    rows = list(csv.reader(io.StringIO(csv_text(name))))
    assert len({len(row) for row in rows}) == 1
    assert [tuple(row) for row in rows] == table(name)
    assert len(rows) > 4


def test_markdown_tables_have_even_rows() -> None:
    for block in markdown_text().split("\n\n"):
        if block.startswith("| "):
            columns = {line.replace("\\|", "").count("|") for line in block.splitlines()}
            assert len(columns) == 1, block


def _changes(old: str, new: str) -> set[tuple[str, str, str]]:
    found = differences(find_generation(old), find_generation(new))
    return {(change.topic, change.kind, change.name.split(" (")[0]) for change in found}


def test_what_changed_from_the_first_to_the_third() -> None:
    changes = _changes("sunda", "mariana")
    assert ("opcode", "added", "0xbc RANGE_SELECT") in changes
    assert ("opcode", "removed", "0x8c TENSOR_REDUCE_ADD_BF16") in changes
    assert ("dtype", "added", "0x10 FP4_EXP2") in changes
    assert ("memory", "changed", "SBUF bytes a partition") in changes
    assert ("patterns", "changed", "a shape in a register") in changes
    rules = {name.split(":")[0] for topic, kind, name in changes if topic == "rule"}
    assert rules == {
        "COPY src-quadrant",
        "COPY dst-quadrant",
        "CAST src-quadrant",
        "CAST dst-quadrant",
        "COPY_PREDICATED_SCALAR predicate-quadrant",
        "COPY_PREDICATED_SCALAR dst-quadrant",
    }


@pytest.mark.parametrize("old", GENERATIONS)
@pytest.mark.parametrize("new", GENERATIONS)
def test_differences_turn_around(old: str, new: str) -> None:
    turned = {"added": "removed", "removed": "added", "changed": "changed"}
    assert {(t, turned[k], n) for t, k, n in _changes(old, new)} == _changes(new, old)
    assert bool(_changes(old, new)) == (old != new)


def test_the_number_of_opcodes_agrees() -> None:
    for old, new in (("sunda", "cayman"), ("cayman", "mariana"), ("mariana", "maverick")):
        kinds = Counter(kind for topic, kind, _ in _changes(old, new) if topic == "opcode")
        sizes = [
            sum(name in entry.generations for entry in roster().values()) for name in (old, new)
        ]
        assert sizes[0] + kinds["added"] - kinds["removed"] == sizes[1]


@ids
def test_defaults_of_arrays_are_shown_as_elements(entry: InstructionEntry) -> None:
    text = markdown_text()
    assert "281479271743489" not in html_page(entry) + text
    assert "1,1,1,1" in text
