"""SBUF and PSUM: 128 partitions of bytes, seen as typed arrays.

Untouched memory costs nothing: the pages of a new memory are only taken when written.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lanewise.errors import UsageError
from lanewise.formats import FORMATS
from lanewise.kernels import reference
from lanewise.neuron.dtypes import CODE_TYPES, Dtype, find_dtype, number_format
from lanewise.neuron.generation import PARTITIONS, Generation, Space
from lanewise.neuron.profile import Profile

# How a dtype is handed out when NumPy has the type itself; all others come as codes.
_NATURAL = {
    Dtype.INT8: "<i1",
    Dtype.UINT8: "<u1",
    Dtype.INT16: "<i2",
    Dtype.UINT16: "<u2",
    Dtype.INT32: "<i4",
    Dtype.UINT32: "<u4",
    Dtype.FP16: "<f2",
    Dtype.FP32: "<f4",
    Dtype.FP32R: "<f4",
    Dtype.INT64: "<i8",
    Dtype.UINT64: "<u8",
}
# NumPy dtypes (by name, those of ml_dtypes included) whose bits are the dtype's own.
_SAME_BITS = {
    Dtype.BFLOAT16: {"bfloat16"},
    Dtype.FP8_EXP3: {"float8_e3m4"},
    Dtype.FP8_EXP4: {"float8_e4m3", "float8_e4m3fn"},
    Dtype.FP8_EXP5: {"float8_e5m2"},
}


class Memory:
    """One memory of a core.

    ``data`` is its content, uint8 [128, active bytes a partition], the same array for good.
    Reading and writing through the methods converts to and from typed arrays; bits are moved,
    never rounded, unless ``convert=True`` asks for the profile's conversion from FP32 values.
    """

    __slots__ = ("_data", "_profile", "generation", "space")

    def __init__(self, space: Space, generation: Generation, profile: Profile) -> None:
        self.space: Space = space
        self.generation = generation
        self._profile = profile
        self._data: NDArray[np.uint8] = np.zeros(
            (PARTITIONS, generation.active_bytes(space)), dtype=np.uint8
        )

    @property
    def data(self) -> NDArray[np.uint8]:
        """The content, to be read and assigned into."""
        return self._data

    @property
    def bytes_per_partition(self) -> int:
        """Size of a partition."""
        return int(self.data.shape[1])

    def address(self, partition: int, offset: int = 0) -> int:
        """The direct address of a byte, for the start of an access pattern."""
        return self.generation.address(self.space, partition, offset)

    def write(
        self,
        partition: int,
        offset: int,
        array: ArrayLike,
        dtype: str | int,
        *,
        convert: bool = False,
    ) -> None:
        """Store ``array`` (any shape, flattened row by row) in one partition, from a byte offset.

        The array's bits must already be the dtype's: its NumPy type is the dtype, or unsigned
        codes of its width. With ``convert=True`` an array of numbers is taken as FP32 values and
        rounded to the dtype under the profile. UsageError for anything else, for an offset that
        is not aligned, and for data that does not fit; nothing is stored then.
        """
        codes = self._codes(array, find_dtype(dtype), convert=convert).reshape(1, -1)
        self._range(partition, 1, offset, codes)[...] = codes.view(np.uint8)

    def read(
        self, partition: int, offset: int, shape: int | tuple[int, ...], dtype: str | int
    ) -> NDArray[Any]:
        """A copy of ``shape`` elements of one partition, from a byte offset.

        Comes as the NumPy type of the dtype where there is one (FP32, FP16, integers), else as
        unsigned codes (BFLOAT16, FP8).
        """
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        rows = self.read_tile(offset, shape, dtype, start_partition=partition, partitions=1)
        return rows.reshape(shape)

    def write_tile(
        self,
        offset: int,
        array: ArrayLike,
        dtype: str | int,
        *,
        start_partition: int = 0,
        convert: bool = False,
    ) -> None:
        """Store ``array`` [partitions, …]: row r goes to partition ``start_partition`` + r.

        Each row is stored from the same byte offset. Otherwise as :meth:`write`.
        """
        shape = np.shape(array)
        if not shape:
            raise UsageError("a tile needs a first axis for its partitions, not a single number")
        codes = self._codes(array, find_dtype(dtype), convert=convert)
        codes = codes.reshape(shape[0], prod(shape[1:]))
        target = self._range(start_partition, codes.shape[0], offset, codes)
        target[...] = codes.view(np.uint8)

    def read_tile(
        self,
        offset: int,
        shape: int | tuple[int, ...],
        dtype: str | int,
        *,
        start_partition: int = 0,
        partitions: int | None = None,
    ) -> NDArray[Any]:
        """A copy of ``shape`` elements from each of ``partitions`` partitions (default: the rest).

        The result has shape [partitions, *shape]; its type as in :meth:`read`.
        """
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        code = find_dtype(dtype)
        if any(extent < 0 for extent in shape):
            raise UsageError(f"a shape has no negative extents, not {shape}")
        rows = PARTITIONS - start_partition if partitions is None else partitions
        count = prod(shape)
        carrier = CODE_TYPES[code.size]
        self._check_range(start_partition, rows, offset, count * code.size, code.size)
        block = self.data[
            start_partition : start_partition + rows, offset : offset + count * code.size
        ]
        codes = block.copy().view(carrier)
        return codes.view(_NATURAL.get(code, carrier)).reshape((rows, *shape))

    def values(
        self, partition: int, offset: int, shape: int | tuple[int, ...], dtype: str | int
    ) -> NDArray[np.float32]:
        """As :meth:`read`, decoded to FP32 values whatever the dtype."""
        code = find_dtype(dtype)
        codes = self.read(partition, offset, shape, code).view(CODE_TYPES[code.size])
        hub = reference.to_hub(codes, number_format(code, self._profile))
        return hub.view(np.float32)

    def _codes(self, array: ArrayLike, dtype: Dtype, *, convert: bool) -> NDArray[Any]:
        """The array as unsigned little-endian codes of the dtype's width."""
        given = np.asarray(array)
        carrier = CODE_TYPES[dtype.size]
        if convert:
            if given.dtype.kind not in "fiub" or dtype.size == 8:
                raise UsageError(f"only numbers convert to {dtype}, not {given.dtype}")
            # A number past FP32 is an infinity there, which is no cause for a warning.
            with np.errstate(over="ignore"):
                hub = np.ascontiguousarray(given, dtype="<f4").view("<u4")
            if dtype == Dtype.FP32:
                return hub
            target = number_format(dtype, self._profile)
            return reference.convert(hub, FORMATS["FP32"], target, self._profile.conversion)
        natural = np.dtype(_NATURAL[dtype]) if dtype in _NATURAL else None
        # NumPy takes None in a comparison for float64, so only real types are compared.
        same = given.dtype.newbyteorder("<") in {natural or carrier, carrier}
        same = same or given.dtype.name in _SAME_BITS.get(dtype, ())
        if not same:
            wanted = natural.name if natural is not None else f"{carrier.name} codes"
            raise UsageError(
                f"an array of {given.dtype.name} does not hold {dtype} bits (expected {wanted}); "
                "pass convert=True to round numbers to the dtype"
            )
        little = given.astype(given.dtype.newbyteorder("<"), copy=False)
        return np.ascontiguousarray(little).view(carrier)

    def _range(
        self, partition: int, rows: int, offset: int, codes: NDArray[Any]
    ) -> NDArray[np.uint8]:
        """The bytes that ``codes`` [rows, n] will fill."""
        size = codes.itemsize * codes.shape[-1]
        self._check_range(partition, rows, offset, size, codes.itemsize)
        return self.data[partition : partition + rows, offset : offset + size]

    def _check_range(
        self, partition: int, rows: int, offset: int, size: int, alignment: int
    ) -> None:
        if not (partition >= 0 and rows >= 0 and partition + rows <= PARTITIONS):
            raise UsageError(
                f"partitions {partition}..{partition + rows - 1} are not all inside "
                f"0..{PARTITIONS - 1}"
            )
        if offset < 0 or offset + size > self.bytes_per_partition:
            raise UsageError(
                f"bytes {offset:#x}..{offset + max(size, 1) - 1:#x} are not all inside the "
                f"{self.bytes_per_partition:#x} bytes of a {self.space} partition of "
                f"{self.generation}"
            )
        if offset % alignment:
            raise UsageError(
                f"offset {offset:#x} is not aligned to the element size of {alignment} bytes"
            )
