"""max8: MAX8 with its destination walked backwards, as the word writes the smallest first."""

from __future__ import annotations

from typing import Any

import numpy as np

from lanewise.neuron.instructions import Max8
from lanewise.nki.call import Call, Lowered, Tiles, form_of, interface
from lanewise.nki.checks import INPUTS, Checker, Count, Demands, Operand
from lanewise.nki.errors import TieNote
from lanewise.nki.estimate import plain
from lanewise.nki.isa.search import KEYS, MOST_ELEMENTS, MOST_RANK, check_rank, fitted
from lanewise.nki.numbers import to_float

_DEMANDS = Demands(
    operands=(
        Operand("src", "src", INPUTS, "in-dtype"),
        Operand("dst", "dst", INPUTS, "out-dtype", writes=True),
    ),
    counts=(
        Count("src", KEYS, MOST_ELEMENTS, "source-count"),
        Count("dst", KEYS, KEYS, "result-count"),
    ),
)


@interface
def max8(dst: Any, src: Any, name: str | None = None) -> None:
    """The eight largest elements of each partition of ``src``, largest first.

    8 to 16384 elements of any type a partition; ``dst`` has eight. Values are compared and leave
    as FP32. NaN is never among them; where fewer than eight are left, -inf follows.
    """
    Call.begin("max8", name).issue(lower, {"dst": dst, "src": src})


def lower(call: Call, tiles: Tiles, rank: int = MOST_RANK) -> Lowered:
    """0x6c."""
    checker = Checker(call, _DEMANDS, {"src": tiles["src"], "dst": tiles["dst"]})
    dst, src = tiles["dst"], tiles["src"]
    checker.run(sizes=lambda: check_rank(call, "src", src, rank))
    source = fitted(call, "src", src, 4)
    target = fitted(call, "dst", dst, 2).negated()
    word = Max8(
        src=source.tensor(call.generation),
        dst=target.tensor(call.generation),
        in_dtype=src.dtype.code,
        out_dtype=dst.dtype.output,
        num_active_channels=src.geometry.partitions,
    )
    return Lowered(
        (word.to_bytes(),),
        reads=("src",),
        writes=("dst",),
        estimate=plain(src.geometry.elements),
        form=form_of(src.dtype, dst.dtype),
        after=_note_ties,
    )


def _note_ties(call: Call, tiles: Tiles) -> None:
    """Equal values among the eight are worth knowing when indices are compared later."""
    if call.run.has_warned(TieNote, call.location):
        return
    dst = tiles["dst"]
    codes = dst.codes().reshape(dst.geometry.partitions, KEYS)
    values = to_float(codes, dst.dtype, call.run.machine.profile)
    equal = (values[:, 1:] == values[:, :-1]) & np.isfinite(values[:, 1:])
    if equal.any():
        rows = np.flatnonzero(equal.any(axis=1))
        call.run.warn_once(
            TieNote,
            f"max8: {len(rows)} of {len(values)} partitions have equal values among their top "
            f"eight (first: partition {int(rows[0])}); indices of equal values follow the tie rule",
            call.location,
            quiet=True,
        )
