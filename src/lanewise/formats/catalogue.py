"""Every format by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from lanewise.errors import unknown_name
from lanewise.formats.description import Format
from lanewise.formats.elements import (
    E1M2,
    E2M1,
    E2M3,
    E2M5,
    E3M2,
    E6M2,
    E8M0,
    HIF4,
    HIF8,
    RCPE6M2,
)
from lanewise.formats.floats import (
    BF16,
    E3M4,
    E4M3,
    E4M3FN,
    E5M2,
    FP16,
    FP32,
    FP64,
    HF32,
    TF32,
)
from lanewise.formats.integers import (
    INT4,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT4,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
)

FORMATS: Final[Mapping[str, Format]] = MappingProxyType(
    {
        description.name: description
        for description in (
            FP64,
            FP32,
            FP16,
            BF16,
            TF32,
            HF32,
            E3M4,
            E4M3,
            E4M3FN,
            E5M2,
            E2M5,
            E3M2,
            E2M3,
            E2M1,
            E1M2,
            HIF4,
            E8M0,
            E6M2,
            RCPE6M2,
            HIF8,
            INT4,
            INT8,
            INT16,
            INT32,
            INT64,
            UINT4,
            UINT8,
            UINT16,
            UINT32,
            UINT64,
        )
    }
)
"""Every format of fixed width by name; ``fp32r`` makes the one that has a parameter."""


def find_format(name: str) -> Format:
    """The format called ``name``; case does not matter.

    Raises ``UsageError`` with the names nearest to ``name`` if there is none.
    """
    try:
        return _BY_FOLDED_NAME[name.casefold()]
    except KeyError:
        raise unknown_name("format", name, FORMATS) from None


_BY_FOLDED_NAME: Final = {name.casefold(): found for name, found in FORMATS.items()}
