"""Tensors as kernels see them: views of memory, none of which copies.

Dimension 0 of an on-chip tile is the partition dimension; it can be sliced, never permuted,
broadcast, split or selected away.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from numpy.typing import NDArray

from lanewise.errors import UsageError
from lanewise.nki import geometry
from lanewise.nki.context import flush
from lanewise.nki.dtypes import NkiDtype, find_dtype
from lanewise.nki.dynamic import Dynamic, Offsets
from lanewise.nki.errors import NkiError, caller
from lanewise.nki.geometry import Geometry
from lanewise.nki.patterns import explicit, pattern_of
from lanewise.nki.rearranging import rearranged
from lanewise.nki.storage import OnChip, Storage
from lanewise.nki.subscripts import subscript

Key = tuple[Any, ...]


class NkiTensor:
    """A view: shape, dtype and the places of its elements in SBUF, PSUM or HBM."""

    __slots__ = ("_geometry", "_key", "dtype", "dynamic", "storage")

    #: Tiles are no Python sequences; without this, iteration would go through indices.
    __iter__ = None
    #: Have NumPy leave arithmetic with tiles to the tiles.
    __array_ufunc__ = None

    def __init__(
        self,
        storage: Storage,
        view: Geometry,
        dtype: NkiDtype,
        dynamic: Dynamic | Offsets | None = None,
    ) -> None:
        self.storage = storage
        self._geometry = view
        self.dtype = dtype
        #: Offsets that are only known when a step runs, or None.
        self.dynamic = dynamic
        self._key: Key | None = None

    # What the view is.

    @property
    def geometry(self) -> Geometry:
        """Where the elements are."""
        return self._geometry

    @property
    def shape(self) -> tuple[int, ...]:
        """Size of each dimension."""
        return self._geometry.shape

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self._geometry.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return self._geometry.elements * self._geometry.partitions

    @property
    def itemsize(self) -> int:
        """Bytes an element."""
        return self.dtype.size

    @property
    def strides(self) -> tuple[int, ...]:
        """Distance of neighbours in each dimension, in elements of row-major storage."""
        view = self._geometry
        return tuple(
            stride * self.row if dim == view.axis else stride
            for dim, stride in enumerate(view.strides)
        )

    @property
    def offset(self) -> int:
        """Place of the first element in row-major storage, in elements."""
        view = self._geometry
        return view.offset + (0 if view.axis is None else view.partition * self.row)

    @property
    def row(self) -> int:
        """Elements of this view's dtype that the storage has in a partition."""
        return self.storage.elements * self.storage.dtype.size // self.dtype.size

    @property
    def name(self) -> str:
        """The name given at allocation, or one made up for it."""
        return self.storage.name

    @property
    def buffer(self) -> str:
        """sbuf, psum, or a kind of HBM."""
        return self.storage.buffer

    @property
    def is_on_chip(self) -> bool:
        """Whether the tensor is in SBUF or PSUM."""
        return isinstance(self.storage, OnChip)

    def may_share_bytes(self, other: NkiTensor) -> bool:
        """Whether the two storages have bytes in common, however they came to lie there."""
        mine, its = self.storage, other.storage
        if not (isinstance(mine, OnChip) and isinstance(its, OnChip)):
            return mine is its
        return (
            mine.buffer == its.buffer
            and mine.partition < its.partition + its.partitions
            and its.partition < mine.partition + mine.partitions
            and mine.offset < its.offset + its.row_bytes
            and its.offset < mine.offset + mine.row_bytes
        )

    @property
    def key(self) -> Key:
        """All that decides how a step with this operand is lowered."""
        if self._key is None:
            view, storage = self._geometry, self.storage
            place = (storage.partition, storage.offset) if isinstance(storage, OnChip) else ()
            self._key = (storage.buffer, self.dtype.name, *place, view)
        return self._key

    # Elements, for the front end.

    def codes(self, *, writing: bool = False) -> NDArray[Any]:
        """The elements as unsigned codes in the view's shape, not copied."""
        flush()
        return self.storage.codes(self._geometry, self.dtype, writing=writing)

    def numpy(self) -> NDArray[Any]:
        """A copy of the elements as a NumPy array."""
        if isinstance(self.dynamic, Offsets):
            base = self.storage.codes(
                Geometry((self.storage.elements,), (1,)), self.storage.dtype
            ).view(self.dtype.carrier)
            return base[self.dynamic.places].view(self.dtype.numpy)
        return self.codes().copy().view(self.dtype.numpy).reshape(self.shape)

    # Views.

    def _derive(self, make: Callable[..., Geometry], *arguments: Any) -> NkiTensor:
        if self.dynamic is not None:
            raise NkiError(f"{self.name} has indirect offsets and no further views ({caller()})")
        try:
            view = make(self._geometry, *arguments)
        except UsageError as error:
            raise NkiError(f"{self.name}: {error} ({caller()})") from None
        return NkiTensor(self.storage, view, self.dtype)

    def __getitem__(self, index: Any) -> NkiTensor:
        if _has_grid(index):
            from lanewise.nki.beta1.indexing import grid_view

            return grid_view(self, index)
        return self._derive(subscript, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        from lanewise.nki.language.movement import assign

        assign(self[index], value)

    def slice(self, dim: int, start: int, end: int, step: int = 1) -> NkiTensor:
        """Elements ``start`` to ``end`` (exclusive) of a dimension, ``step`` apart."""
        index = [slice(None)] * self.ndim
        try:
            index[geometry.checked_dim(self._geometry, dim)] = slice(start, end, step)
        except UsageError as error:
            raise NkiError(f"{self.name}: {error} ({caller()})") from None
        return self._derive(subscript, tuple(index))

    def select(self, dim: int, index: int) -> NkiTensor:
        """Element ``index`` of a free dimension, the dimension dropped."""
        position = index + self.shape[dim] if index < 0 else index
        if not 0 <= position < self.shape[dim]:
            raise NkiError(
                f"{self.name}: index {index} of dimension {dim} exceeds its size "
                f"{self.shape[dim]} ({caller()})"
            )
        return self._derive(geometry.select, dim, position)

    def permute(self, dims: Sequence[int]) -> NkiTensor:
        """The dimensions in another order; dimension 0 stays first on chip."""
        return self._derive(geometry.permute, dims)

    def broadcast(self, dim: int, size: int) -> NkiTensor:
        """A free dimension of size 1 seen ``size`` times."""
        return self._derive(geometry.broadcast, dim, size)

    def broadcast_to(self, shape: Sequence[int]) -> NkiTensor:
        """Free dimensions of size 1 repeated to reach ``shape``."""
        view = self
        for dim, (have, want) in enumerate(zip(self.shape, shape, strict=True)):
            if have != want:
                view = view.broadcast(dim, want)
        return view

    def expand_dim(self, dim: int) -> NkiTensor:
        """A new dimension of size 1 at ``dim``."""
        return self._derive(geometry.expand, dim)

    def expand_dims(self, axis: int) -> NkiTensor:
        """As :meth:`expand_dim`."""
        return self.expand_dim(axis)

    def squeeze_dim(self, dim: int) -> NkiTensor:
        """Without the free dimension ``dim`` of size 1."""
        return self._derive(geometry.squeeze, dim)

    def reshape_dim(self, dim: int, shape: Sequence[int]) -> NkiTensor:
        """A free dimension as several; one size may be -1."""
        return self._derive(geometry.split, dim, shape)

    def flatten_dims(self, start: int, end: int) -> NkiTensor:
        """Dimensions ``start`` to ``end`` (inclusive) as one."""
        return self._derive(geometry.flatten, start, end)

    def reshape(self, *shape: Any) -> NkiTensor:
        """The elements in the same order under another shape."""
        sizes = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        return self._derive(geometry.reshape, tuple(sizes))

    def rearrange(
        self, pattern: Any, to: Any = None, fixed_sizes: Any = None, **sizes: int
    ) -> NkiTensor:
        """Dimensions split, ordered and merged as ``"p (a b) -> p b a"`` says.

        Also with two tuples, ``(("p", ("a", "b")), ("p", "b", "a"))``, and their sizes.
        """
        return self._derive(rearranged, pattern, to, {**(fixed_sizes or {}), **sizes})

    def view(self, dtype: Any) -> NkiTensor:
        """The same bytes as another type; the last dimension changes with the element size."""
        to = find_dtype(dtype)
        derived = self._derive(geometry.rescale, self.dtype.size, to.size)
        return NkiTensor(self.storage, derived.geometry, to)

    def reinterpret_cast(self, dtype: Any) -> NkiTensor:
        """As :meth:`view`."""
        return self.view(dtype)

    def ap(
        self,
        pattern: Sequence[Sequence[int]],
        offset: int | None = None,
        scalar_offset: Any = None,
        vector_offset: Any = None,
        indirect_dim: int = 0,
        dtype: Any = None,
    ) -> NkiTensor:
        """A view from ``[[stride, count], …]``, outermost first, in elements of the storage.

        On chip the first pair is the partition pair. ``scalar_offset`` (an int or a tile of one
        element) moves the whole view along ``indirect_dim`` when the step runs; ``vector_offset``
        (a tile with one index a row) takes the place of the first pair's stride. HBM only.
        """
        base = self if dtype is None else self._as(find_dtype(dtype))
        if scalar_offset is not None and vector_offset is not None:
            raise NkiError(
                f"{self.name}: ap takes scalar_offset or vector_offset, not both ({caller()})"
            )
        view = base._derive(explicit, pattern, offset, base.row)
        if vector_offset is None:
            view._refuse_outside()
        if scalar_offset is None and vector_offset is None:
            return view
        if self.is_on_chip:
            raise NkiError(
                f"{self.name}: scalar_offset and vector_offset work on HBM, not in "
                f"{self.buffer} ({caller()})"
            )
        moving = scalar_offset if vector_offset is None else vector_offset
        dim = geometry.checked_dim(self._geometry, indirect_dim)
        stride = base._geometry.strides[dim]
        limit = self.shape[dim]
        dynamic = Dynamic(moving, stride, limit, by_row=vector_offset is not None)
        return NkiTensor(view.storage, view._geometry, base.dtype, dynamic)

    def _refuse_outside(self) -> None:
        """NkiError for a pattern that leaves the partitions or the elements of the storage."""
        view, storage = self._geometry, self.storage
        low, high = view.reach()
        if low < 0 or high >= self.row:
            raise NkiError(
                f"{self.name}: elements {low}..{high} of the access pattern exceed the storage's "
                f"0..{self.row - 1} ({caller()})"
            )
        if isinstance(storage, OnChip):
            last = view.partition + (view.partitions - 1) * view.partition_step
            if not 0 <= view.partition <= last < storage.partitions:
                raise NkiError(
                    f"{self.name}: partitions {view.partition}..{last} of the access pattern "
                    f"exceed the tile's 0..{storage.partitions - 1} ({caller()})"
                )

    def _as(self, dtype: NkiDtype) -> NkiTensor:
        """The tensor under another dtype for ``ap``, whatever its last dimension."""
        view = self._geometry
        scaled = Geometry(
            view.shape,
            tuple(
                stride if dim == view.axis else stride * self.dtype.size // dtype.size
                for dim, stride in enumerate(view.strides)
            ),
            view.offset * self.dtype.size // dtype.size,
            view.partition,
            view.axis,
        )
        return NkiTensor(self.storage, scaled, dtype)

    def indirect(self, index: Any, num_elem: int) -> NoReturn:
        """Not offered: the interface and the instruction word describe different index lists."""
        raise NotImplementedError(
            f"{self.name}.indirect is not offered by lanewise: the interface describes one index "
            "list shared by 16 partitions, the instruction word one list a lane, and nothing "
            f"public joins the two ({caller()})"
        )

    def get_pattern(self) -> list[list[int]]:
        """The view as ``[[stride, count], …]``, for :meth:`ap`."""
        return pattern_of(self.strides, self.shape)

    def is_contiguous(self) -> bool:
        """Whether the elements follow each other in row-major order without a gap."""
        expected = 1
        for stride, size in zip(reversed(self.strides), reversed(self.shape), strict=True):
            if size != 1 and stride != expected:
                return False
            expected *= size
        return True

    def is_indirect(self) -> bool:
        """Whether the offsets are only known when a step runs."""
        return self.dynamic is not None

    def assert_shape(self, shape: Sequence[int]) -> NkiTensor:
        """The tensor itself if it has that shape; AssertionError otherwise."""
        assert self.shape == tuple(shape), f"{self.name} has shape {self.shape}, not {shape}"
        return self

    def astype(self, dtype: Any) -> NkiTensor:
        """A copy as another type."""
        from lanewise.nki.language.movement import copy

        return copy(self, dtype=dtype)

    # Arithmetic gives new tiles, outside the modelled set.

    def __bool__(self) -> bool:
        raise TypeError(
            f"the truth of {self.name} is only known on the device; compute a mask with a "
            f"comparison function ({caller()})"
        )

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError(
            f"{self.name} is a tensor of the kernel, not a NumPy array; .numpy() shows its values "
            f"while you look for a mistake ({caller()})"
        )

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        shape = ", ".join(map(str, self.shape))
        where = self.buffer
        if isinstance(self.storage, OnChip):
            view = self._geometry
            first = self.storage.partition + view.partition
            start = self.storage.offset + view.offset * self.dtype.size
            where += f" partition {first} byte {start:#x}"
        return f"{self.name}({shape}) {self.dtype} in {where}\n{self.numpy()}"


def _has_grid(index: Any) -> bool:
    parts = index if isinstance(index, tuple) else (index,)
    return any(getattr(part, "is_grid", False) for part in parts)
