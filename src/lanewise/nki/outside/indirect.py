"""Indirect HBM views at work: indices read, checked against the tensor, turned into places."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanewise.nki.call import Call
from lanewise.nki.dynamic import Dynamic, Offsets
from lanewise.nki.enums import oob_mode
from lanewise.nki.geometry import Geometry
from lanewise.nki.numbers import converted
from lanewise.nki.tile import NkiTensor

Array = NDArray[Any]


def resolve(call: Call, operand: str, tile: NkiTensor, mode: oob_mode) -> Offsets:
    """The places of an indirect view's elements, and which of them take part.

    An index outside the tensor is an error, or (``oob_mode.skip``) leaves its elements out.
    """
    dynamic = tile.dynamic
    if isinstance(dynamic, Offsets):
        return dynamic
    assert dynamic is not None
    view = tile.geometry
    indices = _indices(call, operand, dynamic)
    if dynamic.by_row and len(indices) != view.shape[0]:
        raise call.refuse(
            operand,
            f"vector_offset has {len(indices)} indices, must have {view.shape[0]}, one a row",
            len(indices),
            str(view.shape[0]),
        )
    inside = (indices >= 0) & (indices < dynamic.limit)
    if not inside.all() and mode != oob_mode.skip:
        bad = int(indices[~inside][0])
        raise call.refuse(
            operand,
            f"index {bad} exceeds the {dynamic.limit} places of {tile.name} "
            "(oob_mode.skip leaves such elements out)",
            bad,
            f"0..{dynamic.limit - 1}",
        )
    places = np.full(view.shape, view.offset, dtype=np.int64)
    for dim, (stride, size) in enumerate(zip(view.strides, view.shape, strict=True)):
        steps = np.arange(size, dtype=np.int64) * stride
        if dim == 0 and dynamic.by_row:
            steps = np.where(inside, indices, 0) * dynamic.stride
        places += steps.reshape((-1,) + (1,) * (len(view.shape) - dim - 1))
    if dynamic.by_row:
        valid = np.broadcast_to(inside.reshape((-1,) + (1,) * (len(view.shape) - 1)), view.shape)
    else:
        places += int(indices[0]) * dynamic.stride if inside[0] else 0
        valid = np.full(view.shape, bool(inside[0]))
    beyond = (places < 0) | (places >= tile.row)
    if (beyond & valid).any():
        raise call.refuse(
            operand,
            f"element {int(places[beyond & valid][0])} exceeds the {tile.row} elements of "
            f"{tile.name}",
            int(places[beyond & valid][0]),
            f"0..{tile.row - 1}",
        )
    return Offsets(np.where(beyond, 0, places), None if valid.all() else valid)


def _indices(call: Call, operand: str, dynamic: Dynamic) -> NDArray[np.int64]:
    index = dynamic.index
    if isinstance(index, NkiTensor):
        if index.dtype.is_float:
            raise call.refuse(
                operand, f"index dtype {index.dtype} must be an integer type", index.dtype
            )
        call.run.check_read(call.function, f"{operand} index", index, call.location)
        return index.codes().view(index.dtype.numpy).astype(np.int64).reshape(-1)
    return np.array([int(index)], dtype=np.int64)


def _flat(tile: NkiTensor, *, writing: bool = False) -> Array:
    whole = Geometry((tile.row,), (1,))
    return tile.storage.codes(whole, tile.dtype, writing=writing)


def read_codes(
    call: Call, operand: str, tile: NkiTensor, mode: oob_mode
) -> tuple[Array, Array | None]:
    """The elements in the view's shape, and which of them take part (None: all).

    They are not copied unless the view is indirect: copy what may overlap a destination.
    """
    if tile.dynamic is None:
        return tile.codes(), None
    offsets = resolve(call, operand, tile, mode)
    if tile.is_on_chip:
        raise call.refuse(operand, "is an indirect view on chip, must be on HBM", tile.buffer)
    return _flat(tile)[offsets.places], offsets.valid


def write_codes(
    call: Call,
    operand: str,
    tile: NkiTensor,
    codes: Array,
    mode: oob_mode,
    valid: Array | None,
) -> None:
    """Store elements, those that ``valid`` marks (None: all)."""
    codes = codes.reshape(tile.shape)
    if valid is not None:
        valid = valid.reshape(tile.shape)
    if tile.dynamic is None:
        target = tile.codes(writing=True)
        if valid is None:
            target[...] = codes
        else:
            np.copyto(target, codes, where=valid)
        return
    offsets = resolve(call, operand, tile, mode)
    take = offsets.valid if valid is None else valid
    if offsets.valid is not None and valid is not None:
        take = offsets.valid & valid
    flat = _flat(tile, writing=True)
    if take is None:
        flat[offsets.places] = codes
    else:
        flat[offsets.places[take]] = codes[take]


def moved(call: Call, codes: Array, src: NkiTensor, dst: NkiTensor) -> Array:
    """Elements of the source's type as the destination's: bits, or through FP32."""
    if src.dtype == dst.dtype or src.dtype.code is None or dst.dtype.code is None:
        return codes
    return converted(codes, src.dtype, dst.dtype, call.run.machine.profile)
