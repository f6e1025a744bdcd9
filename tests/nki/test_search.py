"""max8, nc_find_index8, nc_match_replace8: the tables, and what can go wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.nki.helpers import MISS, bits, f32, row, run, same_bits, simulation

from lanewise.nki import NkiValidationError, ThroughFP32, reference
from lanewise.nki import isa as nisa
from lanewise.nki import language as nl

INF, NAN = np.inf, np.nan
PROFILES = pytest.mark.parametrize("profile", ["hardware", "isa"])


def _max8(src: np.ndarray, to: Any = nl.float32, **options: Any) -> np.ndarray:
    result: np.ndarray = run(
        lambda src, dst: nisa.max8(dst=dst, src=src),
        {"src": src},
        {"dst": ((src.shape[0], 8), to)},
        **options,
    )
    return result


@PROFILES
@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (f32(3, 1, 4, 1, 5, 9, 2, 6, 5, 3), f32(9, 6, 5, 5, 4, 3, 3, 2)),
        (f32(NAN, NAN, 1, 2, 3, 4, 5, 6), f32(6, 5, 4, 3, 2, 1, -INF, -INF)),
        (f32(0.0, -0.0, -1, -2, -3, -4, -5, -6, -7), f32(0.0, -0.0, -1, -2, -3, -4, -5, -6)),
    ],
)
def test_max8(source: np.ndarray, expected: np.ndarray, profile: str) -> None:
    same_bits(_max8(source, profile=profile), expected)


@PROFILES
def test_max8_goes_through_fp32(profile: str) -> None:
    source = row(np.int32, 16777217, 1, 2, 3, 4, 5, 6, 7)
    same_bits(
        _max8(source, nl.int32, profile=profile), row(np.int32, 16777216, 7, 6, 5, 4, 3, 2, 1)
    )


def test_max8_is_one_word_written_backwards() -> None:
    sim, _ = simulation(
        lambda src, dst: nisa.max8(dst=dst, src=src),
        {"src": np.zeros((2, 8), np.float32)},
        {"dst": ((2, 8), nl.float32)},
    )
    assert [word[0] for word in sim.program] == [0x6C]
    assert sim.program[0][52:54] == (-1 & 0xFFFF).to_bytes(2, "little")


@pytest.mark.parametrize(("elements", "ok"), [(7, False), (8, True), (16384, True), (16385, False)])
def test_max8_takes_8_to_16384_elements(elements: int, ok: bool) -> None:
    source = np.arange(elements, dtype=np.float32).reshape(1, -1)
    if ok:
        assert _max8(source)[0, 0] == elements - 1
        return
    with pytest.raises(NkiValidationError) as caught:
        _max8(source)
    assert caught.value.rule == "source-count"
    assert (
        f"max8 src elements per partition {elements} must be in 8..16384 [rule source-count]"
        in str(caught.value)
    )


def test_max8_of_higher_ranks() -> None:
    source = np.random.default_rng(1).permutation(96).astype(np.float32).reshape(2, 6, 8)
    same_bits(_max8(source), -np.sort(-source.reshape(2, 48))[:, :8])
    with pytest.raises(NkiValidationError, match="max8 src rank 4 must be at most 3"):
        _max8(source.reshape(2, 2, 3, 8))


def test_ties_among_the_eight_are_noted() -> None:
    sim, _ = simulation(
        lambda src, dst: nisa.max8(dst=dst, src=src),
        {"src": f32(1, 1, 2, 3, 4, 5, 6, 7)},
        {"dst": ((1, 8), nl.float32)},
    )
    assert [warned.kind for warned in sim.report.warnings] == ["tie"]


def _find(data: np.ndarray, vals: np.ndarray, to: Any = nl.uint32, **options: Any) -> np.ndarray:
    result: np.ndarray = run(
        lambda data, vals, dst: nisa.nc_find_index8(dst=dst, data=data, vals=vals),
        {"data": data, "vals": vals},
        {"dst": ((data.shape[0], 8), to)},
        **options,
    )
    return result


FIND = [
    (
        f32(7, 3, 7, 1, 9, 7, 2, 3),
        f32(9, 7, 7, 3, 2, 1, 0, 7),
        (4, 0, 2, 1, 6, 3, MISS, 5),
    ),
    (
        f32(1, 2, 3, 4, 8, 8, 8, 8, 8, 8, 8),
        f32(3, 8, 8, 8, 8, 8, 8, 8),
        (2, 4, 5, 6, 7, 8, 9, 10),
    ),
    (
        f32(4, 9, 2, 9, 9, 1, 0, 3),
        f32(9, 9, 9, 9, 9, 9, 9, 9),
        (1, 3, 4, MISS, MISS, MISS, MISS, MISS),
    ),
    (
        f32(-0.0, NAN, 5, 5, 5, 5, 5, 5),
        f32(0.0, NAN, 5, 5, 5, 5, 5, 5),
        (0, MISS, 2, 3, 4, 5, 6, 7),
    ),
    (
        row(np.int32, 16777217, 0, 0, 0, 0, 0, 0, 0),
        row(np.uint32, 16777216, 0, 0, 0, 0, 0, 0, 0),
        (0, 1, 2, 3, 4, 5, 6, 7),
    ),
]


@PROFILES
@pytest.mark.parametrize("place", range(len(FIND)))
def test_find_index8(place: int, profile: str) -> None:
    data, vals, expected = FIND[place]
    same_bits(_find(data, vals, profile=profile), row(np.uint32, *expected))
    same_bits(reference.find_index8(data, vals), row(np.uint32, *expected))


def test_a_miss_is_all_ones_of_the_width() -> None:
    data, vals, expected = FIND[0]
    narrow = row(np.uint16, *(place & 0xFFFF for place in expected))
    same_bits(_find(data, vals, nl.uint16), narrow)


def test_find_index8_of_a_broadcast_value() -> None:
    data, _, expected = FIND[2]

    def body(data: Any, value: Any, dst: Any) -> None:
        nisa.nc_find_index8(dst=dst, data=data, vals=value.ap([[1, 1], [0, 8]]))

    result = run(body, {"data": data, "value": f32(9)}, {"dst": ((1, 8), nl.uint32)})
    same_bits(result, row(np.uint32, *expected))


def _replace(
    data: np.ndarray, vals: np.ndarray, imm: float, to: Any = None, **options: Any
) -> tuple[np.ndarray, np.ndarray]:
    def body(data: Any, vals: Any, dst: Any, idx: Any) -> None:
        nisa.nc_match_replace8(dst=dst, data=data, vals=vals, imm=imm, dst_idx=idx)

    dst, idx = run(
        body,
        {"data": data, "vals": vals},
        {"dst": (data.shape, to or data.dtype), "idx": ((data.shape[0], 8), nl.uint32)},
        **options,
    )
    return dst, idx


REPLACE = [
    (
        f32(1, 2, 3, 4, 8, 8, 8, 8, 8, 8, 8),
        f32(3, 8, 8, 8, 8, 8, 8, 8),
        0.0,
        f32(1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0),
        (2, 10, 9, 8, 7, 6, 5, 4),
    ),
    (
        f32(7, 3, 7, 1, 9, 7, 2, 3),
        f32(9, 7, 7, 3, 2, 1, 0, 7),
        -1.0,
        f32(-1, -1, -1, -1, -1, -1, -1, 3),
        (4, 5, 2, 1, 6, 3, MISS, 0),
    ),
    (
        f32(1, 2, 3, 4, 5, 6, 7, 8),
        f32(1, 9, 1, 1, 1, 1, 1, 1),
        9.0,
        f32(9, 2, 3, 4, 5, 6, 7, 8),
        (MISS, MISS, MISS, MISS, MISS, MISS, MISS, 0),
    ),
    (
        f32(5, -INF, 4, -INF, 3, -INF, 2, 1),
        f32(5, 4, 3, 2, 1, -INF, -INF, -INF),
        -INF,
        f32(-INF, -INF, -INF, -INF, -INF, -INF, -INF, -INF),
        (0, 2, 4, 6, 7, 5, 3, 1),
    ),
]


@PROFILES
@pytest.mark.parametrize("place", range(len(REPLACE)))
def test_match_replace8(place: int, profile: str) -> None:
    data, vals, imm, expected, positions = REPLACE[place]
    dst, idx = _replace(data, vals, imm, profile=profile)
    same_bits(dst, expected)
    same_bits(idx, row(np.uint32, *positions))
    twin, twin_idx = reference.match_replace8(data, vals, imm)
    same_bits(twin, expected)
    same_bits(twin_idx, idx)


def test_match_replace8_in_place_in_three_words() -> None:
    data, vals, imm, expected, _ = REPLACE[1]

    def body(data: Any, vals: Any, dst: Any) -> None:
        nisa.nc_match_replace8(dst, dst, vals, imm)

    sim, result = simulation(body, {"data": data, "vals": vals}, {"dst": data})
    same_bits(result, expected)
    assert [word[0] for word in sim.program] == [0x6D, 0x6F]


def test_dst_idx_composes_with_a_negative_step() -> None:
    data, vals, imm, _, positions = REPLACE[0]

    def body(data: Any, vals: Any, dst: Any, idx: Any) -> None:
        backwards = idx.ap([[8, 1], [-1, 8]], offset=7)
        nisa.nc_match_replace8(dst, data, vals, imm, dst_idx=backwards)

    _, idx = run(
        body,
        {"data": data, "vals": vals},
        {"dst": (data.shape, nl.float32), "idx": ((1, 8), nl.uint32)},
    )
    same_bits(idx, row(np.uint32, *reversed(positions)))


def test_dst_idx_needs_trn2() -> None:
    data, vals, imm, expected, _ = REPLACE[0]
    with pytest.raises(
        NkiValidationError,
        match=r"nc_match_replace8 dst_idx needs NeuronCore-v3 \(trn2\) or newer, target is trn1",
    ):
        _replace(data, vals, imm, target="trn1")
    result = run(
        lambda data, vals, dst: nisa.nc_match_replace8(dst, data, vals, imm),
        {"data": data, "vals": vals},
        {"dst": (data.shape, nl.float32)},
        target="trn1",
    )
    same_bits(result, expected)


def test_unmatched_integers_are_rounded_and_that_is_said() -> None:
    data, vals = row(np.int32, 16777217, 5, 6), row(np.int32, 5, 1, 1, 1, 1, 1, 1, 1)
    with pytest.warns(ThroughFP32, match=r"nc_match_replace8 data goes through FP32, exact to"):
        dst, _ = _replace(data, vals, -1.0)
    same_bits(dst, row(np.int32, 16777216, -1, 6))


def test_nan_payloads_are_lost_and_that_is_said() -> None:
    data, vals = bits(0x7FA00001, 0xFFC01234, 0x3F800000), f32(1, 2, 3, 4, 5, 6, 7, 8)
    with pytest.warns(ThroughFP32, match="NaN payloads are lost"):
        dst, _ = _replace(data, vals, 0.0)
    same_bits(dst, bits(0x7FC00000, 0xFFC00000, 0))


def test_the_sign_of_the_replacement_is_kept_from_call_to_call() -> None:
    data, vals = f32(1, 2), f32(1, 9, 9, 9, 9, 9, 9, 9)
    for number in (0.0, -0.0, 0.0):
        dst, _ = _replace(data, vals, number)
        assert np.signbit(dst[0, 0]) == np.signbit(number)


@pytest.mark.parametrize(
    ("call", "rule"),
    [
        (lambda t: nisa.nc_find_index8(t.i32, t.f, t.v), "index-dtype"),
        (lambda t: nisa.nc_find_index8(t.u32, t.f, t.f), "key-count"),
        (lambda t: nisa.nc_find_index8(t.f, t.f, t.v), "result-count"),
        (lambda t: nisa.nc_match_replace8(t.f, t.f, t.v, 0.0, dst_idx=t.i32), "index-dtype"),
        (lambda t: nisa.nc_match_replace8(t.b8, t.b8, t.v, 0.0), "in-dtype"),
        (lambda t: nisa.nc_match_replace8(t.v, t.f, t.v, 0.0), "same-count"),
        (lambda t: nisa.max8(t.f, t.f), "result-count"),
    ],
)
def test_what_is_refused_names_its_rule(call: Any, rule: str) -> None:
    class Tiles:
        pass

    def kernel(out: Any) -> None:
        tiles = Tiles()
        for name, elements, dtype in (
            ("f", 16, nl.float32),
            ("v", 8, nl.float32),
            ("u32", 8, nl.uint32),
            ("i32", 8, nl.int32),
            ("b8", 16, nl.float8_e5m2),
        ):
            setattr(tiles, name, nl.zeros((4, elements), dtype=dtype))
        call(tiles)

    from lanewise import nki

    with pytest.raises(NkiValidationError) as caught:
        nki.simulate(kernel)(np.zeros((1, 1), np.float32))
    assert caught.value.rule == rule
