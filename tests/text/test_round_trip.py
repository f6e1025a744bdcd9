"""The two laws of the assembly language: parse after print and print after parse are identities.

Words of every kind: legal ones of every instruction, damaged ones, and bytes at random, so that
reserved bits, unknown codes and odd address forms are in them.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from lanewise.check.generators import legal_word, mutated, random_word
from lanewise.neuron import GENERATIONS, Profile
from lanewise.neuron.instruction import WORD_BYTES
from lanewise.neuron.instructions import BY_OPCODE
from lanewise.neuron.roster import opcodes_of
from lanewise.text.neuron import Printer, assemble, disassemble

# Words of each kind for one generation: 108,000 in all, and 1,080,000 in the slow test.
LEGAL, SPARSE, RANDOM = 4_000, 3_000, 20_000


def assert_round_trip(data: bytes, generation: str) -> str:
    """Both laws on one stream; its text."""
    text = disassemble(data, generation)
    assembly = assemble(text)
    assert assembly.data == data
    assert assembly.generation.name == generation
    assert disassemble(assembly.data, assembly.generation) == text
    return text


def legal_words(generation: str, count: int, rng: Random) -> Iterator[bytes]:
    """Legal words of all instructions, again and again with a few fields changed."""
    kinds = [kind for kind in BY_OPCODE.values() if GENERATIONS[generation] in kind.generations()]
    for position in range(count):
        kind = kinds[position % len(kinds)]
        word = legal_word(kind, generation, Profile.ISA, rng).to_bytes()
        yield word
        for _ in range(7):
            yield mutated(word, rng)


def sparse_words(generation: str, count: int, rng: Random) -> Iterator[bytes]:
    """Modelled words of random bytes, many of them zero, with addresses of every form."""
    opcodes = [code for code in BY_OPCODE if code in opcodes_of(GENERATIONS[generation])]
    for _ in range(count):
        word = bytearray(rng.randbytes(WORD_BYTES))
        for place in range(WORD_BYTES):
            if rng.random() < 0.4:
                word[place] = 0
        word[0] = rng.choice(opcodes)
        for field in BY_OPCODE[word[0]].operands().values():
            marker = field.ranges[0].low // 8 + 3
            word[marker] = rng.choice((0, 1, 2, 0x20, 0x40, 0x60, 0x80, 0xA0, 0xC0, word[marker]))
        yield bytes(word)


@pytest.mark.parametrize("generation", GENERATIONS)
def test_every_first_byte(generation: str) -> None:
    rng = Random(1)
    words = [
        bytes([opcode]) + content
        for opcode in range(256)
        for content in (bytes(63), b"\xff" * 63, rng.randbytes(63))
    ]
    lines = assert_round_trip(b"".join(words), generation).splitlines()
    assert len(lines) == 1 + len(words)


@pytest.mark.parametrize("generation", GENERATIONS)
def test_legal_and_damaged_words(generation: str) -> None:
    rng = Random(2)
    assert_round_trip(b"".join(legal_words(generation, LEGAL // 8, rng)), generation)


@pytest.mark.parametrize("generation", GENERATIONS)
def test_sparse_words(generation: str) -> None:
    assert_round_trip(b"".join(sparse_words(generation, SPARSE, Random(3))), generation)


@pytest.mark.parametrize("generation", GENERATIONS)
def test_random_words(generation: str) -> None:
    rng = Random(4)
    data = b"".join(random_word(generation, rng) for _ in range(RANDOM))
    assert_round_trip(data, generation)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_million_words(generation: str, seed: int) -> None:
    rng = Random(100 + seed)
    for words in (
        legal_words(generation, LEGAL // 8, rng),
        sparse_words(generation, SPARSE, rng),
        (random_word(generation, rng) for _ in range(RANDOM)),
    ):
        assert_round_trip(b"".join(words), generation)


@pytest.mark.parametrize("length", [*range(WORD_BYTES), 65, 127])
def test_any_length(length: int) -> None:
    data = Random(length).randbytes(length)
    text = assert_round_trip(data, "cayman")
    rest = length % WORD_BYTES
    assert ("end of input" in text) == bool(rest)


def test_the_end_of_the_input_is_told_apart_from_garbage() -> None:
    zeros = " ".join(["00000000"] * 16)
    lines = disassemble(bytes(64) + bytes.fromhex("4710"), "cayman").splitlines()
    assert lines == [
        ".generation cayman",
        f'.byte x"{zeros}"  // byte 0 is 0x00, which no generation assigns; not cayman',
        '.byte x"4710"  // end of input: 2 of the 64 bytes of a word',
    ]


def test_garbage_does_not_end_the_stream() -> None:
    good = legal_word(BY_OPCODE[0x6C], "cayman", Profile.ISA, Random(5)).to_bytes()
    lines = disassemble(bytes(64) + good + b"\xff" * 64 + good, "cayman").splitlines()
    assert [line.split()[0] for line in lines] == [
        ".generation",
        ".byte",
        "max8",
        ".byte",
        "max8",
    ]


@pytest.mark.parametrize("generation", GENERATIONS)
def test_every_assigned_opcode_prints_as_itself(generation: str) -> None:
    printer = Printer(generation)
    for code, entry in opcodes_of(GENERATIONS[generation]).items():
        line = printer.line(bytes([code]) + bytes(63))
        if code in BY_OPCODE:
            assert line.startswith(f"{entry.name.lower()} ")
        else:
            assert line.startswith('.word x"')
            assert f"  // {entry.name}" in line
            assert line.endswith(", not modelled")


def test_lines_and_line_agree() -> None:
    rng = Random(6)
    printer = Printer("mariana")
    words = [random_word("mariana", rng) for _ in range(500)]
    words += sparse_words("mariana", 500, rng)
    assert list(printer.lines(b"".join(words))) == [printer.line(word) for word in words]


def test_printing_depends_on_nothing_but_the_word() -> None:
    rng = Random(7)
    words = list(sparse_words("maverick", 3000, rng))
    first = [Printer("maverick").line(word) for word in words[:30]]
    printer = Printer("maverick")
    shuffled = words[:]
    rng.shuffle(shuffled)
    later = {word: printer.line(word) for word in shuffled}
    assert [later[word] for word in words[:30]] == first
