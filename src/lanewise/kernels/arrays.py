"""The array types that kernels pass around and the checks they share."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from lanewise.errors import UsageError
from lanewise.formats import Format

Codes: TypeAlias = npt.NDArray[np.unsignedinteger[Any]]
"""Codes of one format, one an element, as uint8, uint16 or uint32 (4-bit codes in a uint8)."""

Hub: TypeAlias = npt.NDArray[np.uint32]
"""FP32 bits."""

Truth: TypeAlias = npt.NDArray[np.bool_]
Positions: TypeAlias = npt.NDArray[np.int64]


def code_dtype(format: Format) -> np.dtype[np.unsignedinteger[Any]]:
    """The NumPy type that holds codes of ``format``.

    Raises ``UsageError`` for formats wider than 32 bits: kernels have none.
    """
    if format.container <= 8:
        return np.dtype(np.uint8)
    if format.container == 16:
        return np.dtype(np.uint16)
    if format.container == 32:
        return np.dtype(np.uint32)
    raise UsageError(f"{format.name}: array kernels take formats up to 32 bits, not {format.width}")


def check_codes(codes: Codes, format: Format) -> None:
    """Raise ``UsageError`` unless ``codes`` is an array of codes of ``format``."""
    expected = code_dtype(format)
    if codes.dtype.kind != "u" or codes.dtype.itemsize != expected.itemsize:
        raise UsageError(f"{format.name}: codes must be {expected} arrays, not {codes.dtype}")
    if format.width < 8 * expected.itemsize and codes.size and codes.max() > format.code_mask:
        raise UsageError(
            f"{format.name}: codes must be in 0..{format.code_mask:#x}, not {int(codes.max()):#x}"
        )


def check_hub(hub: Hub, name: str, *, dimensions: int | None = None) -> None:
    """Raise ``UsageError`` unless ``hub`` holds FP32 bits, in ``dimensions`` dimensions if given.

    ``name`` is the argument's name for the message.
    """
    if hub.dtype.kind != "u" or hub.dtype.itemsize != 4:
        raise UsageError(f"{name} must be FP32 bits in a uint32 array, not {hub.dtype}")
    if dimensions is not None and hub.ndim != dimensions:
        raise UsageError(f"{name} must have {dimensions} dimensions, not shape {hub.shape}")


def check_shape(array: npt.NDArray[Any], name: str, shape: tuple[int, ...]) -> None:
    """Raise ``UsageError`` unless ``array``, the argument called ``name``, has ``shape``."""
    if array.shape != shape:
        raise UsageError(f"{name} must have shape {shape}, not {array.shape}")
