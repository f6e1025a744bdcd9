"""Programs prepared for a core, to be run many times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from lanewise.errors import LanewiseError
from lanewise.model import RunReport, Verdict
from lanewise.neuron.batch import Batch
from lanewise.neuron.program import Dispatch, EngineWord

if TYPE_CHECKING:
    from lanewise.neuron.core import NeuronCore


class Prepared:
    """A program with everything done beforehand that does not depend on the state.

    Where all its words are legal and none has an operand in a register or behind an index list, a
    run is one call into the kernels; any other program, and any run that an observer watches,
    goes word by word. What comes out is the same.
    """

    __slots__ = ("_batch", "_call", "_core", "_program", "_report", "_setting")

    def __init__(self, core: NeuronCore, words: Iterable[EngineWord]) -> None:
        self._core = core
        self._program: list[bytes | Dispatch] = [
            word if engine is None else Dispatch(word, engine) for word, engine in words
        ]
        self._renew()

    @property
    def core(self) -> NeuronCore:
        """The core that it runs on; a copy has a copy of it."""
        return self._core

    def __getstate__(self) -> tuple[NeuronCore, list[bytes | Dispatch]]:
        """What a copy needs; it prepares anew, for its own core."""
        return self._core, self._program

    def __setstate__(self, kept: tuple[NeuronCore, list[bytes | Dispatch]]) -> None:
        self._core, self._program = kept
        self._renew()

    def run(self) -> RunReport:
        """As ``core.run`` of the program."""
        # Written out, as in attempt(): for one small instruction a call more is a tenth of all.
        if self._core.setting is self._setting:
            noted = self._call()
            return self._report if noted is None else self._warned(noted)
        report = self._elsewhere()
        report.raise_if_refused()
        return report

    def attempt(self) -> RunReport:
        """As ``core.attempt`` of the program."""
        if self._core.setting is self._setting:
            noted = self._call()
            return self._report if noted is None else self._warned(noted)
        return self._elsewhere()

    def _elsewhere(self) -> RunReport:
        """A run that is not one call, or on a core that has changed."""
        if self._batch is not None and not self._core.observers:
            self._renew()
        return self._core.attempt(self._program)

    def _renew(self) -> None:
        """Prepare for the core as it is now."""
        core = self._core
        self._setting: object = None
        self._batch: Batch | None = None
        self._call: Any = None
        self._report: Any = None
        plans = []
        for item in self._program:
            try:
                plan = core.plan(item)
            except LanewiseError:
                return
            if plan is None:
                return
            plans.append(plan)
        self._batch = Batch(plans, core.kernels)
        run, threads = self._batch.run, core.threads
        self._call = run if threads == 1 else partial(run, threads)
        self._report = RunReport(
            verdict=Verdict.OK,
            executed=len(plans),
            profile=core.profile.description,
            counts=dict(Counter(plan.name for plan in plans)),
        )
        # A watched core has a setting of its own: back without observers it is prepared anew.
        self._setting = None if core.observers else core.setting

    def _warned(self, noted: list[tuple[int, bytes]]) -> RunReport:
        assert self._batch is not None
        report: RunReport = self._report
        return RunReport(
            verdict=report.verdict,
            executed=report.executed,
            profile=report.profile,
            counts=report.counts,
            warnings=tuple(self._batch.warnings(noted, 0)),
        )
