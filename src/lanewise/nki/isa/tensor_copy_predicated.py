"""tensor_copy_predicated: COPY_PREDICATED with a tile, COPY_PREDICATED_SCALAR with a number.

The word for a tile has no way to reverse the predicate: one step outside the modelled set then
writes the reversed predicate to a scratch tile first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lanewise.neuron.instructions import (
    CopyPredicated,
    CopyPredicatedScalar,
)
from lanewise.nki.call import Call, Lowered, Tiles, form_of, interface
from lanewise.nki.checks import INPUTS, Checker, Count, Demands, Operand
from lanewise.nki.dtypes import uint8
from lanewise.nki.estimate import Estimate, at_least
from lanewise.nki.isa.tensor_copy import refuse_dimensions
from lanewise.nki.lowering import pieces, walked
from lanewise.nki.numbers import code_of, is_number
from lanewise.nki.storage import OnChip
from lanewise.nki.tile import NkiTensor

_DIMENSIONS = 3
_PREDICATES = ("uint8", "bool_", "uint16", "uint32")
_PREDICATE = Operand(
    "predicate",
    "predicate",
    _PREDICATES,
    "predicate-dtype",
    "reinterpret signed ones with .view(nl.uint8), .view(nl.uint16) or .view(nl.uint32)",
)
_TYPES = tuple(name for name in INPUTS if name != "tfloat32")
_DST = Operand("dst", "dst", _TYPES, "out-dtype", writes=True)
_TILE = Demands(
    operands=(Operand("src", "data", _TYPES, "data-dtype"), _PREDICATE, _DST),
    alike=(
        ("predicate", "src", "sources-same-count"),
        ("dst", "src", "dst-same-count"),
    ),
    same_dtype=(("src", "dst"),),
    placed=("src", "predicate"),
)
_COLUMN = Demands(
    operands=(Operand("src", "immediate", _TYPES, "in-dtype"), _PREDICATE, _DST),
    alike=(("dst", "predicate", "same-count"),),
    counts=(Count("src", 1, 1, "immediate"),),
    same_dtype=(("src", "dst"),),
    placed=("src", "predicate"),
)
_NUMBER = Demands(operands=(_PREDICATE, _DST), alike=(("dst", "predicate", "same-count"),))


@interface
def tensor_copy_predicated(
    dst: Any, src: Any, predicate: Any, reverse_pred: bool = False, name: str | None = None
) -> None:
    """Copy ``src`` (a tile or a number) to ``dst`` where ``predicate`` is not 0.

    Elsewhere ``dst`` keeps its bytes. ``predicate`` is uint8, uint16 or uint32; ``src`` and
    ``dst`` have one type; at most one of src and predicate is in PSUM. ``reverse_pred`` copies
    where the predicate is 0.
    """
    predicated(Call.begin("tensor_copy_predicated", name), dst, src, predicate, reverse_pred)


def predicated(call: Call, dst: Any, src: Any, predicate: Any, reverse_pred: Any) -> None:
    """The call in the form its source asks for."""
    tiles = {"src": src, "predicate": predicate, "dst": dst}
    reverse = bool(reverse_pred)
    if is_number(src):
        tiles = {"predicate": predicate, "dst": dst}
        code = _scalar_code(call, src, dst)
        call.issue(lower_number, tiles, {"code": code, "reverse": reverse})
    elif _is_column(src, dst):
        call.issue(lower_column, tiles, {"reverse": reverse})
    elif reverse:
        call.prepare(lower_tile, tiles, {})
        reversed_predicate = _reversed(call, predicate)
        call.issue(lower_tile, {**tiles, "predicate": reversed_predicate})
    else:
        call.issue(lower_tile, tiles)


def _is_column(src: Any, dst: Any) -> bool:
    """Whether the source is one element a partition for a destination with more."""
    if not isinstance(src, NkiTensor) or not isinstance(dst, NkiTensor):
        return False
    return src.geometry.elements == 1 and dst.geometry.elements > 1


def _scalar_code(call: Call, src: Any, dst: Any) -> int:
    if not isinstance(dst, NkiTensor) or dst.dtype.output is None:
        return 0  # the checks name it
    return code_of(src, dst.dtype, call.run.machine.profile)


def lower_tile(call: Call, tiles: Tiles) -> Lowered:
    """0x72: a source element for each element of the destination."""
    Checker(call, _TILE, tiles).run()
    dst, src, predicate = tiles["dst"], tiles["src"], tiles["predicate"]
    cut = pieces([walked(predicate), walked(src), walked(dst)], _DIMENSIONS)
    shared = src.may_share_bytes(dst) or predicate.may_share_bytes(dst)
    if cut is None or (len(cut) > 1 and shared):
        refuse_dimensions(call, {"src": src, "predicate": predicate, "dst": dst}, _DIMENSIONS)
    assert cut is not None
    words = tuple(
        CopyPredicated(
            predicate=truth.tensor(call.generation),
            data=source.tensor(call.generation),
            dst=target.tensor(call.generation),
            predicate_dtype=predicate.dtype.code,
            data_dtype=src.dtype.code,
            out_dtype=dst.dtype.code,
            num_active_channels=dst.geometry.partitions,
        ).to_bytes()
        for truth, source, target in cut
    )
    return Lowered(
        words,
        reads=("src", "predicate"),
        writes=("dst",),
        estimate=_estimate(dst.geometry.elements, (src, predicate)),
        form=form_of(dst.dtype),
        partial=_where_true,
    )


def lower_column(call: Call, tiles: Tiles, reverse: bool) -> Lowered:
    """0xe8 with a pointer: one source element for each partition."""
    Checker(call, _COLUMN, tiles).run()
    src = walked(tiles["src"])
    address = call.generation.address(src.space, src.partition, src.offset)
    return _scalar_words(call, tiles, 1, address, reverse, ("src", "predicate"))


def lower_number(call: Call, tiles: Tiles, code: int, reverse: bool) -> Lowered:
    """0xe8 with the number in the word."""
    Checker(call, _NUMBER, tiles).run()
    return _scalar_words(call, tiles, 0, code, reverse, ("predicate",))


def _scalar_words(
    call: Call, tiles: Tiles, source: int, scalar: int, reverse: bool, reads: tuple[str, ...]
) -> Lowered:
    dst, predicate = tiles["dst"], tiles["predicate"]
    cut = pieces([walked(predicate), walked(dst)], _DIMENSIONS)
    # Several words are one copy only if none writes what a later one reads, a column included.
    read = [tiles[name] for name in reads]
    if cut is None or (len(cut) > 1 and any(tile.may_share_bytes(dst) for tile in read)):
        refuse_dimensions(call, {"predicate": predicate, "dst": dst}, _DIMENSIONS)
    assert cut is not None
    # The word's own default keeps where true; 1 writes there.
    polarity = 0 if reverse else 1
    words = tuple(
        CopyPredicatedScalar(
            predicate=truth.tensor(call.generation),
            dst=target.tensor(call.generation),
            predicate_dtype=predicate.dtype.code,
            in_dtype=dst.dtype.code,
            out_dtype=dst.dtype.code,
            reversed_pred=polarity,
            scalar_source=source,
            scalar=scalar,
            num_active_channels=dst.geometry.partitions,
        ).to_bytes()
        for truth, target in cut
    )
    return Lowered(
        words,
        reads=reads,
        writes=("dst",),
        estimate=_estimate(dst.geometry.elements, (predicate,)),
        form=form_of(dst.dtype),
        partial=_where_false if reverse else _where_true,
    )


def _estimate(elements: int, sources: tuple[NkiTensor, ...]) -> Estimate:
    in_psum = sum(tile.buffer == "psum" for tile in sources)
    return at_least(elements, 1 if in_psum == 1 else 2)


def _where_true(call: Call, tiles: Tiles) -> dict[str, Any]:
    if tiles["dst"].storage.written.complete:
        return {}
    return {"dst": (tiles["predicate"].codes() != 0).reshape(tiles["dst"].shape)}


def _where_false(call: Call, tiles: Tiles) -> dict[str, Any]:
    if tiles["dst"].storage.written.complete:
        return {}
    return {"dst": (tiles["predicate"].codes() == 0).reshape(tiles["dst"].shape)}


def _reversed(call: Call, predicate: NkiTensor) -> NkiTensor:
    """A scratch tile that holds 1 where the predicate is 0."""
    from lanewise.nki.outside.numerics import outside_step

    view = predicate.geometry
    scratch = call.run.allocate(
        (view.partitions, view.elements),
        uint8,
        "sbuf",
        call.location,
        name=f"{predicate.name}_reversed",
        address=_beside(call, predicate),
    )
    with outside_step(
        call, reads={"predicate": predicate}, writes={"reversed": scratch}, engine="vector"
    ):
        codes = (predicate.codes() == 0).astype(np.uint8)
        scratch.codes(writing=True)[...] = codes.reshape(scratch.shape)
    return scratch


def _beside(call: Call, predicate: NkiTensor) -> tuple[int, int] | None:
    """Free memory that starts in the predicate's partition, so that windows stay legal."""
    storage = predicate.storage
    assert isinstance(storage, OnChip)
    start = storage.partition + predicate.geometry.partition
    if start == 0 or predicate.buffer == "psum":
        return None
    size = predicate.geometry.elements
    return start, call.run.allocator("sbuf").place(128, size)
