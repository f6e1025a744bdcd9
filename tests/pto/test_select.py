"""Selects: all carriers against element-by-element choice, bits copied whatever their meaning."""

from __future__ import annotations

import random

import numpy as np
import pytest
from tests.pto import oracle
from tests.pto.build import CUBE_TYPES, capacity, codes, core, mask_tile, physical, program, tile
from tests.pto.test_compare import GPR_SHAPES, SHAPES

from lanewise.pto import DataType, PadValue, batch

MAX = {
    "FP64": 0x7FEFFFFFFFFFFFFF,
    "FP32": 0x7F7FFFFF,
    "TF32": 0x7F7FE000,
    "HF32": 0x7F7FF000,
    "FP16": 0x7BFF,
    "BF16": 0x7F7F,
    "E4M3": 0x7E,
    "E5M2": 0x7B,
}


def padding(dtype: str, pad: PadValue) -> int | None:
    """The padding code of a type, from the table of the specification."""
    width = oracle.WIDTHS[dtype]
    if pad is PadValue.Null:
        return None
    if pad is PadValue.Zero or (pad is PadValue.Min and dtype[0] == "U"):
        return 0
    largest = MAX.get(dtype, (1 << (width - (dtype[0] == "S"))) - 1)
    if pad is PadValue.Max:
        return largest
    return 1 << (width - 1) if dtype[0] == "S" else largest | 1 << (width - 1)


def random_mask(seed: object, rows: int, cols: int) -> np.ndarray:
    """A mask with both values, never all ones."""
    pick = random.Random(repr(seed))
    mask = np.array([[pick.random() < 0.5 for _ in range(cols)] for _ in range(rows)])
    mask[0, 0] = False
    return mask


def check_result(made, name: str, chosen: np.ndarray, dtype: str, pad: PadValue) -> None:
    found = made.tile(name)
    assert found is not None
    rows, cols = chosen.shape
    assert (found.codes[:rows, :cols] == chosen).all()
    assert found.valid_defined
    outside = np.ones((found.descriptor.rows, found.descriptor.cols), np.bool_)
    outside[:rows, :cols] = False
    expected = padding(dtype, pad)
    assert (found.defined[outside] == (expected is not None)).all()
    assert (found.codes[outside] == (expected or 0)).all()
    assert found.descriptor.dtype is DataType.named(dtype)


@pytest.mark.parametrize("pad", list(PadValue))
@pytest.mark.parametrize("layout", SHAPES)
@pytest.mark.parametrize("dtype", oracle.TYPES)
def test_tile_carriers(dtype: str, layout: str, pad: PadValue) -> None:
    if layout != "NORM" and dtype not in CUBE_TYPES:
        return
    width = oracle.WIDTHS[dtype]
    for number, (rows, cols) in enumerate(SHAPES[layout]):
        true = codes((dtype, "t", number), dtype, rows, cols)
        false = codes((dtype, "f", number), dtype, rows, cols)
        mask = random_mask((dtype, layout, number), rows, cols)
        data = tile(true, dtype, layout)
        scalar = int(false[0, 0])
        made = core(
            ("T", data),
            ("U", tile(false, dtype, layout)),
            ("M", mask_tile(mask, data, dtype)),
            gprs={"a3": scalar},
        )
        size = capacity(data.descriptor.rows * physical(layout, dtype, cols) * width // 8)
        shape = f"<Row={rows}, Col={cols}, {dtype}, {pad.name}>"
        made.run(program(f"TSEL {shape}, M#1, T#1, U#1, ->N<{size}>"))
        check_result(made, "N#1", np.where(mask, true, false), dtype, pad)
        made.run(program(f"TSELS {shape}, M#1, T#1, a3, ->N<{size}>"))
        check_result(made, "N#1", np.where(mask, true, true.dtype.type(scalar)), dtype, pad)
        made.run(program(f"TSELS {shape}, M#1, T#1, ->N<{size}>"))
        check_result(made, "N#1", np.where(mask, true, true.dtype.type(0)), dtype, pad)
        assert made.flags() == 0


@pytest.mark.parametrize("pad", list(PadValue))
@pytest.mark.parametrize("layout", ["CUBE_M16", "CUBE_M32"])
@pytest.mark.parametrize("dtype", CUBE_TYPES)
def test_gpr_carrier(dtype: str, layout: str, pad: PadValue) -> None:
    """Masks from GPRs whose other bits are noise, and the batch twin."""
    width, high = oracle.WIDTHS[dtype], oracle.ROWS[layout]
    for number, (rows, cols) in enumerate(GPR_SHAPES[layout, width]):
        true = codes((dtype, "t", number), dtype, rows, cols)
        false = codes((dtype, "f", number), dtype, rows, cols)
        mask = random_mask((dtype, layout, number), rows, cols)
        whole = random.Random(number).getrandbits(128)
        for row in range(rows):
            for col in range(cols):
                bit = row + col * high
                whole = whole & ~(1 << bit) | int(mask[row, col]) << bit
        low, upper = whole & (1 << 64) - 1, whole >> 64
        made = core(
            ("T", tile(true, dtype, layout)),
            ("U", tile(false, dtype, layout)),
            gprs={"a0": low, "a1": upper, "a2": int(false[0, 0])},
        )
        words = "a0, a1" if width == 8 else "a0"
        shape = f"<Row={rows}, Col={cols}, {dtype}, {pad.name}>"
        made.run(program(f"TSEL {shape}, {words}, T#1, U#1, ->T<256B>"))
        check_result(made, "T#1", np.where(mask, true, false), dtype, pad)
        made.run(program(f"TSELS {shape}, {words}, T#2, a2, ->T<256B>"))
        check_result(made, "T#1", np.where(mask, true, false[0, 0]), dtype, pad)
        given = np.array([[low, upper] if width == 8 else [low]], np.uint64)
        found = batch.select(given, true[np.newaxis], false[np.newaxis], dtype, layout)
        assert (found[0] == np.where(mask, true, false)).all()


@pytest.mark.parametrize("mask", [0, (1 << 64) - 1])
def test_all_zero_and_all_one_masks(mask: int) -> None:
    true, false = codes(1, "BF16", 32, 2), codes(2, "BF16", 32, 2)
    made = core(
        ("T", tile(true, "BF16", "CUBE_M32")),
        ("U", tile(false, "BF16", "CUBE_M32")),
        gprs={"a0": mask},
    )
    made.run(program("TSEL <Row=32, Col=2, BF16>, a0, T#1, U#1, ->N<128B>"))
    found = made.tile("N#1")
    assert found is not None
    assert (found.to_array() == (true if mask else false)).all()


def test_one_backing_type_may_stand_for_another() -> None:
    """A select of FP16 over S16 and BF16 tiles copies bits and gives an FP16 tile."""
    true, false = codes(3, "S16", 5, 3), codes(4, "BF16", 5, 3)
    mask = random_mask(5, 5, 3)
    data = tile(true, "S16", "CUBE_M16")
    made = core(
        ("T", data),
        ("U", tile(false, "BF16", "CUBE_M16")),
        ("M", mask_tile(mask, data, "FP16")),
    )
    made.run(program("TSEL <Row=5, Col=3, FP16, Min>, M#1, T#1, U#1, ->N<128B>"))
    check_result(made, "N#1", np.where(mask, true, false), "FP16", PadValue.Min)
