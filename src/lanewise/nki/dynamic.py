"""Offsets of HBM views that are only known when a step runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Dynamic:
    """An index that moves a view along a dimension of ``limit`` places, ``stride`` apart.

    ``index`` is an int, a tile of one element, or (``by_row``) a tile with one index for each
    row of the view's first dimension, whose own stride is then not used.
    """

    index: Any
    stride: int
    limit: int
    by_row: bool


@dataclass(frozen=True, slots=True, eq=False)
class Offsets:
    """Any places at all: an explicit element of the storage for each element of the view.

    ``valid`` marks the elements that take part (None: all).
    """

    places: NDArray[np.int64]
    valid: NDArray[np.bool_] | None = None
