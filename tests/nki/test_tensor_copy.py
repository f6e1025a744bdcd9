"""tensor_copy: the table of results, under both profiles, and what it warns about."""

from __future__ import annotations

import warnings
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from tests.nki.helpers import bf16, bits, f32, row, run, same_bits, simulation

from lanewise.nki import ThroughFP32
from lanewise.nki import isa as nisa
from lanewise.nki import language as nl

e4m3 = ml_dtypes.float8_e4m3
FLOATS = f32(0.5, 1.5, 2.5, -0.5, -2.5, 3e9, -3e9, np.nan, np.inf)
TOP = 2147483647

TABLE: list[tuple[Any, Any, Any, Any]] = [
    (
        FLOATS,
        np.int32,
        row(np.int32, 0, 2, 2, 0, -2, TOP, -TOP - 1, 0, TOP),
        row(np.int32, 0, 1, 2, 0, -2, TOP, -TOP - 1, 0, TOP),
    ),
    (
        f32(254.5, 255.5, 300, -1),
        np.uint8,
        row(np.uint8, 254, 255, 255, 0),
        row(np.uint8, 254, 255, 255, 0),
    ),
    (
        row(np.int32, 16777217, 16777219, TOP, -1),
        np.uint32,
        row(np.uint32, 16777216, 16777220, 2147483648, 0),
        row(np.uint32, 16777216, 16777220, 2147483648, 0),
    ),
    (row(np.uint32, 0xFFFFFFFF), np.int32, row(np.int32, TOP), row(np.int32, TOP)),
    (row(np.uint32, 257, 259), bf16, row(bf16, 256, 260), row(bf16, 256, 260)),
    (
        f32(244, 248, 1000, -1000),
        e4m3,
        row(e4m3, 240, np.inf, np.inf, -np.inf),
        row(e4m3, 240, 240, 240, -240),
    ),
    (bits(0x7FA00001), np.float32, bits(0x7FA00001), bits(0x7FA00001)),
    (
        bits(0x7FA00001),
        bf16,
        row(np.uint16, 0x7FC0).view(bf16),
        row(np.uint16, 0x7FC0).view(bf16),
    ),
]


@pytest.mark.parametrize("place", range(len(TABLE)))
@pytest.mark.parametrize("profile", ["hardware", "isa"])
def test_results(place: int, profile: str) -> None:
    source, to, hardware, isa = TABLE[place]
    expected = hardware if profile == "hardware" else isa
    result = run(
        lambda src, dst: nisa.tensor_copy(dst=dst, src=src),
        {"src": source},
        {"dst": (source.shape, to)},
        profile=profile,
    )
    same_bits(result, expected)


@pytest.mark.parametrize("engine", ["unknown", "vector", "scalar", "gpsimd"])
def test_the_engine_changes_no_bit(engine: str) -> None:
    sim, result = simulation(
        lambda src, dst: nisa.tensor_copy(dst, src, nisa.engine[engine]),
        {"src": FLOATS},
        {"dst": (FLOATS.shape, nl.float16)},
    )
    with np.errstate(all="ignore"):
        same_bits(result, FLOATS.astype(np.float16))
    step = next(step for step in sim.steps if not step.outside)
    assert step.engine == ("vector" if engine == "unknown" else engine)
    assert [word[0] for word in step.words] == [0x47]


def test_equal_types_move_bits() -> None:
    source = row(np.int32, 16777217, -16777217, TOP, -1)
    sim, result = simulation(
        lambda src, dst: nisa.tensor_copy(dst=dst, src=src),
        {"src": source},
        {"dst": (source.shape, np.int32)},
    )
    same_bits(result, source)
    assert [word[0] for word in sim.program] == [0x46]
    assert not sim.warnings


def test_tfloat32_rounds_when_written_and_moves_between_its_own() -> None:
    source = bits(0x3F800FFF, 0x3F801000, 0x3F803000)

    def body(src: Any, dst: Any, again: Any) -> None:
        rounded = nl.ndarray(src.shape, dtype=nl.tfloat32)
        nisa.tensor_copy(dst=rounded, src=src)
        nisa.tensor_copy(dst=dst, src=rounded.view(nl.float32))
        nisa.tensor_copy(dst=again, src=rounded)

    sim, (result, again) = simulation(
        body, {"src": source}, {"dst": (source.shape, nl.float32), "again": ((1, 3), nl.float32)}
    )
    same_bits(result, bits(0x3F800000, 0x3F800000, 0x3F804000))
    same_bits(again, result)
    assert sim.program[0][33] == 0x0B


def test_values_that_change_in_fp32_are_said_once_a_line() -> None:
    source = row(np.int32, 1, 16777217)

    def body(src: Any, dst: Any) -> None:
        for _ in range(3):
            nisa.tensor_copy(dst=dst, src=src)

    with pytest.warns(ThroughFP32) as caught:
        sim, _ = simulation(body, {"src": source}, {"dst": (source.shape, nl.uint32)})
    assert len(caught) == 1
    assert str(caught[0].message) == (
        "tensor_copy src goes through FP32, exact to 2^24; use .view(nl.uint32) to reinterpret "
        "(16777217 changes)"
    )
    assert caught[0].filename == __file__
    assert [warned.kind for warned in sim.warnings] == ["through-fp32"]


@pytest.mark.parametrize("value", [16777216, -16777216, 33554432])
def test_values_that_fp32_holds_are_no_warning(value: int) -> None:
    source = row(np.int32, value)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(
            lambda src, dst: nisa.tensor_copy(dst=dst, src=src),
            {"src": source},
            {"dst": (source.shape, nl.float32)},
        )


def test_psum_on_both_sides() -> None:
    source = np.arange(64, dtype=np.float32).reshape(2, 32)
    result = run(
        lambda src, dst: nisa.tensor_copy(dst=dst, src=src),
        {"src": source},
        {"dst": ((2, 32), nl.int32)},
        psum=("src", "dst"),
    )
    same_bits(result, source.astype(np.int32))


def test_views_of_more_than_four_dimensions_become_several_words() -> None:
    source = np.arange(2 * 3 * 5 * 2 * 3 * 2 * 4, dtype=np.float32).reshape(2, 3, 5, 2, 3, 2, 4)

    def body(src: Any, dst: Any) -> None:
        view = src.permute((0, 5, 4, 3, 2, 1, 6))[:, :, :, :, :, :, 1:4]
        nisa.tensor_copy(dst=dst, src=view)

    sim, result = simulation(body, {"src": source}, {"dst": ((2, 2, 3, 2, 5, 3, 3), nl.float32)})
    same_bits(result, source.transpose(0, 5, 4, 3, 2, 1, 6)[..., 1:4].copy())
    assert len(sim.program) > 1


def test_rows_longer_than_a_count_become_several_words() -> None:
    source = np.arange(2 * 70000, dtype=np.uint8).reshape(2, 70000)
    sim, result = simulation(
        lambda src, dst: nisa.tensor_copy(dst=dst, src=src),
        {"src": source},
        {"dst": ((2, 70000), nl.uint8)},
    )
    same_bits(result, source)
    assert len(sim.program) == 2


@pytest.mark.parametrize(
    ("target", "source", "to", "cycles"),
    [
        ("trn2", np.float32, nl.float32, 1024),
        ("trn2", np.float16, nl.float16, 256),
        ("trn2", np.float16, nl.bfloat16, 256),
        ("trn1", np.float16, nl.float16, 1024),
    ],
)
def test_estimates(target: str, source: Any, to: Any, cycles: int) -> None:
    data = np.zeros((4, 1024), dtype=source)
    sim, _ = simulation(
        lambda src, dst: nisa.tensor_copy(dst=dst, src=src),
        {"src": data},
        {"dst": (data.shape, to)},
        target=target,
    )
    assert sim.report.cycles == cycles
    assert "estimate" in next(step for step in sim.steps if not step.outside).estimate.text


def test_a_strided_narrow_copy_is_estimated_at_half() -> None:
    data = np.zeros((4, 2048), dtype=np.float16)
    sim, _ = simulation(
        lambda src, dst: nisa.tensor_copy(dst=dst, src=src[:, ::2]),
        {"src": data},
        {"dst": ((4, 1024), nl.float16)},
    )
    assert sim.report.cycles == 512
