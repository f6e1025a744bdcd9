"""What a number format is: one immutable description that the codec reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from lanewise.errors import UsageError

Kind: TypeAlias = Literal["float", "signed", "unsigned", "reciprocal", "tapered"]
"""How a code is read.

* ``float``: sign, exponent and mantissa fields of fixed width; scale formats and the
  sign-and-magnitude lanes (one exponent bit, bias 1) are special cases of the same rule.
* ``signed``: a two's complement integer. ``unsigned``: a plain integer.
* ``reciprocal``: the exact reciprocal of what the ``float`` rule gives.
* ``tapered``: HiF8, whose exponent field changes width with the exponent.
"""

NanRule: TypeAlias = Literal["ieee", "all_ones", "single", "none"]
"""Which codes are NaN.

* ``ieee``: exponent all ones and mantissa not zero; the top mantissa bit makes it quiet.
* ``all_ones``: only exponent and mantissa all ones (the "fn" formats and the scales), quiet.
* ``single``: only the code ``quiet_nan``. ``none``: no code.
"""

KINDS: Final[tuple[str, ...]] = get_args(Kind)
NAN_RULES: Final[tuple[str, ...]] = get_args(NanRule)


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A number format, every property spelled.

    ``width`` counts the bits of the code, ``container`` the bits of the unit it is stored in: a
    6-bit code lies in a byte, and a code that reaches outside its width there is invalid. 4-bit
    formats have a container of 4 (two share a byte). ``low_zero_bits`` are the container's low
    bits that are always zero: FP32 containers with a shortened mantissa.

    ``bias`` follows the IEEE convention: a normal number is
    ``1.mantissa * 2**(exponent - bias)``. With ``has_subnormals`` the exponent field 0 means
    ``0.mantissa * 2**(1 - bias)``; without it 0 is a normal exponent and there is no zero.
    ``quiet_nan`` is the canonical NaN, sign bit clear. Integers leave the float fields at 0.

    Raises ``UsageError`` for a description that contradicts itself.
    """

    name: str
    kind: Kind
    width: int
    container: int
    signed: bool
    exponent_bits: int
    mantissa_bits: int
    low_zero_bits: int
    bias: int
    has_subnormals: bool
    has_infinity: bool
    nan_rule: NanRule
    quiet_nan: int | None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UsageError(f"{self.name}: kind must be one of {KINDS}, not {self.kind!r}")
        if self.nan_rule not in NAN_RULES:
            raise UsageError(
                f"{self.name}: nan_rule must be one of {NAN_RULES}, not {self.nan_rule!r}"
            )
        if not 1 <= self.width <= self.container:
            raise UsageError(
                f"{self.name}: width must be in 1..container ({self.container}), not {self.width}"
            )
        if (self.nan_rule == "none") != (self.quiet_nan is None):
            raise UsageError(
                f"{self.name}: quiet_nan must be given exactly when there is a NaN,"
                f" not {self.quiet_nan!r} with nan_rule {self.nan_rule!r}"
            )
        if self.kind in {"float", "reciprocal"}:
            fields = self.signed + self.exponent_bits + self.mantissa_bits + self.low_zero_bits
            if fields != self.width:
                raise UsageError(
                    f"{self.name}: sign, exponent, mantissa and low zero bits must fill"
                    f" {self.width} bits, not {fields}"
                )
            if self.has_infinity and self.nan_rule != "ieee":
                raise UsageError(
                    f"{self.name}: an infinity needs nan_rule 'ieee', not {self.nan_rule!r}"
                )

    @property
    def is_integer(self) -> bool:
        """True for two's complement and plain integers."""
        return self.kind in {"signed", "unsigned"}

    @property
    def code_mask(self) -> int:
        """All bits of the code."""
        return (1 << self.width) - 1

    @property
    def sign_mask(self) -> int:
        """The sign bit, 0 for a format without sign."""
        return 1 << (self.width - 1) if self.signed else 0

    @property
    def infinity(self) -> int | None:
        """The code of positive infinity, None where the format has none."""
        if not self.has_infinity:
            return None
        if self.kind == "tapered":
            return 0x6F
        return ((1 << self.exponent_bits) - 1) << (self.mantissa_bits + self.low_zero_bits)

    @property
    def max_finite(self) -> int:
        """The code of the largest finite value, sign clear.

        Raises ``UsageError`` for reciprocal formats, whose codes fall as their values rise.
        """
        if self.kind == "signed":
            return (1 << (self.width - 1)) - 1
        if self.kind == "unsigned":
            return self.code_mask
        if self.kind == "tapered":
            return 0x6E
        if self.kind == "reciprocal":
            raise UsageError(f"{self.name}: the codes of a reciprocal format fall as values rise")
        magnitude = (1 << (self.exponent_bits + self.mantissa_bits)) - 1
        if self.nan_rule == "ieee":
            magnitude = (((1 << self.exponent_bits) - 1) << self.mantissa_bits) - 1
        elif self.nan_rule == "all_ones":
            magnitude -= 1
        return magnitude << self.low_zero_bits

    @property
    def min_value(self) -> int:
        """The smallest value of an integer format."""
        return -(1 << (self.width - 1)) if self.kind == "signed" else 0

    @property
    def max_value(self) -> int:
        """The largest value of an integer format."""
        return (1 << (self.width - (self.kind == "signed"))) - 1

    def check_code(self, code: int) -> None:
        """Raise ``UsageError`` unless ``code`` fits the container."""
        if not 0 <= code < 1 << self.container:
            raise UsageError(
                f"{self.name}: a code must be in 0..0x{(1 << self.container) - 1:x}, not {code:#x}"
            )
