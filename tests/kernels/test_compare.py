"""FP32 order on bits against the host's comparisons."""

from __future__ import annotations

import operator

import numpy as np
import pytest

from lanewise.errors import UsageError
from lanewise.kernels import reference
from lanewise.kernels.reference import Relation

SPECIAL = [0, 0x8000_0000, 1, 0x8000_0001, 0x3F80_0000, 0xBF80_0000, 0x7F7F_FFFF, 0xFF7F_FFFF]
SPECIAL += [0x7F80_0000, 0xFF80_0000, 0x7FC0_0000, 0xFFC0_0000, 0x7F80_0001, 0xFFFF_FFFF]
OPERATORS = {
    "eq": operator.eq,
    "gt": operator.gt,
    "ge": operator.ge,
    "le": operator.le,
    "lt": operator.lt,
}


def values() -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    generator = np.random.default_rng(30)
    return np.concatenate(
        [np.array(SPECIAL, np.uint32), generator.integers(0, 2**32, 400, dtype=np.uint32)]
    )


@pytest.mark.parametrize("relation", OPERATORS)
def test_every_pair_against_the_host(relation: Relation) -> None:
    left = values()[:, None]
    right = values()[None, :]
    expected = OPERATORS[relation](left.view(np.float32), right.view(np.float32))
    assert np.array_equal(reference.compare(left, relation, right), expected)


def test_nan_is_what_the_host_calls_nan() -> None:
    assert np.array_equal(reference.is_nan(values()), np.isnan(values().view(np.float32)))


def test_keys_order_numbers() -> None:
    numbers = values()[~reference.is_nan(values())]
    keys = reference.ordered_key(numbers)
    host = numbers.view(np.float32)
    assert np.array_equal(keys[:, None] < keys, host[:, None] < host)
    assert np.array_equal(keys[:, None] == keys, host[:, None] == host)
    assert reference.ordered_key(np.array([0x8000_0000], np.uint32))[0] == 0


def test_unknown_relations_are_refused() -> None:
    bits = np.zeros(1, np.uint32)
    with pytest.raises(UsageError, match="unknown relation 'gte'; did you mean"):
        reference.compare(bits, "gte", bits)  # type: ignore[arg-type]
