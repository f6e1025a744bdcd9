"""nonzero_with_count: NONZERO_WITH_COUNT on the GpSimd engine.

The device works on partitions 0, 16, …, 112 of the view only; the others keep their bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lanewise.neuron.instructions import NonzeroWithCount
from lanewise.nki.call import Call, Lowered, Tiles, interface
from lanewise.nki.checks import Checker, Demands, Operand
from lanewise.nki.estimate import UNKNOWN
from lanewise.nki.isa.search import fitted
from lanewise.nki.targets import nc_version

_DEMANDS = Demands(
    operands=(
        Operand("src", "src", ("float32", "int32"), "in-dtype", sbuf_only=True),
        Operand("dst", "dst", ("int32",), "out-dtype", writes=True, sbuf_only=True),
    ),
    since=nc_version.gen3,
)


@interface
def nonzero_with_count(
    dst: Any,
    src: Any,
    index_offset: int = 0,
    padding_val: int = -1,
    name: str | None = None,
) -> None:
    """The positions of the elements of ``src`` that are not 0, and how many there are.

    Positions in ascending order plus ``index_offset``, then ``padding_val``; the last element of
    ``dst``, which has one more than ``src``, is the count. Only partitions 0, 16, …, 112 of the
    view take part.
    """
    call = Call.begin("nonzero_with_count", name)
    call.issue(
        lower,
        {"dst": dst, "src": src},
        {
            "offset": _int32(call, "index_offset", index_offset, "index-offset"),
            "padding": _int32(call, "padding_val", padding_val, "padding-value"),
        },
    )


def lower(call: Call, tiles: Tiles, offset: int, padding: int) -> Lowered:
    """0xf2."""
    dst, src = tiles["dst"], tiles["src"]

    def room_for_count() -> None:
        have, want = dst.geometry.elements, src.geometry.elements + 1
        if have != want:
            raise call.refuse(
                "dst",
                f"elements per partition {have} must be {want}, one more than in src",
                have,
                str(want),
                "count-plus-one",
            )

    Checker(call, _DEMANDS, {"src": src, "dst": dst}).run(sizes=room_for_count)
    word = NonzeroWithCount(
        src=fitted(call, "src", src, 3).tensor(call.generation),
        dst=fitted(call, "dst", dst, 3).tensor(call.generation),
        in_dtype=src.dtype.code,
        out_dtype=dst.dtype.code,
        index_offset=offset,
        padding_value=padding,
        num_active_channels=src.geometry.partitions,
    )
    return Lowered(
        (word.to_bytes(),),
        reads=(),
        writes=("dst",),
        estimate=UNKNOWN,
        engine="pool",
        inspect=_check_lanes_read,
        partial=_lanes_written,
    )


def _int32(call: Call, argument: str, value: Any, rule: str) -> int:
    if not hasattr(value, "__index__") or isinstance(value, bool):
        kind = type(value).__name__
        raise call.refuse(argument, f"is a {kind}, must be an integer", kind, "an integer", rule)
    number = int(value)
    if not -(1 << 31) <= number < 1 << 31:
        raise call.refuse(argument, f"{number} must be an int32", number, "an int32", rule)
    return number & 0xFFFFFFFF


def _step(call: Call) -> int:
    return 16 if call.run.machine.profile.nonzero_lanes == "every16" else 1


def _check_lanes_read(call: Call, tiles: Tiles) -> None:
    """Only the partitions that take part are read."""
    src = tiles["src"]
    if not src.storage.written.complete:
        step = _step(call)
        rows = src if step == 1 else src[::step]
        call.run.check_read(call.function, "src", rows, call.location)


def _lanes_written(call: Call, tiles: Tiles) -> dict[str, Any]:
    dst = tiles["dst"]
    rows = np.arange(dst.geometry.partitions) % _step(call) == 0
    return {"dst": rows.reshape((-1,) + (1,) * (dst.ndim - 1))}
