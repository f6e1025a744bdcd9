"""Allocation of SBUF and PSUM: first fit over byte ranges, the same in every partition.

A tile takes ``elements * size`` bytes, rounded up to four, of each of its partitions; a range is
free again when the last view of its tile dies, so loops find the same addresses each time.
"""

from __future__ import annotations

from lanewise.nki.errors import MemoryCapacityError
from lanewise.nki.storage import OnChip

_ALIGNMENT = 4
_MOST_LISTED = 8


def aligned(size: int) -> int:
    """``size`` rounded up to the alignment of tiles."""
    return -(-size // _ALIGNMENT) * _ALIGNMENT


class Allocator:
    """The live tiles of one memory of ``capacity`` bytes a partition."""

    def __init__(self, space: str, capacity: int, target: str) -> None:
        self.space = space
        self.capacity = capacity
        self.target = target
        self._live: dict[int, tuple[int, int, int, int, str]] = {}
        self.peak = 0

    def place(self, partitions: int, size: int) -> int:
        """The byte offset for ``size`` bytes in partitions 0 to ``partitions`` - 1.

        MemoryCapacityError with the live tiles when there is no room.
        """
        need = aligned(size)
        offset = 0
        for first, _, start, end, _ in sorted(self._live.values(), key=lambda live: live[2]):
            if first >= partitions:
                continue
            if start - offset >= need:
                break
            offset = max(offset, end)
        if offset + need > self.capacity:
            raise MemoryCapacityError(self._story(size))
        return offset

    def _story(self, size: int) -> str:
        """What does not fit, and what is live, largest first."""
        live = sorted(self._live.values(), key=lambda item: item[2] - item[3])
        listed = ", ".join(
            f"{name} {end - start}" for _, _, start, end, name in live[:_MOST_LISTED]
        )
        more = ", …" if len(live) > _MOST_LISTED else ""
        total = self.live_bytes + aligned(size)
        what = (
            f"{total} bytes per partition exceeds {self.capacity}"
            if total > self.capacity
            else f"{size} bytes per partition exceeds the largest free range of {self.capacity}"
        )
        return (
            f"ndarray buffer {self.space} {what} ({self.target}); live: {listed or 'nothing'}{more}"
        )

    def overlapping(self, partition: int, partitions: int, offset: int, size: int) -> list[str]:
        """Names of the live tiles that share bytes with a range."""
        return [
            name
            for first, count, start, end, name in self._live.values()
            if start < offset + size
            and offset < end
            and first < partition + partitions
            and partition < first + count
        ]

    def take(self, storage: OnChip) -> None:
        """Note that the storage is live."""
        end = storage.offset + aligned(storage.row_bytes)
        self._live[id(storage)] = (
            storage.partition,
            storage.partitions,
            storage.offset,
            end,
            storage.name,
        )
        self.peak = max(self.peak, end)

    def release(self, storage: OnChip) -> None:
        """Give the storage's bytes back."""
        self._live.pop(id(storage), None)

    @property
    def live_bytes(self) -> int:
        """Bytes a partition that live tiles take, gaps not counted."""
        return sum(end - start for _, _, start, end, _ in self._live.values())
