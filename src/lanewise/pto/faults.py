"""The four faults of the PTO machine.

Source: PTO bundle schemas and checks.
"""

from __future__ import annotations

import enum
from typing import NoReturn

from lanewise.model import MachineFault


class FaultKind(enum.StrEnum):
    """What kind of refusal a bundle met."""

    ILLEGAL_INSTRUCTION = "IllegalInstruction"
    BUNDLE_CONTROL = "BundleControl"
    TILE_LEGALITY = "TileLegality"
    TILE_ALLOCATION = "TileAllocation"


class PtoFault(MachineFault):
    """A refused bundle. No state has changed.

    ``kind`` is the fault, ``rule`` the short stable id of the check that failed, ``index`` the
    refused bundle's position in the program and ``pe`` the processing element whose state
    refused it (both None when they do not apply).
    """

    def __init__(
        self,
        kind: FaultKind,
        rule: str,
        message: str,
        index: int | None = None,
        pe: int | None = None,
    ) -> None:
        super().__init__(str(kind), message)
        self.kind = kind
        self.rule = rule
        self.index = index
        self.pe = pe

    def located(self, index: int | None = None, pe: int | None = None) -> PtoFault:
        """The same fault with its place filled in where it was not known."""
        return PtoFault(
            self.kind,
            self.rule,
            self.args[0],
            self.index if index is None else index,
            self.pe if pe is None else pe,
        )

    def __str__(self) -> str:
        where = [] if self.index is None else [f"bundle {self.index}"]
        where += [] if self.pe is None else [f"PE{self.pe}"]
        place = f" in {', '.join(where)}" if where else ""
        return f"{self.kind}{place}: {self.args[0]} [{self.rule}]"

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.kind, self.rule, self.args[0], self.index, self.pe)


def illegal_instruction(rule: str, message: str) -> NoReturn:
    """Refuse a word that is no legal encoding."""
    raise PtoFault(FaultKind.ILLEGAL_INSTRUCTION, rule, message)


def bundle_control(rule: str, message: str) -> NoReturn:
    """Refuse a command that the bundle's structure does not allow."""
    raise PtoFault(FaultKind.BUNDLE_CONTROL, rule, message)


def tile_legality(rule: str, message: str) -> NoReturn:
    """Refuse operands, types or shapes."""
    raise PtoFault(FaultKind.TILE_LEGALITY, rule, message)


def tile_allocation(rule: str, message: str) -> NoReturn:
    """Refuse a destination that the storage cannot take."""
    raise PtoFault(FaultKind.TILE_ALLOCATION, rule, message)
