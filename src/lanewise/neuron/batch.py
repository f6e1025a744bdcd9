"""Lowered words that run in one call."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

from lanewise.model import Warned
from lanewise.neuron.plan import Plan


class Batch:
    """The steps of several plans as one program of row kernels.

    ``run(threads)`` gives what steps noted, which :meth:`warnings` explains.
    """

    __slots__ = ("_plans", "run")

    def __init__(self, plans: Sequence[Plan], kernels: ModuleType) -> None:
        self._plans = plans
        self.run = kernels.Program([step for plan in plans for step in plan.steps]).run

    def warnings(self, noted: list[tuple[int, bytes]], first: int) -> list[Warned]:
        """What the notes of a run mean, where plan 0 belongs to the word at index ``first``."""
        owners = [(index, plan) for index, plan in enumerate(self._plans) for _ in plan.steps]
        found = []
        for step, flags in noted:
            index, plan = owners[step]
            found.append(Warned(first + index, *plan.warning(flags)))
        return found
