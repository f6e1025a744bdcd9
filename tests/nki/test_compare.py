"""compare, compare_indices and the NumPy twins, against the model and by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.nki.helpers import MISS, bf16, bits, f32, row, run, same_bits

from lanewise import UsageError
from lanewise.nki import compare, compare_indices, reference
from lanewise.nki import isa as nisa
from lanewise.nki import language as nl


def test_equal_bits() -> None:
    data = bits(0x7FC00000, 0x80000000, 0x3F800000)
    outcome = compare(data, data.copy())
    assert outcome
    assert outcome.is_equal
    assert outcome.counts["equal bits"] == 3
    assert str(outcome) == "equal bits 3"


def test_classes() -> None:
    actual = bits(0x00000000, 0x7FC00001, 0x3F800000, 0x3F800000, 0xFF800000)
    expected = bits(0x80000000, 0x7FC00000, 0x3F800003, 0x3F800000, 0x7F800000)
    outcome = compare(actual, expected)
    assert not outcome
    assert not outcome.is_equal
    assert outcome.counts == {
        "equal bits": 1,
        "equal value": 1,
        "NaN payload": 1,
        "tie": 0,
        "differs": 2,
    }
    assert outcome.most_ulps == 3
    assert [found.kind for found in outcome.differences] == [
        "equal value",
        "NaN payload",
        "differs",
        "differs",
    ]
    assert [found.ulps for found in outcome.differences] == [0, None, 3, None]
    assert "[0, 2]: 1.0, expected 1.0000004: differs, 3 ULP apart" in str(outcome)
    assert "largest distance: 3 ULP" in str(outcome)


def test_equal_values_alone_are_no_difference() -> None:
    outcome = compare(f32(0.0), f32(-0.0))
    assert outcome
    assert not outcome.is_equal


def test_ulps_cross_zero_and_follow_the_type() -> None:
    assert compare(bits(0x00000001), bits(0x80000001)).most_ulps == 2
    one = np.array([1.0], bf16)
    assert compare(one, np.nextafter(one, np.array([2.0], bf16))).most_ulps == 1
    assert compare(row(np.int32, 3), row(np.int32, 5)).differences[0].ulps is None


def test_structures() -> None:
    outcome = compare(
        {"a": f32(1, 2), "b": (f32(3), [f32(4)])}, {"a": f32(1, 2), "b": (f32(0), [f32(0)])}
    )
    assert [found.key for found in outcome.differences] == ["b0", "b10"]
    assert compare({"a": f32(1), "b": f32(2)}, {"a": f32(1), "b": f32(3)}, keys=["a"])


def test_only_the_first_are_kept() -> None:
    outcome = compare(np.zeros(100, np.float32), np.ones(100, np.float32), first=3)
    assert len(outcome.differences) == 3
    assert outcome.counts["differs"] == 100


@pytest.mark.parametrize(
    ("actual", "expected", "message"),
    [
        (f32(1), f32(1, 2), r"shapes \(1, 1\) and \(1, 2\) must be equal"),
        ((f32(1),), (f32(1), f32(2)), "1 results cannot be compared with 2"),
        ({"a": f32(1)}, {"b": f32(1)}, "key 'b' is not in both results"),
        (f32(1), f32(1).astype(np.float64), "types float32 and float64 must be equal"),
        ({"a": f32(1)}, {"a": f32(1).astype(bf16)}, "types float32 and bfloat16 of a must"),
    ],
)
def test_what_does_not_fit(actual: Any, expected: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        compare(actual, expected)


def test_indices() -> None:
    data = f32(5, 3, 5, 1)
    outcome = compare_indices([[0, 2, 1]], [[2, 0, 1]], data)
    assert outcome
    assert outcome.counts["tie"] == 2
    assert "tie (data 5.0 and 5.0)" in str(outcome)
    wrong = compare_indices([[0, 1]], [[0, 3]], data)
    assert not wrong
    assert "[0, 1]: 1, expected 3: differs (data 3.0 and 1.0)" in str(wrong)
    missed = compare_indices(np.array([[MISS]], np.uint32), [[1]], data)
    assert not missed
    assert "no position of data" in str(missed)
    with pytest.raises(UsageError, match="must be equal"):
        compare_indices([[0]], [[0, 1]], data)


def test_indices_of_nan_are_no_tie() -> None:
    assert not compare_indices([[0]], [[1]], f32(np.nan, np.nan))


# The twins.

VALUES = st.sampled_from([0.0, -0.0, 1.0, 2.0, 2.5, -3.0, 7.0, np.inf, -np.inf, np.nan])
ROWS = st.integers(8, 40).flatmap(lambda columns: arrays(np.float32, (2, columns), elements=VALUES))


def _top(data: np.ndarray) -> Any:
    def body(data: Any, best: Any, place: Any) -> None:
        nisa.max8(best, data)
        nisa.nc_find_index8(place, data, best)

    return run(body, {"data": data}, {"best": ((2, 8), nl.float32), "place": ((2, 8), nl.uint32)})


@given(ROWS)
def test_max8_and_find_index8_are_the_machine_s(data: np.ndarray) -> None:
    best, place = _top(data)
    assert compare(best, reference.max8(data))
    same_bits(place, reference.find_index8(data, best))


@given(ROWS, arrays(np.float32, (2, 8), elements=VALUES))
def test_match_replace8_is_the_machine_s(data: np.ndarray, vals: np.ndarray) -> None:
    found, place = run(
        lambda data, vals, dst, idx: nisa.nc_match_replace8(dst, data, vals, -5.0, dst_idx=idx),
        {"data": data, "vals": vals},
        {"dst": (data.shape, nl.float32), "idx": ((2, 8), nl.uint32)},
    )
    replaced, positions = reference.match_replace8(data, vals, -5.0)
    assert compare(found, replaced)
    same_bits(place, positions)


def test_twins_by_hand() -> None:
    data = f32(1, 2, 3, 4, 8, 8, 8, 8, 8, 8, 8)
    vals = f32(3, 8, 8, 8, 8, 8, 8, 8)
    replaced, place = reference.match_replace8(data, vals, 0)
    same_bits(replaced, f32(1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0))
    same_bits(place, row(np.uint32, 2, 10, 9, 8, 7, 6, 5, 4))
    same_bits(reference.find_index8(data, vals), row(np.uint32, 2, 4, 5, 6, 7, 8, 9, 10))
    same_bits(reference.max8(f32(1, np.nan)), f32(1, *[-np.inf] * 7))
