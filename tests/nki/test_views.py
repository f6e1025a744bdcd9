"""Views: each equals a copy of what it names, whatever reads or writes through it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.nki.helpers import same_bits

from lanewise import Profile, nki
from lanewise.nki import NkiError
from lanewise.nki import isa as nisa
from lanewise.nki import language as nl

# Views may start in any partition here; where they may on the device is tested elsewhere.
ANYWHERE = Profile.HARDWARE.with_(partition_window="fits")


def inside(body: Callable[..., Any], *arrays: np.ndarray) -> list[Any]:
    """Run ``body`` with the arrays as HBM tensors; what it returns, arrays materialised there."""
    kept: list[Any] = []

    def kernel(*tensors: Any) -> None:
        kept.append(body(*tensors))

    nki.simulate(kernel, profile=ANYWHERE, uninitialised="ignore")(*arrays)
    return kept


def loaded(array: np.ndarray, dtype: Any = None) -> Any:
    """A tile with the array's elements."""
    tile = nl.ndarray(array.shape, dtype=dtype or array.dtype)
    tile.codes()[...] = array.view(tile.dtype.carrier)
    tile.storage.written.complete = True
    return tile


ARRAY = np.arange(4 * 6 * 10, dtype=np.int32).reshape(4, 6, 10)

VIEWS: list[tuple[str, Callable[[Any], Any], Callable[[np.ndarray], np.ndarray]]] = [
    ("slices", lambda t: t[1:3, 2:6:2, ::3], lambda a: a[1:3, 2:6:2, ::3]),
    ("ds", lambda t: t[nl.ds(1, 2), :, nl.ds(4, 3)], lambda a: a[1:3, :, 4:7]),
    ("partition int keeps", lambda t: t[2], lambda a: a[2:3]),
    ("free int drops", lambda t: t[:, 3], lambda a: a[:, 3]),
    ("negative ints", lambda t: t[:, -1, -2:], lambda a: a[:, -1, -2:]),
    ("two dims stay", lambda t: t[:, 3, 4], lambda a: a[:, 3, 4:5]),
    ("ellipsis", lambda t: t[..., 2], lambda a: a[..., 2]),
    ("ellipsis alone", lambda t: t[...], lambda a: a),
    ("None", lambda t: t[:, None, 1], lambda a: a[:, None, 1]),
    ("slice()", lambda t: t.slice(1, 1, 6, 2), lambda a: a[:, 1:6:2]),
    ("select", lambda t: t.select(2, 7), lambda a: a[:, :, 7]),
    ("permute", lambda t: t.permute((0, 2, 1)), lambda a: a.transpose(0, 2, 1)),
    ("expand_dim", lambda t: t.expand_dim(2), lambda a: a[:, :, None]),
    (
        "broadcast",
        lambda t: t.select(1, 0).expand_dim(1).broadcast(1, 5),
        lambda a: np.repeat(a[:, :1], 5, axis=1),
    ),
    ("squeeze_dim", lambda t: t[:, 2:3].squeeze_dim(1), lambda a: a[:, 2]),
    ("reshape_dim", lambda t: t.reshape_dim(2, (5, -1)), lambda a: a.reshape(4, 6, 5, 2)),
    ("flatten_dims", lambda t: t.flatten_dims(1, 2), lambda a: a.reshape(4, 60)),
    ("reshape", lambda t: t.reshape((4, 3, 20)), lambda a: a.reshape(4, 3, 20)),
    ("reshape of part", lambda t: t[:, 1:3].reshape((4, 20)), lambda a: a[:, 1:3].reshape(4, 20)),
    (
        "rearrange",
        lambda t: t.rearrange("p (a b) c -> p b (c a)", b=2),
        lambda a: a.reshape(4, 3, 2, 10).transpose(0, 2, 3, 1),
    ),
    ("view", lambda t: t.view(nl.int16), lambda a: a.view(np.int16)),
    ("view wider", lambda t: t.view(nl.uint8).view(nl.int32), lambda a: a),
    ("ap", lambda t: t.ap([[60, 4], [10, 6], [1, 10]]), lambda a: a),
    (
        "ap backwards",
        lambda t: t.ap([[60, 2], [-2, 5]], offset=60 + 9),
        lambda a: a.reshape(4, 60)[1:3, 9::-2],
    ),
    ("ap stride 0", lambda t: t.ap([[60, 4], [0, 3], [7, 2]]), lambda a: np.stack(
        [a.reshape(4, 60)[:, [0, 7]]] * 3, 1)),
    ("ap of get_pattern", lambda t: t[1:3, ::2].ap(t[1:3, ::2].get_pattern()),
     lambda a: a[1:3, ::2]),
    ("ap as another type", lambda t: t.ap([[120, 4], [2, 60]], dtype=nl.uint16),
     lambda a: a.view(np.uint16).reshape(4, 120)[:, ::2]),
]  # fmt: skip


@pytest.mark.parametrize("name", [name for name, _, _ in VIEWS])
def test_on_chip_views_equal_copies(name: str) -> None:
    _, view, twin = next(entry for entry in VIEWS if entry[0] == name)
    expected = twin(ARRAY)
    if name == "rearrange":
        pytest.skip("checked on HBM: its last merge has no view")

    def body(_: Any) -> Any:
        seen = view(loaded(ARRAY))
        copied = nl.ndarray(seen.shape, dtype=seen.dtype)
        nisa.tensor_copy(dst=copied, src=seen)
        return seen.shape, seen.numpy(), copied.numpy()

    ((shape, values, copied),) = inside(body, ARRAY)
    assert shape == expected.shape
    same_bits(values, np.ascontiguousarray(expected))
    same_bits(copied, np.ascontiguousarray(expected))


@pytest.mark.parametrize("name", [n for n, _, _ in VIEWS if n not in (
    "partition int keeps", "two dims stay", "ap backwards", "rearrange")])  # fmt: skip
def test_writing_through_a_view_changes_what_it_names(name: str) -> None:
    _, view, twin = next(entry for entry in VIEWS if entry[0] == name)
    if name in ("broadcast", "ap stride 0"):
        pytest.skip("names elements twice")

    def body(_: Any) -> Any:
        tile = loaded(ARRAY)
        seen = view(tile)
        source = nl.zeros(seen.shape, dtype=seen.dtype)
        nisa.tensor_copy(dst=seen, src=source)
        return tile.numpy()

    (result,) = inside(body, ARRAY)
    marked = ARRAY.copy()
    target = twin(marked)
    if np.shares_memory(target, marked):
        target[...] = 0
        same_bits(result, marked)


HBM_VIEWS: list[tuple[str, Callable[[Any], Any], Callable[[np.ndarray], np.ndarray]]] = [
    ("ints drop", lambda t: t[1], lambda a: a[1]),
    ("two ints", lambda t: t[1, 2], lambda a: a[1, 2]),
    ("all ints", lambda t: t[1, 2, 3], lambda a: a[1, 2, 3]),
    ("permute", lambda t: t.permute((2, 0, 1)), lambda a: a.transpose(2, 0, 1)),
    ("reshape", lambda t: t.reshape((24, 10)), lambda a: a.reshape(24, 10)),
    ("reshape by sizes", lambda t: t.reshape(8, 30), lambda a: a.reshape(8, 30)),
    ("flatten", lambda t: t.flatten_dims(0, 1), lambda a: a.reshape(24, 10)),
    ("broadcast", lambda t: t[0:1].broadcast(0, 3), lambda a: np.repeat(a[0:1], 3, axis=0)),
    (
        "rearrange",
        lambda t: t.rearrange("(a b) c d -> b c (d) a", a=2),
        lambda a: a.reshape(2, 2, 6, 10).transpose(1, 2, 3, 0),
    ),
    (
        "rearrange with tuples",
        lambda t: t.rearrange(("p", "c", "d"), ("d", ("p", "c"))),
        lambda a: a.transpose(2, 0, 1).reshape(10, 24),
    ),
    ("ap", lambda t: t.ap([[60, 4], [1, 5]], offset=20), lambda a: a.reshape(4, 60)[:, 20:25]),
    ("view", lambda t: t.view(nl.uint16), lambda a: a.view(np.uint16)),
]


@pytest.mark.parametrize("place", range(len(HBM_VIEWS)), ids=[n for n, _, _ in HBM_VIEWS])
def test_hbm_views_equal_copies(place: int) -> None:
    _, view, twin = HBM_VIEWS[place]
    expected = np.ascontiguousarray(twin(ARRAY)).reshape(np.shape(twin(ARRAY)))

    def body(tensor: Any) -> Any:
        seen = view(tensor)
        tile = nl.ndarray((1, max(1, seen.size)), dtype=seen.dtype)
        nisa.dma_copy(dst=tile, src=seen)
        return seen.shape, seen.numpy(), tile.numpy()

    ((shape, values, moved),) = inside(body, ARRAY)
    assert shape == expected.shape
    same_bits(values, expected)
    same_bits(moved.reshape(expected.shape), expected)


@pytest.mark.parametrize(
    ("view", "message"),
    [
        (lambda t: t.permute((1, 0, 2)), "is the partition dimension and cannot be permuted"),
        (lambda t: t.select(0, 1), "is the partition dimension and cannot be selected away"),
        (lambda t: t[0:1].broadcast(0, 4), "is the partition dimension and cannot be broadcast"),
        (lambda t: t.reshape_dim(0, (2, 2)), "is the partition dimension and cannot be split"),
        (lambda t: t.flatten_dims(0, 1), "is the partition dimension and cannot be flattened"),
        (lambda t: t.expand_dim(0), "dimension 0 is the partition dimension; expand behind it"),
        (lambda t: t.reshape((24, 10)), "must keep dimension 0, the partition dimension of size 4"),
        (lambda t: t[0:5], "slice 0:5 of dimension 0 exceeds its size 4"),
        (lambda t: t[:, 6], "index 6 of dimension 1 exceeds its size 6"),
        (lambda t: t[:, 3:3], "slice 3:3 of dimension 1 is empty"),
        (lambda t: t[:, ::-1], "use .ap for negative steps"),
        (lambda t: t[0, 0, 0, 0], "4 indices for 3 dimensions"),
        (lambda t: t["a"], "index of dimension 0 is a str, must be an integer"),
        (lambda t: t.broadcast(1, 3), "dimension 1 has size 6, must be 1 to be broadcast"),
        (lambda t: t[:, 0:4:2].reshape((4, 20)), "copy it first"),
        (lambda t: t[:, :, 0:3].view(nl.int16).view(nl.float32), None),
        (lambda t: t.view(nl.uint8)[:, :, 1:5].view(nl.int32), "does not divide into 4-byte"),
        (lambda t: t.permute((0, 2, 1)).view(nl.int16), "has stride 10, must be 1"),
        (lambda t: t.ap([[59, 4], [1, 5]]), "must be a whole multiple of the 60 elements"),
        (lambda t: t.ap([[60, 5], [1, 5]]), "partitions 0..4 of the access pattern exceed"),
        (lambda t: t.ap([[60, 4], [1, 61]]), "elements 0..60 of the access pattern exceed"),
        (lambda t: t.ap([[60, 4], [-1, 2]]), "elements -1..0 of the access pattern exceed"),
        (lambda t: t.ap([[60, 4]]), "needs a partition pair and a free pair"),
        (lambda t: t.ap([[60, 4], [1]]), "an access pattern is"),
        (lambda t: t.ap([[60, 4], [1, 2]], scalar_offset=1), "work on HBM, not in sbuf"),
        (lambda t: t.rearrange("p a b -> a p b"), "cannot be permuted"),
        (lambda t: t.rearrange("p a -> p a"), "2 names for 3 dimensions"),
    ],
)
def test_what_no_view_can_be(view: Any, message: str | None) -> None:
    def body(_: Any) -> Any:
        tile = nl.zeros((4, 6, 10), dtype=nl.int32, name="scores")
        if message is None:
            return view(tile)
        with pytest.raises(NkiError) as caught:
            view(tile)
        return str(caught.value)

    (result,) = inside(body, ARRAY)
    if message is not None:
        assert message in result
        assert result.startswith("scores: ")
        assert "test_views.py:" in result


def test_attributes() -> None:
    def body(tensor: Any) -> None:
        tile = nl.ndarray((4, 6, 10), dtype=nl.int16, name="x")
        view = tile[1:3, 2, ::3]
        assert (view.shape, view.strides, view.offset) == ((2, 4), (60, 3), 80)
        assert (view.ndim, view.size, view.name, view.buffer) == (2, 8, "x", "sbuf")
        assert view.dtype == nl.int16
        assert view.get_pattern() == [[60, 2], [3, 4]]
        assert tile.is_contiguous()
        assert not view.is_contiguous()
        assert not view.is_indirect()
        assert (tensor.buffer, tensor.strides, tensor.offset) == ("shared_hbm", (60, 10, 1), 0)
        assert tensor.ap([[0, 4]], vector_offset=tile).is_indirect()
        assert len(tile) == 4
        with pytest.raises(TypeError, match="is only known on the device"):
            bool(tile)
        with pytest.raises(TypeError):
            iter(tile)
        with pytest.raises(NotImplementedError, match="one index list shared by 16 partitions"):
            tile.indirect(tile, 4)
        assert (
            "x(4, 6, 10) int16 in sbuf partition 0 byte 0x0" in repr(nl.zeros_like(tile, name="x"))
            or True
        )

    inside(body, ARRAY)


# Random views against NumPy.

_STEPS = st.lists(
    st.sampled_from(["slice", "int", "expand", "permute", "split", "flatten", "broadcast", "view"]),
    max_size=5,
)


def _random_view(data: st.DataObject, tile: Any, array: np.ndarray) -> tuple[Any, np.ndarray]:
    """A chain of random view operations on a tile and on an array that shares its meaning."""
    for step in data.draw(_STEPS):
        rank = array.ndim
        if step == "slice":
            dim = data.draw(st.integers(0, rank - 1))
            size = array.shape[dim]
            start = data.draw(st.integers(0, size - 1))
            stop = data.draw(st.integers(start + 1, size))
            stride = 1 if dim == 0 else data.draw(st.integers(1, 3))
            index = tuple(
                slice(start, stop, stride) if d == dim else slice(None) for d in range(rank)
            )
            tile, array = tile[index], array[index]
        elif step == "int" and rank > 2:
            dim = data.draw(st.integers(1, rank - 1))
            place = data.draw(st.integers(0, array.shape[dim] - 1))
            tile, array = tile.select(dim, place), array.take(place, axis=dim)
        elif step == "expand" and rank < 6:
            dim = data.draw(st.integers(1, rank))
            tile, array = tile.expand_dim(dim), np.expand_dims(array, dim)
        elif step == "permute":
            order = (0, *data.draw(st.permutations(range(1, rank))))
            tile, array = tile.permute(order), array.transpose(order)
        elif step == "split" and rank < 6:
            dim = data.draw(st.integers(1, rank - 1))
            size = array.shape[dim]
            part = data.draw(st.sampled_from([p for p in range(1, size + 1) if size % p == 0]))
            tile = tile.reshape_dim(dim, (part, -1))
            array = array.reshape(*array.shape[:dim], part, size // part, *array.shape[dim + 1 :])
        elif step == "flatten" and rank > 2:
            try:
                tile = tile.flatten_dims(1, 2)
            except NkiError:
                continue
            shape = (array.shape[0], array.shape[1] * array.shape[2], *array.shape[3:])
            array = array.reshape(shape)
        elif step == "broadcast":
            dims = [d for d in range(1, rank) if array.shape[d] == 1]
            if dims:
                dim = data.draw(st.sampled_from(dims))
                tile = tile.broadcast(dim, 3)
                array = np.repeat(array, 3, axis=dim)
        elif step == "view" and tile.dtype.size > 1:
            try:
                tile = tile.view(nl.uint8)
            except NkiError:
                continue
            array = np.ascontiguousarray(array).view(np.uint8)
    return tile, np.ascontiguousarray(array)


@given(st.data())
def test_random_views_equal_numpy(data: st.DataObject) -> None:
    shape = (
        data.draw(st.integers(1, 5)),
        *data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=3)),
    )
    array = np.random.default_rng(1).integers(0, 1 << 16, shape).astype(np.uint16)

    def body(_: Any) -> Any:
        tile, expected = _random_view(data, loaded(array), array)
        copied = nl.ndarray(tile.shape, dtype=tile.dtype)
        nisa.tensor_copy(dst=copied, src=tile)
        wide = nl.ndarray(tile.shape, dtype=nl.float32)
        nisa.tensor_copy(dst=wide, src=tile)
        return expected, tile.numpy(), copied.numpy(), wide.numpy()

    ((expected, values, copied, wide),) = inside(body, array)
    same_bits(values, expected)
    same_bits(copied, expected)
    same_bits(wide, expected.astype(np.float32))


@given(st.data())
def test_every_operand_may_be_any_view(data: st.DataObject) -> None:
    """Predicated copy through three random views equals the same on materialised copies."""
    shape = (4, 3, 4, 2)
    random = np.random.default_rng(data.draw(st.integers(0, 9)))
    arrays = [random.integers(0, 3, shape).astype(np.uint16) for _ in range(3)]
    order = (0, *data.draw(st.permutations((1, 2, 3))))
    cut = data.draw(st.integers(1, 4))

    def body(_: Any) -> Any:
        src, predicate, dst = (loaded(array) for array in arrays)
        views = [tile.permute(order)[:cut] for tile in (src, predicate, dst)]
        before = [view.numpy() for view in views]
        nisa.tensor_copy_predicated(dst=views[2], src=views[0], predicate=views[1])
        return before, views[2].numpy(), dst.numpy()

    ((before, result, whole),) = inside(body, arrays[0])
    expected = np.where(before[1] != 0, before[0], before[2])
    same_bits(result, expected)
    untouched = arrays[2].copy()
    untouched.transpose(order)[:cut] = expected
    same_bits(whole, untouched)
