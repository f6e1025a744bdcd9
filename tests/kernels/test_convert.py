"""Arrays convert as the scalar codec does, and as other implementations do where they agree."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from lanewise import formats
from lanewise.errors import UsageError
from lanewise.formats import (
    FORMATS,
    FP32,
    INT32,
    UINT32,
    ConversionPolicy,
    Format,
    Value,
    decode,
    encode,
    fp32r,
)
from lanewise.kernels import reference
from lanewise.kernels.arrays import code_dtype

ISA = ConversionPolicy(float_to_int="truncate", float_overflow="saturate", nan_to_int="zero")
HARDWARE = ConversionPolicy(float_to_int="nearest", float_overflow="infinity", nan_to_int="zero")
MIXED = ConversionPolicy(float_to_int="nearest", float_overflow="saturate", nan_to_int="zero")
POLICIES = pytest.mark.parametrize("policy", [ISA, HARDWARE], ids=["isa", "hardware"])

NEURON = ["INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32"]
NEURON += ["BF16", "FP16", "FP32", "E3M4", "E4M3", "E4M3FN", "E5M2"]
TARGETS = [FORMATS[name] for name in NEURON] + [fp32r(13), fp32r(10)]
SMALL_SOURCES = [described for described in TARGETS if described.width <= 16]
OTHER_TARGETS = [FORMATS["TF32"], FORMATS["HF32"], FORMATS["INT4"], FORMATS["UINT4"]]
OTHER_TARGETS += [fp32r(1), fp32r(22)]

Bits = npt.NDArray[np.uint32]


def label(described: Format) -> str:
    bits = f"_{described.mantissa_bits}" if described.name == "FP32R" else ""
    return described.name + bits


def every_code(described: Format) -> npt.NDArray[Any]:
    return np.arange(1 << described.width, dtype=code_dtype(described))


def mismatch(inputs: npt.NDArray[Any], got: npt.NDArray[Any], expected: npt.NDArray[Any]) -> str:
    """The first few differences, for an assertion's message."""
    at = (got != expected).nonzero()[0][:5]
    rows = zip(inputs[at], got[at], expected[at], strict=True)
    return "; ".join(f"{int(i):#x} -> {int(g):#x}, not {int(e):#x}" for i, g, e in rows)


def assert_same(
    inputs: npt.NDArray[Any], got: npt.NDArray[Any], expected: npt.NDArray[Any]
) -> None:
    assert got.dtype == expected.dtype
    assert np.array_equal(got, expected), mismatch(inputs, got, expected)


def biased_bits(count: int = 500_000) -> Bits:
    """Twice ``count`` FP32 patterns: anything, and middle exponents with short mantissas."""
    generator = np.random.default_rng(20)
    anything = generator.integers(0, 2**32, count, dtype=np.uint32)
    exponent = generator.integers(95, 165, count, dtype=np.uint32) << np.uint32(23)
    mantissa = generator.integers(0, 2**11, count, dtype=np.uint32) << np.uint32(12)
    below = generator.integers(0, 3, count, dtype=np.uint32)
    sign = generator.integers(0, 2, count, dtype=np.uint32) << np.uint32(31)
    return np.concatenate([anything, (exponent + mantissa + below) | sign])


def special_bits() -> Bits:
    """Two steps around every exponent's end, every half mantissa, zeros, infinities, NaNs."""
    exponents = np.arange(256, dtype=np.uint32) << np.uint32(23)
    points = np.concatenate([exponents, exponents + np.uint32(1 << 22), exponents - np.uint32(1)])
    around = points[:, None] + np.arange(-2, 3, dtype=np.int32).astype(np.uint32)
    magnitudes = around.reshape(-1) & np.uint32(0x7FFF_FFFF)
    return np.concatenate([magnitudes, magnitudes | np.uint32(0x8000_0000)])


def boundary_bits(described: Format) -> Bits:
    """Two FP32 steps around every value and every midpoint of a small target, both signs.

    FP32 bits run evenly within a power of two, so the midpoint of neighbours is the mean of bits;
    only the midpoint of 0 and the smallest value is not.
    """
    if described.is_integer:
        top = min(described.max_value, 1 << 16) + 2
        halves = np.arange(0, 2 * top, dtype=np.int64)
        values = (halves.astype(np.float32) / np.float32(2)).view(np.uint32)
    else:
        codes = np.arange(1, described.max_finite + 1, dtype=code_dtype(described))
        hub = reference.to_hub(codes, described).astype(np.int64)
        beyond = 2 * hub[-1] - hub[-2]
        steps = np.concatenate([hub, [beyond, 2 * beyond - hub[-1]]])
        middles = (steps[1:] + steps[:-1]) // 2
        smallest_half = max(int(hub[0]) - (1 << 23), 0) or int(hub[0]) // 2
        values = np.concatenate([steps, middles, [0, smallest_half]]).astype(np.uint32)
    around = values[:, None] + np.arange(-2, 3, dtype=np.int32).astype(np.uint32)
    magnitudes = np.unique(around.reshape(-1) & np.uint32(0x7FFF_FFFF))
    return np.concatenate([magnitudes, magnitudes | np.uint32(0x8000_0000)])


@pytest.fixture(scope="module")
def patterns() -> Bits:
    return np.concatenate([special_bits(), biased_bits()])


@pytest.fixture(scope="module")
def small_hub() -> tuple[Bits, list[Value]]:
    """All distinct hub values of all sources of up to 16 bits, and what they mean."""
    every = [reference.to_hub(every_code(source), source) for source in SMALL_SOURCES]
    hub = np.unique(np.concatenate(every))
    return hub, [decode(FP32, bits) for bits in hub.tolist()]


# -- into the hub ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source", [f for f in FORMATS.values() if f.container <= 16], ids=lambda f: str(f.name)
)
def test_every_small_code_into_the_hub(source: Format) -> None:
    codes = every_code(source)
    expected = np.array([formats.hub(source, code) for code in codes.tolist()], dtype=np.uint32)
    assert_same(codes, reference.to_hub(codes, source), expected)


def integer_patterns(patterns: Bits) -> Bits:
    """Integers of every length, near powers of two and near ties of their rounding."""
    generator = np.random.default_rng(21)
    shifts = generator.integers(0, 32, patterns.size, dtype=np.uint32)
    powers = np.uint32(1) << np.arange(32, dtype=np.uint32)
    ties = powers[:, None] + (powers >> np.uint32(24))[:, None] * np.arange(9, dtype=np.uint32)
    around = ties.reshape(-1)[:, None] + np.arange(-2, 3, dtype=np.int32).astype(np.uint32)
    near = around.reshape(-1)
    return np.concatenate([near, np.uint32(0) - near, patterns, patterns >> shifts])


@pytest.mark.parametrize(("source", "host"), [(INT32, np.int32), (UINT32, np.uint32)])
def test_integers_into_the_hub(source: Format, host: type[Any], patterns: Bits) -> None:
    codes = integer_patterns(patterns)
    got = reference.to_hub(codes, source)
    assert_same(codes, got, codes.view(host).astype(np.float32).view(np.uint32))
    some = codes[:: codes.size // 5000]
    expected = np.array([formats.hub(source, code) for code in some.tolist()], dtype=np.uint32)
    assert_same(some, reference.to_hub(some, source), expected)


def test_fp32_into_the_hub_changes_nans_only(patterns: Bits) -> None:
    got = reference.to_hub(patterns, FP32)
    nan = reference.is_nan(patterns)
    assert np.array_equal(got[~nan], patterns[~nan])
    assert nan.any()
    assert set(np.unique(got[nan]).tolist()) == {0x7FC0_0000, 0xFFC0_0000}
    assert np.array_equal(got >> np.uint32(31), patterns >> np.uint32(31))


# -- all pairs over all small inputs ---------------------------------------------------------


@POLICIES
@pytest.mark.parametrize("target", TARGETS, ids=label)
def test_every_small_code_into_every_type(
    target: Format, policy: ConversionPolicy, small_hub: tuple[Bits, list[Value]]
) -> None:
    hub, values = small_hub
    dtype = code_dtype(target)
    expected = np.array([encode(target, value, policy) for value in values], dtype=dtype)
    assert_same(hub, reference.from_hub(hub, target, policy), expected)
    for source in SMALL_SOURCES:
        codes = every_code(source)
        through = expected[np.searchsorted(hub, reference.to_hub(codes, source))]
        got = reference.convert(codes, source, target, policy, stream=True)
        assert_same(codes, got, through)
        got = reference.convert(codes, source, target, policy)
        assert_same(codes, got, codes if source == target else through)
        # The short way that small arrays take gives the same.
        got = reference.convert(codes[::97], source, target, policy, stream=True)
        assert_same(codes[::97], got, through[::97])


# -- FP32 and 32-bit integers into everything ------------------------------------------------


@POLICIES
@pytest.mark.parametrize("target", TARGETS + OTHER_TARGETS, ids=label)
def test_fp32_against_the_scalar_codec(
    target: Format, policy: ConversionPolicy, patterns: Bits
) -> None:
    some = np.concatenate([special_bits(), patterns[:: patterns.size // 8000]])
    if target.width <= 16:
        near = boundary_bits(target)
        some = np.concatenate([some, near[:: max(near.size // 8000, 1)], near[-64:]])
    values = [decode(FP32, bits) for bits in some.tolist()]
    expected = np.array(
        [encode(target, value, policy) for value in values], dtype=code_dtype(target)
    )
    assert_same(some, reference.from_hub(some, target, policy), expected)
    # Long arrays take the table of shortened values where the target has 8 bits.
    many = np.resize(some, 1 << 18)
    assert_same(many, reference.from_hub(many, target, policy), np.resize(expected, many.size))


@POLICIES
@pytest.mark.parametrize("source", [FP32, INT32, UINT32], ids=label)
def test_32_bit_sources_against_scalar_conversion(
    source: Format, policy: ConversionPolicy, patterns: Bits
) -> None:
    codes = integer_patterns(patterns)[:: patterns.size // 200]
    for target, stream in itertools.product(TARGETS, (False, True)):
        expected = np.array(
            [
                formats.convert(code, source, target, policy, stream=stream)
                for code in codes.tolist()
            ],
            dtype=code_dtype(target),
        )
        got = reference.convert(codes, source, target, policy, stream=stream)
        assert_same(codes, got, expected)


def other_floats() -> Iterator[tuple[str, Any]]:
    yield "FP16", np.float16
    try:
        import ml_dtypes
    except ImportError:
        return
    yield "BF16", ml_dtypes.bfloat16
    yield "E3M4", ml_dtypes.float8_e3m4
    yield "E4M3", ml_dtypes.float8_e4m3
    yield "E4M3FN", ml_dtypes.float8_e4m3fn
    yield "E5M2", ml_dtypes.float8_e5m2


@pytest.mark.parametrize(("name", "host"), list(other_floats()), ids=str)
def test_fp32_against_other_float_conversions(name: str, host: Any, patterns: Bits) -> None:
    target = FORMATS[name]
    hub = np.concatenate([patterns, boundary_bits(target)])
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        expected = hub.view(np.float32).astype(host).view(code_dtype(target))
    # Overflow goes to infinity there, NaN in E4M3FN; what a NaN becomes is our own rule.
    number = ~reference.is_nan(hub)
    assert_same(hub[number], reference.from_hub(hub, target, HARDWARE)[number], expected[number])
    saturated = reference.from_hub(hub, target, ISA)
    largest = np.uint32(target.max_finite)
    magnitude = expected & np.array(target.sign_mask - 1, dtype=expected.dtype)
    finite_input = (hub & np.uint32(0x7FFF_FFFF)) < 0x7F80_0000
    clamped = np.where(
        magnitude > largest, (expected & target.sign_mask) | target.max_finite, expected
    ).astype(expected.dtype)
    assert_same(hub[finite_input], saturated[finite_input], clamped[finite_input])


@pytest.mark.parametrize("name", ["INT4", "UINT4", *NEURON[:6]])
def test_fp32_against_host_integers(name: str, patterns: Bits) -> None:
    target = FORMATS[name]
    hub = np.concatenate([patterns, boundary_bits(target)])
    numbers = hub[~reference.is_nan(hub)].view(np.float32).astype(np.float64)
    for policy, rounding in ((ISA, np.trunc), (HARDWARE, np.rint), (MIXED, np.rint)):
        clamped = np.clip(rounding(numbers), target.min_value, target.max_value)
        expected = clamped.astype(np.int64) & target.code_mask
        got = reference.from_hub(hub, target, policy)
        assert not got[reference.is_nan(hub)].any()
        got = got[~reference.is_nan(hub)]
        assert_same(hub, got, expected.astype(got.dtype))


@pytest.mark.parametrize("mantissa_bits", [1, 7, 10, 13, 22])
def test_fp32r_against_host_arithmetic(mantissa_bits: int, patterns: Bits) -> None:
    hub = patterns[~reference.is_nan(patterns) & ((patterns & 0x7FFF_FFFF) < 0x7F80_0000)]
    numbers = hub.view(np.float32).astype(np.float64)
    _, exponents = np.frexp(numbers)
    # 2**exponent is above the number; subnormals share the exponent of the smallest normal.
    unit = np.maximum(exponents, -125) - 1 - mantissa_bits
    rounded = np.ldexp(np.rint(np.ldexp(numbers, -unit)), unit)
    with np.errstate(over="ignore"):
        expected = rounded.astype(np.float32).view(np.uint32)
    target = fp32r(mantissa_bits)
    assert_same(hub, reference.from_hub(hub, target, HARDWARE), expected)
    infinite = (expected & np.uint32(0x7FFF_FFFF)) == 0x7F80_0000
    limit = np.uint32(target.max_finite)
    expected = np.where(infinite, (expected & np.uint32(0x8000_0000)) | limit, expected)
    assert_same(hub, reference.from_hub(hub, target, ISA), expected)


@POLICIES
@pytest.mark.parametrize("target", TARGETS, ids=label)
def test_conversion_is_monotone(target: Format, policy: ConversionPolicy, patterns: Bits) -> None:
    numbers = patterns[~reference.is_nan(patterns)]
    ascending = numbers[np.argsort(reference.ordered_key(numbers), kind="stable")]
    hub = reference.to_hub(reference.from_hub(ascending, target, policy), target)
    hub = hub[~reference.is_nan(hub)]  # E4M3FN's overflow, at both ends
    assert (np.diff(reference.ordered_key(hub).astype(np.int64)) >= 0).all()


# -- arrays of all shapes ----------------------------------------------------------------------


def test_shapes_strides_and_byte_orders() -> None:
    generator = np.random.default_rng(22)
    codes = generator.integers(0, 2**16, (6, 4, 10), dtype=np.uint16)
    source, target = FORMATS["FP16"], FORMATS["E5M2"]
    expected = reference.convert(codes.reshape(-1), source, target, ISA)
    expected = expected.reshape(codes.shape)
    parts: list[Any] = [np.s_[:], np.s_[::2, 1:, ::-3], np.s_[3], np.s_[:, :, 2:2], np.s_[:0]]
    for part in [*parts, np.s_[1, 2, 3, ...]]:
        got = reference.convert(codes[part], source, target, ISA)
        assert np.array_equal(got, expected[part])
        assert isinstance(got, np.ndarray)
        assert got.shape == expected[part].shape
        hub = reference.to_hub(codes[part], source)
        assert hub.shape == reference.from_hub(hub, target, ISA).shape == got.shape
    for order in "<>":
        got = reference.convert(codes.astype(f"{order}u2"), source, target, ISA)
        assert np.array_equal(got, expected)
        hub = reference.to_hub(codes, source).astype(f"{order}u4")
        assert np.array_equal(reference.from_hub(hub, target, ISA), expected)


def test_results_are_new_and_writable() -> None:
    codes = np.arange(4, dtype=np.uint8)
    for described in (FORMATS["E5M2"], FORMATS["INT8"]):
        same = reference.convert(codes, described, described, ISA)
        same[:] = 9
        reference.convert(codes, described, FORMATS["FP16"], ISA)[:] = 9
        reference.to_hub(codes, described)[:] = 9
    assert codes.tolist() == [0, 1, 2, 3]
    assert reference.to_hub(codes, FORMATS["INT8"])[1] == 0x3F80_0000


def test_tables_can_be_asked_for_by_many_threads() -> None:
    codes = every_code(FORMATS["BF16"])
    policy = MIXED
    results: list[npt.NDArray[Any]] = []

    def work() -> None:
        results.append(reference.convert(codes, FORMATS["BF16"], FORMATS["E4M3"], policy))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8
    assert all(np.array_equal(results[0], result) for result in results)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: reference.to_hub(np.zeros(3, np.uint32), FORMATS["FP16"]),
            "FP16: codes must be uint16 arrays, not uint32",
        ),
        (
            lambda: reference.to_hub(np.zeros(3, np.int8), FORMATS["INT8"]),
            "INT8: codes must be uint8 arrays, not int8",
        ),
        (
            lambda: reference.to_hub(np.array([1, 16], np.uint8), FORMATS["E2M1"]),
            "E2M1: codes must be in 0..0xf, not 0x10",
        ),
        (
            lambda: reference.to_hub(np.array([1], np.uint32), fp32r(13)),
            "FP32R: the low 10 bits must be zero",
        ),
        (
            lambda: reference.to_hub(np.array([1], np.uint32), FORMATS["FP64"]),
            "FP64: array kernels take formats up to 32 bits, not 64",
        ),
        (
            lambda: reference.from_hub(np.zeros(1, np.float32), FORMATS["FP16"], ISA),
            "hub must be FP32 bits in a uint32 array, not float32",
        ),
        (
            lambda: reference.from_hub(np.zeros(1, np.uint32), FORMATS["HiF8"], ISA),
            "HiF8: no array kernel encodes this format",
        ),
        (
            lambda: reference.convert(np.zeros(1, np.uint8), FORMATS["INT8"], FORMATS["E2M1"], ISA),
            "E2M1: no array kernel encodes this format",
        ),
    ],
)
def test_what_arrays_refuse(call: Any, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        call()
    assert str(caught.value) == message
