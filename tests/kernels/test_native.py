"""The compiled kernels do what their NumPy twins do; engines are chosen by name."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from lanewise import kernels
from lanewise.errors import LanewiseError
from lanewise.kernels import merge

needs_native = pytest.mark.skipif(
    kernels.native_problem() is not None, reason=f"no native engine: {kernels.native_problem()}"
)

WIDTHS = (1, 2, 4)
MARGIN = 80  # bytes before and after a block that no kernel may touch


def native_merge(*arguments: Any) -> None:
    kernels.select_engine("native").merge_rows(*arguments)


class Layout(NamedTuple):
    """Where a block lies in its memory: what DLPack, alignment and contiguity would hide."""

    start: int = 0  # bytes after MARGIN, any alignment
    gap: int = 0  # bytes between the end of a row and the start of the next
    upward: bool = True  # rows at rising addresses

    def memory(self, rng: np.random.Generator, rows: int, columns: int, width: int) -> Any:
        size = 2 * MARGIN + self.start + rows * (columns * width + self.gap)
        return rng.integers(0, 256, size, dtype=np.uint8)

    def block(self, memory: Any, rows: int, columns: int, width: int) -> NDArray[Any]:
        pitch = columns * width + self.gap
        view: NDArray[Any] = np.ndarray(
            (rows, columns), f"u{width}", memory, MARGIN + self.start, (pitch, width)
        )
        return view if self.upward else view[::-1]


def check_twins(
    seed: int, rows: int, columns: int, width: int, layouts: tuple[Layout, Layout, Layout]
) -> None:
    rng = np.random.default_rng(seed)
    target, origin, choice = layouts
    memory = target.memory(rng, rows, columns, width)
    source = origin.block(origin.memory(rng, rows, columns, width), rows, columns, width)
    predicate = choice.block(choice.memory(rng, rows, columns, 1), rows, columns, 1)
    predicate[...] = rng.integers(0, 2, (rows, columns))

    before = memory.copy()
    expected = memory.copy()
    block = target.block(expected, rows, columns, width)
    for r in range(rows):
        for k in range(columns):
            if predicate[r, k]:
                block[r, k] = source[r, k]

    for merge_rows in (native_merge, merge.merge_rows):
        memory[...] = before
        merge_rows(target.block(memory, rows, columns, width), source, predicate)
        np.testing.assert_array_equal(memory, expected)  # the margins and gaps too


@needs_native
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("columns", range(71))
def test_twins_agree_for_every_length(width: int, columns: int) -> None:
    layouts = (Layout(gap=3), Layout(start=1, gap=5), Layout(start=2, gap=1))
    check_twins(columns, 3, columns, width, layouts)


@needs_native
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("start", range(9))
def test_twins_agree_for_every_start(width: int, start: int) -> None:
    layouts = (Layout(start), Layout(8 - start), Layout((3 * start) % 8))
    check_twins(start, 2, 67, width, layouts)


layouts = st.builds(Layout, st.integers(0, 67), st.integers(0, 67), st.booleans())


@needs_native
@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.integers(0, 5),
    columns=st.integers(0, 300),
    width=st.sampled_from(WIDTHS),
    layouts=st.tuples(layouts, layouts, layouts),
)
def test_twins_agree_for_any_layout(
    seed: int, rows: int, columns: int, width: int, layouts: tuple[Layout, Layout, Layout]
) -> None:
    check_twins(seed, rows, columns, width, layouts)


in_both_engines = pytest.mark.parametrize(
    "merge_rows",
    [
        pytest.param(merge.merge_rows, id="reference"),
        pytest.param(native_merge, id="native", marks=needs_native),
    ],
)


@in_both_engines
@pytest.mark.parametrize("shift", range(-40, 41, 8))
def test_source_is_read_before_the_first_write(merge_rows: Any, shift: int) -> None:
    rng = np.random.default_rng(0)
    memory = rng.integers(0, 2**32, 200, dtype=np.uint32)
    predicate = rng.integers(0, 2, (4, 20), dtype=np.uint8)
    destination, source = (memory[at : at + 80].reshape(4, 20) for at in (50, 50 + shift))
    expected = np.where(predicate, source, destination)
    merge_rows(destination, source, predicate)
    np.testing.assert_array_equal(destination, expected)


@in_both_engines
@pytest.mark.parametrize("shift", [-21, -1, 0, 1, 20])
def test_predicate_is_read_before_the_first_write(merge_rows: Any, shift: int) -> None:
    rng = np.random.default_rng(1)
    memory = rng.integers(0, 2, 200, dtype=np.uint8)
    destination, predicate = (memory[at : at + 80].reshape(4, 20) for at in (50, 50 + shift))
    source = rng.integers(0, 256, (4, 20), dtype=np.uint8)
    for origin in (source, memory[47:127].reshape(4, 20)):
        expected = np.where(predicate, origin, destination)
        merge_rows(destination, origin, predicate)
        np.testing.assert_array_equal(destination, expected)


@in_both_engines
def test_one_row_may_serve_all_rows(merge_rows: Any) -> None:
    destination = np.zeros((3, 4), np.uint16)
    source = np.broadcast_to(np.array([[1, 2, 3, 4]], np.uint16), (3, 4))
    predicate = np.broadcast_to(np.array([[True, False, True, False]]), (3, 4))
    merge_rows(destination, source, predicate)
    assert destination.tolist() == [[1, 0, 3, 0]] * 3


@in_both_engines
def test_any_predicate_bit_selects(merge_rows: Any) -> None:
    destination = np.zeros((1, 256), np.uint8)
    every_byte = np.arange(256, dtype=np.uint8)[None]
    merge_rows(destination, np.ones_like(destination), every_byte)
    assert destination.tolist() == [[0] + [1] * 255]


def block(
    rows: int = 2, columns: int = 6, dtype: Any = np.uint16, *, step: int = 1
) -> NDArray[Any]:
    return np.zeros((rows, columns * step), dtype)[:, ::step]


REFUSED = {
    "destination must have 2 dimensions (rows, columns), not 1": (block()[0], block(), block()),
    "source must have 2 dimensions (rows, columns), not 3": (block(), block()[None], block()),
    "source must have the destination's shape 2x6, not 6x2": (block(), block(6, 2), block()),
    "predicate must have the destination's shape 2x6, not 2x5": (block(), block(), block(2, 5)),
    "destination must have unit stride inside a row; gather it first": (
        block(step=2),
        block(),
        block(),
    ),
    "destination must have elements of 1, 2 or 4 bytes, not 8": (
        block(dtype=np.uint64),
        block(dtype=np.uint64),
        block(dtype=np.uint8),
    ),
    "source must have elements of 2 bytes like the destination, not 4": (
        block(),
        block(dtype=np.uint32),
        block(dtype=np.uint8),
    ),
    "predicate must have elements of 1 byte, not 2": (block(), block(), block()),
    "destination must have rows that do not overlap": (
        np.lib.stride_tricks.as_strided(np.zeros(8, np.uint16), (2, 6), (4, 2)),
        block(),
        block(dtype=np.uint8),
    ),
}


@in_both_engines
@pytest.mark.parametrize("message", REFUSED)
def test_other_layouts_are_refused_in_the_same_words(merge_rows: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        merge_rows(*REFUSED[message])


@pytest.fixture
def without_native(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(sys.modules, "lanewise.kernels._native", None)
    kernels.native_problem.cache_clear()
    yield
    kernels.native_problem.cache_clear()


@pytest.fixture(autouse=True)
def no_engine_named_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LANEWISE_ENGINE", raising=False)


def test_engines_have_the_same_functions() -> None:
    reference = kernels.select_engine("reference")
    assert reference.merge_rows is merge.merge_rows
    if "native" in kernels.available_engines():
        native = kernels.select_engine("native")
        missing = {name for name in vars(reference) if not name.startswith("_")} - set(vars(native))
        assert not missing
        assert native.merge_rows is not merge.merge_rows


@needs_native
def test_auto_prefers_native(monkeypatch: pytest.MonkeyPatch) -> None:
    assert kernels.available_engines() == ("native", "reference")
    assert kernels.engine_name() == "native"
    monkeypatch.setenv("LANEWISE_ENGINE", "reference")
    assert kernels.engine_name() == "reference"
    assert kernels.engine_name("native") == "native"


@pytest.mark.usefixtures("without_native")
def test_auto_falls_back_to_reference() -> None:
    assert kernels.available_engines() == ("reference",)
    assert kernels.engine_name() == "reference"
    assert kernels.select_engine().merge_rows is merge.merge_rows


@pytest.mark.usefixtures("without_native")
@pytest.mark.parametrize("where", ["argument", "environment"])
def test_a_missing_native_engine_says_what_to_do(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANEWISE_ENGINE", "native" if where == "environment" else "")
    with pytest.raises(LanewiseError) as caught:
        kernels.select_engine("native" if where == "argument" else "auto")
    assert str(caught.value) == (
        "the native engine is not available (its extension module has not been built); install "
        "lanewise again where a C++20 compiler is found and LANEWISE_PURE is not set, or use the "
        "engine 'reference': same results, slower"
    )


def test_unknown_engines_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = "unknown engine 'nativ'; did you mean 'native'? (expected auto, native, reference)"
    with pytest.raises(LanewiseError) as caught:
        kernels.select_engine("nativ")
    assert str(caught.value) == expected
    monkeypatch.setenv("LANEWISE_ENGINE", "nativ")
    with pytest.raises(LanewiseError, match=r"variable LANEWISE_ENGINE 'nativ'; did you mean"):
        kernels.engine_name()
