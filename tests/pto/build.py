"""Short ways to cores, tiles and programs for the tests of the PTO machine."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
from tests.pto import oracle

from lanewise.pto import DataType, Kind, Layout, PtoCore, PtoProfile, Tile
from lanewise.pto.assembly import assemble
from lanewise.pto.carriers import predicate_descriptor
from lanewise.pto.tile import padded_tile, smallest_capacity

LAYOUTS = ("NORM", "CUBE_M16", "CUBE_M32")
CUBE_TYPES = [name for name in oracle.TYPES if oracle.WIDTHS[name] < 64]


def codes(
    seed: object, dtype: str, rows: int, cols: int, *, plain: bool = False
) -> np.ndarray[Any, Any]:
    """Element codes biased to the edges of a type: zeros, NaNs, infinities, neighbours.

    ``plain`` keeps to legal encodings of TF32 and HF32, which every compare needs.
    """
    pick = random.Random(repr(seed))
    width = oracle.WIDTHS[dtype]
    edges = [0, 1, 1 << (width - 1), (1 << width) - 1, (1 << (width - 1)) - 1, (1 << width) - 2]
    if dtype in oracle.FLOATS:
        exponent_bits, fraction_bits, *_ = oracle.FLOATS[dtype]
        infinity = ((1 << exponent_bits) - 1) << fraction_bits
        edges += [infinity, infinity - 1, infinity + 1, infinity | 1 << (fraction_bits - 1)]
        edges += [code | 1 << (width - 1) for code in edges]
    dropped = oracle.FLOATS.get(dtype, (0, 0, 0, 0, False))[3]
    keep = ~((1 << dropped) - 1) if plain else -1
    flat = [
        (pick.choice(edges) if pick.random() < 0.6 else pick.getrandbits(width))
        & keep
        & ((1 << width) - 1)
        for _ in range(rows * cols)
    ]
    kind = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}[width]
    return np.array(flat, kind).reshape(rows, cols)


def tile(
    array: np.ndarray[Any, Any], dtype: str, layout: str, *, fill: int | None = None, **more: Any
) -> Tile:
    """A tile whose whole array is valid, its padding undefined unless ``fill`` says otherwise."""
    return Tile.from_array(array, dtype, layout, fill=fill, **more)


def mask_tile(mask: np.ndarray[Any, Any], data: Tile, dtype: str) -> Tile:
    """The predicate tile that carries ``mask`` for ``data``, its padding undefined."""
    descriptor = predicate_descriptor(data.descriptor, DataType.named(dtype), 128)
    size = smallest_capacity(descriptor.payload_bytes)
    return padded_tile(mask, replace(descriptor, capacity=size), None)


def core(
    *tiles: tuple[str, Tile], gprs: dict[str | int, int] | None = None, **more: Any
) -> PtoCore:
    """A core with these tiles pushed on every PE and these registers set."""
    made = PtoCore(profile=PtoProfile().with_(**more))
    for hand, pushed in tiles:
        made.push(hand, pushed)
    for register, value in (gprs or {}).items():
        made.set_gpr(register, value)
    return made


def program(*lines: str) -> list[Any]:
    """The words of assembly lines."""
    return list(assemble(lines))


def capacity(size: int) -> str:
    """The smallest capacity of at least ``size`` bytes, as assembly writes it."""
    found = 128
    while found < size:
        found *= 2
    return f"{found}B"


def physical(layout: str, dtype: str, cols: int) -> int:
    """Physical columns of a tile with ``cols`` valid ones."""
    if layout == "NORM":
        return cols
    per_cell = 1024 // (oracle.WIDTHS[dtype] * oracle.ROWS[layout])
    return -(-cols // per_cell) * per_cell


__all__ = [
    "CUBE_TYPES",
    "LAYOUTS",
    "Kind",
    "Layout",
    "capacity",
    "codes",
    "core",
    "mask_tile",
    "physical",
    "program",
    "tile",
]
