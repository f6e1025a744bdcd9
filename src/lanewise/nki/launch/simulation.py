"""Simulations: kernels with a target and a profile, called like functions, then looked into."""

from __future__ import annotations

import itertools
import os
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lanewise.errors import unknown_name
from lanewise.neuron import CoreState, Dispatch, Profile
from lanewise.nki.call import dispatches_of
from lanewise.nki.context import active, current
from lanewise.nki.errors import KernelError, Location, caller
from lanewise.nki.launch.arguments import Arguments
from lanewise.nki.launch.kernel import Kernel, jit
from lanewise.nki.machine import Machine
from lanewise.nki.report import Report, make_report
from lanewise.nki.run import Options, Run
from lanewise.nki.steps import Step, Warned
from lanewise.nki.targets import Target, find_target
from lanewise.nki.tile import NkiTensor
from lanewise.nki.trace import write_trace

_UNINITIALISED = ("warn", "error", "ignore")
_latest: list[weakref.ref[Simulation]] = []


class Simulation:
    """A kernel ready to run; after a call, the record of it.

    ``program`` is the instruction words in order, ``steps`` every call with operands and
    warnings, ``report`` the counts and estimates, ``initial_state`` the machine's state from which
    the words alone give the same result (see ``replay_problem``), ``final_state`` the state at the
    end (the machine's own, which the next call uses again). With a grid, ``runs`` holds one record
    a program. ``started`` is when the last call began, in seconds as ``time.time`` counts.
    """

    def __init__(
        self,
        kernel: Kernel | Callable[..., Any],
        target: str | Target | None = None,
        profile: str | Profile | None = None,
        trace: str | os.PathLike[str] | None = None,
        *,
        uninitialised: str = "warn",
        allow_fn_as_e4m3: bool = False,
        engine: str = "auto",
    ) -> None:
        self.kernel = kernel if isinstance(kernel, Kernel) else jit(kernel)
        if uninitialised not in _UNINITIALISED:
            raise unknown_name("value for uninitialised", uninitialised, _UNINITIALISED)
        self._target = target
        self.profile = Profile.named(Profile.HARDWARE if profile is None else profile)
        self.trace = None if trace is None else Path(trace)
        self.options = Options(uninitialised, allow_fn_as_e4m3)
        self._engine = engine
        self._machines: dict[str, Machine] = {}
        self.runs: list[Run] = []
        self.started = 0.0
        self._states: list[CoreState] = []

    @property
    def target(self) -> Target:
        """What the kernel runs for: the caller's choice, the decorator's, the environment's."""
        return find_target(self._target or self.kernel.platform_target)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Run the kernel; its results as the caller's kind of array."""
        location = caller()
        if active() is not None:
            raise KernelError(f"a simulation cannot be started inside a kernel ({location})")
        self.started = time.time()
        _latest[:] = [weakref.ref(self)]
        target = self.target
        machine = self._machines.setdefault(
            target.name, Machine(target, self.profile, self._engine)
        )
        machine.spare = [kept.data for run in self.runs for kept in run.snapshots]
        self.runs, self._states = [], []
        try:
            return self._launch(machine, arguments, keywords, location)
        finally:
            for index, run in enumerate(self.runs):
                for space in ("sbuf", "psum"):
                    machine.note_used(index, space, run.allocator(space).peak)
            if self.trace is not None and self.runs:
                write_trace(self.trace, self)

    def _launch(self, machine: Machine, arguments: Any, keywords: Any, location: Location) -> Any:
        grid = self.kernel.grid
        shared: dict[tuple[int, str], NkiTensor] = {}
        made: Arguments | None = None
        first: Any = None
        for program in itertools.product(*map(range, grid)):
            self._states.append(machine.reset(len(self.runs)))
            run = Run(machine, self.options, grid, program, shared)
            self.runs.append(run)
            token = current.set(run)
            try:
                if made is None:
                    made = Arguments.of(self.kernel.function, arguments, keywords, run, location)
                returned = self.kernel.function(*made.positional, **made.keywords)
                run.flush()
            finally:
                current.reset(token)
            if run.program_index == 0:
                first = returned
        assert made is not None
        results = made.results(first, self.runs[-1], location)
        made.write_back()
        return results

    # What the last call left behind.

    @property
    def steps(self) -> tuple[Step, ...]:
        """Every step, of all programs, in order."""
        return tuple(step for run in self.runs for step in run.steps)

    @property
    def program(self) -> tuple[bytes, ...]:
        """The instruction words, of all programs, in order."""
        return tuple(word for step in self.steps for word in step.words)

    @property
    def dispatches(self) -> tuple[bytes | Dispatch, ...]:
        """The words as the machine takes them: with the engine, where the kernel had a choice."""
        return tuple(item for step in self.steps for item in dispatches_of(step))

    @property
    def warnings(self) -> tuple[Warned, ...]:
        """Every warning, of all programs, in order."""
        return tuple(warned for run in self.runs for warned in run.warnings)

    @property
    def report(self) -> Report:
        """Counts, estimates and warnings."""
        return make_report(self)

    @property
    def replay_problem(self) -> str | None:
        """Why the words alone do not give the final memory, or None when they do."""
        return next((run.replay_problem for run in self.runs if run.replay_problem), None)

    def dump(self, step: int) -> str:
        """A step in full, for reading: operands, line, estimate, its words with their fields.

        IndexError for a step that there is not; negative ones count from the end.
        """
        from lanewise.nki.dump import dump_step

        steps = self.steps
        if not -len(steps) <= step < len(steps):
            there = {0: "are no steps", 1: "is 1 step, 0"}.get(
                len(steps), f"are {len(steps)} steps, 0..{len(steps) - 1}"
            )
            raise IndexError(f"there is no step {step}: there {there}")
        return dump_step(steps[step], self.target.generation)

    def final_state(self, program: int = 0) -> CoreState:
        """The machine's state when a program had ended."""
        return self._states[program]

    @property
    def initial_state(self) -> CoreState:
        """The first program's state before its first word; memory as words first found it."""
        return self.initial_state_of(0)

    def initial_state_of(self, program: int) -> CoreState:
        """As ``initial_state``, for any program."""
        run, final = self.runs[program], self._states[program]
        state = CoreState.initial(run.machine.target.generation, run.machine.profile)
        for space, memory in state.memories.items():
            memory.data[...] = final.memories[space].data
        for snapshot in run.snapshots:
            rows, width = snapshot.data.shape
            state.memories[snapshot.space].data[  # type: ignore[index]
                snapshot.partition : snapshot.partition + rows,
                snapshot.offset : snapshot.offset + width,
            ] = snapshot.data
        return state


def latest() -> Simulation | None:
    """The simulation that was called last, if it is still there: for reports of failures."""
    return _latest[0]() if _latest else None


def simulate(
    kernel: Kernel | Callable[..., Any],
    target: str | Target | None = None,
    profile: str | Profile | None = None,
    trace: str | os.PathLike[str] | None = None,
    *,
    uninitialised: str = "warn",
    allow_fn_as_e4m3: bool = False,
    engine: str = "auto",
) -> Simulation:
    """The kernel as a function of NumPy arrays or torch tensors.

    ``target`` is trn1, inf2, trn2 or trn3 (or gen2, gen3, gen4), ``profile`` hardware (the
    default), isa or any Profile. ``trace`` names a file for the Perfetto trace. ``uninitialised``
    says what reading unwritten memory does: warn, error or ignore. ``engine`` chooses the kernels
    of the model, which give the same bits.
    """
    return Simulation(
        kernel,
        target,
        profile,
        trace,
        uninitialised=uninitialised,
        allow_fn_as_e4m3=allow_fn_as_e4m3,
        engine=engine,
    )
