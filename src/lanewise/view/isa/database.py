"""The instruction set as one value: what tools outside lanewise can read.

Everything is taken from the instruction files, their rules and the tables; the JSON Schema of an
export follows from the types below.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Iterator
from typing import Any

import msgspec

from lanewise import __version__
from lanewise.check.recipes import Recipe, recipe
from lanewise.neuron.dtypes import Dtype, dtype_names, element_size
from lanewise.neuron.generation import GENERATIONS, PARTITIONS, Generation
from lanewise.neuron.instruction import Instruction
from lanewise.neuron.instructions import BY_OPCODE
from lanewise.neuron.operands import Immediate, Operand
from lanewise.neuron.profile import Profile
from lanewise.neuron.roster import alu_codes, roster
from lanewise.text.neuron import syntax
from lanewise.view.isa.example import example_word
from lanewise.words import Coded, Field, Part, Word

SCHEMA = "lanewise.isa/1"


class GenerationEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A generation; sizes are bytes in a partition."""

    name: str
    isa: str
    product: str
    partitions: int
    sbuf_bytes: int
    sbuf_stride_bytes: int
    psum_bytes: int
    psum_banks: int
    has_indirect_patterns: bool
    shape_register_waives_key_count: bool


class OpcodeEntry(msgspec.Struct, frozen=True, kw_only=True):
    """An assigned opcode; ``struct`` is empty where the operand layout is not known."""

    code: int
    name: str
    struct: str
    engines: list[str]
    generations: list[str]
    modelled: bool


class DtypeEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A data type code; ``size`` is bytes an element, null where a modelled word has no use for it.

    ``generations`` are those that assign the code.
    """

    code: int
    name: str
    size: int | None
    generations: list[str]


class AluEntry(msgspec.Struct, frozen=True, kw_only=True):
    """An ALU operation code."""

    code: int
    name: str
    generations: list[str]


class FieldEntry(msgspec.Struct, frozen=True, kw_only=True):
    """An innermost field; ``bits`` are [low, high] runs of the word, most significant first.

    ``codes`` names the values that have a meaning, in lower case where an assembler takes them.
    """

    path: str
    kind: str
    bits: list[tuple[int, int]]
    default: int
    doc: str
    codes: dict[str, int]


class OperandEntry(msgspec.Struct, frozen=True, kw_only=True):
    """An access pattern; ``dtypes`` are the types its elements may have (by name).

    ``dtype_field`` is null where the type is fixed.
    """

    name: str
    access: str
    first_byte: int
    bytes: int
    dimensions: int
    dtype_field: str | None
    dtypes: list[str]
    allows_indirect: bool
    sbuf_only: bool
    doc: str


class ScalarEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A scalar that is inline, behind a pointer or behind a register."""

    name: str
    first_byte: int
    source_field: str
    dtype_field: str | None
    dtypes: list[str]
    doc: str


class RuleEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A legality rule, in the order of testing."""

    id: str
    demand: str
    generations: list[str]


class ExampleEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A legal word with its assembly."""

    generation: str
    text: str
    hex: str


class InstructionEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A modelled instruction; the first engine is the default."""

    name: str
    opcode: int
    struct: str
    summary: str
    doc: str
    mnemonic: str
    syntax: str
    engines: list[str]
    generations: list[str]
    operands: list[OperandEntry]
    scalars: list[ScalarEntry]
    fields: list[FieldEntry]
    rules: list[RuleEntry]
    example: ExampleEntry


class Database(msgspec.Struct, frozen=True, kw_only=True):
    """All of it."""

    schema: str = SCHEMA
    lanewise: str = __version__
    machine: str = "neuron"
    generations: list[GenerationEntry]
    opcodes: list[OpcodeEntry]
    dtypes: list[DtypeEntry]
    alu_operations: list[AluEntry]
    instructions: list[InstructionEntry]


@functools.cache
def database() -> Database:
    """The whole instruction set."""
    return Database(
        generations=[_generation(generation) for generation in GENERATIONS.values()],
        opcodes=[
            OpcodeEntry(
                code=entry.opcode,
                name=entry.name,
                struct=entry.struct,
                engines=list(entry.engines),
                generations=list(entry.generations),
                modelled=entry.opcode in BY_OPCODE,
            )
            for entry in roster().values()
        ],
        dtypes=[
            DtypeEntry(
                code=code,
                name=name,
                size=element_size(code),
                generations=[g.name for g in GENERATIONS.values() if code in dtype_names(g)],
            )
            for code, name in dtype_names().items()
        ],
        alu_operations=[
            AluEntry(
                code=code,
                name=name,
                generations=[g.name for g in GENERATIONS.values() if code in alu_codes(g)],
            )
            for code, name in alu_codes().items()
        ],
        instructions=[_instruction(kind) for kind in BY_OPCODE.values()],
    )


def json_schema() -> dict[str, Any]:
    """The JSON Schema of an export."""
    return msgspec.json.schema(Database)


def _generation(generation: Generation) -> GenerationEntry:
    return GenerationEntry(
        name=generation.name,
        isa=generation.isa,
        product=generation.product,
        partitions=PARTITIONS,
        sbuf_bytes=generation.sbuf_bytes,
        sbuf_stride_bytes=generation.stride_bytes("sbuf"),
        psum_bytes=generation.psum_bytes,
        psum_banks=generation.psum_banks,
        has_indirect_patterns=generation.has_indirect_patterns,
        shape_register_waives_key_count=generation.shape_register_waives_key_count,
    )


def _instruction(kind: type[Instruction]) -> InstructionEntry:
    generations = kind.generations()
    known = recipe(kind, generations[-1], Profile.ISA)
    return InstructionEntry(
        name=kind.name,
        opcode=kind.opcode,
        struct=kind.struct,
        summary=kind.summary,
        doc=inspect.cleandoc(sys.modules[kind.__module__].__doc__ or ""),
        mnemonic=kind.name.lower(),
        syntax=syntax(kind),
        engines=list(kind.engines),
        generations=[generation.name for generation in generations],
        operands=[_operand(field, known) for field in kind.operands().values()],
        scalars=[_scalar(field, known) for field in kind.immediates().values()],
        fields=list(_fields(kind, kind(), "", 0)),
        rules=[
            RuleEntry(
                id=rule.id,
                demand=rule.demand,
                generations=[g.name for g in generations if rule.applies(g)],
            )
            for rule in kind.rules
        ],
        example=_example(kind),
    )


def _example(kind: type[Instruction]) -> ExampleEntry:
    from lanewise.text.neuron import Printer

    generation, word = example_word(kind)
    data = word.to_bytes()
    return ExampleEntry(
        generation=generation.name, text=Printer(generation).line(data), hex=data.hex()
    )


def _types(field: Operand | Immediate, known: Recipe) -> list[str]:
    """The types that the rules let a field name; a pointer's type need not be an inline one's."""
    if not isinstance(field.dtype, str):
        return [Dtype(field.dtype).name]
    codes = set(known.dtypes[True].get(field.dtype, ())) | set(
        known.dtypes[False].get(field.dtype, ())
    )
    return [Dtype(code).name for code in sorted(codes)]


def _operand(field: Operand, known: Recipe) -> OperandEntry:
    (run,) = field.ranges
    return OperandEntry(
        name=field.name,
        access="write" if field.is_destination else "read",
        first_byte=run.low // 8,
        bytes=run.width // 8,
        dimensions=field.word_type.dimensions,
        dtype_field=field.dtype if isinstance(field.dtype, str) else None,
        dtypes=_types(field, known),
        allows_indirect=field.allows_indirect,
        sbuf_only=field.sbuf_only,
        doc=field.doc,
    )


def _scalar(field: Immediate, known: Recipe) -> ScalarEntry:
    return ScalarEntry(
        name=field.name,
        first_byte=field.ranges[0].low // 8,
        source_field=field.source,
        dtype_field=field.dtype if isinstance(field.dtype, str) else None,
        dtypes=_types(field, known),
        doc=field.doc,
    )


def _fields(kind: type[Word], word: Word, prefix: str, low: int) -> Iterator[FieldEntry]:
    for name, field in kind.fields.items():
        if isinstance(field, Part):
            part = getattr(word, name)
            yield from _fields(type(part), part, f"{prefix}{name}.", low + field.ranges[0].low)
        else:
            yield _field(field, field.extract(int(word)), prefix + name, low)


def _field(field: Field[Any], raw: int, path: str, low: int) -> FieldEntry:
    codes = field.codes if isinstance(field, Coded) and path != "header.opcode" else {}
    return FieldEntry(
        path=path,
        kind=field.kind,
        bits=[(low + run.low, low + run.high) for run in field.ranges],
        default=raw,
        doc=field.doc,
        codes={name: code for code, name in codes.items()},
    )
