"""The roster: every code each generation assigns, modelled or not.

Opcodes and ALU codes never change meaning between generations; they are only added or dropped.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from lanewise.neuron.generation import Generation
from lanewise.neuron.tables import rows

INVALID_OPCODE = 0xFF


@dataclass(frozen=True, slots=True)
class RosterEntry:
    """One assigned opcode.

    ``struct`` is the operand layout (empty where none is known), ``engines`` who runs it as the
    tables say, ``generations`` the names of those that assign it.
    """

    opcode: int
    name: str
    struct: str
    engines: tuple[str, ...]
    generations: tuple[str, ...]


@functools.cache
def roster() -> Mapping[int, RosterEntry]:
    """All opcodes of all generations, by code."""
    entries = (
        RosterEntry(
            opcode=int(row["code"], 16),
            name=row["name"],
            struct=row["struct"],
            engines=tuple(filter(None, row["engines"].split("|"))),
            generations=tuple(row["generations"].split("|")),
        )
        for row in rows("opcodes")
    )
    return MappingProxyType({entry.opcode: entry for entry in entries})


@functools.cache
def opcodes_of(generation: Generation) -> Mapping[int, RosterEntry]:
    """The opcodes that are words of ``generation`` (the code INVALID is in none)."""
    return MappingProxyType(
        {
            code: entry
            for code, entry in roster().items()
            if generation.name in entry.generations and code != INVALID_OPCODE
        }
    )


@functools.cache
def opcode_names() -> Mapping[int, str]:
    """Opcode names by code, over all generations."""
    return MappingProxyType({code: entry.name for code, entry in roster().items()})


@functools.cache
def alu_codes(generation: Generation | None = None) -> Mapping[int, str]:
    """ALU codes by number: those of a generation, or of all."""
    return MappingProxyType(
        {
            int(row["code"], 16): row["name"]
            for row in rows("aluops")
            if generation is None or generation.name in row["generations"].split("|")
        }
    )
