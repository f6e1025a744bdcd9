"""Kernels: functions decorated with ``jit``, alone or on a grid of programs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lanewise.errors import UsageError
from lanewise.nki.context import active

if TYPE_CHECKING:
    from lanewise.nki.launch.simulation import Simulation


class Kernel:
    """A kernel. Called by a program it runs here; called by another kernel it is inlined.

    ``kernel[2]`` is the kernel on a grid of two programs. ``simulation`` is the record of the last
    call, None before.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        platform_target: str | None = None,
        grid: tuple[int, ...] = (1,),
    ) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.platform_target = platform_target
        self.grid = grid
        self.simulation: Simulation | None = None

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        if active() is not None:
            return self.function(*arguments, **keywords)
        from lanewise.nki.launch.simulation import Simulation

        if self.simulation is None:
            self.simulation = Simulation(self)
        return self.simulation(*arguments, **keywords)

    def __getitem__(self, grid: Any) -> Kernel:
        sizes = grid if isinstance(grid, tuple) else (grid,)
        try:
            whole = tuple(int(size) for size in sizes)
        except (TypeError, ValueError):
            whole = ()
        if not whole or any(size < 1 for size in whole):
            raise UsageError(f"a grid is one or more positive numbers of programs, not {grid!r}")
        return Kernel(self.function, platform_target=self.platform_target, grid=whole)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        on = "" if self.grid == (1,) else f" on a grid of {self.grid}"
        return f"<kernel {getattr(self.function, '__name__', self.function)}{on}>"


def jit(
    function: Callable[..., Any] | None = None,
    mode: str = "auto",
    platform_target: str | None = None,
    **options: Any,
) -> Any:
    """Make a function a kernel that runs here when it is called.

    Every ``mode`` means that, and the vendor's other options are accepted without effect.
    ``platform_target`` is the target, unless the caller names one.
    """
    if function is None:
        return functools.partial(jit, mode=mode, platform_target=platform_target, **options)
    if isinstance(function, Kernel):
        return function
    from lanewise.nki.beta1.rewriting import with_mask_operators

    return Kernel(with_mask_operators(function), platform_target=platform_target)
