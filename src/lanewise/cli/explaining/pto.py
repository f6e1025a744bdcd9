"""The PTO machine: instructions, words, checks, types, profile, revisions and evidence.

Names that both machines have, and the lists, are answered after ``pto`` only, as in
``lanewise explain pto profile``.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable
from typing import Any, Final

from lanewise.cli.explaining.topic import Section, Topic, folded
from lanewise.pto.assembly import assemble, print_word
from lanewise.pto.datatypes import CUBE_TYPES, DTYPE_CODES, ROW_MAJOR_TYPES, DataType
from lanewise.pto.evidence import EVIDENCE, EVIDENCE_FILE
from lanewise.pto.instructions import ALL, Operation
from lanewise.pto.profile import OpenPoint, open_points
from lanewise.pto.revisions import DIFFERENCES
from lanewise.pto.rules import RULES, Rule
from lanewise.pto.words import FORMS, BundleWord
from lanewise.words import Coded

NAME: Final = "pto"
_OWN_LISTS: Final = ("revisions", "evidence")
_SHARED_LISTS: Final = ("instructions", "rules", "words", "dtypes", "profile")


def names() -> Iterable[str]:
    """Names that no other machine has."""
    yield NAME
    yield from _OWN_LISTS
    yield from (op.name for op in ALL)
    yield from (rule.id for rule in RULES)
    yield from (point.name for point in open_points())
    yield from {form.form: None for form in FORMS}


def find(thing: str) -> list[Topic]:
    """The topics of a name that no other machine has."""
    name = folded(thing)
    if name == NAME:
        return [_overview()]
    lists: dict[str, Callable[[], Topic]] = {"revisions": _revisions, "evidence": _evidence}
    if name in lists:
        return [lists[name]()]
    topics = [_instruction(op) for op in ALL if folded(op.name) == name]
    topics += [_rule(rule) for rule in RULES if folded(rule.id) == name]
    topics += [_field(point) for point in open_points() if folded(point.name) == name]
    return topics + [_word(form) for form in FORMS if folded(form.form) == name]


class Alone:
    """Answers after ``pto``: everything of this machine, the lists and types included."""

    @staticmethod
    def names() -> Iterable[str]:
        """Every name of this machine."""
        yield from names()
        yield from _SHARED_LISTS
        yield from DTYPE_CODES.values()

    @staticmethod
    def find(thing: str) -> list[Topic]:
        """The topics of a name of this machine."""
        lists: dict[str, Callable[[], Topic]] = {
            "instructions": _instructions,
            "rules": _rules,
            "words": _words,
            "dtypes": _dtypes,
            "profile": _profile,
        }
        name = folded(thing)
        if name in lists:
            return [lists[name]()]
        return find(thing) + [_dtype(t) for t in DataType if folded(t.name) == name]


def _overview() -> Topic:
    rows = [(op.name, _summary(op)) for op in ALL]
    facts = {
        "lists": ", ".join(f"pto {name}" for name in (*_OWN_LISTS, *_SHARED_LISTS)),
        "processing elements": "4, each with 24 GPRs, hands T, U, M and N of 16 tiles, and flags",
    }
    section = Section("instructions", ("name", "what it does"), rows)
    return Topic("machine", NAME, "the PTO tile machine", facts, "", [section])


# Instructions and words.


def _page(op: Operation) -> str:
    return inspect.cleandoc(sys.modules[type(op).__module__].__doc__ or "")


def _summary(op: Operation) -> str:
    first = _page(op).splitlines()[0]
    return first.partition(": ")[2].rstrip(".")


def _instruction(op: Operation) -> Topic:
    facts = {
        "word": f"BSTART.{op.unit} {op.name}",
        "selector": f"{op.selector:#04x} (mode {op.mode}, function {op.function})",
    }
    forms = [(str(form.carrier), str(form)) for form in op.forms]
    example = op.examples[0]
    words = [(f"{int(word):0{word.width // 4}x}", print_word(word)) for word in assemble(example)]
    sections = [
        Section("forms", ("carrier", "records"), forms),
        Section(f"example: {example}", ("word", "command"), words),
    ]
    return Topic(
        "instruction", op.name, _summary(op), facts, _page(op).partition("\n\n")[2], sections
    )


def _instructions() -> Topic:
    rows = [(op.name, f"{op.selector:#04x}", f"BSTART.{op.unit}", _summary(op)) for op in ALL]
    header = ("name", "selector", "written", "what it does")
    section = Section("instructions", header, rows)
    return Topic("list", "pto instructions", "operations of the PTO machine", {}, "", [section])


def _word(form: type[BundleWord]) -> Topic:
    rows = []
    for field in form.fields.values():
        codes = dict(field.codes) if isinstance(field, Coded) else {}
        shown = ", ".join(f"{code} {name}" for code, name in codes.items())
        default = "" if not field.is_filler else f"{field.default:#x}"
        rows.append((field.place, field.name, default, field.doc, shown))
    header = ("bits", "field", "fixed", "meaning", "codes")
    sources = f" ({form.__name__})" if form.form == "B.IOT" else ""
    text = inspect.cleandoc(form.__doc__ or "").splitlines()[0]
    summary = text.partition(": ")[2] or text
    facts = {"width": f"{form.width} bits"}
    return Topic(
        "word", f"{form.form}{sources}", summary, facts, "", [Section("fields", header, rows)]
    )


def _words() -> Topic:
    rows = []
    for form in FORMS:
        fixed = [field for field in form.fields.values() if field.is_filler]
        mask = sum(field.mask for field in fixed)
        digits = form.width // 4
        named = [name for name, field in form.fields.items() if not field.is_filler]
        match = int(form()) & mask
        rows.append((form.form, f"{mask:0{digits}x}", f"{match:0{digits}x}", ", ".join(named)))
    section = Section("words", ("form", "mask", "match", "fields"), rows)
    return Topic("list", "pto words", "the words of a bundle", {}, "", [section])


# Checks, types, profile.


def _rule(rule: Rule) -> Topic:
    facts = {"fault": str(rule.fault), "step": str(rule.step)}
    return Topic("check", rule.id, rule.text, facts)


def _rules() -> Topic:
    rows = [(str(rule.step), str(rule.fault), rule.id, rule.text) for rule in RULES]
    section = Section("checks", ("step", "fault", "id", "what must hold"), rows)
    return Topic("list", "pto rules", "every check, in order of steps", {}, "", [section])


def _dtype(dtype: DataType) -> Topic:
    facts = {
        "code": str(int(dtype)),
        "bits": str(dtype.width),
        "format": dtype.format.name,
        "compare and select": ", ".join(_uses(dtype)) or "no",
    }
    return Topic("PTO data type", dtype.name, f"elements of {dtype.width} bits", facts)


def _uses(dtype: DataType) -> list[str]:
    return [
        name
        for name, types in (("row-major", ROW_MAJOR_TYPES), ("CUBE", CUBE_TYPES))
        if dtype in types
    ]


def _dtypes() -> Topic:
    rows = [
        (str(int(t)), t.name, str(t.width), t.format.name, ", ".join(_uses(t))) for t in DataType
    ]
    header = ("code", "name", "bits", "format", "compare and select")
    section = Section("data types", header, rows)
    return Topic("list", "pto dtypes", "data types of tiles", {}, "", [section])


def _field(point: OpenPoint) -> Topic:
    rows = [(str(choice), text) for choice, text in point.choices.items()]
    facts: dict[str, Any] = {"default": str(point.default)}
    section = Section("choices", ("value", "meaning"), rows)
    return Topic("PTO profile field", point.name, point.why, facts, "", [section])


def _profile() -> Topic:
    rows = [
        (point.name, str(point.default), ", ".join(map(str, point.choices)), point.why)
        for point in open_points()
    ]
    header = ("field", "default", "choices", "why it is open")
    facts = {"change a field": "--set FIELD=VALUE"}
    section = Section("fields", header, rows)
    return Topic("profile", "pto", "every open point, decided by name", facts, "", [section])


# Revisions and evidence.


def _revisions() -> Topic:
    rows = [(d.topic, d.proposal, d.frozen) for d in DIFFERENCES]
    section = Section("differences", ("topic", "proposal", "frozen"), rows)
    summary = "the request's instructions, and those that were published"
    return Topic("list", "pto revisions", summary, {}, "", [section])


def _evidence() -> Topic:
    rows = [(item.id, item.state, item.item, item.test) for item in EVIDENCE]
    section = Section("items", ("id", "state", "what is shown", "test"), rows)
    facts = {"run them": f"python -m pytest {EVIDENCE_FILE}"}
    return Topic("list", "pto evidence", "what the request wants shown", facts, "", [section])
