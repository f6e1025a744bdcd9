"""The two published revisions of the predicate instructions, and where they differ.

Source: PTO revisions.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from lanewise.errors import unknown_name


class Revision(enum.StrEnum):
    """``frozen`` is the published instruction set, ``proposal`` the request that preceded it."""

    FROZEN = "frozen"
    PROPOSAL = "proposal"

    @property
    def gpr_width(self) -> int:
        """Bits of a predicate GPR."""
        return 64 if self is Revision.FROZEN else 32

    @classmethod
    def named(cls, name: str | Revision) -> Revision:
        """The revision of this name; UsageError otherwise."""
        folded = str(name).casefold()
        if folded in {str(member) for member in cls}:
            return cls(folded)
        raise unknown_name("PTO revision", name, [str(member) for member in cls])


@dataclass(frozen=True, slots=True)
class Difference:
    """One topic on which the revisions differ."""

    topic: str
    proposal: str
    frozen: str


#: The differences, as ``explain pto revisions`` shows them.
DIFFERENCES = (
    Difference(
        "width of a predicate GPR",
        "32 bits, a register holds one plane",
        "64 bits, a register holds two or four planes",
    ),
    Difference(
        "results of TCMP",
        "as many GPRs as there are planes",
        "one GPR at most; Sat chooses the half of an 8-bit tile",
    ),
    Difference("mask of TSEL and TSELS", "one GPR a plane", "one GPR, two of them for 8-bit types"),
    Difference(
        "tiles of several cells",
        "planes cell by cell, then slot by slot",
        "two cells of 32-bit M32 data only; anything wider is refused",
    ),
    Difference(
        "packed and PredicateCell masks",
        "gone, GPRs take their place",
        "kept; a bundle uses either a tile or a GPR",
    ),
    Difference(
        "GPRs to a tile",
        "P2R: eight GPRs, CUBE_M32, the other bytes undefined",
        "TGPR2T: four GPRs, CUBE_M32 and CUBE_M16, the other bytes 00 or ff",
    ),
    Difference("encoding", "none", "bundles of 32-bit and 16-bit words"),
    Difference(
        "Null padding in a GPR",
        "unspecified",
        "unspecified; the profile's null_gpr_padding decides (0)",
    ),
)
