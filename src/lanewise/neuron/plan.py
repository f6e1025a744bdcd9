"""What an instruction's ``lower`` is written against: its row kernels, prepared once.

``execute`` says what an instruction does; ``lower`` names the row kernels that do the same for
operands that never change, so that a word is looked at once and a program of them runs in one
call. The two are held equal by tests. Views are [lanes, …]: the walks of the operands over the
memories, and the per-lane state.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanewise.formats import FORMATS, FP32, Format
from lanewise.neuron.dtypes import CODE_TYPES, Dtype, element_size, number_format
from lanewise.neuron.instruction import Instruction
from lanewise.neuron.lanes import IDLE, ZERO_THEN_ACCUMULATE, idle_accumulator_warning
from lanewise.neuron.patterns import Walk
from lanewise.neuron.profile import Profile
from lanewise.neuron.resolution import Resolved
from lanewise.neuron.state import NEGATIVE_INFINITY, CoreState

View = NDArray[Any]


class Plan:
    """The steps of one word; each method adds one kernel, or a few."""

    __slots__ = ("_kernels", "_resolved", "_state", "_word", "channels", "profile", "steps")

    def __init__(
        self,
        word: Instruction,
        resolved: Resolved,
        state: CoreState,
        profile: Profile,
        kernels: ModuleType,
    ) -> None:
        self._word = word
        self._resolved = resolved
        self._state = state
        self._kernels = kernels
        self.profile = profile
        self.channels: int = word.num_active_channels
        self.steps: list[Any] = []

    @property
    def name(self) -> str:
        """The instruction's name."""
        return self._word.name

    def warning(self, flags: bytes) -> tuple[str, str]:
        """The warning that a noted step stands for: its kind and the story."""
        lanes = np.flatnonzero(np.frombuffer(flags, np.uint8))
        return idle_accumulator_warning(self._word.name, lanes)

    # Steps.

    def cast(self, source: str, destination: str) -> None:
        """Elements converted from the source's type to the destination's."""
        conversion = self._conversion(self._dtype(source), self._dtype(destination))
        self._add("cast_rows", self._view(destination), self._view(source), conversion)

    def merge(self, predicate: str, source: str, destination: str) -> None:
        """As :meth:`cast`, where the predicate is not 0."""
        conversion = self._conversion(self._dtype(source), self._dtype(destination))
        views = self._view(destination), self._view(source), self._view(predicate)
        self._add("merge_rows", *views, conversion)

    def fill(self, predicate: str, scalar: str, destination: str, *, when: bool) -> None:
        """The scalar where the predicate's truth is ``when``."""
        value = self._scalar(scalar)
        self._add("fill_rows", self._view(destination), value, self._view(predicate), when)

    def top8(self, source: str, destination: str) -> None:
        """The eight largest elements, ascending."""
        self._add(
            "top8_rows",
            self._view(destination),
            self._view(source),
            self._to_hub(source),
            self._from_hub(destination),
        )

    def load_keys(self, source: str) -> None:
        """Eight elements into the keys, last slot first, and all matched flags cleared."""
        self._add("cast_rows", self._keys[:, ::-1], self._view(source), self._to_hub(source))
        self._set(self._matched, False)

    def find8(self, source: str, destination: str) -> None:
        """The positions of the keys; all ones where there is none (profile ``find_miss``)."""
        self._add(
            "find8_rows",
            self._view(destination),
            self._view(source),
            self._to_hub(source),
            self._keys,
            self._matched,
        )

    def replace8(self, source: str, destination: str, *, replacement: int) -> None:
        """The elements with the keys' matches replaced by an FP32 number; positions kept."""
        self._add(
            "replace8_rows",
            self._view(destination),
            self._view(source),
            self._to_hub(source),
            self._from_hub(destination),
            self._encoded(replacement, destination),
            self._keys,
            self._matched,
            self._state.indices[: self.channels],
        )

    def select(
        self,
        predicate: str,
        source: str,
        destination: str,
        *,
        when: bool,
        other: str | None,
        accumulate: int,
    ) -> None:
        """Elements where the predicate's truth is ``when``, else the scalar ``other``.

        Without ``other`` the destination is kept. What was selected folds into the accumulator.
        """
        values = other_hub = None
        if other is not None:
            scalar, dtype = self._scalar(other), self._dtype(other)
            values = self._converted(scalar, self._conversion(dtype, self._dtype(destination)))
            other_hub = self._converted(scalar, self._conversion(dtype, None, stream=True))
        self._add(
            "select_rows",
            self._view(destination),
            self._view(source),
            self._view(predicate),
            when,
            self._conversion(self._dtype(source), self._dtype(destination)),
            self._to_hub(source),
            values,
            other_hub,
            self._accumulator(accumulate),
        )

    def select_range(
        self,
        source: str,
        destination: str,
        *,
        base: int | None,
        low: tuple[str, str],
        high: tuple[str, str],
        fill: int,
        accumulate: int,
    ) -> None:
        """Elements whose position lies in both bounds (relation, immediate), else ``fill``.

        ``base`` is the FP32 number of position 0; without it elements are compared themselves.
        """
        relations = self._kernels.RELATION_SETS
        other = self._constant(self._encoded(fill, destination), self._view(destination).itemsize)
        bounds = [
            operand
            for relation, immediate in (low, high)
            for operand in (relations[relation], self._scalar(immediate))
        ]
        self._add(
            "range_rows",
            self._view(destination),
            self._view(source),
            base,
            *bounds,
            self._conversion(self._dtype(source), self._dtype(destination)),
            self._to_hub(source),
            other,
            self._constant(fill, 4),
            self._accumulator(accumulate),
        )

    def nonzero(
        self,
        source: str,
        destination: str,
        *,
        offset: str,
        padding: str,
        mask: int,
        skip_nan: bool,
        every: int,
    ) -> None:
        """Positions of the elements with a bit of ``mask`` set, in every ``every``-th lane."""
        views = (
            self._view(destination),
            self._view(source),
            self._scalar(offset),
            self._scalar(padding),
        )
        self._add("nonzero_rows", *(view[::every] for view in views), mask, skip_nan)

    def read_accumulator(self, destination: str, *, flip: int) -> None:
        """The accumulator with the bits ``flip`` inverted."""
        conversion = self._conversion(None, self._dtype(destination), flip=flip)
        accumulator = self._state.accumulator[: self.channels]
        self._add("cast_rows", self._view(destination), accumulator, conversion)

    def read_indices(self, destination: str) -> None:
        """The positions that the last replacement found, cut to the destination's width."""
        view = self._view(destination)
        indices = self._state.indices[: self.channels].view(view.dtype)
        # Little-endian: the low part of each word is the first of its parts.
        low = indices[:, :: indices.shape[1] // 8]
        self._add("cast_rows", view, low, self._copying(view.itemsize))

    # Operands.

    @property
    def _keys(self) -> View:
        return self._state.keys[: self.channels]

    @property
    def _matched(self) -> View:
        return self._state.matched[: self.channels]

    def _add(self, kernel: str, *operands: Any) -> None:
        self.steps.append(self._kernels.step(kernel, *operands))

    def _dtype(self, operand: str) -> int:
        field: Any = self._word.fields[operand]
        return self._word.dtype_of(field)

    def _view(self, operand: str) -> View:
        pattern = self._resolved.patterns[operand]
        assert isinstance(pattern, Walk), "index lists are followed by execute"
        return pattern.view(self._state.memories[pattern.space].data, self.channels)

    def _scalar(self, immediate: str) -> View:
        """The immediate's code in every lane: [lanes].

        One behind a pointer is copied when the word runs, before anything is written.
        """
        size = element_size(self._dtype(immediate))
        assert size is not None
        scalar = self._resolved.scalars[immediate]
        if isinstance(scalar, int):
            return self._constant(scalar, size)
        place = scalar.view(self._state.memories[scalar.space].data, self.channels)
        return self._converted(place, self._copying(size))

    def _converted(self, source: View, conversion: Any) -> View:
        """Room for one element a lane, which a step before the others fills."""
        kind = CODE_TYPES[conversion.to_size]
        room = np.zeros(self.channels, kind)
        self._add("cast_rows", room, source, conversion)
        return room

    def _constant(self, code: int, size: int) -> View:
        return np.broadcast_to(np.array([code], CODE_TYPES[size]), (self.channels,))

    def _set(self, array: View, value: Any) -> None:
        constant = np.broadcast_to(np.array(value, array.dtype), array.shape)
        self._add("cast_rows", array, constant, self._copying(array.itemsize))

    def _accumulator(self, command: int) -> View | None:
        """The accumulator as the command leaves it to be folded into; None where nothing is."""
        idle = self._state.idle_since[: self.channels]
        accumulator = self._state.accumulator[: self.channels]
        if command == IDLE:
            self._set(idle, True)
            return None
        if command == ZERO_THEN_ACCUMULATE:
            self._set(idle, False)
            self._set(accumulator, NEGATIVE_INFINITY)
        else:
            self._add("note_rows", idle)
        return accumulator

    # Conversions.

    def _conversion(
        self, source: int | None, target: int | None, *, stream: bool = False, flip: int = 0
    ) -> Any:
        """Between dtypes; None is FP32 bits."""
        return self._kernels.conversion(
            self._format(source),
            self._format(target),
            self.profile.conversion,
            stream=stream,
            flip=flip,
        )

    def _format(self, dtype: int | None) -> Format:
        return FP32 if dtype is None else number_format(dtype, self.profile)

    def _to_hub(self, source: str) -> Any:
        return self._conversion(self._dtype(source), None, stream=True)

    def _from_hub(self, destination: str) -> Any:
        return self._conversion(None, self._dtype(destination), stream=True)

    def _encoded(self, bits: int, destination: str) -> int:
        """The code of FP32 bits in the destination's type; FP32 keeps them."""
        if self._dtype(destination) == Dtype.FP32:
            return bits
        codes = self._kernels.from_hub(
            np.array([bits], np.uint32),
            self._format(self._dtype(destination)),
            self.profile.conversion,
        )
        return int(codes[0])

    def _copying(self, size: int) -> Any:
        """The conversion that moves elements of a size."""
        dtype = {1: "UINT8", 2: "UINT16", 4: "UINT32"}[size]
        return self._kernels.conversion(FORMATS[dtype], FORMATS[dtype], self.profile.conversion)
