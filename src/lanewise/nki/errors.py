"""What can go wrong in a kernel, said in one form, and the warnings a run can give.

The form is ``<function> <operand> <quantity> <value> <must be | exceeds> <limit> [rule <id>]
(<file>:<line>)``; the place is the kernel's own line.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import NoReturn

from lanewise.errors import LanewiseError, nearest_names
from lanewise.model import BrokenRule, IllegalInstruction

_PACKAGE = "lanewise.nki"


@dataclass(frozen=True, slots=True)
class Location:
    """A line of a kernel."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{os.path.basename(self.file)}:{self.line}"


def caller() -> Location:
    """The innermost line that is not the front end's own."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        name = frame.f_globals.get("__name__", "")
        if name != _PACKAGE and not name.startswith("lanewise.nki."):
            break
        frame = frame.f_back
    return Location(frame.f_code.co_filename, frame.f_lineno)


class NkiError(LanewiseError):
    """A request the front end cannot carry out."""


class KernelError(NkiError, RuntimeError):
    """A call that only makes sense inside a kernel, or a kernel that returns what none may."""


class MemoryCapacityError(NkiError, MemoryError):
    """A tile that does not fit in what is left of its memory."""


class FrontEndBug(NkiError, RuntimeError):
    """A word that the front end built and the machine refused: not the kernel's fault."""


class NkiValidationError(IllegalInstruction, AssertionError):
    """A call that the device would refuse, found before any word is built.

    ``function``, ``operand``, ``value`` and ``limit`` say what is wrong, ``rule`` is the id of the
    legality rule behind it (None where it is the interface's own), ``location`` the kernel's line,
    ``step`` the number of steps that had run, ``operands`` the call's tiles in words. Nothing has
    changed.
    """

    def __init__(
        self,
        message: str,
        *,
        function: str = "",
        operand: str = "",
        value: str = "",
        limit: str = "",
        rule: str | None = None,
        location: Location | None = None,
        step: int | None = None,
        operands: tuple[str, ...] = (),
    ) -> None:
        broken = (
            (BrokenRule(rule=rule, field=operand, ranges=(), value=value, allowed=limit),)
            if rule is not None
            else ()
        )
        super().__init__(function, broken)
        ruled = f" [rule {rule}]" if rule is not None else ""
        placed = f" ({location})" if location is not None else ""
        self.message = message
        self.args = (f"{message}{ruled}{placed}",)
        self.function = function
        self.operand = operand
        self.value = value
        self.limit = limit
        self.location = location
        self.step = step
        self.operands = operands
        self._rule = rule

    @property
    def rule(self) -> str | None:  # type: ignore[override]
        """The id of the broken legality rule, or None."""
        return self._rule

    def __str__(self) -> str:
        return str(self.args[0])

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self.message, dict(self.__dict__))


def _rebuild(message: str, state: dict[str, object]) -> NkiValidationError:
    return NkiValidationError(
        message,
        function=str(state["function"]),
        operand=str(state["operand"]),
        value=str(state["value"]),
        limit=str(state["limit"]),
        rule=state["_rule"],  # type: ignore[arg-type]
        location=state["location"],  # type: ignore[arg-type]
        step=state["step"],  # type: ignore[arg-type]
        operands=state["operands"],  # type: ignore[arg-type]
    )


class NkiWarning(UserWarning):
    """Something that ran but deserves a look."""

    kind = "note"


class UninitialisedRead(NkiWarning):
    """A step read memory that nothing had written."""

    kind = "uninitialised"


class ThroughFP32(NkiWarning):
    """Values changed because they passed through FP32."""

    kind = "through-fp32"


class AccumulatorWarning(NkiWarning):
    """The running maximum may not hold what the kernel expects."""

    kind = "accumulator"


class MemoryWarning(NkiWarning):
    """An allocation that the documents advise against."""

    kind = "memory"


class TargetWarning(NkiWarning):
    """A function that is known to be troublesome on the target."""

    kind = "target"


class TieNote(NkiWarning):
    """Equal values among the top eight: their order depends on the tie rule."""

    kind = "tie"


def not_offered(
    module: str, name: str, offered: tuple[str, ...], *, exists: bool = False
) -> NotImplementedError:
    """The error for a function of the vendor's module that is not offered here.

    Near misses are named unless the name is known to exist there.
    """
    near = () if exists else nearest_names(name, offered)
    hint = f" (did you mean {' or '.join(near)}?)" if near else ""
    return NotImplementedError(
        f"{module}.{name} is not offered by lanewise{hint}; offered: {', '.join(sorted(offered))}"
    )


class NotOffered:
    """Stands for a function of the vendor's module that is not offered; calling it is the error.

    Kernels with branches that never run here load that way.
    """

    def __init__(
        self, module: str, name: str, offered: tuple[str, ...], *, exists: bool = False
    ) -> None:
        self._told = (module, name, offered)
        self._exists = exists

    def __call__(self, *arguments: object, **keywords: object) -> NoReturn:
        raise not_offered(*self._told, exists=self._exists)

    def __getattr__(self, name: str) -> NotOffered:
        if name.startswith("__"):
            raise AttributeError(name)
        module, own, offered = self._told
        return NotOffered(module, f"{own}.{name}", offered, exists=True)

    def __repr__(self) -> str:
        return f"<{self._told[0]}.{self._told[1]}, not offered by lanewise>"
