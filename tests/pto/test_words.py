"""Words: every bit belongs to a field, decoding is total, and encoding undoes it."""

from __future__ import annotations

import random

import pytest

from lanewise.errors import UsageError
from lanewise.pto import FaultKind, PtoFault, decode_word, encode
from lanewise.pto.rules import RULES
from lanewise.pto.words import FORMS, BundleWord
from lanewise.words import FieldValueError

RULE_IDS = {rule.id for rule in RULES}

# The table of PTO encodings, written a second time: form, mask, match, width.
TABLE = [
    ("BSTART.TEPL", 0x000FFFFF, 0x00019181, 32),
    ("B.DATR", 0x000C707F, 0x00001023, 32),
    ("B.IOR", 0x0600707F, 0x00000013, 32),
    ("B.IOT", 0x0000707F, 0x00004013, 32),
    ("B.IOT", 0xFC00707F, 0x00005013, 32),
    ("B.IOT", 0xFFF0707F, 0x00006013, 32),
    ("B.IOS", 0xF00871FF, 0x00001013, 32),
    ("B.DIM", 0x0000707F, 0x00000043, 32),
    ("B.DIM", 0x0000707F, 0x00001043, 32),
    ("B.DIM", 0x0000707F, 0x00002043, 32),
    ("BSTOP", 0xFFFFFFFF, 0x00000001, 32),
    ("C.B.DIMI", 0x003F, 0x003C, 16),
    ("C.BSTOP", 0xFFFF, 0x0000, 16),
]


def outcome(raw: int, width: int) -> tuple[str, BundleWord | PtoFault]:
    """``ok`` with the word, or the id of the rule that refused it."""
    try:
        return "ok", decode_word(f"{raw:0{width // 4}x}")
    except PtoFault as fault:
        known = fault.kind is FaultKind.ILLEGAL_INSTRUCTION and fault.rule in RULE_IDS
        return fault.rule if known else "no such rule", fault


def check_total(raw: int, width: int) -> str:
    """One value: a form with all its bits, or a typed reason; the table decides which form."""
    rule, found = outcome(raw, width)
    if width != (32 if raw & 1 else 16):
        assert rule == "encoding.length"
        return rule
    forms = {form for form, mask, match, wide in TABLE if wide == width and raw & mask == match}
    assert len(forms) <= 1
    if not forms:
        assert rule in ("encoding.none", "B.DIM.lb")
        return rule
    form = forms.pop()
    if isinstance(found, PtoFault):
        assert rule.startswith(f"{form}.")
        return rule
    assert found.form == form
    assert int(found) == raw
    fields = found.field_values()
    assert int(encode(form, **without_derived(fields))) == raw
    assert sum(leaf.field.mask for leaf in found.leaves()) == (1 << width) - 1
    return "ok"


def without_derived(fields: dict[str, int | None]) -> dict[str, int | None]:
    """The fields that an encoder takes: the selector repeats mode and function."""
    return {name: value for name, value in fields.items() if name != "selector"}


def test_every_compressed_word_decodes_or_says_why() -> None:
    seen = {check_total(raw, 16) for raw in range(1 << 16)}
    assert seen == {"ok", "encoding.none", "encoding.length", "C.B.DIMI.lb"}


def test_random_words_decode_or_say_why() -> None:
    pick = random.Random(1)
    for _ in range(20_000):
        check_total(pick.getrandbits(32), 32)


@pytest.mark.parametrize(("form", "mask", "match", "width"), TABLE)
def test_words_of_every_form_decode_or_say_why(
    form: str, mask: int, match: int, width: int
) -> None:
    pick = random.Random(form)
    seen = set()
    for _ in range(5_000):
        seen.add(check_total(pick.getrandbits(width) & ~mask | match, width))
        # One bit off the form: another form, or none.
        check_total(match ^ 1 << pick.randrange(1, width), width)
    assert "ok" in seen


@pytest.mark.parametrize("form", FORMS)
def test_every_code_of_every_field(form: type[BundleWord]) -> None:
    """Assigned codes decode to themselves; a reserved one is refused by its field's rule."""
    base = form(size=1) if "size" in form.fields else form()
    for name, field in form.fields.items():
        if field.is_filler:
            continue
        for raw in range(1 << min(field.width, 12)):
            word = form.from_bits(field.insert(int(base), raw))
            rule, found = outcome(int(word), form.width)
            if rule == "ok":
                assert isinstance(found, BundleWord)
                assert found.field_values()[name] == raw
            else:
                assert rule == f"{form.form}.{name}"


@pytest.mark.parametrize(
    ("form", "fields", "raw"),
    [
        ("BSTART.TEPL", {"selector": 0x0D, "dtype": "FP32"}, 0x08D19181),
        ("BSTART.TEPL", {"selector": 0x1A, "dtype": "BF16"}, 0x29A19181),
        ("BSTART.TEPL", {"selector": 0x2D, "dtype": "U8"}, 0xDAD19181),
        ("BSTART.TEPL", {"selector": 0x3A, "dtype": "U8"}, 0xDBA19181),
        ("BSTART.TEPL", {"selector": 0x7E, "dtype": "U8"}, 0xDFE19181),
        ("B.IOR", {"src0": "a0", "src1": "a1", "src2": "a2"}, 0x20310013),
        ("B.IOR", {"dst": "a3"}, 0x00000293),
        ("B.IOT", {"pemode": 1, "last": 1, "size": 1}, 0x0008E213),
        ("B.IOT", {"src0": 0, "src1": 17, "pemode": 1, "last": 1}, 0x44084213),
        (
            "B.IOT",
            {"src0": 32, "src1": 0, "pemode": 7, "last": 1, "hand": "N", "size": 2},
            0x02094F93,
        ),
        ("B.DIM", {"lb": "LB0", "src": "a0", "imm": 16}, 0x01010043),
        ("B.DIM", {"lb": "LB1", "imm": 4097}, 0x001010C3),
        ("C.B.DIMI", {"lb": "LB1", "imm": 32}, 0x483C),
        ("B.DATR", {"cmode": "GT"}, 0x61F01023),
    ],
)
def test_known_words(form: str, fields: dict[str, object], raw: int) -> None:
    assert int(encode(form, **fields)) == raw


def test_encoding_refuses_what_does_not_fit() -> None:
    with pytest.raises(UsageError, match="unknown form"):
        encode("B.XYZ")
    with pytest.raises(UsageError, match="needs src0"):
        encode("B.IOT", src1=3, size=1)
    with pytest.raises(FieldValueError, match=r"0\.\.63"):
        encode("B.IOT", src0=64)
    with pytest.raises(UsageError, match=r"0\.\.127"):
        encode("BSTART.TEPL", selector=128)


@pytest.mark.parametrize("text", ["0x123", "", "xyz", "-0001", "0x1_00"])
def test_words_are_hexadecimal_numbers_of_four_or_eight_digits(text: str) -> None:
    with pytest.raises(UsageError):
        decode_word(text)


@pytest.mark.parametrize("raw", [-1, 1 << 32])
def test_numbers_outside_a_word_are_refused(raw: int) -> None:
    with pytest.raises(UsageError):
        decode_word(raw)


def test_a_reserved_code_says_what_is_assigned() -> None:
    with pytest.raises(PtoFault) as caught:
        decode_word("0xd9f01023")
    assert str(caught.value) == (
        "IllegalInstruction: B.DATR cmode (bits 31..29) is 6, a reserved code; "
        "assigned are 0..5 [B.DATR.cmode]"
    )
