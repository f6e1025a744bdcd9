"""From bytes to instructions and back, and the check of one word.

Decoding is total: any bytes give an instruction (modelled or not) or a MalformedWord.
"""

from __future__ import annotations

from lanewise.errors import UsageError
from lanewise.model import BrokenRule, MalformedWord
from lanewise.neuron.generation import Generation, find_generation
from lanewise.neuron.instruction import (
    WORD_BYTES,
    Instruction,
    Unmodelled,
    check_engine_name,
)
from lanewise.neuron.instructions import BY_OPCODE
from lanewise.neuron.legality import Check
from lanewise.neuron.profile import Profile
from lanewise.neuron.roster import opcodes_of, roster

AnyInstruction = Instruction | Unmodelled


def decode(data: bytes, generation: str | Generation = "cayman") -> AnyInstruction:
    """The instruction in 64 bytes.

    MalformedWord with reason ``length`` when there are not 64 bytes, ``opcode`` when the
    generation does not assign byte 0. Nothing else is looked at here: legality is :func:`check`.
    """
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise UsageError(f"a word is {WORD_BYTES} bytes, not {type(data).__name__}")
    data = bytes(data)
    generation = find_generation(generation)
    if len(data) != WORD_BYTES:
        raise MalformedWord(
            "length", "word", data, f"a word has {WORD_BYTES} bytes, here are {len(data)}"
        )
    opcode = data[0]
    if opcode not in opcodes_of(generation):
        entry = roster().get(opcode)
        if entry is None:
            story = "which no generation assigns"
        elif opcode == 0xFF:
            story = "which marks a word as invalid"
        else:
            story = f"{entry.name}, which only {', '.join(entry.generations)} have"
        raise MalformedWord(
            "opcode", "header.opcode", data, f"byte 0 is {opcode:#04x}, {story}; not {generation}"
        )
    kind = BY_OPCODE.get(opcode, Unmodelled)
    return kind.from_bits(int.from_bytes(data, "little"))


def encode(instruction: AnyInstruction) -> bytes:
    """The 64 bytes of an instruction; decoding them gives the same instruction."""
    return instruction.to_bytes()


def check(
    word: bytes | AnyInstruction,
    generation: str | Generation = "cayman",
    profile: str | Profile = Profile.ISA,
    engine: str | None = None,
) -> tuple[BrokenRule, ...]:
    """Every legality rule the word breaks, in the rules' order; empty for a legal word.

    ``engine`` is the one that runs the word (default: the instruction's own). MalformedWord for
    bytes that are no word of the generation; UsageError for an engine that cannot run the word.
    An unmodelled instruction has no rules here.
    """
    generation = find_generation(generation)
    if isinstance(word, (Instruction, Unmodelled)):
        word = word.to_bytes()
    instruction = decode(word, generation)
    if isinstance(instruction, Unmodelled):
        if engine is not None:
            check_engine_name(engine)
        return ()
    return Check(
        instruction, generation, Profile.named(profile), instruction.check_engine(engine)
    ).run()
