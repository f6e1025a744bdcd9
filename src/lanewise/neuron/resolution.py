"""From a legal word to patterns over memory: registers read, index lists read, faults found.

Faults come in this order whatever the operands': ``not-modelled``, ``address``, ``index``.
Every register is resolved and checked, whether the result needs it or not.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanewise.model import MachineFault
from lanewise.neuron.addressing import (
    Trouble,
    element_place,
    index_list_place,
    walk_trouble,
    window_trouble,
)
from lanewise.neuron.dtypes import CODE_TYPES, element_size
from lanewise.neuron.generation import Generation, Place
from lanewise.neuron.instruction import Instruction
from lanewise.neuron.legality.immediates import INLINE, REGISTER
from lanewise.neuron.operands import Immediate, Operand
from lanewise.neuron.patterns import Codes, Listed, Pattern, Walk, gather
from lanewise.neuron.profile import Profile
from lanewise.neuron.state import CoreState
from lanewise.neuron.words import Address, Indirect

Scalar = int | Walk

#: Most elements, over all lanes, that an operand may walk: twice what the largest memory holds.
MOST_ELEMENTS = 1 << 27


@dataclass(frozen=True, slots=True)
class Resolved:
    """The operands of one word: patterns by name, and scalars (inline bits or one a lane)."""

    patterns: dict[str, Pattern]
    scalars: dict[str, Scalar]
    is_static: bool


class Resolver:
    """Resolves one legal word against the state of a core."""

    def __init__(
        self,
        word: Instruction,
        generation: Generation,
        profile: Profile,
        engine: str,
        state: CoreState,
    ) -> None:
        self._word = word
        self._generation = generation
        self._profile = profile
        self._engine = engine
        self._state = state
        self._channels: int = word.channels
        self._is_static = True

    def run(self) -> Resolved:
        """The word's patterns and scalars; MachineFault when it cannot run."""
        operands = self._word.operands()
        for name in operands:
            self._refuse_register_shape(name)
            self._refuse_endless_walk(name)
        starts = {name: self._start(name, field) for name, field in operands.items()}
        scalars = {
            name: self._scalar(name, field) for name, field in self._word.immediates().items()
        }
        patterns = {
            name: self._pattern(name, field, *starts[name]) for name, field in operands.items()
        }
        return Resolved(patterns, scalars, self._is_static)

    def _refuse_register_shape(self, name: str) -> None:
        pattern = getattr(self._word, name)
        if not isinstance(pattern, Indirect) and pattern.start.shape_in_register:
            raise MachineFault(
                "not-modelled",
                f"{self._word.name}: {name} has its shape in a register, and where such a shape "
                "lies is documented nowhere; give step and num in the word",
            )

    def _refuse_endless_walk(self, name: str) -> None:
        """Legal walks with step 0 can name far more elements than any memory holds."""
        pattern = getattr(self._word, name)
        count = pattern.num_elem if isinstance(pattern, Indirect) else prod(pattern.num)
        if count * self._channels > MOST_ELEMENTS:
            raise MachineFault(
                "not-modelled",
                f"{self._word.name}: {name} walks {count} elements in each of {self._channels} "
                f"lanes; this model runs words of up to {MOST_ELEMENTS} elements in all lanes "
                "(a walk that names no place twice always fits)",
            )

    def _start(self, name: str, field: Operand) -> tuple[Place, Place]:
        """Where the data and (for an index list, else the same) the indices start."""
        pattern = getattr(self._word, name)
        if isinstance(pattern, Indirect):
            return self._located(pattern.data.address), self._index_start(name, pattern)
        if not pattern.start.in_register:
            place = self._located(pattern.start.address)
            return place, place
        place = self._from_register(name, field, pattern)
        return place, place

    def _located(self, address: int) -> Place:
        place = self._generation.locate(address)
        assert place is not None, "a rule has refused addresses outside memory"
        return place

    def _register(self, name: str, number: int) -> int:
        """A register's content, which must be a direct address."""
        self._is_static = False
        address = int(self._state.registers[number])
        if address >> 29:
            raise self._fault(
                name,
                number,
                Trouble("start", f"{address:#010x}", "a direct address (top three bits 0)"),
            )
        return address

    def _fault(self, name: str, number: int, trouble: Trouble) -> MachineFault:
        return MachineFault(
            "address",
            f"{self._word.name}: {name} takes its address from register {number}; its "
            f"{trouble.part} is {trouble.value}, must be {trouble.allowed}",
        )

    def _from_register(self, name: str, field: Operand, pattern: Any) -> Place:
        number = pattern.start.register_number
        address = self._register(name, number)
        size = element_size(self._word.dtype_of(field))
        assert size is not None, "the dtype rule has refused types without a size"
        place = element_place(
            self._generation,
            address,
            size,
            writes=field.is_destination,
            sbuf_only=field.sbuf_only or self._stays_in_sbuf,
        )
        if isinstance(place, Trouble):
            raise self._fault(name, number, place)
        trouble = walk_trouble(
            self._generation, place, size, pattern.step, pattern.num
        ) or window_trouble(self._profile, place, self._channels)
        if trouble is not None:
            raise self._fault(name, number, trouble)
        return place

    @property
    def _stays_in_sbuf(self) -> bool:
        """Whether the engine cannot reach PSUM (rule engine-reach, applied to registers)."""
        return self._engine == "pool"

    def _index_start(self, name: str, pattern: Indirect) -> Place:
        self._is_static = False
        index: Address = pattern.index
        if not index.in_register:
            return self._located(index.address)
        number = index.register_number
        address = self._register(name, number)
        place = index_list_place(self._generation, address, pattern.num_elem)
        if isinstance(place, Trouble):
            raise self._fault(name, number, place)
        trouble = window_trouble(self._profile, place, self._channels)
        if trouble is None and self._stays_in_sbuf and place.space == "psum":
            trouble = Trouble("index", str(place), "in SBUF for the POOL engine")
        if trouble is not None:
            raise self._fault(name, number, trouble)
        return place

    def _scalar(self, name: str, field: Immediate) -> Scalar:
        source = getattr(self._word, field.source)
        value = field.extract(int(self._word))
        size = element_size(self._word.dtype_of(field))
        assert size is not None, "the dtype rule has refused types without a size"
        if source == INLINE:
            return value & ((1 << (8 * size)) - 1)
        if source == REGISTER:
            place = self._scalar_from_register(name, value, size)
        else:
            place = self._located(value)
        return Walk(place.space, place.partition, place.offset, size, (1,), (1,))

    def _scalar_from_register(self, name: str, number: int, size: int) -> Place:
        address = self._register(name, number)
        place = element_place(self._generation, address, size, writes=False, sbuf_only=False)
        if isinstance(place, Trouble):
            raise self._fault(name, number, place)
        trouble = window_trouble(self._profile, place, self._channels)
        if trouble is not None:
            raise self._fault(name, number, trouble)
        return place

    def _pattern(self, name: str, field: Operand, data: Place, index: Place) -> Pattern:
        pattern = getattr(self._word, name)
        size = element_size(self._word.dtype_of(field))
        assert size is not None, "the dtype rule has refused types without a size"
        if not isinstance(pattern, Indirect):
            return Walk(data.space, data.partition, data.offset, size, pattern.step, pattern.num)
        indices = self._indices(index, pattern.num_elem).astype(np.int64)
        offsets = data.offset + size * indices
        self._check_indices(name, data, size, indices, offsets)
        return Listed(data.space, data.partition, size, offsets)

    def _indices(self, place: Place, count: int) -> Codes:
        walk = Walk(place.space, place.partition, place.offset, 4, (1,), (count,))
        return gather(self._state.memories[place.space].data, walk, self._channels)

    def _check_indices(
        self,
        name: str,
        data: Place,
        size: int,
        indices: NDArray[np.int64],
        offsets: NDArray[np.int64],
    ) -> None:
        active = self._generation.active_bytes(data.space)
        outside = offsets + size > active
        if outside.any():
            lane, element = (int(i) for i in np.argwhere(outside)[0])
            raise MachineFault(
                "index",
                f"{self._word.name}: index {int(indices[lane, element])} of {name} (lane {lane}, "
                f"element {element}) names byte {int(offsets[lane, element]):#x}, past the "
                f"{active:#x} active bytes of a {data.space} partition",
            )


def scalar_codes(state: CoreState, scalar: Scalar, size: int, channels: int) -> Codes:
    """A scalar's code in every lane: [lanes]."""
    if isinstance(scalar, int):
        return np.full(channels, scalar, dtype=CODE_TYPES[size])
    return gather(state.memories[scalar.space].data, scalar, channels)[:, 0]
