"""The instructions of the PTO machine, one file each, found by selector and by name.

A new instruction is a new module here with one ``Operation`` subclass; nothing else lists it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from types import MappingProxyType

from lanewise.errors import unknown_name
from lanewise.pto.instructions._operation import Operands, Operation, Request


def _discover() -> tuple[Operation, ...]:
    found = []
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda m: m.name):
        if module.name.startswith("_"):
            continue
        loaded = importlib.import_module(f"{__name__}.{module.name}")
        found += [
            member()
            for member in vars(loaded).values()
            if isinstance(member, type)
            and issubclass(member, Operation)
            and member.__module__ == loaded.__name__
        ]
    return tuple(found)


#: Every instruction, in the order of their names.
ALL: tuple[Operation, ...] = _discover()

#: Instructions by selector (mode and function of BSTART).
BY_SELECTOR: Mapping[int, Operation] = MappingProxyType({op.selector: op for op in ALL})

#: Instructions by mnemonic.
BY_NAME: Mapping[str, Operation] = MappingProxyType({op.name: op for op in ALL})


def named(name: str) -> Operation:
    """The instruction of this name, in any case; UsageError with near misses otherwise."""
    found = BY_NAME.get(name.upper())
    if found is None:
        raise unknown_name("PTO instruction", name, BY_NAME)
    return found


__all__ = ["ALL", "BY_NAME", "BY_SELECTOR", "Operands", "Operation", "Request", "named"]
