"""Looking into images that these tests build: what is planted is found, and nothing else."""

from __future__ import annotations

import struct
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanewise.errors import UsageError
from lanewise.view.firmware import find_names, find_tables, opened_image, parse_image

CAYMAN_OPCODES = bytes.fromhex("41 45 46 47 51 52 7b 7c 7d 7e be f0 f2")
SUNDA_OPCODES = bytes.fromhex("41 43 44 46 47 49 67 68 74 79 7a 7c 7d 7e 92 b8 bb e7")
CODE = 0x01000000


def record(spec: int, opcode: int, address: int) -> bytes:
    return bytes((0, 0, spec, opcode)) + address.to_bytes(4, "little")


def table(opcodes: bytes, base: int = CODE + 0x3000, repeated: int = 0) -> bytes:
    """A table of these opcodes, the first ``repeated`` of them again under another spec."""
    keys = [(0, opcode) for opcode in opcodes] + [(1, opcode) for opcode in opcodes[:repeated]]
    return b"".join(record(*key, base + 0xA0 * place) for place, key in enumerate(keys))


def noise(size: int, seed: int = 1) -> bytes:
    return Random(seed).randbytes(size)


def elf(body: bytes, *, width: int = 32, order: str = "<", address: int = CODE) -> bytes:
    """An image with one executable segment of ``body`` at file offset 0x100."""
    machine = 94
    if width == 32:
        entry = struct.pack(order + "8I", 1, 0x100, address, address, len(body), len(body), 5, 4)
        head = struct.pack(
            order + "HHIIIIIHHH", 2, machine, 1, address, 52, 0, 0, 52, len(entry), 1
        )
    else:
        entry = struct.pack(
            order + "IIQQQQQQ", 1, 5, 0x100, address, address, len(body), len(body), 4
        )
        head = struct.pack(
            order + "HHIQQQIHHH", 2, machine, 1, address, 64, 0, 0, 64, len(entry), 1
        )
    ident = b"\x7fELF" + bytes((1 if width == 32 else 2, 1 if order == "<" else 2, 1)) + bytes(9)
    front = (ident + head).ljust(52 if width == 32 else 64, b"\0") + entry
    return front.ljust(0x100, b"\0") + body


@pytest.mark.parametrize("place", [0, 8, 0x7400, 0x7404, 0x7401, 0x7406])
def test_a_table_in_noise_is_found_wherever_it_lies(place: int) -> None:
    planted = table(CAYMAN_OPCODES, repeated=4)
    data = noise(place) + planted + noise(5000, 2)
    (found,) = find_tables(parse_image(data)).tables
    assert found.offset == place
    assert found.size == len(planted) == 0x88
    assert found.resembles == "cayman POOL"
    assert [(r.spec, r.opcode) for r in found.records[:4]] == [
        (0, 0x41), (0, 0x45), (0, 0x46), (0, 0x47)
    ]  # fmt: skip
    assert found.records[2].name == "COPY"


def test_the_published_records() -> None:
    data = bytes.fromhex("0000004550000001 00000046c0400001 0000004760410001 000001f080330001")
    (found,) = find_tables(parse_image(bytes(64) + data + bytes(64))).tables
    assert [(r.spec, r.opcode, r.address) for r in found.records[1:]] == [
        (0, 0x46, 0x010040C0),
        (0, 0x47, 0x01004160),
        (1, 0xF0, 0x01003380),
    ]


@pytest.mark.parametrize("between", [b"", bytes(4), bytes(8), bytes(64)])
def test_two_tables(between: bytes) -> None:
    data = table(CAYMAN_OPCODES) + between + table(SUNDA_OPCODES, CODE + 0x200000)
    found = find_tables(parse_image(data)).tables
    assert [t.resembles for t in found] == ["cayman POOL", "sunda POOL"]
    assert [len(t.records) for t in found] == [13, 18]


IMPLAUSIBLE = {
    "too short": table(CAYMAN_OPCODES[:3]),
    "one function for all": b"".join(record(0, opcode, CODE) for opcode in CAYMAN_OPCODES),
    "one opcode for all": b"".join(record(spec, 0x46, CODE + 4 * spec) for spec in range(12)),
    "unassigned opcodes": table(bytes.fromhex("0b 0c 0d 0e 10 11 12 13 14")),
    "the invalid opcode": b"".join(record(s, 0xFF, CODE + 4 * s) for s in range(9)),
    "odd addresses": b"".join(
        record(0, opcode, CODE + 1 + 4 * place) for place, opcode in enumerate(CAYMAN_OPCODES)
    ),
    "scattered addresses": b"".join(
        record(0, opcode, place << 24 | 4) for place, opcode in enumerate(CAYMAN_OPCODES, 1)
    ),
    "null addresses": b"".join(record(0, opcode, 0) for opcode in CAYMAN_OPCODES),
    "large specialisations": b"".join(
        record(16 + place, opcode, CODE + 4 * place) for place, opcode in enumerate(CAYMAN_OPCODES)
    ),
    "not zero in front": b"".join(
        b"\1" + record(0, opcode, CODE + 4 * place)[1:]
        for place, opcode in enumerate(CAYMAN_OPCODES)
    ),
}


@pytest.mark.parametrize("name", IMPLAUSIBLE)
def test_what_only_looks_like_a_table(name: str) -> None:
    assert find_tables(parse_image(bytes(40) + IMPLAUSIBLE[name] + bytes(40))).tables == ()


@pytest.mark.parametrize("width", [32, 64])
def test_an_elf_image_gives_addresses(width: int) -> None:
    body = noise(0x1000) + table(CAYMAN_OPCODES, CODE + 0x100) + noise(0x3000, 3)
    image = parse_image(elf(body, width=width))
    assert image.kind == f"ELF{width}, little-endian, Xtensa"
    (found,) = find_tables(image).tables
    assert found.offset == 0x1100
    assert found.address == CODE + 0x1000
    assert found.records[0].function_offset == 0x200
    outside = parse_image(elf(noise(64) + table(CAYMAN_OPCODES, 0x9000000), width=width))
    assert find_tables(outside).tables == ()


def test_relative_addresses_in_an_elf_image() -> None:
    body = bytes(0x4000) + table(CAYMAN_OPCODES, 0x1000)
    (found,) = find_tables(parse_image(elf(body))).tables
    assert len(found.records) == 13


def test_big_endian_headers_are_read() -> None:
    image = parse_image(elf(bytes(64), order=">"))
    assert image.kind == "ELF32, big-endian, Xtensa"
    assert image.address_of(0x100) == CODE


BROKEN_ELF = {
    "magic alone": b"\x7fELF",
    "no class": b"\x7fELF" + bytes(60),
    "cut header": elf(bytes(64))[:40],
    "cut segment": elf(bytes(640))[:0x180],
    "table past the end": elf(bytes(64))[:28] + b"\xff\xff\xff\x7f" + elf(bytes(64))[32:],
    "many entries": elf(bytes(64))[:44] + b"\xff\xff" + elf(bytes(64))[46:],
    "small entries": elf(bytes(64))[:42] + b"\x01\x00" + elf(bytes(64))[44:],
}


@pytest.mark.parametrize("name", BROKEN_ELF)
def test_a_broken_elf_image_is_searched_as_it_is(name: str) -> None:
    image = parse_image(BROKEN_ELF[name] + table(SUNDA_OPCODES) + b"\0S: Cast\n")
    if name not in ("cut segment", "cut header"):
        assert image.kind == "raw"
        assert image.trouble is not None
    assert len(find_tables(image).tables) == 1
    assert [n.name for n in find_names(image).self_names] == ["Cast"]


def names(text: bytes) -> dict[str, tuple[int, str | None, str | None]]:
    found = find_names(parse_image(text))
    return {n.name: (n.count, n.engine_class, n.instruction) for n in found.self_names}


def test_names_and_their_classes() -> None:
    text = b"\0S: Halt\n" * 16 + b"\0S: CopyPredicated\n" * 4 + b"\0S: Copy\n" * 3
    text += b"\0S: Unheard\n" * 5
    assert names(text) == {
        "Copy": (3, "ACT, PE or POOL", "COPY"),
        "CopyPredicated": (4, "DVE", "COPY_PREDICATED"),
        "Halt": (16, "sequencer", "HALT"),
        "Unheard": (5, None, None),
    }


def test_whole_names_only() -> None:
    text = b"\0S: CopyPredicated\n" * 4 + b"\0S: CopyPredicatedScalar\n" * 4
    text += b"\0S: CopyPredicatedReduce\n" * 4
    assert [count for count, _, _ in names(text).values()] == [4, 4, 4]
    found = find_names(parse_image(text))
    assert found.notes[0] == (
        "'S: CopyPredicated' begins CopyPredicatedReduce, CopyPredicatedScalar too: "
        "12 hits as a substring, 4 as a whole name"
    )
    assert "'S: CopyPredicatedReduce' is SELECT_REDUCE" in found.notes


@pytest.mark.parametrize(
    "text",
    [
        b"\0S: Copy%d\n",  # a format
        b"\0S: Copy and more\n",
        b"GPUS: Copy\n",  # the end of other text
        b"\0S: Copy",  # nothing ends it
        b"\0S:Copy\n",
        b"\0S: 9lives\n",
        b"\0S: " + b"A" * 100 + b"\n",
    ],
)
def test_what_is_no_name(text: bytes) -> None:
    assert names(text) == {}


def test_the_traps() -> None:
    text = b"\0S: MatchReplace\n" * 4 + b"\0S: FindIndex8\n" * 4
    found = find_names(parse_image(text))
    assert names(text)["MatchReplace"] == (4, "DVE", "MATCH_REPLACE8")
    assert "'S: MatchReplace' is MATCH_REPLACE8" in found.notes
    assert any(note.startswith("no 'S: Max8'") for note in found.notes)
    odd = find_names(parse_image(b"\0S: MatchReplace8\n\0S: Max8\n\0S: FindIndex8\n"))
    assert any("'S: MatchReplace8' is unusual" in note for note in odd.notes)
    assert not any(note.startswith("no 'S: Max8'") for note in odd.notes)


def test_kernel_messages() -> None:
    text = b"P%i: Copy : num_chans=%d\0P%i: Cast : num_chans\0P%i: Cast : num_chans\0"
    assert dict(find_names(parse_image(text)).kernel_messages) == {"Copy": 1, "Cast": 2}


@given(st.binary(max_size=2000))
def test_any_bytes(data: bytes) -> None:
    image = parse_image(data)
    for found in find_tables(image).tables:
        assert found.offset + found.size <= len(data)
    find_names(image)


@given(st.binary(max_size=300))
def test_any_bytes_after_an_elf_magic(data: bytes) -> None:
    parse_image(b"\x7fELF\x01\x01" + data)
    parse_image(b"\x7fELF\x02\x02" + data)


def test_chunks_do_not_hide_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lanewise.view.firmware.tables._CHUNK_WORDS", 7)
    for place in range(0, 60, 4):
        data = noise(place, 5) + table(CAYMAN_OPCODES) + noise(90, 6)
        (found,) = find_tables(parse_image(data)).tables
        assert (found.offset, len(found.records)) == (place, 13)


def test_a_file_of_nothing_but_records_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lanewise.view.firmware.tables._MOST_CANDIDATES", 1000)
    data = b"".join(record(place % 16, 0x46, CODE + 4 * place) for place in range(2000))
    assert not find_tables(parse_image(data)).is_complete
    assert find_tables(parse_image(data[:4000])).is_complete


def test_a_large_sparse_file_is_mapped(tmp_path: Path) -> None:
    path = tmp_path / "large.img"
    with path.open("wb") as stream:
        stream.seek((64 << 20) - 1000)
        stream.write(table(CAYMAN_OPCODES) + b"\0S: Cast\n")
    with opened_image(str(path)) as image:
        (found,) = find_tables(image).tables
        assert found.offset == (64 << 20) - 1000
        assert len(find_names(image).self_names) == 1


def test_files_that_cannot_be_images(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    huge = tmp_path / "huge"
    with huge.open("wb") as stream:
        stream.truncate((1 << 30) + 1)
    expected = {
        str(empty): "empty",
        str(tmp_path): "folder|directory",
        str(tmp_path / "none"): "no such file",
        str(huge): "images up to 1 GiB",
        "/dev/null": "no regular file",
    }
    for path, message in expected.items():
        with pytest.raises(UsageError, match=message), opened_image(path):
            pass
