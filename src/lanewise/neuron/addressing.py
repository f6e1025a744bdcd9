"""Which addresses, walks and partition windows are legal, and what is wrong with the others.

Trouble found here becomes a broken rule in the legality check, and a fault where a register holds
the address and the word is about to run. Source: address, alignment, window and PSUM-write rules
of the ISA documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lanewise.neuron.generation import PARTITIONS, QUADRANT, Generation, Place
from lanewise.neuron.profile import Profile


@dataclass(frozen=True, slots=True)
class Trouble:
    """What an operand's ``part`` ("start", "num", …) is, and what it must be."""

    part: str
    value: str
    allowed: str
    hint: str = ""


def walk_extent(size: int, step: Sequence[int], num: Sequence[int]) -> tuple[int, int]:
    """Lowest and highest byte of a walk, relative to its start, both inclusive."""
    low = sum(min(0, s * (n - 1)) for s, n in zip(step, num, strict=True))
    high = sum(max(0, s * (n - 1)) for s, n in zip(step, num, strict=True))
    return low * size, high * size + size - 1


def element_place(
    generation: Generation, address: int, size: int, *, writes: bool, sbuf_only: bool
) -> Place | Trouble:
    """Where one element of ``size`` bytes at a direct address lies, or why it may not."""
    place = generation.locate(address)
    if place is None:
        spaces = "SBUF or PSUM" if generation.psum_bytes else "SBUF"
        return Trouble("start", f"{address:#x}", f"inside {spaces} of {generation}")
    if sbuf_only and place.space != "sbuf":
        return Trouble("start", str(place), "in SBUF")
    if place.offset % size:
        return Trouble("start", str(place), f"aligned to the element size of {size} bytes")
    active = generation.active_bytes(place.space)
    if place.offset + size > active:
        return Trouble(
            "start", str(place), f"inside the {active:#x} active bytes of a {place.space} partition"
        )
    if writes and place.space == "psum" and size != 4:
        return Trouble(
            "start", str(place), "in SBUF, or of a 4-byte type: PSUM takes no other writes"
        )
    return place


def walk_trouble(
    generation: Generation, place: Place, size: int, step: Sequence[int], num: Sequence[int]
) -> Trouble | None:
    """Whether a whole walk stays inside the active bytes of the partition it starts in."""
    if 0 in num:
        return Trouble("num", str(list(num)), "at least 1 in every dimension")
    low, high = walk_extent(size, step, num)
    active = generation.active_bytes(place.space)
    if place.offset + low < 0 or place.offset + high >= active:
        return Trouble(
            "step",
            f"{list(step)} with num {list(num)}, reaching offsets "
            f"{place.offset + low} to {place.offset + high}",
            f"a walk inside offsets 0 to {active - 1} of the {place.space} partition",
        )
    return None


def window_starts(channels: int) -> tuple[int, ...]:
    """The partitions at which a window of ``channels`` may start where quadrants count."""
    if channels > 2 * QUADRANT:
        return (0,)
    if channels > QUADRANT:
        return (0, 64)
    return (0, 32, 64, 96)


def window_trouble(profile: Profile, place: Place, channels: int) -> Trouble | None:
    """Whether ``channels`` partitions may start at a place (profile ``partition_window``)."""
    first = place.partition
    if first + channels > PARTITIONS:
        return Trouble(
            "start",
            f"partition {first} with {channels} channels",
            f"start partition + channels <= {PARTITIONS}",
        )
    if profile.partition_window == "fits":
        return None
    starts = window_starts(channels)
    if first in starts:
        return None
    return Trouble(
        "start",
        f"partition {first} with {channels} channels",
        f"a start partition in {{{', '.join(map(str, starts))}}}",
        "profile field partition_window=fits allows any start that fits",
    )


def index_list_place(generation: Generation, address: int, count: int) -> Place | Trouble:
    """Where ``count`` UINT32 indices at a direct address lie, or why they may not."""
    place = element_place(generation, address, 4, writes=False, sbuf_only=False)
    if isinstance(place, Trouble):
        return place
    return walk_trouble(generation, place, 4, (1,), (count,)) or place
