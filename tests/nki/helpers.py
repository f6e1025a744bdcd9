"""Small kernels around one call: arrays go to tiles, the call runs, tiles come back as arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ml_dtypes
import numpy as np

from lanewise import nki
from lanewise.nki import isa as nisa
from lanewise.nki import language as nl

MISS = 0xFFFFFFFF
LOWEST = np.float32(-3.4028234663852886e38)
bf16 = ml_dtypes.bfloat16


def f32(*values: Any) -> np.ndarray:
    """One partition of FP32 numbers."""
    return np.array([values], dtype=np.float32)


def bits(*codes: int) -> np.ndarray:
    """One partition of FP32 bit patterns."""
    return np.array([codes], dtype=np.uint32).view(np.float32)


def row(dtype: Any, *values: Any) -> np.ndarray:
    """One partition of any type."""
    return np.array([values], dtype=dtype)


def around(
    body: Callable[..., Any],
    inputs: Mapping[str, np.ndarray],
    outputs: Mapping[str, Any],
    *,
    psum: tuple[str, ...] = (),
) -> Callable[..., Any]:
    """A kernel that loads the inputs, calls ``body`` with all tiles, and returns the outputs.

    An output is an array (its initial content) or a pair of shape and dtype.
    """
    names = [*inputs, *(name for name, given in outputs.items() if isinstance(given, np.ndarray))]

    def kernel(*arrays: Any) -> Any:
        tiles: dict[str, Any] = {}
        for name, array in zip(names, arrays, strict=True):
            tile = nl.ndarray(array.shape, dtype=array.dtype, buffer=nl.sbuf, name=name)
            nisa.dma_copy(dst=tile, src=array)
            if name in psum:
                moved = nl.ndarray(array.shape, dtype=array.dtype, buffer=nl.psum, name=name)
                nisa.tensor_copy(dst=moved, src=tile)
                tile = moved
            tiles[name] = tile
        for name, given in outputs.items():
            if name not in tiles:
                shape, dtype = given
                buffer = nl.psum if name in psum else nl.sbuf
                tiles[name] = nl.ndarray(shape, dtype=dtype, buffer=buffer, name=name)
        body(**tiles)
        results = []
        for name in outputs:
            tile = tiles[name]
            if name in psum:
                back = nl.ndarray(tile.shape, dtype=tile.dtype)
                nisa.tensor_copy(dst=back, src=tile)
                tile = back
            out = nl.ndarray(tile.shape, dtype=tile.dtype, buffer=nl.shared_hbm)
            nisa.dma_copy(dst=out, src=tile)
            results.append(out)
        return results[0] if len(results) == 1 else tuple(results)

    return kernel


def run(
    body: Callable[..., Any],
    inputs: Mapping[str, np.ndarray],
    outputs: Mapping[str, Any],
    *,
    psum: tuple[str, ...] = (),
    **options: Any,
) -> Any:
    """The outputs of a call around which a kernel has been made."""
    return simulation(body, inputs, outputs, psum=psum, **options)[1]


def simulation(
    body: Callable[..., Any],
    inputs: Mapping[str, np.ndarray],
    outputs: Mapping[str, Any],
    *,
    psum: tuple[str, ...] = (),
    **options: Any,
) -> tuple[nki.Simulation, Any]:
    """The simulation and its outputs."""
    sim = nki.simulate(around(body, inputs, outputs, psum=psum), **options)
    initial = [given for given in outputs.values() if isinstance(given, np.ndarray)]
    return sim, sim(*inputs.values(), *initial)


def same_bits(actual: np.ndarray, expected: Any) -> None:
    """Fail unless both arrays have the same bits."""
    expected = np.asarray(expected)
    assert actual.dtype == expected.dtype, (actual.dtype, expected.dtype)
    assert actual.shape == expected.shape, (actual.shape, expected.shape)
    kind = f"u{actual.dtype.itemsize}"
    left = np.ascontiguousarray(actual).view(kind)
    right = np.ascontiguousarray(expected).view(kind)
    assert np.array_equal(left, right), f"{actual}\n!=\n{expected}"
