"""nc_find_index8: MATCH_VALUE_LOAD with the values in order, then FIND_INDEX8."""

from __future__ import annotations

from typing import Any

from lanewise.neuron.instructions import FindIndex8
from lanewise.nki.call import Call, Lowered, Tiles, form_of, interface
from lanewise.nki.checks import INPUTS, Checker, Count, Demands, Operand
from lanewise.nki.estimate import plain
from lanewise.nki.isa.search import (
    KEYS,
    MOST_ELEMENTS,
    MOST_RANK,
    VALS,
    check_rank,
    fitted,
    load_keys,
)

_DEMANDS = Demands(
    operands=(
        Operand("data", "src", INPUTS, "in-dtype"),
        VALS,
        Operand("dst", "dst", ("uint32", "uint16"), "index-dtype", writes=True),
    ),
    counts=(
        Count("data", KEYS, MOST_ELEMENTS, "source-count"),
        Count("vals", KEYS, KEYS, "key-count"),
        Count("dst", KEYS, KEYS, "result-count"),
    ),
)


@interface
def nc_find_index8(dst: Any, data: Any, vals: Any, name: str | None = None) -> None:
    """The position of each of the eight ``vals`` in its partition of ``data``.

    The first element that equals the value as FP32; equal values take successive positions. A
    value that is not there gives all ones. ``dst`` is uint32 or uint16.
    """
    tiles = {"dst": dst, "data": data, "vals": vals}
    Call.begin("nc_find_index8", name).issue(lower, tiles)


def lower(call: Call, tiles: Tiles, rank: int = MOST_RANK) -> Lowered:
    """0x6d, 0x6e."""
    dst, data, vals = tiles["dst"], tiles["data"], tiles["vals"]
    checker = Checker(call, _DEMANDS, {"data": data, "vals": vals, "dst": dst})
    checker.run(sizes=lambda: check_rank(call, "data", data, rank))
    keys = load_keys(call, vals, negated=True)
    word = FindIndex8(
        src=fitted(call, "data", data, 4).tensor(call.generation),
        dst=fitted(call, "dst", dst, 2).tensor(call.generation),
        in_dtype=data.dtype.code,
        out_dtype=dst.dtype.code,
        num_active_channels=data.geometry.partitions,
    )
    return Lowered(
        (keys, word.to_bytes()),
        reads=("data", "vals"),
        writes=("dst",),
        estimate=plain(data.geometry.elements),
        form=form_of(data.dtype, vals.dtype),
    )
