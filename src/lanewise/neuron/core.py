"""The machine: a NeuronCore that runs instruction words on its state.

Words run one after another; synchronisation fields are checked and have no effect. Legality
completes before any effect, and a refused word changes nothing. The state is kept apart from the
order of execution (``lanewise.neuron.state``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lanewise.errors import UsageError
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
from lanewise.neuron.dispatch import AnyInstruction, decode
from lanewise.neuron.generation import Generation, find_generation
from lanewise.neuron.instruction import WORD_BYTES, Instruction, Unmodelled
from lanewise.neuron.lanes import Lanes
from lanewise.neuron.legality import Check
from lanewise.neuron.memory import Memory
from lanewise.neuron.profile import Profile
from lanewise.neuron.resolution import Resolved, Resolver
from lanewise.neuron.state import CoreState

MOST_PLANS = 4096


@dataclass(frozen=True, slots=True)
class Dispatch:
    """A word for a named engine, where its instruction can run on several."""

    word: bytes | AnyInstruction
    engine: str


Program = bytes | AnyInstruction | Dispatch | Iterable[bytes | AnyInstruction | Dispatch]


@dataclass(slots=True)
class _Plan:
    """A word that has been decoded and checked, with its operands where they never change."""

    instruction: Instruction
    engine: str
    resolved: Resolved | None = None


class NeuronCore:
    """One core of a generation under a profile.

    ``sbuf`` and ``psum`` are the memories (``psum`` raises UsageError where the generation has
    none), ``state`` everything else. ``engine`` chooses the kernels: ``auto``, ``native`` or
    ``reference``, which give the same bits.
    """

    def __init__(
        self,
        generation: str | Generation = "cayman",
        profile: str | Profile = Profile.ISA,
        *,
        engine: str = "auto",
    ) -> None:
        self.generation = find_generation(generation)
        self.profile = Profile.named(profile)
        self.engine = engine_name(engine)
        self.state = CoreState.initial(self.generation, self.profile)
        self._kernels = select_engine(self.engine)
        self._observers: tuple[Observer, ...] = ()
        self._plans: dict[tuple[bytes, str | None], _Plan] = {}

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
        self._observers = (*self._observers, observer)

    def detach(self, observer: Observer) -> None:
        """Undo :meth:`attach`; UsageError when it was not attached."""
        if observer not in self._observers:
            raise UsageError("this observer is not attached")
        self._observers = tuple(o for o in self._observers if o is not observer)

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
        counts: Counter[str] = Counter()
        warnings: list[Warned] = []
        index = 0
        try:
            for index, (word, engine) in enumerate(_words(program)):
                name = self._step(index, word, engine, warnings)
                counts[name] += 1
        except VerdictError as error:
            for observer in self._observers:
                observer.refused(self, index, error)
            report = self._report(counts, warnings, index, error)
            error.report = report
            return report
        return self._report(counts, warnings, None, None)

    def _report(
        self,
        counts: Counter[str],
        warnings: list[Warned],
        index: int | None,
        error: VerdictError | None,
    ) -> RunReport:
        return RunReport(
            verdict=Verdict.OK if error is None else error.verdict,
            executed=counts.total(),
            profile=self.profile.description,
            counts=dict(counts),
            warnings=tuple(warnings),
            index=index,
            error=error,
        )

    def _step(self, index: int, word: bytes, engine: str | None, warnings: list[Warned]) -> str:
        """Run one word; the instruction's name."""
        for observer in self._observers:
            observer.before_legality(self, index, word)
        plan = self._plan(word, engine)
        for observer in self._observers:
            observer.after_legality(self, index, plan.instruction)
        resolved = plan.resolved
        if resolved is None:
            resolved = Resolver(
                plan.instruction, self.generation, self.profile, plan.engine, self.state
            ).run()
            if resolved.is_static:
                plan.resolved = resolved
        lanes = Lanes(plan.instruction, resolved, self.state, self.profile, self._kernels)
        plan.instruction.execute(lanes)
        warnings.extend(Warned(index, kind, text) for kind, text in lanes.warnings)
        for observer in self._observers:
            observer.after_commit(self, index, plan.instruction)
        return plan.instruction.name

    def _plan(self, word: bytes, engine: str | None) -> _Plan:
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
        plan = _Plan(instruction, instruction.check_engine(engine))
        broken = Check(instruction, self.generation, self.profile, plan.engine).run()
        if broken:
            raise IllegalInstruction(instruction.name, broken)
        if len(self._plans) >= MOST_PLANS:
            self._plans.clear()
        self._plans[word, engine] = plan
        return plan


def _words(program: object) -> Iterator[tuple[bytes, str | None]]:
    """The words of a program with the engines named for them."""
    if isinstance(program, (bytes, bytearray, memoryview)):
        data = bytes(program)
        for start in range(0, len(data), WORD_BYTES):
            yield data[start : start + WORD_BYTES], None
    elif isinstance(program, (Instruction, Unmodelled)):
        yield program.to_bytes(), None
    elif isinstance(program, Dispatch):
        word = program.word
        if isinstance(word, (bytes, bytearray, memoryview)):
            yield bytes(word), program.engine
        else:
            yield word.to_bytes(), program.engine
    elif isinstance(program, Iterable) and not isinstance(program, str):
        for item in program:
            if isinstance(item, (bytes, bytearray, memoryview)):
                # An item is one word, whatever its length: a wrong one is malformed, not split.
                yield bytes(item), None
            else:
                yield from _words(item)
    else:
        raise UsageError(
            f"a program is instructions or bytes of {WORD_BYTES} a word, "
            f"not {type(program).__name__}"
        )
