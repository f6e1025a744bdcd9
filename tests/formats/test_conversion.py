"""Conversions through the hub: the worked examples of the documents and the laws of the hub."""

from __future__ import annotations

import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanewise.errors import UsageError
from lanewise.formats import (
    E3M2,
    FORMATS,
    FP16,
    FP32,
    FP64,
    INT8,
    INT32,
    INT64,
    RCPE6M2,
    TF32,
    UINT32,
    UINT64,
    ConversionPolicy,
    Format,
    convert,
    decode,
    find_format,
    fp32r,
    hub,
)

ISA = ConversionPolicy(float_to_int="truncate", float_overflow="saturate", nan_to_int="zero")
HARDWARE = ConversionPolicy(float_to_int="nearest", float_overflow="infinity", nan_to_int="zero")

# what, source, bits, target, isa, hardware
EXAMPLES = [
    ("2.5", "FP32", 0x40200000, "INT32", 0x00000002, 0x00000002),
    ("3.5", "FP32", 0x40600000, "INT32", 0x00000003, 0x00000004),
    ("-2.5", "FP32", 0xC0200000, "INT8", 0xFE, 0xFE),
    ("-0.5", "FP32", 0xBF000000, "UINT8", 0x00, 0x00),
    ("just below 1", "FP32", 0x3F7FFFFF, "UINT8", 0x00, 0x01),
    ("-1, unsigned target", "FP32", 0xBF800000, "UINT16", 0x0000, 0x0000),
    ("300", "FP32", 0x43960000, "UINT8", 0xFF, 0xFF),
    ("-128.5", "FP32", 0xC3008000, "INT8", 0x80, 0x80),
    ("2^31", "FP32", 0x4F000000, "INT32", 0x7FFFFFFF, 0x7FFFFFFF),
    ("-2^31", "FP32", 0xCF000000, "INT32", 0x80000000, 0x80000000),
    ("2^32", "FP32", 0x4F800000, "UINT32", 0xFFFFFFFF, 0xFFFFFFFF),
    ("+inf", "FP32", 0x7F800000, "INT16", 0x7FFF, 0x7FFF),
    ("-inf", "FP32", 0xFF800000, "INT16", 0x8000, 0x8000),
    ("NaN", "FP32", 0x7FC00000, "INT32", 0x00000000, 0x00000000),
    ("-0", "FP32", 0x80000000, "INT8", 0x00, 0x00),
    ("1+2^-11, tie to even", "FP32", 0x3F801000, "FP16", 0x3C00, 0x3C00),
    ("1+3*2^-11, tie to even", "FP32", 0x3F803000, "FP16", 0x3C02, 0x3C02),
    ("65519.996...", "FP32", 0x477FEFFF, "FP16", 0x7BFF, 0x7BFF),
    ("65520, tie beyond the top", "FP32", 0x477FF000, "FP16", 0x7BFF, 0x7C00),
    ("+inf", "FP32", 0x7F800000, "FP16", 0x7C00, 0x7C00),
    ("-FLT_MAX", "FP32", 0xFF7FFFFF, "FP16", 0xFBFF, 0xFC00),
    ("2^-25, tie to zero", "FP32", 0x33000000, "FP16", 0x0000, 0x0000),
    ("just above 2^-25", "FP32", 0x33000001, "FP16", 0x0001, 0x0001),
    ("-2^-15, subnormal target", "FP32", 0xB8000000, "FP16", 0x8200, 0x8200),
    ("-NaN with payload", "FP32", 0xFFC01234, "FP16", 0xFE00, 0xFE00),
    ("1+2^-8, tie to even", "FP32", 0x3F808000, "BF16", 0x3F80, 0x3F80),
    ("1+3*2^-8, tie to even", "FP32", 0x3F818000, "BF16", 0x3F82, 0x3F82),
    ("FLT_MAX", "FP32", 0x7F7FFFFF, "BF16", 0x7F7F, 0x7F80),
    ("-FLT_MAX", "FP32", 0xFF7FFFFF, "BF16", 0xFF7F, 0xFF80),
    ("2^-149", "FP32", 0x00000001, "BF16", 0x0000, 0x0000),
    ("signalling NaN", "FP32", 0x7F800001, "BF16", 0x7FC0, 0x7FC0),
    ("247", "FP32", 0x43770000, "E4M3", 0x77, 0x77),
    ("248, tie beyond the top", "FP32", 0x43780000, "E4M3", 0x77, 0x78),
    ("248, tie to even", "FP32", 0x43780000, "E4M3FN", 0x78, 0x78),
    ("464, tie to even", "FP32", 0x43E80000, "E4M3FN", 0x7E, 0x7E),
    ("465", "FP32", 0x43E88000, "E4M3FN", 0x7E, 0x7F),
    ("-inf", "FP32", 0xFF800000, "E4M3FN", 0xFE, 0xFF),
    ("NaN", "FP32", 0x7FC00000, "E4M3FN", 0x7F, 0x7F),
    ("-FLT_MAX", "FP32", 0xFF7FFFFF, "E4M3", 0xF7, 0xF8),
    ("2^-10, tie to zero", "FP32", 0x3A800000, "E4M3", 0x00, 0x00),
    ("3*2^-11", "FP32", 0x3AC00000, "E4M3", 0x01, 0x01),
    ("15.5", "FP32", 0x41780000, "E3M4", 0x6F, 0x6F),
    ("15.75, tie beyond the top", "FP32", 0x417C0000, "E3M4", 0x6F, 0x70),
    ("2^-7, tie to zero", "FP32", 0x3C000000, "E3M4", 0x00, 0x00),
    ("0.046875, subnormal target", "FP32", 0x3D400000, "E3M4", 0x03, 0x03),
    ("61439.996...", "FP32", 0x476FFFFF, "E5M2", 0x7B, 0x7B),
    ("61440, tie beyond the top", "FP32", 0x47700000, "E5M2", 0x7B, 0x7C),
    ("-NaN", "FP32", 0xFFC00000, "E5M2", 0xFE, 0xFE),
    ("1.5*2^-16, tie to even", "FP32", 0x37C00000, "E5M2", 0x02, 0x02),
    ("1+4095*2^-23", "FP32", 0x3F800FFF, "FP32R", 0x3F801000, 0x3F800000),
    ("1+2^-14", "FP32", 0x3F800200, "FP32R", 0x3F800000, 0x3F800000),
    ("1+3*2^-14", "FP32", 0x3F800600, "FP32R", 0x3F800800, 0x3F800000),
    ("FLT_MAX", "FP32", 0x7F7FFFFF, "FP32R", 0x7F7FFC00, 0x7F800000),
    ("+inf", "FP32", 0x7F800000, "FP32R", 0x7F800000, 0x7F800000),
    ("2^-24", "FP16", 0x0001, "FP32", 0x33800000, 0x33800000),
    ("-NaN with payload", "FP16", 0xFE01, "FP32", 0xFFC00000, 0xFFC00000),
    ("+inf, not narrowing", "FP16", 0x7C00, "FP32", 0x7F800000, 0x7F800000),
    ("+inf through the hub", "FP16", 0x7C00, "BF16", 0x7F80, 0x7F80),
    ("65504", "FP16", 0x7BFF, "BF16", 0x4780, 0x4780),
    ("0.333251953125", "FP16", 0x3555, "E5M2", 0x35, 0x35),
    ("1.0078125", "BF16", 0x3F81, "FP16", 0x3C08, 0x3C08),
    ("BF16 max", "BF16", 0x7F7F, "FP16", 0x7BFF, 0x7C00),
    ("+inf", "E5M2", 0x7C, "E4M3", 0x78, 0x78),
    ("240", "E4M3", 0x77, "FP16", 0x5B80, 0x5B80),
    ("448, same type", "E4M3FN", 0x7E, "E4M3FN", 0x7E, 0x7E),
    ("2^-6", "E3M4", 0x01, "FP32", 0x3C800000, 0x3C800000),
    ("16777217", "INT32", 0x01000001, "FP32", 0x4B800000, 0x4B800000),
    ("16777217, differing types", "INT32", 0x01000001, "UINT32", 0x01000000, 0x01000000),
    ("16777217, same type", "INT32", 0x01000001, "INT32", 0x01000001, 0x01000001),
    ("2147483647", "INT32", 0x7FFFFFFF, "UINT32", 0x80000000, 0x80000000),
    ("4294967295", "UINT32", 0xFFFFFFFF, "INT32", 0x7FFFFFFF, 0x7FFFFFFF),
    ("4294967295", "UINT32", 0xFFFFFFFF, "UINT16", 0xFFFF, 0xFFFF),
    ("-1", "INT32", 0xFFFFFFFF, "UINT8", 0x00, 0x00),
    ("-25536", "INT16", 0x9C40, "UINT16", 0x0000, 0x0000),
    ("300", "INT16", 0x012C, "INT8", 0x7F, 0x7F),
    ("-128", "INT8", 0x80, "FP16", 0xD800, 0xD800),
    ("65535", "UINT16", 0xFFFF, "FP16", 0x7BFF, 0x7C00),
    ("255", "UINT8", 0xFF, "E4M3", 0x77, 0x78),
    ("-127", "INT8", 0x81, "BF16", 0xC2FE, 0xC2FE),
    ("2147483649", "UINT32", 0x80000001, "BF16", 0x4F00, 0x4F00),
    ("NaN payload, same type", "FP16", 0xFE55, "FP16", 0xFE55, 0xFE55),
]


@pytest.mark.parametrize(
    ("what", "source", "bits", "target", "isa", "hardware"),
    EXAMPLES,
    ids=[f"{number}" for number in range(1, len(EXAMPLES) + 1)],
)
def test_worked_examples(
    *, what: str, source: str, bits: int, target: str, isa: int, hardware: int
) -> None:
    def described(name: str, mantissa_bits: int) -> Format:
        return fp32r(mantissa_bits) if name == "FP32R" else find_format(name)

    got = convert(bits, described(source, 13), described(target, 13), ISA)
    assert got == isa, f"{what}: {got:#x}"
    got = convert(bits, described(source, 10), described(target, 10), HARDWARE)
    assert got == hardware, f"{what}: {got:#x}"


@pytest.mark.parametrize(
    "name", ["E3M4", "E4M3", "E4M3FN", "E5M2", "INT8", "UINT8", "HiF8", "E6M2"]
)
def test_the_hub_is_exact_for_every_byte(name: str) -> None:
    described = FORMATS[name]
    for code in range(256):
        value = decode(described, code)
        bits = hub(described, code)
        if value.is_nan:
            assert bits == 0x7FC0_0000 | value.negative << 31
        else:
            assert decode(FP32, bits) == value


@pytest.mark.parametrize("name", ["FP16", "BF16", "INT16", "UINT16"])
def test_the_hub_is_exact_for_16_bits(name: str) -> None:
    described = FORMATS[name]
    for code in [*range(0, 1 << 16, 13), *range(0x7BF0, 0x7C20), *range(40), 0xFFFF, 0x8000]:
        value = decode(described, code)
        through = decode(FP32, hub(described, code))
        assert (through.negative, through.value) == (value.negative, value.value)


@given(st.integers(0, 2**32 - 1))
def test_integers_round_to_even_in_the_hub(code: int) -> None:
    for described, dtype in ((UINT32, np.uint32), (INT32, np.int32)):
        number = np.array([code], dtype=np.uint32).view(dtype).astype(np.float32)
        assert hub(described, code) == number.view(np.uint32)[0]


@given(st.integers(0, 2**64 - 1))
def test_64_bit_sources_round_to_even_in_the_hub(code: int) -> None:
    for described, dtype in ((UINT64, np.uint64), (INT64, np.int64)):
        number = np.array([code], dtype=np.uint64).view(dtype).astype(np.float32)
        assert hub(described, code) == number.view(np.uint32)[0]
    double = np.array([code], dtype=np.uint64).view(np.float64)
    if not np.isnan(double[0]):
        with np.errstate(over="ignore", under="ignore"):
            assert hub(FP64, code) == double.astype(np.float32).view(np.uint32)[0]


def test_reciprocal_scales_round_in_the_hub() -> None:
    for code in range(255):
        exact = decode(RCPE6M2, code).value
        assert exact is not None
        number = struct.unpack("<f", struct.pack("<I", hub(RCPE6M2, code)))[0]
        assert abs(Fraction(number) - exact) <= exact / 2**24


@given(st.integers(0, 2**32 - 1))
def test_equal_formats_move_bits_unless_they_stream(code: int) -> None:
    for described in (FP32, INT32, UINT32):
        assert convert(code, described, described, ISA) == code
    value = decode(FP32, code)
    streamed = convert(code, FP32, FP32, ISA, stream=True)
    assert streamed == (0x7FC0_0000 | value.negative << 31 if value.is_nan else code)


@pytest.mark.parametrize(
    ("described", "code", "policy", "expected"),
    [
        (INT32, 16777217, ISA, 16777216),
        (UINT32, 0xFFFF_FFFF, ISA, 0xFFFF_FFFF),
        (INT32, 0x7FFF_FFFF, HARDWARE, 0x7FFF_FFFF),
        (INT32, 0x8000_0001, ISA, 0x8000_0000),
        (FP16, 0xFE55, ISA, 0xFE00),
        (FP16, 0x7D01, HARDWARE, 0x7E00),
        (INT8, 0x80, ISA, 0x80),
    ],
)
def test_streaming_through_the_hub(
    described: Format, code: int, policy: ConversionPolicy, expected: int
) -> None:
    assert convert(code, described, described, policy, stream=True) == expected


def test_fp32r_of_two_widths_are_two_formats() -> None:
    assert convert(0x3F80_0400, fp32r(13), fp32r(10), ISA) == 0x3F80_0000
    assert convert(0x3F80_0400, fp32r(13), fp32r(13), ISA) == 0x3F80_0400


@pytest.mark.parametrize(
    ("described", "code", "message"),
    [
        (TF32, 0x3F80_0001, "TF32: 0x3f800001 is not a code of the format"),
        (E3M2, 0x40, "E3M2: 0x40 is not a code of the format"),
        (FP16, 0x1_0000, "FP16: a code must be in 0..0xffff, not 0x10000"),
    ],
)
def test_invalid_codes_are_refused(described: Format, code: int, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        convert(code, described, INT8, ISA)
    assert str(caught.value) == message
