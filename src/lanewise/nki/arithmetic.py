"""Arithmetic and comparison of tiles with Python's signs: new tiles, outside the modelled set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lanewise.nki.operators import OPERATORS
from lanewise.nki.tile import NkiTensor


def elementwise(name: str, *, reverse: bool = False) -> Callable[[NkiTensor, Any], NkiTensor]:
    """A method that applies the operator of that name."""

    operator = OPERATORS[name]

    def method(self: NkiTensor, other: Any) -> NkiTensor:
        result: NkiTensor = operator(other, self) if reverse else operator(self, other)
        return result

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
    for method, operator in {
        "lt": "less",
        "le": "less_equal",
        "gt": "greater",
        "ge": "greater_equal",
    }.items():
        setattr(NkiTensor, f"__{method}__", elementwise(operator))
