"""What can be written: symbols, patterns, scalars, directives, and what they assemble to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lanewise.neuron import Dispatch, NeuronCore, find_generation, indirect, walk
from lanewise.neuron.instructions import BY_OPCODE
from lanewise.neuron.words import Address
from lanewise.text.diagnostics import AssemblyError
from lanewise.text.neuron import assemble, disassemble

CAST, SCALAR, SELECT, RANGE, MAX8 = (BY_OPCODE[c] for c in (0x47, 0xE8, 0xEA, 0xBC, 0x6C))
CAYMAN, MARIANA = find_generation("cayman"), find_generation("mariana")


def one(text: str, generation: str = "cayman") -> object:
    """The only instruction of a text."""
    data = assemble(text, generation).data
    assert len(data) == 64
    return BY_OPCODE[data[0]].from_bytes(data)


def test_the_worked_word() -> None:
    text = "cast dst=fp16 sbuf[p0, 0x200; 4], src=fp32 sbuf[p0, 0x100; 4], channels=2"
    assert assemble(text).data == bytes.fromhex(
        "47100000 00000000 00000000 00010000 0100010001000100 0400010001000100 0a 07 02 00 00 00 00"
        "0000000000 00020000 0100010001000100 0400010001000100"
    )


# Patterns: text, and the same through the constructors.
PATTERNS = {
    "sbuf[p3, 0x40]": walk(CAYMAN.address("sbuf", 3, 0x40)),
    "sbuf[p3, 0x40; 8]": walk(CAYMAN.address("sbuf", 3, 0x40), (1, 8)),
    "sbuf[p3, 64; 8 step -1]": walk(CAYMAN.address("sbuf", 3, 0x40), (-1, 8)),
    "sbuf[p127, 0x37ffc; 4, 3 step 0, 2 step -7, 5 step 100]": walk(
        CAYMAN.address("sbuf", 127, 0x37FFC), (1, 4), (0, 3), (-7, 2), (100, 5)
    ),
    "psum[p37, 0x810; 2]": walk(0x02128810, (1, 2)),
    "addr[0x1fffffff; 2]": walk(0x1FFFFFFF, (1, 2)),
    "reg[r63; 16]": walk(Address.register(63), (1, 16)),
    "reg[63; 16]": walk(Address.register(63), (1, 16)),
    "reg[0x12345; 16]": walk(Address(address=0x12345, in_register=1), (1, 16)),
    "reg[r1; shape_in_register]": walk(Address(address=1, in_register=1, mode=2)),
    "sbuf[p0, 0; unused 7 step 2]": walk(Address(mode=3), (2, 7)),
    "SBUF[P(1 + 2), 4 * (8 + 8); 2 << 2]": walk(CAYMAN.address("sbuf", 3, 0x40), (1, 8)),
}


@pytest.mark.parametrize("text", PATTERNS)
def test_patterns(text: str) -> None:
    word = one(f"cast dst=fp16 {text}, src=fp32 sbuf[p0, 0]")
    assert word == CAST(dst=PATTERNS[text], out_dtype="FP16", src=walk(0), in_dtype="FP32")


def test_index_lists() -> None:
    text = (
        "cast dst=fp16 sbuf[p0, 0x400; 64 via sbuf[p0, 0x80]], "
        'src=fp32 sbuf[p0, 0x800; 9 via reg[r3] inert x"00010203 04050607 0809"]'
    )
    source = indirect(Address.register(3), 0x800, 9).replace(
        inert=int.from_bytes(bytes(range(10)), "little")
    )
    assert one(text, "mariana") == CAST(
        dst=indirect(0x80, 0x400, 64), out_dtype="FP16", src=source, in_dtype="FP32"
    )


def test_a_pattern_without_index_list_where_none_is_allowed() -> None:
    line = "max8 dst=fp32 sbuf[p0, 0x0; 8], src=fp32 sbuf[p0, 0x0; indirect 8]"
    data = assemble(line).data
    assert MAX8.from_bytes(data).src.start.mode == 1
    assert disassemble(data).splitlines()[1] == line


SCALARS = {
    "fp32 1.0": ("FP32", 0, 0x3F800000),
    "fp32 -inf": ("FP32", 0, 0xFF800000),
    "fp32 nan": ("FP32", 0, 0x7FC00000),
    "fp32 0.1": ("FP32", 0, 0x3DCCCCCD),
    "fp32 0x1": ("FP32", 0, 1),
    "float32 -0.0": ("FP32", 0, 0x80000000),
    "bf16 1.5": ("BFLOAT16", 0, 0x3FC0),
    "fp16 65504.0": ("FP16", 0, 0x7BFF),
    "bfloat16 0x1234ff80": ("BFLOAT16", 0, 0x1234FF80),
    "int8 -1": ("INT8", 0, 0xFF),
    "uint16 65535": ("UINT16", 0, 0xFFFF),
    "int32 -2147483648": ("INT32", 0, 0x80000000),
    "fp8_exp4 0x7e": ("FP8_EXP4", 0, 0x7E),
    "fp8_exp5 1.0": ("FP8_EXP5", 0, 0x3C),
    "fp32 @sbuf[p2, 0x40]": ("FP32", 1, CAYMAN.address("sbuf", 2, 0x40)),
    "fp32 @psum[p0, 0]": ("FP32", 1, 0x2000000),
    "fp32 @addr[0xffffffff]": ("FP32", 1, 0xFFFFFFFF),
    "fp32 @reg[r7]": ("FP32", 2, 7),
    "fp32 @reg[0xffffffff]": ("FP32", 2, 0xFFFFFFFF),
    "fp32 0x12345678, scalar_source=9": ("FP32", 9, 0x12345678),
}


@pytest.mark.parametrize("text", SCALARS)
def test_scalars(text: str) -> None:
    dtype, source, raw = SCALARS[text]
    word = one(
        f"copy_predicated_scalar dst=fp32 sbuf[p0, 0], predicate=uint8 sbuf[p0, 0], scalar={text}"
    )
    assert word == SCALAR(
        dst=walk(0),
        out_dtype="FP32",
        predicate=walk(0),
        predicate_dtype="UINT8",
        in_dtype=dtype,
        scalar_source=source,
        scalar=raw,
    )


def test_fields_by_name_path_and_alias() -> None:
    operands = "cast dst=fp16 sbuf[p0, 0], src=fp32 sbuf[p0, 0], "
    expected = one(
        operands + "channels=5, op=max, word_length=17, wait_mode=event_set, semaphore_value=9"
    )
    assert expected == one(
        operands + "num_active_channels=5, op=8, header.word_length=0x11, events.wait_mode=6, "
        "events.semaphore_value=0b1001"
    )
    typed = "cast src=sbuf[p0, 0], dst=sbuf[p0, 0], in_dtype=fp32, out_dtype=FP16, "
    assert one(typed + "channels=5") == one(operands + "channels=5")


def test_order_and_case_do_not_matter() -> None:
    assert one("CAST channels=2, SRC=fp32 sbuf[p0, 0], dst=FP16 sbuf[p0, 4]") == one(
        "cast dst=fp16 sbuf[p0, 4], src=fp32 sbuf[p0, 0], channels=2"
    )


SEARCH = """
.generation trn2                       // the product's name will do
.const KEYS = 8
.buffer logits sbuf p0:128 @0 fp32[4096]
.buffer best   sbuf p0:128 fp32[KEYS]  # behind logits
.buffer place  sbuf p0:128 uint16[KEYS]
.buffer other  sbuf p0:64 @0x8000 fp32[2, 16]

max8             dst=best[KEYS - 1; KEYS step -1], src=logits
match_value_load src=best[KEYS - 1; KEYS step -1]
find_index8      dst=place, src=logits
"""


def test_a_program_with_buffers() -> None:
    assembly = assemble(SEARCH)
    assert [(b.name, b.offset, b.end) for b in assembly.buffers.values()] == [
        ("logits", 0, 0x4000),
        ("best", 0x4000, 0x4020),
        ("place", 0x4040, 0x4050),
        ("other", 0x8000, 0x8080),
    ]
    assert disassemble(assembly.data).splitlines()[1:] == [
        "max8 dst=fp32 sbuf[p0, 0x401c; 8 step -1], src=fp32 sbuf[p0, 0x0; 4096], channels=128",
        "match_value_load src=fp32 sbuf[p0, 0x401c; 8 step -1], channels=128",
        "find_index8 dst=uint16 sbuf[p0, 0x4040; 8], src=fp32 sbuf[p0, 0x0; 4096], channels=128",
    ]
    assert NeuronCore("cayman").run(assembly.program()).executed == 3


BUFFER_FORMS = {
    "copy dst=a, src=a": ("sbuf[p4, 0x100; 32]", 8),
    "copy dst=a[0; 4], src=a[0; 4]": ("sbuf[p4, 0x100; 4]", 8),
    "copy dst=a[3], src=a[3]": ("sbuf[p4, 0x10c]", 8),
    "copy dst=a[p2], src=a[p2]": ("sbuf[p6, 0x100; 32]", 6),
    "copy dst=a[p2:3], src=a": ("sbuf[p6, 0x100; 32]", 3),
    "copy dst=a[p2:3, 8; 2], src=a[8; 2]": ("sbuf[p6, 0x120; 2]", 3),
    "copy dst=a, src=a, channels=2": ("sbuf[p4, 0x100; 32]", 2),
    "copy dst=sbuf[p4:8, 0x100; 32], src=a, in_dtype=fp32, out_dtype=fp32": (
        "sbuf[p4, 0x100; 32]",
        8,
    ),
    "copy dst=int32 a[31; 32 step -1], src=int32 a": ("sbuf[p4, 0x17c; 32 step -1]", 8),
    "copy dst=int8 a[127; 4 step -1], src=int8 a[0; 4]": ("sbuf[p4, 0x17f; 4 step -1]", 8),
}


@pytest.mark.parametrize("line", BUFFER_FORMS)
def test_parts_of_buffers(line: str) -> None:
    pattern, channels = BUFFER_FORMS[line]
    data = assemble(f".buffer a sbuf p4:8 @0x100 fp32[4, 8]\n{line}").data
    text = disassemble(data).splitlines()[1]
    assert pattern in text
    assert text.endswith(f", channels={channels}")


def test_a_buffer_too_long_for_one_dimension_is_walked_in_its_axes() -> None:
    text = ".generation maverick\n.buffer a sbuf p0:1 int8[10, 10000]\ncopy dst=a, src=a"
    assert "sbuf[p0, 0x0; 10000, 10 step 10000]" in disassemble(assemble(text).data, "maverick")


def test_a_pointer_into_a_buffer() -> None:
    text = (
        ".buffer s sbuf p0:128 @0x40 fp32[4]\n.buffer x sbuf p0:128 fp32[8]\n"
        "range_select dst=x, src=x, bound0=@s[1], bound1=2.0"
    )
    word = one(text)
    assert (word.bound0_source, word.bound0) == (1, 0x44)  # type: ignore[attr-defined]


def test_buffers_in_separate_partitions_may_share_offsets() -> None:
    text = (
        ".buffer a sbuf p0:32 fp32[8]\n.buffer b sbuf p32:32 fp32[8]\n.buffer c sbuf p16:32 int8[3]"
        "\n.buffer d psum p0:128 fp32[8]\n"
    )
    offsets = {name: b.offset for name, b in assemble(text).buffers.items()}
    assert offsets == {"a": 0, "b": 0, "c": 64, "d": 0}


def test_engines() -> None:
    line = "copy dst=fp32 sbuf[p0, 0], src=fp32 sbuf[p0, 0]\n"
    text = line + ".engine dve\n" + line + ".engine default\n" + line
    program = list(assemble(text).program())
    assert [isinstance(word, Dispatch) and word.engine for word in program] == [False, "dve", False]
    raw = f'.engine act\n.word x"{assemble(line).data.hex()}"'
    assert [word.engine for word in assemble(raw).program() if isinstance(word, Dispatch)] == [
        "act"
    ]


def test_raw_words_and_bytes() -> None:
    assert assemble('.byte 1, 0x2, x"03 04", 5 + 1').data == bytes((1, 2, 3, 4, 6))
    assert assemble(f'.word X"{"ff" * 64}"').data == b"\xff" * 64
    assert assemble("").data == b""
    assert assemble("// nothing\n\n   # here\r\n").data == b""


def test_the_generation_asked_for_and_the_one_written() -> None:
    assert assemble(".generation mariana").generation is MARIANA
    assert assemble("", "mariana").generation is MARIANA
    assert assemble("").generation is CAYMAN
    assert assemble(".generation trn3", "mariana").generation is MARIANA
    with pytest.raises(AssemblyError, match="for cayman, but it is assembled for mariana"):
        assemble(".generation cayman", "mariana")


def test_addresses_follow_the_generation() -> None:
    line = "copy dst=fp32 sbuf[p37, 0x1a0], src=fp32 sbuf[p37, 0x1a0]"
    assert CAST.from_bytes(assemble(line).data).src.start.address == 0x9401A0
    assert CAST.from_bytes(assemble(line, "maverick").data).src.start.address == 0x25001A0


def test_fields_know_where_they_were_written() -> None:
    text = "cast dst=fp16 sbuf[p0, 0x200; 4], src=fp32 sbuf[p0, 0x100; 4], channels=200"
    (item,) = assemble(text).items

    def written(path: str) -> str:
        span = item.span_of(path)
        return text[span.start : span.end]

    assert written("src.num") == "fp32 sbuf[p0, 0x100; 4]"
    assert written("src.num[0]") == "fp32 sbuf[p0, 0x100; 4]"
    assert written("in_dtype") == "fp32 sbuf[p0, 0x100; 4]"
    assert written("num_active_channels") == "200"
    assert written("header.opcode") == "cast"
    assert written("op") == text


def test_the_example_of_the_page_assembles() -> None:
    page = Path(__file__).parents[2] / "docs" / "assembly.md"
    (example,) = re.findall(r"```text\n(\.generation.*?)```", page.read_text(), re.DOTALL)
    assert assemble(example).data == assemble(SEARCH).data


@pytest.mark.parametrize("generation", ["cayman", "mariana"])
def test_the_patterns_of_the_page_assemble(generation: str) -> None:
    page = Path(__file__).parents[2] / "docs" / "assembly.md"
    table = page.read_text().partition("## Patterns")[2].partition("## Numbers")[0]
    patterns = re.findall(r"^\| `(.*?)` \|", table, re.MULTILINE)
    assert len(patterns) == 11
    for pattern in patterns:
        if " via " in pattern and generation == "cayman":
            continue
        typed = pattern if pattern.startswith("logits") else f"fp32 {pattern}"
        line = f".buffer logits sbuf p0:128 @0 fp32[4096]\ncopy dst={typed}, src={typed}"
        assert len(assemble(line, generation).data) == 64
