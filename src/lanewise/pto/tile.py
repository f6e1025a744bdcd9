"""Tiles: a payload, its descriptor, and which of its bits are defined.

Source: PTO state; PTO geometry; PTO predicate carriers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lanewise.errors import UsageError
from lanewise.kernels import tiles_reference as kernels
from lanewise.pto.datatypes import DataType
from lanewise.pto.descriptor import Descriptor, Kind, smallest_capacity
from lanewise.pto.geometry import M16_NIBBLES, Layout, cell_shape, storage, supports


@dataclass(frozen=True)
class Tile:
    """An immutable tile. Its bits without a defined value read zero and are marked undefined.

    ``undefined`` has a set bit for every undefined bit of ``payload``; it is empty when all of
    them are defined. Tiles are equal when they have the same descriptor, the same defined bits
    and the same values there.
    """

    descriptor: Descriptor
    payload: bytes
    undefined: bytes = b""

    def __post_init__(self) -> None:
        size = self.descriptor.payload_bytes
        if len(self.payload) != size:
            raise UsageError(f"the payload must have {size} bytes, not {len(self.payload)}")
        if self.undefined and len(self.undefined) != size:
            raise UsageError(f"the undefined mask must have {size} bytes as the payload has")
        if self.undefined:
            mask = int.from_bytes(self.undefined, "little")
            # Canonical bits, so that equality of values is equality of tiles.
            kept = int.from_bytes(self.payload, "little") & ~mask
            object.__setattr__(self, "payload", kept.to_bytes(size, "little"))
            if not mask:
                object.__setattr__(self, "undefined", b"")

    @classmethod
    def from_array(
        cls,
        array: ArrayLike,
        dtype: str | DataType,
        layout: str | Layout = Layout.NORM,
        *,
        valid: tuple[int, int] | None = None,
        capacity: int | None = None,
        kind: str | Kind = Kind.NUMERIC,
        basis: str | DataType | None = None,
        fill: int | None = 0,
    ) -> Tile:
        """A tile of element codes, converted to ``layout``.

        ``array`` is a matrix of unsigned codes in row and column order (4-bit types one code an
        element, a packed predicate 0 or 1). ``valid`` is the valid rectangle, by default the
        whole array; what the array holds around it is kept as padding. A CUBE tile is filled up
        to its cells with the code ``fill`` (None: undefined).
        ``capacity`` is by default the smallest that holds the payload. Raises UsageError for
        shapes, codes and types that no legal tile has.
        """
        dtype, layout, kind = DataType.named(dtype), Layout.named(layout), Kind.named(kind)
        width = 1 if kind is Kind.PACKED_PREDICATE else dtype.width
        matrix = _matrix(array, width)
        if fill is not None and not 0 <= fill < 1 << width:
            raise UsageError(f"fill {fill:#x} is no code of {width} bits")
        valid_rows, valid_cols = matrix.shape if valid is None else valid
        rows, cols = matrix.shape
        if not (1 <= valid_rows <= rows and 1 <= valid_cols <= cols):
            inside = f"valid shape {valid_rows}x{valid_cols} does not lie in {rows}x{cols}"
            raise UsageError(f"no legal tile: {inside}")
        if layout.is_cube and supports(layout, dtype):
            needed = storage(layout, dtype, valid_rows, valid_cols)
            if needed is None:
                raise UsageError(f"no {layout} tile has the valid shape {valid_rows}x{valid_cols}")
            rows, cols = needed.rows, needed.columns
        descriptor = Descriptor(
            dtype,
            layout,
            rows,
            cols,
            valid_rows,
            valid_cols,
            kind,
            None if basis is None else DataType.named(basis),
        )
        if capacity is None:
            capacity = smallest_capacity(descriptor.payload_bytes)
        descriptor = replace(descriptor, capacity=capacity)
        problem = descriptor.problem()
        if problem is not None:
            raise UsageError(f"no legal tile: {problem}")
        given_rows, given_cols = matrix.shape
        if given_rows > rows or given_cols > cols:
            raise UsageError(
                f"the array is {given_rows}x{given_cols}, but a {layout} {dtype.name} tile with "
                f"valid shape {valid_rows}x{valid_cols} holds {rows}x{cols}; cut the array"
            )
        full = np.full((rows, cols), fill or 0, matrix.dtype)
        full[:given_rows, :given_cols] = matrix
        known = np.full((rows, cols), fill is not None)
        known[:given_rows, :given_cols] = True
        return tile_from_matrix(descriptor, full, known)

    def __getstate__(self) -> dict[str, Any]:
        """The fields without the arrays made from them, which a copy would make writable."""
        return {spec.name: getattr(self, spec.name) for spec in fields(self)}

    @cached_property
    def codes(self) -> NDArray[Any]:
        """Element codes as a matrix ``(rows, cols)``, read-only; undefined elements are zero."""
        return matrix_of(self.descriptor, self.payload)

    @cached_property
    def defined(self) -> NDArray[np.bool_]:
        """Where elements are defined as a whole, as a matrix ``(rows, cols)``."""
        if not self.undefined:
            shape = (self.descriptor.rows, self.descriptor.cols)
            return np.broadcast_to(np.True_, shape)
        found: NDArray[np.bool_] = matrix_of(self.descriptor, self.undefined) == 0
        found.flags.writeable = False
        return found

    def to_array(self, *, valid: bool = False) -> NDArray[Any]:
        """Element codes as a new matrix in row and column order.

        The whole physical matrix, or only the valid rectangle. UsageError when an element asked
        for is undefined: there is no number to give.
        """
        region = self.valid_region if valid else (slice(None), slice(None))
        if not self.defined[region].all():
            where = "valid elements" if valid else "elements"
            instead = "" if valid else ", or ask for valid=True"
            raise UsageError(
                f"some {where} are undefined; read .codes together with .defined{instead}"
            )
        return self.codes[region].copy()

    @property
    def valid_region(self) -> tuple[slice, slice]:
        """The valid rectangle as an index into a matrix of elements."""
        first = self.descriptor.first_col
        return (
            slice(0, self.descriptor.valid_rows),
            slice(first, first + self.descriptor.valid_cols),
        )

    @property
    def valid_defined(self) -> bool:
        """Whether every element of the valid rectangle is defined."""
        return not self.undefined or bool(self.defined[self.valid_region].all())

    def undefined_mask(self) -> bytes:
        """The undefined mask at full length, zeros when everything is defined."""
        return self.undefined or bytes(len(self.payload))


def _matrix(array: ArrayLike, width: int) -> NDArray[Any]:
    """``array`` as a matrix of unsigned codes of ``width`` bits; UsageError when it is none."""
    try:
        matrix = np.asarray(array)
    except ValueError:  # NumPy's for rows of different lengths.
        raise UsageError("a tile's array must have rows of one length") from None
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise UsageError(f"a tile's array must have rows and columns, not shape {matrix.shape}")
    if matrix.dtype == np.bool_:
        matrix = matrix.view(np.uint8)
    if matrix.dtype.kind not in "iu":
        raise UsageError(
            f"a tile's array holds element codes (unsigned integers), not {matrix.dtype}; "
            "take the bits of floats with .view(), write codes of 64 bits as a uint64 array"
        )
    if matrix.dtype.kind == "i" and (matrix < 0).any():
        raise UsageError("element codes are unsigned; take the bits of signed values with .view()")
    if int(matrix.max()) >> width:
        raise UsageError(f"code {int(matrix.max()):#x} does not fit {width} bits")
    return matrix.astype(kernels.ELEMENT_TYPES[max(width, 4)])


def matrix_of(descriptor: Descriptor, data: bytes) -> NDArray[Any]:
    """Bytes in payload order as a matrix of elements ``(rows, cols)``, read-only."""
    width, layout = descriptor.element_bits, descriptor.layout
    rows, cols = descriptor.rows, descriptor.cols
    raw = np.frombuffer(data, np.uint8)
    if width == 1:
        run: NDArray[Any] = kernels.unpack_bits(raw, rows * cols).view(np.uint8)
    elif width == 4:
        if rows * cols % 2:
            run = kernels.split_nibbles(raw)[: rows * cols]
        else:
            run = kernels.split_nibbles(raw)
    else:
        run = raw.view(kernels.ELEMENT_TYPES[width])
    matrix = _order(run, layout, width, rows, cols)
    matrix.flags.writeable = False
    return matrix


def _order(run: NDArray[Any], layout: Layout, width: int, rows: int, cols: int) -> NDArray[Any]:
    """Elements in payload order as a matrix."""
    if layout is Layout.NORM or width == 1:
        return run.reshape(rows, cols)
    cell = cell_shape(layout, width)
    if layout is Layout.CUBE_N8:
        blocks = run.reshape(-1, rows // cell.rows, cell.columns, cell.rows)
        return blocks.transpose(1, 3, 0, 2).reshape(rows, cols)
    if layout is Layout.CUBE_M16 and width == 4:
        run = run.reshape(-1, len(M16_NIBBLES))[:, list(M16_NIBBLES)].reshape(-1)
    return kernels.cells_to_matrix(run, cell.rows, cell.columns)


def bytes_of(descriptor: Descriptor, matrix: NDArray[Any]) -> bytes:
    """A matrix of elements ``(rows, cols)`` as bytes in payload order: undoes ``matrix_of``."""
    width, layout = descriptor.element_bits, descriptor.layout
    if layout is Layout.NORM or width == 1:
        run = matrix.reshape(-1)
    else:
        cell = cell_shape(layout, width)
        if layout is Layout.CUBE_N8:
            blocks = matrix.reshape(-1, cell.rows, matrix.shape[1] // cell.columns, cell.columns)
            run = blocks.transpose(2, 0, 3, 1).reshape(-1)
        else:
            run = kernels.matrix_to_cells(matrix, cell.columns)
        if layout is Layout.CUBE_M16 and width == 4:
            # The permutation is its own inverse: it swaps the two middle groups.
            run = run.reshape(-1, len(M16_NIBBLES))[:, list(M16_NIBBLES)].reshape(-1)
    if width == 1:
        return kernels.pack_bits(run.astype(np.bool_)).tobytes()
    if width == 4:
        even = np.append(run, np.uint8(0)) if run.size % 2 else run
        return kernels.join_nibbles(even).tobytes()
    return np.ascontiguousarray(run).tobytes()


def tile_from_matrix(
    descriptor: Descriptor, codes: NDArray[Any], known: NDArray[np.bool_] | None = None
) -> Tile:
    """A tile of element codes; elements outside ``known`` (None: nowhere) are undefined.

    In a packed predicate the bits past the last element are undefined too.
    """
    payload = bytes_of(descriptor, codes)
    if known is None or known.all():
        return Tile(descriptor, payload, _tail_mask(descriptor))
    ones = codes.dtype.type((1 << descriptor.element_bits) - 1)
    mask = bytes_of(descriptor, np.where(known, codes.dtype.type(0), ones))
    return Tile(descriptor, payload, _merge(mask, _tail_mask(descriptor)))


def padded_tile(values: NDArray[Any], descriptor: Descriptor, padding: int | None) -> Tile:
    """A tile with ``values`` in its valid rectangle and the code ``padding`` around it.

    Without a padding code the elements around it are undefined.
    """
    shape = (descriptor.rows, descriptor.cols)
    rows, columns = values.shape
    kind = np.dtype(np.uint8) if values.dtype == np.bool_ else values.dtype
    codes = np.full(shape, padding or 0, kind)
    first = descriptor.first_col
    codes[:rows, first : first + columns] = values
    if padding is not None:
        return tile_from_matrix(descriptor, codes)
    known = np.zeros(shape, np.bool_)
    known[:rows, first : first + columns] = True
    return tile_from_matrix(descriptor, codes, known)


def _tail_mask(descriptor: Descriptor) -> bytes:
    """The undefined bits past the last element of the payload; empty when there are none."""
    bits = descriptor.rows * descriptor.cols * descriptor.element_bits
    if descriptor.kind is not Kind.PACKED_PREDICATE or not bits % 8:
        return b""
    size = descriptor.payload_bytes
    return ((1 << 8 * size) - (1 << bits)).to_bytes(size, "little")


def _merge(mask: bytes, tail: bytes) -> bytes:
    if not tail:
        return mask
    merged = int.from_bytes(mask, "little") | int.from_bytes(tail, "little")
    return merged.to_bytes(len(mask), "little")


def total_capacity(tiles: Iterable[Tile]) -> int:
    """Bytes of storage that these tiles hold."""
    return sum(tile.descriptor.capacity for tile in tiles)
