"""The profile of the PTO machine: every point its documents leave open, decided by name.

Semantics read a profile's values, or the tables this module derives from them, and never branch
on anything else. Source: PTO open points; for the ``hif4_*`` fields PTO HiF4 quantisation.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar

from lanewise.errors import UsageError, unknown_name
from lanewise.pto.datatypes import EIGHT_BIT_TYPES, DataType
from lanewise.pto.faults import FaultKind


def _choice(default: Any, choices: Mapping[Any, str], why: str) -> Any:
    """A profile field: its default, what each value means, and why the point is open."""
    return field(default=default, metadata={"choices": choices, "why": why})


@dataclass(frozen=True, slots=True)
class PtoProfile:
    """One decision for each open point. Values outside the listed choices are refused."""

    null_gpr_padding: int = _choice(
        0,
        {0: "Null leaves zeros in a predicate GPR", 1: "Null leaves ones"},
        "Null bits of a GPR are unspecified; the specification's reference profile takes 0",
    )
    tgpr2t_min: str = _choice(
        "reject",
        {"reject": "PadValue Min is a TileLegality fault", "zero": "Min pads with 00"},
        "accepted by the first published version of TGPR2T, rejected by later ones",
    )
    gpr_8bit_types: str = _choice(
        "all",
        {"all": "U8, S8, E4M3 and E5M2", "U8": "U8 alone"},
        "prose names U8, the published tests cover all four",
    )
    omitted_lb2: str = _choice(
        "valid_col",
        {"valid_col": "LB2 left out means ValidCol", "one": "it means 1"},
        "prose against a later reset of every dimension to 1; give LB2 to be safe",
    )
    check_scalar_encoding: bool = _choice(
        True,
        {
            True: "a compare refuses a TF32 or HF32 scalar with low bits set",
            False: "the scalar is taken as it is",
        },
        "stated for elements, silent for the scalar",
    )
    pe_fault_order: str = _choice(
        "legality_then_allocation",
        {
            "legality_then_allocation": "legality of every PE, lowest number first, "
            "then allocation of every PE"
        },
        "the order of the preflight over several PEs is silent",
    )
    mixed_zero_mask: str = _choice(
        "TileLegality",
        {"TileLegality": "a zero and a non-zero PEMode in one bundle are refused"},
        "one mask a bundle is stated, its fault for the zero mask is not",
    )
    unterminated: str = _choice(
        "BundleControl",
        {
            "BundleControl": "a program that ends inside a bundle faults",
            "ignore": "the open bundle is dropped",
        },
        "the end of a program is no architectural event",
    )
    unknown_selector: str = _choice(
        "IllegalInstruction",
        {"IllegalInstruction": "also for assigned operations that are not modelled"},
        "an unassigned and an unmodelled operation look alike from here",
    )
    queue_overflow: str = _choice(
        "drop_oldest",
        {"drop_oldest": "the 17th tile of a hand drops the oldest and frees its storage"},
        "the depth of 16 is stated, the 17th push is not",
    )
    select_capacity_fault: str = _choice(
        "TileAllocation",
        {
            "TileAllocation": "a select result over its capacity is an allocation fault",
            "TileLegality": "it is a legality fault",
        },
        "only a PredicateCell's size is pinned as legality and a packed one's as allocation",
    )
    mask_padding_checked: bool = _choice(
        False,
        {
            False: "padding bytes of a PredicateCell source are ignored",
            True: "they too must be defined and 00 or 01",
        },
        "stated for valid bytes only",
    )
    tgpr2t_capacity: str = _choice(
        "at_least_128",
        {"at_least_128": "any SizeCode", "exactly_128": "SizeCode 1 alone"},
        "prose mentions a wrong size and gives no example",
    )
    flags_scope: str = _choice(
        "pe",
        {
            "pe": "every PE has its own sticky flags",
            "core": "a flag raised on one PE is raised on all",
        },
        "where the flags live is silent",
    )
    byte_order: str = _choice(
        "little",
        {"little": "the low half of a lane is its first slot"},
        "byte order inside a cell is pinned by the request alone, not by published tests",
    )
    hif4_threshold: str = _choice(
        "at_least",
        {
            "at_least": "a scale bit is set from its threshold on (>=)",
            "above": "only above it (>)",
        },
        "follows one public script; the paper's own text is not confirmed",
    )
    hif4_lane_ties: str = _choice(
        "even",
        {"even": "a lane half way between codes takes the even one", "away": "the larger one"},
        "public scripts differ",
    )

    DEFAULT: ClassVar[PtoProfile]

    def __post_init__(self) -> None:
        for spec in dataclasses.fields(self):
            value = getattr(self, spec.name)
            choices = spec.metadata["choices"]
            if type(value) is not type(spec.default) or value not in choices:
                raise unknown_name(
                    f"value for PTO profile field {spec.name!r}", value, map(str, choices)
                )

    def with_(self, **overrides: Any) -> PtoProfile:
        """This profile with some fields changed; UsageError names near misses."""
        known = [spec.name for spec in dataclasses.fields(self)]
        for name in overrides:
            if name not in known:
                raise unknown_name("PTO profile field", name, known)
        return dataclasses.replace(self, **overrides)

    @classmethod
    def parse_override(cls, name: str, text: str) -> Any:
        """The value of field ``name`` that ``text`` spells."""
        for spec in dataclasses.fields(cls):
            if spec.name == name:
                for value in spec.metadata["choices"]:
                    if str(value).casefold() == text.casefold():
                        return value
                raise UsageError(
                    f"PTO profile field {name!r} must be one of "
                    f"{', '.join(map(str, spec.metadata['choices']))}, not {text!r}"
                )
        raise unknown_name(
            "PTO profile field", name, [spec.name for spec in dataclasses.fields(cls)]
        )

    @property
    def description(self) -> str:
        """``default``, and what differs from it: ``default with tgpr2t_min=zero``."""
        changed = [
            f"{spec.name}={getattr(self, spec.name)}"
            for spec in dataclasses.fields(self)
            if getattr(self, spec.name) != spec.default
        ]
        return "default" + (f" with {', '.join(changed)}" if changed else "")

    @property
    def gpr_types(self) -> frozenset[DataType]:
        """The 8-bit operation types that may use the GPR carrier."""
        return _GPR_TYPES[self.gpr_8bit_types]

    @property
    def select_overflow(self) -> FaultKind:
        """The fault of a select result that its destination cannot hold."""
        return FaultKind(self.select_capacity_fault)


PtoProfile.DEFAULT = PtoProfile()

_GPR_TYPES = MappingProxyType({"all": EIGHT_BIT_TYPES, "U8": frozenset({DataType.U8})})


@dataclass(frozen=True, slots=True)
class OpenPoint:
    """One row of the profile table: a field, its value in force, its choices, why it is open."""

    name: str
    value: object
    default: object
    choices: Mapping[Any, str]
    why: str


def open_points(profile: PtoProfile = PtoProfile.DEFAULT) -> tuple[OpenPoint, ...]:
    """Every open point with what ``profile`` decides, in the order of the class body."""
    return tuple(
        OpenPoint(
            spec.name,
            getattr(profile, spec.name),
            spec.default,
            spec.metadata["choices"],
            spec.metadata["why"],
        )
        for spec in dataclasses.fields(profile)
    )
