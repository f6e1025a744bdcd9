"""Operators called with tiles: experimental, each makes a new SBUF tile. Outside the modelled set.

The type of the result is the first tile's, uint8 for comparisons, unless ``dtype`` says otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lanewise.nki.call import Call
from lanewise.nki.dtypes import find_dtype
from lanewise.nki.errors import caller
from lanewise.nki.operators import OPERATORS, Operator
from lanewise.nki.outside.elementwise import activated, combined, scaled
from lanewise.nki.outside.numerics import check_tile, outside_step, read, write
from lanewise.nki.outside.reduce import reduced, reduced_dims
from lanewise.nki.tile import NkiTensor

_COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")


def apply(operator: Operator, *operands: Any, dtype: Any = None, **options: Any) -> Any:
    """A new tile with the operator's result."""
    if operator.reduces is not None:
        return _reduce(operator, *operands, dtype=dtype, **options)
    options.pop("mask", None)
    if options:
        raise TypeError(f"{operator.name} has no argument {next(iter(options))!r} ({caller()})")
    if len(operands) != operator.arity:
        raise TypeError(
            f"{operator.name} takes {operator.arity} operands, not {len(operands)} ({caller()})"
        )
    tiles = [operand for operand in operands if isinstance(operand, NkiTensor)]
    if not tiles:
        raise TypeError(
            f"{operator.name} needs a tile, not {type(operands[0]).__name__} ({caller()})"
        )
    call = Call.begin(operator.name)
    model = tiles[0]
    default = "uint8" if operator.name in _COMPARISONS else model.dtype
    result = new_tile(call, model.shape, default if dtype is None else dtype)
    if operator.arity == 1 and operator.is_bitwise:
        scaled(call, result, model, operator, 0)
    elif operator.arity == 1:
        activated(call, result, operator, model)
    elif len(tiles) == 2 and tiles[1].geometry.elements == model.geometry.elements:
        combined(call, result, operands[0], operands[1], operator)
    elif len(tiles) == 2 and model.geometry.elements == 1:
        result = new_tile(call, tiles[1].shape, result.dtype if dtype is not None else default)
        scaled(call, result, tiles[1], operator, model, True)
    else:
        reverse = not isinstance(operands[0], NkiTensor)
        data, other = (operands[1], operands[0]) if reverse else operands
        scaled(call, result, data, operator, other, reverse)
    return result


def new_tile(call: Call, shape: Sequence[int], dtype: Any) -> NkiTensor:
    """A new SBUF tile for a result."""
    return call.run.allocate(tuple(shape), find_dtype(dtype), "sbuf", call.location)


def _reduce(
    operator: Operator,
    x: Any,
    axis: int | Sequence[int] = -1,
    *,
    dtype: Any = None,
    keepdims: bool = True,
    **options: Any,
) -> NkiTensor:
    """A reduction over the last free dimensions; they stay with size 1."""
    call = Call.begin(operator.name)
    data = check_tile(call, "x", x)
    dims = reduced_dims(call, data, axis, 1)
    shape = tuple(1 if dim in dims else size for dim, size in enumerate(data.shape))
    result = new_tile(call, shape, data.dtype if dtype is None else dtype)
    assert operator.reduces is not None
    reduced(call, result, OPERATORS[operator.reduces], data, dims)
    if operator.name == "mean":
        number = 1
        for dim in dims:
            number *= data.shape[dim]
        with outside_step(call, {"data": result}, {"dst": result}, "vector"):
            write(call, result, read(call, result) / number)
    return result


def __getattr__(name: str) -> Any:
    if name in OPERATORS:
        return OPERATORS[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
