"""range_select and nonzero_with_count."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.nki.helpers import LOWEST as M
from tests.nki.helpers import f32, row, run, same_bits

from lanewise.nki import AccumulatorWarning, NkiValidationError
from lanewise.nki import isa as nisa
from lanewise.nki import language as nl

VALUES = f32(1, 2, 3, 4, 5, 6, 7, 8)
PROFILES = pytest.mark.parametrize("profile", ["hardware", "isa"])


def _select(
    low: Any = 34.0,
    high: Any = 37.0,
    *,
    dst: Any = nl.float32,
    values: np.ndarray = VALUES,
    options: dict[str, Any] | None = None,
    **arguments: Any,
) -> Any:
    arguments.setdefault("comp_op0", nl.greater_equal)
    arguments.setdefault("comp_op1", nl.less)
    arguments.setdefault("range_start", 32)

    def body(on_true_tile: Any, low: Any, high: Any, dst: Any, reduce_res: Any) -> None:
        nisa.range_select(
            dst,
            on_true_tile,
            bound0=low,
            bound1=high,
            reduce_res=reduce_res,
            **arguments,
        )

    return run(
        body,
        {"on_true_tile": values, "low": f32(low), "high": f32(high)},
        {"dst": (values.shape, dst), "reduce_res": ((1, 1), nl.float32)},
        **(options or {}),
    )


@PROFILES
def test_a_range(profile: str) -> None:
    dst, reduced = _select(options={"profile": profile})
    same_bits(dst, f32(M, M, 3, 4, 5, M, M, M))
    same_bits(reduced, f32(5))


@pytest.mark.parametrize("dtype", [nl.bfloat16, nl.float16])
def test_narrow_results_have_infinities(dtype: Any) -> None:
    dst, reduced = _select(dst=dtype)
    inf = -np.inf
    assert np.array_equal(dst.astype(np.float32), f32(inf, inf, 3, 4, 5, inf, inf, inf))
    same_bits(reduced, f32(5))


def test_nothing_selected() -> None:
    dst, reduced = _select(low=100.0)
    same_bits(dst, f32(*[M] * 8))
    same_bits(reduced, f32(M))


def test_python_numbers_as_bounds() -> None:
    def body(on_true_tile: Any, dst: Any) -> None:
        nisa.range_select(dst, on_true_tile, nl.greater, nl.less_equal, 1, 3.0)

    result = run(body, {"on_true_tile": VALUES}, {"dst": (VALUES.shape, nl.float32)})
    same_bits(result, f32(M, M, 3, 4, M, M, M, M))


def test_bounds_without_their_unit_dimension() -> None:
    def body(on_true_tile: Any, bounds: Any, dst: Any) -> None:
        nisa.range_select(dst, on_true_tile, nl.greater_equal, nl.less, bounds[:, 0], bounds[:, 1])

    result = run(
        body, {"on_true_tile": VALUES, "bounds": f32(2, 4)}, {"dst": (VALUES.shape, nl.float32)}
    )
    same_bits(result, f32(M, M, 3, 4, M, M, M, M))


def test_three_calls_make_one_maximum() -> None:
    def body(a: Any, b: Any, c: Any, dst: Any, reduce_res: Any) -> None:
        command = nisa.reduce_cmd
        common = {"comp_op0": nl.greater_equal, "comp_op1": nl.less, "bound0": 2, "bound1": 5}
        nisa.range_select(dst, a, **common)
        nisa.range_select(dst, b, **common, reduce_cmd=command.reduce)
        nisa.range_select(dst, c, **common, reduce_cmd=command.reduce, reduce_res=reduce_res)

    _, reduced = run(
        body,
        {"a": VALUES, "b": VALUES * 10, "c": -VALUES},
        {"dst": (VALUES.shape, nl.float32), "reduce_res": ((1, 1), nl.float32)},
    )
    same_bits(reduced, f32(50))


@pytest.mark.parametrize(
    "value", [None, float(np.finfo(np.float32).min), -3.4028235e38, np.finfo(np.float32).min]
)
def test_the_only_fill(value: Any) -> None:
    dst, _ = _select(on_false_value=value)
    same_bits(dst, f32(M, M, 3, 4, 5, M, M, M))


@pytest.mark.parametrize(
    ("arguments", "rule", "text"),
    [
        ({"on_false_value": 0.0}, "fill-value", "the device has only this fill"),
        ({"comp_op0": nl.not_equal}, "comparison-0", "comp_op0 not_equal must be equal, less"),
        ({"range_start": -1}, "index-range", "range_start -1 must be at least 0"),
        ({"range_start": (1 << 24) - 7}, "index-range", "at most 2^24"),
        ({"reduce_op": nl.minimum}, "reduce-op", "reduce_op minimum must be maximum"),
        ({"dst": nl.int32}, "out-dtype", "dst dtype int32 must be float16"),
        ({"values": row(np.int32, *range(8))}, "in-dtype", "on_true_tile dtype int32 must be"),
        (
            {"options": {"target": "trn1"}},
            "opcode",
            "range_select needs NeuronCore-v3 (trn2) or newer, target is trn1 [rule opcode]",
        ),
    ],
)
def test_refused(arguments: dict[str, Any], rule: str, text: str) -> None:
    with pytest.raises(NkiValidationError) as caught:
        _select(**arguments)
    assert caught.value.rule == rule
    assert text in str(caught.value)


def test_the_largest_index() -> None:
    start = (1 << 24) - 8
    dst, _ = _select(low=start, high=start + 1, range_start=start)
    same_bits(dst, f32(1, *[M] * 7))


def test_reduce_after_idle_is_warned_about() -> None:
    def body(a: Any, dst: Any) -> None:
        for command in (nisa.reduce_cmd.idle, nisa.reduce_cmd.reduce):
            nisa.range_select(dst, a, nl.equal, nl.equal, 0, 0, reduce_cmd=command)

    with pytest.warns(AccumulatorWarning, match="RANGE_SELECT continues the accumulator of lane 0"):
        run(body, {"a": VALUES}, {"dst": (VALUES.shape, nl.float32)})


# nonzero_with_count


def _nonzero(
    source: np.ndarray, before: np.ndarray, profile: str = "hardware", **arguments: Any
) -> np.ndarray:
    result: np.ndarray = run(
        lambda src, dst: nisa.nonzero_with_count(dst, src, **arguments),
        {"src": source},
        {"dst": before},
        profile=profile,
    )
    return result


def test_positions_and_count() -> None:
    source = row(np.int32, 0, 1, 1, 0, 0, 1, 0, 0)
    result = _nonzero(source, np.zeros((1, 9), np.int32), index_offset=16)
    same_bits(result, row(np.int32, 17, 18, 21, -1, -1, -1, -1, -1, 3))


@pytest.mark.parametrize(
    ("profile", "expected"), [("hardware", (1, 3, -1, -1, 2)), ("isa", (3, -1, -1, -1, 1))]
)
def test_nan_counts_on_hardware_and_minus_zero_never(profile: str, expected: Any) -> None:
    source = f32(0, np.nan, -0.0, 2)
    result = _nonzero(source, np.zeros((1, 5), np.int32), profile)
    same_bits(result, row(np.int32, *expected))


def test_only_every_sixteenth_partition_takes_part() -> None:
    source = np.zeros((128, 4), np.int32)
    source[0, 2], source[16, 1], source[1] = 5, 7, 9
    before = np.full((128, 5), 77, np.int32)
    result = _nonzero(source, before)
    expected = before.copy()
    expected[::16] = [-1, -1, -1, -1, 0]
    expected[0] = [2, -1, -1, -1, 1]
    expected[16] = [1, -1, -1, -1, 1]
    same_bits(result, expected)


def test_ranks_may_differ() -> None:
    source = np.zeros((128, 3, 4), np.float32)
    source[0, 1, 2] = 1
    result = _nonzero(source, np.zeros((128, 1, 13), np.int32), padding_val=-9)
    same_bits(result[0, 0], np.array([6] + [-9] * 11 + [1], np.int32))


@pytest.mark.parametrize(
    ("source", "before", "arguments", "rule"),
    [
        (f32(0, 1), np.zeros((1, 2), np.int32), {}, "count-plus-one"),
        (row(np.int16, 0, 1), np.zeros((1, 3), np.int32), {}, "in-dtype"),
        (f32(0, 1), np.zeros((1, 3), np.float32), {}, "out-dtype"),
        (f32(0, 1), np.zeros((1, 3), np.int32), {"index_offset": 1 << 31}, "index-offset"),
        (f32(0, 1), np.zeros((1, 3), np.int32), {"padding_val": 0.5}, "padding-value"),
    ],
)
def test_nonzero_refused(source: Any, before: Any, arguments: Any, rule: str) -> None:
    with pytest.raises(NkiValidationError) as caught:
        _nonzero(source, before, **arguments)
    assert caught.value.rule == rule


def test_nonzero_stays_in_sbuf() -> None:
    with pytest.raises(NkiValidationError, match="src buffer psum must be sbuf") as caught:
        run(
            lambda src, dst: nisa.nonzero_with_count(dst, src),
            {"src": f32(0, 1)},
            {"dst": np.zeros((1, 3), np.int32)},
            psum=("src",),
        )
    assert caught.value.rule == "src-readable"
