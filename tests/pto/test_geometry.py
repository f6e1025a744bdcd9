"""Geometry: addresses are a bijection, arrays and tiles are two views of the same bits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanewise.errors import UsageError
from lanewise.pto import DataType, Descriptor, Kind, Layout, Tile, cell_shape, element_address
from lanewise.pto.geometry import CELL_BITS, storage, supports

CUBES = (Layout.CUBE_M16, Layout.CUBE_M32, Layout.CUBE_N8)
OF_WIDTH = {4: DataType.U4X2, 8: DataType.U8, 16: DataType.U16, 32: DataType.U32, 64: DataType.U64}


@pytest.mark.parametrize("width", [4, 8, 16, 32])
@pytest.mark.parametrize("layout", CUBES)
def test_a_cell_has_128_bytes(layout: Layout, width: int) -> None:
    cell = cell_shape(layout, width)
    assert cell.rows * cell.columns * width == CELL_BITS


@pytest.mark.parametrize("width", [4, 8, 16, 32])
@pytest.mark.parametrize("layout", CUBES)
def test_every_shape_maps_elements_to_bits_once(layout: Layout, width: int) -> None:
    """Every physical shape of up to five cells a side, and every element of it."""
    cell = cell_shape(layout, width)
    for down in range(1, 4 if layout is Layout.CUBE_N8 else 2):
        for along in range(1, 6):
            rows, cols = down * cell.rows, along * cell.columns
            seen = set()
            for row in range(rows):
                for col in range(cols):
                    place = element_address(layout, width, (rows, cols), (row, col))
                    assert place.width == width
                    assert place.bit % width == 0
                    assert 0 <= place.bit < CELL_BITS
                    seen.add(place.cell * CELL_BITS + place.bit)
            assert seen == set(range(0, rows * cols * width, width))


@pytest.mark.parametrize("dtype", OF_WIDTH.values())
@pytest.mark.parametrize("layout", list(Layout))
def test_array_conversion_follows_the_addresses(layout: Layout, dtype: DataType) -> None:
    """The payload's bits, taken one element at a time by address, are the array."""
    if not supports(layout, dtype):
        return
    rows = 5 if layout in (Layout.NORM, Layout.CUBE_N8) else layout.rows
    for cols in (1, 3, 8, 17):
        limit = min(1 << dtype.width, 1 << 32)
        array = np.random.default_rng(cols).integers(0, limit, (rows, cols), np.uint64)
        made = Tile.from_array(array, dtype, layout, fill=0)
        bits = int.from_bytes(made.payload, "little")
        shape = made.descriptor.rows, made.descriptor.cols
        for row in range(rows):
            for col in range(cols):
                place = element_address(layout, dtype.width, shape, (row, col))
                at = place.cell * CELL_BITS + place.bit
                assert bits >> at & ((1 << dtype.width) - 1) == array[row, col]
        assert (made.to_array(valid=True) == array).all()


@given(st.data())
def test_arrays_survive_the_round_trip(data: st.DataObject) -> None:
    layout = data.draw(st.sampled_from(list(Layout)))
    dtype = data.draw(st.sampled_from([t for t in DataType if supports(layout, t)]))
    most = 40 if layout in (Layout.NORM, Layout.CUBE_N8) else layout.rows
    rows, cols = data.draw(st.integers(1, most)), data.draw(st.integers(1, 40))
    array = np.random.default_rng(rows * 41 + cols).integers(
        0, 1 << min(dtype.width, 63), (rows, cols), np.uint64
    )
    fill = data.draw(st.sampled_from([None, 0, 1]))
    made = Tile.from_array(array, dtype, layout, fill=fill)
    assert made.descriptor.problem() is None
    assert (made.to_array(valid=True) == array).all()
    again = Tile(made.descriptor, made.payload, made.undefined)
    assert again == made
    assert hash(again) == hash(made)
    padded = made.descriptor.rows * made.descriptor.cols > array.size
    assert made.defined.all() == (fill is not None or not padded)
    if fill is None and padded:
        with pytest.raises(UsageError, match="some elements are undefined"):
            made.to_array()


def test_a_packed_predicate_has_a_bit_an_element_and_an_undefined_tail() -> None:
    mask = np.zeros((3, 5), np.uint8)
    mask[1, 2] = 1
    made = Tile.from_array(mask, "U8", kind=Kind.PACKED_PREDICATE)
    assert made.payload == bytes([0x80, 0x00])
    assert made.undefined_mask() == bytes([0x00, 0x80])
    assert (made.to_array() == mask).all()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"capacity": 256}, "payload of 384 bytes exceeds capacity 256"),
        ({"cols": 5}, "cannot be 16x5"),
        ({"rows": 32, "capacity": 1024}, "cannot be 32x6"),
        ({"valid_rows": 17}, "valid shape 17x5 does not lie in 16x6"),
        ({"valid_cols": 0}, "valid shape 3x0 does not lie in 16x6"),
        ({"dtype": DataType.S64, "capacity": 1024}, "S64 is not legal in a CUBE_M16 tile"),
        ({"dtype": DataType.HiF4X2}, "HiF4X2 is not legal in a CUBE_M16 tile"),
        ({"capacity": 64}, "capacity 64 is outside 128..65536"),
    ],
)
def test_illegal_descriptors_say_why(change: dict[str, object], problem: str) -> None:
    legal = {
        "dtype": DataType.FP32,
        "layout": Layout.CUBE_M16,
        "rows": 16,
        "cols": 6,
        "valid_rows": 3,
        "valid_cols": 5,
        "capacity": 512,
    }
    assert Descriptor(**legal).problem() is None  # type: ignore[arg-type]
    assert problem in str(Descriptor(**(legal | change)).problem())  # type: ignore[arg-type]


def test_storage_refuses_impossible_valid_shapes() -> None:
    assert storage(Layout.CUBE_M16, DataType.FP32, 17, 1) is None
    assert storage(Layout.CUBE_M32, DataType.FP32, 0, 1) is None
    assert storage(Layout.CUBE_N8, DataType.FP32, 17, 1) is not None


@pytest.mark.parametrize(
    ("array", "dtype", "layout", "message"),
    [
        (np.zeros((2, 2)), "FP32", "NORM", "holds element codes"),
        (np.zeros(2, np.uint8), "U8", "NORM", "must have rows and columns"),
        (np.full((2, 2), 16, np.uint8), "U4X2", "NORM", "code 0x10 does not fit 4 bits"),
        (np.full((2, 2), -1), "S8", "NORM", "element codes are unsigned"),
        (np.zeros((17, 1), np.uint32), "FP32", "CUBE_M16", "no CUBE_M16 tile has the valid shape"),
        (np.zeros((2, 2), np.uint64), "FP64", "CUBE_M32", "FP64 is not legal"),
        (np.zeros((2, 2), np.uint8), "FP33", "NORM", "did you mean"),
        (np.zeros((2, 2), np.uint8), "U8", "CUBE", "unknown PTO layout"),
    ],
)
def test_arrays_that_are_no_tile_are_refused(
    array: np.ndarray, dtype: str, layout: str, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        Tile.from_array(array, dtype, layout)
