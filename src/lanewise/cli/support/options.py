"""Options that several verbs have, and what their texts mean."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Final

import typer

from lanewise.cli.support.files import STDOUT, check_target
from lanewise.errors import UsageError, unknown_name

if TYPE_CHECKING:
    from lanewise.neuron import Profile

GenerationOption = Annotated[
    str,
    typer.Option(
        "--generation",
        "-g",
        metavar="NAME",
        help="sunda, cayman, mariana or maverick, or a product such as trn2.",
    ),
]
ProfileOption = Annotated[
    str,
    typer.Option("--profile", "-p", metavar="NAME", help="Decides open points: isa or hardware."),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="FIELD=VALUE", help="Change one field of the profile."),
]
EngineOption = Annotated[
    str,
    typer.Option("--engine", metavar="NAME", help="Kernels: auto, native or reference."),
]
SurfaceOption = Annotated[
    str | None,
    typer.Option(
        "--surface",
        metavar="NAME",
        help="Send each word to this engine of the NeuronCore (pool, act or dve) if its "
        "instruction can run there. Without it, and for all other words, the instruction's own "
        "first engine is taken, which 'lanewise explain' lists. A few rules differ from engine "
        "to engine, such as pool reading no PSUM; results never do.",
    ),
]
ThreadsOption = Annotated[
    str | None,
    typer.Option(
        "--threads",
        metavar="N",
        help="Let instructions of 262,144 elements and more share their lanes between N threads "
        "[LANEWISE_THREADS, else 1]. Results are the same.",
    ),
]
# Numbers are texts to the option parser, so that a mistake is told in lanewise's own words.
JobsOption = Annotated[str, typer.Option("--jobs", "-j", metavar="N", help="Processes.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Write JSON for machines.")]


def _check_output(path: str | None) -> str | None:
    """Refuses a file that cannot be written while there is no work to lose."""
    if path is not None and path != STDOUT:
        check_target(path)
    return path


OutputOption = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the result to a file.",
        callback=_check_output,
    ),
]

SURFACES: Final = ("pool", "act", "dve")
_NUMBER: Final = re.compile(r"0[xX][0-9a-fA-F]{1,16}|[0-9]{1,20}", re.ASCII)
_LONGEST: Final = 200


def parse_number(text: str, what: str) -> int:
    """A whole number, decimal or 0x; UsageError says that it was meant to be ``what``."""
    if _NUMBER.fullmatch(text) is None:
        raise UsageError(f"expected a number, decimal or 0x, for {what}, not {shortened(text)!r}")
    return int(text, 16) if text[:2].casefold() == "0x" else int(text)


def parse_count(text: str, option: str) -> int:
    """A whole number of at least 1, the value of ``option``."""
    number = parse_number(text.strip(), option)
    if number < 1:
        raise UsageError(f"{option} must be at least 1, not {number}")
    return number


def shortened(text: str) -> str:
    """``text`` as messages quote it."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def build_profile(name: str, overrides: Sequence[str] | None) -> Profile:
    """The profile called ``name`` with ``field=value`` texts applied."""
    from lanewise.neuron import Profile

    profile = Profile.named(shortened(name))
    for text in overrides or ():
        field, equals, value = shortened(text).partition("=")
        if not equals:
            raise UsageError(f"--set {text!r}: expected FIELD=VALUE, such as float_to_int=nearest")
        field, value = field.strip(), value.strip()
        profile = profile.with_(**{field: Profile.parse_override(field, value)})
    return profile


def check_surface(name: str | None) -> str | None:
    """The name of a NeuronCore engine in lower case, or None."""
    if name is None:
        return None
    if name.casefold() not in SURFACES:
        raise unknown_name("surface", shortened(name), SURFACES)
    return name.casefold()


def slow_kernels_reason(engine: str) -> str | None:
    """Why ``auto`` gives the NumPy kernels although nobody asked for them; None if it does not."""
    from lanewise.kernels import native_problem

    if engine != "auto" or os.environ.get("LANEWISE_ENGINE"):
        return None
    return native_problem()
