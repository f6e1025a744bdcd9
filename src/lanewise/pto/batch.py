"""Many tiles at once: compare into words, select by words, and packing of planes, over arrays.

A bundle works on one tile; these work on any number of tiles of one shape in one call of a kernel,
with the results that one bundle a tile would give (the GPR carrier of the frozen revision). They
change no state and check shapes instead of descriptors. ``engine`` chooses the kernels.

Source: PTO predicate carriers (GPR); PTO TGPR2T.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lanewise.errors import UsageError
from lanewise.kernels import select_tile_engine
from lanewise.kernels.tiles_reference import ELEMENT_TYPES
from lanewise.pto.carriers import GPR_FIELDS, GprFields, gpr_columns
from lanewise.pto.checks import check_encoding
from lanewise.pto.datatypes import DataType
from lanewise.pto.elements import relation_named
from lanewise.pto.geometry import M_LAYOUTS, Layout
from lanewise.pto.instructions.tgpr2t import LARGEST_OFFSET
from lanewise.pto.padding import PadValue, gpr_pad
from lanewise.pto.profile import PtoProfile

Words = NDArray[np.uint64]


def compare(
    left: ArrayLike,
    right: ArrayLike,
    dtype: str | DataType,
    layout: str | Layout,
    relation: str,
    *,
    pad: str | PadValue = PadValue.Null,
    high_half: bool = False,
    profile: PtoProfile = PtoProfile.DEFAULT,
    engine: str = "auto",
) -> tuple[Words, NDArray[np.bool_]]:
    """One mask word a tile: TCMP or TCMPS into a GPR for each matrix of ``left``.

    ``left`` holds element codes ``(…, valid_rows, valid_cols)``; ``right`` broadcasts to it, so a
    scalar compares as TCMPS does. Returns words ``(…)`` and whether each tile raised NV. PtoFault
    (TileLegality) for TF32 and HF32 codes with low bits set, UsageError for other shapes and types.
    """
    dtype, layout = DataType.named(dtype), Layout.named(layout)
    codes = _codes(left, dtype)
    fields = _fields(layout, dtype, codes)
    others = np.broadcast_to(_others(right, codes), codes.shape)
    check_encoding(codes, dtype, "the left side")
    check_encoding(others, dtype, "the right side")
    relation, pad = relation_named(relation), PadValue.named(pad)
    columns = gpr_columns(fields, high_half and fields.words > 1, codes.shape[-1])
    codes, others = codes[..., columns], others[..., columns]
    words, raised = select_tile_engine(engine).compare_planes(
        codes, others, dtype.order.ordering, relation, fields.rows
    )
    outside = gpr_pad(pad, profile) & ~fields.valid_bits(*codes.shape[-2:])
    return words | np.uint64(outside), raised


def select(
    words: ArrayLike,
    true: ArrayLike,
    false: ArrayLike,
    dtype: str | DataType,
    layout: str | Layout,
    *,
    engine: str = "auto",
) -> NDArray[Any]:
    """The chosen codes of each tile: TSEL or TSELS with masks in GPRs.

    ``words`` are ``(…, n)`` with the n words of a full mask; ``true`` and ``false`` codes
    ``(…, valid_rows, valid_cols)``, of which ``false`` broadcasts.
    """
    dtype, layout = DataType.named(dtype), Layout.named(layout)
    codes = _codes(true, dtype)
    fields = _fields(layout, dtype, codes)
    masks = np.asarray(words, np.uint64)
    if masks.shape != (*codes.shape[:-2], fields.words):
        raise UsageError(
            f"masks must be {(*codes.shape[:-2], fields.words)} words, not {masks.shape}"
        )
    chosen: NDArray[Any] = select_tile_engine(engine).select_planes(
        masks, codes, _others(false, codes), fields.rows
    )
    return chosen


def planes_to_bytes(
    words: ArrayLike, layout: str | Layout, *, engine: str = "auto"
) -> NDArray[np.uint8]:
    """The bytes that TGPR2T makes of each four words ``(…, 4)``: ``(…, rows, bytes a row)``."""
    sources = np.asarray(words, np.uint64)
    if sources.shape[-1:] != (4,):
        raise UsageError(f"TGPR2T takes four words a cell, not {sources.shape}")
    rows = _m_layout(layout).rows
    found: NDArray[np.uint8] = select_tile_engine(engine).transpose_planes(sources, rows)
    return found


def _m_layout(name: str | Layout) -> Layout:
    layout = Layout.named(name)
    if layout not in M_LAYOUTS:
        raise UsageError(f"TGPR2T makes CUBE_M16 and CUBE_M32 cells, not {layout}")
    return layout


def cell_bytes(
    words: ArrayLike,
    layout: str | Layout,
    offset: int,
    padding: int = 0,
    *,
    engine: str = "auto",
) -> NDArray[np.uint8]:
    """Whole cells of bytes ``(…, rows, columns)`` with the planes at ``offset``, else padding."""
    if not 0 <= offset <= LARGEST_OFFSET:
        raise UsageError(f"a byte offset must be 0..{LARGEST_OFFSET}, not {offset}")
    if not 0 <= padding <= 0xFF:
        raise UsageError(f"a padding byte must be 0..255, not {padding}")
    layout = _m_layout(layout)
    placed = planes_to_bytes(words, layout, engine=engine)
    columns = 128 // layout.rows
    cells = np.full((*placed.shape[:-1], columns), padding, np.uint8)
    first = placed.shape[-1] * offset
    cells[..., first : first + placed.shape[-1]] = placed
    return cells


def _codes(array: ArrayLike, dtype: DataType) -> NDArray[Any]:
    codes = np.asarray(array)
    if codes.ndim < 2 or codes.dtype != ELEMENT_TYPES[dtype.width]:
        raise UsageError(
            f"codes of {dtype.name} are {ELEMENT_TYPES[dtype.width]} "
            f"(…, rows, columns), not {codes.dtype} {codes.shape}"
        )
    return codes


def _others(array: ArrayLike, codes: NDArray[Any]) -> NDArray[Any]:
    """The other side as codes of the same type; UsageError when it does not broadcast."""
    given = np.asarray(array)
    if given.dtype.kind not in "iu" or given.size == 0:
        raise UsageError(f"the other side holds codes, unsigned integers, not {given.dtype}")
    low, high = int(given.min()), int(given.max())
    if low < 0 or high >> 8 * codes.dtype.itemsize:
        value = low if low < 0 else high
        raise UsageError(f"code {value:#x} does not fit {8 * codes.dtype.itemsize} bits")
    others = given.astype(codes.dtype)
    try:
        np.broadcast_to(others, codes.shape)
    except ValueError:
        raise UsageError(f"{others.shape} does not broadcast to {codes.shape}") from None
    return others


def _fields(layout: Layout, dtype: DataType, codes: NDArray[Any]) -> GprFields:
    fields = GPR_FIELDS.get((layout, dtype.width))
    if fields is None:
        raise UsageError(f"no GPR carries the mask of {layout} {dtype.name}")
    rows, columns = codes.shape[-2:]
    if not (1 <= rows <= fields.rows and 1 <= columns <= fields.widest):
        raise UsageError(
            f"a GPR carries up to {fields.rows}x{fields.widest} of {layout} {dtype.name}, "
            f"not {rows}x{columns}"
        )
    return fields
