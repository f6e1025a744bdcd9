"""tensor_reduce: reduction over the last free dimensions. Outside the modelled set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lanewise.nki.call import Call, interface
from lanewise.nki.operators import find_operator
from lanewise.nki.outside.elementwise import fold
from lanewise.nki.outside.numerics import check_tile, outside_step, read, write
from lanewise.nki.tile import NkiTensor


@interface
def tensor_reduce(
    dst: Any,
    op: Any,
    data: Any,
    axis: int | Sequence[int],
    negate: bool = False,
    keepdims: bool = False,
    name: str | None = None,
) -> None:
    """Reduce the last free dimensions of ``data``; outside the modelled set.

    ``axis`` names them, the last one included. Sums are FP32, in the order of the elements.
    """
    reduced(Call.begin("tensor_reduce", name), dst, op, data, axis, negate)


def reduced(
    call: Call, dst: Any, op: Any, data: Any, axis: int | Sequence[int], negate: Any = False
) -> None:
    """The reduction."""
    operator = find_operator(call.function, "op", op)
    dst, data = check_tile(call, "dst", dst), check_tile(call, "data", data)
    dropped = reduced_dims(call, data, axis, dst.geometry.elements)
    kept = data.geometry.elements
    for dim in dropped:
        kept //= data.shape[dim]
    have = (dst.geometry.partitions, dst.geometry.elements)
    want = (data.geometry.partitions, kept)
    if have != want:
        raise call.refuse(
            "dst",
            f"has {have[0]} partitions of {have[1]} elements, must have {want[0]} of {want[1]}",
            have,
            str(want),
        )
    with outside_step(call, {"data": data}, {"dst": dst}, "vector"):
        if operator.is_bitwise:
            assert isinstance(operator.on_integers, np.ufunc)
            codes = data.codes().reshape(want[0], kept, -1)
            dst.codes(writing=True)[...] = operator.on_integers.reduce(codes, axis=-1).reshape(
                dst.shape
            )
        else:
            result = fold(call, operator, read(call, data).reshape(want[0], kept, -1))
            write(call, dst, -result if negate else result)


def reduced_dims(
    call: Call, data: NkiTensor, axis: int | Sequence[int], results: int
) -> tuple[int, ...]:
    """The dimensions that ``axis`` names: the last ones of the tile, and consecutive.

    Published kernels also write axis=1 for "the innermost dimension" of a tile with more; that
    reading is taken where only it gives the destination's number of elements.
    """
    axes = tuple(axis) if isinstance(axis, Sequence) else (axis,)
    dims = tuple(sorted(dim % data.ndim for dim in axes))
    if dims and 0 not in dims and dims == tuple(range(dims[0], data.ndim)):
        return dims
    count = len(dims)
    if dims == tuple(range(1, count + 1)):
        inner = tuple(range(data.ndim - count, data.ndim))
        kept = data.geometry.elements
        for dim in inner:
            kept //= data.shape[dim]
        if kept == results:
            return inner
    raise call.refuse(
        "axis",
        f"{axis} must be the last free dimensions of shape {data.shape}",
        axis,
        "the last free dimensions",
    )
