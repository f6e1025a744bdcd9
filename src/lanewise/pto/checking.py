"""Checking programs without running them: as far as their words alone can tell.

Source: PTO bundle schemas and checks (steps 0 to 4, without state).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lanewise.pto.core import BundleStep, Cursor, steps_of_words
from lanewise.pto.faults import PtoFault
from lanewise.pto.profile import PtoProfile
from lanewise.pto.words import ProgramWord


@dataclass(frozen=True, slots=True)
class BundleFinding:
    """A bundle and what its words alone are refused for; ``name`` None when it never closed."""

    index: int
    name: str | None
    fault: PtoFault | None


def check_program(
    program: Sequence[ProgramWord] | bytes, profile: PtoProfile = PtoProfile.DEFAULT
) -> Iterator[BundleFinding]:
    """A finding for each bundle, up to a word that cannot be read as part of one.

    A bundle with a zero PE mask is legal whatever else it says.
    """
    cursor = Cursor()
    try:
        for step in steps_of_words(program, profile, cursor):
            yield BundleFinding(cursor.index, step.name, _static_fault(step, profile, cursor.index))
    except PtoFault as fault:
        yield BundleFinding(cursor.index, None, fault.located(index=cursor.index))


def _static_fault(step: BundleStep, profile: PtoProfile, index: int) -> PtoFault | None:
    if not step.pes:
        return None
    try:
        step.decide(profile)
    except PtoFault as fault:
        return fault.located(index=index)
    return None
