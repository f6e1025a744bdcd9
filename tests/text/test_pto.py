"""PTO text through this package: both laws over any bytes, every error of a file."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanewise.pto.words import FORMS
from lanewise.text.diagnostics import AssemblyError
from lanewise.text.pto import assemble, disassemble, lines, words


def assert_round_trip(data: bytes) -> str:
    text = disassemble(data)
    assert assemble(text).data == data
    assert disassemble(assemble(text).data) == text
    return text


def random_words(count: int, rng: Random) -> bytes:
    """Words of every form with random fields, and bits at random."""
    found = bytearray()
    for position in range(count):
        form = FORMS[position % len(FORMS)]
        raw = rng.getrandbits(form.width)
        mask, value = form._match
        if rng.random() < 0.8:
            raw = raw & ~mask | value
        found += raw.to_bytes(form.width // 8, "little")
    return bytes(found)


def test_words_of_every_form() -> None:
    assert_round_trip(random_words(22_000, Random(1)))


@given(st.binary(max_size=64))
def test_any_bytes(data: bytes) -> None:
    assert_round_trip(data)


def test_every_short_word() -> None:
    assert_round_trip(b"".join(raw.to_bytes(2, "little") for raw in range(0, 1 << 16, 2)))


@pytest.mark.parametrize("cut", range(1, 8))
def test_pieces_may_be_cut_anywhere(cut: int) -> None:
    data = random_words(200, Random(2))
    pieces = [data[i : i + cut] for i in range(0, len(data), cut)]
    assert b"".join(words(pieces)) == data
    assert list(lines(pieces)) == disassemble(data).splitlines()


def test_what_is_no_word_says_why() -> None:
    text = assert_round_trip(bytes.fromhex("2310f0c1 03"))
    assert text.splitlines() == [
        ".word 0xc1f01023  // B.DATR cmode (bits 31..29) is 6, a reserved code; assigned are 0..5",
        ".byte 0x03  // end of input: a word is cut",
    ]


def test_every_error_of_a_file_is_told() -> None:
    text = "TCMPX a\nBSTART.VEC TCMP, FP33\n// fine\n  B.DIM zro, 3\n.byte 0x1, 3\n.byte\nBSTOP x\n"
    with pytest.raises(AssemblyError) as raised:
        assemble(text, name="x.pto")
    source = raised.value.source
    places = [
        (*source.position(d.span.start), text[d.span.start : d.span.end])
        for d in raised.value.diagnostics
    ]
    assert places == [
        (1, 1, "TCMPX"),
        (2, 18, "FP33"),
        (4, 9, "zro"),
        (5, 10, ","),
        (6, 6, ""),
        (7, 7, "x"),
    ]
    assert "did you mean 'FP32'?" in str(raised.value)


@given(st.text())
def test_any_text(text: str) -> None:
    assert_places(text)


PIECES = [
    *("TCMP", "TCMPS", "TSEL", "TSELS", "TGPR2T", "BSTART.VEC", "B.DATR", "B.DIM", "C.B.DIMI"),
    *("B.IOR", "B.IOT", "B.IOS", "BSTOP", "C.BSTOP", ".word", ".byte", "FP32", "U8", "T#1", "N#16"),
    *(
        "<",
        ">",
        "{",
        "}",
        ",",
        "->",
        "=",
        "Row=32",
        "Col=1",
        "mask=1111",
        "last",
        "a0",
        "zero",
        "x9",
    ),
    *("0x1", "1", "99999999999", "LB0", "T<128B>", "Max", "//", ";", "#", "\n", "é", "٣", "#1"),
]


@given(st.lists(st.sampled_from(PIECES), max_size=25).map(" ".join))
def test_pieces_of_the_language(text: str) -> None:
    assert_places(text)


def assert_places(text: str) -> None:
    try:
        assemble(text)
    except AssemblyError as caught:
        error = caught
    else:
        return
    assert error.diagnostics
    for diagnostic in error.diagnostics:
        assert 0 <= diagnostic.span.start <= diagnostic.span.end <= len(text)
        assert diagnostic.message
