"""The verbs about text, images and the instruction set: what goes in and out, and bad input."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import numpy as np
import pytest
from tests.cli import programs, texts
from tests.cli.conftest import Command

from lanewise.text.neuron import assemble

REFUSED: dict[str, tuple[list[str], str]] = {
    "asm: missing": (["asm", "nowhere.nasm"], "no such file"),
    "asm: folder": (["asm", "."], "is a folder"),
    "asm: generation": (["asm", "search.nasm", "-g", "caymen"], "'cayman'"),
    "asm: format": (["asm", "search.nasm", "--format", "elf"], "'elf'"),
    "asm: profile": (["asm", "search.nasm", "--check", "-p", "hard"], "'hardware'"),
    "asm: no folder": (["asm", "search.nasm", "-o", "no/x.bin"], "no folder"),
    "asm: words": (["asm", "ok.bin"], "ok.bin: these are binary words; 'lanewise dis ok.bin'"),
    "dis: text": (["dis", "search.nasm"], "this is assembly text; 'lanewise asm search.nasm'"),
    "dis: text, not hex": (["dis", "search.nasm", "--input", "hex"], "this is assembly text"),
    "dis: text of PTO": (["dis", "compare.pto"], "'lanewise asm compare.pto' makes words of it"),
    "dump: text": (["dump", "commented.nasm"], "'lanewise asm commented.nasm' makes words of it"),
    "run: text": (["run", "search.nasm"], "'lanewise asm search.nasm | lanewise run -' runs it"),
    "check: text": (["check", "commented.nasm"], "'lanewise asm commented.nasm | lanewise run -'"),
    "check: text of PTO": (["check", "compare.txt"], "PTO machine; name --machine pto"),
    "run: array": (["run", "array.npy"], "arrays go in with 'run --load'"),
    "run: array for PTO": (["run", "array.npy", "--machine", "pto"], "'run --load'"),
    "dis: missing": (["dis", "nowhere.bin"], "no such file"),
    "dis: missing after a good one": (["dis", "ok.bin", "nowhere.bin"], "no such file"),
    "dis: empty": (["dis", "empty.bin"], "empty; expected words or hex text"),
    "dis: empty standard input": (["dis"], "standard input: empty"),
    "dis: empty hex": (["dis", "--hex", " , "], "--hex: empty; expected words or hex text"),
    "dump: empty hex": (["dump", "--hex", ""], "--hex: empty; expected words or hex text"),
    "dis: generation": (["dis", "ok.bin", "-g", "trn9"], "'trn2'"),
    "dis: input": (["dis", "ok.bin", "--input", "text"], "'text'"),
    "dump: missing": (["dump", "nowhere.bin"], "no such file"),
    "dump: surface": (["dump", "ok.bin", "--surface", "sp"], "surface"),
    "dump: profile field": (["dump", "ok.bin", "--set", "fp8=fn"], "fp8_exp4"),
    "isa: verb": (["isa", "shwo", "copy"], "shwo"),
    "isa: unknown": (["isa", "show", "copi"], "'copy'"),
    "isa: unmodelled": (["isa", "show", "MATMUL"], "assigned but not modelled"),
    "isa: endless": (["isa", "show", "x" * 100_000], "instruction"),
    "isa: nothing found": (["isa", "search", "nonsense"], "nothing in the instruction set"),
    "isa: generation": (["isa", "list", "-g", "sundae"], "'sunda'"),
    "isa: one generation": (["isa", "diff", "sunda"], "NEW"),
    "isa: table": (["isa", "export", "--format", "csv", "--table", "field"], "'fields'"),
    "firmware: nothing": (["firmware"], "FILE"),
    "firmware: missing": (["firmware", "nowhere"], "no such file"),
    "firmware: folder": (["firmware", "."], "directory"),
    "firmware: empty": (["firmware", "empty.bin"], "empty"),
}


@pytest.fixture
def folder(lanewise: Command) -> Path:
    """The working folder with texts, images and words."""
    texts.write(Path.cwd())
    Path("ok.bin").write_bytes(programs.CAST)
    Path("empty.bin").touch()
    # A size that words could have, a comment first, and more than ASCII in it.
    text = "\n// eight largest …\ncopy dst=int8 sbuf[p0, 0; 4], src=int8 sbuf[p0, 64; 4]\n".encode()
    Path("commented.nasm").write_bytes(text + b"\n" * (-len(text) % 64))
    Path("compare.txt").write_text(texts.COMPARE)
    np.save("array.npy", np.ones((4, 16), np.float32))
    return Path.cwd()


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.usefixtures("folder")
def test_bad_input_gives_one_line_and_status_2(name: str, lanewise: Command) -> None:
    arguments, mentioned = REFUSED[name]
    outcome = lanewise(*arguments)
    outcome.assert_refused()
    assert mentioned in outcome.err
    assert len(outcome.err) < 1000


def test_text_is_known_through_a_pipe_too(lanewise: Command) -> None:
    text = texts.SEARCH.encode()
    for verb in ("dis", "dump", "run", "check"):
        outcome = lanewise(verb, stdin=text)
        outcome.assert_refused()
        assert "standard input: this is assembly text; 'lanewise asm" in outcome.err
    lanewise("asm", stdin=programs.CAST).assert_refused()


@pytest.mark.usefixtures("folder")
def test_a_text_with_errors_writes_nothing(lanewise: Command) -> None:
    outcome = lanewise("asm", "broken.nasm", "-o", "x.bin")
    assert outcome.status == 2
    assert outcome.out == ""
    assert outcome.err.endswith("lanewise: 4 errors\n")
    assert not Path("x.bin").exists()


@pytest.mark.usefixtures("folder")
def test_words_go_to_a_file_a_pipe_and_into_the_machine(lanewise: Command) -> None:
    assert lanewise("asm", "search.nasm", "-o", "x.bin").status == 0
    data = Path("x.bin").read_bytes()
    assert data == assemble(texts.SEARCH).data
    assert lanewise("run", "x.bin").status == 0
    assert lanewise("dis", "x.bin").out.count("\n") == 4


@pytest.mark.usefixtures("folder")
def test_dis_and_asm_are_inverse(lanewise: Command) -> None:
    rng = Random(1)
    data = rng.randbytes(64 * 40 + 13) + bytes((0x47, 16)) + rng.randbytes(70)
    Path("random.bin").write_bytes(data)
    text = lanewise("dis", "random.bin", "-g", "mariana").out
    Path("random.nasm").write_text(text)
    lanewise("asm", "random.nasm", "-o", "again.bin")
    assert Path("again.bin").read_bytes() == data
    assert lanewise("dis", "again.bin", "-g", "mariana").out == text


@pytest.mark.parametrize("option", ["--offsets", "--json"])
@pytest.mark.usefixtures("folder")
def test_other_forms_of_the_same_words(option: str, lanewise: Command) -> None:
    plain = lanewise("dis", "rest.bin").out.splitlines()
    other = lanewise("dis", "rest.bin", option).out.splitlines()
    if option == "--json":
        assert [json.loads(line)["text"] for line in other] == [
            line.split("  //")[0] for line in plain[1:]
        ]
    else:
        assert assemble("\n".join(other)).data == Path("rest.bin").read_bytes()


def test_words_come_from_standard_input_in_any_form(lanewise: Command) -> None:
    expected = lanewise("dis", stdin=programs.CAST)
    assert expected.status == 0
    for text in (programs.CAST.hex(), ", ".join(f"0x{byte:02x}" for byte in programs.CAST)):
        assert lanewise("dis", stdin=text.encode()) == expected
        assert lanewise("dis", "-", stdin=text.encode()) == expected
        assert lanewise("dis", "--hex", text) == expected
    assert lanewise("dis", "--input", "hex", stdin=programs.CAST.hex().encode()) == expected
    raw = lanewise("dis", "--input", "binary", stdin=programs.CAST.hex().encode())
    assert raw.out.splitlines()[1].startswith('.byte x"34373130 ')


@pytest.mark.usefixtures("folder")
def test_a_text_comes_from_standard_input(lanewise: Command) -> None:
    named = lanewise("asm", "search.nasm", "--format", "hex")
    assert lanewise("asm", "--format", "hex", stdin=texts.SEARCH.encode()) == named
    bom = lanewise("asm", "--format", "hex", stdin=b"\xef\xbb\xbf" + texts.SEARCH.encode())
    assert bom == named
    garbage = lanewise("asm", stdin=b"copy \xff\xfe")
    assert garbage.status == 2
    assert garbage.err.startswith("standard input:1:6: error: the character")


@pytest.mark.usefixtures("folder")
def test_check_tells_the_place_of_every_broken_rule(lanewise: Command) -> None:
    outcome = lanewise("asm", "illegal.nasm", "--check", "--json")
    assert outcome.status == 1
    document = json.loads(outcome.out)
    places = [(entry["line"], entry["column"]) for entry in document["broken"]]
    assert places == [(2, 51), (2, 28), (2, 10), (3, 10), (3, 10)]
    assert lanewise("asm", "search.nasm", "--check", "-o", "x.bin").status == 0


@pytest.mark.usefixtures("folder")
def test_exports_are_what_they_say(lanewise: Command) -> None:
    assert json.loads(lanewise("isa", "export").out)["schema"] == "lanewise.isa/1"
    assert "$defs" in json.loads(lanewise("isa", "export", "--schema").out)
    assert lanewise("isa", "export", "--format", "markdown").out.startswith("# NeuronCore")
    for form, start in (("svg", "<svg"), ("html", "<!doctype"), ("markdown", "##"), ("json", "{")):
        assert lanewise("isa", "show", "COPY", "--format", form).out.startswith(start)
