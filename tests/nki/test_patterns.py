"""The call patterns of public kernels, each with numbers small enough to check by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.nki.helpers import LOWEST as M
from tests.nki.helpers import MISS, bf16, f32, row, run, same_bits

from lanewise import nki
from lanewise.nki import isa as nisa
from lanewise.nki import language as nl

INF = np.inf


def test_1_topk_by_folds() -> None:
    data = f32(3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3)

    def body(data: Any, values: Any, indices: Any, after: Any) -> None:
        nisa.max8(dst=values[0:1, nl.ds(0, 8)], src=data[:, :16])
        nisa.nc_match_replace8(
            dst=data, dst_idx=indices[0:1, nl.ds(0, 8)], data=data, vals=values[0:1, nl.ds(0, 8)],
            imm=float("-inf"),
        )  # fmt: skip
        nisa.tensor_copy(dst=after, src=data)
        last = nl.ndarray((1, 8), dtype=nl.float32)
        where = nl.ndarray((1, 8), dtype=nl.uint32)
        nisa.max8(dst=last, src=data)
        nisa.nc_find_index8(dst=where, data=data, vals=last)
        nisa.tensor_copy(dst=values[:, 8:], src=last, engine=nisa.scalar_engine)
        nisa.tensor_copy(dst=indices[:, 8:], src=where, engine=nisa.scalar_engine)

    values, indices, after = run(
        body,
        {"data": data},
        {
            "values": ((1, 16), nl.float32),
            "indices": ((1, 16), nl.uint32),
            "after": ((1, 16), nl.float32),
        },
    )
    same_bits(values, f32(9, 9, 9, 8, 7, 6, 5, 5, 5, 4, 3, 3, 3, 2, 1, 1))
    same_bits(indices, row(np.uint32, 14, 12, 5, 11, 13, 7, 8, 4, 10, 2, 0, 9, 15, 6, 1, 3))
    n = -INF
    same_bits(after, f32(3, 1, 4, 1, n, n, 2, n, n, 3, 5, n, n, n, n, 3))


def test_2_router() -> None:
    logits = f32(0.1, 0.9, 0.3, 0.9, -1, 0.5, 0.3, 0.2, 0.0, 0.7).reshape(1, 1, 10)

    def body(x: Any, values: Any, indices: Any, numbers: Any, kept: Any) -> None:
        nisa.max8(dst=values[:1, :], src=x[:1, 0, :])
        nisa.nc_find_index8(dst=indices[:1, :], data=x[:1, 0, :], vals=values)
        nisa.tensor_copy(dst=kept, src=indices[:, :4])
        nisa.tensor_copy(dst=numbers, src=indices[:, :4])

    values, indices, numbers, kept = run(
        body,
        {"x": logits},
        {
            "values": ((1, 8), nl.float32),
            "indices": ((1, 8), nl.uint32),
            "numbers": ((1, 4), nl.float32),
            "kept": ((1, 4), nl.uint32),
        },
    )
    same_bits(values, f32(0.9, 0.9, 0.7, 0.5, 0.3, 0.3, 0.2, 0.1))
    same_bits(indices, row(np.uint32, 1, 3, 9, 5, 2, 6, 7, 0))
    same_bits(kept, row(np.uint32, 1, 3, 9, 5))
    same_bits(numbers, f32(1, 3, 9, 5))


def test_3_argmax_by_a_broadcast_key() -> None:
    def body(values: Any, value: Any, dst: Any, first: Any) -> None:
        nisa.tensor_reduce(dst=value, op=nl.maximum, data=values, axis=1)
        nisa.nc_find_index8(data=values, vals=value.ap([[1, 1], [0, 8]]), dst=dst)
        nisa.tensor_copy(dst=first, src=dst[:, 0:1])

    value, dst, first = run(
        body,
        {"values": f32(4, 9, 2, 9, 9, 1, 0, 3)},
        {
            "value": ((1, 1), nl.float32),
            "dst": ((1, 8), nl.uint32),
            "first": ((1, 1), nl.bfloat16),
        },
    )
    same_bits(value, f32(9))
    same_bits(dst, row(np.uint32, 1, 3, 4, *[MISS] * 5))
    same_bits(first, row(bf16, 1))


def test_4_row_numbers_by_owner() -> None:
    data = np.tile(row(np.int32, 2, 0, 1, 2, 1, 0, 2, 1), (3, 1))

    def body(data: Any, dst: Any) -> None:
        keys = nl.ndarray((3, 8), dtype=nl.uint32)
        nisa.iota(dst=keys, pattern=[[0, 8]], channel_multiplier=1)
        nisa.nc_find_index8(dst=dst, data=data, vals=keys)

    result = run(body, {"data": data}, {"dst": ((3, 8), nl.uint32)})
    expected = np.full((3, 8), MISS, np.uint32)
    expected[0, :2] = [1, 5]
    expected[1, :3] = [2, 4, 7]
    expected[2, :3] = [0, 3, 6]
    same_bits(result, expected)


def test_5_nonzero_indices() -> None:
    source = np.zeros((128, 1, 8), np.float32)
    source[0, 0] = [0, 0, 5, 0, 0, 1, 1, 0]
    source[1] = 9
    before = np.full((128, 1, 9), 3, np.int32)
    result = run(
        lambda src, dst: nisa.nonzero_with_count(src=src, dst=dst, index_offset=8, padding_val=-1),
        {"src": source},
        {"dst": before},
    )
    assert result[0, 0].tolist() == [10, 13, 14, -1, -1, -1, -1, -1, 3]
    assert result[16, 0].tolist() == [-1] * 8 + [0]
    assert (result[1] == 3).all()


def test_6_attention_mask() -> None:
    def body(scores: Any, low: Any, high: Any, dst: Any, narrow: Any, largest: Any) -> None:
        for target, operations in ((dst, {"reduce_res": largest[:1, 1]}), (narrow, {})):
            nisa.range_select(
                target,
                on_true_tile=scores[:1, :8],
                on_false_value=float(np.finfo(np.float32).min),
                comp_op0=nl.greater_equal,
                comp_op1=nl.less_equal,
                bound0=low[:1, :1],
                bound1=high[:1, :1],
                reduce_op=nl.maximum,
                reduce_cmd=nisa.reduce_cmd.reset_reduce,
                range_start=512,
                **operations,
            )

    dst, narrow, largest = run(
        body,
        {"scores": f32(*range(1, 9)), "low": f32(0), "high": f32(514)},
        {
            "dst": ((1, 8), nl.float32),
            "narrow": ((1, 8), nl.bfloat16),
            "largest": np.zeros((1, 4), np.float32),
        },
        psum=("scores",),
    )
    same_bits(dst, f32(1, 2, 3, M, M, M, M, M))
    same_bits(narrow, row(bf16, 1, 2, 3, *[-INF] * 5))
    same_bits(largest, f32(0, 3, 0, 0))


def test_7_predicated_copy_of_strided_views() -> None:
    before = f32(*range(100, 108))

    def body(src: Any, predicate: Any, dst: Any) -> None:
        view = dst.reshape((1, 2, 4))[:, :, :3]
        nisa.memset(dst=view, value=-INF)
        nisa.tensor_copy_predicated(src=src, dst=view, predicate=predicate)

    result = run(
        body,
        {
            "src": f32(1, 2, 3, 4, 5, 6).reshape(1, 2, 3),
            "predicate": row(np.uint8, 1, 0, 1, 0, 0, 1).reshape(1, 2, 3),
        },
        {"dst": before},
        psum=("src",),
    )
    same_bits(result, f32(1, -INF, 3, 103, -INF, -INF, 6, 107))


def _argsort(values: list[float]) -> tuple[list[int], list[int]]:
    """The stored order of four or eight values, padded with -inf, and the last part of it."""
    padded = f32(*values, *[-INF] * (-len(values) % 8))

    def body(data: Any, idx: Any) -> None:
        best = nl.ndarray((1, 8), dtype=nl.float32)
        nisa.max8(dst=best, src=data)
        nisa.nc_match_replace8(
            dst=data, data=data, vals=best, imm=-INF, dst_idx=idx.ap([[8, 1], [-1, 8]], offset=7)
        )

    stored = run(body, {"data": padded}, {"idx": ((1, 8), nl.uint32)})[0].tolist()
    return stored, stored[8 - len(values) :]


def test_8_argsort() -> None:
    assert _argsort([5, 2, 5, 3]) == ([4, 5, 6, 7, 1, 3, 0, 2], [1, 3, 0, 2])
    assert _argsort([4, 1, 3, 2, 8, 6, 7, 5])[0] == [1, 3, 2, 0, 7, 5, 6, 4]


def test_phi_selects_twice() -> None:
    def body(x: Any, out: Any) -> None:
        positive = nl.ndarray(x.shape, dtype=nl.uint8)
        nisa.tensor_scalar(dst=positive, data=x, op0=nl.greater, operand0=0.0)
        grown = nl.ndarray(x.shape, dtype=nl.float32)
        nisa.tensor_scalar(dst=grown, data=x, op0=nl.add, operand0=1.0)
        falling = nl.ndarray(x.shape, dtype=nl.float32)
        nisa.activation(dst=falling, op=nl.exp, data=x)
        parts = [nl.ndarray(x.shape, dtype=nl.float32) for _ in range(2)]
        nisa.select_reduce(parts[0], positive, grown, 0.0)
        nisa.select_reduce(parts[1], positive, falling, 0.0, reverse_pred=True)
        nisa.tensor_tensor(dst=out, data1=parts[0], data2=parts[1], op=nl.add)

    x = f32(-1, 0, 2)
    result = run(body, {"x": x}, {"out": (x.shape, nl.float32)})
    same_bits(result, np.array([[np.exp(np.float32(-1)), 1, 3]], np.float32))


def test_combined_slots_stay_exact_below_2_24() -> None:
    packed = row(np.float32, *((7 << 16) + place for place in range(12)))

    def body(packed: Any, out: Any) -> None:
        best = nl.ndarray((1, 8), dtype=nl.float32)
        nisa.max8(dst=best, src=packed)
        whole = nl.ndarray((1, 8), dtype=nl.int32)
        nisa.tensor_copy(dst=whole, src=best)
        nisa.tensor_scalar(dst=out, data=whole, op0=nl.bitwise_and, operand0=0xFFFF)

    result = run(body, {"packed": packed}, {"out": ((1, 8), nl.int32)})
    same_bits(result, row(np.int32, *range(11, 3, -1)))


def test_a_radix_pass_pads_with_an_index_outside() -> None:
    flags = row(np.int32, 0, 1, 0, 1)
    table = np.arange(8, dtype=np.float32).reshape(4, 2)

    def kernel(flags: Any, table: Any) -> Any:
        src = nl.ndarray((1, 4), dtype=nl.int32)
        nisa.dma_copy(dst=src, src=flags)
        found = nl.ndarray((1, 5), dtype=nl.int32)
        nisa.nonzero_with_count(dst=found, src=src, padding_val=99)
        column = nl.ndarray((4, 1), dtype=nl.int32)
        nisa.dma_copy(dst=column, src=found[:, :4])
        rows = nl.zeros((4, 2), dtype=nl.float32)
        nisa.dma_copy(
            dst=rows,
            src=table.ap([[2, 4], [1, 2]], vector_offset=column),
            oob_mode=nisa.oob_mode.skip,
        )
        out = nl.ndarray((4, 2), dtype=nl.float32, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=out, src=rows)
        return out

    result = nki.simulate(kernel)(flags, table)
    same_bits(result, np.array([[2, 3], [6, 7], [0, 0], [0, 0]], np.float32))
