"""The older world, ``neuronxcc.nki``: functions return tiles, index grids and masks name elements.

Everything runs through the same words and steps as the current world.
"""

from __future__ import annotations

from typing import Any

from lanewise.nki.launch import Kernel, Simulation, jit, simulate

__all__ = ["jit", "simulate", "simulate_kernel"]


def simulate_kernel(kernel: Kernel, *arguments: Any, **keywords: Any) -> Any:
    """Run a kernel on arrays and give back its results."""
    return Simulation(kernel)(*arguments, **keywords)
