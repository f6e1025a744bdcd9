"""Compares: relations against exact fractions over whole domains, carriers bit by bit."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pto import oracle
from tests.pto.build import CUBE_TYPES, capacity, codes, core, physical, program, tile

from lanewise.kernels import tiles_reference as kernels
from lanewise.pto import DataType, Flag, PadValue, PtoFault, batch
from lanewise.pto.elements import compare_elements

EIGHT_BIT = [name for name in oracle.TYPES if oracle.WIDTHS[name] == 8]
SHAPES = {
    "NORM": [(1, 1), (3, 5), (7, 16)],
    "CUBE_M16": [(1, 1), (5, 3), (16, 9), (11, 17)],
    "CUBE_M32": [(1, 1), (31, 2), (32, 5), (13, 11)],
}
HOST = {
    "FP64": np.float64,
    "FP32": np.float32,
    "FP16": np.float16,
    "BF16": ml_dtypes.bfloat16,
    "E4M3": ml_dtypes.float8_e4m3fn,
    "E5M2": ml_dtypes.float8_e5m2,
    **{name: np.dtype(f"{'i' if s else 'u'}{w // 8}") for name, (s, w) in oracle.INTEGERS.items()},
}
UFUNCS = {
    "EQ": np.equal,
    "NE": np.not_equal,
    "LT": np.less,
    "GT": np.greater,
    "LE": np.less_equal,
    "GE": np.greater_equal,
}


@pytest.mark.parametrize("relation", oracle.RELATIONS)
@pytest.mark.parametrize("dtype", EIGHT_BIT)
def test_all_pairs_of_8_bit_codes(dtype: str, relation: str) -> None:
    ordering = DataType.named(dtype).order.ordering
    left, right = (a.reshape(-1).astype(np.uint8) for a in np.mgrid[0:256, 0:256])
    found, _ = kernels.relate(left, right, ordering, relation)
    values = [oracle.value(dtype, code) for code in range(256)]
    expected = np.array(
        [
            relation == "NE"
            if isinstance(a, str) or isinstance(b, str)
            else bool(UFUNCS[relation](a, b))
            for a, b in itertools.product(values, values)
        ]
    )
    assert (found == expected).all()
    for code in range(256):
        _, signals = kernels.relate(
            np.array([code], np.uint8), np.array([0], np.uint8), ordering, relation
        )
        assert signals == (values[code] == "snan")


@pytest.mark.parametrize("dtype", HOST)
def test_relations_agree_with_the_host_and_ml_dtypes(dtype: str) -> None:
    """All codes of 16-bit types against a shuffled copy; edges and random bits of wider ones."""
    width = oracle.WIDTHS[dtype]
    rng = np.random.default_rng(5)
    if width <= 16:
        left = np.arange(1 << width, dtype=kernels.ELEMENT_TYPES[width])
        right = rng.permutation(left)
    else:
        left = codes(("host", dtype), dtype, 200, 200).reshape(-1)
        right = rng.permutation(left)
    near = np.where(rng.random(left.size) < 0.3, left, right)
    with np.errstate(invalid="ignore"):
        for relation in oracle.RELATIONS:
            found, _ = kernels.relate(left, near, DataType.named(dtype).order.ordering, relation)
            expected = UFUNCS[relation](left.view(HOST[dtype]), near.view(HOST[dtype]))
            assert (found == np.asarray(expected, np.bool_)).all()


@given(st.sampled_from(oracle.TYPES), st.sampled_from(oracle.RELATIONS), st.data())
def test_one_element_at_a_time(dtype: str, relation: str, data: st.DataObject) -> None:
    seed = data.draw(st.integers(0, 1 << 32))
    left, right = (int(code) for code in codes(seed, dtype, 1, 2).reshape(-1))
    if not (oracle.is_encoding(dtype, left) and oracle.is_encoding(dtype, right)):
        with pytest.raises(PtoFault, match=r"low .* bits must be zero"):
            compare_elements(DataType.named(dtype), relation, left, right)
        return
    expected, invalid = oracle.holds(dtype, relation, left, right)
    found = compare_elements(DataType.named(dtype), relation, left, right)
    assert found == (expected, Flag.NV if invalid else 0)


def expected_results(
    dtype: str, relation: str, left: np.ndarray[Any, Any], right: np.ndarray[Any, Any]
) -> tuple[list[list[bool]], bool]:
    pairs = [
        [oracle.holds(dtype, relation, int(a), int(b)) for a, b in zip(x, y, strict=True)]
        for x, y in zip(left, right, strict=True)
    ]
    return [[p[0] for p in line] for line in pairs], any(p[1] for line in pairs for p in line)


@pytest.mark.parametrize("pad", list(PadValue))
@pytest.mark.parametrize("layout", SHAPES)
@pytest.mark.parametrize("dtype", oracle.TYPES)
def test_tile_carriers(dtype: str, layout: str, pad: PadValue) -> None:
    """TCMP and TCMPS into a tile: values, padding, definedness and flags, element by element."""
    if layout != "NORM" and dtype not in CUBE_TYPES:
        return
    for number, (rows, cols) in enumerate(SHAPES[layout]):
        relation = oracle.RELATIONS[(number + int(pad) + len(dtype)) % 6]
        left = codes((dtype, layout, "l", number), dtype, rows, cols, plain=True)
        right = codes((dtype, layout, "r", number), dtype, rows, cols, plain=True)
        scalar = int(right[0, 0])
        wide = physical(layout, dtype, cols)
        size = capacity(rows * wide if layout == "NORM" else 128 * -(-cols // 4))
        made = core(
            ("T", tile(left, dtype, layout)),
            ("U", tile(right, dtype, layout)),
            gprs={"a3": scalar | 0xABC << 52 if oracle.WIDTHS[dtype] < 52 else scalar},
        )
        shape = f"<Row={rows}, Col={cols}, {dtype}, {relation}, {pad.name}>"
        for operands, others in (
            ("TCMP", right),
            ("TCMPS", np.full_like(right, scalar)),
        ):
            text = f"{operands} {shape}, T#1, {'U#1' if operands == 'TCMP' else 'a3'}, ->N<{size}>"
            made.set_flags(0)
            made.run(program(text))
            results, invalid = expected_results(dtype, relation, left, others)
            assert made.flags() == invalid
            found = made.tile("N#1")
            assert found is not None
            assert (found.codes[:rows, :cols] == np.array(results)).all()
            assert found.valid_defined
            outside = np.ones((found.descriptor.rows, found.descriptor.cols), np.bool_)
            outside[:rows, :cols] = False
            assert (found.defined[outside] == (pad is not PadValue.Null)).all()
            assert (found.codes[outside] == (pad is PadValue.Max)).all()
            assert found.descriptor.dtype is DataType.U8
            basis = None if layout == "NORM" else DataType.named(dtype)
            assert found.descriptor.basis is basis


GPR_SHAPES = {
    ("CUBE_M32", 32): [(1, 1), (32, 2), (13, 2), (31, 1)],
    ("CUBE_M32", 16): [(1, 2), (32, 1), (29, 2)],
    ("CUBE_M32", 8): [(1, 1), (32, 3), (30, 4), (17, 2)],
    ("CUBE_M16", 32): [(1, 1), (16, 2), (7, 1)],
    ("CUBE_M16", 16): [(1, 3), (16, 4), (9, 1)],
    ("CUBE_M16", 8): [(1, 7), (16, 8), (11, 5), (16, 3)],
}


@pytest.mark.parametrize("pad", list(PadValue))
@pytest.mark.parametrize("layout", ["CUBE_M16", "CUBE_M32"])
@pytest.mark.parametrize("dtype", CUBE_TYPES)
def test_gpr_carrier(dtype: str, layout: str, pad: PadValue) -> None:
    """TCMP and TCMPS into a GPR, both halves of 8-bit tiles, and the batch twin of both."""
    width = oracle.WIDTHS[dtype]
    for number, (rows, cols) in enumerate(GPR_SHAPES[layout, width]):
        relation = oracle.RELATIONS[(number + int(pad)) % 6]
        left = codes((dtype, layout, number), dtype, rows, cols, plain=True)
        right = codes((dtype, layout, -number - 1), dtype, rows, cols, plain=True)
        made = core(
            ("T", tile(left, dtype, layout)),
            ("T", tile(right, dtype, layout)),
            gprs={"a3": int(right[-1, -1])},
        )
        padding = (1 << 64) - 1 if pad is PadValue.Max else 0
        for half in ("Low", "High") if width == 8 else ("",):
            extra = f", {half}" if half else ""
            attributes = f"<Row={rows}, Col={cols}, {dtype}, {relation}, {pad.name}{extra}>"
            scalar = np.full_like(right, right[-1, -1])
            for text, others in (
                (f"TCMP {attributes}, T#2, T#1, ->a5", right),
                (f"TCMPS {attributes}, T#2, a3, ->a5", scalar),
            ):
                made.set_flags(0)
                made.run(program(text))
                results, _ = expected_results(dtype, relation, left, others)
                word = oracle.mask_word(layout, width, results, half == "High", padding)
                assert made.gpr("a5") == word
                words, raised = batch.compare(
                    left[np.newaxis],
                    others[np.newaxis],
                    dtype,
                    layout,
                    relation,
                    pad=pad,
                    high_half=half == "High",
                )
                assert int(words[0]) == word
                assert bool(raised[0]) == bool(made.flags())


def test_flags_of_columns_that_are_not_published_are_not_raised() -> None:
    """A signalling NaN in column 2 of four shows with the high half alone."""
    left = np.full((32, 4), 0x3C, np.uint8)
    left[9, 2] = 0x7D
    made = core(("T", tile(left, "E5M2", "CUBE_M32")))
    made.run(program("TCMP <Row=32, Col=4, E5M2, GE, Low>, T#1, T#1, ->a0"))
    assert made.flags() == 0
    made.run(program("TCMP <Row=32, Col=4, E5M2, GE, High>, T#1, T#1, ->a0"))
    assert made.flags() == Flag.NV


def test_flags_are_sticky_and_the_scope_is_the_profiles() -> None:
    left = np.full((32, 1), 0x7F800001, np.uint32)
    text = program("TCMP <Row=32, Col=1, FP32, mask=0100>, T#1, T#1, ->a0")
    made = core(("T", tile(left, "FP32", "CUBE_M32")))
    made.set_flags(Flag.NX)
    made.run(text)
    assert [made.flags(pe=pe) for pe in range(4)] == [16, 17, 16, 16]
    shared = core(("T", tile(left, "FP32", "CUBE_M32")), flags_scope="core")
    shared.run(text)
    assert [shared.flags(pe=pe) for pe in range(4)] == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("layout", "dtype", "at", "sat", "word"),
    [
        ("CUBE_M32", "FP32", [(5, 1)], 0, 0x0000002000000000),
        ("CUBE_M32", "FP16", [(31, 1), (0, 0)], 0, 0x8000000000000001),
        ("CUBE_M32", "U8", [(3, 1), (3, 2)], 0, 0x0000000800000000),
        ("CUBE_M32", "U8", [(3, 1), (3, 2)], 1, 0x0000000000000008),
        ("CUBE_M16", "S32", [(5, 1)], 0, 0x0000000000200000),
        ("CUBE_M16", "S16", [(15, 3)], 0, 0x8000000000000000),
        ("CUBE_M16", "U8", [(2, 6)], 1, 0x0000000400000000),
    ],
)
def test_worked_bits(
    layout: str, dtype: str, at: list[tuple[int, int]], sat: int, word: int
) -> None:
    width = oracle.WIDTHS[dtype]
    rows, cols = GPR_SHAPES[layout, width][1][0], 128 * 8 // width // oracle.ROWS[layout]
    cols = 2 if width == 32 else cols
    left = np.zeros((rows, cols), kernels.ELEMENT_TYPES[width])
    right = left + left.dtype.type(1)
    for row, col in at:
        right[row, col] = 0
    made = core(("T", tile(left, dtype, layout)), ("U", tile(right, dtype, layout)))
    half = (", High" if sat else ", Low") if width == 8 else ""
    made.run(program(f"TCMP <Row={rows}, Col={cols}, {dtype}, EQ, Zero{half}>, T#1, U#1, ->x3"))
    assert made.gpr("x3") == word


@pytest.mark.parametrize("layout", ["CUBE_M32", "CUBE_M16"])
def test_a_signalling_scalar_counts_only_where_a_column_is_published(layout: str) -> None:
    half = {"CUBE_M32": 2, "CUBE_M16": 4}[layout]
    data = tile(np.zeros((3, half), np.uint8), "E5M2", layout)
    for which, flags in (("Low", 1), ("High", 0)):
        found = core(("T", data), gprs={"a0": 0x7D})
        found.run(program(f"TCMPS <Row=3, Col={half}, E5M2, {which}>, T#1, a0, ->a5"))
        assert found.flags() == flags
        high = which == "High"
        _, raised = batch.compare(
            data.to_array(valid=True), 0x7D, "E5M2", layout, "EQ", high_half=high
        )
        assert bool(raised) == bool(flags)
