"""The run that is under way, if any.

Tiles and functions find it here instead of taking it as an argument, as kernels know no such
thing. Each thread and task has its own.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING

from lanewise.nki.errors import KernelError, caller

if TYPE_CHECKING:
    from lanewise.nki.run import Run

current: ContextVar[Run | None] = ContextVar("lanewise_nki_run", default=None)


def active() -> Run | None:
    """The run under way, or None."""
    return current.get()


def running(what: str) -> Run:
    """The run under way; KernelError naming ``what`` when there is none."""
    run = current.get()
    if run is None:
        raise KernelError(
            f"{what} works inside a kernel only; run the kernel with "
            f"nki.simulate(kernel)(…) or call it decorated with nki.jit ({caller()})"
        )
    return run


def flush() -> None:
    """Have a step that was put off run now."""
    run = current.get()
    if run is not None:
        run.flush()
