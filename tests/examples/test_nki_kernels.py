"""The example kernels against NumPy, on random data with ties, NaN and -inf."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import lanewise.nki
from lanewise.nki import compare_indices, reference

ROOT = Path(__file__).parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

pytestmark = pytest.mark.filterwarnings("default::lanewise.nki.errors.NkiWarning")
MISS = 0xFFFFFFFF


@pytest.fixture(autouse=True)
def _vendor_names() -> Iterator[None]:
    with lanewise.nki.install():
        yield
    for name in list(sys.modules):
        if name.startswith("examples.nki_kernels."):
            del sys.modules[name]


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"examples.nki_kernels.{name}")


def _with_ties(
    rows: int, columns: int, seed: int, *, nan: bool = True, infinite: bool = True
) -> NDArray[np.float32]:
    """Random numbers of few values, some of them NaN and -inf."""
    random = np.random.default_rng(seed)
    data = random.integers(-40, 40, (rows, columns)).astype(np.float32) / 4
    if nan:
        data[random.random(data.shape) < 0.05] = np.nan
    if infinite:
        data[random.random(data.shape) < 0.05] = -np.inf
    return data


def _sorted_places(row: NDArray[Any]) -> NDArray[np.int64]:
    """Positions from the largest value down, earlier first among equals, NaN last."""
    return np.argsort(np.where(np.isnan(row), np.inf, -row), kind="stable")


@pytest.mark.parametrize("k", [8, 10, 16, 23])
@pytest.mark.parametrize("target", ["trn2", "trn3"])
def test_topk(k: int, target: str) -> None:
    kernel = _module("topk").topk
    scores = _with_ties(128, 512, k)
    values, places = lanewise.nki.simulate(kernel, target=target)(scores, k)
    for row in range(128):
        best = _sorted_places(scores[row])[:k]
        assert np.array_equal(values[row], scores[row, best])
        # Equal values may come in either order: a fold serves them from its last column.
        assert len(set(places[row].tolist())) == k
        assert np.array_equal(scores[row, places[row]], values[row])
    expected = np.array([_sorted_places(row)[:k] for row in scores])
    outcome = compare_indices(places, expected, scores)
    assert outcome, str(outcome)
    assert outcome.counts["tie"]


def test_topk_where_fewer_than_k_are_left() -> None:
    kernel = _module("topk").topk
    scores = np.full((2, 16), -np.inf, np.float32)
    scores[0, :3] = [3, 1, 2]
    scores[1, 4:] = np.nan
    values, places = kernel(scores, 8)
    assert values[0].tolist() == [3, 2, 1] + [-np.inf] * 5
    assert places[0, :3].tolist() == [0, 2, 1]
    assert sorted(places[0, 3:].tolist()) == [3, 4, 5, 6, 7]
    assert places[1].tolist() == [MISS] * 4 + [3, 2, 1, 0]


def test_router() -> None:
    kernel = _module("router").route
    logits = _with_ties(256, 40, 7, nan=False, infinite=False)
    affinities, numbers, as_float = kernel(logits, 4)
    expected = np.array([_sorted_places(row)[:4] for row in logits], np.uint32)
    assert np.array_equal(numbers, expected)
    assert np.array_equal(affinities, np.take_along_axis(logits, expected.astype(int), 1))
    assert np.array_equal(as_float, expected.astype(np.float32))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_argmax(dtype: str) -> None:
    import ml_dtypes

    kernel = _module("argmax").argmax
    kind = np.dtype(np.float32) if dtype == "float32" else np.dtype(ml_dtypes.bfloat16)
    scores = _with_ties(64, 600, 3, nan=False).astype(kind)
    scores[:, 5] = -np.inf
    maximum, place, narrow = kernel(scores)
    expected = np.argmax(scores.astype(np.float32), axis=1)
    assert np.array_equal(place[:, 0], expected)
    assert np.array_equal(maximum[:, 0], scores[np.arange(64), expected])
    # A bfloat16 holds no index above 256 exactly: the price of the narrow copy.
    assert np.array_equal(narrow[:, 0], expected.astype(np.float32).astype(kind))


def test_argmax_of_a_row_with_nan_finds_nothing() -> None:
    scores = np.array([[1, np.nan, 3, 0, 0, 0, 0, 0]], np.float32)
    _, place, _ = _module("argmax").argmax(scores)
    assert place.tolist() == [[MISS]]


def test_row_gather() -> None:
    kernel = _module("row_gather").rows_of
    random = np.random.default_rng(5)
    owners = random.integers(0, 3, 64).astype(np.int32)
    table = random.standard_normal((64, 6)).astype(np.float32)
    table[0, 0] = np.nan
    rows, places = kernel(owners, table)
    for partition in range(4):
        owned = np.flatnonzero(owners == partition)[:8]
        assert places[partition].tolist() == owned.tolist() + [MISS] * (8 - len(owned))
        wanted = table[owned[0]] if len(owned) else np.zeros(6, np.float32)
        assert np.array_equal(rows[partition], wanted, equal_nan=True)


def test_nonzero_indices() -> None:
    module = _module("nonzero_indices")
    flags = _with_ties(8, 96, 11)
    flags[np.random.default_rng(1).random(flags.shape) < 0.7] = 0
    flags[2, 3] = -0.0
    found = module.nonzero(flags)
    for core in range(8):
        places = np.flatnonzero(flags[core])
        assert found[core, -1] == len(places)
        assert found[core, : len(places)].tolist() == places.tolist()
        assert (found[core, len(places) : -1] == -1).all()

    row = flags[0].astype(np.float32)
    chunked, counts = module.nonzero_in_chunks(row, 24)
    joined = [place for chunk in chunked.tolist() for place in chunk if place >= 0]
    assert joined == np.flatnonzero(row).tolist()
    assert counts.sum() == len(joined)


def test_masked_attention() -> None:
    kernel = _module("masked_attention").attend
    random = np.random.default_rng(2)
    q, k, v = (random.standard_normal(s).astype(np.float32) for s in ((16, 8), (32, 8), (32, 4)))
    first = random.integers(100, 110, (16, 1)).astype(np.float32)
    last = first + random.integers(0, 20, (16, 1)).astype(np.float32)
    out, masked = kernel(q, k, v, first, last, 100)
    place = 100 + np.arange(32)
    allowed = (place >= first) & (place <= last)
    scores = np.zeros((16, 32), np.float32)
    for depth in range(8):
        scores += q[:, depth, None] * k[None, :, depth]
    lowest = np.finfo(np.float32).min
    assert np.array_equal(masked, np.where(allowed, scores, lowest))
    weights = np.exp(np.where(allowed, scores, -np.inf).astype(np.float64))
    weights /= weights.sum(axis=1, keepdims=True)
    assert np.abs(out - weights @ v).max() < 1e-5


def test_decode_attention() -> None:
    kernel = _module("decode_attention").mask_scores
    random = np.random.default_rng(4)
    q = random.integers(-3, 4, (8, 16)).astype(np.float32)
    k = random.integers(-3, 4, (64, 16)).astype(np.float32)
    mask = (random.random((8, 64)) < 0.4).astype(np.uint8)
    mask[3] = 0
    out, largest = kernel(q, k, mask)
    expected = np.where(mask, q @ k.T, -np.inf).astype(np.float32)
    assert np.array_equal(out[:, :, :32].reshape(8, 64), expected)
    assert (out[:, :, 32] == -np.inf).all()
    assert np.array_equal(largest[:, 0], expected.max(axis=1))


@pytest.mark.parametrize("descending", [False, True])
def test_argsort(descending: bool) -> None:
    kernel = _module("argsort").argsort
    row = _with_ties(1, 64, 9, nan=False, infinite=False)
    order = kernel(row, descending)[0]
    assert sorted(order.tolist()) == list(range(64))
    values = row[0, order]
    assert np.array_equal(values, np.sort(row[0])[:: -1 if descending else 1])


def test_beta1_topk() -> None:
    kernel = _module("beta1_topk").topk_beta1
    scores = _with_ties(130, 64, 13, nan=False, infinite=False)
    simulation = lanewise.nki.simulate(kernel)
    values, places = simulation(scores, 16)
    assert np.array_equal(values, -np.sort(-scores, axis=1)[:, :16])
    assert np.array_equal(np.take_along_axis(scores, places.astype(int), 1), values)
    twin = reference.max8(scores[:128])
    assert np.array_equal(values[:128, :8], twin)
    # Results go straight to where they are assigned: no copy of the found columns.
    assert "COPY" not in simulation.report.words or simulation.report.words["COPY"] == 2
