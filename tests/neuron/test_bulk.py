"""Many words at once: in everything what the check of one word says."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanewise.check.generators import legal_word, mutated, random_word
from lanewise.errors import UsageError
from lanewise.model import MalformedWord
from lanewise.neuron import GENERATIONS, Generation, Profile, bulk, check, check_words, decode
from lanewise.neuron.bulk import VERDICTS
from lanewise.neuron.instruction import ENGINES, Instruction
from lanewise.neuron.instructions import BY_OPCODE

PROFILES = {
    "isa": Profile.ISA,
    "hardware": Profile.named("hardware"),
    "fits": Profile.ISA.with_(partition_window="fits"),
}


def one_by_one(
    words: list[bytes], generation: Generation, profile: Profile, engine: str | None
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Verdict and broken rules of each word, asked singly."""
    for word in words:
        try:
            instruction = decode(word, generation)
        except MalformedWord:
            yield "malformed", ()
            continue
        if not isinstance(instruction, Instruction):
            yield "unmodelled", ()
            continue
        runs_on = engine if engine in instruction.engines else None
        rules = tuple(broken.rule for broken in check(instruction, generation, profile, runs_on))
        yield ("illegal" if rules else "ok"), rules


def assert_agrees(
    words: list[bytes], generation: Generation, profile: Profile, engine: str | None
) -> None:
    report = check_words(b"".join(words), generation, profile, engine)
    assert len(report) == len(words)
    wanted = list(one_by_one(words, generation, profile, engine))
    for index, (verdict, rules) in enumerate(wanted):
        got = report.verdict(index), report.broken_rules(index)
        assert got == (verdict, rules), f"{generation} {engine} {words[index].hex()}"
    tally = report.tally()
    assert tally.total == len(words)
    verdicts = Counter(verdict for verdict, _ in wanted)
    assert tally.by_verdict() == {name: verdicts[name] for name in VERDICTS}
    pairs = [(word[0], rules) for word, (_, rules) in zip(words, wanted, strict=True) if rules]
    every = Counter((opcode, rule) for opcode, rules in pairs for rule in rules)
    first = Counter((opcode, rules[0]) for opcode, rules in pairs)
    for ours, theirs in ((tally.broken, every), (tally.first, first)):
        flat = {(opcode, rule): n for opcode, rules in ours.items() for rule, n in rules.items()}
        assert flat == theirs


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("generation", GENERATIONS.values(), ids=str)
def test_many_words_are_what_each_of_them_is(generation: Generation, profile: str) -> None:
    rng = random.Random(f"{generation} {profile}")
    words = []
    for kind in BY_OPCODE.values():
        if generation in kind.generations():
            legal = [legal_word(kind, generation, Profile.ISA, rng) for _ in range(8)]
            words += [word.to_bytes() for word in legal]
            for word in legal * 4:
                damaged = mutated(word, rng)
                words.append(damaged if rng.randrange(2) else mutated(damaged, rng))
    words += [random_word(generation, rng) for _ in range(100)]
    for engine in (None, *ENGINES):
        assert_agrees(words, generation, PROFILES[profile], engine)


@pytest.mark.parametrize("generation", GENERATIONS.values(), ids=str)
@pytest.mark.parametrize("opcode", BY_OPCODE)
def test_each_byte_of_a_word_at_its_ends_and_between(opcode: int, generation: Generation) -> None:
    """One byte at a time is something else: fields, modes, dimensions and addresses."""
    kind = BY_OPCODE[opcode]
    rng = random.Random(opcode)
    if generation not in kind.generations():
        pytest.skip(f"{generation} has no {kind.name}")
    word = legal_word(kind, generation, Profile.ISA, rng).to_bytes()
    words = [
        word[:place] + bytes([value]) + word[place + 1 :]
        for place in range(1, 64)
        for value in (0, 1, 2, 0x7F, 0x80, 0xFF, rng.randrange(256))
    ]
    assert_agrees(words, generation, Profile.ISA, None)


@given(st.binary(min_size=0, max_size=300), st.sampled_from(sorted(GENERATIONS)))
def test_any_bytes_are_words_or_a_usage_error(data: bytes, generation: str) -> None:
    if len(data) % 64:
        with pytest.raises(UsageError, match="left over"):
            check_words(data, generation)
        return
    words = [data[start : start + 64] for start in range(0, len(data), 64)]
    assert_agrees(words, GENERATIONS[generation], Profile.ISA, None)


def test_words_come_as_bytes_or_as_an_array(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(5)
    words = b"".join(random_word("cayman", rng) for _ in range(70))
    wanted = check_words(words)
    table = np.frombuffer(words, np.uint8).reshape(-1, 64)
    wide = np.zeros((70, 128), np.uint8)
    wide[:, ::2] = table
    reversed_view = memoryview(words[::-1])[::-1]
    for same in (
        bytearray(words),
        memoryview(words),
        reversed_view,
        table,
        wide[:, ::2],
        table[::-1][::-1],
    ):
        got = check_words(same)
        assert np.array_equal(got.broken, wanted.broken)
        assert np.array_equal(got.verdicts, wanted.verdicts)
        assert got.tally() == wanted.tally()
    # Where the words are cut into parts makes no difference.
    monkeypatch.setattr(bulk, "_TOGETHER", 7)
    assert np.array_equal(check_words(words).broken, wanted.broken)


def test_tallies_add_up() -> None:
    rng = random.Random(6)
    words = b"".join(
        mutated(legal_word(kind, "cayman", Profile.ISA, rng), rng)
        for kind in BY_OPCODE.values()
        for _ in range(20)
    )
    whole, cut = check_words(words).tally(), 64 * 111
    parts = check_words(words[:cut]).tally()
    assert parts != whole
    parts.add(check_words(words[cut:]).tally())
    assert parts == whole
    assert sum(sum(rules.values()) for rules in whole.first.values()) == int(
        whole.words[:, VERDICTS.index("illegal")].sum()
    )
    assert check_words(b"").tally().total == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("47", "str"),
        (None, "NoneType"),
        (np.zeros((2, 63), np.uint8), r"\[2, 63\]"),
        (np.zeros(64, np.uint8), r"\[64\]"),
        (np.zeros((1, 64), np.int8), "int8"),
        (bytes(65), "1 are left over"),
    ],
)
def test_what_is_no_words_is_refused(words: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        check_words(words)  # type: ignore[arg-type]


def test_names_are_checked_first() -> None:
    for arguments in (("volta",), ("cayman", "guess"), ("cayman", "isa", "tensor")):
        with pytest.raises(UsageError):
            check_words(b"", *arguments)


def test_every_rule_has_a_bit_and_a_name_of_its_own() -> None:
    for kind in BY_OPCODE.values():
        names = [rule.id for rule in kind.rules]
        assert len(names) == len(set(names)) <= 64
