"""Where the elements of a view lie: shape, strides and start, and the views made from it.

Nothing here moves data. Sizes and strides are in elements, outermost dimension first. On-chip
views have a partition dimension, whose stride is in partitions; the other strides are in elements
inside a partition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from lanewise.errors import UsageError


@dataclass(frozen=True, slots=True)
class Geometry:
    """The shape of a view and the place of each element.

    ``offset`` is the first element, counted inside its partition (on HBM: inside the tensor);
    ``partition`` the first partition. ``axis`` is the partition dimension: 0 for tiles, more for
    a tile with leading block dimensions, None on HBM.
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0
    partition: int = 0
    axis: int | None = None

    @property
    def free(self) -> tuple[tuple[int, int], ...]:
        """(stride, size) of each dimension but the partition's, outermost first."""
        return tuple(
            (stride, size)
            for dim, (stride, size) in enumerate(zip(self.strides, self.shape, strict=True))
            if dim != self.axis
        )

    @property
    def elements(self) -> int:
        """Elements a partition (on HBM: all)."""
        return prod(size for _, size in self.free)

    @property
    def partitions(self) -> int:
        """How many partitions the view covers (1 on HBM)."""
        return 1 if self.axis is None else self.shape[self.axis]

    @property
    def partition_step(self) -> int:
        """Distance of neighbouring rows in partitions."""
        return 1 if self.axis is None or self.partitions == 1 else self.strides[self.axis]

    def reach(self) -> tuple[int, int]:
        """Lowest and highest element inside a partition, both inclusive."""
        low = self.offset + sum(min(0, s * (n - 1)) for s, n in self.free)
        high = self.offset + sum(max(0, s * (n - 1)) for s, n in self.free)
        return low, high


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """Strides of an array without gaps, last dimension fastest."""
    strides = [1] * len(shape)
    for dim in range(len(shape) - 2, -1, -1):
        strides[dim] = strides[dim + 1] * shape[dim + 1]
    return tuple(strides)


def fresh(shape: tuple[int, ...], axis: int | None) -> Geometry:
    """The geometry of newly allocated memory."""
    if axis is None:
        return Geometry(shape, row_major(shape))
    inner = row_major([size for dim, size in enumerate(shape) if dim != axis])
    return Geometry(shape, (*inner[:axis], 1, *inner[axis:]), axis=axis)


def checked_dim(view: Geometry, dim: int) -> int:
    """``dim`` counted from the front; UsageError when there is none."""
    rank = len(view.shape)
    if not -rank <= dim < rank:
        raise UsageError(f"dimension {dim} must be in 0..{rank - 1} for shape {view.shape}")
    return dim % rank


def _free_dim(view: Geometry, dim: int, what: str) -> int:
    dim = checked_dim(view, dim)
    if dim == view.axis:
        raise UsageError(f"dimension {dim} is the partition dimension and cannot be {what}")
    return dim


def slice_dim(view: Geometry, dim: int, start: int, size: int, step: int = 1) -> Geometry:
    """``size`` elements of a dimension from ``start``, ``step`` apart (all inside it)."""
    dim = checked_dim(view, dim)
    shape = (*view.shape[:dim], size, *view.shape[dim + 1 :])
    stride = view.strides[dim]
    strides = (*view.strides[:dim], stride * step, *view.strides[dim + 1 :])
    moved = stride * start
    if dim == view.axis:
        return replace(view, shape=shape, strides=strides, partition=view.partition + moved)
    return replace(view, shape=shape, strides=strides, offset=view.offset + moved)


def select(view: Geometry, dim: int, index: int) -> Geometry:
    """One element of a free dimension, the dimension dropped."""
    dim = _free_dim(view, dim, "selected away")
    axis = view.axis if view.axis is None or dim > view.axis else view.axis - 1
    return Geometry(
        view.shape[:dim] + view.shape[dim + 1 :],
        view.strides[:dim] + view.strides[dim + 1 :],
        view.offset + view.strides[dim] * index,
        view.partition,
        axis,
    )


def permute(view: Geometry, dims: Sequence[int]) -> Geometry:
    """The dimensions in another order."""
    order = [checked_dim(view, dim) for dim in dims]
    if sorted(order) != list(range(len(view.shape))):
        raise UsageError(f"dims {tuple(dims)} must be an order of all of 0..{len(view.shape) - 1}")
    if view.axis is not None and order[view.axis] != view.axis:
        raise UsageError(f"dimension {view.axis} is the partition dimension and cannot be permuted")
    return replace(
        view,
        shape=tuple(view.shape[dim] for dim in order),
        strides=tuple(view.strides[dim] for dim in order),
    )


def broadcast(view: Geometry, dim: int, size: int) -> Geometry:
    """A free dimension of size 1 repeated ``size`` times."""
    dim = _free_dim(view, dim, "broadcast")
    if view.shape[dim] != 1:
        raise UsageError(f"dimension {dim} has size {view.shape[dim]}, must be 1 to be broadcast")
    return replace(
        view,
        shape=(*view.shape[:dim], size, *view.shape[dim + 1 :]),
        strides=(*view.strides[:dim], 0, *view.strides[dim + 1 :]),
    )


def expand(view: Geometry, dim: int) -> Geometry:
    """A new dimension of size 1 before ``dim``."""
    rank = len(view.shape) + 1
    if not -rank <= dim < rank:
        raise UsageError(f"dimension {dim} must be in 0..{rank - 1} to expand shape {view.shape}")
    dim %= rank
    axis = view.axis
    if axis is not None and dim <= axis:
        raise UsageError("dimension 0 is the partition dimension; expand behind it")
    return replace(
        view,
        shape=(*view.shape[:dim], 1, *view.shape[dim:]),
        strides=(*view.strides[:dim], 1, *view.strides[dim:]),
    )


def squeeze(view: Geometry, dim: int) -> Geometry:
    """Without a free dimension of size 1."""
    dim = _free_dim(view, dim, "squeezed")
    if view.shape[dim] != 1:
        raise UsageError(f"dimension {dim} has size {view.shape[dim]}, must be 1 to be squeezed")
    return select(view, dim, 0)


def split(view: Geometry, dim: int, sizes: Sequence[int]) -> Geometry:
    """A free dimension as several; one of ``sizes`` may be -1."""
    dim = _free_dim(view, dim, "split")
    sizes = infer(sizes, view.shape[dim])
    stride = view.strides[dim]
    strides = tuple(stride * inner for inner in row_major(sizes))
    axis = view.axis
    if axis is not None and dim < axis:
        axis += len(sizes) - 1
    return replace(
        view,
        shape=(*view.shape[:dim], *sizes, *view.shape[dim + 1 :]),
        strides=(*view.strides[:dim], *strides, *view.strides[dim + 1 :]),
        axis=axis,
    )


def infer(sizes: Sequence[int], count: int) -> tuple[int, ...]:
    """``sizes`` with a -1 replaced so that the product is ``count``; UsageError if it cannot be."""
    known = prod(size for size in sizes if size != -1)
    holes = sum(size == -1 for size in sizes)
    if holes > 1 or any(size < -1 or size == 0 for size in sizes):
        raise UsageError(f"sizes {tuple(sizes)} must be positive, with at most one -1")
    if holes and known and count % known == 0:
        return tuple(count // known if size == -1 else size for size in sizes)
    if holes or known != count:
        raise UsageError(f"sizes {tuple(sizes)} must multiply to {count}")
    return tuple(sizes)


def flatten(view: Geometry, start: int, end: int) -> Geometry:
    """Dimensions ``start`` to ``end`` (inclusive) as one."""
    start, end = checked_dim(view, start), checked_dim(view, end)
    if view.axis is not None and start <= view.axis <= end and start != end:
        raise UsageError(
            f"dimension {view.axis} is the partition dimension and cannot be flattened"
        )
    if start > end:
        raise UsageError(f"dimensions {start} to {end} must be in ascending order")
    return reshape(
        view,
        (*view.shape[:start], prod(view.shape[start : end + 1]), *view.shape[end + 1 :]),
    )


def reshape(view: Geometry, shape: Sequence[int]) -> Geometry:
    """The same elements in row-major order under another shape, without a copy."""
    shape = infer(shape, prod(view.shape))
    if view.axis is None:
        strides = _split_runs(view.shape, view.strides, shape)
        if strides is None:
            raise _needs_copy(view, shape)
        return replace(view, shape=shape, strides=strides)
    if view.axis != 0 or not shape or shape[0] != view.shape[0]:
        raise UsageError(
            f"shape {tuple(shape)} must keep dimension 0, the partition dimension of size "
            f"{view.partitions}"
        )
    strides = _split_runs(view.shape[1:], view.strides[1:], shape[1:])
    if strides is None:
        raise _needs_copy(view, shape)
    return replace(view, shape=shape, strides=(view.strides[0], *strides))


def _needs_copy(view: Geometry, shape: Sequence[int]) -> UsageError:
    return UsageError(
        f"a view of shape {view.shape} with strides {view.strides} has no view of shape "
        f"{tuple(shape)}; copy it first"
    )


def _split_runs(
    old: Sequence[int], strides: Sequence[int], new: Sequence[int]
) -> tuple[int, ...] | None:
    """Strides of shape ``new`` over the same elements, or None when they need a copy."""
    dims = [(size, stride) for size, stride in zip(old, strides, strict=True) if size != 1]
    result: list[int] = []
    taken = 0
    position = 0
    while position < len(new):
        if new[position] == 1:
            result.append(1)
            position += 1
            continue
        # The shortest runs of old and new dimensions with the same number of elements.
        have, want, first = 1, 1, position
        run: list[tuple[int, int]] = []
        while have != want or have == 1:
            if have <= want and taken < len(dims):
                run.append(dims[taken])
                have *= dims[taken][0]
                taken += 1
            elif position < len(new):
                want *= new[position]
                position += 1
            else:
                return None
        inner = run[-1][1]
        expected = inner * run[-1][0]
        for size, stride in reversed(run[:-1]):
            if stride != expected:
                return None
            expected *= size
        result.extend(inner * step for step in row_major(new[first:position]))
    return tuple(result)


def rescale(view: Geometry, old: int, new: int) -> Geometry:
    """The same bytes as elements of another size; the last dimension changes."""
    if old == new:
        return view
    last = len(view.shape) - 1
    if last == view.axis or last < 0:
        raise UsageError("a view with another element size needs a dimension inside the partition")
    if view.strides[last] != 1 and view.shape[last] != 1:
        raise UsageError(
            f"the last dimension has stride {view.strides[last]}, must be 1 to change the element "
            f"size from {old} to {new} bytes"
        )
    scaled = [view.shape[last] * old, view.offset * old]
    scaled += [s * old for dim, s in enumerate(view.strides) if dim not in (last, view.axis)]
    if any(number % new for number in scaled):
        raise UsageError(
            f"shape {view.shape} of {old}-byte elements does not divide into {new}-byte elements"
        )
    strides = tuple(
        stride if dim == view.axis else 1 if dim == last else stride * old // new
        for dim, stride in enumerate(view.strides)
    )
    return replace(
        view,
        shape=(*view.shape[:last], view.shape[last] * old // new),
        strides=strides,
        offset=view.offset * old // new,
    )
