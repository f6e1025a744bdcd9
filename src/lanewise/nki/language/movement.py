"""Movement between HBM and tiles, copies, and assignment to a subscript."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lanewise.nki.call import Call, interface
from lanewise.nki.context import running
from lanewise.nki.dtypes import find_dtype
from lanewise.nki.enums import engine
from lanewise.nki.errors import NkiError, NkiValidationError, caller
from lanewise.nki.isa.tensor_copy import lower as lower_copy
from lanewise.nki.numbers import code_of, converted, is_number
from lanewise.nki.operators import OPERATORS
from lanewise.nki.outside.dma import copied
from lanewise.nki.outside.generate import filled
from lanewise.nki.outside.matmul import transposed
from lanewise.nki.outside.numerics import (
    check_alike,
    check_tile,
    outside_step,
    read,
    rows,
)
from lanewise.nki.tile import NkiTensor


@interface
def load(src: Any, dtype: Any = None) -> NkiTensor:
    """The content of an HBM tensor as a new SBUF tile; dimension 0 becomes the partitions."""
    call = Call.begin("load")
    return loaded(call, src, dtype)


def loaded(call: Call, src: Any, dtype: Any = None, where: Any = None) -> NkiTensor:
    """The load, of the elements that ``where`` marks (None: all)."""
    if not isinstance(src, NkiTensor):
        kind = type(src).__name__
        raise call.refuse("src", f"is a {kind}, must be a tensor", kind)
    if src.ndim < 2:
        raise NkiError(
            f"load src with shape {src.shape} must have a dimension for partitions and at least "
            f"one more; reshape it ({call.location})"
        )
    to = src.dtype if dtype is None else find_dtype(dtype)
    tile = call.run.allocate(src.shape, to, "sbuf", call.location)
    copied(call, tile, src, where=where)
    return tile


@interface
def store(dst: Any, value: Any) -> None:
    """Copy a tile (or fill with a number) to an HBM tensor."""
    stored(Call.begin("store"), dst, value)


def stored(call: Call, dst: Any, value: Any, where: Any = None) -> None:
    """The store, of the elements that ``where`` marks (None: all)."""
    if is_number(value):
        filled(call, dst, value)
        return
    copied(call, dst, value, where=where)


@interface
def copy(x: Any, dtype: Any = None) -> NkiTensor:
    """A copy of a tile as a new SBUF tile: tensor_copy on the vector engine."""
    call = Call.begin("copy")
    source = check_tile(call, "x", x)
    to = source.dtype if dtype is None else find_dtype(dtype)
    result = call.run.allocate(source.shape, to, "sbuf", call.location)
    call.function = "tensor_copy"
    call.issue(lower_copy, {"dst": result, "src": source}, {"on": engine.unknown})
    return result


# As ``op=`` the same name is the operator.
copy.nki_operator = OPERATORS["copy"]  # type: ignore[attr-defined]


@interface
def where(condition: Any, x: Any, y: Any, dtype: Any = None) -> NkiTensor:
    """A new tile: ``x`` where ``condition`` is not 0, else ``y``. Outside the modelled set."""
    call = Call.begin("where")
    truth = check_tile(call, "condition", condition)
    tiles = [value for value in (x, y) if isinstance(value, NkiTensor)]
    for tile in tiles:
        check_alike(call, "x", tile, "condition", truth)
    model = tiles[0].dtype if tiles else "float32"
    to = find_dtype(model if dtype is None else dtype)
    result = call.run.allocate(truth.shape, to, "sbuf", call.location)
    profile = call.run.machine.profile
    with outside_step(call, {"condition": truth, "x": x, "y": y}, {"dst": result}, "vector"):
        parts: list[Any] = []
        for value in (x, y):
            if isinstance(value, NkiTensor):
                codes = converted(value.codes(), value.dtype, to, profile)
                parts.append(codes.reshape(rows(truth)))
            else:
                parts.append(np.array(code_of(value, to, profile), dtype=to.carrier))
        chosen = np.where(read(call, truth) != 0, *parts)
        result.codes(writing=True)[...] = chosen.reshape(result.shape)
    return result


@interface
def broadcast_to(x: Any, shape: Sequence[int]) -> NkiTensor:
    """A view of a tile with free dimensions of size 1 repeated."""
    call = Call.begin("broadcast_to")
    return check_tile(call, "x", x, on_chip=False).broadcast_to(shape)


@interface
def expand_dims(x: Any, axis: int) -> NkiTensor:
    """A view of a tile with a dimension of size 1 more."""
    call = Call.begin("expand_dims")
    return check_tile(call, "x", x, on_chip=False).expand_dim(axis)


@interface
def transpose(x: Any, dtype: Any = None) -> NkiTensor:
    """A new SBUF tile with partitions and elements exchanged. Outside the modelled set."""
    call = Call.begin("transpose")
    data = check_tile(call, "x", x)
    result = call.run.allocate(rows(data)[::-1], data.dtype, "sbuf", call.location)
    transposed(call, result, data)
    return result if dtype is None else result.astype(dtype)


def assign(target: NkiTensor, value: Any) -> None:
    """``tile[…] = value``: a copy, a fill, or the step behind ``value`` straight into the tile."""
    run = running("assignment to a tile")
    if isinstance(value, NkiTensor):
        if value.storage is target.storage and value.geometry == target.geometry:
            return  # what an augmented assignment leaves behind
        pending = run.pending
        if pending is not None and pending.tile is value and _fits(target, value):
            run.pending = None
            try:
                pending.run(target)
            except NkiValidationError:
                # The step cannot write there itself: make its tile, then copy.
                pending.run(value)
            else:
                return
        call = Call.begin("tensor_copy")
        if target.is_on_chip and value.is_on_chip:
            call.issue(lower_copy, {"dst": target, "src": value}, {"on": engine.unknown})
        else:
            call.function = "dma_copy"
            copied(call, target, value)
        return
    call = Call.begin("memset")
    if is_number(value) or isinstance(value, (bool, np.bool_)):
        filled(call, target, value)
        return
    raise TypeError(
        f"a tile can be assigned a tile or a number, not {type(value).__name__} ({caller()})"
    )


def _fits(target: NkiTensor, value: NkiTensor) -> bool:
    """Whether a step can write the target instead of the tile it made for its result."""
    return (
        target.is_on_chip
        and target.geometry.axis == 0
        and target.dtype == value.dtype
        and target.geometry.partitions == value.geometry.partitions
        and target.geometry.elements == value.geometry.elements
    )
