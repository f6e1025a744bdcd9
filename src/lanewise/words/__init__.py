"""Bit fields and words as immutable descriptions.

A word is one integer; its fields are views of that integer, so encoding and decoding cannot
disagree. The class body of a word reads like the bit table of a manual::

    class Header(Word, width=32):
        opcode = Coded(byte(0), OPCODES, "what the instruction does")
        word_length = Unsigned(byte(1), "length of the word in 32-bit units", default=16)
        ...

Every bit of a word belongs to exactly one field: a class that leaves a gap or covers a bit
twice cannot be created. This package knows no instruction set.
"""

from lanewise.words.bits import BitRange, bits, byte
from lanewise.words.fields import (
    Array,
    Coded,
    Field,
    FieldValueError,
    Fixed,
    Inert,
    Part,
    Reserved,
    Signed,
    Unsigned,
)
from lanewise.words.word import Leaf, Word, WordDefinitionError

__all__ = [
    "Array",
    "BitRange",
    "Coded",
    "Field",
    "FieldValueError",
    "Fixed",
    "Inert",
    "Leaf",
    "Part",
    "Reserved",
    "Signed",
    "Unsigned",
    "Word",
    "WordDefinitionError",
    "bits",
    "byte",
]
