"""Instructions, opcodes and legality rules of the NeuronCore."""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any, Final

from lanewise.cli.explaining.topic import Section, Topic, folded
from lanewise.neuron import GENERATIONS, Generation
from lanewise.neuron.instruction import Instruction
from lanewise.neuron.instructions import BY_OPCODE
from lanewise.neuron.legality import Rule
from lanewise.neuron.operands import Operand
from lanewise.neuron.roster import RosterEntry, roster
from lanewise.words import Coded, Part
from lanewise.words.bits import BitRange

_FIRMWARE_NAME: Final = re.compile(r"firmware name (\w+)")
_OPCODE: Final = re.compile(r"0x[0-9a-f]{1,2}", re.IGNORECASE)
_MOST_CODES: Final = 10


def names() -> Iterable[str]:
    """Names of rules, instructions (class and firmware names too) and opcodes, and of the lists."""
    yield from ("rules", "instructions", "opcodes")
    for kind in BY_OPCODE.values():
        yield from _names_of(kind)
    for entry in roster().values():
        yield from (entry.name, f"{entry.opcode:#04x}")
    yield from _rules()


def find(thing: str) -> list[Topic]:
    """The instruction, else the opcode, and the rule of that name; or one of the lists."""
    name = folded(thing)
    lists = {"rules": _rule_list, "instructions": _instruction_list, "opcodes": _opcode_list}
    if name in lists:
        return [lists[name]()]
    topics = [
        _instruction(kind)
        for kind in BY_OPCODE.values()
        if name in map(folded, _names_of(kind)) or _is_code(thing, kind.opcode)
    ]
    if not topics:
        topics = [
            _opcode(entry)
            for entry in roster().values()
            if name == folded(entry.name) or _is_code(thing, entry.opcode)
        ]
    topics += [_rule(rule) for rule in _rules() if folded(rule) == name]
    return topics


def _is_code(thing: str, code: int) -> bool:
    return _OPCODE.fullmatch(thing.strip()) is not None and int(thing, 16) == code


def _names_of(kind: type[Instruction]) -> tuple[str, ...]:
    return _names_by_opcode()[kind.opcode]


@functools.cache
def _names_by_opcode() -> dict[int, tuple[str, ...]]:
    return {opcode: tuple(_found_names(kind)) for opcode, kind in BY_OPCODE.items()}


def _found_names(kind: type[Instruction]) -> list[str]:
    found = [kind.name, kind.__name__]
    for document in _documents(kind):
        found += _FIRMWARE_NAME.findall(document)
    return list(dict.fromkeys(found))


def _documents(kind: type[Instruction]) -> list[str]:
    """The docstrings of the instruction's file and of the family file it builds on."""
    modules = dict.fromkeys(klass.__module__ for klass in kind.__mro__)
    return [
        inspect.cleandoc(sys.modules[module].__doc__ or "")
        for module in modules
        if module.startswith("lanewise.neuron.instructions.")
    ]


def _generation_names(generations: Iterable[Generation]) -> str:
    listed = [str(generation) for generation in generations]
    return "all" if len(listed) == len(GENERATIONS) else ", ".join(listed)


# Instructions.


def _instruction(kind: type[Instruction]) -> Topic:
    aliases = [name for name in _names_of(kind) if name != kind.name]
    facts = {
        "opcode": f"{kind.opcode:#04x}",
        "struct": kind.struct,
        "also called": ", ".join(aliases),
        "engines": f"{', '.join(kind.engines)} ({kind.engines[0]} unless named)"
        if len(kind.engines) > 1
        else kind.engines[0],
        "generations": _generation_names(kind.generations()),
    }
    sections = [
        Section("the word", ("where", "field", "kind", "default", "meaning"), list(_fields(kind))),
        Section("operands", ("operand", "access", "pattern", "type"), list(_operands(kind))),
        Section(
            "legality rules, in order",
            ("no.", "rule", "generations", "demands"),
            [
                (
                    str(position),
                    rule.id,
                    _generation_names(g for g in kind.generations() if rule.applies(g)),
                    rule.demand,
                )
                for position, rule in enumerate(kind.rules, start=1)
            ],
        ),
    ]
    if kind.examples:
        rows = [(example.title, example.generation, example.word) for example in kind.examples]
        sections.append(Section("examples", ("what", "generation", "word"), rows))
    text = "\n\n".join(_documents(kind))
    return Topic("instruction", kind.name, kind.summary, facts, text, sections)


def _fields(kind: type[Instruction]) -> Iterator[tuple[str, str, str, str, str]]:
    """The fields in the order of their bits; header and events by their own fields."""
    blank = kind()
    for name, field in kind.fields.items():
        if isinstance(field, Part) and not isinstance(field, Operand):
            low = field.ranges[0].low
            part = getattr(blank, name)
            for inner_name, inner in field.word_type.fields.items():
                runs = tuple(run.shifted(low) for run in inner.ranges)
                yield _field_row(runs, f"{name}.{inner_name}", inner, part)
        else:
            yield _field_row(field.ranges, name, field, blank)


def _field_row(
    runs: tuple[BitRange, ...], path: str, field: Any, word: Any
) -> tuple[str, str, str, str, str]:
    where = ", ".join(run.byte_text for run in runs)
    meaning = field.doc
    default = "-"
    if not isinstance(field, Part):
        raw = field.extract(int(word))
        default = f"{raw:#x}" if field.width > 8 and raw > 9 else str(raw)
        said = field.meaning(raw)
        if said is not None and raw:
            default += f" ({said})"
    if isinstance(field, Coded) and len(field.codes) <= _MOST_CODES:
        meaning += f" [{', '.join(f'{code} {text}' for code, text in field.codes.items())}]"
    return where, path, field.kind, default, meaning


def _operands(kind: type[Instruction]) -> Iterator[tuple[str, str, str, str]]:
    for name, operand in kind.operands().items():
        pattern = (operand.word_type.__doc__ or "").rstrip(".")
        if operand.indirect_type is not None:
            indirect = (operand.indirect_type.__doc__ or "").partition(",")[0].rstrip(".")
            pattern += f", or {indirect} where the generation has index lists"
        if operand.sbuf_only:
            pattern += ", SBUF only"
        access = "written" if operand.is_destination else "read"
        yield name, access, pattern, str(operand.dtype)
    for name, scalar in kind.immediates().items():
        yield name, "read", f"inline, pointer or register, by {scalar.source}", str(scalar.dtype)


def _instruction_list() -> Topic:
    rows = [
        (
            f"{kind.opcode:#04x}",
            kind.name,
            kind.struct,
            ", ".join(kind.engines),
            _generation_names(kind.generations()),
            kind.summary,
        )
        for kind in BY_OPCODE.values()
    ]
    header = ("opcode", "instruction", "struct", "engines", "generations", "what it does")
    section = Section("modelled instructions", header, rows)
    return Topic("list", "instructions", "what is modelled", {}, "", [section])


# Opcodes that are not modelled, and the whole roster.


def _opcode(entry: RosterEntry) -> Topic:
    facts = {
        "opcode": f"{entry.opcode:#04x}",
        "struct": entry.struct or "unknown",
        "engines": ", ".join(entry.engines) or "unknown",
        "generations": ", ".join(entry.generations),
    }
    return Topic(
        "opcode", entry.name, "assigned, not modelled: its words decode and do not run", facts
    )


def _opcode_list() -> Topic:
    rows = [
        (
            f"{entry.opcode:#04x}",
            entry.name,
            entry.struct,
            ", ".join(entry.engines),
            "all" if len(entry.generations) == len(GENERATIONS) else ", ".join(entry.generations),
            "yes" if entry.opcode in BY_OPCODE else "",
        )
        for entry in sorted(roster().values(), key=lambda entry: entry.opcode)
    ]
    header = ("opcode", "name", "struct", "engines", "generations", "modelled")
    return Topic("list", "opcodes", "what is assigned", {}, "", [Section("roster", header, rows)])


# Rules.


@functools.cache
def _rules() -> dict[str, list[tuple[type[Instruction], int, Rule]]]:
    """Rules by id, with the instructions that have them and the position there."""
    found: dict[str, list[tuple[type[Instruction], int, Rule]]] = {}
    for kind in BY_OPCODE.values():
        for position, rule in enumerate(kind.rules, start=1):
            found.setdefault(rule.id, []).append((kind, position, rule))
    return found


def _rule(name: str) -> Topic:
    uses = _rules()[name]
    demands = list(dict.fromkeys(rule.demand for _, _, rule in uses))
    rows = [
        (
            kind.name,
            f"{position} of {len(kind.rules)}",
            _generation_names(g for g in kind.generations() if rule.applies(g)),
            rule.demand,
        )
        for kind, position, rule in uses
    ]
    summary = demands[0] if len(demands) == 1 else f"{len(demands)} demands, by instruction"
    section = Section("where it applies", ("instruction", "no.", "generations", "demands"), rows)
    return Topic("rule", name, summary, {}, "", [section])


def _rule_list() -> Topic:
    rows = []
    for name, uses in _rules().items():
        demands = list(dict.fromkeys(rule.demand for _, _, rule in uses))
        shown = demands[0] + (f" (and {len(demands) - 1} more)" if len(demands) > 1 else "")
        rows.append((name, str(len(uses)), shown))
    section = Section("legality rules", ("rule", "instructions", "demands"), rows)
    return Topic("list", "rules", "what a legal word must satisfy", {}, "", [section])
