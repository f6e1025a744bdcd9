"""How steps outside the modelled set read, compute, write and are recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanewise.nki.call import Call
from lanewise.nki.errors import caller
from lanewise.nki.estimate import UNKNOWN
from lanewise.nki.numbers import from_float, is_number, to_float
from lanewise.nki.steps import Step, operand_views
from lanewise.nki.storage import Hbm
from lanewise.nki.tile import NkiTensor

NOTE = "outside the modelled set: NumPy semantics, FP32 inside"
Array = NDArray[Any]


@contextmanager
def outside_step(
    call: Call,
    reads: Mapping[str, Any],
    writes: Mapping[str, NkiTensor],
    engine: str,
    *,
    where: Mapping[str, Any] | None = None,
) -> Iterator[None]:
    """The body of a step outside the modelled set: reads reported before, writes noted after.

    ``where`` tells which elements of a destination are written (absent: all).
    """
    run = call.run
    for operand, tile in reads.items():
        if isinstance(tile, NkiTensor) and tile.dynamic is None:
            run.check_read(call.function, operand, tile, call.location)
    with np.errstate(all="ignore"):
        yield
    for operand, tile in writes.items():
        if tile.dynamic is None:
            tile.storage.written.mark(tile.geometry, tile.dtype.size, (where or {}).get(operand))
        else:
            tile.storage.written.complete = True
        if tile.storage.touched and run.replay_problem is None:
            run.replay_problem = (
                f"{call.function} ({call.location}) wrote to {tile.name} between words"
            )
    run.add_step(
        Step(
            index=len(run.steps),
            function=call.function,
            location=call.location,
            engine=engine,
            words=(),
            outside=True,
            profile=run.machine.description(),
            operands=operand_views({**writes, **reads}),
            estimate=UNKNOWN,
            program_id=run.program_index,
            label=call.label,
            note=NOTE,
        )
    )


def check_tile(call: Call, operand: str, value: Any, *, on_chip: bool = True) -> NkiTensor:
    """The operand if it is a tile (on chip unless said otherwise); an error otherwise."""
    if not isinstance(value, NkiTensor):
        kind = "None" if value is None else type(value).__name__
        raise call.refuse(operand, f"is a {kind}, must be a tile", kind)
    call.tiles[operand] = value
    if on_chip and not value.is_on_chip:
        raise call.refuse(
            operand,
            f"buffer {value.buffer} must be sbuf or psum; use dma_copy",
            value.buffer,
            "sbuf or psum",
        )
    if value.dtype.code is None:
        raise call.refuse(
            operand,
            f"dtype {value.dtype} can be allocated, moved and set to 0 only",
            value.dtype,
            "another type",
        )
    return value


def check_alike(
    call: Call, operand: str, tile: NkiTensor, model_name: str, model: NkiTensor
) -> None:
    """An error unless the tile has the model's partitions and elements per partition."""
    have, want = tile.geometry, model.geometry
    if have.partitions != want.partitions:
        raise call.refuse(
            operand,
            f"partitions {have.partitions} must be {want.partitions} as in {model_name}",
            have.partitions,
            str(want.partitions),
        )
    if have.elements != want.elements:
        raise call.refuse(
            operand,
            f"elements per partition {have.elements} must be {want.elements} as in {model_name}",
            have.elements,
            str(want.elements),
        )


def rows(tile: NkiTensor) -> tuple[int, int]:
    """Partitions and elements per partition."""
    return tile.geometry.partitions, tile.geometry.elements


def read(call: Call, tile: NkiTensor) -> NDArray[np.float32]:
    """The tile as FP32 numbers, [partitions, elements]."""
    values = to_float(tile.codes(), tile.dtype, call.run.machine.profile)
    return values.reshape(rows(tile) if tile.is_on_chip else (1, -1))


def write(call: Call, tile: NkiTensor, values: Array) -> None:
    """FP32 numbers, in any shape with as many elements, to the tile in its type."""
    codes = from_float(values, tile.dtype, call.run.machine.profile)
    tile.codes(writing=True)[...] = codes.reshape(tile.shape)


def operand_column(call: Call, operand: str, value: Any, data: NkiTensor) -> Array:
    """A number, or a tile of one element a partition, as FP32 to broadcast over elements."""
    if is_number(value):
        return np.full((1, 1), value, dtype=np.float32)
    if isinstance(value, bool):
        return np.full((1, 1), float(value), dtype=np.float32)
    tile = check_tile(call, operand, value)
    partitions, elements = rows(tile)
    if elements != 1 or partitions not in (1, data.geometry.partitions):
        raise call.refuse(
            operand,
            f"has {partitions} partitions of {elements} elements, must be a number or have one "
            f"element in each of {data.geometry.partitions} partitions",
            f"({partitions}, {elements})",
            f"({data.geometry.partitions}, 1)",
        )
    return read(call, tile)


def count(shape: tuple[int, ...]) -> int:
    """Number of elements of a shape."""
    return prod(shape)


def is_hbm(tile: NkiTensor) -> bool:
    """Whether the tensor is on HBM."""
    return isinstance(tile.storage, Hbm)


def place() -> str:
    """The kernel's line, for messages."""
    return f"({caller()})"
