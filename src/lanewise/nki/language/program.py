"""The program a kernel is: its place in the grid, and printing from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lanewise.nki.call import Call
from lanewise.nki.context import running
from lanewise.nki.errors import KernelError, caller
from lanewise.nki.outside.numerics import outside_step
from lanewise.nki.tile import NkiTensor


def program_id(axis: int = 0) -> int:
    """Which program of the grid this is, along an axis."""
    run = running("nl.program_id")
    if not 0 <= axis < len(run.grid):
        raise KernelError(
            f"program_id axis {axis} must be in 0..{len(run.grid) - 1} for grid {run.grid} "
            f"({caller()})"
        )
    return run.program[axis]


def num_programs(axes: int | Sequence[int] = 0) -> Any:
    """How many programs there are along an axis, or along several as a tuple."""
    run = running("nl.num_programs")
    if isinstance(axes, Sequence):
        return tuple(run.grid[axis] for axis in axes)
    return run.grid[axes] if 0 <= axes < len(run.grid) else 1


def program_ndim() -> int:
    """Number of axes of the grid; 0 for a kernel without one."""
    run = running("nl.program_ndim")
    return 0 if run.grid == (1,) else len(run.grid)


def device_print(prefix: str, tensor: Any) -> None:
    """Print ``prefix`` and the values of a tile, and record a step."""
    call = Call.begin("device_print")
    reads = {"tensor": tensor} if isinstance(tensor, NkiTensor) else {}
    with outside_step(call, reads, {}, "vector"):
        print(prefix, tensor.numpy() if isinstance(tensor, NkiTensor) else tensor)


class nc(int):
    """A number of cores in a grid: ``kernel[nl.nc(2)]``."""

    def __mul__(self, other: Any) -> Any:
        return nc(int(self) * int(other))
