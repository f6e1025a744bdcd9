"""Hex as people paste it."""

from __future__ import annotations

from random import Random

import pytest

from lanewise.text.diagnostics import AssemblyError
from lanewise.text.hexadecimal import looks_like_hex, parse_hex

DATA = Random(1).randbytes(64)
PLAIN = DATA.hex()


def _dump(offset: int) -> str:
    piece = DATA[offset : offset + 16]
    return "".join(chr(byte) if 32 <= byte < 127 else "." for byte in piece)


PASTED = {
    "digits": PLAIN,
    "upper case": PLAIN.upper(),
    "bytes": DATA.hex(" "),
    "words": DATA.hex(" ", -4),
    "colons": DATA.hex(":"),
    "dashes": DATA.hex("-"),
    "lines": DATA.hex("\n", 8),
    "one number": "0x" + PLAIN,
    "byte numbers": ", ".join(f"0x{byte:02x}" for byte in DATA),
    "short numbers": ",".join(f"0X{byte:x}" for byte in DATA),
    "words as numbers": " ".join(
        f"0x{int.from_bytes(DATA[i : i + 4], 'little'):08x}" for i in range(0, 64, 4)
    ),
    "long words as numbers": " ".join(
        f"0x{int.from_bytes(DATA[i : i + 8], 'little'):016x}" for i in range(0, 64, 8)
    ),
    "quoted": f'"{PLAIN}"',
    "Python bytes": "b'" + "".join(f"\\x{byte:02x}" for byte in DATA) + "'",
    "Python list": "[" + ", ".join(f"'{byte:02x}'" for byte in DATA) + "]",
    "Python call": "bytes.fromhex('" + PLAIN + "')",
    "C string": '"' + '"\n"'.join(f"\\x{byte:02x}" for byte in DATA) + '"',
    "C array": "static const uint8_t code[64] = {\n  "
    + ", ".join(f"0x{byte:02x}" for byte in DATA)
    + ",  // the end: 0x00\n};",
    "C array of words": "const uint32_t code[][4] = { /* 0xff */ {"
    + "}, {".join(
        ", ".join(
            f"0x{int.from_bytes(DATA[i : i + 4], 'little'):x}u" for i in range(row, row + 16, 4)
        )
        for row in range(0, 64, 16)
    )
    + "} };\n",
    "xxd": "\n".join(
        f"{i:08x}: {DATA[i : i + 16].hex(' ', 2)}  {_dump(i)}" for i in range(0, 64, 16)
    ),
    "hexdump -C": "\n".join(
        f"{i:08x}  {DATA[i : i + 8].hex(' ')}  {DATA[i + 8 : i + 16].hex(' ')}  |{_dump(i)}|"
        for i in range(0, 64, 16)
    )
    + "\n00000040\n",
    "gdb": "\n".join(
        f"0x7ffe{i:04x} <word+{i}>:\t" + "\t".join(f"0x{byte:02x}" for byte in DATA[i : i + 8])
        for i in range(0, 64, 8)
    ),
    "assembly": f'x"{DATA.hex(" ", -4)}"',
}


@pytest.mark.parametrize("form", PASTED)
def test_forms(form: str) -> None:
    assert parse_hex(PASTED[form]) == DATA
    assert looks_like_hex(PASTED[form].encode())


def test_groups_as_numbers() -> None:
    assert parse_hex("08d19181 00100043 0001", groups_are_numbers=True).hex() == (
        "8191d108430010000100"
    )


REFUSED = {
    "47 1": "x:1:4: error: 1 hex digits make no whole number of bytes",
    "47\nhello": "x:2:1: error: 'hello' is no hex",
    "0x4g": "x:1:1: error: '0x4g' is no hex",
    "47 é": "x:1:4: error: the character 'é' means nothing here",
}


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text: str) -> None:
    with pytest.raises(AssemblyError) as raised:
        parse_hex(text, name="x")
    assert str(raised.value).startswith(REFUSED[text])


def test_all_that_is_wrong_is_told_up_to_a_point() -> None:
    with pytest.raises(AssemblyError) as raised:
        parse_hex("zz " * 10_000, name="x")
    assert 100 <= len(raised.value.diagnostics) <= 101
    assert "too many errors" in raised.value.diagnostics[-1].message
    assert str(raised.value).endswith("\n… and 81 more")


def test_words_do_not_look_like_hex() -> None:
    assert not looks_like_hex(bytes.fromhex("47100000") + bytes(60))
    assert not looks_like_hex(b"")
    assert not looks_like_hex(b"   \n")
