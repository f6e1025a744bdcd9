"""The neighbours: results against NumPy in FP32, casts by the model, steps that say so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from tests.nki.helpers import bf16, f32, row, run, same_bits, simulation

from lanewise import nki
from lanewise.nki import KernelError, NkiValidationError, isa
from lanewise.nki import isa as nisa
from lanewise.nki import language as nl

RANDOM = np.random.default_rng(17)
DATA = RANDOM.normal(size=(16, 24)).astype(np.float32)
OTHER = RANDOM.normal(size=(16, 24)).astype(np.float32)
COLUMN = RANDOM.normal(size=(16, 1)).astype(np.float32)
ONE = np.float32(1)


def _calls() -> dict[str, tuple[Callable[..., Any], dict[str, np.ndarray], Any, Any]]:
    """Name: the call, its inputs, the output (or shape and dtype), what NumPy says."""
    plain = (DATA.shape, nl.float32)
    return {
        "memset": (lambda dst: nisa.memset(dst, 2.5), {}, plain, np.full_like(DATA, 2.5)),
        "memset casts": (
            lambda dst: nisa.memset(dst, value=300.0),
            {},
            ((4, 4), nl.uint8),
            np.full((4, 4), 255, np.uint8),
        ),
        "iota": (
            lambda dst: nisa.iota(dst, [[10, 3], [1, 8]], offset=5, channel_multiplier=100),
            {},
            ((16, 24), nl.int32),
            (5 + 100 * np.arange(16)[:, None, None] + 10 * np.arange(3)[:, None] + np.arange(8))
            .reshape(16, 24)
            .astype(np.int32),
        ),
        "iota to bf16": (
            lambda dst: nisa.iota(dst, [[1, 4]], offset=255),
            {},
            ((1, 4), nl.bfloat16),
            row(bf16, 255, 256, 256, 258),
        ),
        "affine_select": (
            lambda x, dst: nisa.affine_select(
                dst, [[-1, 24]], 1, x, -9984.0, cmp_op=nl.greater_equal
            ),
            {"x": DATA},
            plain,
            np.where(np.arange(16)[:, None] >= np.arange(24), DATA, np.float32(-9984)),
        ),
        "tensor_scalar": (
            lambda x, c, dst: nisa.tensor_scalar(
                dst, x, nl.subtract, c, False, nl.multiply, 0.5, engine=nisa.engine.gpsimd
            ),
            {"x": DATA, "c": COLUMN},
            plain,
            (DATA - COLUMN) * np.float32(0.5),
        ),
        "tensor_scalar reversed": (
            lambda x, dst: nisa.tensor_scalar(dst, x, op0=nl.subtract, operand0=1.0, reverse0=True),
            {"x": DATA},
            plain,
            ONE - DATA,
        ),
        "tensor_scalar compares to uint8": (
            lambda x, dst: nisa.tensor_scalar(dst, x, nl.greater, 0.0),
            {"x": DATA},
            (DATA.shape, nl.uint8),
            (DATA > 0).astype(np.uint8),
        ),
        "tensor_scalar on bits": (
            lambda x, dst: nisa.tensor_scalar(
                dst, x, nl.right_shift, 4, op1=nl.bitwise_and, operand1=15
            ),
            {"x": DATA.view(np.uint32)},
            (DATA.shape, nl.uint32),
            (DATA.view(np.uint32) >> 4) & 15,
        ),
        "tensor_tensor": (
            lambda x, y, dst: nisa.tensor_tensor(dst, x, y, nl.multiply),
            {"x": DATA, "y": OTHER},
            plain,
            DATA * OTHER,
        ),
        "tensor_tensor to bf16": (
            lambda x, y, dst: nisa.tensor_tensor(dst, x, y, np.add),
            {"x": DATA, "y": OTHER},
            (DATA.shape, nl.bfloat16),
            (DATA + OTHER).astype(bf16),
        ),
        "tensor_tensor wraps int32": (
            lambda x, y, dst: nisa.tensor_tensor(dst, x, y, nl.add),
            {"x": row(np.int32, 2147483647, 16777217), "y": row(np.int32, 1, 2)},
            ((1, 2), nl.int32),
            row(np.int32, -2147483648, 16777219),
        ),
        "tensor_tensor on the vector engine rounds int32": (
            lambda x, y, dst: nisa.tensor_tensor(dst, x, y, nl.add, engine=nisa.engine.vector),
            {"x": row(np.int32, 16777216), "y": row(np.int32, 1)},
            ((1, 1), nl.int32),
            row(np.int32, 16777216),
        ),
        "tensor_tensor on bits": (
            lambda x, y, dst: nisa.tensor_tensor(dst, x, y, nl.bitwise_xor),
            {"x": row(np.uint16, 0xF0F0, 3), "y": row(np.uint16, 0x0FF0, 1)},
            ((1, 2), nl.uint16),
            row(np.uint16, 0xFF00, 2),
        ),
        "scalar_tensor_tensor": (
            lambda x, y, dst: nisa.scalar_tensor_tensor(
                dst=dst, data=x, op0=nl.multiply, operand0=3.0, op1=nl.add, operand1=y
            ),
            {"x": DATA, "y": OTHER},
            plain,
            DATA * np.float32(3) + OTHER,
        ),
        "activation": (
            lambda x, c, dst: nisa.activation(dst, nl.square, x, bias=c, scale=2.0),
            {"x": DATA, "c": COLUMN},
            plain,
            np.square(DATA * np.float32(2) + COLUMN),
        ),
        "reciprocal": (
            lambda x, dst: nisa.reciprocal(dst, x),
            {"x": DATA},
            plain,
            ONE / DATA,
        ),
        "tensor_reduce": (
            lambda x, dst: nisa.tensor_reduce(dst, nl.maximum, x, axis=1),
            {"x": DATA},
            ((16, 1), nl.float32),
            DATA.max(axis=1, keepdims=True),
        ),
        "tensor_reduce negated": (
            lambda x, dst: nisa.tensor_reduce(dst, np.amin, x, axis=(1,), negate=True),
            {"x": DATA},
            ((16, 1), nl.float32),
            -DATA.min(axis=1, keepdims=True),
        ),
        "tensor_reduce inner": (
            lambda x, dst: nisa.tensor_reduce(dst, nl.max, x.reshape((16, 4, 6)), axis=2),
            {"x": DATA},
            ((16, 4), nl.float32),
            DATA.reshape(16, 4, 6).max(axis=2),
        ),
        "nc_matmul": (
            lambda x, y, dst: nisa.tensor_copy(dst, _product(x, y)),
            {"x": np.round(DATA * 8), "y": np.round(OTHER * 8)},
            ((24, 24), nl.float32),
            np.round(DATA * 8).T @ np.round(OTHER * 8),
        ),
        "nc_transpose": (
            lambda x, dst: nisa.nc_transpose(dst, x, engine=nisa.engine.vector),
            {"x": DATA},
            ((24, 16), nl.float32),
            DATA.T,
        ),
        "nc_n_gather": (
            lambda x, i, dst: nisa.nc_n_gather(dst, x, i),
            {"x": f32(10, 11, 12, 13), "i": row(np.uint32, 3, 3, 0)},
            ((1, 3), nl.float32),
            f32(13, 13, 10),
        ),
        "nc_stream_shuffle": (
            lambda x, dst: nisa.nc_stream_shuffle(src=x, dst=dst, shuffle_mask=_MASK),
            {"x": np.arange(32, dtype=np.float32).reshape(32, 1)},
            np.full((32, 1), -1, np.float32),
            np.array([[31.0 - p] if p % 2 else [-1.0] for p in range(32)], np.float32),
        ),
    }


_MASK = [31 - p if p % 2 else 255 for p in range(32)]


def _product(x: Any, y: Any) -> Any:
    total = nl.ndarray((24, 24), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=total, stationary=x, moving=y)
    return total


CALLS = _calls()


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("profile", ["hardware", "isa"])
def test_results(name: str, profile: str) -> None:
    body, inputs, output, expected = CALLS[name]
    same_bits(run(body, inputs, {"dst": output}, profile=profile), expected)


@pytest.mark.parametrize("name", CALLS)
def test_steps_say_that_they_are_outside(name: str) -> None:
    body, inputs, output, _ = CALLS[name]
    sim, _ = simulation(body, inputs, {"dst": output})
    function = name.split(maxsplit=1)[0]
    steps = [step for step in sim.steps if step.function == function]
    assert len(steps) == 1
    assert steps[0].outside
    assert not steps[0].words
    assert steps[0].note == "outside the modelled set: NumPy semantics, FP32 inside"
    assert sim.report.outside[function] == 1
    assert function not in sim.report.calls


def test_every_neighbour_is_tried_here() -> None:
    tried = {name.split()[0] for name in CALLS}
    elsewhere = {"dma_compute", "dma_copy", "dma_transpose", "tensor_scalar_reduce"}
    assert tried | elsewhere == set(isa.OUTSIDE)


@pytest.mark.parametrize(
    ("op", "twin"),
    [
        (nl.exp, np.exp),
        (nl.relu, lambda x: np.maximum(x, np.float32(0))),
        (nl.square, np.square),
        (nl.copy, lambda x: x),
        (nl.identity, lambda x: x),
        (nl.tanh, np.tanh),
        (nl.sigmoid, lambda x: ONE / (ONE + np.exp(-x))),
        (np.exp, np.exp),
    ],
)
def test_activations(op: Any, twin: Any) -> None:
    found = run(
        lambda x, dst: nisa.activation(dst=dst, op=op, data=x), {"x": DATA}, {"dst": DATA * 0}
    )
    same_bits(found, twin(DATA))


@pytest.mark.parametrize(
    ("op", "twin"), [(nl.sqrt, np.sqrt), (nl.rsqrt, lambda x: ONE / np.sqrt(x)), (nl.log, np.log)]
)
def test_activations_of_positive_numbers(op: Any, twin: Any) -> None:
    found = run(lambda x, dst: nisa.activation(dst, op, x), {"x": np.abs(DATA)}, {"dst": DATA * 0})
    same_bits(found, twin(np.abs(DATA)))


def test_an_activation_may_sum_on_the_way() -> None:
    whole = np.round(DATA * 4)
    result, sums = run(
        lambda x, dst, sums: nisa.activation(
            dst,
            nl.copy,
            x,
            reduce_op=nl.add,
            reduce_res=sums,
            reduce_cmd=nisa.reduce_cmd.reset_reduce,
        ),
        {"x": whole},
        {"dst": DATA * 0, "sums": ((16, 1), nl.float32)},
    )
    same_bits(result, whole)
    same_bits(sums, whole.sum(axis=1, keepdims=True))


def test_tensor_scalar_reduce() -> None:
    whole = np.round(DATA * 4)
    result, sums = run(
        lambda x, dst, sums: nisa.tensor_scalar_reduce(
            dst=dst, data=x, op0=nl.add, operand0=1.0, reduce_op=nl.add, reduce_res=sums
        ),
        {"x": whole},
        {"dst": DATA * 0, "sums": ((16, 1), nl.float32)},
    )
    same_bits(result, whole + 1)
    same_bits(sums, (whole + 1).sum(axis=1, keepdims=True))


def test_matmul_adds_to_what_psum_holds() -> None:
    def body(x: Any, y: Any, dst: Any) -> None:
        total = nl.ndarray((24, 24), dtype=nl.float32, buffer=nl.psum)
        for _ in range(3):
            nisa.nc_matmul(total, x, y)
        nisa.tensor_copy(dst, total)

    x, y = np.round(DATA * 8), np.round(OTHER * 8)
    same_bits(run(body, {"x": x, "y": y}, {"dst": ((24, 24), nl.float32)}), 3 * (x.T @ y))


def test_dma_copies_change_type_and_shape() -> None:
    def kernel(x: Any) -> Any:
        tile = nl.ndarray((4, 2, 12), dtype=nl.bfloat16)
        nisa.dma_copy(dst=tile, src=x.reshape((4, 24)))
        out = nl.ndarray((8, 12), dtype=nl.float32, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=out, src=tile)
        return out

    data = DATA[:4]
    same_bits(nki.simulate(kernel)(data), data.astype(bf16).astype(np.float32).reshape(8, 12))


def test_dma_copies_between_equal_types_move_bits() -> None:
    bits = np.array([[0x7FA00001, 0x80000000, 0xFFFFFFFF, 1]], np.uint32).view(np.float32)
    same_bits(
        run(lambda x, dst: nisa.dma_copy(dst, x), {"x": bits}, {"dst": (bits.shape, nl.float32)}),
        bits,
    )


def test_dma_gathers_rows() -> None:
    def kernel(table: Any, index: Any) -> Any:
        rows = nl.ndarray((3, 1), dtype=nl.int32)
        nisa.dma_copy(dst=rows, src=index)
        tile = nl.ndarray((3, 24), dtype=nl.float32)
        nisa.dma_copy(
            dst=tile,
            src=table.ap([[24, 3], [1, 24]], vector_offset=rows, indirect_dim=0),
        )
        out = nl.ndarray((3, 24), dtype=nl.float32, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=out, src=tile)
        return out

    same_bits(nki.simulate(kernel)(DATA, np.array([[5], [0], [15]], np.int32)), DATA[[5, 0, 15]])


def test_dma_transpose_and_compute() -> None:
    def kernel(x: Any, y: Any) -> Any:
        turned = nl.ndarray((24, 16), dtype=nl.float32)
        nisa.dma_transpose(dst=turned, src=x)
        out = nl.ndarray((24, 16), dtype=nl.float32, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=out, src=turned)
        total = nl.ndarray((16, 24), dtype=nl.float32, buffer=nl.shared_hbm)
        nisa.dma_compute(dst=total, srcs=[x, y], scales=[1.0, 1.0], reduce_op=nl.add)
        return out, total

    turned, total = nki.simulate(kernel)(DATA, OTHER)
    same_bits(turned, DATA.T)
    same_bits(total, DATA + OTHER)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            lambda t: nisa.tensor_tensor(t(4, 8), t(4, 8), t(4, 9), nl.add),
            "tensor_tensor data2 elements per partition 9 must be 8 as in data1",
        ),
        (
            lambda t: nisa.tensor_tensor(
                t(4, 8), t(4, 8, buffer=nl.psum), t(4, 8, buffer=nl.psum), nl.add
            ),
            "tensor_tensor data1 and data2 are both in psum, one of them must be in sbuf",
        ),
        (
            lambda t: nisa.tensor_tensor(t(4, 8), t(4, 8), t(4, 8), nl.exp),
            "tensor_tensor op exp must take two operands",
        ),
        (
            lambda t: nisa.tensor_tensor(t(4, 8), t(4, 8), t(4, 8), nl.bitwise_and),
            "tensor_tensor data1 dtype float32 must be an integer type as wide as dst",
        ),
        (
            lambda t: nisa.tensor_reduce(t(4, 2), nl.add, t(4, 8), axis=1),
            "tensor_reduce dst has 4 partitions of 2 elements, must have 4 of 1",
        ),
        (
            lambda t: nisa.tensor_reduce(t(4, 1), nl.add, t(4, 8), axis=0),
            "tensor_reduce axis 0 must be the last free dimensions of shape (4, 8)",
        ),
        (
            lambda t: nisa.iota(t(4, 8), [[1, 7]]),
            "iota pattern has 7 elements, must have 8 as dst has per partition",
        ),
        (
            lambda t: nisa.memset(t(4, 8), "zero"),
            "memset value is a str, must be a number",
        ),
        (
            lambda t: nisa.dma_copy(t(4, 8), t(4, 8, buffer=nl.psum)),
            "dma_copy src buffer psum must be sbuf or hbm; use tensor_copy",
        ),
        (
            lambda t: nisa.activation(t(4, 8), nl.add, t(4, 8)),
            "activation op add must be an activation function",
        ),
        (
            lambda t: nisa.reciprocal(t(4, 8), t(4, 8, buffer=nl.shared_hbm)),
            "reciprocal data buffer shared_hbm must be sbuf or psum; use dma_copy",
        ),
    ],
)
def test_refusals(body: Callable[..., Any], message: str) -> None:
    def tile(rows: int, columns: int, **options: Any) -> Any:
        return nl.zeros((rows, columns), dtype=nl.float32, **options)

    with pytest.raises(NkiValidationError) as caught:
        nki.simulate(lambda: body(tile))()
    assert str(caught.value).startswith(message)
    assert caught.value.operands or caught.value.operand == "op"
    assert "(test_outside.py:" in str(caught.value)


def test_narrow_floats_go_through_the_model_s_conversions() -> None:
    data = np.array([[1.0, 300.0, -500.0, 0.0625]], np.float32).astype(ml_dtypes.bfloat16)
    found = run(
        lambda x, dst: nisa.tensor_scalar(dst, x, nl.multiply, 1.0),
        {"x": data},
        {"dst": ((1, 4), nl.float8_e5m2)},
    )
    same_bits(found, data.astype(np.float32).astype(ml_dtypes.float8_e5m2))


def test_outside_a_kernel() -> None:
    with pytest.raises(KernelError, match="memset works inside a kernel only"):
        nisa.memset(None, 0)
