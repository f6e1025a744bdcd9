"""Runs of bits: where a field lies in its word."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class BitRange:
    """``width`` bits starting at bit ``low`` (bit 0 is the least significant of the word)."""

    low: int
    width: int

    def __post_init__(self) -> None:
        if self.low < 0 or self.width < 1:
            raise ValueError(
                f"a bit range needs low >= 0 and width >= 1, not low={self.low}, width={self.width}"
            )

    @property
    def high(self) -> int:
        """The most significant bit of the run, inclusive."""
        return self.low + self.width - 1

    @property
    def mask(self) -> int:
        """The run as a mask over the whole word."""
        return ((1 << self.width) - 1) << self.low

    def shifted(self, amount: int) -> BitRange:
        """The same run ``amount`` bits higher: a part's field seen from the whole word."""
        return BitRange(self.low + amount, self.width)

    @property
    def byte_text(self) -> str:
        """The run in bytes where it falls on bytes ("byte 12", "bytes 12..15"), else in bits."""
        if self.low % 8 or self.width % 8:
            return str(self)
        first, last = self.low // 8, self.high // 8
        return f"byte {first}" if first == last else f"bytes {first}..{last}"

    def __str__(self) -> str:
        return f"bit {self.low}" if self.width == 1 else f"bits {self.high}..{self.low}"


def bits(high: int, low: int | None = None) -> BitRange:
    """Bits ``high`` down to ``low``, both inclusive, as manuals write them; one bit without low."""
    if low is None:
        low = high
    return BitRange(low, high - low + 1)


def byte(offset: int, size: int = 1) -> BitRange:
    """``size`` whole bytes from byte ``offset`` of a little-endian word."""
    return BitRange(8 * offset, 8 * size)
