"""Memory that tiles are views of: a range of SBUF or PSUM, or a tensor on HBM.

Each remembers which of its bytes have been written, so that reading the others can be reported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lanewise.nki.dtypes import NkiDtype
from lanewise.nki.errors import Location
from lanewise.nki.geometry import Geometry

if TYPE_CHECKING:
    from lanewise.nki.allocator import Allocator

Array = NDArray[Any]
Truth = NDArray[np.bool_]


class Written:
    """Which bytes of a storage have been written, [rows, bytes a row]."""

    __slots__ = ("_map", "_rows", "_width", "complete")

    def __init__(self, rows: int, width: int, *, complete: bool = False) -> None:
        self._rows = rows
        self._width = width
        self._map: Truth | None = None
        self.complete = complete

    def mark(self, view: Geometry, size: int, where: Array | None = None) -> None:
        """The elements of the view (those that ``where`` marks) have been written."""
        if self.complete:
            return
        if where is None and self._is_everything(view, size):
            self.complete, self._map = True, None
            return
        bytes_of = self._bytes_of(view, size)
        if where is None:
            bytes_of[...] = True
        else:
            bytes_of |= np.broadcast_to(where, view.shape)[..., None]

    def missing(self, view: Geometry, size: int) -> Truth | None:
        """The view's elements with an unwritten byte, or None when there are none."""
        if self.complete:
            return None
        written = self._bytes_of(view, size)
        if written.all():
            assert self._map is not None
            if self._map.all():
                self.complete, self._map = True, None
            return None
        gaps: Truth = np.logical_not(written.all(axis=-1))
        return gaps

    def _is_everything(self, view: Geometry, size: int) -> bool:
        """Whether the view covers the storage without a gap (sufficient)."""
        if view.partitions != self._rows or view.elements * size != self._width:
            return False
        expected = 1
        for stride, extent in sorted(pair for pair in view.free if pair[1] != 1):
            if stride != expected:
                return False
            expected *= extent
        return view.partition_step == 1

    def _bytes_of(self, view: Geometry, size: int) -> Truth:
        if self._map is None:
            self._map = np.zeros((self._rows, self._width), dtype=np.bool_)
        pitch = self._width
        strides = tuple(
            stride * (pitch if dim == view.axis else size)
            for dim, stride in enumerate(view.strides)
        )
        offset = view.partition * pitch + view.offset * size
        return np.ndarray(
            (*view.shape, size), np.bool_, buffer=self._map, offset=offset, strides=(*strides, 1)
        )


class Storage:
    """What every memory has: a name, a type, the line that allocated it.

    ``buffer`` is sbuf, psum, or one of the HBM kinds; ``elements`` the number of elements of
    ``dtype`` a partition has (on HBM: all).
    """

    __slots__ = (
        "__weakref__",
        "buffer",
        "dtype",
        "elements",
        "location",
        "name",
        "touched",
        "written",
    )

    def __init__(
        self,
        name: str,
        buffer: str,
        dtype: NkiDtype,
        elements: int,
        location: Location,
        written: Written,
    ) -> None:
        self.name = name
        self.buffer = buffer
        self.dtype = dtype
        self.elements = elements
        self.location = location
        self.written = written
        #: Whether an instruction word has used the memory.
        self.touched = False

    def codes(self, view: Geometry, dtype: NkiDtype, *, writing: bool = False) -> Array:
        """The view's elements as unsigned codes in its shape, without a copy."""
        raise NotImplementedError


class OnChip(Storage):
    """A range of SBUF or PSUM: ``partitions`` partitions from ``partition``, the bytes
    ``offset`` to ``offset + row_bytes`` of each. Given back when the last view dies.
    """

    __slots__ = ("allocator", "memory", "offset", "partition", "partitions", "row_bytes")

    def __init__(
        self,
        name: str,
        buffer: str,
        dtype: NkiDtype,
        elements: int,
        location: Location,
        *,
        allocator: Allocator,
        memory: NDArray[np.uint8],
        partition: int,
        partitions: int,
        offset: int,
    ) -> None:
        self.row_bytes = elements * dtype.size
        super().__init__(
            name, buffer, dtype, elements, location, Written(partitions, self.row_bytes)
        )
        self.allocator = allocator
        self.memory = memory
        self.partition = partition
        self.partitions = partitions
        self.offset = offset

    def __del__(self) -> None:
        self.allocator.release(self)

    def codes(self, view: Geometry, dtype: NkiDtype, *, writing: bool = False) -> Array:
        pitch = self.memory.strides[0]
        size = dtype.size
        strides = tuple(
            stride * (pitch if dim == view.axis else size)
            for dim, stride in enumerate(view.strides)
        )
        start = (self.partition + view.partition) * pitch + self.offset + view.offset * size
        return np.ndarray(
            view.shape, dtype.carrier, buffer=self.memory, offset=start, strides=strides
        )

    @property
    def bytes(self) -> NDArray[np.uint8]:
        """The storage's own bytes, [partitions, row bytes]."""
        return self.memory[
            self.partition : self.partition + self.partitions,
            self.offset : self.offset + self.row_bytes,
        ]


class Hbm(Storage):
    """A tensor on HBM. One made from a caller's array shares its bytes until the first write."""

    __slots__ = ("_data", "_owned", "source")

    def __init__(
        self,
        name: str,
        buffer: str,
        dtype: NkiDtype,
        elements: int,
        location: Location,
        *,
        data: NDArray[np.uint8],
        source: object = None,
    ) -> None:
        given = source is not None
        super().__init__(
            name, buffer, dtype, elements, location, Written(1, data.size, complete=given)
        )
        self._data = data
        self._owned = not given
        self.source = source

    @property
    def changed(self) -> bool:
        """Whether a kernel wrote to it."""
        return self._owned

    def codes(self, view: Geometry, dtype: NkiDtype, *, writing: bool = False) -> Array:
        if writing and not self._owned:
            self._data = self._data.copy()
            self._owned = True
        size = dtype.size
        codes: Array = np.ndarray(
            view.shape,
            dtype.carrier,
            buffer=self._data,
            offset=view.offset * size,
            strides=tuple(stride * size for stride in view.strides),
        )
        return codes


def bounding(missing: Truth) -> str:
    """The smallest subscript around the marked elements: ``[:, 12:16]``."""
    parts = []
    for dim, size in enumerate(missing.shape):
        others = tuple(other for other in range(missing.ndim) if other != dim)
        hit = np.flatnonzero(missing.any(axis=others))
        low, high = int(hit[0]), int(hit[-1]) + 1
        parts.append(":" if (low, high) == (0, size) else f"{low}:{high}")
    return f"[{', '.join(parts)}]"
