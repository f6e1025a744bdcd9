"""What changed between two generations: opcodes, types, patterns, rules, memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from lanewise.neuron.generation import Generation
from lanewise.view.isa.database import (
    AluEntry,
    Database,
    DtypeEntry,
    GenerationEntry,
    InstructionEntry,
    database,
)

Kind = Literal["added", "removed", "changed"]


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One difference. ``before`` and ``after`` are empty where the thing is not there at all."""

    topic: str
    kind: Kind
    name: str
    before: str = ""
    after: str = ""


def differences(old: Generation, new: Generation) -> list[Change]:
    """Everything that is not the same in two generations, by topic."""
    data = database()
    return [
        *_memory(data, old, new),
        *_patterns(data, old, new),
        *_opcodes(data, old, new),
        *_coded("dtype", data.dtypes, old, new),
        *_coded("ALU operation", data.alu_operations, old, new),
        *_rules(data.instructions, old, new),
    ]


_SIZES = {
    "sbuf_bytes": "SBUF bytes a partition",
    "sbuf_stride_bytes": "SBUF distance of partitions",
    "psum_bytes": "PSUM bytes a partition",
    "psum_banks": "PSUM banks",
    "partitions": "partitions",
}


def _memory(data: Database, old: Generation, new: Generation) -> Iterable[Change]:
    before, after = (_named(data.generations, g.name) for g in (old, new))
    for field, name in _SIZES.items():
        first, second = getattr(before, field), getattr(after, field)
        if first != second:
            yield Change(
                topic="memory", kind="changed", name=name, before=_size(first), after=_size(second)
            )


def _size(value: int) -> str:
    if value >= 1024 and value % 1024 == 0:
        return f"{value:#x} ({value // 1024} KiB)"
    return str(value) if value else "none"


def _patterns(data: Database, old: Generation, new: Generation) -> Iterable[Change]:
    if old.has_indirect_patterns != new.has_indirect_patterns:
        users = [
            f"{entry.name} {operand.name}"
            for entry in data.instructions
            for operand in entry.operands
            if operand.allows_indirect
        ]
        yield Change(
            topic="patterns",
            kind="added" if new.has_indirect_patterns else "removed",
            name=f"indirect patterns in {', '.join(users)}",
        )
    if old.shape_register_waives_key_count != new.shape_register_waives_key_count:
        says = {True: "waives key-count", False: "does not waive key-count"}
        yield Change(
            topic="patterns",
            kind="changed",
            name="a shape in a register",
            before=says[old.shape_register_waives_key_count],
            after=says[new.shape_register_waives_key_count],
        )


def _opcodes(data: Database, old: Generation, new: Generation) -> Iterable[Change]:
    for entry in data.opcodes:
        modelled = ", modelled" if entry.modelled else ""
        layout = f" ({entry.struct}{modelled})" if entry.struct else modelled
        kind = _kind(entry.generations, old, new)
        if kind is not None:
            name = f"{entry.code:#04x} {entry.name}{layout}"
            yield Change(topic="opcode", kind=kind, name=name)


def _coded(
    topic: str, entries: Sequence[DtypeEntry | AluEntry], old: Generation, new: Generation
) -> Iterable[Change]:
    for entry in entries:
        kind = _kind(entry.generations, old, new)
        if kind is not None:
            yield Change(topic=topic, kind=kind, name=f"{entry.code:#04x} {entry.name}")


def _kind(generations: Sequence[str], old: Generation, new: Generation) -> Kind | None:
    had, has = old.name in generations, new.name in generations
    if had == has:
        return None
    return "added" if has else "removed"


def _rules(
    instructions: Sequence[InstructionEntry], old: Generation, new: Generation
) -> Iterable[Change]:
    for entry in instructions:
        if old.name not in entry.generations or new.name not in entry.generations:
            continue
        for rule in entry.rules:
            kind = _kind(rule.generations, old, new)
            if kind is not None:
                yield Change(topic="rule", kind=kind, name=f"{entry.name} {rule.id}: {rule.demand}")


def _named(entries: Sequence[GenerationEntry], name: str) -> GenerationEntry:
    return next(entry for entry in entries if entry.name == name)
