"""Rows about the row kernels: bytes moved, against ``np.copyto`` of an 8 MiB FP32 tile.

Bytes moved are all an element reads and writes; a merge and a fill read the destination too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanewise.check.bench.measure import Call, Clock, Spread, spread_of
from lanewise.check.bench.result import Result, worst
from lanewise.formats import FORMATS, FP32, ConversionPolicy, Format
from lanewise.kernels.arrays import code_dtype

Array = NDArray[Any]

ROWS, COLUMNS = 128, 16384
POLICY = ConversionPolicy(float_to_int="truncate", float_overflow="saturate")


class Tiles:
    """The data of the kernel rows, made when first needed: [128, 16384], normally distributed."""

    def __init__(self, kernels: ModuleType, clock: Clock) -> None:
        self.kernels = kernels
        self.clock = clock
        self._rng = np.random.default_rng(0)

    @cached_property
    def values(self) -> Array:
        """FP32 numbers."""
        return self._rng.standard_normal((ROWS, COLUMNS), np.float32)

    @cached_property
    def source(self) -> Array:
        """Their bits."""
        return self.values.view(np.uint32)

    @cached_property
    def target(self) -> Array:
        """Room for as many."""
        return np.zeros((ROWS, COLUMNS), np.uint32)

    @cached_property
    def truth(self) -> Array:
        """Random predicates, as bytes 0 and 1: what a branch cannot foresee."""
        return self._rng.integers(0, 2, (ROWS, COLUMNS), np.uint8)

    def codes(self, format: Format) -> Array:
        """The numbers as codes of a format (integers: numbers of some size)."""
        scaled = self.values * np.float32(30) if format.is_integer else self.values
        hub = scaled.astype(np.float32).view(np.uint32)
        codes: Array = self.kernels.from_hub(hub, format, POLICY)
        return codes

    def step(self, kernel: str, *operands: Any) -> Call:
        """The call that runs a row kernel on operands."""
        run: Call = self.kernels.step(kernel, *operands).run
        return run

    def bandwidth(self, call: Call, bytes_moved: int) -> Spread:
        """Bytes a second that a call moves, in units of np.copyto of the tile."""
        copied = np.zeros_like(self.source)
        ours, theirs = self.clock.times(call, lambda: np.copyto(copied, self.source))
        moved = bytes_moved / (2 * self.source.nbytes)
        return spread_of([moved * b / a for a, b in zip(ours, theirs, strict=True)])


def cast_bandwidth(tiles: Tiles, source: Format, target: Format) -> Spread:
    """A cast of contiguous rows."""
    codes = tiles.codes(source)
    result = np.zeros(codes.shape, code_dtype(target))
    conversion = tiles.kernels.conversion(source, target, POLICY)
    call = tiles.step("cast_rows", result, codes, conversion)
    return tiles.bandwidth(call, codes.nbytes + result.nbytes)


def cast_row(name: str, what: str, *pairs: tuple[str, str]) -> Callable[[Tiles], list[Result]]:
    """The slowest of some casts."""

    def measure(tiles: Tiles) -> list[Result]:
        parts = {f"{a}->{b}": cast_bandwidth(tiles, FORMATS[a], FORMATS[b]) for a, b in pairs}
        value, medians = worst(parts)
        return [Result(name, what, "x", value, True, medians)]

    return measure


FP8 = ("E3M4", "E4M3", "E4M3FN", "E5M2")
ML_DTYPES = {
    "E3M4": "float8_e3m4",
    "E4M3": "float8_e4m3",
    "E4M3FN": "float8_e4m3fn",
    "E5M2": "float8_e5m2",
}


def cast_fp8_peer(tiles: Tiles) -> list[Result]:
    """FP32 to FP8 against ml_dtypes; nothing where it is not installed."""
    try:
        import ml_dtypes
    except ImportError:
        return []
    quick = Clock(max(3, tiles.clock.turns // 3), tiles.clock.least)
    parts = {}
    for name in FP8:
        result = np.zeros((ROWS, COLUMNS), np.uint8)
        conversion = tiles.kernels.conversion(FP32, FORMATS[name], POLICY)
        ours = tiles.step("cast_rows", result, tiles.source, conversion)
        kind = getattr(ml_dtypes, ML_DTYPES[name])
        parts[name] = quick.speed_ratio(ours, partial(tiles.values.astype, kind))
    value, medians = worst(parts)
    return [Result("cast-fp8-peer", "FP32 to FP8, times ml_dtypes", "x", value, True, medians)]


def merge_row(name: str, kind: str) -> Callable[[Tiles], list[Result]]:
    """A merge of FP32 elements under random predicates of an integer type."""

    def measure(tiles: Tiles) -> list[Result]:
        predicate = tiles.truth.astype(kind)
        same = tiles.kernels.conversion(FP32, FP32, POLICY)
        call = tiles.step("merge_rows", tiles.target, tiles.source, predicate, same)
        value = tiles.bandwidth(call, predicate.nbytes + 3 * tiles.source.nbytes)
        quick = Clock(max(3, tiles.clock.turns // 3), tiles.clock.least)
        chosen = predicate.astype(np.bool_)
        copied = np.zeros_like(tiles.source)

        def with_numpy() -> None:
            # NumPy wants booleans; making them is part of what merging costs there.
            np.copyto(copied, tiles.source, where=predicate.astype(np.bool_))

        peer = quick.speed_ratio(call, with_numpy)
        ready = quick.speed_ratio(call, lambda: np.copyto(copied, tiles.source, where=chosen))
        selected = quick.speed_ratio(call, lambda: np.where(chosen, tiles.source, copied))
        what = f"merge, {kind} predicate"
        peers = {
            "np.copyto(where=), booleans given": f"1/{ready.median:.1f} of its speed",
            "np.where": f"1/{selected.median:.1f}",
        }
        return [
            Result(name, what, "x", value, True, peers=peers),
            Result(f"{name}-peer", f"{what}, times np.copyto(where=)", "x", peer, True),
        ]

    return measure


def fill(tiles: Tiles) -> list[Result]:
    """A fill with one scalar a row."""
    scalars = np.arange(ROWS, dtype=np.uint32)
    parts = {}
    for kind in ("uint8", "uint32"):
        predicate = tiles.truth.astype(kind)
        call = tiles.step("fill_rows", tiles.target, scalars, predicate, True)
        parts[kind] = tiles.bandwidth(call, predicate.nbytes + 2 * tiles.target.nbytes)
    medians = {part: spread.median for part, spread in parts.items()}
    return [Result("fill", "fill, INT8 predicate", "x", parts["uint8"], True, medians)]


#: Views of a tile as large as the contiguous one, so that both have the same memory to go through.
STRIDED: dict[str, Callable[[Array], Array]] = {
    "step 2": lambda tile: tile[:, ::2],
    "step 3": lambda tile: tile[:, ::3],
    "step -1": lambda tile: tile[:, ::-1],
    "4-D": lambda tile: tile.reshape(ROWS, 8, 16, 2, 64)[:, :, :, :, :48],
}


def strided(tiles: Tiles) -> list[Result]:
    """Merge and cast of rows whose elements do not lie side by side."""
    k = tiles.kernels
    same, narrow = k.conversion(FP32, FP32, POLICY), k.conversion(FP32, FORMATS["BF16"], POLICY)
    half = np.zeros((ROWS, COLUMNS), np.uint16)
    merges, casts = {}, {}
    for name, view in STRIDED.items():
        target, source, truth = view(tiles.target), view(tiles.source), view(tiles.truth)
        merge = tiles.step("merge_rows", target, source, truth, same)
        cast = tiles.step("cast_rows", view(half), source, narrow)
        merges[name] = tiles.bandwidth(merge, 13 * source.size)
        casts[name] = tiles.bandwidth(cast, 6 * source.size)
    value, medians = worst(merges)
    cast_value, cast_medians = worst(casts)
    return [
        Result("merge-strided", "merge, strided", "x", value, True, medians),
        Result("cast-strided", "FP32 to BF16, strided", "x", cast_value, True, cast_medians),
    ]


def top8(tiles: Tiles) -> list[Result]:
    """The eight largest of each row, in several orders of the data."""
    k = tiles.kernels
    numbers = k.conversion(FP32, FP32, POLICY, stream=True)
    same = k.conversion(FP32, FP32, POLICY)
    orders = {
        "random": tiles.values,
        "ascending": np.sort(tiles.values, axis=1),
        "descending": -np.sort(-tiles.values, axis=1),
        "equal": np.full_like(tiles.values, 1.5),
        "negative": -np.abs(tiles.values),
    }
    result = np.zeros((ROWS, 8), np.uint32)
    calls = {
        name: tiles.step("top8_rows", result, np.ascontiguousarray(rows).view(np.uint32),
                         numbers, same)
        for name, rows in orders.items()
    }  # fmt: skip
    value, medians = worst(
        {name: tiles.bandwidth(call, tiles.source.nbytes) for name, call in calls.items()}
    )
    times = tiles.clock.times(*calls.values())
    order = spread_of([max(turn) / min(turn) for turn in zip(*times, strict=True)])

    def with_numpy() -> Array:
        largest: Array = np.partition(tiles.values, COLUMNS - 8, axis=1)[:, -8:]
        largest.sort(axis=1)
        return largest

    peer = Clock(3, tiles.clock.least).speed_ratio(calls["random"], with_numpy)
    return [
        Result("top8", "top-8, any order of data", "x", value, True, medians),
        Result("top8-order", "top-8, slowest order over fastest", "x", order, False),
        Result("top8-peer", "top-8, times np.partition and sort", "x", peer, True),
    ]


def searches(tiles: Tiles) -> list[Result]:
    """Find-8 and match-replace-8 with keys that are not there: nothing ends the search early."""
    k = tiles.kernels
    numbers = k.conversion(FP32, FP32, POLICY, stream=True)
    whole = (tiles.values * np.float32(30)).round()
    cases = {
        "close keys": (np.arange(8, dtype=np.uint32) + 0x4640_E400, tiles.source),
        "spread keys": (np.array([-4e4, -30, -1e-30, 1e-35, 2e-20, 70, 9e3, 1e30], np.float32),
                        tiles.source),
        # Numbers of few bits, which resemble the keys.
        "whole numbers": (np.arange(-333, -325, dtype=np.float32),
                          np.ascontiguousarray(whole, np.float32).view(np.uint32)),
    }  # fmt: skip
    matched = np.zeros((ROWS, 8), np.bool_)
    found, indices = (np.zeros((ROWS, 8), np.uint32) for _ in range(2))
    size = tiles.source.nbytes
    finds, replaces = {}, {}
    for name, (eight, data) in cases.items():
        keys = np.broadcast_to(eight.view(np.uint32), (ROWS, 8)).copy()
        find = tiles.step("find8_rows", found, data, numbers, keys, matched)
        operands = (tiles.target, data, numbers, numbers, 0, keys, matched, indices)
        finds[name] = tiles.bandwidth(find, size)
        replaces[name] = tiles.bandwidth(tiles.step("replace8_rows", *operands), 2 * size)

    def with_numpy() -> Array:
        return np.stack([(tiles.source == keys[:, n, None]).argmax(axis=1) for n in range(8)])

    peer = Clock(3, tiles.clock.least).speed_ratio(find, with_numpy)
    peers = {"eight NumPy compares and argmax": f"1/{peer.median:.1f} of its speed"}
    found_value, found_medians = worst(finds)
    replaced_value, replaced_medians = worst(replaces)
    return [
        Result("find8", "find-index of 8 keys", "x", found_value, True, found_medians, peers),
        Result("replace8", "match-replace of 8 keys", "x", replaced_value, True, replaced_medians),
    ]
