"""Profiles: every point the source documents leave open, decided by name.

Semantics and rules read a profile and never branch on anything else. ``Profile.ISA`` follows the
functional model of the instruction documents, ``Profile.HARDWARE`` what the vendor states about
the device; :meth:`Profile.with_` overrides single fields.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar

from lanewise.errors import UsageError, unknown_name
from lanewise.formats import ConversionPolicy


def _choice(default: Any, choices: Mapping[Any, str], why: str) -> Any:
    """A profile field: its default, what each value means, and why the point is open."""
    return field(default=default, metadata={"choices": choices, "why": why})


_MANTISSA_BITS = MappingProxyType(
    {
        bits: {13: "1-8-13, called FP22", 10: "1-8-10, like tfloat32"}.get(bits, f"1-8-{bits}")
        for bits in range(1, 23)
    }
)


@dataclass(frozen=True, slots=True)
class Profile:
    """One decision for each open point. Values outside the listed choices are refused."""

    float_to_int: str = _choice(
        "truncate",
        {
            "truncate": "toward zero, then saturate",
            "nearest": "to nearest, ties to even, then saturate",
        },
        "the ISA text leans on an array library's cast; vendor release notes (2.32) say nearest",
    )
    float_overflow: str = _choice(
        "saturate",
        {
            "saturate": "a finite value past the largest finite one becomes that one",
            "infinity": "it becomes infinity (the NaN of a format without infinity)",
        },
        "the ISA text suggests a clamp; vendor text shows -FLT_MAX arriving as -inf",
    )
    nan_to_int: str = _choice("zero", {"zero": "NaN becomes 0"}, "documented nowhere")
    fp8_exp4: str = _choice(
        "ieee",
        {
            "ieee": "exponent 15 is infinity and NaN, largest 240",
            "fn": "no infinity, NaN 0x7f and 0xff, largest 448",
        },
        "both forms are described; the vendor gives fn to the third device generation",
    )
    fp32r_mantissa_bits: int = _choice(
        13, _MANTISSA_BITS, "how the output-only rounded FP32 rounds is documented nowhere"
    )
    select_reduce: str = _choice(
        "merge",
        {
            "merge": "elements with a false predicate keep dst; the maximum is over the true ones",
            "select": "elements with a false predicate get imm0; the maximum is over all",
        },
        "the documents disagree",
    )
    range_select_operand: str = _choice(
        "index",
        {
            "index": "base + position is compared with the bounds",
            "element": "the element itself is compared with the bounds",
        },
        "two readings; the limit on base only makes sense for an index",
    )
    nonzero_lanes: str = _choice(
        "all",
        {"all": "every active channel", "every16": "lanes 0, 16, …, 112 only"},
        "the documents disagree",
    )
    nonzero_nan: str = _choice(
        "skip",
        {"skip": "NaN is not counted", "count": "NaN differs from 0 and is counted"},
        "the documents disagree; -0.0 is zero either way",
    )
    find_miss: str = _choice(
        "ones",
        {"ones": "all ones of the output width"},
        "the header only promises a value of at least 32768; the vendor says all ones",
    )
    partition_window: str = _choice(
        "fits",
        {
            "fits": "start partition + channels <= 128",
            "quadrant": "also: start 0, 32, 64 or 96; 0 or 64 for more than 32 channels; "
            "0 for more than 64",
        },
        "the ISA documents name the rule without its body",
    )
    accumulator_reset: str = _choice(
        "-inf", {"-inf": "a reset accumulator holds -inf"}, "vendor statement"
    )
    idle_accumulator: str = _choice(
        "keep",
        {"keep": "an idle accumulator command leaves it alone; continuing later is warned about"},
        "the vendor says an idle command may disturb it",
    )

    ISA: ClassVar[Profile]
    HARDWARE: ClassVar[Profile]

    def __post_init__(self) -> None:
        for spec in dataclasses.fields(self):
            value = getattr(self, spec.name)
            choices = spec.metadata["choices"]
            if type(value) is not type(spec.default) or value not in choices:
                if spec.name == "fp32r_mantissa_bits":
                    raise UsageError(
                        f"profile field 'fp32r_mantissa_bits' must be 1..22, not {value!r}"
                    )
                raise unknown_name(f"value for profile field {spec.name!r}", value, choices)

    def with_(self, /, **overrides: Any) -> Profile:
        """This profile with some fields changed; UsageError names near misses."""
        known = [spec.name for spec in dataclasses.fields(self)]
        for name in overrides:
            if name not in known:
                raise unknown_name("profile field", name, known)
        return dataclasses.replace(self, **overrides)

    @classmethod
    def named(cls, name: str | Profile) -> Profile:
        """``isa`` or ``hardware``; UsageError for anything else."""
        if isinstance(name, Profile):
            return name
        found = PROFILES.get(str(name).casefold())
        if found is None:
            raise unknown_name("profile", name, PROFILES)
        return found

    @classmethod
    def parse_override(cls, name: str, text: str) -> Any:
        """The value that ``text`` gives for field ``name`` (numbers for the numeric field)."""
        for spec in dataclasses.fields(cls):
            if spec.name == name:
                return int(text) if isinstance(spec.default, int) and text.isdecimal() else text
        raise unknown_name("profile field", name, [spec.name for spec in dataclasses.fields(cls)])

    @property
    def conversion(self) -> ConversionPolicy:
        """The part of the profile that number conversion reads."""
        return _conversion(self)

    @property
    def description(self) -> str:
        """The nearest named profile and what differs from it: ``isa with fp8_exp4=fn``."""
        differences = {
            name: [
                f"{spec.name}={getattr(self, spec.name)}"
                for spec in dataclasses.fields(self)
                if getattr(self, spec.name) != getattr(profile, spec.name)
            ]
            for name, profile in PROFILES.items()
        }
        name = min(differences, key=lambda candidate: len(differences[candidate]))
        return name + (f" with {', '.join(differences[name])}" if differences[name] else "")


Profile.ISA = Profile()
Profile.HARDWARE = Profile(
    float_to_int="nearest",
    float_overflow="infinity",
    fp32r_mantissa_bits=10,
    select_reduce="select",
    nonzero_lanes="every16",
    nonzero_nan="count",
    partition_window="quadrant",
)

#: The profiles that ship by name.
PROFILES: Mapping[str, Profile] = MappingProxyType(
    {"isa": Profile.ISA, "hardware": Profile.HARDWARE}
)

_POLICIES: dict[tuple[str, str, str], ConversionPolicy] = {}


def _conversion(profile: Profile) -> ConversionPolicy:
    """One policy object for each combination, so that caches keyed by it stay small."""
    key = (profile.float_to_int, profile.float_overflow, profile.nan_to_int)
    if key not in _POLICIES:
        _POLICIES[key] = ConversionPolicy(
            float_to_int=profile.float_to_int,
            float_overflow=profile.float_overflow,
            nan_to_int=profile.nan_to_int,
        )
    return _POLICIES[key]
