"""memset, iota, affine_select: constants and index patterns. Outside the modelled set."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanewise.nki.call import Call, interface
from lanewise.nki.dtypes import int32
from lanewise.nki.enums import checked_enum, engine
from lanewise.nki.numbers import code_of, converted, fp32_bits, from_hub, is_number
from lanewise.nki.operators import OPERATORS, find_operator
from lanewise.nki.outside.numerics import check_alike, check_tile, outside_step, rows
from lanewise.nki.tile import NkiTensor

_COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")


@interface
def memset(
    dst: Any, value: float, engine: engine = engine.unknown, name: str | None = None
) -> None:
    """Fill ``dst`` with a number, converted to its type; outside the modelled set."""
    call = Call.begin("memset", name)
    filled(call, dst, value, engine)


def filled(call: Call, dst: Any, value: Any, on: Any = engine.unknown) -> None:
    """The fill."""
    checked_enum(call.function, "engine", on, engine)
    if not isinstance(dst, NkiTensor):
        raise call.refuse("dst", f"is a {type(dst).__name__}, must be a tile", type(dst).__name__)
    call.tiles["dst"] = dst
    if isinstance(value, (bool, np.bool_)):
        value = int(value)
    if not is_number(value):
        kind = type(value).__name__
        raise call.refuse("value", f"is a {kind}, must be a number", kind, "a number")
    if dst.dtype.code is None:
        if value != 0:
            raise call.refuse("value", f"{value} must be 0 for dtype {dst.dtype}", value, "0")
        code = 0
    else:
        code = code_of(value, dst.dtype, call.run.machine.profile)
    shown = "gpsimd" if on == engine.gpsimd else "vector"
    with outside_step(call, {}, {"dst": dst}, shown):
        dst.codes(writing=True)[...] = code


def affine(
    call: Call, pattern: Sequence[Sequence[int]], offset: int, multiplier: int, partitions: int
) -> NDArray[np.int64]:
    """offset + channel * multiplier + sum of index * step: [partitions, elements]."""
    if not 1 <= len(pattern) <= 4:
        raise call.refuse(
            "pattern", f"has {len(pattern)} dimensions, must have 1 to 4", len(pattern), "1 to 4"
        )
    values = np.full(1, int(offset), dtype=np.int64)
    for step, number in pattern:
        steps = np.arange(int(number), dtype=np.int64) * int(step)
        values = (values[:, None] + steps[None, :]).reshape(-1)
    channels = np.arange(partitions, dtype=np.int64) * int(multiplier)
    return channels[:, None] + values[None, :]


def _check_pattern(call: Call, pattern: Sequence[Sequence[int]], dst: NkiTensor) -> None:
    elements = prod(int(number) for _, number in pattern)
    if elements != dst.geometry.elements:
        raise call.refuse(
            "pattern",
            f"has {elements} elements, must have {dst.geometry.elements} as dst has per partition",
            elements,
            str(dst.geometry.elements),
        )


@interface
def iota(
    dst: Any,
    pattern: Sequence[Sequence[int]],
    offset: int = 0,
    channel_multiplier: int = 0,
    name: str | None = None,
) -> None:
    """Fill ``dst`` with an affine pattern of int32 numbers; outside the modelled set.

    ``pattern`` is [[step, number], …], outermost first; partition p adds
    ``p * channel_multiplier``. The numbers are converted from int32 to the type of dst.
    """
    call = Call.begin("iota", name)
    dst = check_tile(call, "dst", dst)
    _check_pattern(call, pattern, dst)
    values = affine(call, pattern, offset, channel_multiplier, dst.geometry.partitions)
    codes = (values & 0xFFFFFFFF).astype(np.uint32)
    exact = dst.dtype.name in ("int32", "uint32")
    with outside_step(call, {}, {"dst": dst}, "gpsimd"):
        if not exact:
            codes = converted(codes, int32, dst.dtype, call.run.machine.profile)
        dst.codes(writing=True)[...] = codes.reshape(dst.shape)


@interface
def affine_select(
    dst: Any,
    pattern: Sequence[Sequence[int]],
    channel_multiplier: int,
    on_true_tile: Any,
    on_false_value: float,
    cmp_op: Any = OPERATORS["equal"],
    offset: int = 0,
    name: str | None = None,
) -> None:
    """``on_true_tile`` where an affine index pattern compares true with 0, else a number.

    Outside the modelled set. The pattern is as in :func:`iota`.
    """
    call = Call.begin("affine_select", name)
    if isinstance(on_true_tile, int):
        raise call.refuse(
            "on_true_tile",
            "is an int, must be a tile; offset moved from the third place to the last in version "
            "0.3: affine_select(dst, pattern, channel_multiplier, on_true_tile, on_false_value, "
            "cmp_op, offset)",
            "int",
            "a tile",
        )
    dst = check_tile(call, "dst", dst)
    data = check_tile(call, "on_true_tile", on_true_tile)
    check_alike(call, "dst", dst, "on_true_tile", data)
    _check_pattern(call, pattern, dst)
    compare = find_operator("affine_select", "cmp_op", cmp_op)
    if compare.name not in _COMPARISONS:
        raise call.refuse(
            "cmp_op", f"{compare.name} must be a comparison", compare.name, "a comparison"
        )
    if not is_number(on_false_value):
        kind = type(on_false_value).__name__
        raise call.refuse("on_false_value", f"is a {kind}, must be a number", kind)
    profile = call.run.machine.profile
    values = affine(call, pattern, offset, channel_multiplier, dst.geometry.partitions)
    assert compare.compute is not None
    with outside_step(call, {"on_true_tile": data}, {"dst": dst}, "gpsimd"):
        truth = compare.compute(values, np.int64(0)) != 0
        chosen = converted(data.codes(), data.dtype, dst.dtype, profile).reshape(rows(dst))
        bits = np.array([fp32_bits(on_false_value)], dtype=np.uint32)
        other = from_hub(bits, dst.dtype, profile)
        dst.codes(writing=True)[...] = np.where(truth, chosen, other).reshape(dst.shape)
