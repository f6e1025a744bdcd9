"""nc_matmul and nc_transpose: FP32 products and sums, in index order. Outside the modelled set."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from lanewise.nki.call import Call, interface
from lanewise.nki.enums import checked_enum, engine, matmul_perf_mode
from lanewise.nki.numbers import converted
from lanewise.nki.outside.numerics import check_tile, outside_step, read, rows, write
from lanewise.nki.storage import Storage
from lanewise.nki.tile import NkiTensor

_MOST_STATIONARY = 128


@interface
def nc_matmul(
    dst: Any,
    stationary: Any,
    moving: Any,
    is_stationary_onezero: bool = False,
    is_moving_onezero: bool = False,
    is_transpose: bool = False,
    accumulate: bool | None = None,
    tile_position: tuple[int, ...] = (),
    tile_size: tuple[int, ...] = (),
    perf_mode: matmul_perf_mode = matmul_perf_mode.none,
    name: str | None = None,
) -> None:
    """``dst`` = stationary.T @ moving, the partition dimension contracted.

    Outside the modelled set. ``accumulate`` adds to what is there; None does so from the second
    call that writes the same PSUM elements on. With ``is_transpose`` the stationary tile is
    transposed bit by bit.
    """
    call = Call.begin("nc_matmul", name)
    checked_enum("nc_matmul", "perf_mode", perf_mode, matmul_perf_mode)
    if perf_mode != matmul_perf_mode.none:
        raise NotImplementedError(
            f"nc_matmul perf_mode {perf_mode.name} is not offered by lanewise ({call.location})"
        )
    multiplied(call, dst, stationary, moving, is_transpose, accumulate)


def multiplied(
    call: Call, dst: Any, stationary: Any, moving: Any, is_transpose: Any, accumulate: Any
) -> None:
    """The product."""
    dst = check_tile(call, "dst", dst)
    left, right = check_tile(call, "stationary", stationary), check_tile(call, "moving", moving)
    for operand, tile, buffer in (
        ("dst", dst, "psum"),
        ("stationary", left, "sbuf"),
        ("moving", right, "sbuf"),
    ):
        if tile.buffer != buffer:
            raise call.refuse(
                operand, f"buffer {tile.buffer} must be {buffer}", tile.buffer, buffer
            )
    (depth, height), (depth2, width) = rows(left), rows(right)
    if depth != depth2:
        raise call.refuse(
            "moving", f"partitions {depth2} must be {depth} as in stationary", depth2, str(depth)
        )
    if height > _MOST_STATIONARY:
        raise call.refuse(
            "stationary",
            f"elements per partition {height} exceeds maximum {_MOST_STATIONARY}",
            height,
            str(_MOST_STATIONARY),
        )
    if rows(dst) != (height, width):
        raise call.refuse(
            "dst",
            f"has {rows(dst)[0]} partitions of {rows(dst)[1]} elements, must have {height} of "
            f"{width}",
            rows(dst),
            f"({height}, {width})",
        )
    with outside_step(call, {"stationary": left, "moving": right}, {"dst": dst}, "tensor"):
        if is_transpose and width == depth:
            codes = left.codes().reshape(rows(left)).T
            codes = converted(codes, left.dtype, dst.dtype, call.run.machine.profile)
            dst.codes(writing=True)[...] = codes.reshape(dst.shape)
            return
        product = _product(read(call, left), read(call, right))
        if _adds(call, dst, accumulate):
            product = read(call, dst) + product
        write(call, dst, product)


def _product(left: Any, right: Any) -> Any:
    """left.T @ right with FP32 products and sums, one row of the contraction after the other."""
    total = np.zeros((left.shape[1], right.shape[1]), dtype=np.float32)
    for x, y in zip(left, right, strict=True):
        total += x[:, None] * y[None, :]
    return total


def _adds(call: Call, dst: NkiTensor, accumulate: bool | None) -> bool:
    """Whether the product is added to what the tile holds.

    Left to itself, the first product written to a tile's elements replaces, later ones add.
    """
    # Weakly, so that PSUM is given back and a new tile at the same place starts anew.
    seen: WeakKeyDictionary[Storage, set[Any]]
    seen = call.run.scratch.setdefault("matmul", WeakKeyDictionary())
    places = seen.setdefault(dst.storage, set())
    known = dst.key in places
    places.add(dst.key)
    return known if accumulate is None else bool(accumulate)


@interface
def nc_transpose(
    dst: Any, data: Any, engine: engine = engine.unknown, name: str | None = None
) -> None:
    """``dst`` = ``data`` with partitions and elements exchanged, bit by bit.

    Outside the modelled set. Both tiles have one type.
    """
    call = Call.begin("nc_transpose", name)
    transposed(call, dst, data, engine)


def transposed(call: Call, dst: Any, data: Any, on: Any = engine.unknown) -> None:
    """The transpose."""
    checked_enum(call.function, "engine", on, engine)
    dst, data = check_tile(call, "dst", dst), check_tile(call, "data", data)
    if dst.dtype != data.dtype:
        raise call.refuse(
            "dst", f"dtype {dst.dtype} must be {data.dtype} as in data", dst.dtype, data.dtype.name
        )
    want = rows(data)[::-1]
    if rows(dst) != want:
        raise call.refuse(
            "dst",
            f"has {rows(dst)[0]} partitions of {rows(dst)[1]} elements, must have {want[0]} of "
            f"{want[1]}",
            rows(dst),
            str(want),
        )
    shown = "vector" if on == engine.vector else "tensor"
    with outside_step(call, {"data": data}, {"dst": dst}, shown):
        dst.codes(writing=True)[...] = data.codes().reshape(rows(data)).T.copy().reshape(dst.shape)
