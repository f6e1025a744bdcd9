"""The PTO machine in a user's hands: bad arguments are named, tiles cannot be changed."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lanewise.errors import UsageError
from lanewise.pto import Kind, PtoCore, PtoFault, Tile, batch, cell_shape, decode_word, hif4
from lanewise.pto import element_address as address
from lanewise.pto.assembly import AssemblyError, assemble
from lanewise.pto.proposal import P2r, Tcmp, Tsel

WORDS = np.zeros((3, 2), np.uint32)
BYTES = np.arange(15, dtype=np.uint8).reshape(3, 5)
PARTLY = Tile.from_array(BYTES, "U8", "CUBE_M32", fill=None)

BAD_CALLS: dict[str, tuple[Callable[[], Any], str]] = {
    "valid outside the array": (
        lambda: Tile.from_array(WORDS, "FP32", "CUBE_M32", valid=(32, 2)),
        "valid shape 32x2 does not lie in 3x2",
    ),
    "array over the cells": (
        lambda: Tile.from_array(np.zeros((32, 8), np.uint32), "FP32", "CUBE_M32", valid=(32, 2)),
        "the array is 32x8, but a CUBE_M32 FP32 tile with valid shape 32x2 holds 32x2",
    ),
    "fill too wide": (
        lambda: Tile.from_array(BYTES, "U8", fill=0x1FF),
        "fill 0x1ff is no code of 8 bits",
    ),
    "fill too wide for a nibble": (
        lambda: Tile.from_array(BYTES % 8, "U4X2", fill=0x1F),
        "fill 0x1f is no code of 4 bits",
    ),
    "fill negative": (
        lambda: Tile.from_array(BYTES, "U8", fill=-1),
        "fill -0x1 is no code of 8 bits",
    ),
    "kind unknown": (
        lambda: Tile.from_array(BYTES, "U8", kind="packed"),
        "unknown kind of tile 'packed'",
    ),
    "packed in cells": (
        lambda: Tile.from_array(BYTES % 2, "U8", "CUBE_M32", kind="packed_predicate"),
        "U8 in CUBE_M32 with basis None is no packed_predicate",
    ),
    "packed of words": (
        lambda: Tile.from_array(BYTES % 2, "FP32", kind="packed_predicate"),
        "FP32 in NORM with basis None is no packed_predicate",
    ),
    "cell mask without cells": (
        lambda: Tile.from_array(BYTES % 2, "U8", kind="predicate_cell", basis="FP32"),
        "U8 in NORM with basis FP32 is no predicate_cell",
    ),
    "cell mask without basis": (
        lambda: Tile.from_array(BYTES % 2, "U8", "CUBE_M16", kind="predicate_cell"),
        "U8 in CUBE_M16 with basis None is no predicate_cell",
    ),
    "numbers with a basis": (
        lambda: Tile.from_array(BYTES, "U8", basis="FP32"),
        "U8 in NORM with basis FP32 is no numeric",
    ),
    "ragged rows": (lambda: Tile.from_array([[1, 2], [3]], "U8"), "rows of one length"),
    "floats": (lambda: Tile.from_array(WORDS.view(np.float32), "FP32"), ".view()"),
    "capacity zero": (lambda: Tile.from_array(WORDS, "FP32", capacity=0), "capacity 0 is outside"),
    "undefined elements": (PARTLY.to_array, "some elements are undefined"),
    "cell of 64 bits": (lambda: cell_shape("CUBE_M32", 64), "4, 8, 16 or 32 bits, not 64"),
    "PE of a register": (lambda: PtoCore().gpr(1, pe=4), "a PE must be 0..3, not 4"),
    "PE of a tile": (lambda: PtoCore().tile("T#1", pe=-1), "a PE must be 0..3, not -1"),
    "PE of a push": (lambda: PtoCore().push("T", PARTLY, pe=4), "a PE must be 0..3, not 4"),
    "PE of flags": (lambda: PtoCore().flags(pe=4), "a PE must be 0..3, not 4"),
    "array pushed": (lambda: PtoCore().push("T", WORDS), "Tile.from_array makes them"),  # type: ignore[arg-type]
    "register of a float": (lambda: PtoCore().set_gpr(1, 1.5), "a whole number, not 1.5"),  # type: ignore[arg-type]
    "text as a program": (lambda: PtoCore().run("BSTOP"), "lanewise.pto.assembly.assemble"),
    "number as a program": (lambda: PtoCore().run(1), "a sequence of words or bytes, not 1"),  # type: ignore[arg-type]
    "None as a word": (lambda: PtoCore().run([None]), "a whole number, not None"),
    "float as a word": (lambda: PtoCore().run([1.0]), "a whole number, not 1.0"),
    "operation as a word": (lambda: PtoCore().run([P2r([1] * 8, "T")]), "a whole number, not P2r"),
    "word as an operation": (
        lambda: PtoCore(revision="proposal").run(["00000001"]),
        "operations of lanewise.pto.proposal, not '00000001'",
    ),
    "relation": (
        lambda: Tcmp("LTE", "FP16", "CUBE_M32", "T#1", "U#1", (4, 5)),
        "unknown relation 'LTE'",
    ),
    "PE mask": (lambda: P2r([1] * 8, "T", pe_mask="100"), "4 digits 0 or 1, not '100'"),
    "batch relation": (
        lambda: batch.compare(WORDS, 0, "FP32", "CUBE_M32", "XX"),
        "unknown relation 'XX'",
    ),
    "batch scalar too wide": (
        lambda: batch.compare(WORDS, 1 << 32, "FP32", "CUBE_M32", "EQ"),
        "code 0x100000000 does not fit 32 bits",
    ),
    "batch float": (
        lambda: batch.select(np.zeros(1, np.uint64), WORDS, 1.5, "FP32", "CUBE_M32"),
        "the other side holds codes",
    ),
    "batch shapes": (
        lambda: batch.compare(WORDS, np.zeros((4, 2), np.uint32), "FP32", "CUBE_M32", "EQ"),
        "(4, 2) does not broadcast to (3, 2)",
    ),
    "batch layout": (
        lambda: batch.planes_to_bytes(np.zeros(4, np.uint64), "NORM"),
        "CUBE_M16 and CUBE_M32 cells, not NORM",
    ),
    "batch padding": (
        lambda: batch.cell_bytes(np.zeros(4, np.uint64), "CUBE_M32", 0, 256),
        "a padding byte must be 0..255, not 256",
    ),
    "scale word": (lambda: hif4.increments([1 << 32]), "a scale word has 32 bits"),
    "scale words of floats": (lambda: hif4.increments([1.5]), "scale words are integers (n,)"),
}


@pytest.mark.parametrize("name", BAD_CALLS)
def test_bad_arguments_are_named(name: str) -> None:
    call, message = BAD_CALLS[name]
    with pytest.raises(UsageError) as caught:
        call()
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "copied", [lambda t: t, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))]
)
def test_tiles_cannot_be_changed_through_their_arrays(copied: Callable[[Tile], Tile]) -> None:
    PARTLY.codes, PARTLY.defined  # noqa: B018  # Both are kept with the tile from now on.
    found = copied(PARTLY)
    assert found == PARTLY
    for array in (found.codes, found.defined):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1


def test_equal_tiles_have_equal_hashes_whatever_was_read_of_them() -> None:
    fresh = Tile.from_array(BYTES, "U8", "CUBE_M32", fill=None)
    assert fresh == PARTLY
    assert hash(fresh) == hash(PARTLY)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_arrays_of_any_byte_order_and_stride(order: str, width: int) -> None:
    array = np.arange(48, dtype=f"{order}u{width}").reshape(6, 8)[::2, ::3]
    tile = Tile.from_array(array, f"U{8 * width}")
    assert (tile.to_array() == array).all()
    assert tile.payload == array.astype(f"<u{width}").tobytes()


def test_padding_in_the_array_is_kept() -> None:
    array = np.arange(32, dtype=np.uint32).reshape(32, 1)
    tile = Tile.from_array(array, "FP32", "CUBE_M32", valid=(5, 1))
    assert (tile.to_array() == array).all()
    assert tile.to_array(valid=True).shape == (5, 1)


def test_register_values_are_python_integers() -> None:
    core = PtoCore()
    core.set_gpr("a0", np.uint64(2**64 - 1))
    core.set_gpr(np.int64(3), np.int32(7))
    assert (core.gpr("a0"), core.gpr("a1")) == (2**64 - 1, 7)
    assert type(core.gpr("a0")) is int


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_any_bytes_are_a_program(kind: Callable[[bytes], Any]) -> None:
    words = assemble(["BSTART.VEC TCMP, FP32", "B.IOT mask=0000, ->T<128B>", "C.BSTOP"])
    program = b"".join(word.to_bytes() for word in words)
    assert PtoCore().run(kind(program)).executed == 1
    assert PtoCore().run([*np.frombuffer(program[:8], np.uint32).tolist(), 0]).executed == 1
    assert decode_word(bytearray(b"\x01\0\0\0")).form == "BSTOP"


def test_names_are_read_everywhere() -> None:
    assert cell_shape("cube_m16", 8) == cell_shape("CUBE_M16", 8)
    assert address("CUBE_M32", 32, (32, 2), (5, 1)).cell == 1
    core = PtoCore(revision="proposal")
    tile = Tile.from_array(np.eye(32, 2, dtype=np.uint16), "U16", "CUBE_M32")
    core.push("t", tile)
    compared = Tcmp("GT", "u16", "CUBE_M32", "T#1", "T#1", [4, 5], "Max")
    core.run([compared, Tsel("U16", "CUBE_M32", "T#1", "T#1", [4, 5], "U"), P2r([4] * 8, "M")])
    assert pickle.loads(pickle.dumps(compared)) == compared
    assert core.tile("U#1") == tile


def test_batch_refuses_what_a_bundle_refuses() -> None:
    with pytest.raises(PtoFault, match=r"source\.encoding"):
        batch.compare(WORDS + np.uint32(1), 0, "TF32", "CUBE_M32", "EQ")
    with pytest.raises(PtoFault, match=r"source\.encoding"):
        batch.compare(WORDS, 1, "HF32", "CUBE_M32", "EQ")


def test_no_groups_at_all_are_quantised_to_none() -> None:
    groups = hif4.quantize(np.zeros((0, 64), np.uint16))
    assert (groups.scales.shape, groups.data.shape) == ((0,), (0, 32))
    assert hif4.dequantize(groups).shape == (0, 64)


def test_groups_of_any_byte_order() -> None:
    ones = np.full(64, 0x3F80, ">u2")
    assert hif4.quantize(ones).scales == hif4.quantize(ones.astype("<u2")).scales == 0xFFFFFFB5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("TCMP <Row=1, Col=1, U8, LT, GT>, T#1, T#1, ->a5", "GT comes after another cmode"),
        ("TCMP <Row=1, Col=1, U8, Max, Zero>, T#1, T#1, ->a5", "Zero comes after another pad"),
        ("TCMP <Row=1, Col=1, U8, High, Low>, T#1, T#1, ->a5", "Low comes after another sat"),
        ("TGPR2T <Row=32, Col=4, U8, off=1, off=2>, a0, ->T<128B>", "off comes after another"),
        ("TCMP <Row=1, Col=1, U8, mask=1000, mask=1111>, T#1, T#1, ->a5", "mask comes after"),
        ("B.IOT T#1, mask=1000, last, last", "expected '->', not 'last'"),
        ("B.DATR {NORM, U8, Zero, None, Default, 0, 0, 0}", "expected ',', not '}'"),
        ("B.DATR {NORM, U8, Zero, None, Default, 0, 0, 0, 0, 0}", "expected '}', not ','"),
    ],
)
def test_what_is_said_twice_is_refused(text: str, message: str) -> None:
    with pytest.raises(AssemblyError) as caught:
        assemble([text])
    assert message in str(caught.value)


def test_kinds_have_names() -> None:
    made = Tile.from_array(BYTES % 2, "U8", kind="packed_predicate")
    assert made.descriptor.kind is Kind.PACKED_PREDICATE
