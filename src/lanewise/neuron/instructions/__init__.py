"""The modelled instructions, one file each, found by looking at the files.

A new instruction is a new file in this folder: every module is imported, and each Instruction
class in it that has an opcode becomes an attribute of this package and an entry of
:data:`BY_OPCODE`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from lanewise.neuron.instruction import Instruction


def _found() -> Iterator[type[Instruction]]:
    for module_info in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{module_info.name}")
        for member in vars(module).values():
            if (
                isinstance(member, type)
                and issubclass(member, Instruction)
                and not member.is_partial
                and member.__module__ == module.__name__
            ):
                yield member


#: The modelled instructions by opcode, in the order of their codes.
BY_OPCODE: Mapping[int, type[Instruction]] = MappingProxyType(
    dict(sorted((instruction.opcode, instruction) for instruction in _found()))
)
_BY_CLASS_NAME = {instruction.__name__: instruction for instruction in BY_OPCODE.values()}

__all__ = ["BY_OPCODE", *_BY_CLASS_NAME]  # noqa: PLE0604 (found, not listed)


def __getattr__(name: str) -> Any:
    try:
        return _BY_CLASS_NAME[name]
    except KeyError:
        raise AttributeError(
            f"no instruction class {name!r}; there are {', '.join(_BY_CLASS_NAME)}"
        ) from None


def __dir__() -> list[str]:
    return [*globals(), *_BY_CLASS_NAME]
