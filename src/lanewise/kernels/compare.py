"""Order of FP32 values given as bits.

Source: fixed rules (equality of search keys), range comparison: FP32 order, -0 equals +0, a NaN
compares false with everything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from lanewise.errors import unknown_name
from lanewise.kernels.arrays import Hub, Truth, check_hub

Relation: TypeAlias = Literal["eq", "gt", "ge", "le", "lt"]

_MAGNITUDE: Final = np.uint32(0x7FFF_FFFF)
_INFINITY: Final = np.uint32(0x7F80_0000)

_RELATIONS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "eq": np.equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "le": np.less_equal,
    "lt": np.less,
}


def is_nan(hub: Hub) -> Truth:
    """True where ``hub`` holds a NaN."""
    check_hub(hub, "hub")
    return (hub & _MAGNITUDE) > _INFINITY


def ordered_key(hub: Hub) -> npt.NDArray[np.int32]:
    """Integers in the order of the FP32 values; both zeros are 0.

    NaNs come out beyond the infinity of their sign: mask them first where they matter.
    """
    check_hub(hub, "hub")
    magnitude = (hub & _MAGNITUDE).astype(np.int32)
    # All ones where the sign is set: x ^ -1 - -1 is -x, x ^ 0 - 0 is x.
    sign = -(hub >> np.uint32(31)).astype(np.int32)
    return (magnitude ^ sign) - sign


def compare(left: Hub, relation: Relation, right: Hub) -> Truth:
    """``left relation right`` for every element; shapes broadcast.

    Raises ``UsageError`` for an unknown relation.
    """
    if relation not in _RELATIONS:
        raise unknown_name("relation", relation, _RELATIONS)
    truth: Truth = _RELATIONS[relation](ordered_key(left), ordered_key(right))
    return truth & ~is_nan(left) & ~is_nan(right)
