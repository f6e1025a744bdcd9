"""Launching kernels: ``jit``, ``simulate``, grids, arguments."""

from lanewise.nki.launch.kernel import Kernel, jit
from lanewise.nki.launch.simulation import Simulation, simulate

__all__ = ["Kernel", "Simulation", "jit", "simulate"]
