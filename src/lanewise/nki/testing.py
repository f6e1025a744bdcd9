"""What the pytest plugin does once a test asks for it; see ``lanewise.pytest_plugin``."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lanewise.errors import LanewiseError
from lanewise.neuron import Profile
from lanewise.nki.dump import dump_simulation
from lanewise.nki.errors import FrontEndBug, NkiError
from lanewise.nki.launch import Kernel, Simulation
from lanewise.nki.launch.arrays import is_array
from lanewise.nki.launch.simulation import latest
from lanewise.nki.targets import Target

#: The title of the section that a failed test's report gets.
SECTION = "lanewise-nki"
_LONGEST_NAME = 120
_PACKAGE = "lanewise.nki"


class TestedSimulation(Simulation):
    """A simulation that skips the test when an array is larger than ``most_elements``."""

    __test__ = False
    most_elements: int | None = None

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        if self.most_elements is not None:
            for array in _arrays((arguments, keywords)):
                elements = 1
                for size in array.shape:
                    elements *= int(size)
                if elements > self.most_elements:
                    pytest.skip(
                        f"an array of {elements} elements, --nki-max-elements is "
                        f"{self.most_elements}"
                    )
        return super().__call__(*arguments, **keywords)


@dataclass(slots=True)
class Simulate:
    """The fixture ``nki_simulate``: :func:`lanewise.nki.simulate` with the command line's choices.

    What a test says itself goes before them. ``last`` is the last simulation made.
    """

    target: str | None
    profile: str | None
    uninitialised: str
    trace_dir: Path | None
    most_elements: int | None
    node: str
    last: Simulation | None = None
    _traces: int = 0

    def __call__(
        self,
        kernel: Kernel | Callable[..., Any],
        target: str | Target | None = None,
        profile: str | Profile | None = None,
        trace: str | os.PathLike[str] | None = None,
        **options: Any,
    ) -> Simulation:
        """The kernel as a function of arrays."""
        if trace is None and self.trace_dir is not None:
            trace = self.trace_dir / self._trace_name()
        options.setdefault("uninitialised", self.uninitialised)
        made = TestedSimulation(
            kernel, target or self.target, profile or self.profile, trace, **options
        )
        made.most_elements = self.most_elements
        self.last = made
        return made

    def _trace_name(self) -> str:
        """A file name from the test's id; numbered from a test's second simulation on."""
        self._traces += 1
        name = re.sub(r"[^\w.=,-]+", "_", self.node).strip("_")[-_LONGEST_NAME:]
        return f"{name}.json" if self._traces == 1 else f"{name}-{self._traces}.json"


def hide_own_frames() -> None:
    """Have pytest show a refusal at the kernel's line, not inside the front end.

    A mistake of the front end itself is shown in full.
    """
    for name, module in list(sys.modules.items()):
        if name == _PACKAGE or name.startswith(f"{_PACKAGE}."):
            module.__dict__.setdefault("__tracebackhide__", _is_said)


def _is_said(caught: pytest.ExceptionInfo[BaseException]) -> bool:
    """Whether the error's message says all."""
    return isinstance(caught.value, LanewiseError) and not isinstance(caught.value, FrontEndBug)


def failure_text(simulation: Simulation | None, error: BaseException, since: float) -> str | None:
    """The section for a failed test: about its fixture's simulation or any other it has called."""
    recent = latest()
    if recent is not None and recent.started >= since:
        simulation = recent
    if simulation is None or not simulation.started:
        return None
    try:
        return dump_simulation(simulation, _cause(error))
    except NkiError as problem:
        return f"no report: {problem}"


def _cause(error: BaseException) -> BaseException:
    """The refusal behind an error, if there is one."""
    seen: BaseException | None = error
    while seen is not None:
        if type(seen).__module__.startswith("lanewise."):
            return seen
        seen = seen.__cause__ or seen.__context__
    return error


def _arrays(value: Any) -> Iterator[Any]:
    """Every array in arguments, at any depth."""
    if is_array(value):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _arrays(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _arrays(item)
