"""What a kernel is compiled for: a product, its generation, and what the interface allows on it."""

from __future__ import annotations

import enum
import os
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from lanewise.errors import unknown_name
from lanewise.neuron import Generation, find_generation

_ENVIRONMENT = "NEURON_PLATFORM_TARGET_OVERRIDE"
_DEFAULT = "trn3"


class nc_version(enum.IntEnum):
    """NeuronCore version of a target."""

    gen2 = 2
    gen3 = 3
    gen4 = 4


@dataclass(frozen=True, slots=True)
class Target:
    """A product as a compilation target.

    ``sbuf_bytes`` is what a partition has, ``usable_bytes`` what the vendor documents as usable;
    ``has_e4m3fn`` whether the form of E4M3 without infinity exists there.
    """

    name: str
    version: nc_version
    generation: Generation
    usable_bytes: int
    has_e4m3fn: bool

    @property
    def sbuf_bytes(self) -> int:
        """SBUF bytes a partition."""
        return self.generation.sbuf_bytes

    @property
    def core(self) -> str:
        """The core's marketing name."""
        return f"NeuronCore-v{int(self.version)}"

    def __str__(self) -> str:
        return self.name


_TRN1 = Target("trn1", nc_version.gen2, find_generation("sunda"), 196608, has_e4m3fn=False)
_INF2 = Target("inf2", nc_version.gen2, find_generation("sunda"), 196608, has_e4m3fn=False)
_TRN2 = Target("trn2", nc_version.gen3, find_generation("cayman"), 196608, has_e4m3fn=False)
_TRN3 = Target("trn3", nc_version.gen4, find_generation("mariana"), 262144, has_e4m3fn=True)

#: Targets by every name they go by.
TARGETS: Mapping[str, Target] = MappingProxyType(
    {
        "trn1": _TRN1,
        "inf2": _INF2,
        "gen2": _TRN1,
        "sunda": _TRN1,
        "trn2": _TRN2,
        "gen3": _TRN2,
        "cayman": _TRN2,
        "trn3": _TRN3,
        "gen4": _TRN3,
        "mariana": _TRN3,
    }
)


def find_target(name: str | Target | None = None) -> Target:
    """The target of that name; without one, the environment's, else trn3.

    NEURON_PLATFORM_TARGET_OVERRIDE names the environment's. UsageError for an unknown name.
    """
    if isinstance(name, Target):
        return name
    if name is None:
        name = os.environ.get(_ENVIRONMENT) or _DEFAULT
    found = TARGETS.get(str(name).casefold())
    if found is None:
        raise unknown_name("target", name, TARGETS)
    return found
