"""General registers and tile names of the PTO machine.

Source: PTO state; PTO encodings (tile source codes).
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass

from lanewise.errors import UsageError, unknown_name

GPR_COUNT = 24
HAND_DEPTH = 16

#: Register names by index; index 0 reads zero and drops writes.
GPR_NAMES = (
    "zero",
    "sp",
    *(f"a{n}" for n in range(8)),
    "ra",
    *(f"s{n}" for n in range(9)),
    *(f"x{n}" for n in range(4)),
)

_GPR_INDICES = {name: index for index, name in enumerate(GPR_NAMES)}


def gpr_index(register: int | str) -> int:
    """The index of a register given by index or name; UsageError otherwise."""
    if isinstance(register, str):
        if register not in _GPR_INDICES:
            raise unknown_name("register", register, GPR_NAMES)
        return _GPR_INDICES[register]
    if not 0 <= register < GPR_COUNT:
        raise UsageError(f"a register index must be 0..{GPR_COUNT - 1}, not {register}")
    return register


class Hand(enum.IntEnum):
    """A queue of 16 tiles; names count from the newest (``T#1``)."""

    T = 0
    U = 1
    M = 2
    N = 3

    @classmethod
    def named(cls, name: str | Hand) -> Hand:
        """The hand of this letter; UsageError otherwise."""
        if isinstance(name, Hand):
            return name
        if name.upper() in cls.__members__:
            return cls[name.upper()]
        raise unknown_name("hand", name, cls.__members__)


@dataclass(frozen=True, slots=True, order=True)
class TileName:
    """A tile by hand and age: ``age`` 1 is the newest of its hand, 16 the oldest."""

    hand: Hand
    age: int

    def __post_init__(self) -> None:
        if not 1 <= self.age <= HAND_DEPTH:
            raise UsageError(f"a tile's age must be 1..{HAND_DEPTH}, not {self.age}")

    @classmethod
    def from_code(cls, code: int) -> TileName:
        """The tile that a 6-bit source field names."""
        return cls(Hand(code // HAND_DEPTH), code % HAND_DEPTH + 1)

    @classmethod
    def parse(cls, text: str | TileName) -> TileName:
        """``"T#1"`` as a name; UsageError when it is not one."""
        if isinstance(text, TileName):
            return text
        match = re.fullmatch(r"([TUMN])#(\d{1,2})", text.strip(), re.IGNORECASE)
        if match is None or not 1 <= int(match[2]) <= HAND_DEPTH:
            raise UsageError(f"a tile is named T#1..T#16, U#…, M#… or N#…, not {text!r}")
        return cls(Hand.named(match[1]), int(match[2]))

    @property
    def code(self) -> int:
        """The 6-bit source field for this tile."""
        return self.hand * HAND_DEPTH + self.age - 1

    def __str__(self) -> str:
        return f"{self.hand.name}#{self.age}"
