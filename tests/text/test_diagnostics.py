"""Messages, word for word, and where they point."""

from __future__ import annotations

import pickle

import pytest

from lanewise.errors import LanewiseError
from lanewise.text.diagnostics import AssemblyError, Diagnostic, Source, Span
from lanewise.text.neuron import assemble


def message(text: str) -> str:
    with pytest.raises(AssemblyError) as raised:
        assemble(text, name="x.nasm")
    return str(raised.value)


def test_a_whole_message() -> None:
    text = "\ncast dst=fp61 sbuf[p0, 0x200; 4], src=fp32 sbuf[p0, 0x100; 4], op_dim=xx"
    assert message(text) == (
        "x.nasm:2:10: error: unknown type 'fp61'\n"
        " 2 | cast dst=fp61 sbuf[p0, 0x200; 4], src=fp32 sbuf[p0, 0x100; 4], op_dim=xx\n"
        "   |          ^~~~ did you mean 'fp16'?\n"
        "   = expected one of invalid, uint64, int8, uint8, int16, uint16, bfloat16, fp16, int32, "
        "uint32, fp32, fp32r, int64, fp8_exp3, fp8_exp4, fp8_exp5 and 14 more\n"
        "x.nasm:2:71: error: unknown op_dim 'xx'\n"
        " 2 | cast dst=fp61 sbuf[p0, 0x200; 4], src=fp32 sbuf[p0, 0x100; 4], op_dim=xx\n"
        f"   | {' ' * 70}^~ did you mean 'x'?\n"
        "   = expected one of unused, x, xy, xyz, xyzw"
    )


CAST = "cast dst=fp16 sbuf[p0, 0x200; 4], src=fp32 sbuf[p0, 0x100; 4], channels=2"

# A line that is right but for one thing: what is replaced, by what, and the message's first line
# (after the file's name), what it expects, and what it suggests.
MUTATED: list[tuple[str, str, str, str, str]] = [
    ("cast", "cats", "1:1: error: unknown instruction 'cats'", "one of copy, cast", "'cast'"),
    ("cast", "pool", "1:1: error: pool is not modelled", ".word", ""),
    ("cast", "4cast", "1:1: error: a line does not begin with '4cast'", "an instruction", ""),
    ("dst", "dts", "1:6: error: unknown argument of cast 'dts'", "dst, src, channels", "'dst'"),
    ("dst=", "", "1:6: error: an argument of cast needs its name", "name=value", ""),
    ("dst=", "dst ", "1:10: error: 'fp16' does not belong here", "'=' between", ""),
    ("fp16", "fp_16", "1:10: error: unknown type 'fp_16'", "fp16", "'fp16'"),
    ("fp16 ", "", "1:10: error: dst has no type", "fp16", ""),
    ("fp16 ", "0x100 ", "1:10: error: a type code is 0x100", "0..255", ""),
    ("sbuf[p0, 0x2", "sbfu[p0, 0x2", "1:15: error: unknown buffer or memory 'sbfu'", "", "'sbuf'"),
    ("sbuf[p0, 0x2", "[p0, 0x2", "1:15: error: the type 'fp16' without a place", "sbuf[…]", ""),
    ("p0, 0x2", "p128, 0x2", "1:20: error: no partition 128", "p0..p127", ""),
    ("p0, 0x2", "q0, 0x2", "1:20: error: 'q0' does not belong here", "a partition, as in", ""),
    ("p0, 0x200", "p0", "1:22: error: ';' does not belong here", "',' and a byte offset", ""),
    ("0x200", "0x40000", "1:24: error: a byte offset is 0x40000", "0..0x3ffff", ""),
    ("0x200", "0x2g0", "1:24: error: '0x2g0' is no number", "0x and hex digits", ""),
    ("0x200", "OFFSET", "1:24: error: 'OFFSET' is no constant", "a byte offset", ""),
    ("; 4], src", "; 4 stepp 2], src", "1:33: error: 'stepp' does not belong", "'step' and", ""),
    ("; 4], src", "; 65536], src", "1:31: error: a number of elements is 65536", "0..65535", ""),
    ("; 4], src", "; 4 step 32768], src", "1:38: error: a step is 32768", "-32768..32767", ""),
    ("; 4], src", "; 1,1,1,1,1], src", "1:31: error: dst has 4 dimensions at most", "", ""),
    ("; 4], src", "; 4, src", "1:34: error: 'src' is no constant", "a number of elements", ""),
    ("; 4], src", "; indirect], src", "1:31: error: an indirect pattern without", "'via'", ""),
    ("channels=2", "channels=256", "1:73: error: channels is 256", "0..255", ""),
    ("channels=2", "channels=2.5", "1:73: error: channels is a whole number", "", ""),
    ("channels=2", "channels=", "1:73: error: the line ends here", "channels", ""),
    ("channels=2", "channels=2 3", "1:75: error: '3' does not belong here", "',' and another", ""),
    ("channels=2", "channels=2,", "1:75: error: the line ends here", "an argument", ""),
    ("channels=2", "channels=2, channels=3", "1:76: error: num_active_channels has", "", ""),
    ("channels=2", "channels=(1 + 2", "1:79: error: the line ends here", "')'", ""),
    ("channels=2", "channels=1/0", "1:73: error: a division by zero", "", ""),
    ("channels=2", "channels=1<<65", "1:73: error: a shift by 65", "0..64", ""),
    ("channels=2", 'reserved=x"00"', "1:73: error: 1 bytes for reserved", "", ""),
    ("channels=2", 'reserved=x"0g"', "1:76: error: 'g' is no hex digit", "", ""),
    ("channels=2", "reserved=0x1ffffffffff", "1:73: error: reserved is 0x1ff", "0..0xffff", ""),
    ("channels=2", "op=byepass", "1:67: error: unknown op 'byepass'", "bypass", "'bypass'"),
    ("channels=2", "dst=fp16 sbuf[p0, 0]", "1:64: error: dst has been given", "", ""),
    ("channels=2", "in_dtype=fp16", "1:64: error: in_dtype has been given another value", "", ""),
    (", src=fp32 sbuf[p0, 0x100; 4]", "", "1:1: error: cast needs src", "the elements to co", ""),
    ("p0, 0x100", "p0:3, 0x100", "1:52: error: 3 partitions here, but channels is 2", "", ""),
    ("4]", "4 via sbuf[p0, 0]]x", "1:49: error: 'x' does not belong here", "','", ""),
    ("channels=2", "channels=2 ?", "1:75: error: the character '?' means nothing", "", ""),
    ("channels=2", 'channels="2"', "1:73: error: a quote that is not closed", "", ""),
    ("channels=2", "channels=é", "1:73: error: the character 'é' means nothing here", "", ""),
]


@pytest.mark.parametrize("mutation", MUTATED, ids=lambda m: f"{m[0]}->{m[1]}")
def test_a_mutated_line(mutation: tuple[str, str, str, str, str]) -> None:
    old, new, first, expected, suggested = mutation
    assert old in CAST
    assemble(CAST)
    lines = message(CAST.replace(old, new, 1)).splitlines()
    assert lines[0].startswith(f"x.nasm:{first}")
    place = next(i for i, line in enumerate(lines) if "^" in line)
    assert suggested in lines[place]
    if expected:
        assert expected in lines[place + 1]


DIRECTIVES: dict[str, str] = {
    ".genration cayman": "1:1: error: unknown directive '.genration'",
    ".generation": "1:12: error: the line ends here",
    ".generation trn9": "1:13: error: unknown generation 'trn9'",
    ".generation cayman x": "1:20: error: 'x' does not belong here",
    ".engine gpsimd": "1:9: error: unknown engine 'gpsimd'",
    ".const = 3": "1:8: error: '=' does not belong here",
    ".const A 3": "1:10: error: '3' does not belong here",
    ".const A = B": "1:12: error: 'B' is no constant of this file",
    ".const A = 1\n.const A = 2": "2:8: error: 'A' has a meaning since line 1",
    ".const A = 0xffffffffffffffff * 2": "1:12: error: a number beyond 64 bits",
    ".const A = 1.5 + 1": "1:12: error: '+' takes whole numbers, not floats",
    ".const A = 1e999": "1:12: error: an exponent beyond 400",
    ".const A = " + "(" * 50: "1:53: error: an expression nested this deep",
    ".const A = " + "9" * 100: "1:12: error: a number of 100 characters is too long",
    ".buffer a dram p0:1 fp32[1]": "1:11: error: unknown memory 'dram'",
    ".buffer a sbuf 0 fp32[1]": "1:16: error: '0' does not belong here",
    ".buffer a sbuf p0:129 fp32[1]": "1:16: error: 129 partitions from p0",
    ".buffer a sbuf p100:29 fp32[1]": "1:16: error: 29 partitions from p100",
    ".buffer a sbuf p0 @2 fp32[1]": "1:19: error: 0x2 is not aligned to the 4 bytes",
    ".buffer a sbuf p0 fp33[1]": "1:19: error: unknown dtype 'fp33'",
    ".buffer a sbuf p0 fp32[0]": "1:24: error: a number of elements is 0",
    ".buffer a sbuf p0 fp32[60000]": "1:9: error: a ends at byte 0x3a980, past the 0x38000 bytes",
    ".buffer a sbuf p0 fp32[2": "1:25: error: the line ends here",
    ".generation maverick\n.buffer a psum p0 fp32[1]": "2:11: error: unknown memory 'psum'",
    ".buffer a sbuf p0 fp32[1]\n.generation sunda": "2:13: error: what stands above was read for",
    '.word x"00"': "1:7: error: a word has 64 bytes, here are 1",
    ".word 3": "1:7: error: '3' does not belong here",
    ".byte 256": '1:7: error: a byte, or several as in x"47 10" is 256',
    '.byte x"123"': "1:7: error: 3 hex digits make no whole number of bytes",
    ".generation sunda\nrange_select dst=fp32 sbuf[p0,0]": "2:1: error: sunda has no range_select",
    ".engine dve\nnonzero_with_count dst=int32 sbuf[p0,0], src=fp32 sbuf[p0,0]": (
        "2:1: error: nonzero_with_count does not run on dve, which .engine names"
    ),
    "]": "1:1: error: a line does not begin with ']'",
}


@pytest.mark.parametrize("text", DIRECTIVES)
def test_directives(text: str) -> None:
    assert message(text).startswith(f"x.nasm:{DIRECTIVES[text]}")


BUFFERED: dict[str, str] = {
    "copy dst=a[p8], src=a": "past the partitions of a, which are its p0..p7",
    "copy dst=a[p4:5], src=a": "past the partitions of a, which are its p0..p7",
    "copy dst=a[32], src=a": "an element of a is 32",
    "copy dst=a[0; 33], src=a": "the walk leaves a: it covers bytes 0..131 of 0..127",
    "copy dst=a[0; 2 step -1], src=a": "the walk leaves a: it covers bytes -4..3 of 0..127",
    "copy dst=int8 a, src=a": "a holds elements of 4 bytes, not of 1",
    "copy dst=a, src=b": "4 partitions here, 8 in the operand before",
    "copy dst=a, src=b, channels=5": "4 partitions here, but channels is 5",
    "copy dst=a, src=sbuf": "the line ends here",
    "copy dst=a, src=fp32 A": "unknown buffer or memory 'A'",
    "copy dst=a[a], src=a": "'a' is no constant of this file",
    "range_select dst=a, src=a, base=10": "a whole number is ambiguous for base",
    "range_select dst=a, src=a, bound0=10": "a whole number is ambiguous for FP32",
    "range_select dst=a, src=a, base=1e39": "FP32 does not reach that far",
    "range_select dst=a, src=a, bound0=bf16 1.0": "the type is always fp32 here",
    "select_reduce dst=a, predicate=a, data=a, imm0=0x1f 1.0": "a float does not go into dtype",
    "select_reduce dst=a, predicate=a, data=a, imm0=int8 128": "INT8 holds -128..127, not 128",
    "copy_predicated_scalar dst=a, predicate=a, scalar=0x1": "scalar has no type",
}


@pytest.mark.parametrize("line", BUFFERED)
def test_buffers_and_scalars(line: str) -> None:
    text = f".buffer a sbuf p0:8 fp32[4, 8]\n.buffer b sbuf p0:4 fp32[4, 8]\n{line}"
    first = message(text).splitlines()[0]
    assert first.startswith("x.nasm:3:")
    assert BUFFERED[line] in first


def test_every_error_of_a_file_is_told_in_order() -> None:
    text = "foo\n\nmax8 dst=fp32 sbuf[p0, 0; 8], src=fp32 sbuf[p0, 0; 9 9], chan=1\n.word 1\n"
    found = [line.split(" error: ")[0] for line in message(text).splitlines() if " error: " in line]
    assert found == ["x.nasm:1:1:", "x.nasm:3:54:", "x.nasm:3:58:", "x.nasm:4:7:"]


def test_what_follows_from_a_reported_error_is_not_told() -> None:
    text = ".buffer a sbuf p0:8 fp33[8]\n.const N = M\ncopy dst=a, src=a[N; 2]\n"
    assert message(text).count(" error: ") == 2


def test_a_line_with_an_error_is_checked_no_further_than_it_makes_sense() -> None:
    assert message("cast dst=fp16 sbuf[p0, 0], src=fp32 sbuf[p0, 0").count(" error: ") == 1


def rendered(text: str, span: Span) -> list[str]:
    return Source(text, "t").render(Diagnostic(span, "m", "e", "s")).splitlines()


def test_tabs_stay_tabs_under_the_caret() -> None:
    assert rendered("\tab\tcd", Span(4, 6)) == [
        "t:1:5: error: m",
        " 1 | \tab\tcd",
        "   | \t  \t^~ s",
        "   = expected e",
    ]


def test_wide_and_combining_characters() -> None:
    assert rendered("漢字 x", Span(3, 4))[1:3] == [" 1 | 漢字 x", "   |      ^ s"]
    assert rendered("漢字 x", Span(0, 2))[2] == "   | ^~~~ s"
    assert rendered("e\u0301x", Span(2, 3))[2] == "   |  ^ s"


def test_control_characters_are_not_printed() -> None:
    assert rendered("a\x1b[31mb\x07", Span(6, 7))[1] == " 1 | a�[31mb�"


def test_a_long_line_is_cut_around_the_place() -> None:
    lines = rendered("a" * 5000 + "b" + "c" * 5000, Span(5000, 5001))
    assert len(lines[1]) < 130
    assert lines[1].count("…") == 2
    caret = lines[2].index("^")
    assert lines[1][caret] == "b"


def test_the_end_of_a_line_and_of_the_text() -> None:
    assert rendered("ab\r\ncd", Span(2, 2))[1:3] == [" 1 | ab", "   |   ^ s"]
    assert rendered("ab\n", Span(3, 3))[0] == "t:2:1: error: m"
    assert rendered("", Span(0, 0))[:3] == ["t:1:1: error: m", " 1 |", "   | ^ s"]


def test_lines_are_those_of_editors() -> None:
    source = Source("a\rb\r\nc\x0bd\u2028e\nf")
    assert source.line_count == 4
    assert source.position(source.text.index("e")) == (3, 5)


def test_the_error_is_lanewises_and_travels_between_processes() -> None:
    with pytest.raises(LanewiseError) as raised:
        assemble("foo", name="x.nasm")
    copy = pickle.loads(pickle.dumps(raised.value))
    assert isinstance(copy, AssemblyError)
    assert str(copy) == str(raised.value)
    assert copy.diagnostics == raised.value.diagnostics  # type: ignore[attr-defined]


@pytest.mark.parametrize(("count", "last"), [(20, ""), (21, "… and 1 more"), (79, "… and 59 more")])
def test_a_long_list_of_errors_is_cut(count: int, last: str) -> None:
    with pytest.raises(AssemblyError) as raised:
        assemble("cats\n" * count)
    assert len(raised.value.diagnostics) == count
    rows = str(raised.value).splitlines()
    assert sum(": error: " in row for row in rows) == min(count, 20)
    assert rows[-1] == last if last else not rows[-1].startswith("…")
