"""TGPR2T, and P2R as its elder: transposed planes at every offset, against single bits."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pto import oracle
from tests.pto.build import core, program

from lanewise.pto import Hand, Layout, PtoCore, PtoFault, PtoProfile, batch, proposal

SHAPES = {"CUBE_M32": (32, 4), "CUBE_M16": (16, 8)}
WORDS = st.integers(0, (1 << 64) - 1)


def expected_cell(words: list[int], layout: str, offset: int, padding: int) -> np.ndarray:
    """The cell of bytes, made one byte at a time."""
    rows, cols = SHAPES[layout]
    width = 1 if layout == "CUBE_M32" else 2
    cell = np.full((rows, cols), padding, np.uint8)
    for row in range(rows):
        for byte in range(width):
            cell[row, width * offset + byte] = oracle.transposed_byte(words, layout, row, byte)
    return cell


@pytest.mark.parametrize("pad", ["", ", Zero", ", Max"])
@pytest.mark.parametrize("offset", range(4))
@pytest.mark.parametrize("layout", SHAPES)
def test_every_offset_and_padding(layout: str, offset: int, pad: str) -> None:
    rows, cols = SHAPES[layout]
    pick = random.Random(f"{layout} {offset} {pad}")
    for _ in range(20):
        words = [pick.getrandbits(64) for _ in range(4)]
        made = core(gprs=dict(zip(("a0", "a1", "s0", "x3"), words, strict=True)))
        made.set_flags(4)
        attributes = f"Row={rows}, Col={cols}, U8{pad}, off={offset}"
        made.run(program(f"TGPR2T <{attributes}>, a0, a1, s0, x3, ->M<512B>"))
        found = made.tile("M#1")
        assert found is not None
        cell = expected_cell(words, layout, offset, 0xFF if "Max" in pad else 0)
        assert (found.to_array() == cell).all()
        assert found.descriptor.capacity == 512
        assert made.flags() == 4
        twin = batch.cell_bytes(
            np.array([words], np.uint64), layout, offset, 0xFF if "Max" in pad else 0
        )
        assert (twin[0] == cell).all()


@given(st.lists(WORDS, min_size=4, max_size=4), st.integers(0, 3))
def test_p2r_gives_the_byte_that_tgpr2t_gives(words: list[int], offset: int) -> None:
    """Planes 2k and 2k+1 in the halves of word k: the selected bytes are equal."""
    new = core(gprs=dict(zip((2, 3, 4, 5), words, strict=True)))
    new.run(program(f"TGPR2T <Row=32, Col=4, U8, off={offset}>, a0, a1, a2, a3, ->T<128B>"))
    old = PtoCore(revision="proposal")
    for plane in range(8):
        half = words[plane // 2] >> (32 * (plane % 2)) & 0xFFFF_FFFF
        old.set_gpr(plane + 1, half)
    old.run([proposal.P2r(tuple(range(1, 9)), Hand.T, offset)])
    one, two = new.tile("T#1"), old.tile("T#1")
    assert one is not None
    assert two is not None
    assert (one.codes[:, offset] == two.codes[:, offset]).all()
    assert (two.descriptor.first_col, two.descriptor.valid_cols) == (offset, 1)
    assert two.valid_defined
    others = [col for col in range(4) if col != offset]
    assert not two.defined[:, others].any()
    assert one.defined.all()


@given(st.lists(WORDS, min_size=4, max_size=4))
def test_the_two_layouts_transpose_the_same_bits(words: list[int]) -> None:
    """The bits of all bytes are the bits of all words: nothing is lost or made."""
    sources = np.array([words], np.uint64)
    total = sum(word.bit_count() for word in words)
    for layout in SHAPES:
        bits = int(np.unpackbits(batch.planes_to_bytes(sources, layout)).sum())
        assert bits == total


def test_worked_bytes() -> None:
    words = [0x0102030405060708, 0x1112131415161718, 0x2122232425262728, 0x3132333435363738]
    sources = np.array(words, np.uint64)
    m32 = batch.planes_to_bytes(sources, Layout.CUBE_M32)[:10, 0]
    assert m32.tobytes().hex() == "0000aa55ccf00000ffff"
    m16 = batch.planes_to_bytes(sources, Layout.CUBE_M16)[:8]
    pairs = [int(high) << 8 | int(low) for low, high in m16]
    assert pairs == [0, 0xAAAA, 0x6666, 0x1111, 0xF0F0, 0xFF00, 0, 0]


@pytest.mark.parametrize("source", ["zero", "a0"])
def test_zero_and_repeated_sources(source: str) -> None:
    made = core(gprs={"a0": 0x8000000100000001})
    made.run(program(f"TGPR2T <Row=32, Col=4, U8>, {', '.join([source] * 4)}, ->T<128B>"))
    found = made.tile("T#1")
    assert found is not None
    column = found.to_array()[:, 0]
    if source == "zero":
        assert not column.any()
    else:
        assert column[0] == 0xFF
        assert column[31] == 0xAA
        assert not column[1:31].any()


def test_min_padding_by_profile() -> None:
    text = program("TGPR2T <Row=32, Col=4, U8, Min>, zero, zero, zero, zero, ->T<128B>")
    with pytest.raises(PtoFault, match="does not pad with Min"):
        core().run(text)
    made = PtoCore(profile=PtoProfile(tgpr2t_min="zero"))
    made.run(text)
    found = made.tile("T#1")
    assert found is not None
    assert not found.to_array().any()


def test_partial_tiles_combine_by_or() -> None:
    """With Zero padding three places of a scale word are independent."""
    made = core(gprs={"a0": 0x1, "a1": 0x0000000200000000, "a2": 0x8000000000000000})
    total = np.zeros((32, 4), np.uint8)
    for offset, register in ((1, "a0"), (2, "a1"), (3, "a2")):
        text = f"TGPR2T <Row=32, Col=4, U8, off={offset}>, {register}, zero, zero, zero, ->T<128B>"
        made.run(program(text))
        found = made.tile("T#1")
        assert found is not None
        total |= found.to_array()
    words = total.view("<u4")[:, 0]
    assert words[0] == 1 << 8
    assert words[1] == 2 << 16
    assert words[31] == 2 << 24
