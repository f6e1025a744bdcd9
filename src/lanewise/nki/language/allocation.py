"""Allocation: ndarray and its kin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lanewise.errors import UsageError, unknown_name
from lanewise.nki.call import Call, interface
from lanewise.nki.context import running
from lanewise.nki.dtypes import NkiDtype, find_dtype
from lanewise.nki.errors import NkiError, caller
from lanewise.nki.language.constants import BUFFERS, sbuf
from lanewise.nki.numbers import from_float
from lanewise.nki.outside.generate import filled
from lanewise.nki.outside.numerics import outside_step
from lanewise.nki.tile import NkiTensor


def allocate(
    function: str, shape: Any, dtype: Any, buffer: Any, name: str, address: Any
) -> NkiTensor:
    """New memory for a function of the interface."""
    run = running(f"nl.{function}")
    location = caller()
    sizes, axis = _sizes(shape)
    if buffer is None:
        buffer = sbuf
    if str(buffer) not in BUFFERS:
        raise unknown_name("buffer", buffer, ("sbuf", "psum", "hbm", "private_hbm", "shared_hbm"))
    try:
        found: NkiDtype = find_dtype(dtype)
        place = None if address is None else (int(address[0]), int(address[1]))
    except UsageError as error:
        raise NkiError(f"{function} {error} ({location})") from None
    return run.allocate(sizes, found, str(buffer), location, name=name, address=place, axis=axis)


def _sizes(shape: Any) -> tuple[tuple[int, ...], int]:
    """The sizes of a shape, and which is the partition dimension."""
    given = tuple(shape) if isinstance(shape, Sequence) else (shape,)
    marked = [dim for dim, size in enumerate(given) if getattr(size, "is_partition", False)]
    return tuple(int(size) for size in given), marked[0] if marked else 0


@interface
def ndarray(
    shape: Any, dtype: Any, buffer: Any = sbuf, name: str = "", address: Any = None
) -> NkiTensor:
    """New memory, its content not set.

    ``address`` puts an on-chip tile at (partition, byte) instead of where there is room.
    """
    return allocate("ndarray", shape, dtype, buffer, name, address)


def _filled(function: str, tile: NkiTensor, value: float) -> NkiTensor:
    filled(Call.begin(function), tile, value)
    return tile


@interface
def zeros(
    shape: Any, dtype: Any, buffer: Any = sbuf, name: str = "", address: Any = None
) -> NkiTensor:
    """New memory filled with 0."""
    return _filled("zeros", allocate("zeros", shape, dtype, buffer, name, address), 0)


@interface
def ones(
    shape: Any, dtype: Any, buffer: Any = sbuf, name: str = "", address: Any = None
) -> NkiTensor:
    """New memory filled with 1."""
    return _filled("ones", allocate("ones", shape, dtype, buffer, name, address), 1)


@interface
def full(
    shape: Any,
    fill_value: float,
    dtype: Any,
    buffer: Any = sbuf,
    name: str = "",
    address: Any = None,
) -> NkiTensor:
    """New memory filled with a number."""
    return _filled("full", allocate("full", shape, dtype, buffer, name, address), fill_value)


@interface
def zeros_like(x: NkiTensor, dtype: Any = None, buffer: Any = None, name: str = "") -> NkiTensor:
    """Zeros in the shape (and, unless said otherwise, the type and buffer) of a tensor."""
    tile = empty_like(x, dtype, buffer, name)
    return _filled("zeros_like", tile, 0)


@interface
def empty_like(x: NkiTensor, dtype: Any = None, buffer: Any = None, name: str = "") -> NkiTensor:
    """New memory in the shape (and type and buffer) of a tensor."""
    return allocate("empty_like", x.shape, dtype or x.dtype, buffer or x.buffer, name, None)


@interface
def rand(shape: Any, dtype: Any = "float32", buffer: Any = sbuf, name: str = "") -> NkiTensor:
    """New memory filled with numbers of 0 to 1, the same in every run."""
    tile = allocate("rand", shape, dtype, buffer, name, None)
    call = Call.begin("rand")
    generator = call.run.scratch.setdefault("rand", np.random.default_rng(0))
    with outside_step(call, {}, {"dst": tile}, "vector"):
        values = generator.random(tile.size, dtype=np.float32)
        codes = from_float(values, tile.dtype, call.run.machine.profile)
        tile.codes(writing=True)[...] = codes.reshape(tile.shape)
    return tile


@interface
def shared_constant(value: Any, dtype: Any = None) -> NkiTensor:
    """A constant array as an HBM tensor."""
    array = np.asarray(value)
    found = find_dtype(array.dtype if dtype is None else dtype)
    run = running("nl.shared_constant")
    tensor = run.allocate(array.shape or (1,), found, "shared_hbm", caller())
    codes = (
        array.view(found.carrier)
        if found == array.dtype
        else from_float(array.astype(np.float32), found, run.machine.profile)
    )
    tensor.codes(writing=True)[...] = codes.reshape(tensor.shape)
    tensor.storage.written.complete = True
    return tensor


@interface
def shared_identity_matrix(n: int, dtype: Any = "uint8") -> NkiTensor:
    """The n by n identity as an HBM tensor."""
    return shared_constant(np.eye(n, dtype=np.float32), dtype=dtype)
