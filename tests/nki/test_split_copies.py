"""Copies cut into several words give the bits of one copy, or are refused; never other bits."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import lanewise.nki.isa as nisa
import lanewise.nki.language as nl
from lanewise import nki
from lanewise.errors import UsageError
from lanewise.model import IllegalInstruction
from lanewise.neuron import NeuronCore, Profile


def test_a_column_that_a_split_write_covers_is_refused() -> None:
    def kernel(x: Any) -> Any:
        out = nl.ndarray((8, 64), nl.float32, buffer=nl.shared_hbm)
        a = nl.ndarray((8, 64), nl.float32, buffer=nl.sbuf)
        p = nl.ndarray((8, 64), nl.uint8, buffer=nl.sbuf)
        nisa.dma_copy(dst=a, src=x)
        nisa.memset(p, 1)
        walk = [[64, 4], [31, 2], [13, 2], [7, 2], [2, 2]]
        nisa.tensor_copy_predicated(a[1:5].ap(walk), a[0:4, 0:1], p[1:5].ap(walk))
        nisa.dma_copy(dst=out, src=a)
        return out

    values = np.arange(1, 513, dtype=np.float32).reshape(8, 64)
    with pytest.raises(IllegalInstruction, match="dimensions"):
        nki.simulate(kernel, profile=Profile.ISA)(values)


def test_a_split_copy_between_overlapping_places_is_refused() -> None:
    def kernel(x: Any) -> Any:
        out = nl.ndarray((1, 4096), nl.float32, buffer=nl.shared_hbm)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            a = nl.ndarray((1, 4096), dtype=nl.float32, buffer=nl.sbuf, address=(0, 0))
            b = nl.ndarray((1, 4096), dtype=nl.float32, buffer=nl.sbuf, address=(0, 1200))
        nisa.dma_copy(dst=a, src=x)
        walk = [[4096, 1], [300, 2], [100, 2], [30, 2], [9, 2], [2, 2]]
        nisa.tensor_copy(b.ap(walk), a.ap(walk))
        nisa.dma_copy(dst=out, src=b)
        return out

    with pytest.raises(IllegalInstruction, match="dimensions"):
        nki.simulate(kernel)(np.arange(4096, dtype=np.float32).reshape(1, 4096))


@pytest.mark.parametrize("number", [5, 5.0])
def test_a_number_for_an_engine_is_refused_whatever_ran_before(number: object) -> None:
    def kernel(x: Any) -> Any:
        a = nl.ndarray((1, 8), nl.float32, buffer=nl.sbuf)
        d = nl.ndarray((1, 8), nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=a, src=x)
        nisa.tensor_copy(d, a, engine=nisa.engine.vector)
        nisa.tensor_copy(d, a, engine=number)

    with pytest.raises(TypeError):
        nki.simulate(kernel)(np.zeros((1, 8), np.float32))


def test_a_state_of_another_machine_is_refused() -> None:
    core = NeuronCore("mariana")
    for state in (NeuronCore("sunda").state, None):
        with pytest.raises(UsageError, match="state of a core of mariana"):
            core.state = state  # type: ignore[assignment]
    core.state = NeuronCore("mariana").state


@pytest.mark.parametrize("threads", [1.5, "2", True, 0])
def test_threads_are_a_positive_whole_number(threads: object) -> None:
    with pytest.raises(UsageError, match="threads must be"):
        NeuronCore(threads=threads)  # type: ignore[arg-type]
