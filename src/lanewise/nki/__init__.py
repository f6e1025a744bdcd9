"""Run NKI kernels without the device or the vendor's toolchain, bit for bit.

NKI-*shaped*: names, argument order, shapes and documented behaviour are the vendor's, the
execution is ours. The modelled functions of ``isa`` become instruction words and run on
``lanewise.neuron``; the neighbours that kernels need are plainly apart (``lanewise.nki.outside``).
The default profile is ``hardware``: what the vendor states about the device.

Two worlds, chosen by the module a kernel imports: ``nki`` is the current interface (results go to
``dst``), ``neuronxcc.nki`` the older one (functions return tiles). :func:`install` makes both
names resolve to this package.
"""

from __future__ import annotations

from lanewise.nki import isa, language, reference, typing
from lanewise.nki.compare import Comparison, compare, compare_indices
from lanewise.nki.dtypes import NkiDtype as dtype
from lanewise.nki.errors import (
    AccumulatorWarning,
    FrontEndBug,
    KernelError,
    MemoryCapacityError,
    MemoryWarning,
    NkiError,
    NkiValidationError,
    NkiWarning,
    TargetWarning,
    ThroughFP32,
    UninitialisedRead,
)
from lanewise.nki.install import install, installed, uninstall
from lanewise.nki.launch import Kernel, Simulation, jit, simulate
from lanewise.nki.report import Report
from lanewise.nki.steps import Step
from lanewise.nki.targets import TARGETS, Target, find_target

__all__ = [
    "TARGETS",
    "AccumulatorWarning",
    "Comparison",
    "FrontEndBug",
    "Kernel",
    "KernelError",
    "MemoryCapacityError",
    "MemoryWarning",
    "NkiError",
    "NkiValidationError",
    "NkiWarning",
    "Report",
    "Simulation",
    "Step",
    "Target",
    "TargetWarning",
    "ThroughFP32",
    "UninitialisedRead",
    "compare",
    "compare_indices",
    "dtype",
    "find_target",
    "install",
    "installed",
    "isa",
    "jit",
    "language",
    "reference",
    "simulate",
    "typing",
    "uninstall",
]
