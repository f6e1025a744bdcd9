"""A legal word of an instruction to show: the plainest that its own rules let pass."""

from __future__ import annotations

from random import Random

from lanewise.check.generators import legal_word
from lanewise.check.recipes import CHANNELS, broken_rules, recipe, with_raw
from lanewise.neuron.dtypes import Dtype
from lanewise.neuron.generation import Generation
from lanewise.neuron.instruction import Instruction
from lanewise.neuron.profile import Profile

_PREFERRED = (Dtype.FP32, Dtype.UINT8, Dtype.UINT16)
_COUNT = 64
_LANES = 128
_SPACING = 0x400


def example_word(instruction: type[Instruction]) -> tuple[Generation, Instruction]:
    """A generation that has the instruction (cayman where it can be) and a legal word of it.

    Types are FP32 where they may be, else small unsigned integers; operands follow each other
    in all partitions.
    """
    generations = instruction.generations()
    generation = next((g for g in generations if g.name == "cayman"), generations[0])
    known = recipe(instruction, generation, Profile.ISA)
    raw: dict[str, int] = {CHANNELS: _LANES}
    for name, codes in known.dtypes[True].items():
        raw[name] = next((code for code in _PREFERRED if code in codes), codes[0])
    for position, (name, field) in enumerate(instruction.operands().items()):
        count = known.counts[name](max(known.least_count, _COUNT))
        kind = field.word_type
        start = generation.address("sbuf", 0, position * _SPACING)
        raw[name] = int(
            kind(
                start={"address": start},
                step=[1] * kind.dimensions,
                num=[count, *[1] * (kind.dimensions - 1)],
            )
        )
    word = with_raw(instruction(), raw)
    if broken_rules(word, generation, Profile.ISA):
        # Rules that pull on each other: any legal word shows the form as well.
        word = legal_word(instruction, generation, Profile.ISA, Random(instruction.opcode))
    return generation, word
