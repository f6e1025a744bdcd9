"""The examples' programs exist as assembly too, and assemble to the same words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from examples.beam_search.program import Layout, one_step
from examples.hif4_pack import chains

from lanewise.neuron import GENERATIONS
from lanewise.pto import BundleWord
from lanewise.text import neuron, pto

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(
    ("file", "via_bfloat16"), [("step.nasm", False), ("step_through_bfloat16.nasm", True)]
)
def test_a_step_of_the_beam_search(file: str, via_bfloat16: bool) -> None:
    program = one_step(GENERATIONS["cayman"], Layout(2500), 128, via_bfloat16=via_bfloat16)
    text = (EXAMPLES / "beam_search" / file).read_text(encoding="utf-8")
    data = b"".join(instruction.to_bytes() for instruction in program)
    assert neuron.assemble(text, name=file).data == data


@pytest.mark.parametrize("generation", GENERATIONS)
def test_the_step_is_the_same_text_on_every_generation(generation: str) -> None:
    program = one_step(GENERATIONS[generation], Layout(2500), 128, via_bfloat16=False)
    text = (EXAMPLES / "beam_search" / "step.nasm").read_text(encoding="utf-8")
    moved = text.replace(".generation cayman", f".generation {generation}")
    data = b"".join(instruction.to_bytes() for instruction in program)
    assert neuron.assemble(moved).data == data


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The words of every operation that the packing example runs, one entry each."""
    found: list[bytes] = []
    known = chains._words

    def remembered(text: str) -> list[BundleWord]:
        program = known(text)
        data = b"".join(int(word).to_bytes(word.width // 8, "little") for word in program)
        found.append(data)
        return program

    monkeypatch.setattr(chains, "_words", remembered)
    return found


def operations(file: str) -> list[bytes]:
    text = (EXAMPLES / "hif4_pack" / file).read_text(encoding="utf-8")
    return [item.data for item in pto.assemble(text, name=file).items]


def test_the_chains_of_the_packing_example(recorded: list[bytes]) -> None:
    groups = np.arange(chains.BATCH * 64, dtype=np.uint16).reshape(chains.BATCH, 64) % 0x4000
    chains.pack_matrix(groups)
    scale, nibble = operations("scale_chain.pto"), operations("nibble_chain.pto")
    assert recorded[: len(scale)] == scale
    assert recorded[len(scale) : len(scale) + len(nibble)] == nibble
    assert set(recorded) - set(scale) - set(nibble) == set()
