"""nc_match_replace8: MATCH_VALUE_LOAD, MATCH_REPLACE8, and DVE_READ_INDICES for ``dst_idx``.

The values are loaded as they lie, so the last of the eight is in slot 0 and served first: among
equal values the highest column gets the first position. The whole row passes through FP32.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lanewise.neuron.instructions import (
    DveReadIndices,
    MatchReplace8,
)
from lanewise.nki.call import Call, Lowered, Tiles, form_of, interface
from lanewise.nki.checks import Checker, Count, Demands, Operand
from lanewise.nki.errors import ThroughFP32
from lanewise.nki.estimate import at_least
from lanewise.nki.isa.search import KEYS, MOST_ELEMENTS, VALS, fitted, load_keys
from lanewise.nki.numbers import fp32_bits, is_number
from lanewise.nki.targets import nc_version

_EXACT = 1 << 24
_TYPES = ("float16", "bfloat16", "float32", "uint8", "bool_", "uint16", "uint32", "int32")
_DEMANDS = Demands(
    operands=(
        Operand("data", "src", _TYPES, "in-dtype"),
        VALS,
        Operand("dst", "dst", _TYPES, "out-dtype", writes=True),
        Operand(
            "dst_idx", "dst", ("uint32", "uint16"), "index-dtype", writes=True, is_optional=True
        ),
    ),
    alike=(("dst", "data", "same-count"),),
    counts=(
        Count("data", 1, MOST_ELEMENTS, "source-count"),
        Count("vals", KEYS, KEYS, "key-count"),
        Count("dst_idx", KEYS, KEYS, "element-count"),
    ),
)


@interface
def nc_match_replace8(
    dst: Any, data: Any, vals: Any, imm: float, dst_idx: Any = None, name: str | None = None
) -> None:
    """Copy ``data`` to ``dst`` with one match of each of the eight ``vals`` replaced by ``imm``.

    Each value replaces the first element that equals it and that no other value took; of equal
    values the one in the highest column comes first. ``dst_idx`` takes the positions, all ones
    for a value that is not there. ``dst`` may be ``data`` itself.
    """
    match_replaced(Call.begin("nc_match_replace8", name), dst, data, vals, imm, dst_idx)


def match_replaced(call: Call, dst: Any, data: Any, vals: Any, imm: Any, dst_idx: Any) -> None:
    """The call with its number turned into bits."""
    call.issue(
        lower,
        {"dst": dst, "data": data, "vals": vals, "dst_idx": dst_idx},
        {"bits": replacement_bits(call, imm)},
    )


def replacement_bits(call: Call, imm: Any) -> int:
    """The FP32 bits of the replacement; an error for what is no number."""
    if not is_number(imm):
        kind = type(imm).__name__
        raise call.refuse("imm", f"is a {kind}, must be a number", kind, "a number")
    return fp32_bits(imm)


def lower(call: Call, tiles: Tiles, bits: int) -> Lowered:
    """0x6d, 0x6f [, 0xe9]."""
    dst, data, vals, dst_idx = tiles["dst"], tiles["data"], tiles["vals"], tiles["dst_idx"]
    if dst_idx is not None and not hasattr(dst_idx, "geometry"):
        kind = type(dst_idx).__name__
        raise call.refuse("dst_idx", f"is a {kind}, must be a tile", kind)
    given = {"data": data, "vals": vals, "dst": dst, "dst_idx": dst_idx}
    Checker(call, _DEMANDS, given).run()
    target = call.run.machine.target
    if dst_idx is not None and target.version == nc_version.gen2:
        raise call.refuse(
            "dst_idx",
            f"needs NeuronCore-v3 (trn2) or newer, target is {target}",
            target,
            "trn2",
            "opcode",
        )
    words = [
        load_keys(call, vals, negated=False),
        MatchReplace8(
            src=fitted(call, "data", data, 4).tensor(call.generation),
            dst=fitted(call, "dst", dst, 4).tensor(call.generation),
            in_dtype=data.dtype.code,
            out_dtype=dst.dtype.code,
            immediate=bits,
            num_active_channels=data.geometry.partitions,
        ).to_bytes(),
    ]
    if dst_idx is not None:
        words.append(
            DveReadIndices(
                dst=fitted(call, "dst_idx", dst_idx, 4).negated().tensor(call.generation),
                dtype=dst_idx.dtype.code,
                num_active_channels=dst_idx.geometry.partitions,
            ).to_bytes()
        )
    watched = data.dtype.name in ("int32", "uint32", "float32") and data.dtype == dst.dtype
    return Lowered(
        tuple(words),
        reads=("data", "vals"),
        writes=("dst", "dst_idx"),
        estimate=at_least(data.geometry.elements),
        form=form_of(vals.dtype),
        inspect=_warn_about_loss if watched else None,
    )


def _warn_about_loss(call: Call, tiles: Tiles) -> None:
    """Say once a line when an element changes although no value matched it."""
    if call.run.has_warned(ThroughFP32, call.location):
        return
    data = tiles["data"]
    values = data.codes().view(data.dtype.numpy)
    if data.dtype.is_float:
        with np.errstate(invalid="ignore"):
            if not np.isnan(values.max()):
                return
        magnitude = data.codes() & np.uint32(0x7FFFFFFF)
        changed = (magnitude > 0x7F800000) & (magnitude != 0x7FC00000)
        what = "NaN payloads are lost"
    else:
        if int(values.min()) >= -_EXACT and int(values.max()) <= _EXACT:
            return
        changed = values.astype(np.float32).astype(np.float64) != values
        what = "exact to 2^24"
    if changed.any():
        call.run.warn_once(
            ThroughFP32, f"nc_match_replace8 data goes through FP32, {what}", call.location
        )
