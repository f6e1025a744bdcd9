"""The check verb: verdicts on words, one generation or all, in bounded memory."""

from __future__ import annotations

import io
import json
import random
import tracemalloc
from collections import Counter
from pathlib import Path

import pytest
from tests.cli import programs
from tests.cli.conftest import Command

from lanewise.check.generators import legal_word, mutated, random_word
from lanewise.cli.application import main
from lanewise.cli.support import inputs
from lanewise.neuron import GENERATIONS, Profile, check
from lanewise.neuron.instructions import BY_OPCODE

ALL = programs.CAST + programs.ILLEGAL + programs.MALFORMED + programs.UNMODELLED


def test_legal_words_exit_with_0(lanewise: Command) -> None:
    outcome = lanewise("check", stdin=programs.CAST + programs.UNMODELLED)
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out.splitlines() == [
        "  instruction  opcode  words  ok  illegal  unmodelled",
        "  LDWEIGHTS    0x01        1   0        0           1",
        "  CAST         0x47        1   1        0           0",
        "cayman: 2 words: 1 ok, 1 unmodelled",
    ]


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
            "instructions": {
                "cayman": {
                    "CAST": {"ok": 1, "illegal": 1, "malformed": 0, "unmodelled": 0},
                    "LDWEIGHTS": {"ok": 0, "illegal": 0, "malformed": 0, "unmodelled": 1},
                }
            },
            "malformed_opcodes": {"cayman": {"0x00": 1}},
            "broken_rules": {"cayman": {"mask-disabled": 1, "channels": 1, "bypass": 1}},
            "first_broken_rules": {"mask-disabled": 1},
            "not_listed": 0,
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
    assert outcome.out.endswith("\ncayman: 2 words: 1 ok, 1 illegal\n")


def test_the_output_can_be_a_file(lanewise: Command) -> None:
    outcome = lanewise("check", "-o", "found.txt", stdin=ALL)
    assert (outcome.status, outcome.out) == (1, "")
    assert Path("found.txt").read_text().endswith("1 unmodelled\n")


@pytest.mark.parametrize("limit", ["0", "1", "3", "all", None])
def test_the_limit_is_of_listed_words_and_the_summary_counts_all(
    limit: str | None, lanewise: Command
) -> None:
    words = (programs.CAST + programs.ILLEGAL) * 1200
    arguments = [] if limit is None else ["--limit", limit]
    text = lanewise("check", *arguments, stdin=words).out
    most = {None: 1000, "all": 1200}.get(limit) if not (limit or "").isdigit() else int(limit or 0)
    assert most is not None
    assert text.count("CAST illegal") == most
    more = "more " if most else ""
    left = f"… and {1200 - most} {more}words ('--limit all' lists them)\n"
    assert (left in text) == (most < 1200)
    assert "cayman: 2400 words: 1200 ok, 1200 illegal\n" in text
    # Programs that read JSON Lines get all unless they say otherwise.
    *listed, summary = lanewise("check", "--json", *arguments, stdin=words).out.splitlines()
    assert len(listed) == (1200 if limit is None else most)
    assert json.loads(summary)["summary"]["not_listed"] == 1200 - len(listed)


@pytest.mark.parametrize("limit", ["", "-1", "some", "1.5", "0x", "٣"])
def test_a_limit_that_is_no_number_is_refused(limit: str, lanewise: Command) -> None:
    outcome = lanewise("check", "--limit", limit, stdin=programs.CAST)
    assert (outcome.status, outcome.out) == (2, "")
    assert "--limit" in outcome.err


def test_the_summary_agrees_with_words_checked_one_by_one(lanewise: Command) -> None:
    rng = random.Random(11)
    kinds = [kind for kind in BY_OPCODE.values() if GENERATIONS["sunda"] in kind.generations()]
    legal = [legal_word(rng.choice(kinds), "sunda", Profile.ISA, rng) for _ in range(150)]
    words = [mutated(word, rng) for word in legal] + [random_word("sunda", rng) for _ in range(50)]
    out = lanewise("check", "-g", "sunda", "--json", stdin=b"".join(words)).out
    *listed, last = map(json.loads, out.splitlines())
    summary = last["summary"]
    found = [entry["generations"]["sunda"] for entry in listed]
    verdicts = Counter(finding["verdict"] for finding in found)
    assert {name: summary["generations"]["sunda"][name] for name in verdicts} == verdicts
    rules = Counter(broken["rule"] for finding in found for broken in finding["broken"])
    assert summary["broken_rules"]["sunda"] == rules
    first = Counter(finding["broken"][0]["rule"] for finding in found if finding["broken"])
    assert summary["first_broken_rules"] == first
    assert sum(summary["generations"]["sunda"].values()) == summary["words"] == len(words)
    illegal = Counter(finding["name"] for finding in found if finding["verdict"] == "illegal")
    for name, counts in summary["instructions"]["sunda"].items():
        assert counts["illegal"] == illegal[name]


def test_a_large_file_takes_no_more_memory_than_a_small_one(tmp_path: Path) -> None:
    """Peak memory, of Python and NumPy, does not follow the size of the input."""
    piece = (programs.CAST + programs.ILLEGAL) * (1 << 15)
    peaks = []
    for repeats in (1, 8):
        path = tmp_path / f"{repeats}.bin"
        path.write_bytes(piece * repeats)
        tracemalloc.start()
        try:
            main(["check", "--limit", "0", str(path)])
        finally:
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    assert peaks[1] < peaks[0] + len(piece) // 2


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
