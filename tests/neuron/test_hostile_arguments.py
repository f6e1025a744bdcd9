"""Arguments that make no sense get one typed error, and sizes that cannot run are refused."""

from __future__ import annotations

import copy
import pickle
import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

from lanewise.errors import UsageError
from lanewise.model import MachineFault, Observer, Verdict, VerdictError
from lanewise.neuron import Dispatch, NeuronCore, Profile, check, find_dtype, scalar_bits, walk
from lanewise.neuron.instructions import (
    Cast,
    Copy,
    MatchReplace8,
    Max8,
    RangeSelect,
    SelectReduce,
)
from lanewise.neuron.words import Address, Header, Indirect20, Tensor4D

HUGE = 10**5000


def endless(pairs: int) -> Copy:
    """A legal COPY whose walks stay on one element, 65535 times in each dimension."""
    repeated = [(0, 65535)] * pairs
    return Copy(
        src=walk(0, *repeated), dst=walk(0x100, *repeated), in_dtype="FP32", out_dtype="FP32"
    )


@pytest.mark.parametrize("pairs", [2, 3, 4])
def test_a_legal_walk_past_every_memory_is_a_fault_and_takes_no_memory(pairs: int) -> None:
    word, core = endless(pairs), NeuronCore()
    assert check(word) == ()
    tracemalloc.start()
    report = core.attempt(word)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (report.verdict, report.reason) == (Verdict.FAULT, "not-modelled")
    assert str(65535**pairs) in str(report.error)
    assert peak < 1 << 20
    assert not core.sbuf.data.any()


def test_the_limit_counts_all_lanes() -> None:
    word = RangeSelect(
        src=walk(0, (0, 4096), (0, 4096)),
        dst=walk(8, (0, 4096), (0, 4096)),
        in_dtype="FP32",
        out_dtype="FP32",
        num_active_channels=128,
    )
    assert check(word) == ()
    with pytest.raises(MachineFault, match="16777216 elements in each of 128 lanes"):
        NeuronCore().run(word)


def test_a_repeated_walk_below_the_limit_runs() -> None:
    core = NeuronCore()
    core.sbuf.write(0, 0, np.array([7, 9], np.uint8), "UINT8")
    word = Copy(
        src=walk(0, (1, 2), (0, 65535)),
        dst=walk(64, (1, 2), (0, 65535)),
        in_dtype="UINT8",
        out_dtype="UINT8",
    )
    core.run(word)
    assert core.sbuf.read(0, 64, 3, "UINT8").tolist() == [7, 9, 0]


@pytest.mark.parametrize("number", [np.uint8, np.int8, np.int16, np.uint16, np.int64])
def test_fixed_width_integers_do_not_wrap(number: Callable[[int], int]) -> None:
    core = NeuronCore()
    assert core.sbuf.address(number(5), number(100)) == 5 << 18 | 100
    core.sbuf.write(number(100), number(96), np.arange(4, dtype=np.float32), "FP32")
    assert core.sbuf.read(100, 96, 4, "FP32").tolist() == [0, 1, 2, 3]
    assert core.sbuf.read(number(100), number(96), number(4), "FP32").tolist() == [0, 1, 2, 3]
    tile = core.sbuf.read_tile(
        number(96), (number(4),), "FP32", start_partition=number(100), partitions=number(1)
    )
    assert tile.tolist() == [[0, 1, 2, 3]]


BAD: dict[str, Callable[[], object]] = {
    "address of a float": lambda: NeuronCore().sbuf.address(1.5),  # type: ignore[arg-type]
    "address of a bool": lambda: NeuronCore().sbuf.address(True),
    "address of None": lambda: NeuronCore().sbuf.address(None),  # type: ignore[arg-type]
    "read at a string": lambda: NeuronCore().sbuf.read("0", 0, 1, "FP32"),  # type: ignore[arg-type]
    "shape of text": lambda: NeuronCore().sbuf.read(0, 0, "4", "FP32"),  # type: ignore[arg-type]
    "shape of floats": lambda: NeuronCore().sbuf.read(0, 0, (2.0,), "FP32"),  # type: ignore[arg-type]
    "partitions of a float": lambda: NeuronCore().sbuf.read_tile(0, 1, "FP32", partitions=1.0),  # type: ignore[arg-type]
    "field of thousands of digits": lambda: Cast(in_dtype=HUGE),
    "profile of thousands of digits": lambda: Profile.ISA.with_(fp32r_mantissa_bits=HUGE),
    "override of thousands of digits": lambda: Profile.ISA.with_(
        fp32r_mantissa_bits=Profile.parse_override("fp32r_mantissa_bits", "9" * 5000)
    ),
    "override in other digits": lambda: Profile.ISA.with_(
        fp32r_mantissa_bits=Profile.parse_override("fp32r_mantissa_bits", "\u0663")
    ),
    "dispatch of text": lambda: Dispatch("x", "pool"),  # type: ignore[arg-type]
    "dispatch of a dispatch": lambda: Dispatch(Dispatch(Max8(), "dve"), "dve"),  # type: ignore[arg-type]
    "dispatch to a list": lambda: Dispatch(Max8(), ["pool"]),  # type: ignore[arg-type]
    "dispatch to nobody": lambda: Dispatch(b"", "sync"),
    "check on nobody": lambda: check(bytes([0x41, *[0] * 63]), engine="sync"),
    "dtype of a bool": lambda: find_dtype(True),
    "scalar of text": lambda: scalar_bits("nan", "FP16"),  # type: ignore[arg-type]
    "scalar of None": lambda: scalar_bits(None, "FP16"),  # type: ignore[arg-type]
    "scalar of a complex": lambda: scalar_bits(1j, "FP16"),  # type: ignore[arg-type]
    "generation of None": lambda: NeuronCore(None),  # type: ignore[arg-type]
    "profile of a number": lambda: NeuronCore("cayman", 5),  # type: ignore[arg-type]
    "program of a number": lambda: NeuronCore().run(5),  # type: ignore[arg-type]
    "program of text": lambda: NeuronCore().run("47"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", BAD)
def test_nonsense_is_a_usage_error_of_one_line(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        BAD[name]()
    assert len(str(caught.value)) < 400
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("number", "dtype", "bits"),
    [
        (np.float32(1.5), "FP16", 0x3E00),
        (np.float16(-2), "BFLOAT16", 0xC000),
        (np.int64(-3), "INT8", 0xFD),
        (np.uint8(200), "FP32", 0x43480000),
        (float("-inf"), "BFLOAT16", 0xFF80),
        (-0.0, "FP32", 0x80000000),
    ],
)
def test_scalars_of_any_number_type(number: float, dtype: str, bits: int) -> None:
    assert scalar_bits(number, dtype) == bits


def test_some_fields_of_a_part_keep_the_others() -> None:
    word = Cast(header={"debug_command": 1})
    assert word.header == Header(opcode=0x47, debug_command=1)
    assert Cast(header={}) == Cast()
    again = word.replace(events={"wait_index": 3})
    assert (again.events.wait_index, again.header) == (3, word.header)
    assert again.replace(src={"num": (2, 1, 1, 1)}).src.num == (2, 1, 1, 1)


def test_an_operand_never_changes_its_kind() -> None:
    with pytest.raises(UsageError, match="index mode 1"):
        Copy(src=Indirect20(index=Address.direct(0x100), num_elem=4))
    with pytest.raises(UsageError, match="start mode 0, 2 or 3"):
        Copy(src=Tensor4D(start=Address(mode=1)))
    # An operand without an indirect form keeps mode 1 as it is: a tensor that a rule refuses.
    assert Max8(src=Tensor4D(start=Address(mode=1))).src == Tensor4D(start=Address(mode=1))


def test_a_core_copies_and_pickles_with_its_state() -> None:
    core = NeuronCore("mariana", "hardware", engine="reference")
    core.sbuf.write(32, 8, np.array([1.0], np.float32), "FP32")
    core.run(
        Cast(src=walk(core.sbuf.address(32, 8)), in_dtype="FP32", dst=walk(0), out_dtype="FP16")
    )
    for twin in (copy.deepcopy(core), pickle.loads(pickle.dumps(core))):
        for name, array in twin.state.arrays().items():
            assert np.array_equal(array, core.state.arrays()[name])
        twin.sbuf.write(32, 8, np.array([2.0], np.float32), "FP32")
        assert core.sbuf.read(32, 8, 1, "FP32")[0] == 1.0
        twin.run(Max8(src=walk(0, (1, 8)), in_dtype="FP32", dst=walk(64, (1, 8)), out_dtype="FP32"))


def test_generation_and_profile_stay_for_life() -> None:
    core = NeuronCore()
    with pytest.raises(AttributeError):
        core.profile = Profile.HARDWARE  # type: ignore[misc]
    with pytest.raises(AttributeError):
        core.generation = None  # type: ignore[misc, assignment]


def test_an_observer_of_a_refusal_sees_the_report() -> None:
    seen: list[object] = []

    class Watcher(Observer):
        def refused(self, machine: object, index: int, error: VerdictError) -> None:
            seen.append(error.report)

    core = NeuronCore()
    core.attach(Watcher())
    report = core.attempt(b"\xff" * 64)
    assert seen == [report]


def test_independent_counts_are_all_reported() -> None:
    word = SelectReduce(
        predicate=walk(0, (1, 4)),
        data=walk(64, (1, 5)),
        dst=walk(128, (1, 7)),
        predicate_dtype="INT8",
        data_dtype="FP32",
        out_dtype="FP32",
    )
    assert [rule.rule for rule in check(word)] == ["sources-same-count", "dst-same-count"]


def test_converting_a_signalling_nan_warns_nobody() -> None:
    values = np.array([0x7FF0000000000001], np.uint64).view(np.float64)
    core = NeuronCore()
    core.sbuf.write(0, 0, values, "BFLOAT16", convert=True)
    assert core.sbuf.read(0, 0, 1, "BFLOAT16")[0] & 0x7FFF == 0x7FC0


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("BF16", 6),
        ("bfloat16", 6),
        ("fp32", 10),
        (np.float16, 7),
        (np.dtype("u1"), 3),
        ("e4m3", 14),
    ],
)
def test_a_dtype_field_takes_the_names_people_use(name: object, code: int) -> None:
    assert Cast(in_dtype=name).in_dtype == code


@pytest.mark.parametrize("name", ["FP23", "float", np.complex64, object, 1.5, None])
def test_a_dtype_field_names_itself_and_near_misses(name: object) -> None:
    with pytest.raises(UsageError, match="field 'in_dtype' \\(byte 32\\)"):
        Cast(in_dtype=name)


@pytest.mark.parametrize("pair", [64, (64,), (1, 64, 2), "12", None])
def test_a_walk_wants_pairs(pair: object) -> None:
    with pytest.raises(UsageError, match="pair \\(step, num\\)"):
        walk(0, pair)  # type: ignore[arg-type]


def test_a_float_is_a_number_and_a_whole_number_is_bits() -> None:
    assert MatchReplace8(immediate=5.0).immediate == 0x40A00000
    assert MatchReplace8(immediate=np.float32(-np.inf)).immediate == 0xFF800000
    assert MatchReplace8(immediate=0xFF800000).immediate == 0xFF800000
    for bad in (-1, "-inf", 1 << 32, None, 0.1):
        with pytest.raises(UsageError, match="FP32"):
            MatchReplace8(immediate=bad)


def test_unnamed_fields_are_told_apart_from_names() -> None:
    with pytest.raises(TypeError, match="Max8 takes named fields: header=, events=, src="):
        Max8(walk(0), "FP32")
