"""Bundles: the header words of one operation, collected and checked as they are read.

``Collector`` makes the checks that need no state and no knowledge of the operation beyond its
selector; what the bundle then is, is a frozen ``Bundle``. Source: PTO bundle schemas and checks
(check 0); PTO TGPR2T (placement of its B.IOR).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lanewise.pto.datatypes import DTYPE_NONE, DataType
from lanewise.pto.faults import FaultKind, PtoFault, bundle_control, tile_legality
from lanewise.pto.padding import PadValue
from lanewise.pto.profile import PtoProfile
from lanewise.pto.registers import Hand, TileName
from lanewise.pto.state import ProcessingElement, pe_mask_text
from lanewise.pto.words import (
    RELATION_CODES,
    Bdatr,
    Bdim,
    Bior,
    Bios,
    Biot,
    Bstart,
    BundleWord,
    Cbdimi,
    ProgramWord,
)

MOST_BINDINGS = 4
DIMENSION_MASK = (1 << 16) - 1


@dataclass(frozen=True, slots=True)
class Dimension:
    """LB0, LB1 or LB2: a register plus an immediate, as the header gives it."""

    register: int
    immediate: int

    def value(self, pe: ProcessingElement) -> int:
        """What it is on this PE: the sum's low 16 bits."""
        return (pe.gpr(self.register) + self.immediate) & DIMENSION_MASK


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a B.IOT puts a new tile: the hand it is pushed to and its capacity in bytes."""

    hand: Hand
    capacity: int


@dataclass(frozen=True, slots=True)
class Binding:
    """A B.IOT with a non-zero PE mask."""

    sources: tuple[TileName, ...]
    destination: Destination | None
    last: bool

    @classmethod
    def of(cls, word: Biot) -> Binding:
        """What the word binds."""
        destination = Destination(Hand(word.hand), 64 << word.size) if word.size else None
        sources = tuple(TileName.from_code(code) for code in word.tiles)
        return cls(sources, destination, bool(word.last))


@dataclass(frozen=True, slots=True)
class Bundle:
    """One operation with everything its header says.

    ``dimensions`` are LB0..LB2, None where left out; ``pemode`` is that of the first B.IOT, None
    without one; ``bindings`` are the B.IOT records of a non-zero mask.
    """

    start: Bstart
    datr: Bdatr | None = None
    dimensions: tuple[Dimension | None, Dimension | None, Dimension | None] = (None, None, None)
    registers: tuple[Bior, ...] = ()
    bindings: tuple[Binding, ...] = ()
    shared: tuple[Bios, ...] = ()
    pemode: int | None = None
    words: tuple[BundleWord, ...] = field(default=(), compare=False)

    @property
    def dtype(self) -> DataType | None:
        """The operation type: B.DATR's if it is concrete, else BSTART's; None if neither is."""
        for code in (DTYPE_NONE if self.datr is None else self.datr.dtype, self.start.dtype):
            if code != DTYPE_NONE:
                return DataType(code)
        return None

    @property
    def relation(self) -> str:
        """The relation of a compare; EQ when B.DATR is left out."""
        return RELATION_CODES[0 if self.datr is None else self.datr.cmode]

    def pad(self, omitted: PadValue) -> PadValue:
        """The pad value; ``omitted`` when there is no B.DATR."""
        return omitted if self.datr is None else PadValue(self.datr.pad)

    @property
    def is_complete(self) -> bool:
        """Whether there is a binding and the last one says so."""
        return bool(self.bindings) and self.bindings[-1].last

    def to_bytes(self) -> bytes:
        """The words as they stand in memory."""
        return b"".join(word.to_bytes() for word in self.words)


class RegisterRecords(NamedTuple):
    """How many B.IOR an operation takes, and whether they are a strictly placed source list."""

    most: int
    placed: bool


ORDINARY_RECORDS = RegisterRecords(most=1, placed=False)


class Collector:
    """Reads the words of one bundle after its BSTART and refuses what breaks its structure.

    ``records`` is the operation's limit on B.IOR.
    """

    def __init__(
        self, start: Bstart, profile: PtoProfile, records: RegisterRecords = ORDINARY_RECORDS
    ) -> None:
        self._start = start
        self._profile = profile
        self._records = records
        self._words: list[BundleWord] = [start]
        self._datr: Bdatr | None = None
        self._dimensions: list[Dimension | None] = [None, None, None]
        self._registers: list[Bior] = []
        self._bindings: list[Binding] = []
        self._shared: list[Bios] = []
        self._pemode: int | None = None

    def add(self, word: BundleWord) -> None:
        """Take one header word, or the closing one; PtoFault (BundleControl or TileLegality)."""
        match word:
            case Bdatr():
                self._add_datr(word)
            case Bdim():
                self._add_dimension(word.lb, Dimension(word.src, word.imm))
            case Cbdimi():
                self._add_dimension(word.lb, Dimension(0, word.imm))
            case Bior():
                self._add_registers(word)
            case Biot():
                self._add_binding(word)
            case Bios():
                self._shared.append(word)
        self._words.append(word)

    def bundle(self) -> Bundle:
        """What was collected."""
        lb0, lb1, lb2 = self._dimensions
        return Bundle(
            self._start,
            self._datr,
            (lb0, lb1, lb2),
            tuple(self._registers),
            tuple(self._bindings),
            tuple(self._shared),
            self._pemode,
            tuple(self._words),
        )

    def _add_datr(self, word: Bdatr) -> None:
        if self._datr is not None:
            bundle_control("bundle.datr_twice", "a bundle has at most one B.DATR")
        if self._registers or self._shared or self._pemode is not None:
            bundle_control("bundle.datr_late", "B.DATR must come before any B.IOR, B.IOT and B.IOS")
        self._datr = word

    def _add_dimension(self, which: int, dimension: Dimension) -> None:
        if self._dimensions[which] is not None:
            bundle_control("bundle.dimension_twice", f"LB{which} is given twice")
        self._dimensions[which] = dimension

    def _add_registers(self, word: Bior) -> None:
        most = self._records.most
        if len(self._registers) == most:
            plural = "" if most == 1 else "s"
            bundle_control(
                "bundle.registers", f"this operation takes {most} B.IOR record{plural}, not more"
            )
        if self._records.placed:
            if self._pemode is not None:
                bundle_control("bundle.registers_late", "its B.IOR must come before any B.IOT")
            if self._registers and not isinstance(self._words[-1], Bior):
                bundle_control("bundle.registers_apart", "its B.IOR records must be adjacent")
            if word.dst:
                bundle_control("bundle.registers_dst", "its B.IOR must have RegDst zero")
        self._registers.append(word)

    def _add_binding(self, word: Biot) -> None:
        if self._bindings and self._bindings[-1].last:
            bundle_control("bundle.after_last", "no B.IOT may follow the one marked last")
        if self._pemode is not None and word.pemode != self._pemode:
            raise PtoFault(
                FaultKind(self._profile.mixed_zero_mask)
                if 0 in (word.pemode, self._pemode)
                else FaultKind.TILE_LEGALITY,
                "bundle.pe_mask",
                f"PE mask {pe_mask_text(word.pemode)} differs from the bundle's first, "
                f"{pe_mask_text(self._pemode)}",
            )
        self._pemode = word.pemode
        if not word.pemode:
            return  # Binds nothing; it still counts as a B.IOT for what may follow it.
        if len(self._bindings) == MOST_BINDINGS:
            tile_legality("bundle.bindings", f"at most {MOST_BINDINGS} B.IOT may bind tiles")
        self._bindings.append(Binding.of(word))


def program_words(program: Sequence[ProgramWord] | bytes) -> Iterator[ProgramWord]:
    """The words of a program; bytes are cut by the length that each word's bit 0 announces."""
    if not isinstance(program, bytes):
        yield from program
        return
    position = 0
    while position < len(program):
        size = 4 if program[position] & 1 else 2
        yield program[position : position + size]
        position += size
