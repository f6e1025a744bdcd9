"""What torch does at the same work, on one thread; nothing where torch is not installed."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from lanewise.check.bench.kernels import COLUMNS, POLICY, ROWS, Tiles
from lanewise.check.bench.measure import Call, Clock
from lanewise.formats import FORMATS, FP32
from lanewise.kernels.arrays import code_dtype

#: A call of ours and the one of torch's that does most nearly the same.
Pair = tuple[Call, Call]
Make = Callable[[Tiles, Any], Pair]


def _cast(target: str, kind: str) -> Make:
    def make(tiles: Tiles, torch: Any) -> Pair:
        result = np.zeros((ROWS, COLUMNS), code_dtype(FORMATS[target]))
        conversion = tiles.kernels.conversion(FP32, FORMATS[target], POLICY)
        values = torch.from_numpy(tiles.values)
        theirs = partial(values.to, getattr(torch, kind))
        return tiles.step("cast_rows", result, tiles.source, conversion), theirs

    return make


def _merge(tiles: Tiles, torch: Any) -> Pair:
    same = tiles.kernels.conversion(FP32, FP32, POLICY)
    ours = tiles.step("merge_rows", tiles.target, tiles.source, tiles.truth, same)
    old, new = (torch.from_numpy(array.view(np.int32)) for array in (tiles.target, tiles.source))
    # As for NumPy: torch wants booleans, and making them is part of the work.
    truth = torch.from_numpy(tiles.truth)
    return ours, lambda: torch.where(truth != 0, new, old, out=old)


def _top8(tiles: Tiles, torch: Any) -> Pair:
    numbers = tiles.kernels.conversion(FP32, FP32, POLICY, stream=True)
    same = tiles.kernels.conversion(FP32, FP32, POLICY)
    result = np.zeros((ROWS, 8), np.uint32)
    ours = tiles.step("top8_rows", result, tiles.source, numbers, same)
    return ours, partial(torch.topk, torch.from_numpy(tiles.values), 8, dim=1)


_PEERS: Final[Mapping[str, tuple[str, Make]]] = MappingProxyType(
    {
        "cast-bf16": ("torch to(bfloat16)", _cast("BF16", "bfloat16")),
        "cast-fp16": ("torch to(float16)", _cast("FP16", "float16")),
        "cast-int8": ("torch to(int8)", _cast("INT8", "int8")),
        "cast-fp8": ("torch to(float8_e5m2)", _cast("E5M2", "float8_e5m2")),
        "merge-int8": ("torch.where, booleans made", _merge),
        "top8": ("torch.topk", _top8),
    }
)


def torch_peers(name: str, tiles: Tiles) -> dict[str, str]:
    """How fast torch is at the work of a row of the benchmark, for its line of peers."""
    if name not in _PEERS:
        return {}
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        return {}
    title, make = _PEERS[name]
    quick = Clock(max(3, tiles.clock.turns // 3), tiles.clock.least)
    with _one_thread(torch):
        ratio = quick.speed_ratio(*make(tiles, torch))
    times = 1 / ratio.median
    return {
        title: f"{times:.1f} times its speed" if times > 1 else f"1/{1 / times:.1f} of its speed"
    }


@contextmanager
def _one_thread(torch: Any) -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
