"""Arithmetic and comparison of tiles with Python's signs. Outside the modelled set.

``x + y`` makes a new tile, ``x += y`` changes x.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lanewise.nki.call import Call
from lanewise.nki.context import active
from lanewise.nki.operators import OPERATORS
from lanewise.nki.outside.elementwise import combined, scaled
from lanewise.nki.tile import NkiTensor


def elementwise(name: str, *, reverse: bool = False) -> Callable[[NkiTensor, Any], NkiTensor]:
    """A method that applies the operator of that name."""

    operator = OPERATORS[name]

    def method(self: NkiTensor, other: Any) -> NkiTensor:
        result: NkiTensor = operator(other, self) if reverse else operator(self, other)
        return result

    return method


def in_place(name: str) -> Callable[[NkiTensor, Any], NkiTensor]:
    """A method that changes the tile itself; a product added to a PSUM tile adds up there."""
    operator = OPERATORS[name]

    def method(self: NkiTensor, other: Any) -> NkiTensor:
        run = active()
        pending = None if run is None else run.pending
        if (
            run is not None
            and pending is not None
            and pending.tile is other
            and pending.adds is not None
            and name == "add"
            and self.buffer == "psum"
        ):
            run.pending = None
            pending.adds(self)
            return self
        call = Call.begin(name)
        if isinstance(other, NkiTensor) and other.geometry.elements == self.geometry.elements:
            combined(call, self, self, other, operator)
        else:
            scaled(call, self, self, operator, other)
        return self

    return method


def attach() -> None:
    """Give tiles the methods behind Python's signs."""
    for method, operator in {
        "add": "add",
        "sub": "subtract",
        "mul": "multiply",
        "truediv": "divide",
        "and": "bitwise_and",
        "or": "bitwise_or",
        "xor": "bitwise_xor",
        "pow": "power",
        "mod": "mod",
    }.items():
        setattr(NkiTensor, f"__{method}__", elementwise(operator))
        setattr(NkiTensor, f"__r{method}__", elementwise(operator, reverse=True))
        setattr(NkiTensor, f"__i{method}__", in_place(operator))
    for method, operator in {
        "lt": "less",
        "le": "less_equal",
        "gt": "greater",
        "ge": "greater_equal",
    }.items():
        setattr(NkiTensor, f"__{method}__", elementwise(operator))
