"""Rules and the check of one word against all of them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

from lanewise.model import BrokenRule
from lanewise.neuron.dtypes import element_size
from lanewise.neuron.generation import Generation, Place
from lanewise.neuron.operands import Operand
from lanewise.neuron.profile import Profile
from lanewise.neuron.words import Address, Indirect
from lanewise.words import BitRange

if TYPE_CHECKING:
    from lanewise.neuron.instruction import Instruction
    from lanewise.neuron.legality.columns import Broken, Columns


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule found wrong: a field's path, what it holds, what it may hold, what to try."""

    path: str
    value: str
    allowed: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """One legality rule.

    ``id`` is stable and quoted by errors, cases and documentation; ``demand`` says what the rule
    asks for; ``test`` looks at one word, ``columns`` at many words of an instruction, with the
    same outcome for each. ``only`` limits the rule to some generations.
    """

    id: str
    demand: str
    test: Callable[[Check], Finding | None]
    columns: Callable[[Columns], Broken]
    only: Callable[[Generation], bool] | None = None

    def applies(self, generation: Generation) -> bool:
        """Whether the generation has this rule."""
        return self.only is None or self.only(generation)


class Check:
    """One word under one generation, profile and engine, while its rules are tested in order.

    A rule that needs a fact which an earlier broken rule denies must hold, so that each trouble
    is listed once; :meth:`is_denied` tells.
    """

    __slots__ = ("_denied", "engine", "generation", "profile", "word")

    def __init__(
        self, word: Instruction, generation: Generation, profile: Profile, engine: str
    ) -> None:
        self.word = word
        self.generation = generation
        self.profile = profile
        self.engine = engine
        self._denied: set[str] = set()

    def run(self) -> tuple[BrokenRule, ...]:
        """All broken rules, in the rules' order."""
        broken = []
        for rule in self.word.rules:
            if not rule.applies(self.generation):
                continue
            finding = rule.test(self)
            if finding is not None:
                self._denied.add(finding.path)
                broken.append(
                    BrokenRule(
                        rule=rule.id,
                        field=finding.path,
                        ranges=ranges_of(self.word, finding.path),
                        value=finding.value,
                        allowed=finding.allowed,
                        hint=finding.hint,
                    )
                )
        return tuple(broken)

    def is_denied(self, path: str) -> bool:
        """Whether an earlier broken rule says that the field holds nothing usable."""
        return path in self._denied

    # What the rules ask about operands.

    def operand(self, name: str) -> Operand:
        """The description of an operand."""
        field = self.word.fields[name]
        assert isinstance(field, Operand)
        return field

    def pattern(self, name: str) -> Any:
        """The operand's Tensor or Indirect."""
        return getattr(self.word, name)

    def is_indirect(self, name: str) -> bool:
        """Whether the operand is an index list that this generation can follow."""
        return self.generation.has_indirect_patterns and isinstance(self.pattern(name), Indirect)

    def is_usable(self, name: str) -> bool:
        """Whether the address mode means something for this operand and generation."""
        first = self._first_address(name)
        if first.is_indirect:
            return self.is_indirect(name)
        return not first.is_unused_form

    def _first_address(self, name: str) -> Address:
        pattern = self.pattern(name)
        address = pattern.index if isinstance(pattern, Indirect) else pattern.start
        assert isinstance(address, Address)
        return address

    def has_register_address(self, name: str) -> bool:
        """Whether any address of the operand is in a register."""
        return bool(self._first_address(name).in_register)

    def data_place(self, name: str) -> Place | None:
        """Where the operand's data starts; None in a register, outside memory or unusable."""
        if not self.is_usable(name):
            return None
        pattern = self.pattern(name)
        if isinstance(pattern, Indirect):
            data = int(pattern.data)
            return None if data >> 29 else self.generation.locate(data)
        if pattern.start.in_register:
            return None
        return self.generation.locate(pattern.start.address)

    def index_place(self, name: str) -> Place | None:
        """Where the operand's index list starts; None without one, in a register, or outside."""
        pattern = self.pattern(name)
        if not self.is_indirect(name) or pattern.index.in_register:
            return None
        return self.generation.locate(pattern.index.address)

    def count(self, name: str) -> int | None:
        """Number of elements; None when a register holds the shape or the operand is unusable."""
        pattern = self.pattern(name)
        if not self.is_usable(name) or self._first_address(name).shape_in_register:
            return None
        if isinstance(pattern, Indirect):
            elements = int(pattern.num_elem)
        else:
            elements = int(prod(pattern.num))
        # A count of zero that an earlier rule has refused is no count to compare with.
        if not elements and (self.is_denied(f"{name}.num") or self.is_denied(f"{name}.num_elem")):
            return None
        return elements

    def size(self, name: str) -> int | None:
        """Bytes an element of the operand takes, or None for a dtype without a size."""
        return element_size(self.word.dtype_of(self.operand(name)))


def ranges_of(word: Instruction, path: str) -> tuple[BitRange, ...]:
    """The bits of the field or part at ``path``, in the whole word; adjacent runs are joined."""
    # Places depend on the kind of word alone, save where an operand is a union of two patterns.
    forms = tuple(
        isinstance(getattr(word, name), Indirect)
        for name, field in word.operands().items()
        if field.allows_indirect
    )
    key = (type(word), path, forms)
    if key not in _RANGES:
        _RANGES[key] = _found_ranges(word, path)
    return _RANGES[key]


_RANGES: dict[tuple[type[Instruction], str, tuple[bool, ...]], tuple[BitRange, ...]] = {}


def _found_ranges(word: Instruction, path: str) -> tuple[BitRange, ...]:
    inside = (f"{path}.", f"{path}[")
    runs = sorted(
        run
        for leaf in word.leaves()
        if leaf.path == path or leaf.path.startswith(inside)
        for run in leaf.ranges
    )
    joined: list[BitRange] = []
    for run in runs:
        if joined and joined[-1].high + 1 == run.low:
            joined[-1] = BitRange(joined[-1].low, joined[-1].width + run.width)
        else:
            joined.append(run)
    return tuple(joined)


def listed(codes: Collection[int], names: dict[int, str] | None = None) -> str:
    """A set of codes for people: "0, 2" or "FP32 (0xa), INT32 (0x8)"."""
    ordered = sorted(codes)
    if names is None:
        shown = [str(int(code)) for code in ordered]
    else:
        shown = [f"{names[code]} ({code:#x})" if code in names else str(code) for code in ordered]
    return shown[0] if len(shown) == 1 else "one of " + ", ".join(shown)
