"""The interface's enumerations, with the values it publishes; they compare as numbers."""

from __future__ import annotations

import enum
from typing import Any

from lanewise.nki.errors import caller
from lanewise.nki.targets import nc_version


class engine(enum.IntEnum):
    """Engines of a NeuronCore."""

    unknown = 0
    tensor = 1
    scalar = 2
    gpsimd = 3
    dma = 4
    vector = 5
    sync = 6


class reduce_cmd(enum.IntEnum):
    """What a step does with its engine's accumulator."""

    idle = 0
    reset = 1
    reduce = 2
    reset_reduce = 3
    load_reduce = 4


class dge_mode(enum.IntEnum):
    """Who generates DMA descriptors; without effect here."""

    unknown = 0
    swdge = 1
    hwdge = 2
    none = 3


class oob_mode(enum.IntEnum):
    """What an indirect DMA does with an index outside its tensor."""

    error = 0
    skip = 1


class matmul_perf_mode(enum.IntEnum):
    """Performance modes of the tensor engine; only ``none`` is offered."""

    none = 0
    double_row = 1


class dma_engine(enum.IntEnum):
    """DMA engines for exchange between cores; nothing here uses them."""

    dma = 0
    gpsimd_dma = 1


tensor_engine = engine.tensor
vector_engine = engine.vector
scalar_engine = engine.scalar
gpsimd_engine = engine.gpsimd
unknown_engine = engine.unknown


def checked_enum(function: str, argument: str, value: Any, kind: type[enum.IntEnum]) -> Any:
    """The value if it is a member of ``kind``; TypeError otherwise, also for its number."""
    if isinstance(value, kind):
        return value
    shown = type(value).__name__
    raise TypeError(
        f"{function} {argument} is {value!r} ({shown}), must be one of "
        f"{', '.join(f'{kind.__name__}.{member.name}' for member in kind)} ({caller()})"
    )


__all__ = [
    "checked_enum",
    "dge_mode",
    "dma_engine",
    "engine",
    "gpsimd_engine",
    "matmul_perf_mode",
    "nc_version",
    "oob_mode",
    "reduce_cmd",
    "scalar_engine",
    "tensor_engine",
    "unknown_engine",
    "vector_engine",
]
