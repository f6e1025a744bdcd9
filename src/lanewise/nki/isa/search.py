"""What max8, nc_find_index8 and nc_match_replace8 share: demands, ranks, keys, ties."""

from __future__ import annotations

from typing import Any

from lanewise.neuron.instructions import MatchValueLoad
from lanewise.nki.call import Call
from lanewise.nki.checks import INPUTS, Operand
from lanewise.nki.isa.tensor_copy import refuse_dimensions
from lanewise.nki.lowering import Walked, trouble, walked
from lanewise.nki.tile import NkiTensor

KEYS = 8
MOST_ELEMENTS = 16384
#: Dimensions a searched tile may have, the partition's included; five in the older world.
MOST_RANK = 3
MOST_RANK_BETA1 = 5

VALS = Operand("vals", "src", INPUTS, "in-dtype")


def check_rank(call: Call, operand: str, tile: NkiTensor, most: int) -> None:
    """An error for a tile of more dimensions than the interface takes."""
    if tile.ndim > most:
        raise call.refuse(operand, f"rank {tile.ndim} must be at most {most}", tile.ndim, str(most))


def fitted(call: Call, operand: str, tile: NkiTensor, limit: int) -> Walked:
    """The tile's pattern; an error when it takes more than one word of ``limit`` dimensions."""
    found = walked(tile)
    if trouble(found.pairs, limit) is not None:
        refuse_dimensions(call, {operand: tile}, limit)
    return found


def load_keys(call: Call, vals: NkiTensor, *, negated: bool) -> bytes:
    """0x6d. The word loads key k to slot 7 - k, so a negated walk gives slot k = vals[k]."""
    keys = fitted(call, "vals", vals, 2)
    keys = keys.negated() if negated else keys
    word: Any = MatchValueLoad(
        src=keys.tensor(call.generation),
        dtype=vals.dtype.code,
        num_active_channels=vals.geometry.partitions,
    )
    data: bytes = word.to_bytes()
    return data
