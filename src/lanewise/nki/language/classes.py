"""The base class of kernels' own value types, and names for annotations."""

from __future__ import annotations

from typing import Any

from lanewise.nki.dtypes import NkiDtype as DType
from lanewise.nki.tile import NkiTensor


class NKIObject:
    """A class whose instances kernels pass around; its constructor takes fields by keyword.

    Dataclasses inherit from it, frozen ones too.
    """

    def __init__(self, **fields: Any) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)


__all__ = ["DType", "NKIObject", "NkiTensor"]
