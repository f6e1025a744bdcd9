"""nc_n_gather and nc_stream_shuffle: elements and partitions picked by index.

Outside the modelled set.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lanewise.nki.call import Call, interface
from lanewise.nki.outside.numerics import check_alike, check_tile, outside_step, rows
from lanewise.nki.tile import NkiTensor

_QUADRANT = 32
_KEEP = 255


def _same_dtype(call: Call, dst: NkiTensor, name: str, other: NkiTensor) -> None:
    if dst.dtype != other.dtype:
        raise call.refuse(
            "dst",
            f"dtype {dst.dtype} must be {other.dtype} as in {name}",
            dst.dtype,
            other.dtype.name,
        )


@interface
def nc_n_gather(dst: Any, data: Any, indices: Any, name: str | None = None) -> None:
    """``dst[p, i]`` = ``data[p, indices[p, i]]``, free dimensions flattened.

    Outside the modelled set. ``indices`` is uint32; one beyond the partition's elements is an
    error.
    """
    call = Call.begin("nc_n_gather", name)
    dst, data = check_tile(call, "dst", dst), check_tile(call, "data", data)
    indices = check_tile(call, "indices", indices)
    check_alike(call, "dst", dst, "indices", indices)
    _same_dtype(call, dst, "data", data)
    if indices.dtype.name != "uint32":
        raise call.refuse(
            "indices", f"dtype {indices.dtype} must be uint32", indices.dtype, "uint32"
        )
    partitions, elements = rows(data)
    if partitions != rows(dst)[0]:
        raise call.refuse(
            "data", f"partitions {partitions} must be {rows(dst)[0]} as in dst", partitions
        )
    with outside_step(call, {"data": data, "indices": indices}, {"dst": dst}, "gpsimd"):
        picked = indices.codes().reshape(rows(indices)).astype(np.int64)
        if (picked >= elements).any():
            bad = int(picked[picked >= elements][0])
            raise call.refuse(
                "indices",
                f"index {bad} exceeds the {elements} elements per partition of data",
                bad,
                f"0..{elements - 1}",
            )
        gathered = np.take_along_axis(data.codes().reshape(rows(data)), picked, axis=1)
        dst.codes(writing=True)[...] = gathered.reshape(dst.shape)


@interface
def nc_stream_shuffle(
    dst: Any, src: Any, shuffle_mask: Sequence[int], name: str | None = None
) -> None:
    """Partition i of each quadrant of ``dst`` takes partition ``shuffle_mask[i]`` of ``src``'s.

    Outside the modelled set. 255 leaves the partition as it is.
    """
    call = Call.begin("nc_stream_shuffle", name)
    dst, src = check_tile(call, "dst", dst), check_tile(call, "src", src)
    _same_dtype(call, dst, "src", src)
    if rows(dst)[1] != rows(src)[1]:
        raise call.refuse(
            "dst",
            f"elements per partition {rows(dst)[1]} must be {rows(src)[1]} as in src",
            rows(dst)[1],
            str(rows(src)[1]),
        )
    mask = [int(entry) for entry in shuffle_mask]
    if len(mask) != _QUADRANT or any(not 0 <= m < _QUADRANT and m != _KEEP for m in mask):
        raise call.refuse(
            "shuffle_mask", f"{mask} must have 32 entries of 0..31 or 255", mask, "32 entries"
        )
    written = np.zeros(rows(dst)[0], dtype=np.bool_)
    for row in range(rows(dst)[0]):
        written[row] = mask[row % _QUADRANT] != _KEEP
    shape = (-1,) + (1,) * (dst.ndim - 1)
    where = {"dst": written.reshape(shape)}
    with outside_step(call, {"src": src}, {"dst": dst}, "vector", where=where):
        codes = src.codes().reshape(rows(src)).copy()
        target = dst.codes(writing=True)
        for row in map(int, np.flatnonzero(written)):
            source = row // _QUADRANT * _QUADRANT + mask[row % _QUADRANT]
            if source >= len(codes):
                raise call.refuse(
                    "shuffle_mask",
                    f"names partition {source} of src, which has {len(codes)}",
                    source,
                    f"0..{len(codes) - 1}",
                )
            target[row] = codes[source].reshape(target[row].shape)
