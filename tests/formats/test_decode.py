"""Codes against values computed another way: bit strings, struct, ml_dtypes, gfloat."""

from __future__ import annotations

import math
import struct
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from lanewise.errors import UsageError
from lanewise.formats import FORMATS, Format, Value, ValueClass, decode, find_format, fp32r

# exponent bits, mantissa bits, bias, special values
FLOAT_LAYOUTS = {
    "FP16": (5, 10, 15, "ieee"),
    "BF16": (8, 7, 127, "ieee"),
    "E3M4": (3, 4, 3, "ieee"),
    "E4M3": (4, 3, 7, "ieee"),
    "E4M3FN": (4, 3, 7, "fn"),
    "E5M2": (5, 2, 15, "ieee"),
    "E2M5": (2, 5, 1, "none"),
    "E3M2": (3, 2, 3, "none"),
    "E2M3": (2, 3, 1, "none"),
    "E2M1": (2, 1, 1, "none"),
    "E1M2": (1, 2, 1, "none"),
    "HiF4": (1, 2, 1, "none"),
}

QUARTERS = [Fraction(n, 4) for n in range(8)]
HIF8_PATTERNS = {
    # leading bits: (exponent sign bit there, exponent magnitude bits, fraction bits)
    "0001": (0, 0, 3),
    "001": (1, 0, 3),
    "01": (1, 1, 3),
    "10": (1, 2, 2),
    "11": (1, 3, 1),
}


def triple(value: Value) -> tuple[str, bool, Fraction | None]:
    return str(value.category), value.negative, value.value


def expect_float(
    code: int, exponent_bits: int, mantissa_bits: int, bias: int, special: str
) -> tuple[str, bool, Fraction | None]:
    """The meaning of a code, read from its bit string."""
    text = f"{code:0{1 + exponent_bits + mantissa_bits}b}"
    sign = text[0] == "1"
    exponent_text, mantissa_text = text[1 : 1 + exponent_bits], text[1 + exponent_bits :]
    if special == "ieee" and "0" not in exponent_text:
        if "1" not in mantissa_text:
            return "inf", sign, None
        return ("qnan" if mantissa_text[0] == "1" else "snan"), sign, None
    if special == "fn" and "0" not in text[1:]:
        return "qnan", sign, None
    fraction = Fraction(int(mantissa_text, 2), 2**mantissa_bits)
    exponent = int(exponent_text, 2)
    if exponent == 0:
        magnitude = fraction * Fraction(2) ** (1 - bias)
    else:
        magnitude = (1 + fraction) * Fraction(2) ** (exponent - bias)
    return ("finite" if magnitude else "zero"), sign, -magnitude if sign else magnitude


@pytest.mark.parametrize("name", FLOAT_LAYOUTS)
def test_every_code_of_a_float_format(name: str) -> None:
    layout = FLOAT_LAYOUTS[name]
    described = FORMATS[name]
    for code in range(1 << (1 + layout[0] + layout[1])):
        assert triple(decode(described, code)) == expect_float(code, *layout), f"{name} {code:#x}"


def expect_hif8(code: int) -> tuple[str, bool, Fraction | None]:
    if code in (0x80, 0x00, 0x6F, 0xEF):
        return {
            0x80: ("qnan", False, None),
            0x00: ("zero", False, Fraction(0)),
            0x6F: ("inf", False, None),
            0xEF: ("inf", True, None),
        }[code]
    sign, text = code >> 7 == 1, f"{code & 0x7F:07b}"
    if text.startswith("0000"):
        magnitude = Fraction(2) ** (int(text[4:], 2) - 23)
    else:
        lead = next(lead for lead in HIF8_PATTERNS if text.startswith(lead))
        sign_bits, magnitude_bits, fraction_bits = HIF8_PATTERNS[lead]
        rest = text[len(lead) :]
        assert len(rest) == sign_bits + magnitude_bits + fraction_bits
        exponent = 0
        if sign_bits:
            # The magnitude's leading one is implied.
            exponent = int("1" + rest[1 : 1 + magnitude_bits], 2)
            exponent = -exponent if rest[0] == "1" else exponent
        fraction = Fraction(int(rest[-fraction_bits:], 2), 2**fraction_bits)
        magnitude = (1 + fraction) * Fraction(2) ** exponent
    return "finite", sign, -magnitude if sign else magnitude


def test_every_code_of_hif8() -> None:
    for code in range(256):
        assert triple(decode(FORMATS["HiF8"], code)) == expect_hif8(code), f"{code:#x}"


def test_every_code_of_the_scales() -> None:
    for code in range(255):
        power = Fraction(2) ** (code - 127)
        assert triple(decode(FORMATS["E8M0"], code)) == ("finite", False, power)
        scale = Fraction(4 + code % 4, 4) * Fraction(2) ** (code // 4 - 48)
        assert triple(decode(FORMATS["E6M2"], code)) == ("finite", False, scale)
        assert triple(decode(FORMATS["RCPE6M2"], code)) == ("finite", False, 1 / scale)
    for name in ("E8M0", "E6M2", "RCPE6M2"):
        assert triple(decode(FORMATS[name], 0xFF)) == ("qnan", False, None)


@pytest.mark.parametrize("name", ["E1M2", "HiF4"])
def test_four_bit_lanes_count_quarters(name: str) -> None:
    for code in range(16):
        value = decode(FORMATS[name], code)
        magnitude = QUARTERS[code & 7]
        assert value.value == (-magnitude if code & 8 else magnitude)
        assert value.negative == (code >= 8)


def test_e2m1_is_the_familiar_list() -> None:
    values = [decode(FORMATS["E2M1"], code).value for code in range(8)]
    assert values == [Fraction(n, 2) for n in (0, 1, 2, 3, 4, 6, 8, 12)]


@pytest.mark.parametrize("width", [4, 8, 16])
def test_every_code_of_small_integers(width: int) -> None:
    for code in range(1 << width):
        assert decode(FORMATS[f"UINT{width}"], code).value == code
        signed = code if code < 1 << (width - 1) else code - (1 << width)
        value = decode(FORMATS[f"INT{width}"], code)
        assert (value.value, value.negative) == (signed, signed < 0)


@pytest.mark.parametrize("width", [32, 64])
def test_wide_integers(width: int) -> None:
    for code in (0, 1, (1 << (width - 1)) - 1, 1 << (width - 1), (1 << width) - 1, 0x1234_5678):
        raw = code.to_bytes(width // 8, "little")
        assert decode(FORMATS[f"UINT{width}"], code).value == int.from_bytes(raw, "little")
        signed = int.from_bytes(raw, "little", signed=True)
        assert decode(FORMATS[f"INT{width}"], code).value == signed


def spread(width: int) -> list[int]:
    """Codes of every exponent and many mantissas of a wide float."""
    generator = np.random.default_rng(width)
    codes = [int(code) for code in generator.integers(0, 2**width, 4000, dtype=np.uint64)]
    mantissa = 23 if width == 32 else 52
    for exponent in range(1 << (width - 1 - mantissa)):
        base = exponent << mantissa
        codes += [base, base + 1, base + (1 << mantissa) - 1, base | 1 << (width - 1)]
        codes += [base | 1 << (mantissa - 1)]
    return codes


@pytest.mark.parametrize(("name", "pack", "width"), [("FP32", "If", 32), ("FP64", "Qd", 64)])
def test_wide_floats_against_the_interpreter(name: str, pack: str, width: int) -> None:
    quiet = 1 << (22 if width == 32 else 51)
    for code in spread(width):
        value = decode(FORMATS[name], code)
        number = struct.unpack("<" + pack[1], struct.pack("<" + pack[0], code))[0]
        assert value.negative == bool(code >> (width - 1))
        if math.isnan(number):
            expected = ValueClass.QUIET_NAN if code & quiet else ValueClass.SIGNALING_NAN
            assert (value.category, value.value) == (expected, None)
        elif math.isinf(number):
            assert (value.category, value.value) == (ValueClass.INFINITY, None)
        else:
            assert value.value == Fraction(number)
            assert value.category is (ValueClass.FINITE if number else ValueClass.ZERO)


@pytest.mark.parametrize(
    ("described", "low_bits"),
    [
        (FORMATS["TF32"], 13),
        (FORMATS["HF32"], 12),
        (fp32r(13), 10),
        (fp32r(10), 13),
        (fp32r(1), 22),
        (fp32r(22), 1),
    ],
)
def test_fp32_containers_decode_like_fp32_or_not_at_all(described: Format, low_bits: int) -> None:
    for code in spread(32):
        if code % (1 << low_bits):
            invalid = triple(decode(described, code))
            assert invalid == ("invalid", bool(code >> 31), None)
        else:
            assert decode(described, code) == decode(FORMATS["FP32"], code)


def test_codes_beyond_a_six_bit_format_are_invalid() -> None:
    for name in ("E3M2", "E2M3"):
        for code in range(64, 256):
            assert triple(decode(FORMATS[name], code)) == ("invalid", False, None)


@pytest.mark.parametrize(
    ("name", "code"), [("E2M1", 16), ("FP16", 0x1_0000), ("INT8", -1), ("HiF8", 256)]
)
def test_a_code_must_fit_its_container(name: str, code: int) -> None:
    with pytest.raises(UsageError, match=rf"^{name}: a code must be in 0\.\.0xf+, not "):
        decode(FORMATS[name], code)


@pytest.mark.parametrize(
    ("name", "code", "category", "value"),
    [
        ("HiF8", 0x01, "finite", Fraction(1, 2**22)),
        ("HiF8", 0x0F, "finite", Fraction(15, 8)),
        ("HiF8", 0x18, "finite", Fraction(1, 2)),
        ("HiF8", 0x28, "finite", Fraction(8)),
        ("HiF8", 0x4C, "finite", Fraction(128)),
        ("HiF8", 0x6E, "finite", Fraction(32768)),
        ("HiF8", 0x7E, "finite", Fraction(1, 2**15)),
        ("HiF8", 0xEF, "inf", None),
        ("E6M2", 0x00, "finite", Fraction(1, 2**48)),
        ("E6M2", 0x01, "finite", Fraction(5, 4) / 2**48),
        ("E6M2", 0xC0, "finite", Fraction(1)),
        ("E6M2", 0xFE, "finite", Fraction(49152)),
        ("RCPE6M2", 0x00, "finite", Fraction(2**48)),
        ("E4M3FN", 0x7E, "finite", Fraction(448)),
        ("E4M3FN", 0xFF, "qnan", None),
        ("E4M3", 0x77, "finite", Fraction(240)),
        ("E4M3", 0x79, "snan", None),
        ("E5M2", 0x7D, "snan", None),
        ("E5M2", 0x7B, "finite", Fraction(57344)),
        ("E3M4", 0x6F, "finite", Fraction(31, 2)),
        ("E3M2", 0x39, "finite", Fraction(-10)),
        ("E2M3", 0x23, "finite", Fraction(-3, 8)),
        ("E2M1", 0x8, "zero", Fraction(0)),
        ("BF16", 0x446E, "finite", Fraction(952)),
        ("FP16", 0xDE1B, "finite", Fraction(-1563, 4)),
        ("FP32", 0x7F80_0001, "snan", None),
    ],
)
def test_documented_codes(name: str, code: int, category: str, value: Fraction | None) -> None:
    decoded = decode(find_format(name), code)
    assert (str(decoded.category), decoded.value) == (category, value)


ML_DTYPES = {
    "BF16": "bfloat16",
    "E3M4": "float8_e3m4",
    "E4M3": "float8_e4m3",
    "E4M3FN": "float8_e4m3fn",
    "E5M2": "float8_e5m2",
    "E3M2": "float6_e3m2fn",
    "E2M3": "float6_e2m3fn",
    "E2M1": "float4_e2m1fn",
    "E8M0": "float8_e8m0fnu",
}


def same_as_host_number(value: Value, number: float) -> bool:
    if math.isnan(number):
        return value.is_nan
    if math.isinf(number):
        return value.category is ValueClass.INFINITY and value.negative == (number < 0)
    return value.value == Fraction(number) and value.negative == bool(np.signbit(number))


@pytest.mark.parametrize("name", ML_DTYPES)
def test_every_code_against_ml_dtypes(name: str) -> None:
    ml_dtypes: Any = pytest.importorskip("ml_dtypes")
    described = FORMATS[name]
    codes = np.arange(1 << described.width, dtype=np.uint16 if name == "BF16" else np.uint8)
    with np.errstate(invalid="ignore"):  # signaling NaNs
        numbers = codes.view(getattr(ml_dtypes, ML_DTYPES[name])).astype(np.float64)
    for code, number in zip(codes.tolist(), numbers.tolist(), strict=True):
        assert same_as_host_number(decode(described, code), number), f"{name} {code:#x}"


GFLOAT = {
    "FP16": "binary16",
    "BF16": "bfloat16",
    "E4M3FN": "ocp_e4m3",
    "E5M2": "ocp_e5m2",
    "E3M2": "ocp_e3m2",
    "E2M3": "ocp_e2m3",
    "E2M1": "ocp_e2m1",
    "E8M0": "ocp_e8m0",
}


@pytest.mark.parametrize("name", GFLOAT)
def test_every_code_against_gfloat(name: str) -> None:
    gfloat: Any = pytest.importorskip("gfloat")
    formats: Any = pytest.importorskip("gfloat.formats")
    described = FORMATS[name]
    other = getattr(formats, f"format_info_{GFLOAT[name]}")
    for code in range(0, 1 << described.width, 7 if described.width == 16 else 1):
        number = float(gfloat.decode_float(other, code).fval)
        assert same_as_host_number(decode(described, code), number), f"{name} {code:#x}"
