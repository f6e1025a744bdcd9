"""Sweeps: every code of a type through the kernels' conversion, held against the oracle.

Sources of up to 16 bits are swept whole. Of 32-bit sources a full sweep takes one code out of
every so many, at a place that changes from one to the next, and the neighbourhood of the codes
at which results change; :func:`compare_range` compares every code, chunk by chunk.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from typing import Any, Final, TypeVar

import numpy as np

from lanewise.check.conversion_oracle import Codes, oracle_of
from lanewise.errors import UsageError
from lanewise.kernels import select_engine
from lanewise.neuron import PROFILES, Dtype, Profile
from lanewise.neuron.dtypes import BASE_TYPES, BASE_TYPES_AND_FP32R, number_format

__all__ = [
    "SHOWN",
    "SOURCES",
    "TARGETS",
    "Difference",
    "Pair",
    "Tally",
    "Task",
    "by_pair",
    "compare",
    "compare_range",
    "full_sweep",
    "run_task",
    "source_type",
    "sweep_all",
    "sweep_range",
    "target_type",
]

SOURCES: Final = tuple(sorted(BASE_TYPES))
TARGETS: Final = tuple(sorted(BASE_TYPES_AND_FP32R))

#: Differences of a tally that are kept; the rest is only counted.
SHOWN: Final = 10

# Kernels may take another way for long arrays than for short ones; both lengths are used.
_LONG: Final = 1 << 18
_SHORT: Final = 1 << 13
_SAMPLES_A_TASK: Final = 1 << 22
_MULTIPLIER: Final = 0x9E37_79B1

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Pair:
    """What is converted to what, under which profile."""

    source: Dtype
    target: Dtype
    profile: Profile

    @property
    def name(self) -> str:
        """``FP32 BFLOAT16 isa``."""
        return f"{self.source} {self.target} {self.profile.description}"

    @property
    def codes(self) -> int:
        """How many codes the source has."""
        return 1 << (8 * self.source.size)


@dataclass(frozen=True, slots=True)
class Difference:
    """A code of the source that an engine converts to another code than it must."""

    engine: str
    code: int
    got: int
    expected: int


@dataclass(slots=True)
class Tally:
    """What comparing some codes of a pair found; ``seconds`` are those of the comparing process."""

    codes: int = 0
    differences: int = 0
    first: list[Difference] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, other: Tally) -> None:
        """Count ``other`` in."""
        self.codes += other.codes
        self.differences += other.differences
        self.first = (self.first + other.first)[:SHOWN]
        self.seconds += other.seconds


@dataclass(frozen=True, slots=True)
class Task:
    """A part of a full sweep: one of ``parts`` parts of a pair."""

    pair: Pair
    part: int = 0
    parts: int = 1
    one_in: int = 1


def source_type(dtype: Dtype) -> Dtype:
    """``dtype``, if it can be converted from; UsageError if not."""
    return _one_of(dtype, "from", SOURCES)


def target_type(dtype: Dtype) -> Dtype:
    """``dtype``, if it can be converted to; UsageError if not."""
    return _one_of(dtype, "to", TARGETS)


def _one_of(dtype: Dtype, way: str, known: Sequence[Dtype]) -> Dtype:
    if dtype not in known:
        names = ", ".join(map(str, known))
        raise UsageError(f"nothing converts {way} {dtype}; use one of {names}")
    return dtype


def compare(
    pair: Pair, engine: str, codes: Codes, expected: Codes, kernels: Any | None = None
) -> Tally:
    """Convert ``codes`` with an engine and look where the result is not ``expected``."""
    kernels = select_engine(engine) if kernels is None else kernels
    formats = (number_format(dtype, pair.profile) for dtype in (pair.source, pair.target))
    got = kernels.convert(codes, *formats, pair.profile.conversion)
    tally = Tally(codes=codes.size)
    if got.dtype != expected.dtype or got.shape != expected.shape:
        raise AssertionError(f"{engine} gave {got.dtype}{got.shape} for {pair.name}")
    if not np.array_equal(got, expected):
        places = np.flatnonzero(got != expected)
        tally.differences = int(places.size)
        tally.first = [
            Difference(engine, int(codes[at]), int(got[at]), int(expected[at]))
            for at in places[:SHOWN].tolist()
        ]
    return tally


def compare_range(pair: Pair, engine: str, span: tuple[int, int]) -> Tally:
    """Compare every code from ``span[0]`` to before ``span[1]``, in blocks that fit the cache."""
    began = time.perf_counter()
    kernels = select_engine(engine)
    oracle = oracle_of(pair.source, pair.target, pair.profile)
    carrier = np.dtype(f"u{pair.source.size}")
    tally = Tally()
    for start in range(*span, _LONG):
        stop = min(start + _LONG, span[1])
        codes = np.arange(start, stop, dtype=np.int64).astype(carrier)
        tally.add(compare(pair, engine, codes, oracle.expected_range(start, stop), kernels))
    tally.seconds = time.perf_counter() - began
    return tally


def full_sweep(one_in: int) -> list[Task]:
    """Every source to every target under every named profile; the long tasks come first."""
    tasks = []
    for source in sorted(SOURCES, key=lambda dtype: -dtype.size):
        for target in TARGETS:
            for profile in PROFILES.values():
                pair = Pair(source, target, profile)
                if source.size < 4:
                    tasks.append(Task(pair))
                    continue
                parts = -(-(pair.codes // one_in) // _SAMPLES_A_TASK)
                tasks += [Task(pair, part, parts, one_in) for part in range(parts)]
    return tasks


def run_task(engines: Sequence[str], task: Task) -> Tally:
    """One task with each of ``engines``; the codes of all engines are counted."""
    began = time.perf_counter()
    pair, tally = task.pair, Tally()
    oracle = oracle_of(pair.source, pair.target, pair.profile)
    for codes in _codes_of(task):
        expected = oracle.expected(codes)
        for engine in engines:
            tally.add(compare(pair, engine, codes, expected))
    tally.seconds = time.perf_counter() - began
    return tally


def _codes_of(task: Task) -> Iterator[Codes]:
    """The codes of a task in blocks."""
    pair = task.pair
    if pair.source.size < 4:
        codes = np.arange(pair.codes, dtype=np.int64).astype(f"u{pair.source.size}")
        yield codes
        if codes.size > _SHORT:
            yield from np.split(codes, codes.size // _SHORT)
        return
    if task.part == 0:
        edges = oracle_of(pair.source, pair.target, pair.profile).boundaries()
        yield from np.array_split(edges, -(-edges.size // _SHORT))
    strata = pair.codes // task.one_in
    low, high = (strata * number // task.parts for number in (task.part, task.part + 1))
    for start in range(low, high, _LONG):
        yield _sample(start, min(start + _LONG, high), task.one_in)


def _sample(start: int, stop: int, one_in: int) -> Codes:
    """One code of each stratum of ``one_in`` codes, at a place that looks random and repeats."""
    strata = np.arange(start, stop, dtype=np.uint64)
    mixed = (strata * np.uint64(_MULTIPLIER)) & np.uint64(0xFFFF_FFFF)
    places = (mixed * np.uint64(one_in)) >> np.uint64(32)
    return (strata * np.uint64(one_in) + places).astype(np.uint32)


def _in_processes(
    function: Callable[[_Item], _Result], items: Sequence[_Item], jobs: int
) -> Iterator[_Result]:
    """``function`` of every item, in order; with ``jobs`` above 1 in that many processes."""
    jobs = min(jobs, len(items))
    if jobs <= 1:
        yield from map(function, items)
        return
    # Fresh processes, because a fork copies threads' locks; interrupts are the parent's to handle.
    context = get_context("spawn")
    with ProcessPoolExecutor(jobs, context, signal.signal, (signal.SIGINT, signal.SIG_IGN)) as pool:
        try:
            yield from pool.map(function, items)
        finally:
            pool.shutdown(cancel_futures=True)


def sweep_range(
    pair: Pair, engine: str, spans: Sequence[tuple[int, int]], jobs: int
) -> Iterator[tuple[tuple[int, int], Tally]]:
    """:func:`compare_range` of every span, each span with what it found."""
    tallies = _in_processes(partial(compare_range, pair, engine), spans, jobs)
    yield from zip(spans, tallies, strict=True)


def sweep_all(tasks: Sequence[Task], engines: Sequence[str], jobs: int) -> Iterator[Tally]:
    """:func:`run_task` of every task, in order."""
    yield from _in_processes(partial(run_task, tuple(engines)), tasks, jobs)


def by_pair(found: Mapping[Task, Tally]) -> dict[Pair, Tally]:
    """The tallies of a pair's tasks as one."""
    tallies: dict[Pair, Tally] = {}
    for task, tally in found.items():
        tallies.setdefault(task.pair, Tally()).add(tally)
    return tallies
