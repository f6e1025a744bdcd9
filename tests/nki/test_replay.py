"""Public reports, one test each, named after where they were made."""

from __future__ import annotations

import inspect
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from tests.nki.helpers import LOWEST, MISS, bf16, f32, row, run, same_bits

from lanewise import nki
from lanewise.formats import E4M3FN, decode
from lanewise.nki import (
    MemoryCapacityError,
    NkiValidationError,
    ThroughFP32,
    compare_indices,
    reference,
)
from lanewise.nki import isa as nisa
from lanewise.nki import language as nl


def _refused(body: Any, **options: Any) -> str:
    with pytest.raises(NkiValidationError) as caught:
        nki.simulate(body, **options)()
    return str(caught.value)


def test_aws_neuron_sdk_1308_integers_above_2_24_in_copies() -> None:
    values = row(np.int32, 16777217, 16777219, 2147483647, -1)
    with pytest.warns(ThroughFP32, match="goes through FP32, exact to 2\\^24; use .view"):
        cast = run(
            lambda src, dst: nisa.tensor_copy(dst=dst, src=src),
            {"src": values},
            {"dst": (values.shape, nl.uint32)},
        )
    same_bits(cast, row(np.uint32, 16777216, 16777220, 2147483648, 0))
    moved = run(
        lambda src, dst: nisa.tensor_copy(dst=dst.view(nl.int32), src=src),
        {"src": values},
        {"dst": (values.shape, nl.uint32)},
    )
    same_bits(moved, values.view(np.uint32))


def test_aws_neuron_sdk_1055_start_partition_not_a_multiple_of_32() -> None:
    text = _refused(
        lambda: nisa.tensor_copy(
            dst=nl.zeros((16, 8), dtype=nl.float32),
            src=nl.zeros((128, 8), dtype=nl.float32, name="x")[16:32],
        )
    )
    assert "tensor_copy src start partition 16 must be 0, 32, 64 or 96" in text
    assert "(test_replay.py:" in text


@pytest.mark.parametrize(("start", "rows"), [(48, 16), (32, 48)])
def test_aws_neuron_sdk_600_copy_from_partition_48_or_48_from_32(start: int, rows: int) -> None:
    text = _refused(
        lambda: nisa.tensor_copy(
            dst=nl.zeros((rows, 8), dtype=nl.float32),
            src=nl.zeros((128, 8), dtype=nl.float32)[start : start + rows],
        )
    )
    assert f"start partition {start} must be 0, 32, 64 or 96 (0 or 64 for more than 32" in text


def test_aws_neuron_sdk_859_copy_to_an_illegal_start_partition() -> None:
    text = _refused(
        lambda: nisa.tensor_copy(
            dst=nl.zeros((128, 8), dtype=nl.float32)[8:16],
            src=nl.zeros((8, 8), dtype=nl.float32),
        )
    )
    assert "tensor_copy dst start partition 8 must be" in text

    def kernel(x: Any) -> Any:
        tile = nl.zeros((128, 8), dtype=nl.float32)
        nisa.dma_copy(dst=tile[8:16], src=x)
        out = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=out, src=tile)
        return out

    data = np.arange(64, dtype=np.float32).reshape(8, 8)
    same_bits(nki.simulate(kernel)(data)[8:16], data)


def test_aws_neuron_sdk_1060_198024_of_196608_bytes() -> None:
    def body() -> None:
        kept = nl.ndarray((128, 49000), dtype=nl.float32, name="kept")
        nl.ndarray((128, 506), dtype=nl.float32, name="more")
        del kept

    with pytest.raises(MemoryCapacityError) as caught:
        nki.simulate(body, target="trn1")()
    assert str(caught.value).startswith(
        "ndarray buffer sbuf 198024 bytes per partition exceeds 196608 (trn1); live: kept 196000"
    )


def test_aws_neuron_sdk_1282_documented_arguments_are_there() -> None:
    for function in (nl.zeros, nl.ones, nl.ndarray, nl.full):
        assert "buffer" in inspect.signature(function).parameters
    with_buffer = []

    def kernel() -> None:
        with_buffer.append(nl.zeros((4, 8), dtype=nl.float32, buffer=nl.psum).buffer)

    nki.simulate(kernel)()
    assert with_buffer == ["psum"]


def test_aws_neuron_sdk_1281_dma_shape_mismatch() -> None:
    text = _refused(
        lambda: nisa.dma_copy(
            dst=nl.zeros((128, 64), dtype=nl.float32), src=nl.zeros((128, 32), dtype=nl.float32)
        )
    )
    assert text.startswith(
        "dma_copy dst shape (128, 64) has 8192 elements, must have 4096 as in src with shape "
        "(128, 32)"
    )


@pytest.mark.parametrize("target", ["trn1", "trn2"])
@pytest.mark.parametrize("buffer", [nl.sbuf, nl.shared_hbm])
def test_aws_neuron_sdk_1393_e4m3fn_before_trn3(target: str, buffer: Any) -> None:
    text = _refused(
        lambda: nl.ndarray((4, 8), dtype=nl.float8_e4m3fn, buffer=buffer), target=target
    )
    assert text.startswith(f"float8_e4m3fn needs trn3; on {target} use float8_e4m3")
    codes = np.arange(256, dtype=np.uint8).reshape(1, 256).view(ml_dtypes.float8_e4m3fn)
    with pytest.raises(NkiValidationError, match="float8_e4m3fn needs trn3"):
        nki.simulate(lambda x: None, target=target)(codes)

    seen = []
    nki.simulate(lambda x: seen.append(x.dtype), target=target, allow_fn_as_e4m3=True)(codes)
    assert seen == [nl.float8_e4m3]


def test_aws_neuron_sdk_1393_every_code_on_trn3() -> None:
    codes = np.arange(256, dtype=np.uint8).reshape(1, 256)

    def body(src: Any, wide: Any, back: Any) -> None:
        nisa.tensor_copy(dst=wide, src=src)
        nisa.tensor_copy(dst=back, src=wide)

    wide, back = run(
        body,
        {"src": codes.view(ml_dtypes.float8_e4m3fn)},
        {"wide": (codes.shape, nl.float32), "back": (codes.shape, nl.float8_e4m3fn)},
    )
    for code in range(256):
        value = decode(E4M3FN, code)
        if value.is_nan:
            assert np.isnan(wide[0, code])
        else:
            assert value.value is not None
            assert float(value.value) == wide[0, code]
    same_bits(back.view(np.uint8), codes)


def test_aws_neuron_sdk_1339_more_than_16384_elements() -> None:
    text = _refused(
        lambda: nisa.max8(
            dst=nl.zeros((1, 8), dtype=nl.float32), src=nl.zeros((1, 16385), dtype=nl.float32)
        )
    )
    assert "max8 src elements per partition 16385 must be in 8..16384" in text
    nki.simulate(
        lambda: nisa.max8(
            dst=nl.zeros((1, 8), dtype=nl.float32), src=nl.zeros((1, 16384), dtype=nl.float32)
        )
    )()


def test_aws_neuron_sdk_997_how_max8_and_find_index8_work_together() -> None:
    data = f32(7, 3, 7, 1, 9, 7, 2, 3, 9, 0)

    def body(data: Any, values: Any, places: Any) -> None:
        nisa.max8(dst=values, src=data)
        nisa.nc_find_index8(dst=places, data=data, vals=values)

    values, places = run(
        body, {"data": data}, {"values": ((1, 8), nl.float32), "places": ((1, 8), nl.uint32)}
    )
    same_bits(values, f32(9, 9, 7, 7, 7, 3, 3, 2))
    same_bits(places, row(np.uint32, 4, 8, 0, 2, 5, 1, 7, 6))


def test_nkipy_52_ids_depend_on_the_shard_size() -> None:
    random = np.random.default_rng(52)
    scores = random.integers(0, 12, (16, 256)).astype(np.float32)

    def topk(data: Any, values: Any, places: Any) -> None:
        nisa.max8(dst=values, src=data)
        nisa.nc_match_replace8(dst=data, data=data, vals=values, imm=-np.inf, dst_idx=places)

    def shard(part: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values, places = run(
            topk,
            {"data": part},
            {"values": ((16, 8), nl.float32), "places": ((16, 8), nl.uint32)},
        )
        return values, places

    whole_values, whole_places = shard(scores)
    halves = [shard(np.ascontiguousarray(scores[:, start : start + 128])) for start in (0, 128)]
    joined = np.concatenate([values for values, _ in halves], axis=1)
    numbers = np.concatenate(
        [places + np.uint32(128 * half) for half, (_, places) in enumerate(halves)], axis=1
    )
    order = np.argsort(-joined, axis=1, kind="stable")[:, :8]
    merged = np.take_along_axis(joined, order, axis=1)
    merged_places = np.take_along_axis(numbers, order, axis=1)
    same_bits(merged, whole_values)
    outcome = compare_indices(merged_places, whole_places, scores)
    assert outcome, str(outcome)
    assert outcome.counts["tie"] > 0
    assert outcome.counts["differs"] == 0


@pytest.mark.parametrize("dtype", [np.float32, bf16])
def test_aws_neuron_sdk_1381_masked_assignment_one_bit_at_a_time(dtype: Any) -> None:
    size = 32
    src = np.arange(size * size).reshape(size, size).astype(dtype)
    predicate = np.eye(size, dtype=np.uint8)
    before = -src
    result = run(
        lambda src, predicate, dst: nisa.tensor_copy_predicated(dst, src, predicate),
        {"src": src, "predicate": predicate},
        {"dst": before},
        target="trn2",
    )
    same_bits(result, np.where(predicate != 0, src, before))


def test_aws_neuron_sdk_1138_strided_and_broadcast_operands() -> None:
    random = np.random.default_rng(1138)
    data = random.integers(0, 50, (4, 64)).astype(np.float32)
    column = random.integers(0, 50, (4, 1)).astype(np.float32)

    def body(data: Any, column: Any, **out: Any) -> None:
        views = {"strided": data[:, ::2], "repeated": column.broadcast(1, 32)}
        for name, view in views.items():
            copied = nl.ndarray((4, 32), dtype=nl.float32)
            nisa.tensor_copy(dst=copied, src=view)
            for kind, source in (("view", view), ("copy", copied)):
                nisa.max8(dst=out[f"{name}_{kind}"], src=source)

    names = [f"{name}_{kind}" for name in ("strided", "repeated") for kind in ("view", "copy")]
    results = run(
        body, {"data": data, "column": column}, dict.fromkeys(names, ((4, 8), nl.float32))
    )
    by_name = dict(zip(names, results, strict=True))
    same_bits(by_name["strided_view"], by_name["strided_copy"])
    same_bits(by_name["repeated_view"], by_name["repeated_copy"])
    same_bits(by_name["strided_view"], reference.max8(data[:, ::2]))
    same_bits(by_name["repeated_view"], np.repeat(column, 8, axis=1))


class TestReleaseNote232:
    """What the vendor's 2.32 notes say the simulator had wrong before."""

    def test_casts_round_to_nearest_even_and_saturate(self) -> None:
        source = f32(0.5, 1.5, 2.5, -0.5, -2.5, 3e9, -3e9, np.nan, np.inf)
        result = run(
            lambda src, dst: nisa.tensor_copy(dst=dst, src=src),
            {"src": source},
            {"dst": (source.shape, nl.int32)},
        )
        top = 2147483647
        same_bits(result, row(np.int32, 0, 2, 2, 0, -2, top, -top - 1, 0, top))

    def test_match_replace_serves_from_the_last_column(self) -> None:
        data, vals = f32(1, 2, 3, 4, 8, 8, 8, 8, 8, 8, 8), f32(3, 8, 8, 8, 8, 8, 8, 8)
        _, places = run(
            lambda data, vals, dst, idx: nisa.nc_match_replace8(dst, data, vals, 0.0, dst_idx=idx),
            {"data": data, "vals": vals},
            {"dst": (data.shape, nl.float32), "idx": ((1, 8), nl.uint32)},
        )
        same_bits(places, row(np.uint32, 2, 10, 9, 8, 7, 6, 5, 4))

    @pytest.mark.parametrize(
        ("data", "vals", "expected"),
        [
            (
                f32(7, 3, 7, 1, 9, 7, 2, 3),
                f32(9, 7, 7, 3, 2, 1, 0, 7),
                (4, 0, 2, 1, 6, 3, MISS, 5),
            ),
            (
                f32(1, 2, 3, 4, 8, 8, 8, 8, 8, 8, 8),
                f32(3, 8, 8, 8, 8, 8, 8, 8),
                (2, 4, 5, 6, 7, 8, 9, 10),
            ),
            (f32(4, 9, 2, 9, 9, 1, 0, 3), f32(*[9] * 8), (1, 3, 4, *[MISS] * 5)),
        ],
    )
    def test_find_index_misses_and_duplicates(self, data: Any, vals: Any, expected: Any) -> None:
        result = run(
            lambda data, vals, dst: nisa.nc_find_index8(dst, data, vals),
            {"data": data, "vals": vals},
            {"dst": ((1, 8), nl.uint32)},
        )
        same_bits(result, row(np.uint32, *expected))

    def test_mixed_ranks(self) -> None:
        data = np.arange(12, dtype=np.float32).reshape(1, 3, 4)
        predicate = row(np.uint8, *[1, 0] * 6)
        copied = run(
            lambda src, predicate, dst: nisa.tensor_copy_predicated(dst, src, predicate),
            {"src": data, "predicate": predicate},
            {"dst": np.zeros((1, 12), np.float32)},
        )
        selected = run(
            lambda src, predicate, dst: nisa.select_reduce(dst, predicate, src, 0.0),
            {"src": data, "predicate": predicate},
            {"dst": ((1, 2, 6), nl.float32)},
        )
        expected = np.where(predicate != 0, data.reshape(1, 12), np.float32(0))
        same_bits(copied, expected)
        same_bits(selected.reshape(1, 12), expected)

    def test_the_fill_may_be_a_float(self) -> None:
        result = run(
            lambda src, dst: nisa.range_select(
                dst, src, nl.less, nl.less, 2, 2, on_false_value=float(np.finfo(np.float32).min)
            ),
            {"src": f32(1, 2, 3, 4)},
            {"dst": ((1, 4), nl.float32)},
        )
        same_bits(result, f32(1, 2, LOWEST, LOWEST))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: nisa.max8(src=x),
        lambda x: nisa.nc_find_index8(data=x, vals=x),
        nisa.tensor_copy,
        lambda x: nisa.nc_match_replace8(data=x, vals=x, imm=0.0),
        lambda x: nisa.tensor_reduce(op=nl.maximum, data=x, axis=1),
        lambda x: nisa.max8(src=x, mask=None, dtype=np.float32),
    ],
)
def test_aws_neuron_sdk_1327_nki_samples_134_a_kernel_for_another_version(call: Any) -> None:
    def kernel() -> None:
        call(nl.zeros((4, 8), dtype=nl.float32))

    with pytest.raises(TypeError, match=r"neuronxcc\.nki"):
        nki.simulate(kernel)()
