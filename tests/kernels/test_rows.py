"""Row kernels: the compiled ones do what the NumPy ones do, and those what their names say."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.kernels.layouts import SHAPES, SOURCES, SPECIALS, TARGETS, Place, codes, place

from lanewise import kernels
from lanewise.formats import FORMATS, FP32, ConversionPolicy
from lanewise.kernels import reference
from lanewise.kernels.arrays import code_dtype

needs_native = pytest.mark.skipif(
    kernels.native_problem() is not None, reason=f"no native engine: {kernels.native_problem()}"
)
in_both_engines = pytest.mark.parametrize(
    "engine", ["reference", pytest.param("native", marks=needs_native)]
)
MEMORY = 1 << 14
POLICIES = [
    ConversionPolicy(float_to_int, float_overflow)
    for float_to_int in ("truncate", "nearest")
    for float_overflow in ("saturate", "infinity")
]
INTEGERS = [FORMATS[name] for name in ("INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32")]


class Trial:
    """One call of a kernel on operands of random layouts that share one memory.

    ``run(engine)`` gives everything the call can have changed.
    """

    def __init__(self, seed: object, count: int, shapes: tuple[str, str, str]) -> None:
        self.rng = np.random.default_rng([count, *str(seed).encode()])
        self.count = count
        self.rows = int(self.rng.integers(1, 5))
        self.shapes = shapes
        self.memory = self.rng.integers(0, 256, MEMORY, np.uint8)
        # Half of the time operands overlap, rows being equally far apart as in one memory.
        self.pitch = int(self.rng.choice((2048, 2049))) if self.rng.random() < 0.5 else None
        self.policy = POLICIES[self.rng.integers(len(POLICIES))]
        self.state: dict[str, NDArray[Any]] = {}
        self.call: Callable[[Any, NDArray[np.uint8], dict[str, NDArray[Any]]], None]

    def choose(self, things: Any) -> Any:
        return things[self.rng.integers(len(things))]

    def operand(self, which: int, size: int, count: int | None = None) -> Place:
        count = self.count if count is None else count
        return place(self.rng, MEMORY, self.rows, count, size, self.shapes[which], pitch=self.pitch)

    def source(self, which: int, format: Any, count: int | None = None) -> Place:
        found = self.operand(which, code_dtype(format).itemsize, count)
        view = found.of(self.memory)
        view[...] = codes(self.rng, format, view.size).reshape(view.shape)
        return found

    def predicate(self) -> Place:
        found = self.source(2, self.choose(INTEGERS))
        view = found.of(self.memory)
        zeros = self.rng.random(view.shape) < 0.5
        view[...] = np.where(zeros, 0, view)
        return found

    def per_row(self, name: str, size: int) -> str:
        self.state[name] = self.rng.integers(0, 1 << 8 * size, self.rows).astype(f"u{size}")
        return name

    def numbers(self, name: str, *shape: int) -> str:
        few = SPECIALS[: self.choose((4, 12, len(SPECIALS)))]
        self.state[name] = few[self.rng.integers(0, len(few), (self.rows, *shape))]
        return name

    def run(self, engine: str) -> dict[str, NDArray[Any]]:
        memory = self.memory.copy()
        state = {name: array.copy() for name, array in self.state.items()}
        self.call(kernels.select_engine(engine), memory, state)
        return {"memory": memory} | state


def cast(trial: Trial) -> None:
    source, target = trial.choose(SOURCES), trial.choose(TARGETS)
    stream, policy = bool(trial.choose((False, True))), trial.policy
    flip = trial.choose((0, 0x80000000)) if source == FP32 else 0
    data, to = trial.source(1, source), trial.operand(0, code_dtype(target).itemsize)

    def call(k: Any, memory: Any, state: Any) -> None:
        made = k.conversion(source, target, policy, stream=stream, flip=flip)
        k.cast_rows(to.of(memory), data.of(memory), made)

    trial.call = call


def merge(trial: Trial) -> None:
    source, target, policy = trial.choose(SOURCES), trial.choose(TARGETS), trial.policy
    if trial.rng.random() < 0.5:
        target = source
    data, to = trial.source(1, source), trial.operand(0, code_dtype(target).itemsize)
    where = trial.predicate()

    def call(k: Any, memory: Any, state: Any) -> None:
        made = k.conversion(source, target, policy)
        k.merge_rows(to.of(memory), data.of(memory), where.of(memory), made)

    trial.call = call


def fill(trial: Trial) -> None:
    size, when = int(trial.choose((1, 2, 4))), bool(trial.choose((False, True)))
    to, where, value = trial.operand(0, size), trial.predicate(), trial.per_row("value", size)
    trial.call = lambda k, memory, state: k.fill_rows(
        to.of(memory), state[value], where.of(memory), when
    )


def hub_pair(k: Any, source: Any, target: Any, policy: Any) -> tuple[Any, Any]:
    return (
        k.conversion(source, FP32, policy, stream=True),
        k.conversion(FP32, target, policy, stream=True),
    )


def few_values(trial: Trial, data: Place, source: Any) -> None:
    """Make elements repeat, as ties and keys that match need it."""
    view = data.of(trial.memory)
    if view.size and trial.rng.random() < 0.7:
        few = view.reshape(-1)[trial.rng.integers(0, view.size, 5)]
        view[...] = few[trial.rng.integers(0, 5, view.shape)]


def top8(trial: Trial) -> None:
    source, target, policy = trial.choose(SOURCES), trial.choose(TARGETS), trial.policy
    data, to = trial.source(1, source), trial.operand(0, code_dtype(target).itemsize, 8)
    few_values(trial, data, source)
    trial.call = lambda k, memory, state: k.top8_rows(
        to.of(memory), data.of(memory), *hub_pair(k, source, target, policy)
    )


def keys(trial: Trial, data: Place, source: Any) -> None:
    """Keys among the elements, with repeats, zeros of both signs and NaN."""
    few_values(trial, data, source)
    made = reference.conversion(source, FP32, trial.policy, stream=True)
    view = data.of(trial.memory)
    values = made(view.reshape(trial.rows, -1))
    wanted = SPECIALS[trial.rng.integers(0, 12, (trial.rows, 8))]
    if values.size:
        picks = trial.rng.integers(0, values.shape[1], (trial.rows, 8))
        found = np.take_along_axis(values, picks, axis=1)
        wanted = np.where(trial.rng.random(found.shape) < 0.7, found, wanted)
    trial.state["keys"] = wanted.astype(np.uint32)
    trial.state["matched"] = trial.rng.random((trial.rows, 8)) < 0.2


def find8(trial: Trial) -> None:
    source, size = trial.choose(SOURCES), int(trial.choose((2, 4)))
    data, to, policy = trial.source(1, source), trial.operand(0, size, 8), trial.policy
    keys(trial, data, source)
    trial.call = lambda k, memory, state: k.find8_rows(
        to.of(memory),
        data.of(memory),
        k.conversion(source, FP32, policy, stream=True),
        state["keys"],
        state["matched"],
    )


def replace8(trial: Trial) -> None:
    source, target, policy = trial.choose(SOURCES), trial.choose(TARGETS), trial.policy
    size = code_dtype(target).itemsize
    data, to = trial.source(1, source), trial.operand(0, size)
    keys(trial, data, source)
    trial.state["indices"] = trial.rng.integers(0, 1 << 32, (trial.rows, 8), np.uint32)
    replacement = int(trial.rng.integers(0, 1 << 8 * size))
    trial.call = lambda k, memory, state: k.replace8_rows(
        to.of(memory),
        data.of(memory),
        *hub_pair(k, source, target, policy),
        replacement,
        *(state[name] for name in ("keys", "matched", "indices")),
    )


def selection(trial: Trial, source: Any, target: Any) -> tuple[str | None, ...]:
    """Names of ``other``, ``other_hub`` and ``accumulator``, some of them None."""
    other = other_hub = accumulator = None
    if trial.rng.random() < 0.7:
        other = trial.per_row("other", code_dtype(target).itemsize)
        other_hub = trial.numbers("other_hub")
    if trial.rng.random() < 0.8:
        accumulator = trial.numbers("accumulator")
    return other, other_hub, accumulator


def select(trial: Trial) -> None:
    source, target, policy = trial.choose(SOURCES), trial.choose(TARGETS), trial.policy
    data, to = trial.source(1, source), trial.operand(0, code_dtype(target).itemsize)
    few_values(trial, data, source)
    where, when = trial.predicate(), bool(trial.choose((False, True)))
    extras = selection(trial, source, target)

    def call(k: Any, memory: Any, state: Any) -> None:
        k.select_rows(
            to.of(memory),
            data.of(memory),
            where.of(memory),
            when,
            k.conversion(source, target, policy),
            k.conversion(source, FP32, policy, stream=True),
            *(None if name is None else state[name] for name in extras),
        )

    trial.call = call


def range_(trial: Trial) -> None:
    source, target, policy = trial.choose(SOURCES), trial.choose(TARGETS), trial.policy
    data, to = trial.source(1, source), trial.operand(0, code_dtype(target).itemsize)
    few_values(trial, data, source)
    extras = selection(trial, source, target)
    bases = (None, 0, 0x80000000, 1, 0x3F000000, 0x3F800001, 0x41200000, 0x4B7FFF00, 0x4B800000)
    base = trial.choose(bases)
    relations = [int(trial.choose((1, 2, 3, 4, 6))) for _ in range(2)]
    for bound in ("low", "high"):
        trial.numbers(bound)
        if base is not None:
            near = reference.index_sequence(base, 41)
            trial.state[bound] = near[trial.rng.integers(0, 41, trial.rows)]

    def call(k: Any, memory: Any, state: Any) -> None:
        k.range_rows(
            to.of(memory),
            data.of(memory),
            base,
            relations[0],
            state["low"],
            relations[1],
            state["high"],
            k.conversion(source, target, policy),
            k.conversion(source, FP32, policy, stream=True),
            *(None if name is None else state[name] for name in extras),
        )

    trial.call = call


def nonzero(trial: Trial) -> None:
    source = trial.choose((FP32, FORMATS["INT32"]))
    data, to = trial.source(1, source), trial.operand(0, 4, trial.count + 1)
    few_values(trial, data, source)
    offset, padding = trial.per_row("offset", 4), trial.per_row("padding", 4)
    mask, skip_nan = trial.choose(((0xFFFFFFFF, False), (0x7FFFFFFF, True), (0x7FFFFFFF, False)))
    trial.call = lambda k, memory, state: k.nonzero_rows(
        to.of(memory), data.of(memory), state[offset], state[padding], mask, skip_nan
    )


KERNELS = {
    "cast": cast,
    "merge": merge,
    "fill": fill,
    "top8": top8,
    "find8": find8,
    "replace8": replace8,
    "select": select,
    "range": range_,
    "nonzero": nonzero,
}


def check(kernel: str, count: int, shapes: tuple[str, str, str], seed: object) -> None:
    trial = Trial(seed, count, shapes)
    KERNELS[kernel](trial)
    expected, got = trial.run("reference"), trial.run("native")
    for name, array in expected.items():
        np.testing.assert_array_equal(got[name], array, f"{kernel} {count} {shapes}: {name}")


@needs_native
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("count", range(71))
def test_engines_agree_for_every_length(kernel: str, count: int) -> None:
    for seed, shape in enumerate(SHAPES):
        check(kernel, count, (shape, "packed", "packed"), seed)
    check(kernel, count, ("packed", "packed", "packed"), "packed")


@needs_native
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("target", SHAPES)
@pytest.mark.parametrize("origin", SHAPES)
def test_engines_agree_for_every_pair_of_layouts(kernel: str, target: str, origin: str) -> None:
    for seed, choice in enumerate(SHAPES):
        for count in (6, 24, 60):
            check(kernel, count, (target, origin, choice), seed)


@needs_native
@given(
    kernel=st.sampled_from(sorted(KERNELS)),
    count=st.integers(0, 90),
    shapes=st.tuples(*[st.sampled_from(SHAPES)] * 3),
    seed=st.integers(0, 2**32 - 1),
)
def test_engines_agree_whatever_the_layout(
    kernel: str, count: int, shapes: tuple[str, str, str], seed: int
) -> None:
    check(kernel, count, shapes, seed)


LONG = (512, 513, 1023, 1024, 1025, 2047, 4096, 4097, 5000)


@needs_native
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("count", LONG)
@pytest.mark.parametrize("shape", ["packed", "step -1", "4-D"])
def test_engines_agree_on_long_rows(
    kernel: str, count: int, shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{__name__}.MEMORY", 1 << 19)
    for seed in range(3):
        trial = Trial((shape, seed), count, (shape, "packed", shape))
        trial.pitch = None if seed else 1 << 16
        KERNELS[kernel](trial)
        expected, got = trial.run("reference"), trial.run("native")
        for name, array in expected.items():
            np.testing.assert_array_equal(got[name], array, f"{kernel} {count} {shape}: {name}")


@needs_native
@pytest.mark.parametrize("source", SOURCES, ids=lambda f: f.name)
@pytest.mark.parametrize("target", TARGETS, ids=lambda f: f"{f.name}-{f.mantissa_bits}")
def test_engines_agree_on_every_pair_of_formats(source: Any, target: Any) -> None:
    rng = np.random.default_rng(5)
    data = codes(rng, source, 4096 if code_dtype(source).itemsize == 4 else 1 << 16)
    data = data.reshape(1, -1)
    native = kernels.select_engine("native")
    for policy in POLICIES:
        for stream in (False, True):
            results = []
            for k in (native, reference):
                results.append(np.zeros(data.shape, f"u{code_dtype(target).itemsize}"))
                k.cast_rows(results[-1], data, k.conversion(source, target, policy, stream=stream))
            np.testing.assert_array_equal(*results)


ORDERS: dict[str, Callable[[np.random.Generator, int], NDArray[Any]]] = {
    "ascending": lambda rng, n: np.sort(rng.normal(size=n)),
    "descending": lambda rng, n: np.sort(rng.normal(size=n))[::-1],
    "equal": lambda rng, n: np.full(n, 1.5),
    "zeros": lambda rng, n: rng.choice([0.0, -0.0], n),
    "minus infinity": lambda rng, n: np.full(n, -np.inf),
    "few values": lambda rng, n: rng.integers(-3, 4, n),
    "one late": lambda rng, n: np.where(np.arange(n) == n - 1, 9.0, 0.0),
    "NaN": lambda rng, n: np.where(rng.random(n) < 0.5, np.nan, -1.0),
    "nothing but NaN": lambda rng, n: np.full(n, np.nan),
    "negative": lambda rng, n: -np.abs(rng.normal(size=n)),
    "subnormal": lambda rng, n: rng.integers(-40, 9, n) * 2.0**-149,
    "negative, then positive": lambda rng, n: np.where(
        np.arange(n) < n // 2, -1.0, rng.integers(0, 9, n)
    ),
    "large in one lane of many": lambda rng, n: np.where(
        np.arange(n) % 16 == 3, 5.0 + np.arange(n), rng.normal(size=n)
    ),
    "few above minus infinity": lambda rng, n: np.where(
        rng.random(n) < 5 / n, rng.normal(size=n), -np.inf
    ),
    "zeros above minus infinity": lambda rng, n: np.where(
        rng.random(n) < 0.1, rng.choice([0.0, -0.0], n), -np.inf
    ),
    "infinity and NaN": lambda rng, n: rng.choice([np.inf, np.nan, 1.0, -0.0], n),
}


@needs_native
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("count", [8, 16, 17, 63, 257, 1000, 1024, 2048, 3000, 16384])
def test_top8_agrees_whatever_the_order(order: str, count: int) -> None:
    rng = np.random.default_rng(count)
    rows = np.stack([ORDERS[order](rng, count) for _ in range(3)])
    hub = np.ascontiguousarray(rows.astype(np.float32)).view(np.uint32)
    hub[1] ^= (rng.integers(0, 2, count, np.uint32)) << np.uint32(31)
    native = kernels.select_engine("native")
    np.testing.assert_array_equal(native.top8(hub), reference.top8(hub))


@needs_native
@pytest.mark.parametrize("kernel", KERNELS)
def test_threads_give_the_same_bits(kernel: str) -> None:
    rng = np.random.default_rng(9)
    rows, count = 67, 8192
    source = codes(rng, FP32, rows * count).reshape(rows, count)
    where = rng.integers(0, 2, (rows, count), np.uint8)
    keys_ = np.ascontiguousarray(source[:, ::1024])
    k = kernels.select_engine("native")
    policy = POLICIES[0]
    bf16, numbers = (k.conversion(FP32, t, policy, stream=True) for t in (FORMATS["BF16"], FP32))
    same = k.conversion(FP32, FP32, policy)

    def run(threads: int) -> list[NDArray[Any]]:
        wide = np.full((rows, count + 1), 7, np.uint32)
        to, narrow = wide[:, :count], np.zeros((rows, count), np.uint16)
        eight = np.zeros((rows, 8), np.uint32)
        matched, indices = np.zeros((rows, 8), np.bool_), np.zeros((rows, 8), np.uint32)
        lane = np.arange(rows, dtype=np.uint32)
        accumulator = np.full(rows, 0xFF800000, np.uint32)
        bounds = 3, lane, 4, lane
        operands: dict[str, tuple[Any, ...]] = {
            "cast": (narrow, source, bf16),
            "merge": (to, source, where, same),
            "fill": (to, lane, where, True),
            "top8": (eight, source, numbers, same),
            "find8": (eight, source, numbers, keys_, matched),
            "replace8": (to, source, numbers, numbers, 3, keys_, matched, indices),
            "select": (to, source, where, True, same, numbers, None, None, accumulator),
            "range": (to, source, None, *bounds, same, numbers, lane, lane, accumulator),
            "nonzero": (wide, source, lane, lane, 0xFFFFFFFF, True),
        }
        k.Program([k.step(f"{kernel}_rows", *operands[kernel])]).run(threads)
        return [wide, narrow, eight, matched, indices, accumulator]

    for alone, shared in zip(run(1), run(3), strict=True):
        np.testing.assert_array_equal(shared, alone)


@in_both_engines
def test_steps_run_again_and_programs_note_what_is_set(engine: str) -> None:
    k = kernels.select_engine(engine)
    flags, row = np.zeros(3, np.bool_), np.zeros((3, 2), np.uint16)
    copy = k.conversion(FORMATS["UINT16"], FORMATS["UINT16"], POLICIES[0])
    source = np.arange(6, dtype=np.uint16).reshape(3, 2)
    steps = [k.step("note_rows", flags), k.step("cast_rows", row, source, copy)]
    program = k.Program([*steps, steps[0]])
    assert program.run() is None
    assert row.tolist() == source.tolist()
    source += 1
    flags[1] = True
    assert program.run() == [(0, b"\0\1\0"), (2, b"\0\1\0")]
    assert row.tolist() == source.tolist()
    assert k.note_rows(flags) == b"\0\1\0"
    assert k.note_rows(np.zeros(2, np.bool_)) is None


def block(rows: int = 2, columns: int = 6, dtype: Any = np.uint16) -> NDArray[Any]:
    return np.zeros((rows, columns), dtype)


shared = np.zeros((2, 7), np.uint16)
REFUSED: dict[str, Callable[[Any], None]] = {
    "source must have 2 rows of 6 elements, not 6 of 2": lambda k: k.cast_rows(
        block(), block(6, 2), u16(k)
    ),
    "predicate must have 2 rows of 6 elements, not 2 of 5": lambda k: k.merge_rows(
        block(), block(), block(2, 5), u16(k)
    ),
    "destination must have 1 to 5 dimensions and elements of 1, 2 or 4 bytes": (
        lambda k: k.cast_rows(block(dtype=np.uint64), block(), u16(k))
    ),
    "source must have 1 to 5 dimensions and elements of 1, 2 or 4 bytes": (
        lambda k: k.cast_rows(block(), np.zeros((1,) * 6, np.uint16), u16(k))
    ),
    "source must have elements of 2 bytes, not 4": lambda k: k.cast_rows(
        block(), block(dtype=np.uint32), u16(k)
    ),
    "the conversion must give elements of 4 bytes": lambda k: k.cast_rows(
        block(dtype=np.uint32), block(), u16(k)
    ),
    "destination must have rows that do not overlap": lambda k: k.cast_rows(
        np.lib.stride_tricks.as_strided(np.zeros(8, np.uint16), (2, 6), (4, 2)), block(), u16(k)
    ),
    "value must have 2 rows of 1 elements, not 3 of 1": lambda k: k.fill_rows(
        block(), np.zeros(3, np.uint16), block(), True
    ),
    "value must not share memory with the destination": lambda k: k.fill_rows(
        shared[:, :6], shared[:, 0], block(), True
    ),
    "destination must have 2 rows of 8 elements, not 2 of 6": lambda k: k.top8_rows(
        block(), block(), *hub_pair(k, FORMATS["FP16"], FORMATS["FP16"], POLICIES[0])
    ),
    "destination must have 2 rows of 7 elements, not 2 of 6": lambda k: k.nonzero_rows(
        block(dtype=np.uint32), block(dtype=np.uint32), *[np.zeros(2, np.uint32)] * 2, 1, False
    ),
}  # fmt: skip


def u16(k: Any) -> Any:
    return k.conversion(FORMATS["UINT16"], FORMATS["UINT16"], POLICIES[0])


@in_both_engines
@pytest.mark.parametrize("message", REFUSED)
def test_operands_that_do_not_fit_are_refused_in_the_same_words(engine: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        REFUSED[message](kernels.select_engine(engine))
