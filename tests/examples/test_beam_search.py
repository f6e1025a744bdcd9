"""The beam search example: machine and NumPy agree, and a disagreement would be seen."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

ROOT = Path(__file__).parents[2]
if str(ROOT) not in sys.path:
    # The examples are not installed; they are run from the root of the checkout.
    sys.path.insert(0, str(ROOT))

from examples.beam_search import model as model_module  # noqa: E402
from examples.beam_search import reference  # noqa: E402
from examples.beam_search.__main__ import main  # noqa: E402
from examples.beam_search.model import (  # noqa: E402
    END,
    PAUSE,
    UNKNOWN,
    Bigrams,
    count_bigrams,
    documentation,
    sentences,
)
from examples.beam_search.program import BEST, Layout, one_step  # noqa: E402
from examples.beam_search.reference import Ties, search_in_numpy  # noqa: E402
from examples.beam_search.search import (  # noqa: E402
    Best,
    Outcome,
    Settings,
    differences,
    search_on_machine,
)

from lanewise.kernels import available_engines  # noqa: E402
from lanewise.neuron import GENERATIONS, PROFILES, Instruction, NeuronCore, check  # noqa: E402
from lanewise.neuron.instructions import MatchValueLoad  # noqa: E402

PROMPTS = [(5,), (7, 11), (3,)]
SETTINGS = Settings(beams=6, steps=6, least=4)
INFINITY = np.float32(np.inf)


@dataclass(frozen=True)
class HandMade:
    """Rows that are given rather than counted."""

    table: NDArray[np.float32]

    @property
    def words(self) -> Sequence[str]:
        return [f"word{number}" for number in range(len(self.table))]

    def row(self, word: int) -> NDArray[np.float32]:
        row: NDArray[np.float32] = self.table[word]
        return row


def tie_heavy(words: int, values: int = 5) -> HandMade:
    """Rows of so few different values that every eight and every cut has ties."""
    random = np.random.default_rng(words)
    steps = random.integers(1, values + 1, (words, words)).astype(np.float32)
    return HandMade(-steps / np.float32(3))


def compare(
    core: NeuronCore, program: Sequence[Instruction], model: HandMade, via_bfloat16: bool
) -> tuple[Outcome, list[str], Ties]:
    found = search_on_machine(core, program, model, PROMPTS, SETTINGS)
    expected, ties = search_in_numpy(model, PROMPTS, SETTINGS, via_bfloat16=via_bfloat16)
    return found, differences(found, expected), ties


def program_for(core: NeuronCore, model: HandMade, via_bfloat16: bool) -> tuple[Instruction, ...]:
    lanes = len(PROMPTS) * SETTINGS.beams
    return one_step(core.generation, Layout(len(model.words)), lanes, via_bfloat16=via_bfloat16)


@pytest.mark.parametrize("via_bfloat16", [False, True])
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("generation", ["sunda", "maverick"])
@pytest.mark.parametrize("words", [20, 41, 300])
def test_ties_are_settled_as_numpy_settles_them(
    words: int, generation: str, profile: str, via_bfloat16: bool
) -> None:
    """With 20 words a beam has fewer than sixteen candidates: the rest is -inf."""
    model, core = tie_heavy(words), NeuronCore(generation, profile)
    outcome, found, ties = compare(
        core, program_for(core, model, via_bfloat16), model, via_bfloat16
    )
    assert found == []
    assert ties.tied == ties.rows > 50
    assert ties.scores > 0
    assert (ties.cut > 0) == (words > 20)
    assert any(np.isneginf(best.values[-1]) for best in outcome.steps[-1].values()) == (words == 20)


@pytest.mark.parametrize("engine", available_engines())
def test_one_row_worked_by_hand(engine: str) -> None:
    """Nineteen candidates: falling values, equal ones in rising position, the cut inside a tie."""
    row = np.full(32, -9, dtype=np.float32)
    row[[UNKNOWN, PAUSE]] = -0.5  # the largest of all, and forbidden
    row[END] = -1
    row[[30, 6, 9]] = -2
    row[[4, 31, 8, 20, 12, 3]] = -3
    row[[10, 29, 11]] = -4
    row[[7, 28, 14, 15, 27, 26]] = -5
    table = np.tile(row, (32, 1))
    core = NeuronCore(engine=engine)
    program = one_step(core.generation, Layout(32), 2, via_bfloat16=False)
    settings = Settings(beams=2, steps=1, least=2)
    outcome = search_on_machine(core, program, HandMade(table), [(5,)], settings)
    best = outcome.steps[0][0, 0]
    # The prompt has one word and a sentence needs two, so END is forbidden too.
    assert best.values.tolist() == [-2] * 3 + [-3] * 6 + [-4] * 3 + [-5] * 4
    assert best.positions.tolist() == [6, 9, 30, 3, 4, 8, 12, 20, 31, 10, 11, 29, 7, 14, 15, 26]
    assert outcome.sentences[0].words == (5, 6)


def test_a_wrong_order_of_ties_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison can fail: NumPy settling ties by falling position differs at once."""

    def last_first(row: NDArray[np.float32]) -> Best:
        order = np.lexsort((-np.arange(len(row)), -row))[:BEST]
        return Best.of(row[order], order)

    model, core = tie_heavy(41), NeuronCore()
    program = program_for(core, model, False)
    assert compare(core, program, model, False)[1] == []
    monkeypatch.setattr(reference, "best_of", last_first)
    found = compare(core, program, model, False)[1]
    assert found[0] == "step 1, prompt 1, beam 1: other words"


@pytest.mark.parametrize("left_out", [3, 4, 5])
def test_a_program_with_a_word_left_out_is_detected(left_out: int) -> None:
    """FIND_INDEX8, the second load of its keys, and the replacement are all needed."""
    model, core = tie_heavy(41), NeuronCore()
    program = list(program_for(core, model, False))
    name = program.pop(left_out).name
    assert name == ("FIND_INDEX8", "MATCH_VALUE_LOAD", "MATCH_REPLACE8")[left_out - 3]
    assert compare(core, program, model, False)[1] != []


def test_keys_in_the_other_order_are_detected() -> None:
    model, core = tie_heavy(41), NeuronCore()
    program = program_for(core, model, False)
    plain = program[4]
    assert isinstance(plain, MatchValueLoad)
    assert compare(core, (*program[:2], plain, *program[3:]), model, False)[1] != []


def test_a_variant_is_not_taken_for_the_other() -> None:
    model, core = tie_heavy(41), NeuronCore()
    assert compare(core, program_for(core, model, True), model, False)[1] != []


def test_sentences_obey_the_rules() -> None:
    model, core = tie_heavy(41), NeuronCore()
    model.table[:, END] = -0.25
    settings = Settings(beams=6, steps=9, least=5, barred=frozenset({10, 20, 30}))
    program = program_for(core, model, False)
    outcome = search_on_machine(core, program, model, PROMPTS, settings)
    for sentence, prompt in zip(outcome.sentences, PROMPTS, strict=True):
        added = sentence.words[len(prompt) :]
        assert len(set(sentence.words)) == len(sentence.words) >= 5
        assert not set(added) & {UNKNOWN, PAUSE, 10, 20, 30}
        assert sentence.is_finished
        score = np.float32(0)
        for before, word in zip(sentence.words[len(prompt) - 1 :], added, strict=False):
            score = score + model.row(before)[word]
        assert score.tobytes() == sentence.score.tobytes()


def test_a_search_without_candidates_ends_with_its_prompt() -> None:
    model, core = HandMade(np.full((20, 20), -INFINITY)), NeuronCore()
    outcome, found, ties = compare(core, program_for(core, model, False), model, False)
    assert found == []
    assert [sentence.words for sentence in outcome.sentences] == PROMPTS
    assert (ties.tied, ties.cut) == (0, 0)


@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize("profile", PROFILES)
def test_the_largest_program_is_legal_everywhere(generation: str, profile: str) -> None:
    for instruction in one_step(GENERATIONS[generation], Layout(16384), 128, via_bfloat16=True):
        assert check(instruction, generation, profile) == ()


def test_bfloat16_rounds_to_nearest_even() -> None:
    bits = np.array([0xBF808000, 0xBF818000, 0xBF808001, 0xFF800000], dtype=np.uint32)
    rounded = reference.through_bfloat16(bits.view(np.float32)).view(np.uint32)
    assert [hex(value) for value in rounded] == [
        "0xbf800000",
        "0xbf820000",
        "0xbf810000",
        "0xff800000",
    ]


def test_bigrams_of_a_small_text() -> None:
    text = (
        "The cat sees the dog, the dog sees the cat.\n\n  rule ::= cat\n\nThe old cat sees a cat."
    )
    found = sentences([text])
    assert found[0] == [
        "the",
        "cat",
        "sees",
        "the",
        "dog",
        ",",
        "the",
        "dog",
        "sees",
        "the",
        "cat",
        ".",
    ]
    model = count_bigrams(found, 7)
    assert model.words == ("</s>", "<unknown>", "<pause>", "the", "cat", "sees", "dog")
    the, cat, sees = model.numbers("the cat sees")
    assert model.following[cat] == {sees: 2, END: 2}
    assert model.following[the] == {cat: 2, 6: 2, UNKNOWN: 1}
    row = model.row(the)
    assert row.dtype == np.float32
    assert np.exp(row).sum() == pytest.approx(1)
    assert row[cat] > row[6] > row[UNKNOWN] > row[sees]
    with pytest.raises(ValueError, match="'cart' is not in the vocabulary; try cat"):
        model.numbers("the cart")


def test_the_documentation_gives_real_ties() -> None:
    _, texts = documentation()
    model = count_bigrams(sentences(texts), 600)
    assert isinstance(model, Bigrams)
    _, ties = search_in_numpy(model, [model.numbers("the")], SETTINGS, via_bfloat16=False)
    assert ties.tied > 0


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("generation", ["cayman", "mariana"])
def test_the_quick_run_agrees(
    generation: str, profile: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "program.bin"
    arguments = ["--quick", "--generation", generation, "--profile", profile, "--save", str(saved)]
    assert main(arguments) == 0
    shown = capsys.readouterr().out
    assert f"machine  {generation}" in shown
    assert "in every bit" in shown.splitlines()[-1]
    words = saved.read_bytes()
    assert [words[at] for at in range(0, len(words), 64)] == [
        0x47, 0x47, 0xE8, 0x6C, 0x6D, 0x6E, 0x6D, 0x6F, 0x6C, 0x6D, 0x6E,
    ]  # fmt: skip
    assert len(words) == 11 * 64


def test_a_difference_fails_the_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    honest = reference.best_of

    def one_bit_off(row: NDArray[np.float32]) -> Best:
        best = honest(row)
        best.values.view(np.uint32)[3] ^= 1
        return best

    monkeypatch.setattr(reference, "best_of", one_bit_off)
    assert main(["--quick"]) == 1
    assert "self-check: FAILED" in capsys.readouterr().out.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--words", "20"], "--words must be 64..16384, not 20"),
        (["--beams", "129"], "--beams must be 1..128"),
        (["--steps", "0"], "--steps and --rounds at least 1"),
        (["--prompt", "the zyzzyva"], "'zyzzyva' is not in the vocabulary"),
        (["--beams", "100", "--prompt", "the", "--prompt", "a"], "need 200 partitions"),
        (["--generation", "caiman"], "cayman"),
        (["--save", "/no/such/folder/program.bin"], "No such file or directory"),
        (["--prompt", ""], "a prompt needs at least one word"),
    ],
)
def test_bad_options_are_explained(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--quick", *arguments])
    assert stop.value.code == 2
    assert message in capsys.readouterr().err


def test_a_python_without_topics_still_has_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydoc_data.topics", None)
    source, texts = model_module.documentation()
    assert source == "docstrings of loaded modules"
    assert len(sentences(texts)) > 100
