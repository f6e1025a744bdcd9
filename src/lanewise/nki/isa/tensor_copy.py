"""tensor_copy: COPY between equal types, CAST through FP32 otherwise.

Equal types move their bits. Whole numbers beyond 2^24 change on the way to another type; the
first time a line does that, it is said.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lanewise.neuron.instructions import Cast, Copy
from lanewise.nki.call import Call, Lowered, Tiles, form_of, interface
from lanewise.nki.checks import INPUTS, Checker, Demands, Operand
from lanewise.nki.enums import checked_enum, engine
from lanewise.nki.errors import ThroughFP32
from lanewise.nki.estimate import Estimate
from lanewise.nki.estimate import copy as copy_estimate
from lanewise.nki.lowering import merged, pieces, trouble, walked
from lanewise.nki.targets import nc_version
from lanewise.nki.tile import NkiTensor

_DIMENSIONS = 4
_EXACT = 1 << 24
_DEMANDS = Demands(
    operands=(
        Operand("src", "src", INPUTS, "in-dtype"),
        Operand("dst", "dst", INPUTS, "out-dtype", writes=True),
    ),
    alike=(("dst", "src", "same-count"),),
)
_MACHINE_ENGINE = {
    engine.unknown: "dve",
    engine.vector: "dve",
    engine.scalar: "act",
    engine.gpsimd: "pool",
}


@interface
def tensor_copy(
    dst: Any, src: Any, engine: engine = engine.unknown, name: str | None = None
) -> None:
    """Copy ``src`` to ``dst`` on chip, converting between types through FP32.

    Any two types and views with the same partitions and elements per partition. The vector engine
    runs it unless ``engine`` says scalar or gpsimd, which changes no bit.
    """
    call = Call.begin("tensor_copy", name)
    call.issue(lower, {"dst": dst, "src": src}, {"on": engine})


def lower(call: Call, tiles: Tiles, on: Any) -> Lowered:
    """COPY or CAST words, more than one where the views do not fit a single word."""
    checker = Checker(call, _DEMANDS, {"src": tiles["src"], "dst": tiles["dst"]})
    on = checked_enum(call.function, "engine", on, engine)
    checker.run(_engine_problem(call, tiles, on))
    dst, src = tiles["dst"], tiles["src"]
    cut = pieces([walked(src), walked(dst)], _DIMENSIONS)
    if cut is None or (len(cut) > 1 and src.may_share_bytes(dst)):
        refuse_dimensions(call, {"src": src, "dst": dst}, _DIMENSIONS)
    assert cut is not None
    same = src.dtype == dst.dtype or src.dtype.code == dst.dtype.output
    kind, out = (Copy, src.dtype.code) if same else (Cast, dst.dtype.output)
    words = tuple(
        kind(
            src=source.tensor(call.generation),
            dst=target.tensor(call.generation),
            in_dtype=src.dtype.code,
            out_dtype=out,
            num_active_channels=src.geometry.partitions,
        ).to_bytes()
        for source, target in cut
    )
    loses = not same and src.dtype.name in ("int32", "uint32")
    return Lowered(
        words,
        reads=("src",),
        writes=("dst",),
        estimate=_estimate(call, dst, src),
        engine=_MACHINE_ENGINE[on],
        form=form_of(src.dtype, dst.dtype),
        inspect=_warn_about_loss if loses else None,
    )


def refuse_dimensions(call: Call, tiles: dict[str, NkiTensor], limit: int) -> None:
    """Raise the error for the first view that does not fit a word of ``limit`` dimensions."""
    for name, tile in tiles.items():
        found = trouble(merged(tile.geometry), limit)
        if found is not None:
            quantity, value, most = found
            raise call.refuse(name, f"{quantity} {value} exceeds {most}", value, most)


def _engine_problem(call: Call, tiles: Tiles, on: engine) -> tuple[str, str] | None:
    if on not in _MACHINE_ENGINE:
        return f"{on.name} must be vector, scalar or gpsimd", on.name
    if on == engine.scalar and call.run.machine.target.version == nc_version.gen2:
        target = call.run.machine.target
        return f"scalar must be vector or gpsimd on {target}", on.name
    if on == engine.gpsimd:
        for name in ("src", "dst"):
            if tiles[name].buffer == "psum":
                return f"gpsimd must be vector or scalar, {name} is in psum", on.name
    return None


def _estimate(call: Call, dst: NkiTensor, src: NkiTensor) -> Estimate:
    speedup = 1
    narrow = all(tile.dtype.name in ("float16", "bfloat16") for tile in (dst, src))
    if narrow and call.run.machine.target.version >= nc_version.gen3:
        in_sbuf = dst.buffer == src.buffer == "sbuf"
        together = all(
            not pairs or pairs[0][0] == 1 for pairs in map(merged, (dst.geometry, src.geometry))
        )
        speedup = 4 if in_sbuf and together else 2
    return copy_estimate(src.geometry.elements, speedup=speedup)


def _warn_about_loss(call: Call, tiles: Tiles) -> None:
    """Say once a line when a whole number does not survive the way through FP32."""
    if call.run.has_warned(ThroughFP32, call.location):
        return
    src, dst = tiles["src"], tiles["dst"]
    values = src.codes().view(src.dtype.numpy)
    unsigned = dst.dtype.name.startswith("uint")
    low, high = int(values.min()), int(values.max())
    if low >= -_EXACT and high <= _EXACT and not (unsigned and low < 0):
        return
    through = values.astype(np.float32).astype(np.float64)
    changed = (through != values) | ((values < 0) & unsigned)
    if changed.any():
        hint = ""
        if dst.dtype.size == src.dtype.size and not dst.dtype.is_float:
            hint = f"; use .view(nl.{dst.dtype}) to reinterpret"
        first = int(values[changed][0])
        call.run.warn_once(
            ThroughFP32,
            f"tensor_copy src goes through FP32, exact to 2^24{hint} ({first} changes)",
            call.location,
        )
