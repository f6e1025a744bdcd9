"""The explain verb: everything that has a name has a page, drawn from the code's descriptions."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from tests.cli.conftest import Command

from lanewise.cli import explain as verb
from lanewise.formats import FORMATS
from lanewise.neuron import GENERATIONS, PROFILES, Profile
from lanewise.neuron.dtypes import dtype_names
from lanewise.neuron.instructions import BY_OPCODE
from lanewise.neuron.roster import roster

LISTS = ("instructions", "rules", "opcodes", "dtypes", "formats", "generations", "profile")


def _topics(lanewise: Command, *things: str) -> list[dict[str, Any]]:
    outcome = lanewise("explain", "--json", *things)
    assert outcome.status == 0, outcome.err
    return json.loads(outcome.out)["topics"]


def _rows(topic: dict[str, Any], title: str) -> list[dict[str, str]]:
    (section,) = [s for s in topic["sections"] if s["title"].startswith(title)]
    return section["rows"]


def test_everything_that_is_named_can_be_explained(lanewise: Command) -> None:
    names = [name for source in verb.SOURCES for name in source.names()]
    named = {
        *(kind.name for kind in BY_OPCODE.values()),
        *(entry.name for entry in roster().values()),
        *(rule.id for kind in BY_OPCODE.values() for rule in kind.rules),
        *(spec.name for spec in dataclasses.fields(Profile)),
        *FORMATS,
        *GENERATIONS,
        *PROFILES,
        *dtype_names().values(),
        *LISTS,
    }
    assert named <= set(names)
    outcome = lanewise("explain", *dict.fromkeys(names))
    assert (outcome.status, outcome.err) == (0, "")
    shown = _topics(lanewise, *dict.fromkeys(names))
    assert {(topic["kind"], topic["name"]) for topic in shown} >= {
        *(("rule", rule.id) for kind in BY_OPCODE.values() for rule in kind.rules),
        *(("dtype", name) for name in dtype_names().values()),
        *(("generation", name) for name in GENERATIONS),
    }


@pytest.mark.parametrize("kind", BY_OPCODE.values(), ids=lambda kind: kind.name)
def test_an_instruction_has_its_word_and_its_rules_in_order(kind: Any, lanewise: Command) -> None:
    topic = _topics(lanewise, kind.name)[0]
    assert topic["kind"] == "instruction"
    assert topic["summary"] == kind.summary
    assert [row["rule"] for row in _rows(topic, "legality rules")] == [r.id for r in kind.rules]
    assert [row["demands"] for row in _rows(topic, "legality rules")] == [
        rule.demand for rule in kind.rules
    ]
    top = [row["field"] for row in _rows(topic, "the word") if "." not in row["field"]]
    assert top == [name for name in kind.fields if name not in ("header", "events")]
    assert topic["text"].startswith(f"{kind.name}: ")
    # The same by class name (which may be a profile field's too) and by code.
    assert _topics(lanewise, kind.__name__)[0] == topic
    assert _topics(lanewise, f"0x{kind.opcode:X}") == [topic]


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("CopyPredicatedReduce", "SELECT_REDUCE"),
        ("MatchReplace", "MATCH_REPLACE8"),
        ("castpredicated", "CAST_PREDICATED"),
        ("cast-predicated", "CAST_PREDICATED"),
    ],
)
def test_firmware_names_are_known(alias: str, name: str, lanewise: Command) -> None:
    assert [topic["name"] for topic in _topics(lanewise, alias)] == [name]


def test_a_rule_has_its_place_in_every_instruction_that_has_it(lanewise: Command) -> None:
    (topic,) = _topics(lanewise, "bypass")
    found = {row["instruction"]: row["no."] for row in _rows(topic, "where it applies")}
    wanted = {
        kind.name: f"{position} of {len(kind.rules)}"
        for kind in BY_OPCODE.values()
        for position, rule in enumerate(kind.rules, start=1)
        if rule.id == "bypass"
    }
    assert found == wanted


def test_a_rule_of_some_generations_says_which(lanewise: Command) -> None:
    (topic,) = _topics(lanewise, "src-quadrant")
    assert {row["generations"] for row in _rows(topic, "where")} == {"mariana, maverick"}


def test_a_profile_field_has_its_choices_and_why_it_is_open(lanewise: Command) -> None:
    (topic,) = _topics(lanewise, "float_to_int")
    assert topic["facts"] == {"isa": "truncate", "hardware": "nearest"}
    assert [row["value"] for row in _rows(topic, "choices")] == ["truncate", "nearest"]
    (table,) = _topics(lanewise, "profile")
    rows = _rows(table, "fields")
    assert [row["field"] for row in rows] == [spec.name for spec in dataclasses.fields(Profile)]


def test_a_dtype_has_a_format_for_each_profile_that_differs(lanewise: Command) -> None:
    topic = _topics(lanewise, "FP8_EXP4")[0]
    titles = [section["title"] for section in topic["sections"]]
    assert titles == [
        "format E4M3 (isa)",
        "values of E4M3 (isa)",
        "format E4M3FN (isa with fp8_exp4=fn)",
        "values of E4M3FN (isa with fp8_exp4=fn)",
    ]
    values = {row["what"]: row["value"] for row in _rows(topic, "values of E4M3FN")}
    assert values["largest finite"] == "448"


def test_a_generation_differs_from_the_one_before(lanewise: Command) -> None:
    (topic,) = _topics(lanewise, "Trn2")
    assert topic["name"] == "cayman"
    changes = {row["what"]: row["names"] for row in _rows(topic, "against sunda")}
    assert "RANGE_SELECT" in changes["opcodes added"]


def test_an_opcode_without_a_model(lanewise: Command) -> None:
    by_code, by_name = _topics(lanewise, "0x01", "ldweights")
    assert by_code == by_name
    assert by_code["kind"] == "opcode"


@pytest.mark.parametrize("thing", LISTS)
def test_lists_are_complete(thing: str, lanewise: Command) -> None:
    sizes = {
        "instructions": len(BY_OPCODE),
        "rules": len({rule.id for kind in BY_OPCODE.values() for rule in kind.rules}),
        "opcodes": len(roster()),
        "dtypes": len(dtype_names()),
        "formats": len(FORMATS),
        "generations": len(GENERATIONS),
        "profile": len(dataclasses.fields(Profile)),
    }
    topic = _topics(lanewise, thing)[0]
    assert len(topic["sections"][0]["rows"]) == sizes[thing]
