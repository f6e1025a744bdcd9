"""Elements and scales of block-scaled tensors and HiF8, one literal each.

Sources: the PTO number formats; E2M5 the Neuron data type table. Codes are single elements: how
many share a byte is the machines' business.
"""

from __future__ import annotations

from typing import Final

from lanewise.formats.description import Format

# Block-scaled elements: every code is finite. E2M5 is FP8_EXP2 of the Neuron data type table,
# whose bias and lack of special values are inferred from its siblings E2M1 and E2M3.
E2M5: Final = Format(
    name="E2M5",
    kind="float",
    width=8,
    container=8,
    signed=True,
    exponent_bits=2,
    mantissa_bits=5,
    low_zero_bits=0,
    bias=1,
    has_subnormals=True,
    has_infinity=False,
    nan_rule="none",
    quiet_nan=None,
)
E3M2: Final = Format(
    name="E3M2",
    kind="float",
    width=6,
    container=8,
    signed=True,
    exponent_bits=3,
    mantissa_bits=2,
    low_zero_bits=0,
    bias=3,
    has_subnormals=True,
    has_infinity=False,
    nan_rule="none",
    quiet_nan=None,
)
E2M3: Final = Format(
    name="E2M3",
    kind="float",
    width=6,
    container=8,
    signed=True,
    exponent_bits=2,
    mantissa_bits=3,
    low_zero_bits=0,
    bias=1,
    has_subnormals=True,
    has_infinity=False,
    nan_rule="none",
    quiet_nan=None,
)
E2M1: Final = Format(
    name="E2M1",
    kind="float",
    width=4,
    container=4,
    signed=True,
    exponent_bits=2,
    mantissa_bits=1,
    low_zero_bits=0,
    bias=1,
    has_subnormals=True,
    has_infinity=False,
    nan_rule="none",
    quiet_nan=None,
)

# Sign and magnitude in quarters, (code & 7) / 4: with bias 1 both exponents have the same step.
E1M2: Final = Format(
    name="E1M2",
    kind="float",
    width=4,
    container=4,
    signed=True,
    exponent_bits=1,
    mantissa_bits=2,
    low_zero_bits=0,
    bias=1,
    has_subnormals=True,
    has_infinity=False,
    nan_rule="none",
    quiet_nan=None,
)
HIF4: Final = Format(
    name="HiF4",
    kind="float",
    width=4,
    container=4,
    signed=True,
    exponent_bits=1,
    mantissa_bits=2,
    low_zero_bits=0,
    bias=1,
    has_subnormals=True,
    has_infinity=False,
    nan_rule="none",
    quiet_nan=None,
)

# Scales: unsigned, no zero, all ones is NaN.
E8M0: Final = Format(
    name="E8M0",
    kind="float",
    width=8,
    container=8,
    signed=False,
    exponent_bits=8,
    mantissa_bits=0,
    low_zero_bits=0,
    bias=127,
    has_subnormals=False,
    has_infinity=False,
    nan_rule="all_ones",
    quiet_nan=0xFF,
)
E6M2: Final = Format(
    name="E6M2",
    kind="float",
    width=8,
    container=8,
    signed=False,
    exponent_bits=6,
    mantissa_bits=2,
    low_zero_bits=0,
    bias=48,
    has_subnormals=False,
    has_infinity=False,
    nan_rule="all_ones",
    quiet_nan=0xFF,
)
RCPE6M2: Final = Format(
    name="RCPE6M2",
    kind="reciprocal",
    width=8,
    container=8,
    signed=False,
    exponent_bits=6,
    mantissa_bits=2,
    low_zero_bits=0,
    bias=48,
    has_subnormals=False,
    has_infinity=False,
    nan_rule="all_ones",
    quiet_nan=0xFF,
)

# The fields of HiF8 change width with the exponent; its codec knows them.
HIF8: Final = Format(
    name="HiF8",
    kind="tapered",
    width=8,
    container=8,
    signed=True,
    exponent_bits=0,
    mantissa_bits=0,
    low_zero_bits=0,
    bias=0,
    has_subnormals=True,
    has_infinity=True,
    nan_rule="single",
    quiet_nan=0x80,
)
