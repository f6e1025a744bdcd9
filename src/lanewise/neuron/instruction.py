"""What every instruction is: a 64-byte word, its rules in order, and what it does.

An instruction's file states the word's fields, the rules and ``execute``; everything else
(encoder, decoder, checker, field dump, documentation) is derived from that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from lanewise.errors import UsageError, unknown_name
from lanewise.neuron.generation import GENERATIONS, Generation, Space
from lanewise.neuron.operands import Immediate, Operand
from lanewise.neuron.roster import RosterEntry, roster
from lanewise.neuron.words import Events, Header
from lanewise.words import Inert, Part, Word, byte

if TYPE_CHECKING:
    from lanewise.neuron.lanes import Lanes
    from lanewise.neuron.legality import Rule
    from lanewise.neuron.plan import Plan

WORD_BYTES = 64


ENGINES = ("pool", "act", "dve")


def check_engine_name(engine: object) -> str:
    """The engine's name in lower case; UsageError when there is no such engine."""
    folded = engine.casefold() if isinstance(engine, str) else engine
    if folded not in ENGINES:
        raise unknown_name("engine", engine, ENGINES)
    return str(folded)


@dataclass(frozen=True, slots=True)
class Example:
    """An instruction at work on lane 0: a word, and what is there before and after it.

    ``word`` is in hex, with spaces where fields end. Memory is given as runs of (space, partition,
    offset, bytes in hex, in their order), all else being zero. State of lane 0 is given by name
    (``keys``, ``matched``, ``indices``, ``accumulator``) as hex numbers, slot 0 first; what
    ``state_before`` leaves out is as after power-up.
    """

    title: str
    generation: str
    word: str
    before: tuple[tuple[Space, int, int, str], ...] = ()
    after: tuple[tuple[Space, int, int, str], ...] = ()
    state_before: tuple[tuple[str, str], ...] = ()
    state_after: tuple[tuple[str, str], ...] = ()
    profile: str = "isa"

    @property
    def encoded(self) -> bytes:
        """The 64 bytes of the word."""
        return bytes.fromhex(self.word)


class InstructionWord(Word, width=8 * WORD_BYTES, partial=True):
    """The 12 bytes all words share."""

    header = Part(byte(0, 4), Header, doc="opcode, length and debugger notification")
    events = Part(byte(4, 8), Events, doc="synchronisation, without effect in the model")

    @property
    def roster_entry(self) -> RosterEntry:
        """Name, struct and generations of the word's opcode."""
        return roster()[self.header.opcode]


class Instruction(InstructionWord, partial=True):
    """A modelled instruction. Subclasses with an ``opcode`` can be instantiated."""

    opcode: ClassVar[int]
    name: ClassVar[str]
    struct: ClassVar[str]
    #: Engines that can be named for the word, the default first.
    engines: ClassVar[tuple[str, ...]] = ("dve",)
    rules: ClassVar[tuple[Rule, ...]] = ()
    examples: ClassVar[tuple[Example, ...]] = ()
    #: One line for lists.
    summary: ClassVar[str] = ""

    num_active_channels: Any

    def __init_subclass__(cls, *, opcode: int | None = None) -> None:
        super().__init_subclass__(partial=opcode is None)
        if opcode is None:
            return
        entry = roster()[opcode]
        cls.opcode, cls.name, cls.struct = opcode, entry.name, entry.struct
        header = cls.fields["header"]
        cls._default_bits = header.insert(cls._default_bits, int(Header(opcode=opcode)))

    @property
    def channels(self) -> int:
        """How many lanes the word says it works on: 1..128 in a legal word."""
        return int(self.num_active_channels)

    @classmethod
    def generations(cls) -> tuple[Generation, ...]:
        """The generations that have this instruction."""
        return tuple(GENERATIONS[name] for name in roster()[cls.opcode].generations)

    @classmethod
    def operands(cls) -> dict[str, Operand]:
        """The access patterns, in the order of their bytes."""
        return {name: field for name, field in cls.fields.items() if isinstance(field, Operand)}

    @classmethod
    def immediates(cls) -> dict[str, Immediate]:
        """The scalars that may be inline, behind a pointer, or behind a register."""
        return {name: field for name, field in cls.fields.items() if isinstance(field, Immediate)}

    def dtype_of(self, field: Operand | Immediate) -> int:
        """The dtype code of an operand's or immediate's elements in this word."""
        if isinstance(field.dtype, str):
            code: int = getattr(self, field.dtype)
            return code
        return field.dtype

    @classmethod
    def check_engine(cls, engine: str | None) -> str:
        """The engine a word runs on: the default, or the one named if it can run the word."""
        if engine is None:
            return cls.engines[0]
        folded = check_engine_name(engine)
        if folded not in cls.engines:
            raise UsageError(f"{cls.name} runs on {', '.join(cls.engines)}, not on {engine}")
        return folded

    def execute(self, lanes: Lanes) -> None:
        """Apply the instruction to the active lanes; rules hold and operands are resolved."""
        raise NotImplementedError

    def lower(self, plan: Plan) -> None:
        """Name the row kernels that do what :meth:`execute` does, for operands that never change.

        An instruction without it is always executed.
        """
        raise NotImplementedError

    @classmethod
    def lowers(cls) -> bool:
        """Whether the instruction says how it is lowered."""
        return cls.lower is not Instruction.lower


class Unmodelled(InstructionWord):
    """An assigned opcode outside the modelled set: name, struct and raw bytes."""

    payload = Inert(byte(12, 52), doc="operand bytes, not interpreted")

    @property
    def name(self) -> str:
        return self.roster_entry.name

    @property
    def struct(self) -> str:
        return self.roster_entry.struct
