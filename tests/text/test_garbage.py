"""Whatever the text: words, or an AssemblyError whose places lie in the text."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanewise.check.generators import random_word
from lanewise.text.diagnostics import AssemblyError
from lanewise.text.hexadecimal import looks_like_hex, parse_hex
from lanewise.text.neuron import assemble, disassemble
from lanewise.text.neuron.layout import layout_of, mnemonics

PIECES = [
    *mnemonics(),
    *{name for kind in mnemonics().values() for name in layout_of(kind).by_name},
    *"[](),;:=@*+-/%&|^~",
    *(".generation", ".engine", ".const", ".buffer", ".word", ".byte", "<<", ">>", "\n", " "),
    *(
        "sbuf",
        "psum",
        "addr",
        "reg",
        "p0",
        "p0:4",
        "r3",
        "via",
        "step",
        "inert",
        "shape_in_register",
    ),
    *(
        "fp32",
        "uint8",
        "0x10",
        "0x",
        "1.5",
        "1e5",
        "inf",
        "nan",
        "7",
        "-1",
        'x"00"',
        'x"',
        "//",
        "#",
    ),
    *("cayman", "sunda", "dve", "default", "é", "\t", "\r", "\x00", "\u2028", "٣", '"'),
]


def refused(text: str) -> AssemblyError | None:
    try:
        assemble(text)
    except AssemblyError as error:
        return error
    return None


def assert_words_or_places(text: str) -> None:
    error = refused(text)
    if error is None:
        return
    assert error.diagnostics
    assert error.source.text == text
    for diagnostic in error.diagnostics:
        assert 0 <= diagnostic.span.start <= diagnostic.span.end <= len(text)
        line, column = error.source.position(diagnostic.span.start)
        assert 1 <= line <= error.source.line_count
        assert column >= 1
        assert diagnostic.message
    assert str(error).count(": error: ") >= len(error.diagnostics)


@given(st.text())
def test_any_text(text: str) -> None:
    assert_words_or_places(text)


@given(st.lists(st.sampled_from(PIECES), max_size=40).map(" ".join))
def test_pieces_of_the_language(text: str) -> None:
    assert_words_or_places(text)


@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_pieces_without_blanks(text: str) -> None:
    assert_words_or_places(text)


@given(st.binary(max_size=300))
def test_bytes_read_as_text(data: bytes) -> None:
    assert_words_or_places(data.decode("utf-8", errors="replace"))


@pytest.mark.parametrize("seed", range(8))
def test_damaged_lines(seed: int) -> None:
    rng = Random(seed)
    for _ in range(60):
        text = disassemble(random_word("mariana", rng), "mariana")
        characters = list(text)
        for _ in range(rng.randint(1, 4)):
            place = rng.randrange(len(characters))
            match rng.randrange(3):
                case 0:
                    del characters[place]
                case 1:
                    characters.insert(place, rng.choice(PIECES))
                case 2:
                    characters[place] = chr(rng.choice((rng.randrange(32, 127), 0x20AC, 10)))
        assert_words_or_places("".join(characters))


@given(st.text(alphabet="0123456789abcdefABCDEFxX \n\t,;:{}[]()\"'\\|<>_=u+-*/.g"))
def test_any_hex(text: str) -> None:
    for groups_are_numbers in (False, True):
        try:
            parse_hex(text, groups_are_numbers=groups_are_numbers)
        except AssemblyError as error:
            for diagnostic in error.diagnostics:
                assert 0 <= diagnostic.span.start <= diagnostic.span.end <= len(text)


@given(st.binary())
def test_telling_hex_from_words_never_fails(data: bytes) -> None:
    looks_like_hex(data)
