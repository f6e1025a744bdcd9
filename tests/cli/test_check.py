"""The check verb: verdicts on words, one generation or all, in bounded memory."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from tests.cli import programs
from tests.cli.conftest import Command

from lanewise.cli.support import inputs
from lanewise.neuron import check

ALL = programs.CAST + programs.ILLEGAL + programs.MALFORMED + programs.UNMODELLED


def test_legal_words_exit_with_0(lanewise: Command) -> None:
    outcome = lanewise("check", stdin=programs.CAST + programs.UNMODELLED)
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out == "cayman: 2 words: 1 ok, 1 unmodelled\n"


@pytest.mark.parametrize("word", [programs.ILLEGAL, programs.MALFORMED])
def test_other_words_exit_with_1(word: bytes, lanewise: Command) -> None:
    assert lanewise("check", stdin=programs.CAST + word).status == 1


def test_json_lines_tell_every_broken_rule_in_order(lanewise: Command) -> None:
    *words, summary = map(json.loads, lanewise("check", "--json", stdin=ALL).out.splitlines())
    assert [(word["index"], word["offset"]) for word in words] == [(1, 64), (2, 128)]
    broken = words[0]["generations"]["cayman"]["broken"]
    assert [rule["rule"] for rule in broken] == [rule.rule for rule in check(programs.ILLEGAL)]
    assert words[1]["generations"]["cayman"]["reason"] == "opcode"
    assert summary == {
        "summary": {
            "words": 4,
            "generations": {"cayman": {"ok": 1, "illegal": 1, "malformed": 1, "unmodelled": 1}},
            "first_broken_rules": {"mask-disabled": 1},
        }
    }


def test_all_generations_have_their_own_verdict(lanewise: Command) -> None:
    # What is an address in PSUM elsewhere is one in the larger SBUF of maverick.
    outcome = lanewise("check", "-g", "all", "--json", stdin=programs.PSUM_COPY)
    first, summary = map(json.loads, outcome.out.splitlines())
    assert {name: found["verdict"] for name, found in first["generations"].items()} == {
        "sunda": "illegal",
        "cayman": "illegal",
        "mariana": "illegal",
        "maverick": "ok",
    }
    assert outcome.status == 1
    assert summary["summary"]["generations"]["maverick"]["ok"] == 1
    assert lanewise("check", "-g", "all", "--surface", "act", stdin=programs.PSUM_COPY).status == 0
    every = lanewise("check", "-g", "all", "--json", "--every", stdin=ALL).out.splitlines()
    assert [json.loads(line)["index"] for line in every[:-1]] == [0, 1, 2, 3]


def test_several_files_are_told_apart(lanewise: Command) -> None:
    Path("a.bin").write_bytes(programs.CAST)
    Path("b.bin").write_bytes(programs.ILLEGAL)
    outcome = lanewise("check", "a.bin", "b.bin")
    assert outcome.out.startswith("b.bin: word 0 (0x0): CAST illegal\n")
    assert outcome.out.endswith("cayman: 2 words: 1 ok, 1 illegal\n")


def test_the_output_can_be_a_file(lanewise: Command) -> None:
    outcome = lanewise("check", "-o", "found.txt", stdin=ALL)
    assert (outcome.status, outcome.out) == (1, "")
    assert Path("found.txt").read_text().endswith("1 unmodelled\n")


def test_input_is_read_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    class Endless(io.RawIOBase):
        """Gives 100 bytes a call, for ever."""

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
            memoryview(buffer).cast("B")[:100] = b"\x47" * 100
            return 100

    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(Endless())))
    pieces = inputs.word_pieces("-", 64)
    sizes = [len(next(pieces)) for _ in range(8)]
    assert all(0 < size < 1 << 20 and size % 64 == 0 for size in sizes)
