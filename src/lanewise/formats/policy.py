"""The choices a conversion leaves open, as one immutable value."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

from lanewise.errors import unknown_name

_CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "float_to_int": ("truncate", "nearest"),
    "float_overflow": ("saturate", "infinity"),
    "nan_to_int": ("zero",),
}


@dataclass(frozen=True, slots=True)
class ConversionPolicy:
    """How a conversion treats what its target cannot hold.

    * ``float_to_int``: ``truncate`` toward zero or round to ``nearest`` (ties to even), then
      saturate.
    * ``float_overflow``: a finite value that rounds beyond the largest finite one of a float
      format becomes that largest value (``saturate``) or an ``infinity`` (a format without one:
      its NaN; without either: the largest finite value). An infinity always stays one where the
      format has one; where it has none it follows the same field.
    * ``nan_to_int``: a NaN becomes ``zero``.

    Raises ``UsageError`` for any other choice.

    Source: the profile fields of the same names.
    """

    float_to_int: str
    float_overflow: str
    nan_to_int: str = "zero"

    def __post_init__(self) -> None:
        for field in fields(self):
            chosen = getattr(self, field.name)
            if chosen not in _CHOICES[field.name]:
                raise unknown_name(f"{field.name} choice", chosen, _CHOICES[field.name])
