"""What a compare and a carrier should give, said a second time and element by element.

It imports nothing of lanewise: values come from exact fractions made here or from NumPy and
ml_dtypes, bits from integer arithmetic on single elements.
"""

from __future__ import annotations

import math
from fractions import Fraction

# name: exponent bits, fraction bits, bias, dropped low bits, has infinity
FLOATS = {
    "FP64": (11, 52, 1023, 0, True),
    "FP32": (8, 23, 127, 0, True),
    "TF32": (8, 23, 127, 13, True),
    "HF32": (8, 23, 127, 12, True),
    "FP16": (5, 10, 15, 0, True),
    "BF16": (8, 7, 127, 0, True),
    "E4M3": (4, 3, 7, 0, False),
    "E5M2": (5, 2, 15, 0, True),
}
INTEGERS = {f"{sign}{width}": (sign == "S", width) for sign in "SU" for width in (8, 16, 32, 64)}
TYPES = [*FLOATS, *INTEGERS]
RELATIONS = ("EQ", "NE", "LT", "GT", "LE", "GE")
WIDTHS = {
    **{name: 1 + e + f for name, (e, f, _, _, _) in FLOATS.items()},
    **{name: width for name, (_, width) in INTEGERS.items()},
}


def value(dtype: str, code: int) -> Fraction | float | str:
    """A number, an infinity (as a float), or "qnan" or "snan"."""
    if dtype in INTEGERS:
        signed, width = INTEGERS[dtype]
        return Fraction(code - (1 << width) if signed and code >> (width - 1) else code)
    exponent_bits, fraction_bits, bias, _, has_infinity = FLOATS[dtype]
    sign = -1 if code >> (exponent_bits + fraction_bits) else 1
    exponent = (code >> fraction_bits) & ((1 << exponent_bits) - 1)
    fraction = code & ((1 << fraction_bits) - 1)
    if exponent == (1 << exponent_bits) - 1:
        if has_infinity:
            if fraction == 0:
                return sign * math.inf
            return "qnan" if fraction >> (fraction_bits - 1) else "snan"
        if fraction == (1 << fraction_bits) - 1:
            return "qnan"
    if exponent == 0:
        return sign * Fraction(fraction, 1 << fraction_bits) * Fraction(2) ** (1 - bias)
    significand = 1 + Fraction(fraction, 1 << fraction_bits)
    return sign * significand * Fraction(2) ** (exponent - bias)


def holds(dtype: str, relation: str, left: int, right: int) -> tuple[bool, bool]:
    """Whether the relation holds, and whether NV is raised."""
    a, b = value(dtype, left), value(dtype, right)
    if isinstance(a, str) or isinstance(b, str):
        return relation == "NE", "snan" in (a, b)
    table = {"EQ": a == b, "NE": a != b, "LT": a < b, "GT": a > b, "LE": a <= b, "GE": a >= b}
    return table[relation], False


def is_encoding(dtype: str, code: int) -> bool:
    """Whether the low bits that a shortened type drops are clear."""
    dropped = FLOATS.get(dtype, (0, 0, 0, 0, False))[3]
    return code & ((1 << dropped) - 1) == 0


ROWS = {"CUBE_M32": 32, "CUBE_M16": 16}


def mask_word(layout: str, width: int, results: list[list[bool]], sat: int, padding: int) -> int:
    """The GPR that a compare publishes, bit by bit."""
    rows = ROWS[layout]
    fields = 2 if layout == "CUBE_M32" or width == 32 else 4
    first = fields * sat if width == 8 else 0
    word = padding
    for row, line in enumerate(results):
        for field in range(fields):
            if first + field < len(line):
                bit = row + field * rows
                word = word & ~(1 << bit) | line[first + field] << bit
    return word


def transposed_byte(words: list[int], layout: str, row: int, byte: int) -> int:
    """Byte ``byte`` of a row that TGPR2T makes of four words."""
    rows = ROWS[layout]
    whole = sum(word << (64 * index) for index, word in enumerate(words))
    return sum((whole >> (rows * (8 * byte + bit) + row) & 1) << bit for bit in range(8))
