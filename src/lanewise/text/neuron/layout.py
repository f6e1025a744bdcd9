"""How an instruction is written: what its fields are called and which of them go together.

Derived from the instruction class alone. An access pattern is written with the type of its
elements (``src=fp32 sbuf[p0, 0x100; 4]``), a scalar with its type and where it is
(``scalar=bf16 @reg[r3]``); every other field is ``name=value``, where the name is the last part of
the field's path in the word, or the whole path where two fields end alike.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from lanewise.neuron.instruction import Instruction
from lanewise.neuron.operands import Immediate, Operand
from lanewise.words import BitRange, Coded, Field, Part, Word

#: Short names of fields that every instruction has.
_ALIASES = {"num_active_channels": "channels"}
_UNWRITTEN = "header.opcode"

# Codes have meanings for people; these signs in them become letters in a name.
_SIGNS = {
    "==": " eq ",
    "<=": " le ",
    ">=": " ge ",
    "+=": " add ",
    "-=": " subtract ",
    "<": " lt ",
    ">": " gt ",
    "=": " set ",
    "+": " add ",
    "- ": " subtract ",
}


def identifier(meaning: str) -> str:
    """The name under which a code with this meaning is written: lower case, words joined."""
    for sign, letters in _SIGNS.items():
        meaning = meaning.replace(sign, letters)
    return re.sub(r"[^a-z0-9]+", "_", meaning.casefold()).strip("_")


@dataclass(frozen=True, slots=True)
class FieldArgument:
    """A field written as ``name=value``; ``low`` is where its word starts in the instruction.

    ``names`` are those of its codes and ``codes`` the codes of those names.
    """

    name: str
    path: str
    field: Field[Any]
    low: int
    default: int
    names: Mapping[int, str]
    codes: Mapping[str, int]

    def extract(self, word: int) -> int:
        """The field's bits in an instruction word."""
        return self.field.extract(word >> self.low)

    def insert(self, word: int, raw: int) -> int:
        """The instruction word with the field's bits replaced."""
        return word & ~(self.field.mask << self.low) | self.field.insert(0, raw) << self.low

    @property
    def ranges(self) -> tuple[BitRange, ...]:
        """The field's bits in the instruction word."""
        return tuple(run.shifted(self.low) for run in self.field.ranges)


@dataclass(frozen=True, slots=True)
class OperandArgument:
    """An access pattern, with the field of its type (None where the type is fixed)."""

    name: str
    field: Operand
    dtype: FieldArgument | None


@dataclass(frozen=True, slots=True)
class ImmediateArgument:
    """A scalar with the field that tells where it is and, where there is one, that of its type."""

    name: str
    field: Immediate
    source: FieldArgument
    dtype: FieldArgument | None


Argument = FieldArgument | OperandArgument | ImmediateArgument


@dataclass(frozen=True, slots=True)
class Layout:
    """All arguments of an instruction in the order they are printed, and every name they have."""

    instruction: type[Instruction]
    mnemonic: str
    default_bits: int
    operands: tuple[OperandArgument, ...]
    immediates: tuple[ImmediateArgument, ...]
    fields: tuple[FieldArgument, ...]
    by_name: Mapping[str, Argument]
    #: The field that counts lanes, where the instruction has one.
    channels: FieldArgument | None

    @property
    def implied(self) -> frozenset[str]:
        """Paths of the fields that operands and scalars are written with."""
        types = [operand.dtype for operand in self.operands]
        types += [immediate.dtype for immediate in self.immediates]
        sources = [immediate.source.path for immediate in self.immediates]
        return frozenset([dtype.path for dtype in types if dtype is not None] + sources)


_LAYOUTS: dict[int, Layout] = {}


def layout_of(instruction: type[Instruction]) -> Layout:
    """How ``instruction`` is written."""
    layout = _LAYOUTS.get(instruction.opcode)
    if layout is None or layout.instruction is not instruction:
        layout = _LAYOUTS[instruction.opcode] = _derived(instruction)
    return layout


def _derived(instruction: type[Instruction]) -> Layout:
    default_bits = int(instruction())
    operands = sorted(instruction.operands().values(), key=lambda field: not field.is_destination)
    immediates = instruction.immediates()
    leaves = dict(_leaves(instruction, "", 0))
    ends = Counter([_end(path) for path in leaves] + [f.name for f in operands] + [*immediates])
    arguments: dict[str, FieldArgument] = {}
    for path, (field, low) in leaves.items():
        name = _end(path) if ends[_end(path)] == 1 else path
        arguments[path] = FieldArgument(
            name=_ALIASES.get(name, name),
            path=path,
            field=field,
            low=low,
            default=field.extract(default_bits >> low),
            names=code_names(field),
            codes=MappingProxyType({n: code for code, n in code_names(field).items()}),
        )
    operand_arguments = tuple(
        OperandArgument(field.name, field, _type_field(field, arguments)) for field in operands
    )
    immediate_arguments = tuple(
        ImmediateArgument(name, field, arguments[field.source], _type_field(field, arguments))
        for name, field in immediates.items()
    )
    by_name: dict[str, Argument] = {}
    for argument in arguments.values():
        by_name[argument.name] = by_name[argument.path] = argument
    by_name |= {operand.name: operand for operand in operand_arguments}
    by_name |= {immediate.name: immediate for immediate in immediate_arguments}
    return Layout(
        instruction=instruction,
        mnemonic=instruction.name.lower(),
        default_bits=default_bits,
        operands=operand_arguments,
        immediates=immediate_arguments,
        fields=tuple(arguments.values()),
        by_name=MappingProxyType(by_name),
        channels=arguments.get("num_active_channels"),
    )


def _end(path: str) -> str:
    return path.rpartition(".")[2]


def _leaves(
    word: type[Word], prefix: str, low: int
) -> Iterator[tuple[str, tuple[Field[Any], int]]]:
    """Innermost fields outside patterns and scalars: path, field, start of the field's word."""
    for name, field in word.fields.items():
        path = prefix + name
        if isinstance(field, Part) and not isinstance(field, Operand):
            yield from _leaves(field.word_type, f"{path}.", low + field.ranges[0].low)
        elif not isinstance(field, (Operand, Immediate)) and path != _UNWRITTEN:
            yield path, (field, low)


def _type_field(
    field: Operand | Immediate, arguments: Mapping[str, FieldArgument]
) -> FieldArgument | None:
    return arguments[field.dtype] if isinstance(field.dtype, str) else None


@functools.cache
def _names_of_codes(codes: tuple[tuple[int, str], ...]) -> Mapping[int, str]:
    names = {code: identifier(text) for code, text in codes}
    counts = Counter(names.values())
    return MappingProxyType({code: name for code, name in names.items() if counts[name] == 1})


def code_names(field: Field[Any]) -> Mapping[int, str]:
    """The names of a field's codes as they are written, those that fit the field."""
    if not isinstance(field, Coded):
        return MappingProxyType({})
    return _names_of_codes(
        tuple((code, text) for code, text in field.codes.items() if not code >> field.width)
    )


@functools.cache
def mnemonics() -> Mapping[str, type[Instruction]]:
    """The modelled instructions by the names they are written with."""
    from lanewise.neuron.instructions import BY_OPCODE

    return MappingProxyType({kind.name.lower(): kind for kind in BY_OPCODE.values()})
