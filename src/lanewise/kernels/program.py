"""Steps and programs of row kernels, in Python: the twin of ``native/program.cpp``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from lanewise.kernels import rows

__all__ = ["Program", "Step", "step"]


class Step:
    """A row kernel with its operands, made once and run as often as wanted."""

    __slots__ = ("_call",)

    def __init__(self, call: Callable[[], bytes | None]) -> None:
        self._call = call

    def run(self, threads: int = 1) -> bytes | None:
        """Run the kernel. What it noted, which only ``note_rows`` does."""
        return self._call()


class Program:
    """Steps that run one after another in one call."""

    __slots__ = ("_steps",)

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = tuple(steps)

    def run(self, threads: int = 1) -> list[tuple[int, bytes]] | None:
        """Run all steps. What they noted, as (index of the step, its note); None if nothing.

        ``threads`` is for engines that have them: results do not depend on it.
        """
        found = []
        for index, made in enumerate(self._steps):
            note = made.run(threads)
            if note is not None:
                found.append((index, note))
        return found or None


def step(kernel: str, *operands: Any) -> Step:
    """The row kernel of that name with its operands, ready to run: ``step(…).run()``."""
    return Step(partial(getattr(rows, kernel), *operands))
