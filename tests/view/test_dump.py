"""Annotated hex: every bit is shown, and what is wrong stands where it is."""

from __future__ import annotations

from random import Random

import pytest

from lanewise.check.generators import legal_word, random_word
from lanewise.neuron import GENERATIONS, Profile, check, decode
from lanewise.neuron.instructions import BY_OPCODE
from lanewise.view.dump import WRONG, Dumper, rendered

CAYMAN = GENERATIONS["cayman"]
LEGAL = legal_word(BY_OPCODE[0x47], CAYMAN, Profile.ISA, Random(1))


def lines(data: bytes, *, brief: bool = False) -> list[tuple[str, str]]:
    return list(rendered(Dumper(CAYMAN).word(data), brief=brief))


@pytest.mark.parametrize("generation", GENERATIONS)
def test_every_bit_of_a_word_is_in_one_row(generation: str) -> None:
    rng = Random(1)
    dumper = Dumper(GENERATIONS[generation])
    for _ in range(300):
        data = random_word(generation, rng)
        dump = dumper.word(data)
        if dump.reason is not None:
            continue
        covered = 0
        for row in dump.rows:
            assert row.data == data[row.first_byte : row.first_byte + len(row.data)]
            for run in row.bits:
                mask = run.mask << 8 * row.first_byte
                assert not covered & mask
                covered |= mask
        assert covered == (1 << 512) - 1


@pytest.mark.parametrize("generation", GENERATIONS)
def test_every_broken_rule_is_beside_its_field(generation: str) -> None:
    rng = Random(2)
    dumper = Dumper(GENERATIONS[generation])
    for _ in range(300):
        data = random_word(generation, rng)
        dump = dumper.word(data)
        if dump.reason is not None:
            continue
        broken = check(data, generation)
        assert dump.broken == broken
        assert sorted(b.rule for row in dump.rows for b in row.broken) == sorted(
            b.rule for b in broken
        )
        for row in dump.rows:
            for rule in row.broken:
                assert row.path == rule.field or row.path.startswith((f"{rule.field}.", rule.field))


def test_reserved_bits_that_are_set_stand_out() -> None:
    data = bytearray(LEGAL.to_bytes())
    data[41] = 0x10
    (wrong,) = [row for row in Dumper(CAYMAN).word(bytes(data)).rows if row.must_be_zero]
    assert (wrong.path, wrong.first_byte, wrong.meaning) == ("reserved", 39, "must be zero")
    shown = [(line, style) for line, style in lines(bytes(data)) if line.startswith("! ")]
    assert len(shown) == 1
    assert "00 00 10 00 00" in shown[0][0]
    assert shown[0][1] == WRONG


def test_a_legal_word_has_no_marks() -> None:
    shown = lines(LEGAL.to_bytes())
    assert not any(line.startswith("!") or style == WRONG for line, style in shown)
    assert shown[0][0] == "0x0000  word 0: CAST (S4D4_TR)"


def test_brief_leaves_out_what_is_as_usual() -> None:
    shown = [line for line, _ in lines(LEGAL.to_bytes(), brief=True)]
    assert not any("header.opcode" in line for line in shown)
    assert any("in_dtype" in line for line in shown)


def test_bytes_that_are_no_word() -> None:
    shown = [line for line, _ in lines(b"Zello, no word\x00\x01" * 4)]
    assert shown[0].startswith("0x0000  word 0: no word: byte 0 is 0x5a")
    assert shown[1] == (
        "  0x0000  5a 65 6c 6c 6f 2c 20 6e 6f 20 77 6f 72 64 00 01  Zello, no word.."
    )
    assert len(shown) == 5


def test_the_end_of_the_input() -> None:
    dumps = list(Dumper(CAYMAN).words([LEGAL.to_bytes() + b"abc"]))
    assert [dump.title for dump in dumps] == ["CAST (S4D4_TR)", "end of input"]
    assert dumps[1].offset == 64
    assert dumps[1].reason == "3 of the 64 bytes of a word"


def test_an_unmodelled_word_shows_its_bytes() -> None:
    data = bytes([0x02, 16]) + bytes(range(62))
    dump = Dumper(CAYMAN).word(data)
    assert dump.title == "MATMUL (S3D3_MM), not modelled"
    assert dump.rows[-1].path == "payload"
    assert dump.rows[-1].data == data[12:]
    text = "\n".join(line for line, _ in rendered(dump))
    assert data[-2:].hex(" ") in text


def test_documents_are_plain_values() -> None:
    document = Dumper(CAYMAN).word(LEGAL.replace(op=3).to_bytes()).document()
    assert document["broken"] == ["bypass"]
    (row,) = [field for field in document["fields"] if field["broken"]]
    assert (row["field"], row["value"], row["meaning"]) == ("op", "0x3", "ARITH_SHIFT_RIGHT")


def test_meanings_of_addresses_follow_the_generation() -> None:
    word = decode(LEGAL.replace(src={"start": {"address": 0x2128810}}).to_bytes(), "cayman")

    def meaning(generation: str) -> str:
        rows = Dumper(GENERATIONS[generation]).word(word.to_bytes()).rows
        return next(row.meaning for row in rows if row.path == "src.start.address")

    assert meaning("cayman") == "psum partition 37 offset 0x810"
    assert meaning("maverick") == "sbuf partition 33 offset 0x28810"
