"""The address map of each generation: every window edge, and address() and locate() as inverses."""

from __future__ import annotations

import itertools

import pytest
from tests.neuron import layout
from tests.neuron.bases import legal_word

from lanewise.errors import UsageError
from lanewise.neuron import GENERATIONS, Place, check


def expected_place(name: str, address: int) -> Place | None:
    """The map of the manual, written as a search rather than as shifts."""
    for partition in range(128):
        first = partition * layout.SBUF_STRIDE[name]
        if first <= address < first + layout.SBUF_STRIDE[name]:
            return Place("sbuf", partition, address - first)
    for partition in range(128 if layout.PSUM_BYTES[name] else 0):
        first = layout.PSUM_BASE + partition * layout.PSUM_STRIDE
        if first <= address < first + layout.PSUM_STRIDE:
            return Place("psum", partition, address - first)
    return None


def edges(name: str) -> set[int]:
    """Both sides of every start, end and active end of every partition and window."""
    marks = {0, 0x2000000, 0x2400000, 0x8000000, 0x1FFFFFFF}
    for partition in range(129):
        base = partition * layout.SBUF_STRIDE[name]
        marks |= {base, base + layout.SBUF_BYTES[name]}
        base = layout.psum(partition)
        marks |= {base, base + 0x4000}
    shifts = (-8, -4, -1, 0, 1, 4)
    return {m + d for m, d in itertools.product(marks, shifts) if 0 <= m + d < 1 << 29}


@pytest.mark.parametrize("name", layout.GENERATIONS)
def test_every_edge_of_the_map_is_located(name: str) -> None:
    generation = GENERATIONS[name]
    for address in edges(name):
        assert generation.locate(address) == expected_place(name, address), hex(address)


@pytest.mark.parametrize("name", layout.GENERATIONS)
def test_address_and_locate_are_inverse(name: str) -> None:
    generation = GENERATIONS[name]
    for space in ("sbuf", "psum"):
        active = (layout.SBUF_BYTES if space == "sbuf" else layout.PSUM_BYTES)[name]
        if not active:
            continue
        for partition in range(128):
            for offset in (0, 1, 4, 0x810, active // 2, active - 4, active - 1):
                address = generation.address(space, partition, offset)
                assert generation.locate(address) == Place(space, partition, offset)
                assert address < 1 << 29
        addresses = [generation.address(space, p, active - 1) for p in range(128)]
        assert addresses == sorted(set(addresses))


@pytest.mark.parametrize("name", layout.GENERATIONS)
def test_an_fp32_may_be_read_exactly_where_the_map_has_memory(name: str) -> None:
    """Every edge, through the legality check of a word with one channel."""
    for address in edges(name):
        place = expected_place(name, address)
        active = 0
        if place is not None:
            active = (layout.SBUF_BYTES if place.space == "sbuf" else layout.PSUM_BYTES)[name]
        readable = place is not None and place.offset % 4 == 0 and place.offset + 4 <= active
        change = {"src.start": address, "src.num[0]": 1, "dst.num[0]": 1, "dst.start": 0}
        word = legal_word(0x46, change | {"num_active_channels": 1})
        broken = [finding.rule for finding in check(word, name, engine="dve")]
        assert broken == ([] if readable else ["src-readable"]), hex(address)


@pytest.mark.parametrize(
    ("name", "address", "place"),
    [
        ("cayman", 0x009401A0, Place("sbuf", 37, 0x1A0)),
        ("maverick", 0x025001A0, Place("sbuf", 37, 0x1A0)),
        ("cayman", 0x025001A0, None),
        ("cayman", 0x02128810, Place("psum", 37, 0x810)),
        ("sunda", 0x02128810, Place("psum", 37, 0x810)),
        ("cayman", 0x01FF7FFC, Place("sbuf", 127, 0x37FFC)),
        ("sunda", 0x01FF7FFC, Place("sbuf", 127, 0x37FFC)),
        ("cayman", 0x023FBFFC, Place("psum", 127, 0x3FFC)),
        ("cayman", 0x00038000, Place("sbuf", 0, 0x38000)),
        ("mariana", 0x00038000, Place("sbuf", 0, 0x38000)),
        ("maverick", 0x02000000, Place("sbuf", 32, 0)),
    ],
)
def test_the_manuals_examples_are_located(name: str, address: int, place: Place | None) -> None:
    assert GENERATIONS[name].locate(address) == place


@pytest.mark.parametrize(
    ("name", "address", "legal"),
    [
        ("cayman", 0x01FF7FFC, True),
        ("sunda", 0x01FF7FFC, False),
        ("cayman", 0x023FBFFC, True),
        ("cayman", 0x00038000, False),
        ("mariana", 0x00038000, True),
        ("cayman", 0x025001A0, False),
        ("maverick", 0x025001A0, True),
    ],
)
def test_the_manuals_examples_are_legal_or_not(name: str, address: int, legal: bool) -> None:
    change = {"src.start": address, "src.num[0]": 1, "dst.num[0]": 1, "num_active_channels": 1}
    assert (check(legal_word(0x46, change), name, engine="act") == ()) is legal


@pytest.mark.parametrize(
    ("name", "sbuf", "stride", "psum", "banks"),
    [
        ("sunda", 0x30000, 0x40000, 0x4000, 16),
        ("cayman", 0x38000, 0x40000, 0x4000, 8),
        ("mariana", 0x40000, 0x40000, 0x4000, 8),
        ("maverick", 0x80000, 0x100000, 0, 0),
    ],
)
def test_sizes_of_each_generation(name, sbuf, stride, psum, banks) -> None:
    generation = GENERATIONS[name]
    assert (generation.sbuf_bytes, 1 << generation.sbuf_stride_bits) == (sbuf, stride)
    assert (generation.psum_bytes, generation.psum_banks) == (psum, banks)


def test_quadrants_are_groups_of_32_partitions() -> None:
    assert [Place("sbuf", p, 0).quadrant for p in (0, 31, 32, 63, 64, 95, 96, 127)] == [
        0, 0, 1, 1, 2, 2, 3, 3,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "space", "partition", "offset", "message"),
    [
        ("cayman", "sbuf", 128, 0, "partition must be 0..127, not 128"),
        ("cayman", "sbuf", -1, 0, "partition must be 0..127, not -1"),
        ("cayman", "sbuf", 0, 0x38000, "offset must be 0..0x37fff in sbuf of cayman, not 0x38000"),
        ("sunda", "psum", 0, 0x4000, "offset must be 0..0x3fff in psum of sunda, not 0x4000"),
        ("maverick", "psum", 0, 0, "maverick has no PSUM"),
        (
            "cayman",
            "sram",
            0,
            0,
            "unknown memory space 'sram'; did you mean 'psum'? (expected sbuf, psum)",
        ),
    ],
)
def test_bytes_that_are_not_there_have_no_address(name, space, partition, offset, message) -> None:
    with pytest.raises(UsageError) as caught:
        GENERATIONS[name].address(space, partition, offset)
    if space in ("sbuf", "psum"):
        assert str(caught.value) == message
    else:
        assert str(caught.value).startswith("unknown memory space 'sram'")
