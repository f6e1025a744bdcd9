"""nl: allocation, loops, operators as functions, movement, the program, classes, dtypes."""

from __future__ import annotations

import dataclasses
import importlib
import pickle
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from tests.nki.helpers import bf16, f32, same_bits

from lanewise import nki
from lanewise.nki import KernelError, typing
from lanewise.nki import isa as nisa
from lanewise.nki import language as nl

DATA = np.random.default_rng(5).normal(size=(8, 12)).astype(np.float32)
OTHER = np.random.default_rng(6).normal(size=(8, 12)).astype(np.float32)


def seen(body: Any, *arrays: Any, **options: Any) -> Any:
    """What ``body`` makes of tiles with the arrays' values, as an array."""

    def kernel(*tensors: Any) -> Any:
        tile = body(*(nl.load(tensor) for tensor in tensors))
        out = nl.ndarray(tile.shape, dtype=tile.dtype, buffer=nl.shared_hbm)
        nl.store(out, tile)
        return out

    return nki.simulate(kernel, **options)(*arrays)


# Allocation.


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: nl.zeros((2, 3), dtype=nl.float32), np.zeros((2, 3), np.float32)),
        (lambda: nl.ones((2, 3), dtype=nl.bfloat16), np.ones((2, 3), bf16)),
        (lambda: nl.full((2, 3), 7, dtype=nl.int32), np.full((2, 3), 7, np.int32)),
        (lambda: nl.full((2, 3), -np.inf, dtype=nl.float16), np.full((2, 3), -np.inf, np.float16)),
        (
            lambda: nl.zeros_like(nl.ones((2, 3), dtype=nl.uint8)),
            np.zeros((2, 3), np.uint8),
        ),
    ],
)
def test_filled(make: Any, expected: Any) -> None:
    same_bits(seen(make), expected)


def test_empty_like_and_rand() -> None:
    def kernel() -> Any:
        tile = nl.ndarray((4, 8), dtype=nl.bfloat16)
        other = nl.empty_like(tile)
        assert (other.shape, other.dtype, other.buffer) == ((4, 8), nl.bfloat16, "sbuf")
        random = nl.rand((4, 100), dtype=nl.float32)
        assert 0 <= float(random.numpy().min()) < float(random.numpy().max()) < 1
        return np.asarray(random.numpy())

    assert np.array_equal(nki.simulate(kernel)(), nki.simulate(kernel)())


def test_shared_constants() -> None:
    def kernel() -> Any:
        return nl.load(nl.shared_identity_matrix(4, dtype=nl.bfloat16))

    same_bits(seen(kernel), np.eye(4).astype(bf16))
    same_bits(seen(lambda: nl.load(nl.shared_constant(DATA))), DATA)


# Loops.


def test_loops_are_python_s() -> None:
    assert list(nl.affine_range(3)) == [0, 1, 2]
    assert list(nl.static_range(1, 7, 2)) == [1, 3, 5]
    assert list(nl.sequential_range(2)) == [0, 1]
    assert list(nl.dynamic_range(2)) == [0, 1]


def test_dynamic_loops() -> None:
    assert nl.fori_loop(0, 4, lambda i, total: total + i, 10) == 16
    assert nl.while_loop(lambda x: x < 100, lambda x: x * 3, 1) == 243


# Operators as functions.


@pytest.mark.parametrize(
    ("function", "twin"),
    [
        (nl.add, np.add),
        (nl.subtract, np.subtract),
        (nl.multiply, np.multiply),
        (nl.maximum, np.maximum),
        (nl.minimum, np.minimum),
        (lambda x, y: x + y, np.add),
        (lambda x, y: x - y, np.subtract),
        (lambda x, y: x * y, np.multiply),
        (lambda x, y: x + 1.0, lambda x, y: x + np.float32(1)),
        (lambda x, y: 2.0 - x, lambda x, y: np.float32(2) - x),
        (lambda x, y: nl.subtract(1.0, y), lambda x, y: np.float32(1) - y),
        (lambda x, y: nl.negative(x), lambda x, y: -x),
        (lambda x, y: nl.abs(x), lambda x, y: np.abs(x)),
        (lambda x, y: nl.square(x), lambda x, y: np.square(x)),
        (lambda x, y: nl.exp(x), lambda x, y: np.exp(x)),
        (lambda x, y: nl.max(x, axis=1), lambda x, y: x.max(axis=1, keepdims=True)),
        (lambda x, y: nl.min(x, axis=1), lambda x, y: x.min(axis=1, keepdims=True)),
        (lambda x, y: nl.where(nl.greater(x, y), x, y), np.maximum),
        (lambda x, y: nl.where(nl.less(x, 0.0), 0.0, x), lambda x, y: np.where(x < 0, 0, x)),
        (lambda x, y: nl.transpose(x), lambda x, y: x.T),
        (lambda x, y: nl.copy(x), lambda x, y: x),
    ],
)
def test_operators_as_functions(function: Any, twin: Any) -> None:
    same_bits(seen(function, DATA, OTHER), np.asarray(twin(DATA, OTHER), np.float32))


@pytest.mark.parametrize(
    ("function", "twin"),
    [
        (nl.equal, np.equal),
        (nl.not_equal, np.not_equal),
        (nl.less, np.less),
        (nl.less_equal, np.less_equal),
        (nl.greater, np.greater),
        (nl.greater_equal, np.greater_equal),
    ],
)
def test_comparisons_give_uint8(function: Any, twin: Any) -> None:
    x, y = np.round(DATA), np.round(OTHER)
    same_bits(seen(function, x, y), twin(x, y).astype(np.uint8))


def test_operators_need_tiles() -> None:
    with pytest.raises(TypeError, match="add needs a tile, not float"):
        nki.simulate(lambda: nl.add(1.0, 2.0))()
    with pytest.raises(TypeError, match="exp takes 1 operands, not 2"):
        nki.simulate(lambda: nl.exp(nl.zeros((1, 1), "float32"), 1))()


def test_operators_pickle_and_compare() -> None:
    assert pickle.loads(pickle.dumps(nl.add)) is nl.add
    assert repr(nl.add) == "nl.add"
    assert nl.add != nl.subtract
    assert {nl.add: 1}[nl.add] == 1


# Movement.


def test_load_and_store_convert() -> None:
    def kernel(x: Any) -> Any:
        tile = nl.load(x, dtype=nl.bfloat16)
        out = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.shared_hbm)
        nl.store(out, tile)
        return out

    same_bits(nki.simulate(kernel)(DATA), DATA.astype(bf16).astype(np.float32))


def test_copy_is_a_modelled_call() -> None:
    def kernel(x: Any) -> Any:
        out = nl.ndarray(x.shape, dtype=nl.bfloat16, buffer=nl.shared_hbm)
        nl.store(out, nl.copy(nl.load(x), dtype=nl.bfloat16))
        return out

    sim = nki.simulate(kernel)
    same_bits(sim(DATA), DATA.astype(bf16))
    assert sim.report.words == {"CAST": 1}


def test_store_of_a_part() -> None:
    def kernel(x: Any) -> Any:
        out = nl.zeros((8, 12), dtype=nl.float32, buffer=nl.shared_hbm)
        nl.store(out[2:4, ::2], nl.load(x[0:2, 0:6]))
        return out

    expected = np.zeros_like(DATA)
    expected[2:4, ::2] = DATA[0:2, 0:6]
    same_bits(nki.simulate(kernel)(DATA), expected)


def test_assignment_to_a_part_of_a_tile() -> None:
    def body(x: Any) -> Any:
        tile = nl.zeros((8, 12), dtype=nl.float32)
        tile[:, 3:5] = x[:, 0:2]
        tile[0:1, 11:12] = 4.0
        return tile

    expected = np.zeros_like(DATA)
    expected[:, 3:5], expected[0, 11] = DATA[:, 0:2], 4
    same_bits(seen(body, DATA), expected)
    with pytest.raises(TypeError, match="a tile can be assigned a tile or a number, not str"):
        nki.simulate(lambda: nl.zeros((1, 8), "float32").__setitem__(..., "x"))()


def test_broadcasts_and_dimensions() -> None:
    def body(x: Any) -> Any:
        wide = nl.broadcast_to(x[:, 0:1], (8, 5))
        assert nl.expand_dims(x, 1).shape == (8, 1, 12)
        return nl.copy(wide)

    same_bits(seen(body, DATA), np.repeat(DATA[:, 0:1], 5, axis=1))


# The program.


def test_the_program_s_place() -> None:
    def kernel() -> Any:
        return nl.program_id(0), nl.num_programs(0), nl.program_ndim()

    assert nki.simulate(kernel)() == (0, 1, 0)
    assert nki.simulate(nki.jit(kernel)[2])() == (0, 2, 1)
    with pytest.raises(KernelError, match=r"program_id axis 1 must be in 0\.\.0 for grid \(1,\)"):
        nki.simulate(lambda: nl.program_id(1))()


# Classes and types.


def test_value_types_of_kernels() -> None:
    class Plain(nl.NKIObject):
        pass

    assert Plain(rows=3).rows == 3  # type: ignore[attr-defined]

    @dataclasses.dataclass(frozen=True)
    class Frozen(nl.NKIObject):
        rows: int
        dtype: nl.DType

    assert Frozen(2, nl.float32).dtype == nl.float32

    def kernel(x: typing.tensor[8, 12], config: Any) -> Any:  # type: ignore[valid-type]
        tile: nl.NkiTensor = nl.load(x)
        assert isinstance(tile, nl.NkiTensor)
        return config.rows

    assert nki.simulate(kernel)(DATA, Frozen(2, nl.float32)) == 2


def test_dtypes_are_names_and_numpy_s() -> None:
    assert nl.float32 == "float32" == str(nl.float32)
    assert nl.float32 == np.dtype(np.float32)
    assert nl.float32 == np.float32
    assert nl.bfloat16 == ml_dtypes.bfloat16
    assert nl.float32 != nl.bfloat16
    assert {nl.float32: "x"}[nl.float32] == "x"
    assert isinstance(nl.float32, nki.dtype)


def test_tiles_print_what_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    def kernel(x: Any) -> None:
        tile = nl.load(x)
        print(tile)
        nl.device_print("here", tile)

    nki.simulate(kernel)(f32(1, 2, 3))
    shown = capsys.readouterr().out
    for part in ("(1, 3)", "float32", "sbuf", "[[1. 2. 3.]]", "here [[1. 2. 3.]]"):
        assert part in shown


# Kernels with branches that never run.


def test_unused_branches_load() -> None:
    gelu, dropout = nl.gelu_apprx_tanh, nisa.dropout

    def kernel(x: Any, fancy: bool = False) -> Any:
        if fancy:
            gelu(x)
            nisa.some_function_of_the_future(x)
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        nl.store(out, nl.load(x))
        return out

    same_bits(nki.simulate(kernel)(DATA), DATA)
    with pytest.raises(
        NotImplementedError,
        match=r"^nki\.language\.gelu_apprx_tanh is not offered by lanewise.*; offered: .*zeros",
    ):
        nki.simulate(kernel)(DATA, True)
    with pytest.raises(
        NotImplementedError,
        match=r"^nki\.isa\.dropout is not offered by lanewise; offered: activation, .*_tensor$",
    ):
        dropout(1)
    assert repr(dropout) == "<nki.isa.dropout, not offered by lanewise>"


def test_names_of_the_older_interface_say_where_they_are() -> None:
    with pytest.raises(AttributeError, match=r"no arange: .* import neuronxcc\.nki"):
        nl.arange  # noqa: B018
    with nki.install(), pytest.raises(AttributeError, match="the older interface"):
        importlib.import_module("nki.language").mgrid  # noqa: B018


def test_parts_of_what_is_not_offered_load_too() -> None:
    part = nl.some_enumeration.member
    assert repr(part) == "<nki.language.some_enumeration.member, not offered by lanewise>"
    with pytest.raises(NotImplementedError, match=r"some_enumeration\.member is not"):
        part()
    assert not hasattr(part, "__len__")


def test_tiles_are_no_arrays() -> None:
    def kernel(x: Any) -> Any:
        return np.asarray(nl.load(x))

    with pytest.raises(TypeError, match=r"not a NumPy array; \.numpy\(\) shows its values"):
        nki.simulate(kernel)(DATA)
    with pytest.raises(TypeError, match="the truth of sbuf_1 is only known on the device"):
        nki.simulate(lambda x: bool(nl.load(x)))(DATA)


def test_loop_bounds_are_numbers_or_single_elements() -> None:
    def kernel(x: Any) -> int:
        return len(list(nl.dynamic_range(nl.load(x)[:, 0:1])))

    assert nki.simulate(kernel)(np.array([[3, 4]], np.int32)) == 3
    with pytest.raises(TypeError, match=r"a loop bound is a number or a tile of one element, not"):
        nki.simulate(lambda x: nl.affine_range(nl.load(x)))(DATA)
