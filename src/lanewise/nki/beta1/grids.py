"""Index grids: whole numbers over a few dimensions, and masks made by comparing them.

A grid is ``constant + sum of coefficient * index`` over its dimensions as long as it can be; what
is no longer affine is kept as an array of values.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lanewise.errors import UsageError
from lanewise.nki.errors import caller

Truth = NDArray[np.bool_]


class Grid:
    """An index expression. ``shape`` broadcasts as NumPy's does."""

    __slots__ = ("_values", "coefficients", "constant", "shape")

    is_grid: ClassVar[bool] = True
    __array_ufunc__ = None

    def __init__(
        self,
        shape: tuple[int, ...],
        constant: int,
        coefficients: tuple[int, ...],
        values: NDArray[np.int64] | None = None,
    ) -> None:
        self.shape = shape
        self.constant = constant
        self.coefficients = coefficients
        self._values = values

    @property
    def is_affine(self) -> bool:
        """Whether the expression is a constant plus multiples of indices."""
        return self._values is None

    def values(self) -> NDArray[np.int64]:
        """The numbers, in the grid's shape."""
        if self._values is not None:
            return self._values
        result = np.full(self.shape, self.constant, dtype=np.int64)
        for dim, (size, coefficient) in enumerate(zip(self.shape, self.coefficients, strict=True)):
            steps = np.arange(size, dtype=np.int64) * coefficient
            result += steps.reshape((-1,) + (1,) * (len(self.shape) - dim - 1))
        return result

    def bounds(self) -> tuple[int, int]:
        """Lowest and highest number."""
        if self._values is not None:
            return int(self._values.min()), int(self._values.max())
        spans = [c * (n - 1) for c, n in zip(self.coefficients, self.shape, strict=True)]
        low = self.constant + sum(min(0, span) for span in spans)
        return low, self.constant + sum(max(0, span) for span in spans)

    def over(self, shape: tuple[int, ...]) -> Grid:
        """The grid broadcast to a shape."""
        if self.shape == shape:
            return self
        if self._values is not None:
            return Grid(shape, 0, (), np.broadcast_to(self._values, shape))
        lead = len(shape) - len(self.shape)
        coefficients = tuple(
            0 if dim < lead or self.shape[dim - lead] == 1 else self.coefficients[dim - lead]
            for dim in range(len(shape))
        )
        return Grid(shape, self.constant, coefficients)

    def __getitem__(self, index: Any) -> Grid:
        parts = index if isinstance(index, tuple) else (index,)
        shape: list[int] = []
        coefficients: list[int] = []
        own = iter(zip(self.shape, self.coefficients, strict=True))
        for part in parts:
            if part is None:
                shape.append(1)
                coefficients.append(0)
            elif part == slice(None):
                try:
                    size, coefficient = next(own)
                except StopIteration:
                    raise UsageError(f"a grid of {self.shape} has no more dimensions") from None
                shape.append(size)
                coefficients.append(coefficient)
            else:
                raise UsageError(f"a grid takes ':' and None as indices, not {part!r}")
        for size, coefficient in own:
            shape.append(size)
            coefficients.append(coefficient)
        return Grid(tuple(shape), self.constant, tuple(coefficients))

    # Arithmetic.

    def _joined(self, other: Any, sign: int) -> Any:
        if isinstance(other, Grid):
            shape = np.broadcast_shapes(self.shape, other.shape)
            left, right = self.over(shape), other.over(shape)
            if left.is_affine and right.is_affine:
                pairs = zip(left.coefficients, right.coefficients, strict=True)
                return Grid(
                    shape,
                    left.constant + sign * right.constant,
                    tuple(x + sign * y for x, y in pairs),
                )
            return _of_values(left.values() + sign * right.values())
        if not hasattr(other, "__index__"):
            return NotImplemented
        if self._values is not None:
            return _of_values(self._values + sign * int(other))
        return Grid(self.shape, self.constant + sign * int(other), self.coefficients)

    def __add__(self, other: Any) -> Any:
        return self._joined(other, 1)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._joined(other, -1)

    def __rsub__(self, other: Any) -> Any:
        return (self * -1) + other

    def __neg__(self) -> Any:
        return self * -1

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Grid):
            return _of_values(self.values() * other.values())
        if not hasattr(other, "__index__"):
            return NotImplemented
        factor = int(other)
        if self._values is not None:
            return _of_values(self._values * factor)
        return Grid(
            self.shape, self.constant * factor, tuple(c * factor for c in self.coefficients)
        )

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Any:
        return _of_values(self.values() // _values_of(other))

    def __mod__(self, other: Any) -> Any:
        return _of_values(self.values() % _values_of(other))

    # Comparisons make masks.

    def _compared(self, other: Any, name: str) -> Mask:
        if not isinstance(other, Grid) and not hasattr(other, "__index__"):
            raise UsageError(
                f"a grid compares with grids and whole numbers, not {type(other).__name__} "
                f"({caller()})"
            )
        return Mask(((self - other, name),))

    def __lt__(self, other: Any) -> Mask:
        return self._compared(other, "lt")

    def __le__(self, other: Any) -> Mask:
        return self._compared(other, "le")

    def __gt__(self, other: Any) -> Mask:
        return self._compared(other, "gt")

    def __ge__(self, other: Any) -> Mask:
        return self._compared(other, "ge")

    def __eq__(self, other: object) -> Any:
        return self._compared(other, "eq")

    def __ne__(self, other: object) -> Any:
        return self._compared(other, "ne")

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise _truth_error()

    def __repr__(self) -> str:
        return f"<index grid of shape {self.shape}>"


def _of_values(values: NDArray[np.int64]) -> Grid:
    return Grid(values.shape, 0, (), values)


def _values_of(other: Any) -> Any:
    return other.values() if isinstance(other, Grid) else int(other)


def _truth_error() -> TypeError:
    return TypeError(
        f"the truth of an index expression is not one value; use & instead of and, | instead of "
        f"or, ~ instead of not ({caller()})"
    )


_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    name: getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne")
}


class Mask:
    """Which elements of a grid take part: comparisons with 0 that all hold, or any truth."""

    __slots__ = ("_conditions", "_truth")

    def __init__(
        self, conditions: tuple[tuple[Grid, str], ...], truth: Truth | None = None
    ) -> None:
        self._conditions = conditions
        self._truth = truth

    def __and__(self, other: Any) -> Mask:
        if not isinstance(other, Mask):
            return NotImplemented
        if self._truth is None and other._truth is None:
            return Mask(self._conditions + other._conditions)
        return Mask((), self.truth() & other.truth())

    def __or__(self, other: Any) -> Mask:
        if not isinstance(other, Mask):
            return NotImplemented
        return Mask((), self.truth() | other.truth())

    def __invert__(self) -> Mask:
        return Mask((), ~self.truth())

    def __bool__(self) -> bool:
        raise _truth_error()

    def truth(self, shape: tuple[int, ...] | None = None) -> Truth:
        """The truth of each element."""
        if self._truth is not None:
            result = self._truth
        else:
            parts = [_COMPARE[name](grid.values(), 0) for grid, name in self._conditions]
            result = parts[0]
            for part in parts[1:]:
                result = result & part
        return result if shape is None else np.broadcast_to(result, shape)

    def rectangle(self, shape: Sequence[int]) -> tuple[tuple[int, int], ...] | None:
        """The ranges of each dimension where the mask holds, or None when it is no rectangle.

        An empty rectangle has a range of no elements.
        """
        if self._truth is not None:
            return None
        ranges = [[0, size] for size in shape]
        for grid, name in self._conditions:
            wide = grid.over(tuple(shape))
            if not wide.is_affine:
                return None
            dims = [dim for dim, c in enumerate(wide.coefficients) if c]
            if len(dims) > 1:
                return None
            if not dims:
                if not _COMPARE[name](wide.constant, 0):
                    ranges = [[0, 0] for _ in shape]
                continue
            dim = dims[0]
            values = wide.constant + wide.coefficients[dim] * np.arange(shape[dim])
            holds = np.flatnonzero(_COMPARE[name](values, 0))
            if not len(holds):
                ranges[dim] = [0, 0]
                continue
            if holds[-1] - holds[0] + 1 != len(holds):
                return None
            ranges[dim][0] = max(ranges[dim][0], int(holds[0]))
            ranges[dim][1] = min(ranges[dim][1], int(holds[-1]) + 1)
        return tuple((low, max(low, high)) for low, high in ranges)

    def __repr__(self) -> str:
        return "<mask>"


def arange(*bounds: int) -> Grid:
    """A one-dimensional grid: ``arange(n)``, ``arange(start, stop)``, with a step."""
    numbers = range(*(int(bound) for bound in bounds))
    if not numbers:
        raise UsageError(f"arange{bounds} has no elements")
    return Grid((len(numbers),), numbers.start, (numbers.step,))


class _MeshGrid:
    """``mgrid[0:P, 0:F]``: one grid for each dimension, all of the whole shape."""

    def __getitem__(self, slices: Any) -> tuple[Grid, ...]:
        parts = slices if isinstance(slices, tuple) else (slices,)
        ranges = [range(part.start or 0, part.stop, part.step or 1) for part in parts]
        shape = tuple(len(numbers) for numbers in ranges)
        return tuple(
            Grid(
                shape,
                numbers.start,
                tuple(numbers.step if other == dim else 0 for other in range(len(ranges))),
            )
            for dim, numbers in enumerate(ranges)
        )


mgrid = _MeshGrid()


class par_dim(int):
    """The partition dimension of a shape that has block dimensions before it."""

    is_partition = True
