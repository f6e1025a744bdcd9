"""``neuronxcc.nki.language``: the current world's, with index grids, masks and block dimensions."""

from __future__ import annotations

from typing import Any

from lanewise.nki import language as _current
from lanewise.nki.beta1 import isa as beta1_isa
from lanewise.nki.beta1.grids import Mask, arange, mgrid, par_dim
from lanewise.nki.beta1.indexing import element_view, rectangle_of, shrunk
from lanewise.nki.call import Call, interface
from lanewise.nki.dtypes import find_dtype
from lanewise.nki.language import __all__ as _current_names
from lanewise.nki.language.movement import loaded, stored
from lanewise.nki.numbers import is_number
from lanewise.nki.outside.dma import copied
from lanewise.nki.outside.generate import filled
from lanewise.nki.tile import NkiTensor

__all__ = [*_current_names, "arange", "copy", "load", "mgrid", "par_dim", "store"]  # noqa: PLE0604


@interface
def load(src: Any, *, mask: Any = None, dtype: Any = None, **kwargs: Any) -> NkiTensor:
    """The content of an HBM tensor as a new SBUF tile; what a mask leaves out stays unwritten."""
    call = Call.begin("load", kwargs.get("name"))
    if mask is None or not isinstance(src, NkiTensor):
        return loaded(call, src, dtype)
    to = src.dtype if dtype is None else find_dtype(dtype)
    tile = call.run.allocate(src.shape, to, "sbuf", call.location)
    ranges = _ranges(mask, src)
    if ranges is None:
        source, truth = element_view(src, mask)
        copied(call, tile, source, where=truth)
    elif all(high > low for low, high in ranges):
        copied(call, shrunk(tile, ranges), shrunk(src, ranges))
    return tile


@interface
def copy(src: Any, *, mask: Any = None, dtype: Any = None, **kwargs: Any) -> NkiTensor:
    """A copy of a tile as a new SBUF tile: tensor_copy on the vector engine."""
    return beta1_isa.tensor_copy(src, mask=mask, dtype=dtype, **kwargs)


@interface
def store(dst: Any, value: Any, *, mask: Any = None, **kwargs: Any) -> None:
    """Copy a tile or a number to an HBM tensor; what a mask leaves out keeps its bytes."""
    call = Call.begin("store", kwargs.get("name"))
    if mask is None or not isinstance(dst, NkiTensor):
        stored(call, dst, value)
        return
    ranges = _ranges(mask, dst)
    if ranges is None:
        target, truth = element_view(dst, mask)
        copied(call, target, value, where=truth)
        return
    if any(high <= low for low, high in ranges):
        return
    if is_number(value):
        filled(call, shrunk(dst, ranges), value)
        return
    part = shrunk(value, ranges) if isinstance(value, NkiTensor) else value
    stored(call, shrunk(dst, ranges), part)


def _ranges(mask: Any, tile: NkiTensor) -> Any:
    if not isinstance(mask, Mask):
        raise TypeError(f"a mask is made by comparing index grids, not a {type(mask).__name__}")
    return rectangle_of(mask, tile)


# All the rest is the current world's.
globals().update(
    {_name: getattr(_current, _name) for _name in _current_names}
    | {"copy": copy, "load": load, "store": store}
)


def __getattr__(name: str) -> Any:
    return getattr(_current, name)
