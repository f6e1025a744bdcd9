"""Floats of 64, 32, 16 and 8 bits, one literal each.

Sources: the Neuron data type table (1-e-m; FP32R as an FP32 container) and the PTO number formats
(TF32 and HF32 as FP32 containers). PTO's own name E4M3 means ``E4M3FN`` here.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from lanewise.errors import UsageError
from lanewise.formats.description import Format

# IEEE 754 interchange formats and bfloat16.
FP64: Final = Format(
    name="FP64",
    kind="float",
    width=64,
    container=64,
    signed=True,
    exponent_bits=11,
    mantissa_bits=52,
    low_zero_bits=0,
    bias=1023,
    has_subnormals=True,
    has_infinity=True,
    nan_rule="ieee",
    quiet_nan=0x7FF8_0000_0000_0000,
)
FP32: Final = Format(
    name="FP32",
    kind="float",
    width=32,
    container=32,
    signed=True,
    exponent_bits=8,
    mantissa_bits=23,
    low_zero_bits=0,
    bias=127,
    has_subnormals=True,
    has_infinity=True,
    nan_rule="ieee",
    quiet_nan=0x7FC0_0000,
)
FP16: Final = Format(
    name="FP16",
    kind="float",
    width=16,
    container=16,
    signed=True,
    exponent_bits=5,
    mantissa_bits=10,
    low_zero_bits=0,
    bias=15,
    has_subnormals=True,
    has_infinity=True,
    nan_rule="ieee",
    quiet_nan=0x7E00,
)
BF16: Final = Format(
    name="BF16",
    kind="float",
    width=16,
    container=16,
    signed=True,
    exponent_bits=8,
    mantissa_bits=7,
    low_zero_bits=0,
    bias=127,
    has_subnormals=True,
    has_infinity=True,
    nan_rule="ieee",
    quiet_nan=0x7FC0,
)

# FP32 containers whose low bits are zero.
TF32: Final = Format(
    name="TF32",
    kind="float",
    width=32,
    container=32,
    signed=True,
    exponent_bits=8,
    mantissa_bits=10,
    low_zero_bits=13,
    bias=127,
    has_subnormals=True,
    has_infinity=True,
    nan_rule="ieee",
    quiet_nan=0x7FC0_0000,
)
HF32: Final = Format(
    name="HF32",
    kind="float",
    width=32,
    container=32,
    signed=True,
    exponent_bits=8,
    mantissa_bits=11,
    low_zero_bits=12,
    bias=127,
    has_subnormals=True,
    has_infinity=True,
    nan_rule="ieee",
    quiet_nan=0x7FC0_0000,
)

# Eight bits. E4M3 has the IEEE special values (largest 240), E4M3FN trades them for range
# (largest 448, no infinity).
E3M4: Final = Format(
    name="E3M4",
    kind="float",
    width=8,
    container=8,
    signed=True,
    exponent_bits=3,
    mantissa_bits=4,
    low_zero_bits=0,
    bias=3,
    has_subnormals=True,
    has_infinity=True,
    nan_rule="ieee",
    quiet_nan=0x78,
)
E4M3: Final = Format(
    name="E4M3",
    kind="float",
    width=8,
    container=8,
    signed=True,
    exponent_bits=4,
    mantissa_bits=3,
    low_zero_bits=0,
    bias=7,
    has_subnormals=True,
    has_infinity=True,
    nan_rule="ieee",
    quiet_nan=0x7C,
)
E4M3FN: Final = Format(
    name="E4M3FN",
    kind="float",
    width=8,
    container=8,
    signed=True,
    exponent_bits=4,
    mantissa_bits=3,
    low_zero_bits=0,
    bias=7,
    has_subnormals=True,
    has_infinity=False,
    nan_rule="all_ones",
    quiet_nan=0x7F,
)
E5M2: Final = Format(
    name="E5M2",
    kind="float",
    width=8,
    container=8,
    signed=True,
    exponent_bits=5,
    mantissa_bits=2,
    low_zero_bits=0,
    bias=15,
    has_subnormals=True,
    has_infinity=True,
    nan_rule="ieee",
    quiet_nan=0x7E,
)


@cache
def fp32r(mantissa_bits: int) -> Format:
    """FP32R: an FP32 container whose mantissa keeps ``mantissa_bits`` (1..22) bits.

    The device's rounding is undocumented; 13 ("FP22") and 10 (tfloat32) are the two readings.
    Raises ``UsageError`` for another number of bits.

    Source: profile field fp32r_mantissa_bits.
    """
    if not 1 <= mantissa_bits <= 22:
        raise UsageError(f"FP32R keeps 1..22 mantissa bits, not {mantissa_bits!r}")
    return Format(
        name="FP32R",
        kind="float",
        width=32,
        container=32,
        signed=True,
        exponent_bits=8,
        mantissa_bits=mantissa_bits,
        low_zero_bits=23 - mantissa_bits,
        bias=127,
        has_subnormals=True,
        has_infinity=True,
        nan_rule="ieee",
        quiet_nan=0x7FC0_0000,
    )
