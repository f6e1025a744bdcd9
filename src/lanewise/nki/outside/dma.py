"""dma_copy, dma_transpose, dma_compute: movement between HBM and SBUF.

Outside the modelled set. Equal types move their bits, others pass through FP32.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from lanewise.nki.call import Call, interface
from lanewise.nki.enums import checked_enum, dge_mode, engine, oob_mode
from lanewise.nki.numbers import from_float, to_float
from lanewise.nki.operators import find_operator
from lanewise.nki.outside.indirect import moved, read_codes, write_codes
from lanewise.nki.outside.numerics import outside_step
from lanewise.nki.tile import NkiTensor


@interface
def dma_copy(
    dst: Any,
    src: Any,
    priority: int | None = None,
    oob_mode: oob_mode = oob_mode.error,
    dge_mode: dge_mode = dge_mode.unknown,
    engine: engine = engine.unknown,
    name: str | None = None,
) -> None:
    """Copy ``src`` to ``dst``, each in HBM or SBUF, with as many elements in any shape.

    Outside the modelled set. ``ap`` views with scalar_offset or vector_offset gather and scatter;
    ``oob_mode.skip`` leaves out indices outside the tensor. priority, dge_mode and engine change
    nothing here.
    """
    copied(Call.begin("dma_copy", name), dst, src, oob_mode, dge_mode, engine)


def copied(
    call: Call,
    dst: Any,
    src: Any,
    mode: Any = oob_mode.error,
    descriptors: Any = dge_mode.unknown,
    on: Any = engine.unknown,
    where: Any = None,
) -> None:
    """The copy; ``where`` leaves out the elements it does not mark."""
    mode = checked_enum(call.function, "oob_mode", mode, oob_mode)
    checked_enum(call.function, "dge_mode", descriptors, dge_mode)
    checked_enum(call.function, "engine", on, engine)
    check_movable(call, dst=dst, src=src)
    check_count(call, dst, src)
    with outside_step(call, {"src": src}, {"dst": dst}, "dma", where={"dst": where}):
        codes, valid = read_codes(call, "src", src, mode)
        if src.storage is dst.storage:
            codes = codes.copy()
        if where is not None:
            valid = where if valid is None else valid.reshape(where.shape) & where
        write_codes(call, "dst", dst, moved(call, codes, src, dst), mode, valid)


def check_movable(call: Call, **operands: Any) -> None:
    """Errors for what is no tensor, lies in PSUM, or has types that do not convert."""
    for operand, value in operands.items():
        if not isinstance(value, NkiTensor):
            kind = "None" if value is None else type(value).__name__
            raise call.refuse(operand, f"is a {kind}, must be a tensor", kind)
        call.tiles[operand] = value
        if value.buffer == "psum":
            raise call.refuse(
                operand, "buffer psum must be sbuf or hbm; use tensor_copy", "psum", "sbuf or hbm"
            )
    types = {value.dtype.name: value.dtype for value in operands.values()}
    if len(types) > 1 and any(dtype.code is None for dtype in types.values()):
        first, *others = operands
        raise call.refuse(
            first,
            f"dtype {operands[first].dtype} must be {operands[others[0]].dtype} as in "
            f"{others[0]}; one of them does not convert",
            operands[first].dtype,
        )


def check_count(call: Call, dst: NkiTensor, src: NkiTensor, name: str = "src") -> None:
    """An error unless both have as many elements."""
    have, want = prod(dst.shape), prod(src.shape)
    if have != want:
        raise call.refuse(
            "dst",
            f"shape {dst.shape} has {have} elements, must have {want} as in {name} with shape "
            f"{src.shape}",
            have,
            str(want),
        )


@interface
def dma_transpose(
    dst: Any,
    src: Any,
    axes: Sequence[int] | None = None,
    priority: int | None = None,
    dge_mode: dge_mode = dge_mode.unknown,
    oob_mode: oob_mode = oob_mode.error,
    name: str | None = None,
) -> None:
    """Copy ``src`` with its dimensions in another order; outside the modelled set.

    ``axes`` is (1, 0), (2, 1, 0) or (3, 1, 2, 0), by default the one for the source's rank.
    """
    call = Call.begin("dma_transpose", name)
    check_movable(call, dst=dst, src=src)
    default = {2: (1, 0), 3: (2, 1, 0), 4: (3, 1, 2, 0)}.get(src.ndim)
    order = default if axes is None else tuple(axes)
    if order is None or order != default:
        raise call.refuse(
            "axes", f"{order} must be {default} for rank {src.ndim}", order, str(default)
        )
    if dst.dtype != src.dtype:
        raise call.refuse(
            "dst", f"dtype {dst.dtype} must be {src.dtype} as in src", dst.dtype, src.dtype.name
        )
    shape = tuple(src.shape[axis] for axis in order)
    if prod(dst.shape) != prod(shape):
        raise call.refuse("dst", f"shape {dst.shape} must be {shape}", dst.shape, str(shape))
    with outside_step(call, {"src": src}, {"dst": dst}, "dma"):
        codes, _ = read_codes(call, "src", src, oob_mode)
        codes = codes.transpose(order).copy()
        write_codes(call, "dst", dst, codes, oob_mode, None)


@interface
def dma_compute(
    dst: Any,
    srcs: Sequence[Any],
    reduce_op: Any,
    scales: Sequence[float] | None = None,
    unique_indices: bool = True,
    oob_mode: oob_mode = oob_mode.error,
    name: str | None = None,
) -> None:
    """``dst`` = the sum of ``srcs``, in FP32, in their order; outside the modelled set."""
    call = Call.begin("dma_compute", name)
    operator = find_operator("dma_compute", "reduce_op", reduce_op)
    if operator.name != "add":
        raise call.refuse("reduce_op", f"{operator.name} must be add", operator.name, "add")
    if scales is not None and any(scale != 1.0 for scale in scales):
        raise call.refuse("scales", f"{list(scales)} must all be 1.0", scales, "1.0")
    tensors = {f"srcs[{place}]": src for place, src in enumerate(srcs)}
    check_movable(call, dst=dst, **tensors)
    for operand, src in tensors.items():
        check_count(call, dst, src, operand)
    profile = call.run.machine.profile
    with outside_step(call, tensors, {"dst": dst}, "dma"):
        total = np.zeros(prod(dst.shape), dtype=np.float32)
        valid = None
        for place, (operand, src) in enumerate(tensors.items()):
            codes, taken = read_codes(call, operand, src, oob_mode)
            values = to_float(codes, src.dtype, profile).reshape(-1)
            total = values if place == 0 else total + values
            valid = taken if valid is None else valid
        write_codes(call, "dst", dst, from_float(total, dst.dtype, profile), oob_mode, valid)
