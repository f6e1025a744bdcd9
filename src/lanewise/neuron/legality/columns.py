"""Many words at once: the facts that rules ask about, as columns.

Every rule has two forms, side by side in one function: ``test`` looks at one word and tells what
is wrong for people; ``columns`` looks at many words of one instruction and tells which of them
break it, and where. They ask the same questions in the same order, of :class:`Check` and of
:class:`Columns`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lanewise.neuron.addressing import window_starts
from lanewise.neuron.codes import REGISTERS
from lanewise.neuron.dtypes import element_size
from lanewise.neuron.generation import PARTITIONS, QUADRANT, Generation
from lanewise.neuron.operands import Immediate, Operand
from lanewise.neuron.profile import Profile
from lanewise.words import BitRange, Part

if TYPE_CHECKING:
    from lanewise.neuron.instruction import Instruction

Column = NDArray[np.int64]
Mask = NDArray[np.bool_]

_ADDRESS = (1 << 29) - 1
_SIZES = np.array([element_size(code) or 0 for code in range(256)], np.int64)

#: Spaces of places as numbers.
NOWHERE, SBUF, PSUM = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Places:
    """Where addresses point. ``space`` is NOWHERE where nothing is known about an address."""

    space: NDArray[np.int8]
    partition: Column
    offset: Column

    @property
    def known(self) -> Mask:
        """Where there is a place."""
        known: Mask = self.space != NOWHERE
        return known

    @property
    def quadrant(self) -> Column:
        """Which group of 32 partitions a place lies in."""
        return self.partition // QUADRANT


class Broken:
    """Which words break a rule, and at which path; found in the order in which a test asks."""

    __slots__ = ("_open", "by_path", "mask")

    def __init__(self, count: int) -> None:
        self._open = np.ones(count, np.bool_)
        self.mask = np.zeros(count, np.bool_)
        self.by_path: dict[str, Mask] = {}

    def holds_where(self, mask: Mask | bool) -> None:
        """The rule holds for these words; nothing further is asked of them."""
        self._open &= np.logical_not(mask)

    def where(self, mask: Mask | bool, path: str) -> None:
        """Of the words that are left, these break the rule at ``path``."""
        found = self._open & mask
        if found.any():
            self.mask |= found
            self._open &= ~found
            self.by_path[path] = self.by_path.get(path, np.bool_(False)) | found


class Pattern:
    """An operand's access pattern in many words, a tensor or an index list."""

    __slots__ = (
        "address",
        "count",
        "data",
        "first",
        "in_register",
        "is_list",
        "mode",
        "num",
        "num_elem",
        "step",
    )

    def __init__(self, columns: Columns, field: Operand) -> None:
        low = field.ranges[0].low
        steps, nums = (field.word_type.fields[name] for name in ("step", "num"))

        def items(array: Any) -> list[Column]:
            runs = (array.element_range(index) for index in range(array.count))
            return [columns.bits(run.shifted(low)) for run in runs]

        self.first = columns.bits(BitRange(low, 32))
        self.mode = self.first >> 29 & 3
        self.in_register = self.first >> 31 == 1
        self.address = self.first & _ADDRESS
        self.step = [(step ^ 0x8000) - 0x8000 for step in items(steps)]
        self.num = items(nums)
        # Four numbers of 16 bits have a product of 64 bits.
        count = np.ones(len(self.first), np.uint64)
        for num in self.num:
            count *= num.view(np.uint64)
        if field.indirect_type is None:
            self.is_list = np.zeros(len(self.first), np.bool_)
            self.data = self.num_elem = np.zeros(len(self.first), np.int64)
            self.count = count
            return
        self.is_list = self.mode == 1
        parts = field.indirect_type.fields
        self.data = columns.bits(parts["data"].ranges[0].shifted(low))
        self.num_elem = columns.bits(parts["num_elem"].ranges[0].shifted(low))
        self.count = np.where(self.is_list, self.num_elem.view(np.uint64), count)

    @property
    def shape_in_register(self) -> Mask:
        """Where a register holds the shape of a tensor."""
        found: Mask = self.mode == 2
        return found

    @property
    def has_zero(self) -> Mask:
        """Where a dimension has no elements."""
        found: Mask = self.num[0] == 0
        for num in self.num[1:]:
            found = found | (num == 0)
        return found

    def well_formed_register(self) -> Mask:
        """As ``Address.is_well_formed_register``, of the first address."""
        marker = self.first >> 24
        known: Mask = (marker == 0x80) | (marker == 0xA0) | (marker == 0xC0)
        known &= self.first & 0xFFFFFF < REGISTERS
        return known


class Columns:
    """Words of one instruction under one generation, profile and engine, as columns.

    ``words`` is uint8 [count, 64]. Asked in the order of the instruction's rules, as
    :class:`~lanewise.neuron.legality.Check` is.
    """

    def __init__(
        self,
        words: NDArray[np.uint8],
        kind: type[Instruction],
        generation: Generation,
        profile: Profile,
        engine: str,
    ) -> None:
        self.kind = kind
        self.generation = generation
        self.profile = profile
        self.engine = engine
        self.count = len(words)
        self._lanes = np.ascontiguousarray(words).view("<u8")
        self._patterns: dict[str, Pattern] = {}
        self._fields: dict[str, Column] = {}
        self._denied: dict[str, Mask] = {}

    def run(self) -> NDArray[np.uint64]:
        """Which rules each word breaks: bit i stands for the instruction's rule i."""
        found = np.zeros(self.count, np.uint64)
        for index, rule in enumerate(self.kind.rules):
            if not rule.applies(self.generation):
                continue
            broken = rule.columns(self)
            if broken.mask.any():
                found |= broken.mask.astype(np.uint64) << np.uint64(index)
                for path, mask in broken.by_path.items():
                    self._denied[path] = self._denied.get(path, np.bool_(False)) | mask
        return found

    def broken(self) -> Broken:
        """For a rule to say which words break it."""
        return Broken(self.count)

    def is_denied(self, path: str) -> Mask | bool:
        """Where an earlier broken rule says that the field holds nothing usable."""
        return self._denied.get(path, False)

    # Fields.

    def bits(self, run: BitRange) -> Column:
        """A run of at most 32 bits of every word, unsigned."""
        lane, place = divmod(run.low, 64)
        value = self._lanes[:, lane] >> np.uint64(place)
        if place + run.width > 64:
            value |= self._lanes[:, lane + 1] << np.uint64(64 - place)
        masked: NDArray[np.uint64] = value & np.uint64((1 << run.width) - 1)
        return masked.view(np.int64)

    def field(self, path: str) -> Column:
        """The bits of a field of at most 32 bits, or of a part's field (``events.wait_mode``)."""
        known = self._fields.get(path)
        if known is None:
            known = self._fields[path] = self.bits(_run_of(self.kind, path))
        return known

    def is_set(self, name: str) -> Mask:
        """Where any bit of a field of any width is set."""
        found = np.zeros(self.count, np.bool_)
        mask = self.kind.fields[name].mask
        for lane in range(self._lanes.shape[1]):
            part = mask >> 64 * lane & 0xFFFF_FFFF_FFFF_FFFF
            if part:
                found |= (self._lanes[:, lane] & np.uint64(part)) != 0
        return found

    def is_in(self, path: str, codes: Any) -> Mask:
        """Where a field of one byte or less holds one of ``codes``."""
        table = np.zeros(256, np.bool_)
        table[[int(code) for code in codes]] = True
        found: Mask = table[self.field(path)]
        return found

    def dtype_of(self, field: Operand | Immediate) -> Column:
        """The dtype codes of an operand's or immediate's elements."""
        if isinstance(field.dtype, str):
            return self.field(field.dtype)
        return np.full(self.count, int(field.dtype), np.int64)

    def size_of(self, field: Operand | Immediate) -> Column:
        """Bytes an element takes, 0 for a dtype without a size."""
        found: Column = _SIZES[self.dtype_of(field)]
        return found

    # Operands.

    def operand(self, name: str) -> Operand:
        """The description of an operand."""
        field = self.kind.fields[name]
        assert isinstance(field, Operand)
        return field

    def pattern(self, name: str) -> Pattern:
        """The operand's patterns."""
        known = self._patterns.get(name)
        if known is None:
            known = self._patterns[name] = Pattern(self, self.operand(name))
        return known

    def is_indirect(self, name: str) -> Mask:
        """Where the operand is an index list that this generation can follow."""
        is_list = self.pattern(name).is_list
        return is_list if self.generation.has_indirect_patterns else np.zeros_like(is_list)

    def is_usable(self, name: str) -> Mask:
        """Where the address mode means something for this operand and generation."""
        mode = self.pattern(name).mode
        usable: Mask = np.where(mode == 1, self.is_indirect(name), mode != 3)
        return usable

    def locate(self, addresses: Column, where: Mask) -> Places:
        """The places of direct addresses, as ``Generation.locate``, of those ``where`` is set."""
        shift = self.generation.sbuf_stride_bits
        partition = addresses >> shift
        space = np.where(where & (partition < PARTITIONS), SBUF, NOWHERE).astype(np.int8)
        offset = addresses & ((1 << shift) - 1)
        if self.generation.psum_bytes:
            base, stride = self.generation.psum_window
            there = (addresses - base) >> stride
            in_psum = where & (space == NOWHERE) & (there >= 0) & (there < PARTITIONS)
            space[in_psum] = PSUM
            partition = np.where(in_psum, there, partition)
            offset = np.where(in_psum, (addresses - base) & ((1 << stride) - 1), offset)
        return Places(space, partition, offset)

    def data_place(self, name: str) -> Places:
        """Where the operand's data starts; nowhere in a register, outside memory or unusable."""
        pattern = self.pattern(name)
        direct = np.where(pattern.is_list, pattern.data >> 29 == 0, ~pattern.in_register)
        addresses = np.where(pattern.is_list, pattern.data & _ADDRESS, pattern.address)
        return self.locate(addresses, self.is_usable(name) & direct)

    def index_place(self, name: str) -> Places:
        """Where the operand's index list starts; nowhere without one or in a register."""
        pattern = self.pattern(name)
        return self.locate(pattern.address, self.is_indirect(name) & ~pattern.in_register)

    def has_count(self, name: str) -> Mask:
        """Where the number of elements is known."""
        pattern = self.pattern(name)
        known = self.is_usable(name) & ~pattern.shape_in_register
        denied = np.logical_or(self.is_denied(f"{name}.num"), self.is_denied(f"{name}.num_elem"))
        known &= ~((pattern.count == 0) & denied)
        return known

    def is_element(
        self, places: Places, size: Column | int, *, writes: bool, sbuf_only: bool
    ) -> Mask:
        """Where one element of ``size`` bytes may lie at a place, as ``element_place``."""
        good = places.known
        good &= places.offset % np.maximum(size, 1) == 0
        good &= places.offset + size <= self.active_bytes(places)
        if sbuf_only:
            good &= places.space == SBUF
        if writes:
            good &= (places.space == SBUF) | (size == 4)
        return good

    def active_bytes(self, places: Places) -> Column:
        """Bytes of memory in each partition of the places' space."""
        sbuf, psum = self.generation.sbuf_bytes, self.generation.psum_bytes
        return np.where(places.space == PSUM, psum, sbuf).astype(np.int64)

    def is_window(self, places: Places, channels: Column) -> Mask:
        """Where as many partitions may start at a place, as ``window_trouble``."""
        fits = places.partition + channels <= PARTITIONS
        if self.profile.partition_window == "fits":
            return fits
        starts = np.zeros(len(channels), np.bool_)
        for first in range(0, PARTITIONS, QUADRANT):
            most = max(n for n in range(PARTITIONS + 1) if first in window_starts(n))
            starts |= (places.partition == first) & (channels <= most)
        return fits & starts


def _run_of(kind: type[Instruction], path: str) -> BitRange:
    name, _, inside = path.partition(".")
    field: Any = kind.fields[name]
    if inside:
        assert isinstance(field, Part)
        run: BitRange = field.word_type.fields[inside].ranges[0]
        return run.shifted(field.ranges[0].low)
    (run,) = field.ranges
    return run
