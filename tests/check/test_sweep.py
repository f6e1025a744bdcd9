"""The oracle against the scalar codec, and a sweep that finds what is wrong."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from lanewise.check import sweep
from lanewise.check.conversion_oracle import oracle_of
from lanewise.check.sweep import Pair, Tally, Task, compare_range, full_sweep, run_task
from lanewise.check.sweep_state import Record, new_state, read_state
from lanewise.errors import UsageError
from lanewise.formats import convert
from lanewise.kernels import available_engines, select_engine
from lanewise.neuron import Dtype, Profile
from lanewise.neuron.dtypes import number_format

PROFILES = {
    "isa": Profile.ISA,
    "hardware": Profile.HARDWARE,
    "isa fn": Profile.ISA.with_(fp8_exp4="fn", fp32r_mantissa_bits=22),
    "hardware fn": Profile.HARDWARE.with_(fp8_exp4="fn", fp32r_mantissa_bits=1),
}
BF16 = Pair(Dtype.FP32, Dtype.BFLOAT16, Profile.ISA)


def _some_codes(source: Dtype, target: Dtype, profile: Profile) -> Any:
    """All codes of 8 bits, a sample of the others; of 32 bits mostly around boundaries."""
    rng = np.random.default_rng(source * 16 + target)
    if source.size == 1:
        return np.arange(256, dtype=np.uint8)
    if source.size == 2:
        return rng.integers(0, 1 << 16, 80, dtype=np.uint16)
    edges = oracle_of(source, target, profile).boundaries()
    fields = rng.choice(edges, 100), edges[:15], edges[-15:]
    return np.concatenate([*fields, rng.integers(0, 1 << 32, 40, dtype=np.uint32)])


@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("source", sweep.SOURCES, ids=str)
def test_the_oracle_agrees_with_the_scalar_codec(source: Dtype, name: str) -> None:
    profile = PROFILES[name]
    for target in sweep.TARGETS:
        codes = _some_codes(source, target, profile)
        formats = number_format(source, profile), number_format(target, profile)
        wanted = [convert(code, *formats, profile.conversion) for code in codes.tolist()]
        got = oracle_of(source, target, profile).expected(codes)
        assert got.dtype.itemsize == target.size
        assert got.tolist() == wanted, target


# Places at which a range is worked out in another way, or wraps around in one type.
_CUTS = (
    0, 1 << 24, 0x3F00_0000, 0x4B00_0000, 0x4F00_0000,
    0x7F80_0000, 0x8000_0000, 0xFF00_0000, 0xFF80_0000, 1 << 32,
)  # fmt: skip


@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("source", [Dtype.FP32, Dtype.INT32, Dtype.UINT32], ids=str)
def test_a_range_is_the_same_as_its_codes(source: Dtype, name: str) -> None:
    rng = np.random.default_rng(source)
    spans = [(cut + low, cut + high) for cut in _CUTS for low, high in ((-700, 900), (-1, 0))]
    spans += [(int(at), int(at) + 500) for at in rng.integers(0, (1 << 32) - 500, 12)]
    for target in sweep.TARGETS:
        oracle = oracle_of(source, target, PROFILES[name])
        for start, stop in ((max(low, 0), min(high, 1 << 32)) for low, high in spans):
            if start == stop:
                continue
            codes = np.arange(start, stop, dtype=np.int64).astype(np.uint32)
            got, expected = oracle.expected_range(start, stop), oracle.expected(codes)
            assert got.dtype == expected.dtype
            assert np.array_equal(got, expected), (target, hex(start), hex(stop))


def test_boundaries_have_two_neighbours_on_each_side() -> None:
    edges = set(oracle_of(Dtype.FP32, Dtype.FP8_EXP4, Profile.ISA).boundaries().tolist())
    # 240 | 248, the tie between 240 and what would be 256.
    assert set(range(0x4377_FFFF, 0x4378_0003)) <= edges
    wide = set(oracle_of(Dtype.INT32, Dtype.BFLOAT16, Profile.ISA).boundaries().tolist())
    # 257 is the tie between 256 and 258; 2^31 - 64 the one of FP32 below 2^31.
    assert {255, 256, 257, 258, 259, 0x7FFF_FFC0, 0x7FFF_FFFF, 0x8000_0000} <= wide


@pytest.fixture
def wrong_at(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Call it with a code: from then on every engine flips a bit of its result."""

    def damage(code: int) -> None:
        def damaged(codes: Any, *others: Any) -> Any:
            result = select_engine("reference").convert(codes, *others)
            result[codes == code] ^= 1
            return result

        kernels = SimpleNamespace(convert=damaged)
        monkeypatch.setattr(sweep, "select_engine", lambda name: kernels)

    return damage


def test_one_flipped_bit_in_a_range_is_found(wrong_at: Any) -> None:
    wrong_at(0x3F80_8001)
    tally = compare_range(BF16, "reference", (0x3F80_0000, 0x3F81_0000))
    (found,) = tally.first
    assert (tally.codes, tally.differences) == (0x1_0000, 1)
    assert (found.code, found.got, found.expected) == (0x3F80_8001, 0x3F80, 0x3F81)
    assert compare_range(BF16, "reference", (0x3F81_0000, 0x3F82_0000)).differences == 0


@pytest.mark.parametrize("source", [Dtype.INT8, Dtype.FP16], ids=str)
def test_a_full_sweep_sees_every_code_of_small_types(source: Dtype, wrong_at: Any) -> None:
    wrong_at(0x7F)
    task = Task(Pair(source, Dtype.FP32, Profile.ISA))
    tally = run_task(("native", "reference"), task)
    assert {(found.engine, found.code) for found in tally.first} == {
        ("native", 0x7F),
        ("reference", 0x7F),
    }


def test_a_full_sweep_sees_the_boundaries_of_wide_types(wrong_at: Any) -> None:
    wrong_at(0x3F80_8001)
    assert run_task(("native",), Task(BF16, 0, 1, 1 << 20)).differences == 1


def test_samples_have_one_code_a_stratum() -> None:
    codes = sweep._sample(1000, 5000, 256)
    assert (codes >> 8).tolist() == list(range(1000, 5000))
    assert len(set((codes & 0xFF).tolist())) == 256
    assert int(sweep._sample((1 << 24) - 1, 1 << 24, 256)[0]) >> 8 == (1 << 24) - 1


def test_the_tasks_of_a_full_sweep_are_all_pairs_once() -> None:
    tasks = full_sweep(256)
    pairs = {task.pair for task in tasks}
    assert len(pairs) == 12 * 13 * 2
    assert len(set(tasks)) == len(tasks)
    for task in tasks:
        assert sum(other.pair == task.pair for other in tasks) == task.parts


@pytest.mark.parametrize("engine", available_engines())
def test_the_engines_agree_with_the_oracle_here_and_there(engine: str) -> None:
    for target in sweep.TARGETS:
        for source in (Dtype.FP32, Dtype.INT32, Dtype.FP8_EXP5):
            pair = Pair(source, target, Profile.HARDWARE)
            low = pair.codes // 2 - 128
            assert compare_range(pair, engine, (low, low + 256)).first == []


# States.


def test_what_is_missing_is_what_was_not_done() -> None:
    record = Record()
    for span in ((10, 20), (40, 50), (20, 30)):
        record.add(span, Tally())
    assert record.done == [(10, 30), (40, 50)]
    assert record.codes == 30
    assert record.missing(0, 60, 100) == [(0, 10), (30, 40), (50, 60)]
    assert record.missing(15, 45, 4) == [(30, 34), (34, 38), (38, 40)]
    assert record.missing(12, 28, 4) == []
    for span in record.missing(0, 60, 3):
        record.add(span, Tally())
    assert record.done == [(0, 60)]


def test_a_state_comes_back_as_it_was(wrong_at: Any) -> None:
    wrong_at(0x3F80_8001)
    state = new_state("1")
    span = (0x3F80_0000, 0x3F81_0000)
    state.record(BF16, "native").add(span, compare_range(BF16, "native", span))
    again = read_state("s.json", state.text(), "1")
    assert again == state
    assert again.record(BF16, "native").first[0].expected == 0x3F81
    assert again.record(BF16, "reference").done == []


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "Input data was truncated"),
        (b"\xff\xfe", "malformed"),
        (b'{"schema": "lanewise.sweep/2", "version": "1"}', "'lanewise.sweep/2'"),
        (b'{"schema": "lanewise.sweep/1", "version": "1", "more": 1}', "unknown field `more`"),
        (
            b'{"schema": "lanewise.sweep/1", "version": "1", "pairs": {"a": {"done": [[4, 2]]}}}',
            "the spans of 'a' are not ascending",
        ),
        (
            b'{"schema": "lanewise.sweep/1", "version": "1", "pairs": {"a": {"differences": 3}}}',
            "the differences of 'a' do not add up",
        ),
        (b'{"schema": "lanewise.sweep/1", "version": "0"}', "was written by lanewise 0"),
    ],
)
def test_what_is_no_state_is_refused(content: bytes, why: str) -> None:
    with pytest.raises(UsageError, match=r"^s\.json: ") as refused:
        read_state("s.json", content, "1")
    assert why in str(refused.value)
