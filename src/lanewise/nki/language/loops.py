"""Loops. All of them run as Python loops, one iteration after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from lanewise.nki.errors import caller
from lanewise.nki.tile import NkiTensor


def _number(value: Any) -> int:
    """A loop bound: a number or a tile of one element."""
    if isinstance(value, NkiTensor):
        if value.size != 1:
            raise TypeError(
                f"a loop bound is a number or a tile of one element, not {value.name} with shape "
                f"{value.shape} ({caller()})"
            )
        return int(value.numpy().reshape(-1)[0])
    return int(value)


def _range(bounds: tuple[Any, ...]) -> range:
    return range(*map(_number, bounds))


def affine_range(*bounds: Any, **hints: Any) -> range:
    """A range whose iterations do not depend on each other."""
    return _range(bounds)


def static_range(*bounds: Any, **hints: Any) -> range:
    """A range that is unrolled."""
    return _range(bounds)


def sequential_range(*bounds: Any, **hints: Any) -> range:
    """A range whose iterations depend on each other."""
    return _range(bounds)


def dynamic_range(*bounds: Any, **hints: Any) -> Iterator[int]:
    """A range with bounds that are known when it runs; a bound may be a tile of one element."""
    yield from _range(bounds)


def fori_loop(lower: Any, upper: Any, body: Callable[..., Any], *state: Any) -> Any:
    """``body(i, *state)`` for i from ``lower`` to ``upper``; the last state.

    A body that returns None changes tiles in place and keeps the state.
    """
    for index in range(_number(lower), _number(upper)):
        result = body(index, *state)
        if result is not None:
            state = result if isinstance(result, tuple) else (result,)
    return state[0] if len(state) == 1 else state


def while_loop(condition: Callable[..., Any], body: Callable[..., Any], *state: Any) -> Any:
    """``body(*state)`` as long as ``condition(*state)`` is not 0; the last state."""
    while _number(condition(*state)):
        result = body(*state)
        if result is not None:
            state = result if isinstance(result, tuple) else (result,)
    return state[0] if len(state) == 1 else state
