"""tensor_copy_predicated and select_reduce: results, polarity, accumulator, lowering."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.nki.helpers import bf16, f32, row, run, same_bits, simulation

from lanewise.nki import AccumulatorWarning, NkiValidationError, TargetWarning
from lanewise.nki import isa as nisa
from lanewise.nki import language as nl

PREDICATE = row(np.uint8, 1, 0, 2, 0)
SOURCE, BEFORE = f32(10, 20, 30, 40), f32(1, 2, 3, 4)


@pytest.mark.parametrize("profile", ["hardware", "isa"])
@pytest.mark.parametrize(
    ("source", "reverse", "expected", "opcodes"),
    [
        ("tile", False, [10, 2, 30, 4], [0x72]),
        ("tile", True, [1, 20, 3, 40], [0x72]),
        (-1.0, False, [-1, 2, -1, 4], [0xE8]),
        (-1.0, True, [1, -1, 3, -1], [0xE8]),
        (-1, False, [-1, 2, -1, 4], [0xE8]),
        ("column", False, [7, 2, 7, 4], [0xE8]),
        ("column", True, [1, 7, 3, 7], [0xE8]),
    ],
)
def test_results(
    profile: str, source: Any, reverse: bool, expected: list[float], opcodes: list[int]
) -> None:
    def body(src: Any, column: Any, predicate: Any, dst: Any) -> None:
        given = {"tile": src, "column": column}.get(source, source)
        nisa.tensor_copy_predicated(dst, given, predicate, reverse_pred=reverse)

    sim, result = simulation(
        body,
        {"src": SOURCE, "column": f32(7), "predicate": PREDICATE},
        {"dst": BEFORE},
        profile=profile,
    )
    same_bits(result, f32(*expected))
    assert [word[0] for word in sim.program] == opcodes
    assert sim.report.outside["dma_copy"] == 5
    reversed_steps = [step for step in sim.steps if step.function == "tensor_copy_predicated"]
    assert len(reversed_steps) == (2 if source == "tile" and reverse else 1)


def test_the_polarity_in_the_word() -> None:
    for reverse, polarity in ((False, 1), (True, 0)):
        sim, _ = simulation(
            lambda predicate, dst, reverse=reverse: nisa.tensor_copy_predicated(
                dst=dst, src=0.0, predicate=predicate, reverse_pred=reverse
            ),
            {"predicate": PREDICATE},
            {"dst": BEFORE},
        )
        assert sim.program[0][33] == polarity


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
def test_predicates_of_every_width(dtype: Any) -> None:
    predicate = np.array([[0, 1, 255, 0, 3]], dtype=dtype)
    src, before = row(np.int16, 1, 2, 3, 4, 5), row(np.int16, -1, -2, -3, -4, -5)
    result = run(
        lambda predicate, src, dst: nisa.tensor_copy_predicated(dst, src, predicate),
        {"predicate": predicate, "src": src},
        {"dst": before},
    )
    same_bits(result, np.where(predicate != 0, src, before))


def test_bool_inputs_arrive_as_uint8() -> None:
    predicate = np.array([[True, False, True, False]])
    result = run(
        lambda predicate, src, dst: nisa.tensor_copy_predicated(dst, src, predicate),
        {"predicate": predicate, "src": SOURCE},
        {"dst": BEFORE},
    )
    same_bits(result, f32(10, 2, 30, 4))


@pytest.mark.parametrize("number", [0.0, -0.0])
def test_the_sign_of_zero_is_kept_from_call_to_call(number: float) -> None:
    def body(predicate: Any, dst: Any) -> None:
        nisa.tensor_copy_predicated(dst, -number, predicate)
        nisa.tensor_copy_predicated(dst, number, predicate)

    result = run(body, {"predicate": PREDICATE}, {"dst": BEFORE})
    assert np.signbit(result[0, 0]) == np.signbit(number)


@pytest.mark.parametrize("where", ["src", "predicate"])
def test_one_source_may_be_in_psum(where: str) -> None:
    predicate = PREDICATE.astype(np.uint32)
    result = run(
        lambda src, predicate, dst: nisa.tensor_copy_predicated(dst, src, predicate),
        {"src": SOURCE, "predicate": predicate},
        {"dst": BEFORE},
        psum=(where,),
    )
    same_bits(result, f32(10, 2, 30, 4))


def test_both_sources_in_psum_are_refused() -> None:
    with pytest.raises(NkiValidationError, match="src and predicate are both in psum") as caught:
        run(
            lambda src, predicate, dst: nisa.tensor_copy_predicated(dst, src, predicate),
            {"src": SOURCE, "predicate": PREDICATE.astype(np.uint32)},
            {"dst": BEFORE},
            psum=("src", "predicate"),
        )
    assert caught.value.rule == "source-placement"


def test_a_reversed_predicate_beyond_the_first_quadrant() -> None:
    rows = 96
    predicate = (np.arange(rows * 4).reshape(rows, 4) % 3 == 0).astype(np.uint8)
    src = np.arange(rows * 4, dtype=np.float32).reshape(rows, 4)

    def body(src: Any, predicate: Any, dst: Any) -> None:
        for start in (0, 32, 64):
            part = nl.ds(start, 32)
            nisa.tensor_copy_predicated(dst[part], src[part], predicate[part], reverse_pred=True)

    result = run(body, {"src": src, "predicate": predicate}, {"dst": -src})
    same_bits(result, np.where(predicate == 0, src, -src))


# select_reduce


def _select(
    predicate: np.ndarray,
    on_true: np.ndarray,
    on_false: Any,
    *,
    dst: Any = None,
    reduce_to: Any = nl.float32,
    profile: str = "hardware",
    **arguments: Any,
) -> Any:
    arguments.setdefault("reduce_cmd", nisa.reduce_cmd.reset_reduce)
    column = {"column": on_false} if isinstance(on_false, np.ndarray) else {}

    def body(predicate: Any, on_true: Any, dst: Any, reduce_res: Any, column: Any = None) -> None:
        nisa.select_reduce(
            dst,
            predicate,
            on_true,
            on_false if column is None else column,
            reduce_res=reduce_res,
            **arguments,
        )

    rows = on_true.shape[0]
    return run(
        body,
        {"predicate": predicate, "on_true": on_true, **column},
        {
            "dst": (on_true.shape, nl.float32) if dst is None else dst,
            "reduce_res": ((rows, 1), reduce_to),
        },
        profile=profile,
    )


@pytest.mark.parametrize(
    ("predicate", "on_true", "on_false", "reverse", "expected", "maximum"),
    [
        ([1, 0, 1, 0], [3, 9, -2, 8], 5.0, False, [3, 5, -2, 5], 5),
        ([1, 0, 1, 0], [3, 9, -2, 8], 5.0, True, [5, 9, 5, 8], 9),
        ([0, 0, 0, 0], [1, 2, 3, 4], -7.0, False, [-7, -7, -7, -7], -7),
    ],
)
@pytest.mark.parametrize("as_tile", [False, True])
def test_select(
    predicate: Any,
    on_true: Any,
    on_false: float,
    reverse: bool,
    expected: Any,
    maximum: float,
    as_tile: bool,
) -> None:
    dst, reduced = _select(
        row(np.uint8, *predicate),
        f32(*on_true),
        f32(on_false) if as_tile else on_false,
        reverse_pred=reverse,
    )
    same_bits(dst, f32(*expected))
    same_bits(reduced, f32(maximum))


def test_the_maximum_is_taken_before_the_conversion() -> None:
    value = 1.00390625
    dst, reduced = _select(
        row(np.uint8, 1, 1, 1, 1), f32(value, 0, 0, 0), 0.0, dst=((1, 4), nl.bfloat16)
    )
    assert float(dst[0, 0]) == 1.0
    same_bits(reduced, f32(value))


def test_the_isa_profile_merges() -> None:
    dst, reduced = _select(
        row(np.uint8, 1, 0, 1, 0),
        f32(3, 9, -2, 8),
        5.0,
        dst=f32(10, 20, 30, 40),
        profile="isa",
    )
    same_bits(dst, f32(3, 20, -2, 40))
    same_bits(reduced, f32(3))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16])
def test_predicate_types_of_select(dtype: Any) -> None:
    dst, _ = _select(row(dtype, 1, 0, 1, 0), f32(3, 9, -2, 8), 5.0)
    same_bits(dst, f32(3, 5, -2, 5))


def test_an_on_false_tile_of_another_type() -> None:
    dst, reduced = _select(
        np.zeros((2, 4), np.uint8), np.ones((2, 4), np.float32), np.array([[2.5], [-3]], dtype=bf16)
    )
    same_bits(dst, np.array([[2.5] * 4, [-3] * 4], dtype=np.float32))
    same_bits(reduced, np.array([[2.5], [-3]], dtype=np.float32))


def test_reduce_continues_and_idle_leaves_alone() -> None:
    ones = row(np.uint8, 1, 1)

    def body(ones: Any, a: Any, b: Any, dst: Any, first: Any, second: Any) -> None:
        command = nisa.reduce_cmd
        nisa.select_reduce(dst, ones, a, 0.0, reduce_cmd=command.reset_reduce)
        nisa.select_reduce(dst, ones, b, 0.0, reduce_cmd=command.reduce, reduce_res=first)
        nisa.select_reduce(dst, ones, b, 0.0, reduce_cmd=command.reset_reduce, reduce_res=second)

    _, first, second = run(
        body,
        {"ones": ones, "a": f32(4, 9), "b": f32(5, 6)},
        {
            "dst": ((1, 2), nl.float32),
            "first": ((1, 1), nl.float32),
            "second": ((1, 1), nl.float32),
        },
    )
    same_bits(first, f32(9))
    same_bits(second, f32(6))


def test_reduce_after_idle_is_warned_about() -> None:
    ones = row(np.uint8, 1, 1)

    def body(ones: Any, a: Any, dst: Any) -> None:
        nisa.select_reduce(dst, ones, a, 0.0)
        nisa.select_reduce(dst, ones, a, 0.0, reduce_cmd=nisa.reduce_cmd.reduce)

    with pytest.warns(AccumulatorWarning, match="after an idle command"):
        run(body, {"ones": ones, "a": f32(1, 2)}, {"dst": ((1, 2), nl.float32)})


def test_reading_the_accumulator_with_idle_is_warned_about() -> None:
    with pytest.warns(AccumulatorWarning, match="reads the accumulator as earlier steps left it"):
        _select(row(np.uint8, 1), f32(1), 0.0, reduce_cmd=nisa.reduce_cmd.idle)


@pytest.mark.parametrize("command", ["reset", "load_reduce"])
def test_commands_the_words_lack(command: str) -> None:
    with pytest.raises(
        NkiValidationError, match=f"{command} must be idle, reduce or reset_reduce"
    ) as caught:
        _select(row(np.uint8, 1), f32(1), 0.0, reduce_cmd=nisa.reduce_cmd[command])
    assert caught.value.rule == "accumulator-command"


def test_reductions_the_words_lack() -> None:
    with pytest.raises(NkiValidationError, match="reduce_op add must be maximum"):
        _select(row(np.uint8, 1), f32(1), 0.0, reduce_op=nl.add)


def test_trn1_is_warned_about() -> None:
    with pytest.warns(TargetWarning, match="select_reduce is reported to give wrong results"):
        run(
            lambda ones, a, dst: nisa.select_reduce(dst, ones, a, 0.0),
            {"ones": row(np.uint8, 1), "a": f32(1)},
            {"dst": ((1, 1), nl.float32)},
            target="trn1",
        )


@pytest.mark.parametrize("dtype", [np.int32, np.uint32])
def test_32_bit_integers_cannot_be_selected(dtype: Any) -> None:
    with pytest.raises(NkiValidationError) as caught:
        _select(row(np.uint8, 1), row(dtype, 1), 0.0)
    assert caught.value.rule == "data-not-32bit-int"


def test_mixed_ranks_of_operands() -> None:
    """Ranks may differ as long as partitions and elements per partition agree."""
    data = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    predicate = (np.arange(24).reshape(2, 12) % 2).astype(np.uint8)
    before = -np.ones((2, 12), dtype=np.float32)
    result = run(
        lambda src, predicate, dst: nisa.tensor_copy_predicated(dst, src, predicate),
        {"src": data, "predicate": predicate},
        {"dst": before},
    )
    same_bits(result, np.where(predicate != 0, data.reshape(2, 12), before))
    dst, _ = _select(predicate, data, -1.0, dst=((2, 2, 6), nl.float32))
    same_bits(dst.reshape(2, 12), np.where(predicate != 0, data.reshape(2, 12), np.float32(-1)))
