"""The state of a core, apart from the order in which words run on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lanewise.neuron.codes import REGISTERS
from lanewise.neuron.generation import PARTITIONS, Generation, Space
from lanewise.neuron.memory import Memory
from lanewise.neuron.profile import Profile

KEYS = 8
NEGATIVE_INFINITY = 0xFF800000
MISS = 0xFFFFFFFF


def _lanes(value: int, *more: int) -> NDArray[np.uint32]:
    return np.full((PARTITIONS, *more), value, dtype=np.uint32)


class Memories(Mapping[Space, Memory]):
    """The memories by space, the same ones for good: write to their bytes."""

    __slots__ = ("_memories",)

    def __init__(self, memories: Mapping[Space, Memory]) -> None:
        self._memories = dict(memories)

    def __getitem__(self, space: Space) -> Memory:
        return self._memories[space]

    def __iter__(self) -> Iterator[Space]:
        return iter(self._memories)

    def __len__(self) -> int:
        return len(self._memories)


@dataclass(slots=True, frozen=True)
class CoreState:
    """Everything a word can read or change.

    The per-lane arrays have one row a lane (lane c is row c, whatever partition an operand starts
    in): ``keys`` FP32 bits [128, 8], ``matched`` bool [128, 8] (all set, so that nothing matches
    before a load), ``indices`` uint32 [128, 8], ``accumulator`` FP32 bits [128]. ``registers`` is
    uint32 [64]. ``idle_since`` remembers per lane whether an idle accumulator command came after
    the last reset; it is for warnings and changes no result. The arrays stay the same ones for
    good, because prepared programs work on them: assign into them.
    """

    memories: Memories
    keys: NDArray[np.uint32] = field(default_factory=lambda: _lanes(0, KEYS))
    matched: NDArray[np.bool_] = field(
        default_factory=lambda: np.ones((PARTITIONS, KEYS), dtype=np.bool_)
    )
    indices: NDArray[np.uint32] = field(default_factory=lambda: _lanes(MISS, KEYS))
    accumulator: NDArray[np.uint32] = field(default_factory=lambda: _lanes(NEGATIVE_INFINITY))
    registers: NDArray[np.uint32] = field(
        default_factory=lambda: np.zeros(REGISTERS, dtype=np.uint32)
    )
    idle_since: NDArray[np.bool_] = field(
        default_factory=lambda: np.zeros(PARTITIONS, dtype=np.bool_)
    )

    @classmethod
    def initial(cls, generation: Generation, profile: Profile) -> CoreState:
        """The state after power-up: memories and registers zero."""
        spaces: tuple[Space, ...] = ("sbuf", "psum") if generation.psum_bytes else ("sbuf",)
        return cls(Memories({space: Memory(space, generation, profile) for space in spaces}))

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """All of the state by name, for comparing and hashing."""
        found: dict[str, NDArray[np.generic]] = {
            space: memory.data for space, memory in self.memories.items()
        }
        for name in ("keys", "matched", "indices", "accumulator", "registers"):
            found[name] = getattr(self, name)
        return found
