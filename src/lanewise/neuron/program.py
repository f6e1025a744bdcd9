"""What a program is: words in some form, one after another, some for a named engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lanewise.errors import UsageError
from lanewise.neuron.dispatch import AnyInstruction
from lanewise.neuron.instruction import WORD_BYTES, Instruction, Unmodelled


@dataclass(frozen=True, slots=True)
class Dispatch:
    """A word for a named engine, where its instruction can run on several."""

    word: bytes | AnyInstruction
    engine: str


#: A word and the engine named for it, if any.
EngineWord = tuple[bytes, str | None]

Program = bytes | AnyInstruction | Dispatch | Iterable[bytes | AnyInstruction | Dispatch]

_ONE_WORD = (bytes, bytearray, memoryview, Instruction, Unmodelled, Dispatch)


def is_at_hand(program: object) -> bool:
    """Whether taking the words of a program runs nobody else's code.

    The items of another iterable may depend on what the words before them did.
    """
    if isinstance(program, (list, tuple)):
        return all(isinstance(item, _ONE_WORD) for item in program)
    return isinstance(program, _ONE_WORD)


def words_of(program: object) -> Iterator[EngineWord]:
    """The words of a program with the engines named for them."""
    if isinstance(program, (bytes, bytearray, memoryview)):
        data = bytes(program)
        for start in range(0, len(data), WORD_BYTES):
            yield data[start : start + WORD_BYTES], None
    elif isinstance(program, (Instruction, Unmodelled)):
        yield program.to_bytes(), None
    elif isinstance(program, Dispatch):
        word = program.word
        if isinstance(word, (bytes, bytearray, memoryview)):
            yield bytes(word), program.engine
        else:
            yield word.to_bytes(), program.engine
    elif isinstance(program, Iterable) and not isinstance(program, str):
        for item in program:
            if isinstance(item, (bytes, bytearray, memoryview)):
                # An item is one word, whatever its length: a wrong one is malformed, not split.
                yield bytes(item), None
            else:
                yield from words_of(item)
    else:
        raise UsageError(
            f"a program is instructions or bytes of {WORD_BYTES} a word, "
            f"not {type(program).__name__}"
        )
