"""The PTO machine: four processing elements that run programs.

Source: PTO state; PTO bundle schemas and checks (order of checks).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from types import ModuleType
from typing import Any, Protocol

from lanewise.errors import UsageError
from lanewise.kernels import engine_name, select_tile_engine
from lanewise.model import Observer, RunReport, Verdict
from lanewise.pto.bundle import ORDINARY_RECORDS, Bundle, Collector, program_words
from lanewise.pto.faults import FaultKind, PtoFault, bundle_control
from lanewise.pto.instructions import BY_SELECTOR, Operands, Operation, Request
from lanewise.pto.profile import PtoProfile
from lanewise.pto.proposal._operation import ProposalOperation
from lanewise.pto.registers import Hand, TileName, gpr_index, whole_number
from lanewise.pto.revisions import Revision
from lanewise.pto.state import FLAG_MASK, PE_COUNT, PE_MODES, Effects, ProcessingElement
from lanewise.pto.tile import Tile
from lanewise.pto.words import Bstart, Bstop, BundleWord, Cbstop, ProgramWord, decode_word

State = tuple[ProcessingElement, ...]


class Step(Protocol):
    """One operation of a program, of either revision, ready to be tried on PEs."""

    @property
    def name(self) -> str:
        """What it is counted as."""

    @property
    def pes(self) -> tuple[int, ...]:
        """The participating PEs; with none of them nothing else is looked at."""

    def to_bytes(self) -> bytes:
        """What an observer sees before legality."""

    def decide(self, profile: PtoProfile) -> None:
        """Make the checks that need no state."""

    def prepare(self, pe: ProcessingElement) -> Any:
        """The operands on a PE; raises PtoFault when they are not legal there."""

    def allocate(self, operands: Any, pe: ProcessingElement) -> None:
        """Raise PtoFault when there is no room for the result."""

    def execute(self, operands: Any, profile: PtoProfile, kernels: ModuleType) -> Effects:
        """What it does; ``kernels`` do the loops."""


class BundleStep:
    """A bundle of the frozen revision as a step, for one profile."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.operation: Operation | None = BY_SELECTOR.get(bundle.start.selector)
        self.request: Request | None = None

    @property
    def name(self) -> str:
        selector = self.bundle.start.selector
        return f"selector 0x{selector:02x}" if self.operation is None else self.operation.name

    @property
    def pes(self) -> tuple[int, ...]:
        # Without any B.IOT there is no mask; the completeness check will say so.
        pemode = self.bundle.pemode
        return tuple(range(PE_COUNT)) if pemode is None else PE_MODES[pemode]

    def to_bytes(self) -> bytes:
        return self.bundle.to_bytes()

    def decide(self, profile: PtoProfile) -> None:
        if self.request is not None:
            return
        if self.operation is None:
            raise PtoFault(
                FaultKind(profile.unknown_selector),
                "bundle.selector",
                f"no operation here has the selector 0x{self.bundle.start.selector:02x}",
            )
        self.operation.check_complete(self.bundle)
        self.request = self.operation.request(self.bundle, profile)

    def prepare(self, pe: ProcessingElement) -> Operands:
        operation, request = self._decided
        return operation.prepare(request, pe)

    def allocate(self, operands: Operands, pe: ProcessingElement) -> None:
        operation, request = self._decided
        operation.allocate(request, operands, pe)

    def execute(self, operands: Operands, profile: PtoProfile, kernels: ModuleType) -> Effects:
        operation, request = self._decided
        return operation.execute(request, operands, kernels)

    @property
    def _decided(self) -> tuple[Operation, Request]:
        assert self.operation is not None
        assert self.request is not None
        return self.operation, self.request


@dataclass
class Cursor:
    """The index of the bundle being read."""

    index: int = 0


def steps_of_words(
    program: Iterable[ProgramWord] | bytes, profile: PtoProfile, cursor: Cursor
) -> Iterator[BundleStep]:
    """The bundles of a program, each as soon as it is closed.

    A closing BSTART is decoded before the open bundle is given out, so an illegal one is refused
    while the open bundle has not run.
    """
    words: list[BundleWord] = []
    for item in program_words(program):
        try:
            word = decode_word(item)
        except PtoFault:
            if words:
                # What an earlier word breaks comes first.
                _collected(tuple(words), profile)
            raise
        if isinstance(word, Bstart):
            if words:
                yield _collected(tuple(words), profile)
                cursor.index += 1
            words = [word]
            continue
        if not words:
            bundle_control("bundle.outside", f"{word.form} outside a bundle")
        words.append(word)
        if isinstance(word, (Bstop, Cbstop)):
            yield _collected(tuple(words), profile)
            cursor.index += 1
            words = []
    if words:
        _collected(tuple(words), profile)
        _UNTERMINATED[profile.unterminated]()


@lru_cache(maxsize=4096)
def _collected(words: tuple[BundleWord, ...], profile: PtoProfile) -> BundleStep:
    """The step that a bundle's words make, read one after the other.

    Programs repeat themselves, so steps are kept, and with them what they have been found to be.
    """
    start = words[0]
    assert isinstance(start, Bstart)
    operation = BY_SELECTOR.get(start.selector)
    records = ORDINARY_RECORDS if operation is None else operation.records
    collector = Collector(start, profile, records)
    for word in words[1:]:
        collector.add(word)
    return BundleStep(collector.bundle())


def _refuse_unterminated() -> None:
    bundle_control("bundle.unterminated", "the program ends inside a bundle; close it with BSTOP")


#: What a program that ends inside a bundle does. Source: PTO open points.
_UNTERMINATED: dict[str, Callable[[], None]] = {
    "BundleControl": _refuse_unterminated,
    "ignore": lambda: None,
}

#: Which PEs a flag reaches, given the PE that raised it. Source: PTO open points.
_FLAG_REACH: dict[str, Callable[[int], tuple[int, ...]]] = {
    "pe": lambda pe: (pe,),
    "core": lambda pe: tuple(range(PE_COUNT)),
}


def _pe_number(pe: int) -> int:
    if not 0 <= pe < PE_COUNT:
        raise UsageError(f"a PE must be 0..{PE_COUNT - 1}, not {pe}")
    return pe


class PtoCore:
    """A core: its PEs' state and the program that changes it.

    In the frozen revision a program is a sequence of words (numbers, hexadecimal strings, decoded
    words) or their bytes; in the proposal it is a sequence of ``lanewise.pto.proposal``
    operations. ``index`` and ``executed`` of a report count bundles or operations. ``engine``
    chooses the kernels: ``auto``, ``native`` or ``reference``; results are the same.
    """

    def __init__(
        self,
        *,
        profile: PtoProfile = PtoProfile.DEFAULT,
        revision: str | Revision = Revision.FROZEN,
        observers: Iterable[Observer] = (),
        engine: str = "auto",
    ) -> None:
        self.profile = profile
        self.engine = engine_name(engine)
        self.kernels = select_tile_engine(self.engine)
        self.revision = Revision.named(revision)
        self.observers = list(observers)
        blank = ProcessingElement(gpr_width=self.revision.gpr_width)
        self._pes: State = (blank,) * PE_COUNT

    def __getstate__(self) -> dict[str, Any]:
        """What a copy needs: the kernels are found again."""
        return {name: value for name, value in self.__dict__.items() if name != "kernels"}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        self.kernels = select_tile_engine(self.engine)

    def _pe(self, pe: int) -> ProcessingElement:
        return self._pes[_pe_number(pe)]

    @property
    def state(self) -> State:
        """The state of all PEs, an immutable value that compares and can be put back."""
        return self._pes

    @state.setter
    def state(self, state: State) -> None:
        if len(state) != PE_COUNT:
            raise UsageError(f"a core has {PE_COUNT} PEs, not {len(state)}")
        self._pes = tuple(state)

    def gpr(self, register: int | str, *, pe: int = 0) -> int:
        """The value of a register, given by index or name."""
        return self._pe(pe).gpr(gpr_index(register))

    def set_gpr(self, register: int | str, value: int, *, pe: int | None = None) -> None:
        """Write a register of one PE, or of all; a write to ``zero`` is dropped."""
        index, number = gpr_index(register), whole_number(value, "a register's value")
        self._update(pe, lambda state: state.with_gpr(index, number))

    def tile(self, name: str | TileName, *, pe: int = 0) -> Tile | None:
        """The tile of this name (``"T#1"`` is the newest of hand T); None when there is none."""
        return self._pe(pe).tile(TileName.parse(name))

    def push(self, hand: str | Hand, tile: Tile, *, pe: int | None = None) -> None:
        """Push a tile on a hand of one PE, or of all.

        Raises PtoFault (TileAllocation) when a PE's storage cannot take it.
        """
        where = Hand.named(hand)
        if not isinstance(tile, Tile):
            raise UsageError(f"a hand holds tiles (Tile.from_array makes them), not {type(tile)}")
        for number in range(PE_COUNT) if pe is None else (pe,):
            self._pe(number).check_allocation(where, tile.descriptor.capacity)
        self._update(pe, lambda state: state.with_tile(where, tile))

    def flags(self, *, pe: int = 0) -> int:
        """The sticky flags of a PE."""
        return self._pe(pe).flags

    def set_flags(self, flags: int, *, pe: int | None = None) -> None:
        """Set the sticky flags of one PE, or of all."""
        if flags & ~FLAG_MASK:
            raise UsageError(f"flags are five bits, {flags:#x} does not fit")
        self._update(pe, lambda state: replace(state, flags=flags))

    def _update(self, pe: int | None, change: Any) -> None:
        chosen = range(PE_COUNT) if pe is None else (_pe_number(pe),)
        self._pes = tuple(
            change(state) if number in chosen else state for number, state in enumerate(self._pes)
        )

    def run(self, program: Iterable[Any] | bytes) -> RunReport:
        """Run a program. Raises PtoFault at the first refused bundle; earlier ones have run."""
        report = self.attempt(program)
        report.raise_if_refused()
        return report

    def attempt(self, program: Iterable[Any] | bytes) -> RunReport:
        """Run a program until a bundle is refused, and report instead of raising.

        ``report.error`` is the PtoFault with its ``kind``; the state is that after the bundles
        before it.
        """
        counts: dict[str, int] = {}
        cursor = Cursor()
        executed = 0
        try:
            for step in self._steps(program, cursor):
                self._run_step(step, cursor.index)
                counts[step.name] = counts.get(step.name, 0) + 1
                executed += 1
        except PtoFault as fault:
            error = fault.located(index=cursor.index)
            report = RunReport(
                Verdict.FAULT,
                executed,
                self.profile.description,
                counts,
                index=cursor.index,
                error=error,
            )
            error.report = report
            for observer in self.observers:
                observer.refused(self, cursor.index, error)
            return report
        return RunReport(Verdict.OK, executed, self.profile.description, counts)

    def _steps(self, program: Iterable[Any] | bytes, cursor: Cursor) -> Iterator[Step]:
        if self.revision is Revision.FROZEN:
            yield from steps_of_words(program, self.profile, cursor)
        else:
            for index, operation in enumerate(program):
                cursor.index = index
                if not isinstance(operation, ProposalOperation):
                    raise UsageError(
                        "a program of the proposal is operations of lanewise.pto.proposal, "
                        f"not {operation!r}"
                    )
                yield operation

    def _run_step(self, step: Step, index: int) -> None:
        """Check a step on every participating PE, then change all of them at once."""
        for observer in self.observers:
            observer.before_legality(self, index, step.to_bytes())
        state = self._pes
        if step.pes:
            step.decide(self.profile)
            state = self._preflight(step)
        for observer in self.observers:
            observer.after_legality(self, index, step)
        self._pes = state
        for observer in self.observers:
            observer.after_commit(self, index, step)

    def _preflight(self, step: Step) -> State:
        """The state after a step: legality of all PEs, then allocation of all, then effects."""
        operands = {}
        pe = 0
        try:
            for pe in step.pes:
                operands[pe] = step.prepare(self._pes[pe])
            for pe in step.pes:
                step.allocate(operands[pe], self._pes[pe])
        except PtoFault as fault:
            raise fault.located(pe=pe) from None
        state = list(self._pes)
        reach = _FLAG_REACH[self.profile.flags_scope]
        for pe in step.pes:
            effects = step.execute(operands[pe], self.profile, self.kernels)
            state[pe] = state[pe].after(effects)
            for other in reach(pe):
                state[other] = state[other].with_flags(effects.flags)
        return tuple(state)
