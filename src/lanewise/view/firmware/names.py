"""The names that debug builds of engine images hold, and what their number tells.

An engine's image names each of its instructions in a string ``S: <Name>``. In the whole firmware
library a name occurs 16 times when the sequencers have it, 4 times for the DVE (one for each of
the images that have debug builds), 3 times for ACT, PE or POOL. Only whole names count: one name
may be the beginning of another. Source: self-name strings of the firmware library.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from lanewise.neuron.instructions import BY_OPCODE
from lanewise.neuron.roster import roster
from lanewise.view.firmware.image import Image

ENGINE_CLASSES: Mapping[int, str] = MappingProxyType(
    {16: "sequencer", 4: "DVE", 3: "ACT, PE or POOL"}
)
_LONGEST_NAME = 64
_PRINTABLE = range(0x20, 0x7F)

# Behind the name comes the end of the string. What is before it is looked at afterwards: a pattern
# that begins with plain characters is searched for much faster.
_SELF_NAME = re.compile(rb"S: ([A-Za-z][A-Za-z0-9_]{0,%d})(?=\n|\x00)" % (_LONGEST_NAME - 1))
_KERNEL_MESSAGE = re.compile(
    rb"P%%i: ([A-Za-z][A-Za-z0-9_ ]{0,%d}?) : num_chans" % (_LONGEST_NAME - 1)
)
# Names that are not the opcode's own.
_OTHER_NAMES: Mapping[str, str] = MappingProxyType(
    {"MatchReplace": "MATCH_REPLACE8", "CopyPredicatedReduce": "SELECT_REDUCE"}
)


@dataclass(frozen=True, slots=True)
class SelfName:
    """A whole name: how often it occurs, what that tells, and the opcode it stands for.

    ``engine_class`` is None where the number fits no rule, ``opcode`` None for an unknown name.
    """

    name: str
    count: int
    engine_class: str | None
    opcode: int | None
    first_offset: int

    @property
    def instruction(self) -> str | None:
        """The opcode's name."""
        return None if self.opcode is None else roster()[self.opcode].name


@dataclass(frozen=True, slots=True)
class Names:
    """All names of an image, the messages of POOL kernels, and notes about known traps."""

    self_names: tuple[SelfName, ...]
    kernel_messages: Mapping[str, int]
    notes: tuple[str, ...]


def find_names(image: Image) -> Names:
    """The names in an image."""
    counts: Counter[str] = Counter()
    first: dict[str, int] = {}
    for match in _SELF_NAME.finditer(image.data):
        begin = match.start()
        if begin and image.data[begin - 1] in _PRINTABLE:
            continue
        name = match[1].decode("ascii")
        counts[name] += 1
        first.setdefault(name, begin)
    messages = Counter(match[1].decode("ascii") for match in _KERNEL_MESSAGE.finditer(image.data))
    found = tuple(
        SelfName(name, count, ENGINE_CLASSES.get(count), _opcode_of(name), first[name])
        for name, count in sorted(counts.items())
    )
    return Names(found, MappingProxyType(dict(messages)), tuple(_notes(counts)))


def _folded(name: str) -> str:
    return name.replace("_", "").casefold()


def _opcode_of(name: str) -> int | None:
    wanted = _folded(_OTHER_NAMES.get(name, name))
    for entry in roster().values():
        if _folded(entry.name) == wanted:
            return entry.opcode
    return None


def _notes(counts: Mapping[str, int]) -> list[str]:
    """What readers of such images have stumbled over."""
    if not counts:
        return ["no self-names: a release build, an image of other kind, or no firmware at all"]
    notes = []
    for name in sorted(counts):
        longer = [other for other in sorted(counts) if other != name and other.startswith(name)]
        if longer:
            loose = counts[name] + sum(counts[other] for other in longer)
            notes.append(
                f"'S: {name}' begins {', '.join(longer)} too: {loose} hits as a substring, "
                f"{counts[name]} as a whole name"
            )
    for name, instruction in _OTHER_NAMES.items():
        if name in counts:
            notes.append(f"'S: {name}' is {instruction}")
        own = _camel(instruction)
        if own in counts:
            notes.append(f"'S: {own}' is unusual: known images call {instruction} 'S: {name}'")
    has_search = any(name in counts for name in ("MatchValueLoad", "FindIndex8", "MatchReplace"))
    if has_search and "Max8" not in counts:
        notes.append("no 'S: Max8' although its neighbours are there: known images never name MAX8")
    return notes


def _camel(name: str) -> str:
    kinds = {kind.name: kind.__name__ for kind in BY_OPCODE.values()}
    return kinds.get(name, name.title().replace("_", ""))
