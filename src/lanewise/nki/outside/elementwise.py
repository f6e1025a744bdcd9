"""tensor_tensor, tensor_scalar and their kin, activation, reciprocal. Outside the modelled set.

Bitwise operators work on raw bits of integers of one width. ``tensor_tensor`` on int32 and uint32
is exact and wraps, as the GpSimd engine computes it, unless an operand is in PSUM or the vector
engine is asked for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanewise.nki.call import Call, interface
from lanewise.nki.enums import checked_enum, engine, reduce_cmd
from lanewise.nki.numbers import is_number
from lanewise.nki.operators import Operator, find_operator
from lanewise.nki.outside.numerics import (
    check_alike,
    check_tile,
    operand_column,
    outside_step,
    read,
    rows,
    write,
)
from lanewise.nki.tile import NkiTensor

Array = NDArray[Any]
_WORDS = ("int32", "uint32")


def _check_arity(call: Call, argument: str, operator: Operator, arity: int) -> None:
    if operator.arity != arity:
        kind = "two operands" if arity == 2 else "one operand"
        raise call.refuse(argument, f"{operator.name} must take {kind}", operator.name, kind)


def _bits(call: Call, operand: str, tile: NkiTensor, dst: NkiTensor) -> Array:
    """The tile's raw bits, [partitions, elements], for a bitwise operator."""
    if tile.dtype.is_float or tile.dtype.size != dst.dtype.size or dst.dtype.is_float:
        raise call.refuse(
            operand,
            f"dtype {tile.dtype} must be an integer type as wide as dst, which is {dst.dtype}",
            tile.dtype,
            "an integer type",
        )
    return tile.codes().reshape(rows(tile))


@interface
def tensor_tensor(
    dst: Any,
    data1: Any,
    data2: Any,
    op: Any,
    engine: engine = engine.unknown,
    name: str | None = None,
) -> None:
    """``dst`` = ``data1`` op ``data2``, element by element; outside the modelled set."""
    combined(Call.begin("tensor_tensor", name), dst, data1, data2, op, engine)


def combined(
    call: Call, dst: Any, data1: Any, data2: Any, op: Any, on: Any = engine.unknown
) -> None:
    """The element-wise operation."""
    on = checked_enum(call.function, "engine", on, engine)
    operator = find_operator(call.function, "op", op)
    _check_arity(call, "op", operator, 2)
    dst = check_tile(call, "dst", dst)
    left, right = check_tile(call, "data1", data1), check_tile(call, "data2", data2)
    check_alike(call, "data2", right, "data1", left)
    check_alike(call, "dst", dst, "data1", left)
    if left.buffer == right.buffer == "psum":
        raise call.refuse(
            "data1 and data2", "are both in psum, one of them must be in sbuf", "psum", "sbuf"
        )
    tiles = (dst, left, right)
    exact = (
        operator.on_integers is not None
        and on not in (engine.vector,)
        and all(tile.dtype.name in _WORDS and tile.buffer != "psum" for tile in tiles)
    )
    shown = "gpsimd" if (exact and not operator.is_bitwise) or on == engine.gpsimd else "vector"
    with outside_step(call, {"data1": left, "data2": right}, {"dst": dst}, shown):
        if operator.is_bitwise or exact:
            assert operator.on_integers is not None
            x, y = _bits(call, "data1", left, dst), _bits(call, "data2", right, dst)
            if not operator.is_bitwise:
                x, y = x.view(left.dtype.numpy), y.view(right.dtype.numpy)
                if x.dtype != y.dtype and operator.name in ("maximum", "minimum"):
                    x, y = x.astype(np.int64), y.astype(np.int64)
                elif x.dtype != y.dtype:
                    x, y = x.view(np.uint32), y.view(np.uint32)
            result = np.asarray(operator.on_integers(x, y))
            codes = result.astype(dst.dtype.carrier) if exact else result
            dst.codes(writing=True)[...] = codes.view(dst.dtype.carrier).reshape(dst.shape)
        else:
            assert operator.compute is not None
            write(call, dst, operator.compute(read(call, left), read(call, right)))


@interface
def tensor_scalar(
    dst: Any,
    data: Any,
    op0: Any,
    operand0: Any,
    reverse0: bool = False,
    op1: Any = None,
    operand1: Any = None,
    reverse1: bool = False,
    engine: engine = engine.unknown,
    name: str | None = None,
) -> None:
    """``dst`` = (``data`` op0 ``operand0``) op1 ``operand1``; outside the modelled set.

    Operands are numbers or tiles with one element a partition; reverse swaps the sides.
    """
    call = Call.begin("tensor_scalar", name)
    scaled(call, dst, data, op0, operand0, reverse0, op1, operand1, reverse1, engine)


def scaled(
    call: Call,
    dst: Any,
    data: Any,
    op0: Any,
    operand0: Any,
    reverse0: Any = False,
    op1: Any = None,
    operand1: Any = None,
    reverse1: Any = False,
    on: Any = engine.unknown,
) -> None:
    """One or two operations with broadcast operands."""
    on = checked_enum(call.function, "engine", on, engine)
    dst, data = check_tile(call, "dst", dst), check_tile(call, "data", data)
    check_alike(call, "dst", dst, "data", data)
    stages = [("op0", op0, "operand0", operand0, reverse0)]
    if op1 is not None:
        stages.append(("op1", op1, "operand1", operand1, reverse1))
    found = [find_operator(call.function, argument, op) for argument, op, *_ in stages]
    bitwise = {operator.is_bitwise for operator in found}
    if len(bitwise) > 1:
        raise call.refuse(
            "op1", f"{found[1].name} must be of the kind of op0 {found[0].name}", found[1].name
        )
    columns = {operand: value for _, _, operand, value, _ in stages
               if isinstance(value, NkiTensor)}  # fmt: skip
    shown = on.name if on in (engine.scalar, engine.gpsimd) else "vector"
    with outside_step(call, {"data": data, **columns}, {"dst": dst}, shown):
        is_bitwise = bitwise.pop()
        values = _bits(call, "data", data, dst) if is_bitwise else read(call, data)
        for (_, _, operand, value, reverse), operator in zip(stages, found, strict=True):
            function = operator.on_integers if is_bitwise else operator.compute
            assert function is not None
            if operator.arity == 1:
                values = np.asarray(function(values))
                continue
            other = (
                _bit_column(call, operand, value, data)
                if is_bitwise
                else operand_column(call, operand, value, data)
            )
            values = np.asarray(function(other, values) if reverse else function(values, other))
        if is_bitwise:
            dst.codes(writing=True)[...] = values.reshape(dst.shape)
        else:
            write(call, dst, values)


def _bit_column(call: Call, operand: str, value: Any, data: NkiTensor) -> Array:
    if is_number(value) and float(value).is_integer():
        mask = (1 << 8 * data.dtype.size) - 1
        return np.array([[int(value) & mask]], dtype=data.dtype.carrier)
    tile = check_tile(call, operand, value)
    return _bits(call, operand, tile, data)


@interface
def tensor_scalar_reduce(
    dst: Any,
    data: Any,
    op0: Any,
    operand0: Any,
    reduce_op: Any,
    reduce_res: Any = None,
    reverse0: bool = False,
    reduce_cmd: reduce_cmd = reduce_cmd.reset_reduce,
    reduce_init: Any = None,
    name: str | None = None,
) -> None:
    """As :func:`tensor_scalar` with one operation, and its reduction a partition.

    Outside the modelled set; it never touches the accumulator of select_reduce and range_select.
    Each call reduces its own elements (reset_reduce), or starts from ``reduce_init``
    (load_reduce).
    """
    call = Call.begin("tensor_scalar_reduce", name)
    scaled(call, dst, data, op0, operand0, reverse0)
    if reduce_res is None:
        return
    operator = find_operator("tensor_scalar_reduce", "reduce_op", reduce_op)
    with outside_step(call, {}, {"reduce_res": reduce_res}, "vector"):
        result = fold(call, operator, read(call, dst))
        if reduce_init is not None:
            assert operator.compute is not None
            result = operator.compute(
                operand_column(call, "reduce_init", reduce_init, data), result
            )
        write(call, check_tile(call, "reduce_res", reduce_res), result)


def fold(call: Call, operator: Operator, values: Array) -> Array:
    """The operator over the last axis, kept with size 1: in FP32, in the order of the elements."""
    if operator.compute is None or operator.arity != 2:
        raise call.refuse("reduce_op", f"{operator.name} must join two numbers", operator.name)
    if operator.name in ("maximum", "minimum"):
        assert isinstance(operator.compute, np.ufunc)
        return np.asarray(operator.compute.reduce(values, axis=-1, keepdims=True))
    if isinstance(operator.compute, np.ufunc):
        # One element at a time, as NumPy's own pairwise order would give other sums.
        result = np.asarray(operator.compute.accumulate(values, axis=-1, dtype=np.float32))
        return result[..., -1:]
    result = values[..., :1]
    for place in range(1, values.shape[-1]):
        result = operator.compute(result, values[..., place : place + 1])
    return result


@interface
def scalar_tensor_tensor(
    dst: Any,
    data: Any,
    op0: Any,
    operand0: Any,
    op1: Any,
    operand1: Any,
    reverse0: bool = False,
    reverse1: bool = False,
    name: str | None = None,
) -> None:
    """``dst`` = (``data`` op0 ``operand0``) op1 ``operand1``, the last element by element.

    Outside the modelled set.
    """
    call = Call.begin("scalar_tensor_tensor", name)
    dst, data = check_tile(call, "dst", dst), check_tile(call, "data", data)
    other = check_tile(call, "operand1", operand1)
    check_alike(call, "dst", dst, "data", data)
    check_alike(call, "operand1", other, "data", data)
    first = find_operator("scalar_tensor_tensor", "op0", op0)
    second = find_operator("scalar_tensor_tensor", "op1", op1)
    if first.compute is None or second.compute is None:
        raise call.refuse("op0", "must be an arithmetic operator", first.name)
    _check_arity(call, "op0", first, 2)
    _check_arity(call, "op1", second, 2)
    with outside_step(call, {"data": data, "operand1": other}, {"dst": dst}, "vector"):
        values, column = read(call, data), operand_column(call, "operand0", operand0, data)
        values = first.compute(column, values) if reverse0 else first.compute(values, column)
        right = read(call, other)
        write(
            call, dst, second.compute(right, values) if reverse1 else second.compute(values, right)
        )


@interface
def activation(
    dst: Any,
    op: Any,
    data: Any,
    bias: Any = None,
    scale: Any = 1.0,
    reduce_op: Any = None,
    reduce_res: Any = None,
    reduce_cmd: reduce_cmd = reduce_cmd.idle,
    name: str | None = None,
) -> None:
    """``dst`` = op(``data`` * ``scale`` + ``bias``), with a sum a partition if asked for.

    Outside the modelled set. ``op`` is one of exp, copy, identity, relu, sigmoid, square, sqrt,
    rsqrt, log, tanh, abs, reciprocal. The sums live in registers of the scalar engine that
    ``reduce_cmd`` controls.
    """
    activated(Call.begin("activation", name), dst, op, data, bias, scale, reduce_op, reduce_res,
              reduce_cmd)  # fmt: skip


def activated(
    call: Call,
    dst: Any,
    op: Any,
    data: Any,
    bias: Any = None,
    scale: Any = 1.0,
    reduce_op: Any = None,
    reduce_res: Any = None,
    command: Any = reduce_cmd.idle,
) -> None:
    """The activation and its reduction."""
    command = checked_enum(call.function, "reduce_cmd", command, reduce_cmd)
    operator = find_operator(call.function, "op", op)
    if operator.compute is None or operator.arity != 1:
        raise call.refuse("op", f"{operator.name} must be an activation function", operator.name)
    if reduce_op is not None:
        joined = find_operator(call.function, "reduce_op", reduce_op)
        if joined.name != "add":
            raise call.refuse("reduce_op", f"{joined.name} must be add", joined.name, "add")
    dst, data = check_tile(call, "dst", dst), check_tile(call, "data", data)
    check_alike(call, "dst", dst, "data", data)
    reads = {"data": data, "bias": bias, "scale": scale}
    writes = {"dst": dst}
    if reduce_res is not None:
        writes["reduce_res"] = check_tile(call, "reduce_res", reduce_res)
    with outside_step(call, reads, writes, "scalar"):
        values = read(call, data) * operand_column(call, "scale", scale, data)
        if bias is not None:
            values = values + operand_column(call, "bias", bias, data)
        result = np.asarray(operator.compute(values), dtype=np.float32)
        sums = _activation_sums(call, command, result)
        if reduce_res is not None:
            write(call, reduce_res, sums[: result.shape[0]])
        write(call, dst, result)


def _activation_sums(call: Call, command: reduce_cmd, result: Array) -> Array:
    """The scalar engine's sums, one a lane, after the command."""
    sums = call.run.scratch.setdefault("activation", np.zeros((128, 1), dtype=np.float32))
    lanes = result.shape[0]
    if command in (reduce_cmd.reset, reduce_cmd.reset_reduce):
        sums[:lanes] = 0
    if command in (reduce_cmd.reduce, reduce_cmd.reset_reduce):
        sums[:lanes] += np.add.accumulate(result, axis=-1, dtype=np.float32)[:, -1:]
    found: Array = sums
    return found


@interface
def reciprocal(dst: Any, data: Any, name: str | None = None) -> None:
    """``dst`` = 1 / ``data``; outside the modelled set."""
    call = Call.begin("reciprocal", name)
    dst, data = check_tile(call, "dst", dst), check_tile(call, "data", data)
    check_alike(call, "dst", dst, "data", data)
    with outside_step(call, {"data": data}, {"dst": dst}, "vector"):
        write(call, dst, np.float32(1) / read(call, data))
