"""What a sweep has done so far, as a document that a later run can go on from."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

import msgspec

from lanewise.check.sweep import SHOWN, Difference, Pair, Tally
from lanewise.errors import UsageError

SCHEMA: Final = "lanewise.sweep/1"

Span = tuple[int, int]


class Record(msgspec.Struct, forbid_unknown_fields=True):
    """What is known about a pair: spans of codes that were compared, and what they gave.

    ``done`` is ascending, and no two spans touch.
    """

    done: list[Span] = []
    differences: int = 0
    first: list[Difference] = []

    def missing(self, start: int, stop: int, chunk: int) -> list[Span]:
        """What of ``start`` to ``stop`` is not done, in spans of at most ``chunk`` codes."""
        gaps = []
        for low, high in [*self.done, (stop, stop)]:
            if start < min(low, stop):
                gaps.append((start, min(low, stop)))
            start = max(start, high)
        return [part for gap in gaps for part in _parts(gap, chunk)]

    def add(self, span: Span, tally: Tally) -> None:
        """Note that ``span``, which was missing, gave ``tally``."""
        merged: list[Span] = []
        for low, high in sorted([*self.done, span]):
            if merged and low == merged[-1][1]:
                merged[-1] = (merged[-1][0], high)
            else:
                merged.append((low, high))
        self.done = merged
        self.differences += tally.differences
        self.first = sorted(self.first + tally.first, key=lambda found: found.code)[:SHOWN]

    @property
    def codes(self) -> int:
        """How many codes are done."""
        return sum(high - low for low, high in self.done)


class State(msgspec.Struct, forbid_unknown_fields=True):
    """Records by pair and engine, of one version of lanewise."""

    schema: str
    version: str
    pairs: dict[str, Record] = {}

    def record(self, pair: Pair, engine: str) -> Record:
        """The record of a pair with an engine; a new one where there is none."""
        return self.pairs.setdefault(f"{pair.name}, {engine}", Record())

    def text(self) -> bytes:
        """The state as JSON."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1) + b"\n"


def new_state(version: str) -> State:
    """A state in which nothing is done."""
    return State(SCHEMA, version)


def read_state(name: str, content: bytes, version: str) -> State:
    """The state in ``content``; UsageError, with the file's ``name``, for anything else."""
    try:
        state = msgspec.json.decode(content, type=State)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _not_a_state(name, str(error)) from error
    if state.schema != SCHEMA:
        raise _not_a_state(name, f"its schema is {state.schema!r}, not {SCHEMA!r}")
    if state.version != version:
        raise UsageError(
            f"{name}: was written by lanewise {state.version}, this is {version}; what other "
            "code gave says nothing about this one, name a new file"
        )
    for pair, record in state.pairs.items():
        flat = [code for span in record.done for code in span]
        ascending = all(low < high for low, high in pairwise(flat))
        if not ascending or (flat and not 0 <= flat[0] <= flat[-1] <= 1 << 32):
            raise _not_a_state(name, f"the spans of {pair!r} are not ascending")
        if not len(record.first) <= record.differences <= record.codes:
            raise _not_a_state(name, f"the differences of {pair!r} do not add up")
    return state


def _not_a_state(name: str, why: str) -> UsageError:
    return UsageError(f"{name}: is no state of a sweep ({why}); name another file, or remove it")


def _parts(span: Span, chunk: int) -> Iterator[Span]:
    for start in range(*span, chunk):
        yield start, min(start + chunk, span[1])
