"""``neuronxcc.nki.isa``: the modelled functions and their neighbours, returning tiles."""

from __future__ import annotations

from typing import Any

import numpy as np

from lanewise.nki.beta1.neighbours import (
    activation,
    affine_select,
    dma_copy,
    iota,
    memset,
    nc_matmul,
    nc_transpose,
    reciprocal,
    scalar_tensor_tensor,
    tensor_reduce,
    tensor_scalar,
    tensor_tensor,
)
from lanewise.nki.beta1.results import masked, result_dtype, returned
from lanewise.nki.call import Call, interface
from lanewise.nki.dtypes import float32, uint32
from lanewise.nki.enums import (
    dge_mode,
    engine,
    gpsimd_engine,
    oob_mode,
    reduce_cmd,
    scalar_engine,
    tensor_engine,
    unknown_engine,
    vector_engine,
)
from lanewise.nki.errors import NotOffered
from lanewise.nki.isa import MODELLED, NOT_OFFERED, OUTSIDE, constants, get_nc_version
from lanewise.nki.isa.max8 import lower as lower_max8
from lanewise.nki.isa.nc_find_index8 import lower as lower_find
from lanewise.nki.isa.nc_match_replace8 import lower as lower_replace
from lanewise.nki.isa.nc_match_replace8 import replacement_bits
from lanewise.nki.isa.range_select import FP32_MIN, RangeArguments
from lanewise.nki.isa.range_select import lower as lower_range
from lanewise.nki.isa.search import MOST_RANK_BETA1
from lanewise.nki.isa.select_reduce import selected
from lanewise.nki.isa.tensor_copy import lower as lower_copy
from lanewise.nki.isa.tensor_copy_predicated import predicated
from lanewise.nki.targets import nc_version
from lanewise.nki.tile import NkiTensor

__all__ = [
    "activation",
    "affine_select",
    "constants",
    "dge_mode",
    "dma_copy",
    "engine",
    "get_nc_version",
    "gpsimd_engine",
    "iota",
    "max8",
    "memset",
    "nc_find_index8",
    "nc_match_replace8",
    "nc_matmul",
    "nc_transpose",
    "nc_version",
    "oob_mode",
    "range_select",
    "reciprocal",
    "reduce_cmd",
    "scalar_engine",
    "scalar_tensor_tensor",
    "select_reduce",
    "tensor_copy",
    "tensor_copy_predicated",
    "tensor_engine",
    "tensor_reduce",
    "tensor_scalar",
    "tensor_tensor",
    "unknown_engine",
    "vector_engine",
]


def _tile(call: Call, operand: str, value: Any) -> NkiTensor:
    """The operand if it is a tensor; the checks look at the rest."""
    if not isinstance(value, NkiTensor):
        kind = "None" if value is None else type(value).__name__
        raise call.refuse(operand, f"is a {kind}, must be a tile", kind)
    return value


@interface
def tensor_copy(
    src: Any,
    *,
    engine: engine = engine.unknown,
    mask: Any = None,
    dtype: Any = None,
    **kwargs: Any,
) -> NkiTensor:
    """A copy of ``src`` as a new SBUF tile."""
    call = Call.begin("tensor_copy", kwargs.get("name"))
    tile = _tile(call, "src", src)
    part, ranges = masked(call, tile, mask)
    to = result_dtype(dtype, tile.dtype)
    return returned(call, lower_copy, tile.shape, to, {"src": part}, {"on": engine}, ranges)


@interface
def tensor_copy_predicated(
    *,
    src: Any,
    dst: Any,
    predicate: Any,
    reverse_pred: bool = False,
    mask: Any = None,
    dtype: Any = None,
    **kwargs: Any,
) -> None:
    """Copy ``src`` to ``dst`` where ``predicate`` is not 0."""
    call = Call.begin("tensor_copy_predicated", kwargs.get("name"))
    _refuse_dtype(call, dtype)
    target, source, truth = (masked(call, value, mask)[0] for value in (dst, src, predicate))
    predicated(call, target, source, truth, reverse_pred)


@interface
def select_reduce(
    *,
    dst: Any,
    predicate: Any,
    on_true: Any,
    on_false: Any,
    reduce_res: Any = None,
    reduce_cmd: reduce_cmd = reduce_cmd.idle,
    reduce_op: Any = np.amax,
    reverse_pred: bool = False,
    mask: Any = None,
    dtype: Any = None,
    **kwargs: Any,
) -> None:
    """``dst`` = ``on_true`` where ``predicate`` is not 0, else ``on_false``; with a maximum."""
    call = Call.begin("select_reduce", kwargs.get("name"))
    _refuse_dtype(call, dtype)
    target, truth, data = (masked(call, value, mask)[0] for value in (dst, predicate, on_true))
    selected(call, target, truth, data, on_false, reduce_res, reduce_cmd, reduce_op, reverse_pred)


@interface
def max8(*, src: Any, mask: Any = None, dtype: Any = None, **kwargs: Any) -> NkiTensor:
    """The eight largest elements of each partition, largest first."""
    call = Call.begin("max8", kwargs.get("name"))
    tile = _tile(call, "src", src)
    part, ranges = masked(call, tile, mask)
    shape = (tile.geometry.partitions, 8)
    rows = None if ranges is None else (ranges[0], (0, 8))
    to = result_dtype(dtype, tile.dtype)
    return returned(call, lower_max8, shape, to, {"src": part}, {"rank": MOST_RANK_BETA1}, rows)


@interface
def nc_find_index8(
    *, data: Any, vals: Any, mask: Any = None, dtype: Any = None, **kwargs: Any
) -> NkiTensor:
    """The position of each of the eight ``vals`` in ``data``; the mask applies to data."""
    call = Call.begin("nc_find_index8", kwargs.get("name"))
    tile, keys = _tile(call, "data", data), _tile(call, "vals", vals)
    part, ranges = masked(call, tile, mask)
    shape = (tile.geometry.partitions, 8)
    rows = None if ranges is None else (ranges[0], (0, 8))
    if rows is not None:
        keys = keys[slice(*rows[0])]
    to = result_dtype(dtype, uint32)
    return returned(
        call,
        lower_find,
        shape,
        to,
        {"data": part, "vals": keys},
        {"rank": MOST_RANK_BETA1},
        rows,
    )


@interface
def nc_match_replace8(
    *,
    data: Any,
    vals: Any,
    imm: float,
    dst_idx: Any = None,
    mask: Any = None,
    dtype: Any = None,
    **kwargs: Any,
) -> NkiTensor:
    """``data`` with one match of each of the eight ``vals`` replaced by ``imm``."""
    call = Call.begin("nc_match_replace8", kwargs.get("name"))
    tile, keys = _tile(call, "data", data), _tile(call, "vals", vals)
    part, ranges = masked(call, tile, mask)
    if ranges is not None:
        keys = keys[slice(*ranges[0])]
    to = result_dtype(dtype, tile.dtype)
    return returned(
        call,
        lower_replace,
        tile.shape,
        to,
        {"data": part, "vals": keys, "dst_idx": dst_idx},
        {"bits": replacement_bits(call, imm)},
        ranges,
    )


@interface
def range_select(
    *,
    on_true_tile: Any,
    comp_op0: Any,
    comp_op1: Any,
    bound0: Any,
    bound1: Any,
    reduce_cmd: reduce_cmd = reduce_cmd.idle,
    reduce_res: Any = None,
    reduce_op: Any = np.amax,
    range_start: int = 0,
    on_false_value: float = FP32_MIN,
    mask: Any = None,
    dtype: Any = None,
    **kwargs: Any,
) -> NkiTensor:
    """The elements whose index lies in a range; the others become the most negative number."""
    call = Call.begin("range_select", kwargs.get("name"))
    tile = _tile(call, "on_true_tile", on_true_tile)
    part, ranges = masked(call, tile, mask)
    arguments = RangeArguments.of(
        call,
        part,
        (comp_op0, comp_op1),
        (bound0, bound1),
        reduce_cmd,
        reduce_res,
        reduce_op,
        range_start,
        on_false_value,
    )
    to = result_dtype(dtype, tile.dtype if tile.dtype.is_float else float32)
    return returned(
        call, lower_range, tile.shape, to, arguments.tiles, arguments.parameters, ranges
    )


def _refuse_dtype(call: Call, dtype: Any) -> None:
    """Functions that write their dst have no type of a result to choose."""
    if dtype is not None:
        raise call.refuse("dtype", f"{dtype} must be None, dst has the type", dtype, "None")


_EXISTING = MODELLED + OUTSIDE + NOT_OFFERED
_OFFERED = tuple(name for name in __all__ if name in MODELLED + OUTSIDE)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return NotOffered("neuronxcc.nki.isa", name, _OFFERED, exists=name in _EXISTING)
