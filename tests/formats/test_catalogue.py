"""The literals against the published tables, names, and descriptions that contradict themselves."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from lanewise.errors import UsageError
from lanewise.formats import (
    FORMATS,
    FP32,
    HIF8,
    RCPE6M2,
    ConversionPolicy,
    decode,
    find_format,
    fp32r,
    hub,
)


@pytest.mark.parametrize(
    ("name", "bias", "max_finite", "min_normal", "min_subnormal", "infinity", "quiet_nan", "one"),
    [
        ("FP32", 127, 0x7F7FFFFF, 0x800000, 1, 0x7F800000, 0x7FC00000, 0x3F800000),
        ("FP16", 15, 0x7BFF, 0x0400, 1, 0x7C00, 0x7E00, 0x3C00),
        ("BF16", 127, 0x7F7F, 0x0080, 1, 0x7F80, 0x7FC0, 0x3F80),
        ("E3M4", 3, 0x6F, 0x10, 1, 0x70, 0x78, 0x30),
        ("E4M3", 7, 0x77, 0x08, 1, 0x78, 0x7C, 0x38),
        ("E4M3FN", 7, 0x7E, 0x08, 1, None, 0x7F, 0x38),
        ("E5M2", 15, 0x7B, 0x04, 1, 0x7C, 0x7E, 0x3C),
        ("FP32R 13", 127, 0x7F7FFC00, 0x800000, 0x400, 0x7F800000, 0x7FC00000, 0x3F800000),
        ("FP32R 10", 127, 0x7F7FE000, 0x800000, 0x2000, 0x7F800000, 0x7FC00000, 0x3F800000),
    ],
)
def test_landmarks(
    *,
    name: str,
    bias: int,
    max_finite: int,
    min_normal: int,
    min_subnormal: int,
    infinity: int | None,
    quiet_nan: int,
    one: int,
) -> None:
    described = fp32r(int(name.split()[1])) if " " in name else FORMATS[name]
    assert (described.bias, described.max_finite) == (bias, max_finite)
    assert (described.infinity, described.quiet_nan) == (infinity, quiet_nan)
    values = [decode(described, code).value for code in (one, min_normal, min_subnormal)]
    smallest_normal = pow(decode(FP32, 0x4000_0000).value or 0, 1 - bias)
    assert values[:2] == [1, smallest_normal]
    assert values[2] == smallest_normal / 2**described.mantissa_bits


@pytest.mark.parametrize("name", FORMATS)
def test_the_largest_finite_code(name: str) -> None:
    described = FORMATS[name]
    if described is RCPE6M2 or described.width > 16:
        return
    finite = {
        code: value
        for code in range(1 << described.width)
        if (value := decode(described, code).value) is not None
    }
    assert described.max_finite == max(finite, key=lambda code: finite[code])
    if described.is_integer:
        ends = (min(finite.values()), max(finite.values()))
        assert ends == (described.min_value, described.max_value)


def test_hif8_and_reciprocal_ends() -> None:
    assert (HIF8.infinity, HIF8.max_finite) == (0x6F, 0x6E)
    assert hub(HIF8, 0x6E) == 0x4700_0000
    with pytest.raises(UsageError, match=r"^RCPE6M2: the codes of a reciprocal format fall"):
        _ = RCPE6M2.max_finite


def test_names() -> None:
    assert all(described.name == name for name, described in FORMATS.items())
    assert find_format("bf16") is FORMATS["BF16"]
    assert find_format("HIF8") is HIF8
    with pytest.raises(UsageError, match=r"unknown format 'E4M3FM'; did you mean 'E4M3FN'"):
        find_format("E4M3FM")


@pytest.mark.parametrize("mantissa_bits", [0, 23, -1])
def test_fp32r_keeps_1_to_22_bits(mantissa_bits: int) -> None:
    with pytest.raises(
        UsageError, match=rf"FP32R keeps 1\.\.22 mantissa bits, not {mantissa_bits}"
    ):
        fp32r(mantissa_bits)


def test_fp32r_is_made_once() -> None:
    assert fp32r(13) is fp32r(13)
    assert fp32r(13) != fp32r(10)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "decimal"}, "FP32: kind must be one of"),
        ({"nan_rule": "some"}, "FP32: nan_rule must be one of"),
        ({"width": 33}, r"FP32: width must be in 1\.\.container \(32\), not 33"),
        ({"quiet_nan": None}, "FP32: quiet_nan must be given exactly when there is a NaN"),
        ({"mantissa_bits": 22}, "FP32: sign, exponent, mantissa and low zero bits must fill 32"),
        ({"nan_rule": "all_ones"}, "FP32: an infinity needs nan_rule 'ieee'"),
    ],
)
def test_contradictions_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        dataclasses.replace(FP32, **changes)


@pytest.mark.parametrize(
    ("field", "wrong", "message"),
    [
        ("float_to_int", "nearst", "unknown float_to_int choice 'nearst'; did you mean 'nearest'"),
        ("float_overflow", "wrap", "unknown float_overflow choice 'wrap'"),
        ("nan_to_int", "max", "unknown nan_to_int choice 'max'"),
    ],
)
def test_policies_are_checked(field: str, wrong: str, message: str) -> None:
    choices = {"float_to_int": "nearest", "float_overflow": "infinity", "nan_to_int": "zero"}
    with pytest.raises(UsageError, match=message):
        ConversionPolicy(**{**choices, field: wrong})
