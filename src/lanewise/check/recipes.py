"""How the words of an instruction can be filled, found out by asking its rules.

An instruction's file says what is legal as rules, not as lists of values. Here each field is
tried with the values that mean something to somebody, so that nothing about an instruction is
written down a second time and a new one needs no entry.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from lanewise.model import BrokenRule
from lanewise.neuron.dtypes import BASE_TYPES_AND_FP32R
from lanewise.neuron.generation import Generation
from lanewise.neuron.instruction import Instruction
from lanewise.neuron.instructions import BY_OPCODE
from lanewise.neuron.legality import Check
from lanewise.neuron.legality.immediates import POINTER
from lanewise.neuron.profile import Profile

CHANNELS: Final = "num_active_channels"
#: 32-bit values that are the ends of something: FP32 numbers, limits of integers.
NOTABLE: Final = (0, 1, 0x3F800000, 0x40490FDB, 0x4B800000, 0x80000000, 0xFF7FFFFF, 0xFFFFFFFF)

_TYPICAL_COUNT: Final = 16

CountRule = Callable[[int], int]


@dataclass(frozen=True, slots=True)
class Recipe:
    """What an instruction's fields may hold, found out from its rules.

    ``dtypes`` gives the codes of each dtype field by whether the scalar it belongs to is inline,
    ``counts`` how the number of elements of each operand follows from a common one, ``choices``
    the legal values of the other fields (None: any bits).
    """

    dtypes: Mapping[bool, Mapping[str, tuple[int, ...]]]
    counts: Mapping[str, CountRule]
    least_count: int
    choices: Mapping[str, tuple[int, ...] | None]


def broken_rules(
    word: Instruction, generation: Generation, profile: Profile
) -> tuple[BrokenRule, ...]:
    """Every rule an instruction breaks on the engine that runs it by default."""
    return Check(word, generation, profile, word.check_engine(None)).run()


def recipe(instruction: type[Instruction], generation: Generation, profile: Profile) -> Recipe:
    """The recipe of an instruction; found out once."""
    return _recipe(instruction.opcode, generation, profile)


@functools.cache
def _recipe(opcode: int, generation: Generation, profile: Profile) -> Recipe:
    """Ask the rules about one field after the other, beginning with the types."""
    instruction = BY_OPCODE[opcode]

    def complaints(word: Instruction) -> set[str]:
        return {broken.field for broken in broken_rules(word, generation, profile)}

    bare = instruction()
    pointing = _with_sources(bare, POINTER)
    dtypes = {
        inline: {
            name: tuple(
                code
                for code in sorted(BASE_TYPES_AND_FP32R)
                if name not in complaints(with_raw(start, {name: code}))
            )
            for name in _dtype_fields(instruction)
        }
        for inline, start in ((True, bare), (False, pointing))
    }
    typed = next(
        word
        for word in _typings(bare, dtypes[True])
        if not complaints(word) & set(_dtype_fields(instruction))
    )
    counts = next(
        rule
        for rule in _count_rules(instruction)
        if not _count_complaints(complaints(_counted(typed, rule, _TYPICAL_COUNT)))
    )
    least = next(n for n in (1, 8) if not _count_complaints(complaints(_counted(typed, counts, n))))
    legal = _counted(typed, counts, _TYPICAL_COUNT)
    choices: dict[str, tuple[int, ...] | None] = {}
    for name, field in instruction.fields.items():
        if name in _drawn_elsewhere(instruction) or field.is_filler:
            continue
        codes = getattr(field, "codes", None)
        notable = tuple(codes) if codes is not None else (field.to_raw(field.default), *NOTABLE)
        fitting = sorted({value for value in notable if value >> field.width == 0})
        allowed = tuple(v for v in fitting if not complaints(with_raw(legal, {name: v})))
        choices[name] = None if allowed == tuple(fitting) and field.width >= 32 else allowed
    return Recipe(dtypes, counts, least, choices)


def _dtype_fields(instruction: type[Instruction]) -> tuple[str, ...]:
    named = [field.dtype for field in instruction.operands().values()]
    named += [field.dtype for field in instruction.immediates().values()]
    return tuple(dict.fromkeys(dtype for dtype in named if isinstance(dtype, str)))


def _drawn_elsewhere(instruction: type[Instruction]) -> frozenset[str]:
    """Fields that are not drawn from ``choices``."""
    return frozenset(
        {"header", "events", CHANNELS}
        | set(instruction.operands())
        | set(instruction.immediates())
        | set(_dtype_fields(instruction))
    )


def with_raw(word: Instruction, values: Mapping[str, int]) -> Instruction:
    """A copy with the raw bits of some fields changed."""
    bits = int(word)
    for name, raw in values.items():
        bits = word.fields[name].insert(bits, raw)
    return type(word).from_bits(bits)


def _with_sources(word: Instruction, source: int) -> Instruction:
    return with_raw(word, {field.source: source for field in word.immediates().values()})


def _typings(word: Instruction, dtypes: Mapping[str, tuple[int, ...]]) -> Iterator[Instruction]:
    """The word with types, those with a common type in all fields first."""
    for common in sorted(BASE_TYPES_AND_FP32R, reverse=True):
        yield with_raw(
            word,
            {name: common if common in codes else codes[0] for name, codes in dtypes.items()},
        )


def _same(count: int) -> int:
    return count


def _one_more(count: int) -> int:
    return count + 1


def _one(count: int) -> int:
    return 1


def _eight(count: int) -> int:
    return 8


def _count_rules(
    instruction: type[Instruction],
) -> Iterator[Mapping[str, CountRule]]:
    names = tuple(instruction.operands())
    for rules in itertools.product((_same, _one_more, _one, _eight), repeat=len(names)):
        yield dict(zip(names, rules, strict=True))


def _counted(word: Instruction, counts: Mapping[str, CountRule], count: int) -> Instruction:
    patterns = {}
    for name, rule in counts.items():
        kind = word.operands()[name].word_type
        num = [rule(count), *[1] * (kind.dimensions - 1)]
        patterns[name] = int(kind(num=num))
    return with_raw(word, patterns)


def _count_complaints(fields: set[str]) -> set[str]:
    return {field for field in fields if field.endswith((".num", "_count"))}
