"""Predicated merge of rows, in NumPy: the readable twin of ``native/merge.cpp``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["merge_rows"]


def merge_rows(
    destination: NDArray[Any], source: NDArray[Any], predicate: NDArray[np.uint8 | np.bool]
) -> None:
    """Replace ``destination[r, k]`` by ``source[r, k]`` where ``predicate[r, k]`` is not 0.

    All three have the shape (rows, columns), unit stride inside a row and any number of bytes
    between rows; their first bytes may lie at any address. Destination and source have elements
    of 1, 2 or 4 bytes, of which the bits are copied and never interpreted; the predicate has
    elements of 1 byte. Source and predicate are read in full before the first write, so they may
    overlap the destination. Raises ValueError, with nothing written, for any other layout.
    """
    _check(destination, source, predicate)
    chosen = predicate != 0
    bits = f"u{destination.itemsize}"  # so that NumPy converts no value on the way
    np.copyto(destination.view(bits), source.view(bits), where=chosen)


def _check(destination: NDArray[Any], source: NDArray[Any], predicate: NDArray[Any]) -> None:
    blocks = {"destination": destination, "source": source, "predicate": predicate}
    for name, block in blocks.items():
        if block.ndim != 2:
            raise ValueError(f"{name} must have 2 dimensions (rows, columns), not {block.ndim}")
        if block.shape != destination.shape:
            raise ValueError(
                f"{name} must have the destination's shape {_shape(destination)}, "
                f"not {_shape(block)}"
            )
        if block.shape[1] > 1 and block.strides[1] != block.itemsize:
            raise ValueError(f"{name} must have unit stride inside a row; gather it first")
    width = destination.itemsize
    if width not in (1, 2, 4):
        raise ValueError(f"destination must have elements of 1, 2 or 4 bytes, not {width}")
    if source.itemsize != width:
        raise ValueError(
            f"source must have elements of {width} bytes like the destination, "
            f"not {source.itemsize}"
        )
    if predicate.itemsize != 1:
        raise ValueError(f"predicate must have elements of 1 byte, not {predicate.itemsize}")
    rows, columns = destination.shape
    if rows > 1 and abs(destination.strides[0]) < columns * width:
        raise ValueError("destination must have rows that do not overlap")


def _shape(block: NDArray[Any]) -> str:
    return f"{block.shape[0]}x{block.shape[1]}"
