"""The evidence that the request for these instructions asked for, one test an item."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.pto import oracle
from tests.pto.build import codes, core, mask_tile, program, tile

from lanewise.pto import (
    DataType,
    FaultKind,
    Hand,
    Layout,
    PadValue,
    PtoCore,
    PtoFault,
    TileName,
    decode_word,
    hif4,
    instructions,
    proposal,
)
from lanewise.pto.assembly import assemble
from lanewise.pto.elements import compare_elements
from lanewise.pto.evidence import EVIDENCE, EVIDENCE_FILE

LEFT, RIGHT = TileName(Hand.T, 2), TileName(Hand.T, 1)
M32, M16 = Layout.CUBE_M32, Layout.CUBE_M16
FP16, FP32 = DataType.FP16, DataType.FP32


def old_core(dtype: str, layout: str, *arrays: np.ndarray) -> PtoCore:
    """A core of the proposal with these arrays pushed on T."""
    made = PtoCore(revision="proposal")
    for array in arrays:
        made.push("T", tile(array, dtype, layout))
    return made


def cells(made: PtoCore, name: str) -> np.ndarray:
    """The codes of a tile that must be there."""
    found = made.tile(name)
    assert found is not None
    return found.codes


def test_every_item_names_a_test_of_this_file() -> None:
    assert "tests/pto/" + Path(__file__).name == EVIDENCE_FILE
    assert [item.id for item in EVIDENCE] == [f"EV-{n:02}" for n in range(1, 16)]
    for item in EVIDENCE:
        assert callable(globals()[item.test])
        assert item.test.startswith(f"test_ev_{item.id[-2:]}_")


@pytest.mark.parametrize("pattern", ["lane 0", "lane 31", "mixed"])
def test_ev_01_low_half_is_the_first_result(pattern: str) -> None:
    left, right = np.zeros((32, 2), np.uint16), np.full((32, 2), 0x3C00, np.uint16)
    where = {"lane 0": [(0, 0)], "lane 31": [(31, 1)], "mixed": [(0, 1), (7, 0), (31, 0), (31, 1)]}
    for place in where[pattern]:
        right[place] = 0x8000
    expected = [sum(1 << row for row, col in where[pattern] if col == c) for c in (0, 1)]
    old = old_core("FP16", "CUBE_M32", left, right)
    old.run([proposal.Tcmp("EQ", FP16, M32, LEFT, RIGHT, (4, 9))])
    assert [old.gpr(4), old.gpr(9)] == expected
    new = core(("T", tile(left, "FP16", "CUBE_M32")), ("T", tile(right, "FP16", "CUBE_M32")))
    new.run(program("TCMP <Row=32, Col=2, FP16, EQ>, T#2, T#1, ->a2"))
    assert new.gpr("a2") == expected[0] | expected[1] << 32


@pytest.mark.parametrize("low", [0, 0xFFFFFFFF, 0x80000001])
@pytest.mark.parametrize("high", [0, 0xFFFFFFFF, 0x0FF0A5C3])
def test_ev_02_masks_rule_their_halves_independently(low: int, high: int) -> None:
    true, false = codes("t", "FP16", 32, 2), codes("f", "FP16", 32, 2)
    bits = np.array([[low >> r & 1, high >> r & 1] for r in range(32)], bool)
    expected = np.where(bits, true, false)
    old = old_core("FP16", "CUBE_M32", true, false)
    old.set_gpr(7, low)
    old.set_gpr(8, high)
    old.run([proposal.Tsel(FP16, M32, LEFT, RIGHT, (7, 8), Hand.U)])
    assert (cells(old, "U#1") == expected).all()
    new = core(
        ("T", tile(true, "FP16", "CUBE_M32")),
        ("T", tile(false, "FP16", "CUBE_M32")),
        gprs={"a0": high << 32 | low},
    )
    new.run(program("TSEL <Row=32, Col=2, FP16>, a0, T#2, T#1, ->U<128B>"))
    assert (cells(new, "U#1") == expected).all()


def test_ev_03_cell_first_then_slot() -> None:
    """One true element a logical column: its register is the column's place in the list."""
    for layout, columns in ((M32, 4), (M16, 8)):
        rows = oracle.ROWS[layout]
        left = np.zeros((rows, columns), np.uint16)
        right = np.ones((rows, columns), np.uint16)
        for column in range(columns):
            right[column, column] = 0
        made = old_core("S16", layout, left, right)
        dst = tuple(range(5, 5 + columns))
        made.run([proposal.Tcmp("EQ", DataType.S16, layout, LEFT, RIGHT, dst, PadValue.Max)])
        outside = 0xFFFF0000 if layout is M16 else 0
        assert [made.gpr(index) for index in dst] == [
            outside | 1 << column for column in range(columns)
        ]
    two = core(("T", tile(np.arange(64, dtype=np.uint32).reshape(32, 2), "U32", "CUBE_M32")))
    two.set_gpr("a0", 63)
    two.run(program("TCMPS <Row=32, Col=2, U32, EQ, Zero>, T#1, a0, ->a1"))
    assert two.gpr("a1") == 1 << 63


def test_ev_04_oversized_lists_are_refused_whole() -> None:
    """24 planes cannot be named; the same tile in two pieces gives the same planes."""
    left, right = codes(1, "FP32", 30, 24), codes(2, "FP32", 30, 24)
    whole = old_core("FP32", "CUBE_M32", left, right)
    before = whole.state
    with pytest.raises(PtoFault) as caught:
        whole.run([proposal.Tcmp("LT", FP32, M32, LEFT, RIGHT, tuple(range(1, 24)))])
    assert caught.value.kind is FaultKind.TILE_LEGALITY
    assert whole.state == before
    planes = []
    for half in (slice(0, 12), slice(12, 24)):
        piece = old_core("FP32", "CUBE_M32", left[:, half], right[:, half])
        piece.run([proposal.Tcmp("LT", FP32, M32, LEFT, RIGHT, tuple(range(1, 13)))])
        planes += [piece.gpr(index) for index in range(1, 13)]
    assert planes == [
        sum(
            oracle.holds("FP32", "LT", int(left[r, c]), int(right[r, c]))[0] << r for r in range(30)
        )
        for c in range(24)
    ]
    wide = core(("T", tile(left[:, :3], "FP32", "CUBE_M32")))
    with pytest.raises(PtoFault, match="split it"):
        wide.run(program("TCMP <Row=30, Col=3, FP32, LT>, T#1, T#1, ->a0"))


def test_ev_05_masks_are_plain_registers() -> None:
    left, right = codes(1, "BF16", 32, 2), codes(2, "BF16", 32, 2)
    made = core(("T", tile(left, "BF16", "CUBE_M32")), ("T", tile(right, "BF16", "CUBE_M32")))
    made.run(program("TCMP <Row=32, Col=2, BF16, GT>, T#2, T#1, ->a0"))
    word = made.gpr("a0")
    assert word not in (0, (1 << 64) - 1)
    # Scalar code reads the word, inverts it, and writes masks and planes of its own.
    made.set_gpr("a1", word ^ (1 << 64) - 1)
    made.run(program("TSEL <Row=32, Col=2, BF16>, a1, T#2, T#1, ->U<128B>"))
    made.run(program("TSEL <Row=32, Col=2, BF16>, a0, T#1, T#2, ->U<128B>"))
    assert (cells(made, "U#1") == cells(made, "U#2")).all()
    made.set_gpr("a2", 0x00000001_80000000)
    made.run(program("TGPR2T <Row=32, Col=4, U8>, zero, a2, zero, zero, ->N<128B>"))
    assert np.argwhere(cells(made, "N#1")).tolist() == [[0, 0], [31, 0]]
    assert cells(made, "N#1")[[0, 31], 0].tolist() == [8, 4]


@pytest.mark.parametrize("offset", range(4))
def test_ev_06_bytes_are_transposed_planes(offset: int) -> None:
    """Programs that were decoded from words, and P2R: D[r, off] bit b is plane b bit r."""
    words = [0x0123456789ABCDEF, 0xF00DFACE5EED1234, 0x8000000000000001, 0xAAAA5555CCCC3333]
    new = core(gprs=dict(zip((2, 3, 4, 5), words, strict=True)))
    datr = 0x01F01023 | offset << 15
    new.run(
        [
            "dfe19181",
            f"{datr:08x}",
            "00400043",
            "02001043",
            "20310013",
            "00028013",
            "0008e213",
            "0000",
        ]
    )
    old = PtoCore(revision="proposal")
    for plane in range(8):
        old.set_gpr(1 + plane, words[plane // 2] >> 32 * (plane % 2) & 0xFFFFFFFF)
    old.run([proposal.P2r(tuple(range(1, 9)), Hand.T, offset)])
    for row in range(32):
        byte = oracle.transposed_byte(words, "CUBE_M32", row, 0)
        assert cells(new, "T#1")[row, offset] == byte
        assert cells(old, "T#1")[row, offset] == byte


@pytest.mark.parametrize("plane", [0, 7])
@pytest.mark.parametrize("row", [0, 31])
def test_ev_07_walking_ones(plane: int, row: int) -> None:
    old = PtoCore(revision="proposal")
    old.set_gpr(3, 1 << row)
    sources = tuple(3 if number == plane else 0 for number in range(8))
    old.run([proposal.P2r(sources, Hand.T), proposal.P2r((3,) * 8, Hand.T)])
    expected = np.zeros(32, np.uint8)
    expected[row] = 1 << plane
    assert (cells(old, "T#2")[:, 0] == expected).all()
    expected[row] = 0xFF
    assert (cells(old, "T#1")[:, 0] == expected).all()
    new = core(gprs={"a0": 1 << (row + 32 * (plane % 2)), "a1": (1 << 64) - 1})
    sources = ", ".join("a0" if number == plane // 2 else "zero" for number in range(4))
    new.run(program(f"TGPR2T <Row=32, Col=4, U8>, {sources}, ->T<128B>"))
    assert cells(new, "T#1")[row, 0] == 1 << plane
    assert np.count_nonzero(cells(new, "T#1")) == 1
    new.run(program("TGPR2T <Row=32, Col=4, U8>, a1, a1, a1, a1, ->T<128B>"))
    assert (cells(new, "T#1")[:, 0] == 0xFF).all()
    new.run(program("TGPR2T <Row=32, Col=4, U8>, zero, zero, zero, zero, ->T<128B>"))
    assert not cells(new, "T#1").any()


def test_ev_08_low_nibble_first() -> None:
    """Planes of the low nibble in words 0 and 1, of the high one in words 2 and 3."""
    low, high = 0x5, 0xA
    bits = [low >> b & 1 for b in range(4)] + [high >> b & 1 for b in range(4)]
    words = [bits[2 * k] | bits[2 * k + 1] << 32 for k in range(4)]
    made = core(gprs=dict(zip(("a0", "a1", "a2", "a3"), words, strict=True)))
    made.run(program("TGPR2T <Row=32, Col=4, U8>, a0, a1, a2, a3, ->T<128B>"))
    assert cells(made, "T#1")[0, 0] == 0xA5
    lanes = np.tile(np.array([low, high], np.uint8), 32)
    assert hif4.pack(lanes)[0] == 0xA5


def test_ev_09_scale_word_from_planes() -> None:
    """E1_8 at byte 1 and E1_16 at bytes 2 and 3, each bit alone; then one whole word."""
    for bit in range(8, 32):
        offset, plane = bit // 8, bit % 8
        made = core(gprs={"a0": 1 << 32 * (plane % 2)})
        sources = ", ".join("a0" if number == plane // 2 else "zero" for number in range(4))
        made.run(program(f"TGPR2T <Row=32, Col=4, U8, off={offset}>, {sources}, ->T<128B>"))
        assert int(cells(made, "T#1")[0].copy().view("<u4")[0]) == 1 << bit
    base, coarse, fine = 0xC0, 0x01, 0x0001
    total = np.zeros((32, 4), np.uint8)
    for offset, byte in ((1, coarse), (2, fine & 0xFF), (3, fine >> 8)):
        planes = [byte >> b & 1 for b in range(8)]
        words = [planes[2 * k] | planes[2 * k + 1] << 32 for k in range(4)]
        made = core(gprs=dict(zip(("a0", "a1", "a2", "a3"), words, strict=True)))
        made.run(program(f"TGPR2T <Row=32, Col=4, U8, off={offset}>, a0, a1, a2, a3, ->T<128B>"))
        total |= cells(made, "T#1")
    total[0, 0] = base
    assert int(total[0].view("<u4")[0]) == 0x000101C0
    assert [hif4.increment(0x000101C0, lane) for lane in (0, 4, 8)] == [2, 1, 0]
    assert [hif4.lane_value(0x000101C0, *at) for at in ((0, 7), (4, 7), (8, 15))] == [7, 3.5, -1.75]


@pytest.mark.parametrize("pad", list(PadValue))
@pytest.mark.parametrize(
    ("layout", "rows"),
    [*(("CUBE_M32", rows) for rows in (1, 32)), *(("CUBE_M16", rows) for rows in (1, 11, 16))],
)
def test_ev_10_rows_tails_and_padding(layout: str, rows: int, pad: PadValue) -> None:
    cols = 1 if layout == "CUBE_M32" else 3
    left, right = codes(rows, "FP16", rows, cols), codes(-rows, "FP16", rows, cols)
    data = tile(left, "FP16", layout)
    made = core(("T", data), ("T", tile(right, "FP16", layout)))
    shape = f"<Row={rows}, Col={cols}, FP16, {pad.name}"
    made.run(program(f"TCMP {shape}, GE>, T#2, T#1, ->a0"))
    results = [
        [oracle.holds("FP16", "GE", int(a), int(b))[0] for a, b in zip(x, y, strict=True)]
        for x, y in zip(left, right, strict=True)
    ]
    outside = (1 << 64) - 1 if pad is PadValue.Max else 0
    assert made.gpr("a0") == oracle.mask_word(layout, 16, results, 0, outside)
    made.run(program(f"TSEL {shape}>, a0, T#2, T#1, ->U<128B>"))
    found = made.tile("U#1")
    assert found is not None
    assert (found.to_array(valid=True) == np.where(np.array(results), left, right)).all()
    padding = np.ones(found.codes.shape, bool)
    padding[:rows, :cols] = False
    assert (found.defined[padding] == (pad is not PadValue.Null)).all()
    value = {PadValue.Zero: 0, PadValue.Max: 0x7BFF, PadValue.Min: 0xFBFF, PadValue.Null: 0}[pad]
    assert (found.codes[padding] == value).all()
    old = old_core("FP16", layout, left, right)
    planes = tuple(range(1, found.descriptor.cols + 1))
    old.run([proposal.Tcmp("GE", FP16, Layout[layout], LEFT, RIGHT, planes, pad)])
    mask = (1 << rows) - 1
    for column in range(cols):
        bits = sum(line[column] << row for row, line in enumerate(results))
        assert old.gpr(column + 1) & mask == bits
        if pad is not PadValue.Null:
            assert old.gpr(column + 1) & ~mask == (outside & 0xFFFFFFFF & ~mask)


@pytest.mark.parametrize(
    "text",
    [
        "TCMP <Row=31, Col=2, FP16>, T#1, T#3, ->a0",
        "TCMP <Row=30, Col=2, FP16>, T#1, T#2, ->a0",
        "TCMP <Row=31, Col=2, FP32>, T#1, T#2, ->a0",
        "TCMP <Row=31, Col=2, HiF8>, T#1, T#2, ->a0",
        "TCMP <Row=31, Col=2, FP16, off=1>, T#1, T#2, ->a0",
        "TSEL <Row=31, Col=2, FP16>, a0, a1, T#1, T#2, ->U<128B>",
        "TSEL <Row=31, Col=2, FP16>, T#1, T#1, T#2, ->U<128B>",
        "TSELS <Row=31, Col=2, FP16, GE>, a0, T#1, ->U<128B>",
        "TGPR2T <Row=32, Col=4, S8>, a0, a0, a0, a0, ->U<128B>",
        "TGPR2T <Row=32, Col=4, U8, off=4>, a0, a0, a0, a0, ->U<128B>",
        "TGPR2T <Row=32, Col=8, U8>, a0, a0, a0, a0, ->U<128B>",
        "TGPR2T <Row=32, Col=4, U8, Null>, a0, a0, a0, a0, ->U<128B>",
        "TCMP <Row=31, Col=2, FP16>, T#1, T#2, ->U<64K>",
        "TGPR2T <Row=32, Col=4, U8>, a0, a0, a0, a0, ->U<64K>",
    ],
)
def test_ev_11_refused_before_any_effect(text: str) -> None:
    """The proposal's operand lists are in test_proposal, every single check in test_faults."""
    made = core(
        ("T", tile(codes(1, "FP16", 31, 2), "FP16", "CUBE_M32")),
        ("T", tile(codes(2, "FP16", 31, 2), "FP16", "CUBE_M32")),
        gprs={"a0": 5},
    )
    one = np.zeros((1, 1), np.uint8)
    for size in (64, 64, 64, 32):
        made.push("N", tile(one, "U8", "NORM", capacity=size * 1024))
    before = made.state
    report = made.attempt(program(text))
    assert report.reason in ("TileLegality", "TileAllocation")
    assert made.state == before


def test_ev_12_aliases_read_old_values() -> None:
    data = codes(3, "BF16", 32, 2)
    for word in (0, (1 << 64) - 1, 0x00FF00FF_0F0F0F0F):
        made = core(
            ("T", tile(data, "BF16", "CUBE_M32")),
            ("T", tile(data[::-1], "BF16", "CUBE_M32")),
            gprs={"a0": word},
        )
        made.run(program("TSEL <Row=32, Col=2, BF16>, a0, T#2, T#1, ->T<128B>"))
        bits = np.array([[word >> (r + 32 * c) & 1 for c in (0, 1)] for r in range(32)], bool)
        assert (cells(made, "T#1") == np.where(bits, data, data[::-1])).all()
        assert (cells(made, "T#3") == data).all()
    made.set_gpr("a0", 0x3F80)
    made.run(program("TCMPS <Row=32, Col=2, BF16, EQ>, T#3, a0, ->a0"))
    expected = [[int(code) == 0x3F80 for code in line] for line in data]
    assert made.gpr("a0") == oracle.mask_word("CUBE_M32", 16, expected, 0, 0)
    old = old_core("BF16", "CUBE_M32", data, data)
    old.run([proposal.Tsel(DataType.BF16, M32, LEFT, LEFT, (0, 0), Hand.T)])
    assert (cells(old, "T#1") == data).all()


@pytest.mark.parametrize("name", [op.name for op in instructions.ALL])
def test_ev_13_zero_mask_changes_nothing(name: str) -> None:
    """With mask 0000 operands are not even looked at: these are all wrong."""
    made = core(gprs={"a0": 1})
    made.set_flags(8)
    before = made.state
    report = made.run(
        program(f"BSTART.VEC {name}, HiF8", "B.IOT N#16, N#16, mask=0000, last, ->T<64K>", "BSTOP")
    )
    assert (report.executed, made.state) == (1, before)
    old = PtoCore(revision="proposal")
    before = old.state
    bad = proposal.Tsel(DataType.FP64, Layout.NORM, LEFT, RIGHT, (99,), Hand.T, 77, pe_mask="0000")
    old.run([bad, proposal.P2r((), Hand.T, 9, pe_mask="0000")])
    assert old.state == before


def test_ev_14_neighbours_are_unchanged() -> None:
    """Relations, tile-carried selects, scale decoding and the other words keep their meaning."""
    for number, relation in enumerate(oracle.RELATIONS):
        word = decode_word(0x01F01023 | number << 29)
        assert word.field_values()["cmode"] == number
        for dtype, left, right in (("S8", 0xFF, 1), ("U8", 0xFF, 1), ("E5M2", 0x80, 0)):
            kind = DataType.named(dtype)
            found = compare_elements(kind, relation, left, right)
            assert found == oracle.holds(dtype, relation, left, right)
    data = tile(codes(1, "FP32", 5, 3), "FP32", "NORM")
    mask = np.arange(15).reshape(5, 3) % 4 == 1
    made = core(("T", data), ("M", mask_tile(mask, data, "FP32")))
    made.run(program("TSELS <Row=5, Col=3, FP32>, M#1, T#1, ->U<128B>"))
    assert (cells(made, "U#1") == np.where(mask, data.codes, 0)).all()
    assert hif4.lane_value(0x000000C0, 63, 7) == 1.75
    for raw, form in ((0x00001013, "B.IOS"), (0x02094F93, "B.IOT"), (0x483C, "C.B.DIMI")):
        assert decode_word(raw).form == form


def test_ev_15_catalogue_matches_the_decoder() -> None:
    """Each instruction file stands alone: selector, examples, words and pages come from it."""
    known = {"TCMP": 0x0D, "TSEL": 0x1A, "TCMPS": 0x2D, "TSELS": 0x3A, "TGPR2T": 0x7E}
    assert {op.name: op.selector for op in instructions.ALL} == known
    folder = Path(instructions.__file__).parent
    files = sorted(path.stem for path in folder.glob("[!_]*.py"))
    assert files == sorted(name.lower() for name in known)
    for operation in instructions.ALL:
        page = __import__(type(operation).__module__, fromlist=["__doc__"]).__doc__
        assert page.startswith(f"{operation.name}: ")
        assert "Source: PTO" in page
        for example in operation.examples:
            start = decode_word(assemble(example)[0])
            assert start.field_values()["selector"] == operation.selector
