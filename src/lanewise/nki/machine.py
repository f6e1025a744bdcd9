"""The NeuronCore behind a run: one state, seen under a profile for each form of E4M3."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanewise.model import RunReport
from lanewise.neuron import CoreState, Dispatch, Memories, NeuronCore, Profile
from lanewise.nki.targets import Target

Words = tuple[bytes | Dispatch, ...]


class Machine:
    """Runs words of a target under a profile.

    ``form`` of :meth:`run` names the E4M3 that the word's operands mean; without one the
    profile's own holds. All forms share one state.
    """

    def __init__(self, target: Target, profile: Profile, engine: str = "auto") -> None:
        self.target = target
        self.profile = profile
        self._engine = engine
        self._cores: dict[str, NeuronCore] = {}
        self._core = self.core(None)
        self._states: list[CoreState] = []
        self._used: dict[tuple[int, str], int] = {}
        #: Arrays of earlier snapshots, to be used again.
        self.spare: list[NDArray[np.uint8]] = []
        self._described: dict[str | None, str] = {}
        #: Steps lowered before, by function, operands and parameters.
        self.lowered: dict[Any, Any] = {}

    @property
    def state(self) -> CoreState:
        """Memories, keys, accumulators."""
        return self._core.state

    def reset(self, program: int = 0) -> CoreState:
        """Start a program from power-up; what was lowered and checked before is kept.

        Each program has a state of its own, which the same program of the next call uses again:
        memory that the system has handed out once is much quicker the second time.
        """
        if program == len(self._states):
            self._states.append(CoreState.initial(self.target.generation, self.profile))
        state = self._states[program]
        fresh = CoreState(Memories({}))
        for memory in state.memories.values():
            used = self._used.get((program, memory.space), 0)
            memory.data[:, :used] = 0
        for name in ("keys", "matched", "indices", "accumulator", "registers", "idle_since"):
            getattr(state, name)[...] = getattr(fresh, name)
        for core in self._cores.values():
            if core.state is not state:  # assigning forgets what the core knows of its words
                core.state = state
        return state

    def note_used(self, program: int, space: str, size: int) -> None:
        """How many bytes a partition a program has used, for :meth:`reset` to clear."""
        self._used[program, space] = size

    def core(self, form: str | None) -> NeuronCore:
        """The core under the profile with that form of E4M3."""
        form = form or self.profile.fp8_exp4
        if form not in self._cores:
            core = NeuronCore(
                self.target.generation, self.profile.with_(fp8_exp4=form), engine=self._engine
            )
            if self._cores:
                core.state = self.state
            self._cores[form] = core
        return self._cores[form]

    def description(self, form: str | None = None) -> str:
        """The profile in force for a form of E4M3, in words."""
        known = self._described.get(form)
        if known is None:
            known = self._described[form] = self.core(form).profile.description
        return known

    def run(self, words: Words, form: str | None) -> RunReport:
        """Run words; raises what NeuronCore.run raises."""
        core = self._core if form is None else self.core(form)
        return core.run(words)
