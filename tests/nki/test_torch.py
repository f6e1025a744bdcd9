"""torch tensors in and out: with torch where it is installed, and with a stand-in everywhere."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.nki.helpers import bf16, same_bits

from lanewise import nki
from lanewise.nki import NkiError, compare
from lanewise.nki import isa as nisa
from lanewise.nki import language as nl

DATA = np.arange(12, dtype=np.float32).reshape(3, 4) - 5


_NAMES = (
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "bfloat16",
)


class Tensor:
    """As much of torch.Tensor as arrays need to cross."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    @property
    def dtype(self) -> Any:
        return sys.modules["torch"].named(self.array.dtype)  # type: ignore[attr-defined]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    def detach(self) -> Tensor:
        return self

    cpu = detach

    def contiguous(self) -> Tensor:
        return Tensor(np.ascontiguousarray(self.array))

    def view(self, kind: Any) -> Tensor:
        return Tensor(self.array.view(kind.numpy))

    def copy_(self, other: Tensor) -> None:
        self.array[...] = other.array

    def numpy(self) -> np.ndarray:
        if self.array.dtype == bf16:
            raise TypeError("torch knows no NumPy type for bfloat16")
        return self.array


class Kind:
    """A dtype of the stand-in."""

    def __init__(self, name: str, numpy: Any) -> None:
        self.name, self.numpy = name, np.dtype(numpy)

    def __str__(self) -> str:
        return f"torch.{self.name}"


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module named torch."""
    module = ModuleType("torch")
    numpys = {"bool": np.bool_, "bfloat16": bf16}
    kinds = {name: Kind(name, numpys.get(name, name)) for name in _NAMES}
    module.__dict__.update(kinds, Tensor=Tensor, from_numpy=Tensor)
    module.named = lambda dtype: next(  # type: ignore[attr-defined]
        kind for kind in kinds.values() if kind.numpy == dtype
    )
    monkeypatch.setattr(Tensor, "__module__", "torch")
    monkeypatch.setitem(sys.modules, "torch", module)
    return module


def doubled(x: Any, also: Any = None) -> Any:
    """Twice x; x itself becomes 0 where ``also`` is given."""
    tile = nl.load(x)
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, tile + tile)
    if also is not None:
        nisa.memset(x, 0)
    return out


@pytest.mark.parametrize("dtype", [np.float32, np.float16, bf16, np.int32, np.uint8, np.int8])
def test_a_stand_in_s_tensors_come_back(torch: ModuleType, dtype: Any) -> None:
    array = np.abs(DATA).astype(dtype)
    result = nki.simulate(doubled)(Tensor(array))
    assert isinstance(result, Tensor)
    same_bits(result.array, array + array)


def test_a_stand_in_s_tensor_is_written_in_place(torch: ModuleType) -> None:
    tensor = Tensor(DATA.copy())
    nki.simulate(doubled)(tensor, True)
    assert (tensor.array == 0).all()


def test_truth_arrives_as_uint8(torch: ModuleType) -> None:
    def kernel(x: Any) -> Any:
        assert x.dtype == nl.uint8
        return doubled(x)

    same_bits(nki.simulate(kernel)(Tensor(DATA > 0)).array, 2 * (DATA > 0).astype(np.uint8))


def test_types_that_kernels_do_not_have(torch: ModuleType) -> None:
    with pytest.raises(NkiError, match=r"argument x: .*int64"):
        nki.simulate(doubled)(Tensor(DATA.astype(np.int64)))


def test_comparison_takes_them(torch: ModuleType) -> None:
    assert compare(Tensor(DATA), DATA)
    assert not compare(Tensor(DATA), DATA + 1)


def test_numpy_alone_imports_no_torch() -> None:
    assert isinstance(nki.simulate(doubled)(DATA), np.ndarray)


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16", "int32", "uint8"])
def test_torch_itself(name: str) -> None:
    import torch

    tensor = torch.arange(12).reshape(3, 4).to(getattr(torch, name))
    result = nki.simulate(doubled)(tensor)
    assert result.dtype == tensor.dtype
    assert torch.equal(result, tensor + tensor)
