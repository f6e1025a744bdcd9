"""Engines are chosen by name, and have the same functions."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from lanewise import kernels
from lanewise.errors import LanewiseError
from lanewise.kernels import rows

needs_native = pytest.mark.skipif(
    kernels.native_problem() is not None, reason=f"no native engine: {kernels.native_problem()}"
)


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
    assert reference.merge_rows is rows.merge_rows
    if "native" in kernels.available_engines():
        native = kernels.select_engine("native")
        missing = {name for name in vars(reference) if not name.startswith("_")} - set(vars(native))
        assert not missing
        assert native.merge_rows is not rows.merge_rows


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
    assert kernels.select_engine().merge_rows is rows.merge_rows


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
