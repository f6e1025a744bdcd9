"""What a run leaves behind: its steps, one a call, with operands, words and warnings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lanewise.nki.errors import Location, NkiWarning
from lanewise.nki.estimate import Estimate
from lanewise.nki.storage import OnChip

if TYPE_CHECKING:
    from lanewise.nki.tile import NkiTensor


@dataclass(frozen=True, slots=True)
class OperandView:
    """Where an operand was: names, type and place, without holding on to the memory.

    ``partition`` and ``byte`` are the place of the first element on chip (0 and the byte offset
    in the tensor on HBM); ``strides`` are in elements. As text, ``sbuf:0+40`` is the place.
    """

    operand: str
    name: str
    buffer: str
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    partition: int
    byte: int

    @classmethod
    def of(cls, operand: str, tile: NkiTensor) -> OperandView:
        """The record of a tile."""
        view, storage = tile.geometry, tile.storage
        byte = view.offset * tile.dtype.size
        partition = 0
        if isinstance(storage, OnChip):
            partition = storage.partition + view.partition
            byte += storage.offset
        return cls(
            operand,
            tile.name,
            tile.buffer,
            tile.dtype.name,
            view.shape,
            tile.strides,
            partition,
            byte,
        )

    def __str__(self) -> str:
        shape = "x".join(map(str, self.shape))
        on_chip = self.buffer in ("sbuf", "psum")
        place = f":{self.partition}+{self.byte}" if on_chip else ""
        return f"{self.operand}={self.name}[{shape}] {self.dtype} {self.buffer}{place}"


@dataclass(frozen=True, slots=True)
class Warned:
    """A warning of a run: its kind, the message, the kernel's line, the step (if any)."""

    kind: str
    message: str
    location: Location | None
    step: int | None
    category: type[NkiWarning]


@dataclass(slots=True)
class Step:
    """One call of a kernel.

    ``words`` are the instruction words it became (none for a call outside the modelled set),
    ``engine`` who runs it, ``profile`` the decisions in force, ``label`` the call's ``name=``.
    """

    index: int
    function: str
    location: Location
    engine: str
    words: tuple[bytes, ...]
    outside: bool
    profile: str
    operands: tuple[OperandView, ...]
    estimate: Estimate
    program_id: int = 0
    label: str | None = None
    note: str = ""
    warnings: list[Warned] = field(default_factory=list)

    def __str__(self) -> str:
        count = len(self.words)
        words = "1 word" if count == 1 else f"{count} words"
        kind = "outside the modelled set" if self.outside else words
        operands = ", ".join(map(str, self.operands))
        return f"{self.index}: {self.function}({operands}) on {self.engine}, {kind}"


def operand_views(operands: dict[str, Any]) -> tuple[OperandView, ...]:
    """The records of the operands that are tiles."""
    return tuple(
        OperandView.of(operand, tile)
        for operand, tile in operands.items()
        if hasattr(tile, "geometry")
    )
