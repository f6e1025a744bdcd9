"""The instruction words of one search step: the best sixteen words for every beam.

A beam is a partition. Its row of log-probabilities lies at the same offset in all of them, so one
word works on all beams at once. The program is the same in every step; only memory changes.
"""

from __future__ import annotations

from dataclasses import dataclass

from lanewise.neuron import Generation, Instruction, walk
from lanewise.neuron.instructions import (
    Cast,
    CopyPredicatedScalar,
    FindIndex8,
    MatchReplace8,
    MatchValueLoad,
    Max8,
)

MINUS_INFINITY = 0xFF800000
"""FP32 bits of -inf: what a word gets that must not be chosen."""
MOST_WORDS = 16384
"""Elements a lane that FIND_INDEX8 can search."""
EIGHT = 8
BEST = 2 * EIGHT
"""Candidates a step finds for every beam."""
_ALIGNMENT = 64


@dataclass(frozen=True)
class Layout:
    """Byte offsets in every partition, for a vocabulary of ``words``.

    ``rows`` FP32 [words], ``forbidden`` UINT8 [words], ``narrow`` BFLOAT16 [words] (only used when
    the rows go through BFLOAT16), ``values`` FP32 [16] best first, ``positions`` UINT16 [16].
    """

    words: int

    @property
    def rows(self) -> int:
        return 0

    @property
    def forbidden(self) -> int:
        return _aligned(self.rows + 4 * self.words)

    @property
    def narrow(self) -> int:
        return _aligned(self.forbidden + self.words)

    @property
    def values(self) -> int:
        return _aligned(self.narrow + 2 * self.words)

    @property
    def positions(self) -> int:
        return _aligned(self.values + 4 * BEST)

    @property
    def end(self) -> int:
        """Bytes used of a partition."""
        return _aligned(self.positions + 2 * BEST)


def _aligned(offset: int) -> int:
    return -(-offset // _ALIGNMENT) * _ALIGNMENT


def one_step(
    generation: Generation, layout: Layout, beams: int, *, via_bfloat16: bool
) -> tuple[Instruction, ...]:
    """The program of one step on partitions 0 to ``beams`` - 1."""

    def at(offset: int) -> int:
        return generation.address("sbuf", 0, offset)

    lanes = {"num_active_channels": beams}
    every_word = (1, layout.words)
    rows = walk(at(layout.rows), every_word)
    narrow = walk(at(layout.narrow), every_word)

    def find_best(rank: int) -> tuple[Instruction, ...]:
        """The eight largest elements and where they are, into results ``rank`` and up.

        MAX8 gives the smallest first and MATCH_VALUE_LOAD turns its source around. Walking both
        from the last element with step -1 puts the largest first, in memory and in the keys, so
        that ``positions`` belong to ``values`` element by element. Equal values are found in
        ascending position.
        """
        last = at(layout.values + 4 * (rank + EIGHT - 1))
        values = walk(last, (-1, EIGHT))
        positions = walk(at(layout.positions + 2 * rank), (1, EIGHT))
        return (
            Max8(src=rows, in_dtype="FP32", dst=values, out_dtype="FP32", **lanes),
            MatchValueLoad(src=values, dtype="FP32", **lanes),
            FindIndex8(src=rows, in_dtype="FP32", dst=positions, out_dtype="UINT16", **lanes),
        )

    program: list[Instruction] = []
    if via_bfloat16:
        program += [
            Cast(src=rows, in_dtype="FP32", dst=narrow, out_dtype="BFLOAT16", **lanes),
            Cast(src=narrow, in_dtype="BFLOAT16", dst=rows, out_dtype="FP32", **lanes),
        ]
    program += [
        # With reversed_pred 0 this word writes where the predicate is false, the opposite of its
        # family. The predicate says "forbidden", so the scalar has to go where it is true.
        CopyPredicatedScalar(
            predicate=walk(at(layout.forbidden), every_word),
            predicate_dtype="UINT8",
            reversed_pred=1,
            in_dtype="FP32",
            out_dtype="FP32",
            scalar_source="inline",
            scalar=MINUS_INFINITY,
            dst=rows,
            **lanes,
        ),
        *find_best(0),
        # Every key matches once until it is loaded again, and FIND_INDEX8 has used them all.
        # Loaded plainly they sit in ascending order now; the order of keys that are all replaced
        # by the same value makes no difference.
        MatchValueLoad(
            src=walk(at(layout.values), (1, EIGHT)),
            dtype="FP32",
            **lanes,
        ),
        MatchReplace8(
            src=rows,
            in_dtype="FP32",
            immediate=MINUS_INFINITY,
            dst=rows,
            out_dtype="FP32",
            **lanes,
        ),
        *find_best(EIGHT),
    ]
    return tuple(program)
