"""Assembly: printing and parsing are inverse, macros expand, and errors point at the text."""

from __future__ import annotations

import random

import pytest

from lanewise.pto import PtoFault, decode_word
from lanewise.pto.assembly import AssemblyError, assemble, disassemble
from lanewise.pto.instructions import ALL
from lanewise.pto.words import FORMS


def texts(words: list) -> list[str]:
    return [f"{int(word):0{word.width // 4}x}" for word in words]


def test_every_compressed_word_prints_and_parses_back() -> None:
    words = [f"{raw:04x}" for raw in range(0, 1 << 16)]
    assert texts(assemble(disassemble(words))) == words


def test_random_words_print_and_parse_back() -> None:
    pick = random.Random(2)
    words = []
    for _ in range(20_000):
        form = pick.choice(FORMS)
        raw = pick.getrandbits(form.width)
        if pick.random() < 0.9:
            mask, value = form._match
            raw = raw & ~mask | value
        words.append(f"{raw:0{form.width // 4}x}")
    assert texts(assemble(disassemble(words))) == words


@pytest.mark.parametrize("operation", ALL, ids=lambda operation: operation.name)
def test_examples_of_instructions_assemble_and_decode(operation) -> None:
    for example in operation.examples:
        words = assemble(example)
        assert [int(decode_word(word)) for word in words] == [int(word) for word in words]
        assert assemble(disassemble(words)) == words
        assert words[0].selector == operation.selector


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "TCMP <Row=32, Col=1, FP32>, T#1, T#1, ->a5",
            "08d19181 00100043 02001043 00102043 00000393 00084e13 00000001",
        ),
        (
            "TSEL <Row=32, Col=2, FP16, Max>, a4, T#1, T#2, ->T<128B>",
            "21a19181 09f01023 00200043 02001043 00202043 00030013 0408ce13 00000001",
        ),
        (
            "TGPR2T <Row=32, Col=4, U8>, a7, a0, a1, a2, ->T<128B>",
            "dfe19181 00400043 02001043 18248013 00020013 0008ee13 00000001",
        ),
        ("B.IOR a0, a1, a2", "20310013"),
        ("B.IOR zero, zero, zero, ->a3", "00000293"),
        ("b.ior ->a3", "00000293"),
        ("B.IOT mask=1000, last, ->T<128B>", "0008e213"),
        ("B.IOT T#1, U#2, mask=1000, last  // two sources", "44084213"),
        ("B.IOT M#1, T#1, mask=1111, last, ->N<256>", "02094f93"),
        ("B.DATR {NORM, DTYPE_NONE, Zero, GT, Default, 0, 0, 0, 0}", "61f01023"),
        ("; a comment", ""),
        ("  # another", ""),
        ("   ", ""),
        ("C.BSTOP", "0000"),
        (".word 0x1234", "1234"),
        (".word ffffffff", "ffffffff"),
    ],
)
def test_known_text(text: str, words: str) -> None:
    assert texts(assemble(text)) == words.split()


def test_the_printed_form() -> None:
    words = ["21a19181", "09f01023", "00200043", "483c", "00030013", "0408ce13", "ffffffff", "0000"]
    assert disassemble(words).splitlines() == [
        "BSTART.VEC TSEL, FP16",
        "B.DATR {NORM, DTYPE_NONE, Max, None, Default, 0, 0}",
        "B.DIM zero, 2, ->LB0",
        "C.B.DIMI 32, ->LB1",
        "B.IOR a4, zero, zero, ->zero",
        "B.IOT T#1, T#2, mask=1111, last, ->T<128B>",
        ".word 0xffffffff",
        "C.BSTOP",
    ]
    assert disassemble(b"\x00\x00\x01\x00") == (
        "C.BSTOP\n// the program ends inside a word: 01 00\n"
    )


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("B.IOR a0, q1", 11, "unknown register 'q1'"),
        ("B.IORR a0", 1, "did you mean 'B.IOR'"),
        ("B.IOT T#17, mask=1000", 7, "a tile is named T#1..T#16"),
        ("B.IOT T#1, mask=1010", 17, "a PE mask must be one of 0000, 1000"),
        ("B.IOT T#1, mask=1000, ->T<100B>", 27, "a size must be 128B"),
        ("B.IOT T#1, T#2, T#3, mask=1000", 17, "at most two sources"),
        ("B.IOT mask=1000, last", 1, "B.IOT size (bits 18..15) is 0"),
        ("B.DIM zero, 131072, ->LB0", 13, "immediate must be 0..131071"),
        ("B.DIM zero, 1, ->LB3", 18, "unknown dimension 'LB3'"),
        ("C.B.DIMI 256, ->LB0", 10, "immediate must be 0..255"),
        ("B.DATR {NORM, FP33, Zero, None, Default, 0, 0}", 15, "did you mean 'FP32'"),
        ("B.DATR {NORM, FP32, Zero, None, Default, 0}", 43, "expected ','"),
        ("B.DATR {NORM, FP32, Zero, None, Default, 0, 0, 1, 0}", 48, "must be 0..0"),
        ("B.DATR {2, FP32, Zero, None, Default, 0, 0}", 1, "is 2, a reserved code"),
        ("BSTART.VEC TCMPX, FP32", 12, "did you mean"),
        ("BSTART.VEC TCMP", 16, "expected ','"),
        ("BSTOP now", 7, "unexpected 'now'"),
        ("B.IOR a0 ! a1", 10, "unexpected character '!'"),
        ("B.IOR a0, a1, a2, a3", 19, "at most three sources"),
        ("TCMP <Row=32, Col=1, FP32>, T#1, ->a5", 38, "the operands fit no form of TCMP"),
        ("TCMP <Row=32, Col=1, FP32, GX>, T#1, T#1, ->a5", 28, "unknown attribute 'GX'"),
        ("TCMP <Row=32, Col=1, FP32, GT, T#1, T#1, ->a5", 32, "unknown attribute"),
        (".word 0x123", 7, "4 or 8 hexadecimal digits"),
    ],
)
def test_errors_point_at_the_text(text: str, column: int, message: str) -> None:
    with pytest.raises(AssemblyError) as caught:
        assemble(["BSTART.VEC TCMP, FP32", text], name="file.s")
    error = caught.value
    assert message in str(error)
    assert (error.line, error.column) == (2, column)
    place, source, caret = str(error).splitlines()
    assert place.startswith(f"file.s:2:{column}: ")
    assert source == f"  {text}"
    assert caret == "  " + " " * (column - 1) + "^"


def test_reserved_words_assemble_only_as_raw_words() -> None:
    (word,) = assemble(".word 0xd9f01023")
    with pytest.raises(PtoFault, match="reserved code"):
        decode_word(word)
