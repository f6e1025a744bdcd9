"""The caller's arrays: NumPy's (ml_dtypes' types too) and torch's, seen as bytes and given back."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanewise.errors import UsageError
from lanewise.nki.dtypes import NkiDtype, find_dtype, uint8
from lanewise.nki.errors import NkiError

_TORCH_BITS = {1: "uint8", 2: "int16", 4: "int32"}


def is_torch(value: object) -> bool:
    """Whether the value is a torch tensor, without importing torch."""
    return any(
        kind.__name__ == "Tensor" and kind.__module__.partition(".")[0] == "torch"
        for kind in type(value).__mro__
    )


def is_array(value: object) -> bool:
    """Whether the value becomes an HBM tensor."""
    return isinstance(value, np.ndarray) or is_torch(value)


def incoming(name: str, value: Any) -> tuple[NDArray[Any], NkiDtype]:
    """The array's elements as unsigned codes, contiguous, and their type.

    Shares memory with the caller's array where it is contiguous. NkiError for a type that
    kernels do not have.
    """
    if is_torch(value):
        return _from_torch(name, value)
    if value.dtype == np.bool_:
        return np.ascontiguousarray(value).view(np.uint8), uint8
    try:
        dtype = find_dtype(value.dtype)
    except UsageError as error:
        raise NkiError(f"argument {name}: {error}") from None
    little = value.astype(value.dtype.newbyteorder("<"), copy=False)
    codes: NDArray[Any] = np.ascontiguousarray(little).view(dtype.carrier).reshape(value.shape)
    return codes, dtype


def _from_torch(name: str, value: Any) -> tuple[NDArray[Any], NkiDtype]:
    torch = importlib.import_module("torch")
    plain = value.detach().cpu().contiguous()
    named = str(plain.dtype).removeprefix("torch.")
    if named == "bool":
        return plain.view(torch.uint8).numpy(), uint8
    try:
        dtype = find_dtype(named)
    except UsageError as error:
        raise NkiError(f"argument {name}: {error}") from None
    bits = plain.view(getattr(torch, _TORCH_BITS[dtype.size])).numpy()
    return bits.view(dtype.carrier).reshape(tuple(value.shape)), dtype


def outgoing(codes: NDArray[Any], dtype: NkiDtype, *, torch_wanted: bool) -> Any:
    """Codes as an array of the caller's kind."""
    codes = np.ascontiguousarray(codes)
    if not torch_wanted:
        return codes.view(dtype.numpy).reshape(codes.shape)
    torch = importlib.import_module("torch")
    signed = codes.view(np.dtype(_TORCH_BITS[dtype.size]))
    tensor = torch.from_numpy(signed.copy())
    kind = getattr(torch, "bool" if dtype.name == "bool_" else dtype.name, None)
    return tensor if kind is None else tensor.view(kind)


def write_back(name: str, value: Any, codes: NDArray[Any], dtype: NkiDtype) -> None:
    """Store codes in the caller's array."""
    if is_torch(value):
        value.copy_(outgoing(codes, dtype, torch_wanted=True).view(value.dtype))
        return
    if not value.flags.writeable:
        raise NkiError(f"argument {name} is read-only, but the kernel writes to it")
    value[...] = (
        codes.view(np.bool_ if value.dtype == np.bool_ else dtype.numpy)
        .reshape(value.shape)
        .astype(value.dtype, copy=False)
    )
