"""The operators that kernels name in ``op=`` arguments.

Arithmetic works on FP32 numbers, bitwise operators on raw bits. Those that instruction words take
(the comparisons and the maximum) are found by name in the word's own code table; the rest run
outside the modelled set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanewise.errors import nearest_names
from lanewise.nki.errors import caller

Array = NDArray[Any]


class Operator:
    """An operator: its name, how many operands it takes, and what it does.

    ``compute`` works on FP32 numbers (None for a bitwise operator), ``on_integers`` on integers of
    one width. ``identity`` is where a reduction starts. Called with tiles it gives a new tile.
    """

    __slots__ = ("arity", "compute", "identity", "name", "on_integers", "reduces")

    def __init__(
        self,
        name: str,
        arity: int,
        compute: Callable[..., Any] | None,
        *,
        on_integers: Callable[..., Any] | None = None,
        identity: float | None = None,
        reduces: str | None = None,
    ) -> None:
        self.name = name
        self.arity = arity
        self.compute = compute
        self.on_integers = on_integers
        self.identity = identity
        #: For the reductions: the operator that joins two elements.
        self.reduces = reduces

    @property
    def is_bitwise(self) -> bool:
        """Whether the operator works on raw bits only."""
        return self.compute is None

    @property
    def __name__(self) -> str:
        return self.name

    def __call__(self, *operands: Any, **options: Any) -> Any:
        from lanewise.nki.language.operators import apply

        return apply(self, *operands, **options)

    def __repr__(self) -> str:
        return f"nl.{self.name}"

    def __hash__(self) -> int:
        return hash(self.name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Operator) and self.name == other.name

    def __reduce__(self) -> str | tuple[Any, ...]:
        return _by_name, (self.name,)


def _truth(compare: Callable[..., Any]) -> Callable[..., Array]:
    return lambda x, y: compare(x, y).astype(np.float32)


def _sigmoid(x: Array) -> Any:
    return np.float32(1) / (np.float32(1) + np.exp(-x))


def _rsqrt(x: Array) -> Any:
    return np.float32(1) / np.sqrt(x)


def _shift_right(x: Array, y: Array) -> Any:
    return np.where(y < 8 * x.itemsize, x >> np.minimum(y, 8 * x.itemsize - 1), np.zeros_like(x))


def _shift_left(x: Array, y: Array) -> Any:
    return np.where(y < 8 * x.itemsize, x << np.minimum(y, 8 * x.itemsize - 1), np.zeros_like(x))


def _logical(combine: Callable[..., Any]) -> Callable[..., Array]:
    return lambda x, y: combine(x != 0, y != 0).astype(np.float32)


_INF = float("inf")
_ALL = (
    Operator("add", 2, np.add, on_integers=np.add, identity=0.0),
    Operator("subtract", 2, np.subtract, on_integers=np.subtract),
    Operator("multiply", 2, np.multiply, on_integers=np.multiply, identity=1.0),
    Operator("divide", 2, np.divide),
    Operator("maximum", 2, np.maximum, on_integers=np.maximum, identity=-_INF),
    Operator("minimum", 2, np.minimum, on_integers=np.minimum, identity=_INF),
    Operator("abs", 1, np.abs),
    Operator("power", 2, np.power),
    Operator("mod", 2, np.mod),
    Operator("equal", 2, _truth(np.equal)),
    Operator("not_equal", 2, _truth(np.not_equal)),
    Operator("less", 2, _truth(np.less)),
    Operator("less_equal", 2, _truth(np.less_equal)),
    Operator("greater", 2, _truth(np.greater)),
    Operator("greater_equal", 2, _truth(np.greater_equal)),
    Operator("bitwise_and", 2, None, on_integers=np.bitwise_and),
    Operator("bitwise_or", 2, None, on_integers=np.bitwise_or),
    Operator("bitwise_xor", 2, None, on_integers=np.bitwise_xor),
    Operator("invert", 1, None, on_integers=np.invert),
    Operator("left_shift", 2, None, on_integers=_shift_left),
    Operator("right_shift", 2, None, on_integers=_shift_right),
    Operator("logical_and", 2, _logical(np.logical_and)),
    Operator("logical_or", 2, _logical(np.logical_or)),
    Operator("logical_xor", 2, _logical(np.logical_xor)),
    Operator("logical_not", 1, lambda x: (x == 0).astype(np.float32)),
    Operator("exp", 1, np.exp),
    Operator("log", 1, np.log),
    Operator("sqrt", 1, np.sqrt),
    Operator("rsqrt", 1, _rsqrt),
    Operator("tanh", 1, np.tanh),
    Operator("sigmoid", 1, _sigmoid),
    Operator("relu", 1, lambda x: np.where(x > 0, x, np.float32(0))),
    Operator("square", 1, np.square),
    Operator("reciprocal", 1, lambda x: np.float32(1) / x),
    Operator("negative", 1, np.negative),
    Operator("copy", 1, lambda x: x),
    Operator("identity", 1, lambda x: x),
    Operator("sum", 1, None, reduces="add"),
    Operator("max", 1, None, reduces="maximum"),
    Operator("min", 1, None, reduces="minimum"),
    Operator("mean", 1, None, reduces="add"),
)
#: Every operator by name.
OPERATORS: Mapping[str, Operator] = {operator.name: operator for operator in _ALL}

_NUMPY: Mapping[Any, str] = {
    np.add: "add",
    np.subtract: "subtract",
    np.multiply: "multiply",
    np.divide: "divide",
    np.maximum: "maximum",
    np.amax: "maximum",
    np.max: "maximum",
    np.minimum: "minimum",
    np.amin: "minimum",
    np.min: "minimum",
    np.sum: "add",
    np.abs: "abs",
    np.power: "power",
    np.mod: "mod",
    np.equal: "equal",
    np.not_equal: "not_equal",
    np.less: "less",
    np.less_equal: "less_equal",
    np.greater: "greater",
    np.greater_equal: "greater_equal",
    np.bitwise_and: "bitwise_and",
    np.bitwise_or: "bitwise_or",
    np.bitwise_xor: "bitwise_xor",
    np.invert: "invert",
    np.left_shift: "left_shift",
    np.right_shift: "right_shift",
    np.logical_and: "logical_and",
    np.logical_or: "logical_or",
    np.logical_xor: "logical_xor",
    np.logical_not: "logical_not",
    np.exp: "exp",
    np.log: "log",
    np.sqrt: "sqrt",
    np.tanh: "tanh",
    np.square: "square",
    np.reciprocal: "reciprocal",
    np.negative: "negative",
    np.copy: "copy",
}


def _by_name(name: str) -> Operator:
    return OPERATORS[name]


def find_operator(function: str, argument: str, given: Any) -> Operator:
    """The operator meant by a name of ``nl`` or a NumPy function; a reduction's joining operator.

    TypeError with near misses for anything else.
    """
    given = getattr(given, "nki_operator", given)
    found = given if isinstance(given, Operator) else None
    if found is None:
        try:
            name = _NUMPY.get(given)
        except TypeError:
            name = None
        found = OPERATORS[name] if name is not None else None
    if found is None:
        shown = getattr(given, "__name__", repr(given))
        near = nearest_names(shown, OPERATORS)
        hint = f"; did you mean nl.{near[0]}?" if near else ""
        raise TypeError(
            f"{function} {argument} is {shown}, must be an operator of nl{hint} ({caller()})"
        )
    return OPERATORS[found.reduces] if found.reduces is not None else found
