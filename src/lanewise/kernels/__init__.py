"""Loops over arrays, in two engines with the same functions and the same results.

``reference`` is NumPy and always there; ``native`` is compiled and there when it could be built.
An engine is a module: its functions are the kernels. Kernels know no instruction set.
"""

from __future__ import annotations

import functools
import importlib
import os
from types import ModuleType

from lanewise.errors import LanewiseError, unknown_name

__all__ = [
    "ENGINES",
    "available_engines",
    "engine_name",
    "native_problem",
    "select_engine",
    "select_tile_engine",
]

ENGINES = ("auto", "native", "reference")
"""What can be asked for: the best engine there is, or one of the two."""

_ENVIRONMENT = "LANEWISE_ENGINE"


def select_engine(name: str = "auto") -> ModuleType:
    """The engine called ``name``, one of :data:`ENGINES`.

    ``auto`` gives what the environment variable LANEWISE_ENGINE names, or else ``native`` when it
    is built and ``reference`` when it is not. Raises LanewiseError for another name, and for
    ``native`` when it is not built. Keep the result: choosing is not free, using it is.
    """
    return importlib.import_module(f"{__name__}.{engine_name(name)}")


def select_tile_engine(name: str = "auto") -> ModuleType:
    """The kernels of the tile machine in the engine called ``name``, as :func:`select_engine`."""
    return importlib.import_module(f"{__name__}.tiles_{engine_name(name)}")


def engine_name(name: str = "auto") -> str:
    """The engine that :func:`select_engine` gives for ``name``: ``native`` or ``reference``."""
    if name not in ENGINES:
        raise unknown_name("engine", name, ENGINES)
    if name == "auto":
        name = os.environ.get(_ENVIRONMENT) or "auto"
        if name not in ENGINES:
            raise unknown_name(f"engine in the environment variable {_ENVIRONMENT}", name, ENGINES)
    problem = native_problem()
    if name == "native" and problem is not None:
        raise LanewiseError(
            f"the native engine is not available ({problem}); install lanewise again where a "
            "C++20 compiler is found and LANEWISE_PURE is not set, or use the engine "
            "'reference': same results, slower"
        )
    if name == "auto":
        return "native" if problem is None else "reference"
    return name


def available_engines() -> tuple[str, ...]:
    """The engines that can be used here, best first."""
    return ("native", "reference") if native_problem() is None else ("reference",)


@functools.cache
def native_problem() -> str | None:
    """Why the native engine cannot be used here, in a few words; None when it can."""
    extension = f"{__name__}._native"
    try:
        importlib.import_module(extension)
    except ModuleNotFoundError as error:
        if error.name == extension:
            return "its extension module has not been built"
        return f"its extension module cannot be loaded: {error}"
    except ImportError as error:
        return f"its extension module cannot be loaded: {error}"
    return None
