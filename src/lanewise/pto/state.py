"""The state of a processing element, as one immutable value.

A bundle maps a state to the next one; nothing is changed in place, so a refused bundle cannot
leave anything behind. Source: PTO state.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from lanewise.errors import UsageError
from lanewise.pto.faults import tile_allocation
from lanewise.pto.registers import GPR_COUNT, GPR_NAMES, HAND_DEPTH, Hand, TileName
from lanewise.pto.tile import Tile, total_capacity

PE_COUNT = 4
STORAGE_BYTES = 256 * 1024

#: Participating PEs by PEMode, as a tuple of their numbers. Source: PTO state, PE mask.
PE_MODES = ((), (0,), (1,), (2,), (3,), (0, 1), (0, 1, 2), (0, 1, 2, 3))


class Flag(enum.IntFlag):
    """Sticky numeric flags; only NV can be raised here, and only by a compare."""

    NV = 1
    DZ = 2
    OF = 4
    UF = 8
    NX = 16


FLAG_MASK = 31


def pe_mask_text(mode: int) -> str:
    """The PE mask of a PEMode as it is written: ``1000`` is PE0 alone."""
    return "".join("1" if pe in PE_MODES[mode] else "0" for pe in range(PE_COUNT))


def pe_mode_of(mask: str) -> int:
    """The PEMode of a written PE mask; UsageError for one that no mode has."""
    for mode in range(len(PE_MODES)):
        if pe_mask_text(mode) == mask:
            return mode
    known = ", ".join(pe_mask_text(mode) for mode in range(len(PE_MODES)))
    raise UsageError(f"a PE mask must be one of {known}, not {mask!r}")


@dataclass(frozen=True, slots=True)
class Effects:
    """What one bundle does to one PE, all at once: a tile push, a GPR write, flags raised."""

    tile: tuple[Hand, Tile] | None = None
    gprs: tuple[tuple[int, int], ...] = ()
    flags: int = 0


@dataclass(frozen=True, slots=True)
class ProcessingElement:
    """GPRs, the four hands (newest tile first) and the sticky flags of one PE."""

    gprs: tuple[int, ...] = (0,) * GPR_COUNT
    hands: tuple[tuple[Tile, ...], ...] = ((), (), (), ())
    flags: int = 0
    gpr_width: int = field(default=64, repr=False)

    def gpr(self, index: int) -> int:
        """The value of a register; index 0 reads zero."""
        return self.gprs[index]

    def tile(self, name: TileName) -> Tile | None:
        """The tile of this name, None when the hand is not that long."""
        hand = self.hands[name.hand]
        return hand[name.age - 1] if name.age <= len(hand) else None

    @property
    def used_bytes(self) -> int:
        """Storage that the live tiles hold."""
        return sum(total_capacity(hand) for hand in self.hands)

    def with_gpr(self, index: int, value: int) -> ProcessingElement:
        """The state with one register written; a write to index 0 is dropped."""
        if not 0 <= index < GPR_COUNT:
            raise UsageError(f"a register index must be 0..{GPR_COUNT - 1}, not {index}")
        if value < 0 or value >> self.gpr_width:
            raise UsageError(
                f"{GPR_NAMES[index]} holds {self.gpr_width} bits, {value:#x} does not fit"
            )
        if index == 0:
            return self
        gprs = (*self.gprs[:index], value, *self.gprs[index + 1 :])
        return ProcessingElement(gprs, self.hands, self.flags, self.gpr_width)

    def with_tile(self, hand: Hand, tile: Tile) -> ProcessingElement:
        """The state with a tile pushed; the oldest of a full hand is dropped."""
        pushed = (tile, *self.hands[hand])[:HAND_DEPTH]
        hands = (*self.hands[:hand], pushed, *self.hands[hand + 1 :])
        return ProcessingElement(self.gprs, hands, self.flags, self.gpr_width)

    def with_flags(self, flags: int) -> ProcessingElement:
        """The state with flags raised; they are sticky."""
        if not flags & ~self.flags:
            return self
        return ProcessingElement(self.gprs, self.hands, self.flags | flags, self.gpr_width)

    def check_allocation(self, hand: Hand, capacity: int) -> None:
        """Refuse a new tile that the storage cannot take (TileAllocation).

        A full hand gives back the storage of the tile that the push drops.
        """
        queue = self.hands[hand]
        freed = queue[-1].descriptor.capacity if len(queue) == HAND_DEPTH else 0
        wanted = self.used_bytes - freed + capacity
        if wanted > STORAGE_BYTES:
            tile_allocation(
                "destination.storage",
                f"a tile of {capacity} bytes needs {wanted} bytes of storage, "
                f"{STORAGE_BYTES} exist on a PE",
            )

    def after(self, effects: Effects) -> ProcessingElement:
        """The state with everything a bundle does in it."""
        state = self.with_flags(effects.flags)
        for index, value in effects.gprs:
            state = state.with_gpr(index, value)
        if effects.tile is not None:
            state = state.with_tile(*effects.tile)
        return state
