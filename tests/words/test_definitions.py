"""What a word class may look like: every bit once, and nothing else is accepted."""

from __future__ import annotations

import pytest

from lanewise.errors import UsageError
from lanewise.words import (
    Array,
    BitRange,
    Coded,
    FieldValueError,
    Fixed,
    Inert,
    Part,
    Reserved,
    Signed,
    Unsigned,
    Word,
    WordDefinitionError,
    bits,
    byte,
)


class Pair(Word, width=16):
    first = Unsigned(byte(0), doc="first", default=7)
    second = Signed(byte(1), doc="second", default=-1)


class Split(Word, width=16):
    """A field in two runs, most significant first, as manuals write them."""

    middle = Unsigned(bits(11, 4), doc="middle")
    outer = Unsigned(bits(15, 12), bits(3, 0), doc="outer")


class Nested(Word, width=48):
    pair = Part(byte(0, 2), Pair, doc="a word in a word")
    steps = Array(byte(2, 2), count=2, signed=True, doc="two bytes", default=(1, -2))
    code = Coded(byte(4), codes={1: "one", 2: "two"}, doc="a code")
    zero = Reserved(bits(43, 40))
    spare = Inert(bits(47, 44))


def test_a_gap_is_refused_with_its_first_bit() -> None:
    with pytest.raises(WordDefinitionError, match=r"^no field of Gap covers bit 9$"):

        class Gap(Word, width=16):
            low = Unsigned(bits(8, 0), doc="")
            high = Unsigned(bits(15, 10), doc="")


def test_an_overlap_is_refused_with_the_field() -> None:
    message = r"^Twice\.b covers bits that another field has already$"
    with pytest.raises(WordDefinitionError, match=message):

        class Twice(Word, width=8):
            a = Unsigned(bits(4, 0), doc="")
            b = Unsigned(bits(7, 4), doc="")


def test_a_field_outside_the_word_is_refused() -> None:
    message = r"^Long\.a reaches past the 8 bits of the word$"
    with pytest.raises(WordDefinitionError, match=message):

        class Long(Word, width=8):
            a = Unsigned(bits(8, 0), doc="")


def test_a_subclass_must_not_cover_its_base_again_but_may_replace_a_field() -> None:
    class Base(Word, width=16, partial=True):
        head = Unsigned(byte(0), doc="")

    with pytest.raises(WordDefinitionError):

        class Overlaps(Base):
            body = Unsigned(byte(0, 2), doc="")

    class Replaces(Base):
        head = Fixed(byte(0), value=5)
        body = Unsigned(byte(1), doc="")

    assert int(Replaces()) == 5
    with pytest.raises(TypeError, match="Base describes a part of a word only"):
        Base()


def test_a_field_must_not_use_a_bit_twice() -> None:
    with pytest.raises(ValueError, match="overlap"):
        Unsigned(bits(3, 0), bits(3, 2), doc="")


def test_a_part_needs_a_run_of_its_own_width() -> None:
    with pytest.raises(ValueError, match=r"Pair has 16 bits, bits 7\.\.0 has 8"):
        Part(byte(0), Pair, doc="")


def test_an_array_needs_equal_elements() -> None:
    with pytest.raises(ValueError, match="16 bits do not divide into 3 elements"):
        Array(byte(0, 2), count=3, signed=False, doc="", default=(0, 0, 0))


@pytest.mark.parametrize(("low", "width"), [(-1, 1), (0, 0), (3, -2)])
def test_an_empty_or_negative_run_is_refused(low: int, width: int) -> None:
    with pytest.raises(ValueError, match="needs low >= 0 and width >= 1"):
        BitRange(low, width)


def test_runs_are_written_in_bytes_where_they_fall_on_bytes() -> None:
    assert byte(3).byte_text == "byte 3"
    assert byte(3, 2).byte_text == "bytes 3..4"
    assert bits(9, 4).byte_text == "bits 9..4"
    assert bits(5).byte_text == "bit 5"
    assert bits(9, 4) == BitRange(4, 6)
    assert (bits(9, 4).high, bits(9, 4).mask) == (9, 0x3F0)
    assert bits(9, 4).shifted(3) == bits(12, 7)


def test_a_split_field_joins_its_runs_most_significant_first() -> None:
    assert Split.from_bits(0xA00B).outer == 0xAB
    assert Split.from_bits(0x0CD0).middle == 0xCD
    assert int(Split(outer=0x12, middle=0x34)) == 0x1342
    for raw in range(0, 1 << 16, 37):
        word = Split.from_bits(raw)
        assert Split(outer=word.outer, middle=word.middle) == word


def test_defaults_and_signs() -> None:
    assert Pair().to_bytes() == bytes([7, 255])
    assert Pair(second=-128).second == -128
    assert Nested().steps == (1, -2)
    assert Nested().to_bytes() == bytes([7, 255, 1, 0xFE, 0, 0])
    assert Nested(pair={"first": 9}).pair == Pair(first=9)
    assert Nested(code="TWO").code == 2
    assert Nested.code.meaning(2) == "two"
    assert Nested.code.meaning(3) is None
    assert Nested.zero.meaning(1) == "must be zero"


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Pair(first=256), "field 'first' (byte 0) must be 0..255, not 256"),
        (lambda: Pair(second=128), "field 'second' (byte 1) must be -128..127, not 128"),
        (lambda: Pair(first="7"), "field 'first' (byte 0) must be a whole number, not '7'"),
        (lambda: Nested(code="ten"), "field 'code' (byte 4) must be one of one, two, not 'ten'"),
        (lambda: Nested(zero=16), "field 'zero' (bits 43..40) must be 0..15, not 16"),
        (lambda: Nested(steps=7), "field 'steps' (bytes 2..3) must be 2 whole numbers, not 7"),
        (
            lambda: Nested(steps=(1, 200)),
            "field 'steps' (bytes 2..3) must be 2 numbers in -128..127, not (1, 200)",
        ),
        (
            lambda: Nested(steps=(1,)),
            "field 'steps' (bytes 2..3) must be 2 whole numbers, one a dimension, not (1,)",
        ),
        (lambda: Nested(pair=7), "field 'pair' (bytes 0..1) must be a Pair, not 7"),
    ],
)
def test_values_that_do_not_fit_are_refused_word_for_word(build, message: str) -> None:
    with pytest.raises(FieldValueError) as caught:
        build()
    assert str(caught.value) == message


@pytest.mark.parametrize("raw", [-1, 1 << 16])
def test_from_bits_takes_exactly_the_words_width(raw: int) -> None:
    with pytest.raises(UsageError, match="Pair holds 16 bits"):
        Pair.from_bits(raw)


@pytest.mark.parametrize("size", [0, 1, 3])
def test_from_bytes_takes_exactly_the_words_size(size: int) -> None:
    with pytest.raises(UsageError, match=f"Pair takes 2 bytes, not {size}"):
        Pair.from_bytes(bytes(size))


def test_leaves_are_named_by_path_and_placed_in_the_whole_word() -> None:
    found = [(leaf.path, str(leaf.ranges[0]), leaf.value) for leaf in Nested().leaves()]
    assert found == [
        ("pair.first", "bits 7..0", 7),
        ("pair.second", "bits 15..8", -1),
        ("steps[0]", "bits 23..16", 1),
        ("steps[1]", "bits 31..24", -2),
        ("code", "bits 39..32", 0),
        ("zero", "bits 43..40", 0),
        ("spare", "bits 47..44", 0),
    ]


def test_repr_shows_what_differs_from_the_default() -> None:
    assert repr(Nested()) == "Nested()"
    assert repr(Nested(code=9, pair=Pair(first=1))) == "Nested(pair=Pair(first=1), code=9)"
