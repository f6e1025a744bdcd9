"""The machine: a NeuronCore that runs instruction words on its state.

Words run one after another; synchronisation fields are checked and have no effect. Legality
completes before any effect, and a refused word changes nothing. The state is kept apart from the
order of execution (``lanewise.neuron.state``).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from lanewise.errors import UsageError, shown, whole_number
from lanewise.kernels import engine_name, select_engine
from lanewise.model import (
    IllegalInstruction,
    MachineFault,
    Observer,
    RunReport,
    Verdict,
    VerdictError,
    Warned,
)
from lanewise.neuron.batch import Batch
from lanewise.neuron.dispatch import AnyInstruction, decode
from lanewise.neuron.generation import Generation, find_generation
from lanewise.neuron.instruction import Instruction, Unmodelled
from lanewise.neuron.lanes import Lanes
from lanewise.neuron.legality import Check
from lanewise.neuron.memory import Memory
from lanewise.neuron.plan import Plan
from lanewise.neuron.prepared import Prepared
from lanewise.neuron.profile import Profile
from lanewise.neuron.program import Dispatch, EngineWord, Program, is_at_hand, words_of
from lanewise.neuron.resolution import Resolved, Resolver
from lanewise.neuron.state import CoreState

#: Words that a core remembers.
MOST_PLANS = 4096
#: Words of a program that are looked at before they run in one call.
BATCH = 1024
#: The most threads a core takes; no instruction has use for more than it has lanes.
MOST_THREADS = 1024
_THREADS = "LANEWISE_THREADS"


@dataclass(slots=True)
class _Known:
    """A word that has been decoded and found legal, with what never changes about it.

    ``plan`` are its row kernels and ``alone`` a batch of only them; without them the word is
    executed.
    """

    instruction: Instruction
    engine: str
    resolved: Resolved | None = None
    plan: Plan | None = None
    alone: Batch | None = None


@dataclass(slots=True)
class _Tally:
    """What has run so far."""

    index: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    warnings: list[Warned] = field(default_factory=list)


class NeuronCore:
    """One core of a generation under a profile.

    ``sbuf`` and ``psum`` are the memories (``psum`` raises UsageError where the generation has
    none), ``state`` everything else. ``engine`` chooses the kernels: ``auto``, ``native`` or
    ``reference``, which give the same bits. Large instructions share their lanes between
    ``threads`` threads, 1 to 1024, where the kernels can (default: the environment variable
    LANEWISE_THREADS, else 1); the bits are the same.
    """

    def __init__(
        self,
        generation: str | Generation = "cayman",
        profile: str | Profile = Profile.ISA,
        *,
        engine: str = "auto",
        threads: int | None = None,
    ) -> None:
        self._generation = find_generation(generation)
        self._profile = Profile.named(profile)
        self.engine = engine_name(engine)
        self.kernels = select_engine(self.engine)
        #: What is attached, in order.
        self.observers: tuple[Observer, ...] = ()
        #: Another object whenever something changes that a prepared program depends on.
        self.setting = object()
        # The reference engine executes: its point is to be read. Tests turn this around.
        self._lowers = self.engine == "native"
        self._threads = _threads(threads)
        self._plans: dict[EngineWord, _Known] = {}
        self.state = CoreState.initial(self.generation, self.profile)

    @property
    def state(self) -> CoreState:
        """The state that words run on. Assigning another one puts it in the place of this."""
        return self._state

    @state.setter
    def state(self, state: CoreState) -> None:
        found = getattr(state, "memories", {}).values()
        if {memory.generation for memory in found} != {self.generation}:
            raise UsageError(f"the state of a core of {self.generation} is needed")
        self._state = state
        # Plans point into the memories they were made for.
        self._plans.clear()
        self.setting = object()

    @property
    def threads(self) -> int:
        """The most threads that one instruction runs on."""
        return self._threads

    @threads.setter
    def threads(self, threads: int) -> None:
        self._threads = _threads(threads)
        self.setting = object()

    def __getstate__(self) -> dict[str, object]:
        """What a copy needs: kernels and plans are found again."""
        kept = dict(self.__dict__)
        del kept["kernels"], kept["_plans"]
        return kept

    def __setstate__(self, kept: dict[str, object]) -> None:
        self.__dict__.update(kept)
        self.kernels = select_engine(self.engine)
        self._plans = {}

    @property
    def generation(self) -> Generation:
        """The generation, for the life of the core."""
        return self._generation

    @property
    def profile(self) -> Profile:
        """The decisions on open points, for the life of the core."""
        return self._profile

    @property
    def sbuf(self) -> Memory:
        """The state buffer."""
        return self.state.memories["sbuf"]

    @property
    def psum(self) -> Memory:
        """The partial-sum buffer."""
        if "psum" not in self.state.memories:
            raise UsageError(f"{self.generation} has no PSUM")
        return self.state.memories["psum"]

    def attach(self, observer: Observer) -> None:
        """Have ``observer`` called for every word from now on."""
        self.observers = (*self.observers, observer)
        self.setting = object()

    def detach(self, observer: Observer) -> None:
        """Undo :meth:`attach`; UsageError when it was not attached."""
        if observer not in self.observers:
            raise UsageError("this observer is not attached")
        self.observers = tuple(o for o in self.observers if o is not observer)
        self.setting = object()

    def run(self, program: Program) -> RunReport:
        """Run a program to its end and report.

        ``program`` is an instruction, bytes (64 a word), or an iterable of those and of
        :class:`Dispatch`. Raises MalformedWord, IllegalInstruction or MachineFault, with the
        report as ``.report``, at the first word that does not run: that word has changed nothing,
        earlier ones have taken effect, later ones have not run.
        """
        report = self.attempt(program)
        report.raise_if_refused()
        return report

    def attempt(self, program: Program) -> RunReport:
        """As :meth:`run`, but a refusal is a verdict in the report instead of an error."""
        tally = _Tally()
        try:
            if self._lowers and not self.observers and is_at_hand(program):
                self._run_batches(words_of(program), tally)
            else:
                for word, engine in words_of(program):
                    self._step(word, engine, tally)
        except VerdictError as error:
            report = error.report = self._report(tally, error)
            for observer in self.observers:
                observer.refused(self, tally.index, error)
            return report
        return self._report(tally, None)

    def prepare(self, program: Program) -> Prepared:
        """The program with everything done beforehand that does not depend on the state.

        Running the result gives what running the program gives, any number of times.
        """
        return Prepared(self, words_of(program))

    def _report(self, tally: _Tally, error: VerdictError | None) -> RunReport:
        return RunReport(
            verdict=Verdict.OK if error is None else error.verdict,
            executed=tally.counts.total(),
            profile=self.profile.description,
            counts=dict(tally.counts),
            warnings=tuple(tally.warnings),
            index=None if error is None else tally.index,
            error=error,
        )

    def _step(self, word: bytes, engine: str | None, tally: _Tally) -> None:
        """Run one word by itself, with observers watching."""
        index = tally.index
        for observer in self.observers:
            observer.before_legality(self, index, word)
        known = self._look_up(word, engine)
        for observer in self.observers:
            observer.after_legality(self, index, known.instruction)
        self._execute(known, tally)
        for observer in self.observers:
            observer.after_commit(self, index, known.instruction)
        tally.index += 1

    def _execute(self, known: _Known, tally: _Tally) -> None:
        """The effects of one legal word, or the fault that keeps it from running."""
        if known.alone is not None:
            noted = known.alone.run(self.threads)
            if noted:
                tally.warnings += known.alone.warnings(noted, tally.index)
        else:
            resolved = known.resolved or self._resolved(known)
            lanes = Lanes(known.instruction, resolved, self.state, self.profile, self.kernels)
            known.instruction.execute(lanes)
            tally.warnings += [Warned(tally.index, *warning) for warning in lanes.warnings]
        tally.counts[known.instruction.name] += 1

    def _run_batches(self, words: Iterator[EngineWord], tally: _Tally) -> None:
        """Run words in batches: those whose operands never change together in one call."""
        while batch := list(islice(words, BATCH)):
            ready: list[Plan] = []
            try:
                for word, engine in batch:
                    known = self._look_up(word, engine)
                    if known.plan is None:
                        together, ready = ready, []
                        self._run_together(together, tally)
                        self._execute(known, tally)
                        tally.index += 1
                    else:
                        ready.append(known.plan)
            finally:
                # Also where a word is refused: the ones before it have run.
                self._run_together(ready, tally)

    def _run_together(self, plans: list[Plan], tally: _Tally) -> None:
        """Run words by their plans in one call."""
        if not plans:
            return
        batch = Batch(plans, self.kernels)
        noted = batch.run(self.threads)
        if noted:
            tally.warnings += batch.warnings(noted, tally.index)
        tally.counts.update(plan.name for plan in plans)
        tally.index += len(plans)

    def plan(self, word: bytes | AnyInstruction | Dispatch) -> Plan | None:
        """The row kernels of a word, or None for one that has to be executed.

        Raises MalformedWord, IllegalInstruction or MachineFault for a word that never runs.
        """
        ((data, engine),) = words_of([word])
        return self._look_up(data, engine).plan

    def _look_up(self, word: bytes, engine: str | None) -> _Known:
        """The word decoded and found legal, or the error that refuses it."""
        known = self._plans.get((word, engine))
        if known is not None:
            return known
        instruction = decode(word, self.generation)
        if isinstance(instruction, Unmodelled):
            raise MachineFault(
                "not-modelled",
                f"{instruction.name} ({word[0]:#04x}) is a word of {self.generation} that this "
                "model does not run; it decodes, and that is all",
            )
        known = _Known(instruction, instruction.check_engine(engine))
        broken = Check(instruction, self.generation, self.profile, known.engine).run()
        if broken:
            raise IllegalInstruction(instruction.name, broken)
        self._settle(known)
        if len(self._plans) >= MOST_PLANS:
            self._plans.clear()
        self._plans[word, engine] = known
        return known

    def _settle(self, known: _Known) -> None:
        """Do beforehand what does not depend on the state."""
        try:
            resolved = self._resolved(known)
        except MachineFault:
            return  # on this state; whether it is a fault is asked again when the word runs
        if not resolved.is_static:
            return
        known.resolved = resolved
        if self._lowers and known.instruction.lowers():
            plan = Plan(known.instruction, resolved, self.state, self.profile, self.kernels)
            known.instruction.lower(plan)
            known.plan, known.alone = plan, Batch([plan], self.kernels)

    def _resolved(self, known: _Known) -> Resolved:
        return Resolver(
            known.instruction, self.generation, self.profile, known.engine, self.state
        ).run()


def _threads(threads: int | None) -> int:
    """The number of threads asked for, by argument or environment."""
    if threads is None:
        text = os.environ.get(_THREADS) or "1"
        if not text.isdecimal() or not 1 <= int(text[:9]) <= MOST_THREADS:
            raise UsageError(
                f"{_THREADS} must be a number of threads, 1 to {MOST_THREADS}, not {shown(text)}"
            )
        return int(text)
    threads = whole_number("threads", threads)
    if not 1 <= threads <= MOST_THREADS:
        raise UsageError(f"threads must be 1 to {MOST_THREADS}, not {threads}")
    return threads
