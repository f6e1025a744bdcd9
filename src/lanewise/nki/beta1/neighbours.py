"""Neighbours of the modelled functions in the older world. Outside the modelled set.

Each makes a new tile (SBUF; PSUM for the tensor engine) and runs the current world's step into it.
A mask must be a rectangle; elements outside stay as they were.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lanewise.nki.beta1.grids import Grid, Mask
from lanewise.nki.beta1.results import into, masked, result_dtype
from lanewise.nki.call import Call, interface
from lanewise.nki.dtypes import NkiDtype, find_dtype, float32, int32, uint8
from lanewise.nki.enums import engine, reduce_cmd
from lanewise.nki.numbers import code_of, converted, is_number
from lanewise.nki.operators import find_operator
from lanewise.nki.outside.dma import copied
from lanewise.nki.outside.elementwise import activated, combined, scaled
from lanewise.nki.outside.generate import filled
from lanewise.nki.outside.matmul import multiplied, transposed
from lanewise.nki.outside.numerics import check_tile, outside_step, read, rows, write
from lanewise.nki.outside.reduce import reduced, reduced_dims
from lanewise.nki.run import Pending
from lanewise.nki.tile import NkiTensor


def _made(
    call: Call,
    shape: Sequence[int],
    dtype: NkiDtype,
    step: Callable[[NkiTensor], None],
    buffer: str = "sbuf",
) -> NkiTensor:
    """A new tile for the result of a step that is put off."""
    result = call.run.allocate(tuple(shape), dtype, buffer, call.location)
    call.run.pending = Pending(result, step)
    return result


@interface
def dma_copy(*, dst: Any, src: Any, mask: Any = None, **kwargs: Any) -> None:
    """Copy between HBM and SBUF."""
    call = Call.begin("dma_copy", kwargs.get("name"))
    copied(call, masked(call, dst, mask)[0], masked(call, src, mask)[0])


@interface
def memset(
    shape: Sequence[int],
    value: float,
    dtype: Any,
    *,
    mask: Any = None,
    engine: engine = engine.unknown,
    **kwargs: Any,
) -> NkiTensor:
    """A new tile filled with a number."""
    call = Call.begin("memset", kwargs.get("name"))
    tile = call.run.allocate(tuple(shape), find_dtype(dtype), "sbuf", call.location)
    filled(call, masked(call, tile, mask)[0], value, engine)
    return tile


@interface
def iota(expr: Any, dtype: Any, *, mask: Any = None, **kwargs: Any) -> NkiTensor:
    """A new tile with the values of an index grid."""
    call = Call.begin("iota", kwargs.get("name"))
    if not isinstance(expr, Grid):
        kind = type(expr).__name__
        raise call.refuse("expr", f"is a {kind}, must be an index grid", kind)
    to = find_dtype(dtype)
    tile = call.run.allocate(expr.shape, to, "sbuf", call.location)
    with outside_step(call, {}, {"dst": tile}, "gpsimd"):
        codes = (expr.values() & 0xFFFFFFFF).astype(np.uint32)
        if to.name not in ("int32", "uint32"):
            codes = converted(codes, int32, to, call.run.machine.profile)
        tile.codes(writing=True)[...] = codes
    return tile


@interface
def affine_select(
    pred: Any,
    on_true_tile: Any,
    on_false_value: float,
    *,
    mask: Any = None,
    dtype: Any = None,
    **kwargs: Any,
) -> NkiTensor:
    """A new tile: ``on_true_tile`` where a comparison of index grids holds, else a number."""
    call = Call.begin("affine_select", kwargs.get("name"))
    data = check_tile(call, "on_true_tile", on_true_tile)
    if not isinstance(pred, Mask):
        kind = type(pred).__name__
        raise call.refuse("pred", f"is a {kind}, must be a comparison of index grids", kind)
    if not is_number(on_false_value):
        kind = type(on_false_value).__name__
        raise call.refuse("on_false_value", f"is a {kind}, must be a number", kind)
    to = result_dtype(dtype, data.dtype)
    truth = pred.truth(data.shape)
    profile = call.run.machine.profile

    def step(target: NkiTensor) -> None:
        with outside_step(call, {"on_true_tile": data}, {"dst": target}, "gpsimd"):
            chosen = converted(data.codes(), data.dtype, to, profile)
            other = np.array(code_of(float(on_false_value), to, profile), dtype=to.carrier)
            target.codes(writing=True)[...] = np.where(truth, chosen, other).reshape(target.shape)

    return _made(call, data.shape, to, step)


@interface
def tensor_tensor(
    data1: Any,
    data2: Any,
    op: Any,
    *,
    dtype: Any = None,
    mask: Any = None,
    engine: engine = engine.unknown,
    **kwargs: Any,
) -> NkiTensor:
    """A new tile: ``data1`` op ``data2``."""
    call = Call.begin("tensor_tensor", kwargs.get("name"))
    left, ranges = masked(call, check_tile(call, "data1", data1), mask)
    right, _ = masked(call, check_tile(call, "data2", data2), mask)
    to = _compared(op, result_dtype(dtype, data1.dtype), dtype)
    return _made(
        call,
        data1.shape,
        to,
        lambda target: combined(call, into(target, ranges), left, right, op, engine),
    )


@interface
def tensor_scalar(
    data: Any,
    op0: Any,
    operand0: Any,
    reverse0: bool = False,
    op1: Any = None,
    operand1: Any = None,
    reverse1: bool = False,
    *,
    dtype: Any = None,
    mask: Any = None,
    engine: engine = engine.unknown,
    **kwargs: Any,
) -> NkiTensor:
    """A new tile: (``data`` op0 ``operand0``) op1 ``operand1``."""
    call = Call.begin("tensor_scalar", kwargs.get("name"))
    part, ranges = masked(call, check_tile(call, "data", data), mask)
    to = _compared(op1 or op0, result_dtype(dtype, data.dtype), dtype)
    return _made(
        call,
        data.shape,
        to,
        lambda target: scaled(
            call,
            into(target, ranges),
            part,
            op0,
            operand0,
            reverse0,
            op1,
            operand1,
            reverse1,
            engine,
        ),
    )


def _compared(op: Any, default: NkiDtype, asked: Any) -> NkiDtype:
    """Comparisons of floats give uint8 unless a type was asked for."""
    operator = find_operator("tensor_scalar", "op", op)
    compares = operator.name.startswith(("equal", "not_equal", "less", "greater"))
    return uint8 if compares and asked is None else default


@interface
def scalar_tensor_tensor(
    *,
    data: Any,
    op0: Any,
    operand0: Any,
    op1: Any,
    operand1: Any,
    reverse0: bool = False,
    reverse1: bool = False,
    dtype: Any = None,
    mask: Any = None,
    **kwargs: Any,
) -> NkiTensor:
    """A new tile: (``data`` op0 ``operand0``) op1 ``operand1``, the last element by element."""
    call = Call.begin("scalar_tensor_tensor", kwargs.get("name"))
    part, ranges = masked(call, check_tile(call, "data", data), mask)
    other, _ = masked(call, check_tile(call, "operand1", operand1), mask)

    def step(target: NkiTensor) -> None:
        whole = into(target, ranges)
        scratch = call.run.allocate(rows(part), float32, "sbuf", call.location)
        scaled(call, scratch, part, op0, operand0, reverse0)
        left, right = (other, scratch) if reverse1 else (scratch, other)
        combined(call, whole, left, right, op1)

    return _made(call, data.shape, result_dtype(dtype, data.dtype), step)


@interface
def tensor_reduce(
    op: Any,
    data: Any,
    axis: int | Sequence[int],
    *,
    mask: Any = None,
    dtype: Any = None,
    negate: bool = False,
    keepdims: bool = False,
    **kwargs: Any,
) -> NkiTensor:
    """A new tile: the last free dimensions of ``data`` reduced."""
    call = Call.begin("tensor_reduce", kwargs.get("name"))
    part, ranges = masked(call, check_tile(call, "data", data), mask)
    dims = reduced_dims(call, data, axis, 1)
    shape = [
        1 if dim in dims else size
        for dim, size in enumerate(data.shape)
        if keepdims or dim not in dims
    ]
    if len(shape) == 1:
        shape.append(1)
    kept = None
    if ranges is not None:
        kept = tuple(
            (0, 1) if dim in dims else ranges[dim]
            for dim in range(data.ndim)
            if keepdims or dim not in dims
        )
        kept = kept if len(kept) > 1 else (*kept, (0, 1))
    to = result_dtype(dtype, data.dtype)
    return _made(
        call,
        shape,
        to,
        lambda target: reduced(call, into(target, kept), op, part, dims, negate),
    )


@interface
def activation(
    op: Any,
    data: Any,
    *,
    bias: Any = None,
    scale: Any = 1.0,
    reduce_op: Any = None,
    reduce_res: Any = None,
    reduce_cmd: reduce_cmd = reduce_cmd.idle,
    mask: Any = None,
    dtype: Any = None,
    **kwargs: Any,
) -> NkiTensor:
    """A new tile: op(``data`` * ``scale`` + ``bias``)."""
    call = Call.begin("activation", kwargs.get("name"))
    part, ranges = masked(call, check_tile(call, "data", data), mask)
    to = result_dtype(dtype, data.dtype)
    return _made(
        call,
        data.shape,
        to,
        lambda target: activated(
            call, into(target, ranges), op, part, bias, scale, reduce_op, reduce_res, reduce_cmd
        ),
    )


@interface
def reciprocal(data: Any, *, dtype: Any = None, mask: Any = None, **kwargs: Any) -> NkiTensor:
    """A new tile: 1 / ``data``."""
    call = Call.begin("reciprocal", kwargs.get("name"))
    part, ranges = masked(call, check_tile(call, "data", data), mask)

    def step(target: NkiTensor) -> None:
        whole = into(target, ranges)
        with outside_step(call, {"data": part}, {"dst": whole}, "vector"):
            write(call, whole, np.float32(1) / read(call, part))

    return _made(call, data.shape, result_dtype(dtype, data.dtype), step)


@interface
def nc_matmul(
    stationary: Any,
    moving: Any,
    *,
    is_stationary_onezero: bool = False,
    is_moving_onezero: bool = False,
    is_transpose: bool = False,
    mask: Any = None,
    **kwargs: Any,
) -> NkiTensor:
    """A new PSUM tile: stationary.T @ moving in FP32."""
    call = Call.begin("nc_matmul", kwargs.get("name"))
    left, _ = masked(call, check_tile(call, "stationary", stationary), mask)
    right, _ = masked(call, check_tile(call, "moving", moving), mask)
    to = left.dtype if is_transpose else float32
    result = _made(
        call,
        (rows(left)[1], rows(right)[1]),
        to,
        lambda target: multiplied(call, target, left, right, is_transpose, False),
        "psum",
    )
    assert call.run.pending is not None
    if not is_transpose:  # ``tile += nc_matmul(…)`` adds up in PSUM
        call.run.pending.adds = lambda target: multiplied(call, target, left, right, False, True)
    return result


@interface
def nc_transpose(
    data: Any,
    *,
    mask: Any = None,
    dtype: Any = None,
    engine: engine = engine.unknown,
    **kwargs: Any,
) -> NkiTensor:
    """A new PSUM tile (SBUF on the vector engine): partitions and elements exchanged."""
    call = Call.begin("nc_transpose", kwargs.get("name"))
    tile = check_tile(call, "data", data)
    buffer = "sbuf" if engine == _VECTOR else "psum"
    return _made(
        call,
        rows(tile)[::-1],
        tile.dtype,
        lambda target: transposed(call, target, tile, engine),
        buffer,
    )


_VECTOR = engine.vector
