"""One program of a kernel while it runs: memory, machine, and the record of what happened."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanewise.model import VerdictError
from lanewise.nki.allocator import Allocator, aligned
from lanewise.nki.dtypes import NkiDtype
from lanewise.nki.errors import (
    FrontEndBug,
    Location,
    MemoryCapacityError,
    MemoryWarning,
    NkiError,
    NkiValidationError,
    NkiWarning,
    UninitialisedRead,
)
from lanewise.nki.geometry import fresh
from lanewise.nki.machine import Machine, Words
from lanewise.nki.steps import Step, Warned
from lanewise.nki.storage import Hbm, OnChip, bounding
from lanewise.nki.tile import NkiTensor

ON_CHIP = ("sbuf", "psum")
_PSUM_BANK = 2048


@dataclass(frozen=True, slots=True)
class Options:
    """What a run does about doubtful things.

    ``uninitialised``: warn, error or ignore; ``allow_fn_as_e4m3`` reads float8_e4m3fn as
    float8_e4m3 where the target has only that.
    """

    uninitialised: str = "warn"
    allow_fn_as_e4m3: bool = False


@dataclass(slots=True)
class Pending:
    """A step put off until its result is used: into ``tile``, or straight into another place.

    ``adds`` has the step add to what that place holds, where it can.
    """

    tile: NkiTensor
    run: Callable[[NkiTensor], None]
    adds: Callable[[NkiTensor], None] | None = None


@dataclass(slots=True)
class Snapshot:
    """Memory as it was when a word first used it."""

    space: str
    partition: int
    offset: int
    data: NDArray[np.uint8]


@dataclass(slots=True)
class Run:
    """A program: ``program`` of ``grid``, on a machine that starts from power-up."""

    machine: Machine
    options: Options
    grid: tuple[int, ...] = (1,)
    program: tuple[int, ...] = (0,)
    shared: dict[tuple[int, str], NkiTensor] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    warnings: list[Warned] = field(default_factory=list)
    snapshots: list[Snapshot] = field(default_factory=list)
    replay_problem: str | None = None
    pending: Pending | None = None
    scratch: dict[str, Any] = field(default_factory=dict)
    _allocators: dict[str, Allocator] = field(default_factory=dict)
    _warned: set[tuple[str, Location]] = field(default_factory=set)
    _names: int = 0
    _shared_made: int = 0

    def __post_init__(self) -> None:
        generation = self.machine.target.generation
        self._allocators = {
            "sbuf": Allocator("sbuf", generation.sbuf_bytes, self.machine.target.name),
            "psum": Allocator("psum", generation.psum_bytes, self.machine.target.name),
        }

    @property
    def program_index(self) -> int:
        """The program's number in row-major order of the grid."""
        index = 0
        for position, size in zip(self.program, self.grid, strict=True):
            index = index * size + position
        return index

    # Memory.

    def allocator(self, buffer: str) -> Allocator:
        """The allocator of SBUF or PSUM."""
        return self._allocators[buffer]

    def check_dtype(self, dtype: NkiDtype, location: Location) -> NkiDtype:
        """The type, or an error where the target lacks it, also as storage."""
        target = self.machine.target
        if not dtype.name.startswith("float8_e4m3fn") or target.has_e4m3fn:
            return dtype
        if self.options.allow_fn_as_e4m3 and dtype.name == "float8_e4m3fn":
            from lanewise.nki.dtypes import float8_e4m3

            return float8_e4m3
        raise NkiValidationError(
            f"{dtype.name} needs trn3; on {target} use float8_e4m3",
            function="ndarray",
            operand="dtype",
            value=dtype.name,
            limit="float8_e4m3",
            location=location,
            step=len(self.steps),
        )

    def allocate(
        self,
        shape: tuple[int, ...],
        dtype: NkiDtype,
        buffer: str,
        location: Location,
        *,
        name: str = "",
        address: tuple[int, int] | None = None,
        axis: int = 0,
    ) -> NkiTensor:
        """A new tile or HBM tensor, filled with what unwritten memory reads as."""
        dtype = self.check_dtype(dtype, location)
        if any(size < 1 for size in shape):
            raise NkiError(f"ndarray shape {shape} must have positive sizes ({location})")
        if buffer not in ON_CHIP:
            return self._allocate_hbm(shape, dtype, buffer, location, name)
        name = name or self._make_name(buffer)
        view = fresh(shape, axis)
        if len(shape) < 2 + axis:
            raise NkiError(
                f"ndarray shape {shape} in {buffer} must have a partition dimension and at least "
                f"one more ({location})"
            )
        if view.partitions > 128:
            raise NkiValidationError(
                f"ndarray {name} partitions {view.partitions} exceeds maximum 128",
                function="ndarray",
                operand=name,
                value=str(view.partitions),
                limit="128",
                rule="channels",
                location=location,
                step=len(self.steps),
            )
        storage = self._take(name, buffer, dtype, view.partitions, view.elements, location, address)
        storage.bytes.view(dtype.carrier)[...] = dtype.fill
        return NkiTensor(storage, view, dtype)

    def _take(
        self,
        name: str,
        buffer: str,
        dtype: NkiDtype,
        partitions: int,
        elements: int,
        location: Location,
        address: tuple[int, int] | None,
    ) -> OnChip:
        allocator, target = self._allocators[buffer], self.machine.target
        size = elements * dtype.size
        try:
            partition, offset = address or (0, allocator.place(partitions, size))
        except MemoryCapacityError as error:
            raise MemoryCapacityError(f"{error} ({location})") from None
        if address is not None:
            self._check_address(name, buffer, partition, partitions, offset, size, location)
        storage = OnChip(
            name,
            buffer,
            dtype,
            elements,
            location,
            allocator=allocator,
            memory=self.machine.state.memories[buffer].data,  # type: ignore[index]
            partition=partition,
            partitions=partitions,
            offset=offset,
        )
        allocator.take(storage)
        end = offset + aligned(size)
        if buffer == "sbuf" and target.usable_bytes < end:
            self.warn_once(
                MemoryWarning,
                f"{name} ends at byte {end} of a partition; the vendor documents "
                f"{target.usable_bytes} as usable on {target}, of {target.sbuf_bytes}",
                location,
            )
        if buffer == "psum" and size > _PSUM_BANK:
            self.warn_once(
                MemoryWarning,
                f"{name} takes {size} bytes of a psum partition, more than a bank of {_PSUM_BANK}",
                location,
            )
        self._note_reuse(storage)
        return storage

    def _check_address(
        self,
        name: str,
        buffer: str,
        partition: int,
        partitions: int,
        offset: int,
        size: int,
        location: Location,
    ) -> None:
        allocator = self._allocators[buffer]
        if (
            partition < 0
            or offset < 0
            or partition + partitions > 128
            or offset + size > allocator.capacity
            or offset % 4
        ):
            raise NkiError(
                f"ndarray address ({partition}, {offset}) for {partitions} partitions of {size} "
                f"bytes must lie in 128 partitions of {allocator.capacity} bytes, at a multiple "
                f"of 4 ({location})"
            )
        others = allocator.overlapping(partition, partitions, offset, aligned(size))
        if others:
            self.warn_once(
                MemoryWarning,
                f"{name} at address ({partition}, {offset}) overlaps {', '.join(others)}",
                location,
            )

    def _allocate_hbm(
        self, shape: tuple[int, ...], dtype: NkiDtype, buffer: str, location: Location, name: str
    ) -> NkiTensor:
        if buffer == "shared_hbm":
            key = (self._shared_made, name)
            self._shared_made += 1
            known = self.shared.get(key)
            if known is not None and known.shape == shape and known.dtype == dtype:
                return known
        name = name or self._make_name("hbm")
        elements = prod(shape)
        data = np.empty(elements, dtype=dtype.carrier)
        data[...] = dtype.fill
        storage = Hbm(name, buffer, dtype, elements, location, data=data.view(np.uint8))
        tensor = NkiTensor(storage, fresh(shape, None), dtype)
        if buffer == "shared_hbm":
            self.shared[key] = tensor
        return tensor

    def _make_name(self, kind: str) -> str:
        self._names += 1
        return f"{kind}_{self._names}"

    # What words need to be replayed.

    def touch(self, storage: OnChip) -> None:
        """A word is about to use the storage: keep what it holds now."""
        if not storage.touched:
            storage.touched = True
            kept = self._spare(storage.bytes.shape)
            kept[...] = storage.bytes
            self.snapshots.append(Snapshot(storage.buffer, storage.partition, storage.offset, kept))

    def _spare(self, shape: tuple[int, ...]) -> NDArray[np.uint8]:
        """An array of that shape: one of an earlier call's snapshots, or a new one."""
        spare = self.machine.spare
        for place, array in enumerate(spare):
            if array.shape == shape:
                return spare.pop(place)
        return np.empty(shape, dtype=np.uint8)

    def _note_reuse(self, storage: OnChip) -> None:
        """Memory that words have used is filled anew: the words alone no longer tell all."""
        for snapshot in self.snapshots:
            if (
                snapshot.space == storage.buffer
                and snapshot.offset < storage.offset + storage.row_bytes
                and storage.offset < snapshot.offset + snapshot.data.shape[1]
                and snapshot.partition < storage.partition + storage.partitions
                and storage.partition < snapshot.partition + snapshot.data.shape[0]
            ):
                self.replay_problem = f"{storage.name} reuses memory of an earlier tile"
                return

    # Steps.

    def flush(self) -> None:
        """Run the step that was put off, if there is one."""
        pending = self.pending
        if pending is not None:
            self.pending = None
            pending.run(pending.tile)

    def execute(self, words: Words, form: str | None) -> tuple[tuple[str, str], ...]:
        """Run words on the machine; the warnings of its report as (id, message)."""
        try:
            report = self.machine.run(words, form)
        except VerdictError as error:
            raise FrontEndBug(
                "the front end built a word that the machine refuses; this is a bug of lanewise, "
                f"not of the kernel: {error}"
            ) from error
        return tuple((warned.warning, warned.message) for warned in report.warnings)

    def add_step(self, step: Step) -> Step:
        """Record a step."""
        self.steps.append(step)
        return step

    # Warnings.

    def warn(
        self,
        category: type[NkiWarning],
        message: str,
        location: Location | None,
        *,
        quiet: bool = False,
    ) -> None:
        """Record a warning of the step that comes next, and say it unless ``quiet``."""
        warned = Warned(category.kind, message, location, len(self.steps), category)
        self.warnings.append(warned)
        if quiet:
            return
        if location is None:
            warnings.warn(message, category, stacklevel=2)
        else:
            warnings.warn_explicit(message, category, location.file, location.line)

    def warn_once(
        self, category: type[NkiWarning], message: str, location: Location, *, quiet: bool = False
    ) -> None:
        """As :meth:`warn`, once for each line of the kernel."""
        if self.not_yet(category, location):
            self.warn(category, message, location, quiet=quiet)

    def not_yet(self, category: type[NkiWarning], location: Location) -> bool:
        """Whether this line has not given such a warning; notes that it has now."""
        key = (category.kind, location)
        if key in self._warned:
            return False
        self._warned.add(key)
        return True

    def has_warned(self, category: type[NkiWarning], location: Location) -> bool:
        """Whether this line has given such a warning."""
        return (category.kind, location) in self._warned

    def check_read(self, function: str, operand: str, tile: NkiTensor, location: Location) -> None:
        """Report the elements of an operand that nothing has written."""
        written = tile.storage.written
        if written.complete or self.options.uninitialised == "ignore":
            return
        missing = written.missing(tile.geometry, tile.dtype.size)
        if missing is None:
            return
        message = (
            f"{function} {operand}{bounding(missing)} was never written "
            f"(allocated {tile.storage.location})"
        )
        if self.options.uninitialised == "error":
            raise NkiValidationError(
                message,
                function=function,
                operand=operand,
                value="unwritten",
                limit="written",
                location=location,
                step=len(self.steps),
            )
        written.mark(tile.geometry, tile.dtype.size)
        self.warn(UninitialisedRead, message, location)
