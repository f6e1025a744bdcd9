"""What an instruction's ``execute`` is written against: the active lanes of a core.

Reads give arrays [lanes, elements] of codes in walk order; every read of an instruction comes
before its first write.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanewise.neuron.dtypes import CODE_TYPES, Dtype, element_size, number_format
from lanewise.neuron.instruction import Instruction
from lanewise.neuron.patterns import Codes, Truth, gather, scatter
from lanewise.neuron.profile import Profile
from lanewise.neuron.resolution import Resolved, scalar_codes
from lanewise.neuron.state import NEGATIVE_INFINITY, CoreState

ACCUMULATE = 2
ZERO_THEN_ACCUMULATE = 3
IDLE = 0

Hub = NDArray[np.uint32]


class Lanes:
    """The active lanes of one word: its operands, the per-lane state and the row kernels."""

    __slots__ = ("_resolved", "_state", "_word", "channels", "kernels", "profile", "warnings")

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
        self.profile = profile
        self.kernels = kernels
        self.channels: int = word.channels
        self.warnings: list[tuple[str, str]] = []

    # Operands.

    def read(self, operand: str) -> Codes:
        """The operand's elements as codes [lanes, elements]."""
        pattern = self._resolved.patterns[operand]
        return gather(self._state.memories[pattern.space].data, pattern, self.channels)

    def read_hub(self, operand: str) -> Hub:
        """The operand's elements as FP32 bits [lanes, elements]."""
        dtype = self._word.dtype_of(self._word.operands()[operand])
        return self.to_hub(self.read(operand), dtype)

    def count(self, operand: str) -> int:
        """Number of elements a lane."""
        return self._resolved.patterns[operand].count

    def write(self, operand: str, codes: Codes, where: Truth | None = None) -> None:
        """Store codes [lanes, elements] in walk order; only where ``where`` is true, if given."""
        pattern = self._resolved.patterns[operand]
        memory = self._state.memories[pattern.space]
        shape = (self.channels, pattern.count)
        codes = np.broadcast_to(codes, shape)
        if where is not None:
            where = np.broadcast_to(where, shape)
        scatter(memory.data, pattern, self.channels, codes, where)

    def scalar(self, immediate: str) -> Codes:
        """The immediate's code in every lane: [lanes]."""
        size = element_size(self._word.dtype_of(self._word.immediates()[immediate]))
        assert size is not None
        return scalar_codes(self._state, self._resolved.scalars[immediate], size, self.channels)

    # Numbers.

    def convert(self, codes: Codes, source: int, target: int) -> Codes:
        """Codes of one dtype as codes of another; equal dtypes move their bits untouched."""
        if source == target:
            return codes
        converted: Codes = self.kernels.convert(
            codes,
            number_format(source, self.profile),
            number_format(target, self.profile),
            self.profile.conversion,
        )
        return converted

    def to_hub(self, codes: Codes, dtype: int) -> Hub:
        """Codes of a dtype as FP32 bits."""
        hub: Hub = self.kernels.to_hub(codes, number_format(dtype, self.profile))
        return hub

    def from_hub(self, hub: Hub, dtype: int) -> Codes:
        """FP32 bits as codes of a dtype. FP32 keeps them; elsewhere a NaN becomes canonical."""
        if dtype == Dtype.FP32:
            return hub.copy()
        codes: Codes = self.kernels.from_hub(
            hub, number_format(dtype, self.profile), self.profile.conversion
        )
        return codes

    def all_ones(self, dtype: int) -> Any:
        """The code with every bit set: the miss value (profile ``find_miss``)."""
        size = element_size(dtype)
        assert size is not None
        return CODE_TYPES[size].type((1 << 8 * size) - 1)

    # Per-lane state, as views of the active lanes.

    @property
    def keys(self) -> Hub:
        """The eight keys, FP32 bits [lanes, 8]."""
        return self._state.keys[: self.channels]

    @property
    def matched(self) -> Truth:
        """Which keys have been used up, [lanes, 8]."""
        return self._state.matched[: self.channels]

    @property
    def indices(self) -> Hub:
        """Positions the last MATCH_REPLACE8 found, [lanes, 8]."""
        return self._state.indices[: self.channels]

    @property
    def accumulator(self) -> Hub:
        """The running maximum, FP32 bits [lanes]."""
        return self._state.accumulator[: self.channels]

    def accumulate(self, command: int, values: Hub, offered: Truth | None = None) -> None:
        """Fold values [lanes, elements] into the accumulator as the accumulator command says.

        Idle leaves it alone (profile ``idle_accumulator``); continuing after that, without a
        reset between, adds a warning to the run report.
        """
        idle = self._state.idle_since[: self.channels]
        if command == IDLE:
            idle[...] = True
            return
        if command == ZERO_THEN_ACCUMULATE:
            idle[...] = False
            self.accumulator[...] = NEGATIVE_INFINITY
        elif idle.any():
            self.warnings.append(idle_accumulator_warning(self._word.name, np.flatnonzero(idle)))
        self.accumulator[...] = self.kernels.fold_maximum(self.accumulator, values, offered)


def idle_accumulator_warning(name: str, lanes: NDArray[np.intp]) -> tuple[str, str]:
    """The warning for an instruction that continues the accumulator of idle lanes."""
    return (
        "idle-accumulator",
        f"{name} continues the accumulator of {_lane_text(lanes)} after an idle command without "
        "a reset between; the device may have disturbed it",
    )


def _lane_text(lanes: NDArray[np.intp]) -> str:
    """Lane numbers for people: runs as first..last."""
    breaks = np.flatnonzero(np.diff(lanes) != 1) + 1
    runs = [
        f"{run[0]}..{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in np.split(lanes, breaks)
    ]
    return ("lane " if len(lanes) == 1 else "lanes ") + ", ".join(runs)
