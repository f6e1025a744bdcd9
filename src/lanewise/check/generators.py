"""Random words: legal ones of any instruction, and damaged ones.

Nothing here repeats what an instruction's file says. How an instruction can be filled is found
out once by asking its own rules: which types and codes a field may hold, how many elements an
operand has. Everything random comes from the generator that is passed in, so equal seeds give
equal words.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from random import Random
from typing import Final

from lanewise.check.recipes import CHANNELS, NOTABLE, Recipe, broken_rules, recipe, with_raw
from lanewise.errors import LanewiseError
from lanewise.neuron.codes import DEBUG_COMMANDS, REGISTERS, UPDATE_MODES, WAIT_MODES
from lanewise.neuron.dtypes import Dtype
from lanewise.neuron.generation import PARTITIONS, QUADRANT, Generation, find_generation
from lanewise.neuron.instruction import WORD_BYTES, Instruction
from lanewise.neuron.instructions import BY_OPCODE
from lanewise.neuron.legality.immediates import INLINE, POINTER, REGISTER
from lanewise.neuron.operands import Operand
from lanewise.neuron.profile import Profile
from lanewise.neuron.roster import opcodes_of
from lanewise.neuron.words import Address
from lanewise.words import Inert

__all__ = ["INDEX_LISTS", "legal_word", "mutated", "random_word"]

#: Byte offsets at which index lists of legal words start. A core whose memory holds small
#: numbers from there on can follow them.
INDEX_LISTS: Final = range(0x800, 0xC00, 4)

_ATTEMPTS: Final = 40


def legal_word(
    instruction: type[Instruction],
    generation: str | Generation,
    profile: Profile,
    rng: Random,
) -> Instruction:
    """A random legal word of ``instruction``, for the engine that runs it by default.

    Addresses reach from the first bytes of a partition to its last; registers, scalars behind
    pointers, PSUM and index lists occur where the instruction can have them. LanewiseError when
    the generation has no such instruction.
    """
    generation = find_generation(generation)
    if generation not in instruction.generations():
        raise LanewiseError(f"{generation} has no {instruction.name}")
    known = recipe(instruction, generation, profile)
    for attempt in range(_ATTEMPTS):
        plain = attempt > _ATTEMPTS // 2
        word = _Draw(instruction, generation, profile, known, rng, plain=plain).word()
        if not broken_rules(word, generation, profile):
            return word
    raise LanewiseError(f"found no legal word of {instruction.name} on {generation}")


def random_word(generation: str | Generation, rng: Random) -> bytes:
    """64 random bytes; two of three times the opcode is one of the generation's."""
    word = bytearray(rng.randbytes(WORD_BYTES))
    known = tuple(opcodes_of(find_generation(generation)))
    draw = rng.randrange(3)
    if draw == 1:
        word[0] = rng.choice(known)
    elif draw == 2:
        word[0] = rng.choice([code for code in known if code in BY_OPCODE])
        word[1:4] = bytes((16, 0, 0))
    return bytes(word)


def mutated(word: bytes | Instruction, rng: Random) -> bytes:
    """``word`` with a few bits, bytes or fields changed, often to the ends of their range."""
    data = word if isinstance(word, bytes) else word.to_bytes()
    bits = int.from_bytes(data, "little")
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        bits = rng.choice(_MUTATIONS)(bits, rng)
    return bits.to_bytes(WORD_BYTES, "little")


# Mutations, on a word as one integer.

_WORD_BITS: Final = 8 * WORD_BYTES


def _flip_bit(bits: int, rng: Random) -> int:
    return bits ^ 1 << rng.randrange(_WORD_BITS)


def _flip_bits(bits: int, rng: Random) -> int:
    for _ in range(rng.randint(2, 8)):
        bits = _flip_bit(bits, rng)
    return bits


def _set_byte(bits: int, rng: Random) -> int:
    return _with_field(bits, 8 * rng.randrange(WORD_BYTES), 8, rng.randrange(256))


def _swap_bytes(bits: int, rng: Random) -> int:
    first, second = 8 * rng.randrange(WORD_BYTES), 8 * rng.randrange(WORD_BYTES)
    low, high = bits >> first & 0xFF, bits >> second & 0xFF
    return _with_field(_with_field(bits, first, 8, high), second, 8, low)


def _push_field(bits: int, rng: Random) -> int:
    """A field to an end of its range, or past its present value by one."""
    low, width = rng.choice(_field_places(bits & 0xFF))
    top = (1 << width) - 1
    now = bits >> low & top
    value = rng.choice((0, 1, top, top >> 1, (top >> 1) + 1, now + 1, now - 1, now << 1, now ^ top))
    return _with_field(bits, low, width, value & top)


def _copy_field(bits: int, rng: Random) -> int:
    """One field's value into another."""
    places = _field_places(bits & 0xFF)
    (source, _), (low, width) = rng.choice(places), rng.choice(places)
    return _with_field(bits, low, width, bits >> source & ((1 << width) - 1))


def _move_address(bits: int, rng: Random) -> int:
    """An address to another partition, to PSUM, to a register, or to nowhere."""
    places = [place for place in _field_places(bits & 0xFF) if place[1] == _ADDRESS_BITS]
    if not places:
        return _set_byte(bits, rng)
    low, width = rng.choice(places)
    far = rng.choice((0x2000000, 0x2400000, 0x8000000)) + 4 * rng.randrange(0x1000)
    near = bits >> low & ((1 << width) - 1) ^ 1 << rng.randrange(18, 27)
    return _with_field(bits, low, width, rng.choice((far, near, rng.randrange(REGISTERS))))


_ADDRESS_BITS: Final = Address.fields["address"].width
_MUTATIONS: Final = (
    _flip_bit,
    _flip_bits,
    _set_byte,
    _swap_bytes,
    _push_field,
    _push_field,
    _push_field,
    _copy_field,
    _move_address,
)


def _with_field(bits: int, low: int, width: int, value: int) -> int:
    return bits & ~(((1 << width) - 1) << low) | value << low


@functools.cache
def _field_places(opcode: int) -> tuple[tuple[int, int], ...]:
    """Low bit and width of every innermost field of a word (bytes, when nothing is known)."""
    kind = BY_OPCODE.get(opcode)
    if kind is None:
        return tuple((low, 8) for low in range(0, _WORD_BITS, 8))
    return tuple((run.low, run.width) for leaf in kind().leaves() for run in leaf.ranges)


# One draw of a word.


class _Draw:
    """The random choices of one word; ``plain`` leaves the rare forms of operands out."""

    def __init__(
        self,
        instruction: type[Instruction],
        generation: Generation,
        profile: Profile,
        known: Recipe,
        rng: Random,
        *,
        plain: bool,
    ) -> None:
        self._instruction = instruction
        self._generation = generation
        self._recipe = known
        self._rng = rng
        self._plain = plain
        self._channels = self._drawn_channels()
        # What every profile allows: as many quadrants on from the start as lanes need, aligned.
        self._aligned = plain or profile.partition_window != "fits"
        quadrants = (0, 1, 2, 3) if self._channels <= QUADRANT else (0, 2)
        self._quadrant = 0 if plain or self._channels > 2 * QUADRANT else rng.choice(quadrants)
        self._psum_operand = None
        if generation.psum_bytes and instruction.engines[0] != "pool" and self._rare(6):
            self._psum_operand = rng.choice(tuple(instruction.operands()))

    def word(self) -> Instruction:
        rng, known = self._rng, self._recipe
        raw: dict[str, int] = {CHANNELS: self._channels}
        for name, field in self._instruction.fields.items():
            if isinstance(field, Inert):
                raw[name] = rng.getrandbits(field.width)
            elif name in known.choices:
                choices = known.choices[name]
                raw[name] = rng.getrandbits(field.width) if choices is None else rng.choice(choices)
        inline = all(raw[f.source] == INLINE for f in self._instruction.immediates().values())
        raw |= self._drawn_dtypes(known.dtypes[inline])
        word = with_raw(self._instruction(), raw)
        raw = {"header": self._drawn_header(), "events": self._drawn_events()}
        for name, scalar in word.immediates().items():
            size = Dtype(word.dtype_of(scalar)).size
            raw[name] = self._drawn_scalar(getattr(word, scalar.source), size)
        count = self._drawn_count()
        for name, operand in word.operands().items():
            size = Dtype(word.dtype_of(operand)).size
            raw[name] = self._drawn_operand(name, operand, size, known.counts[name](count))
        return with_raw(word, raw)

    def _rare(self, one_in: int) -> bool:
        return not self._plain and self._rng.randrange(one_in) == 0

    def _drawn_channels(self) -> int:
        rng = self._rng
        return rng.choice((1, rng.randint(1, 8), rng.randint(1, 8), 32, rng.randint(1, 128), 128))

    def _drawn_count(self) -> int:
        rng, least = self._rng, self._recipe.least_count
        few, some = rng.randint(least, least + 8), rng.randint(least, 64)
        many = rng.randint(least, 2048) if self._rare(8) else some
        return rng.choice((few, some, some, many))

    def _drawn_dtypes(self, allowed: Mapping[str, tuple[int, ...]]) -> dict[str, int]:
        """Half the time fields that allow the same types have the same one: some rules ask it."""
        rng = self._rng
        drawn = {name: rng.choice(codes) for name, codes in allowed.items()}
        if self._plain or rng.randrange(2):
            common: dict[frozenset[int], int] = {}
            for name, codes in allowed.items():
                kind = frozenset(codes) - {Dtype.FP32R}
                drawn[name] = common.setdefault(kind, rng.choice(sorted(kind)))
        return drawn

    def _drawn_header(self) -> int:
        command = self._rng.choice(tuple(DEBUG_COMMANDS)) if self._rare(4) else 0
        hint = self._rng.randrange(256) if self._rare(4) else 0
        return self._instruction.opcode | 16 << 8 | command << 16 | hint << 24

    def _drawn_events(self) -> int:
        rng = self._rng
        if not self._rare(4):
            return 0
        wait, update = rng.choice(tuple(WAIT_MODES)), rng.choice(tuple(UPDATE_MODES))
        return wait | update << 16 | rng.randrange(256) << 8 | rng.getrandbits(40) << 24

    def _drawn_scalar(self, source: int, size: int) -> int:
        if source == REGISTER:
            return self._rng.randrange(REGISTERS)
        if source == POINTER:
            return self._address("sbuf", size, 0, size - 1)
        return self._rng.choice((*NOTABLE, self._rng.getrandbits(32)))

    def _drawn_operand(self, name: str, operand: Operand, size: int, count: int) -> int:
        rng = self._rng
        kind = operand.word_type
        indirect = operand.indirect_type
        if indirect is not None and self._generation.has_indirect_patterns and self._rare(5):
            offset = rng.choice(INDEX_LISTS)
            index = self._generation.address("sbuf", self._partition(), offset) | 1 << 29
            data = self._address("sbuf", size, 0, 64 * size)
            if self._rare(8):
                index = rng.randrange(REGISTERS) | 0xA0 << 24
            return int(indirect(num_elem=count)) & ~((1 << 64) - 1) | data << 32 | index
        num = self._split(count, kind.dimensions)
        step = self._steps(num)
        space = "psum" if name == self._psum_operand else "sbuf"
        low = sum(min(0, s * (n - 1)) for s, n in zip(step, num, strict=True)) * size
        high = sum(max(0, s * (n - 1)) for s, n in zip(step, num, strict=True)) * size + size - 1
        if high - low >= self._active(space):
            step, low, high = self._dense(num), 0, count * size - 1
        start = self._address(space, size, low, high)
        if self._rare(12):
            start = rng.randrange(REGISTERS) | rng.choice((0x80, 0x80, 0xC0)) << 24
        return int(kind(step=step, num=num)) & ~0xFFFFFFFF | start

    def _active(self, space: str) -> int:
        return self._generation.psum_bytes if space == "psum" else self._generation.sbuf_bytes

    def _partition(self) -> int:
        first = QUADRANT * self._quadrant
        if self._aligned or not self._rare(2):
            return first
        return first + self._rng.randint(
            0, min(QUADRANT, PARTITIONS - self._channels - first + 1) - 1
        )

    def _address(self, space: str, size: int, low: int, high: int) -> int:
        """An aligned address around which bytes ``low`` to ``high`` are inside the partition."""
        rng = self._rng
        first, last = -low, self._active(space) - 1 - high
        near = min(last, first + 0x400)
        offset = rng.choice((first, rng.randint(first, near), rng.randint(first, near), last))
        offset -= offset % size
        if offset < first:
            offset += size
        return self._generation.address(space, self._partition(), max(0, min(offset, last)))

    def _split(self, count: int, dimensions: int) -> list[int]:
        """``count`` as a product of ``dimensions`` factors, in any order."""
        num, rest = [], count
        for _ in range(dimensions - 1):
            factor = self._rng.choice([f for f in range(1, min(rest, 64) + 1) if rest % f == 0])
            num.append(factor)
            rest //= factor
        num.append(rest)
        self._rng.shuffle(num)
        return num

    def _dense(self, num: list[int]) -> list[int]:
        step, reach = [], 1
        for extent in num:
            step.append(reach)
            reach *= extent
        return step

    def _steps(self, num: list[int]) -> list[int]:
        """Neighbours side by side, backwards, apart, on top of each other, or anyhow."""
        rng = self._rng
        step = self._dense(num)
        if self._plain or rng.randrange(3) == 0:
            return step
        kind = rng.randrange(3)
        for index, extent in enumerate(num):
            if extent == 1:
                step[index] = rng.choice((1, 0, -32768, 32767))
            elif kind == 0:
                step[index] = -step[index]
            elif kind == 1:
                step[index] = step[index] * rng.choice((0, 1, 2, 3))
            else:
                step[index] = rng.randint(-9, 9)
        return step
