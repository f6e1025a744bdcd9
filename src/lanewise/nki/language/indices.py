"""Index helpers."""

from __future__ import annotations

from typing import Any


def ds(start: Any, size: Any) -> slice:
    """``size`` elements from ``start``."""
    first = start.__index__() if hasattr(start, "__index__") else int(start)
    return slice(first, first + int(size))
