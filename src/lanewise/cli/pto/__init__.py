"""What the verbs do for the PTO machine."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from lanewise.errors import unknown_name

MACHINES: Final = ("auto", "neuron", "pto")
#: Files that are programs of the PTO machine by their name.
SUFFIXES: Final = (".pto",)

MachineOption = Annotated[
    str,
    typer.Option(
        "--machine",
        metavar="NAME",
        help="neuron or pto; auto takes pto for files that end in .pto, else neuron.",
    ),
]


def is_pto(machine: str, *paths: str) -> bool:
    """Whether a program is for the PTO machine, by name or by the kind of its files."""
    folded = machine.casefold()
    if folded not in MACHINES:
        raise unknown_name("machine", machine, MACHINES)
    if folded == "auto":
        return bool(paths) and all(path.endswith(SUFFIXES) for path in paths)
    return folded == "pto"
