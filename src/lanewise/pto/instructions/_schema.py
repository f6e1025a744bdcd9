"""What a bundle must bind for an operation: forms as data, matched against a bundle.

Source: PTO bundle schemas and checks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from lanewise.pto.bundle import Bundle, Destination
from lanewise.pto.carriers import Carrier
from lanewise.pto.faults import tile_legality
from lanewise.pto.registers import TileName


@dataclass(frozen=True, slots=True)
class TileRecord:
    """One B.IOT of a form: the roles of its sources, and whether it is last or binds a result."""

    sources: tuple[str, ...]
    last: bool = True
    destination: bool = False

    def __str__(self) -> str:
        parts = (*self.sources, *(("last",) if self.last else ()))
        return f"B.IOT {', '.join(parts)}{', ->tile' if self.destination else ''}"


@dataclass(frozen=True, slots=True)
class RegisterRecord:
    """The B.IOR of a form: the roles of its sources (``wide`` for 8-bit types), its RegDst.

    Sources without a role must be zero. With ``required`` unset the record may be left out, and
    its sources are then zero.
    """

    sources: tuple[str, ...] = ()
    wide: tuple[str, ...] | None = None
    destination: bool = False
    required: bool = True

    def roles(self, width: int) -> tuple[str, ...]:
        """The roles of the sources for elements of ``width`` bits."""
        return self.wide if self.wide is not None and width == 8 else self.sources

    def __str__(self) -> str:
        text = f"B.IOR {', '.join(self.sources)}".rstrip()
        text += " ->register" if self.destination else ""
        return text if self.required else f"[{text}]"


@dataclass(frozen=True, slots=True)
class Form:
    """One way to write an operation, with the carrier that it chooses."""

    carrier: Carrier
    tiles: tuple[TileRecord, ...]
    registers: RegisterRecord | None = None

    def matches(self, bundle: Bundle) -> bool:
        """Whether the bundle has this form's records."""
        if bundle.registers:
            if self.registers is None:
                return False
        elif self.registers is not None and self.registers.required:
            return False
        return self.matches_tiles(bundle)

    def matches_tiles(self, bundle: Bundle) -> bool:
        """Whether the bundle has this form's B.IOT records, whatever its B.IOR."""
        return len(bundle.bindings) == len(self.tiles) and all(
            len(binding.sources) == len(record.sources)
            and binding.last == record.last
            and (binding.destination is not None) == record.destination
            for binding, record in zip(bundle.bindings, self.tiles, strict=True)
        )

    def __str__(self) -> str:
        records = [str(record) for record in self.tiles]
        if self.registers is not None:
            records.append(str(self.registers))
        return "; ".join(records)


@dataclass(frozen=True, slots=True)
class Bound:
    """A bundle matched to a form: names by role."""

    form: Form
    tiles: Mapping[str, TileName]
    registers: Mapping[str, int]
    destination: Destination | None
    register: int

    @property
    def carrier(self) -> Carrier:
        """Where the predicate lives."""
        return self.form.carrier


def bind(forms: tuple[Form, ...], name: str, bundle: Bundle, width: int) -> Bound:
    """The bundle's operands by role; TileLegality when no form of the operation fits.

    ``width`` is that of the operation type.
    """
    form = next((form for form in forms if form.matches(bundle)), None)
    if form is None:
        known = " or ".join(f"({form})" for form in forms)
        tile_legality("schema.form", f"{name} takes {known}; this bundle binds neither")
    tiles = {
        role: tile
        for binding, record in zip(bundle.bindings, form.tiles, strict=True)
        for role, tile in zip(record.sources, binding.sources, strict=True)
    }
    roles = form.registers.roles(width) if form.registers is not None else ()
    registers = dict.fromkeys(roles, 0)
    register = 0
    if bundle.registers:
        record = bundle.registers[0]
        registers = dict(zip(roles, record.sources, strict=False))
        if any(record.sources[len(roles) :]):
            tile_legality(
                "schema.sources",
                f"{name} reads {len(roles)} registers here ({', '.join(roles) or 'none'}); "
                "the other B.IOR sources must be zero",
            )
        register = record.dst
        if register and not (form.registers is not None and form.registers.destination):
            tile_legality("schema.regdst", f"{name} writes no register here; RegDst must be zero")
    destination = next((b.destination for b in bundle.bindings if b.destination), None)
    return Bound(form, MappingProxyType(tiles), MappingProxyType(registers), destination, register)
