"""The root of every error lanewise raises on purpose.

Errors that need to know more (a word's fields, a machine's rules) live beside what they
describe and derive from :class:`LanewiseError`, so ``except LanewiseError`` catches them all.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class LanewiseError(Exception):
    """Anything lanewise refuses, with a message for the person who asked."""


class UsageError(LanewiseError, ValueError):
    """A request that makes no sense whatever the state of the machine: a bad argument."""


def nearest_names(name: object, known: Iterable[str], *, most: int = 3) -> tuple[str, ...]:
    """The names in ``known`` that ``name`` was probably meant to be, best first."""
    by_folded = {candidate.casefold(): candidate for candidate in known}
    close = difflib.get_close_matches(str(name).casefold(), by_folded, n=most, cutoff=0.55)
    return tuple(by_folded[folded] for folded in close)


def unknown_name(kind: str, name: object, known: Iterable[str]) -> UsageError:
    """The error for a name that is not among ``known``: what came, near misses, all choices.

    ``kind`` says what was being named ("generation", "profile field", …).
    """
    choices = tuple(known)
    near = nearest_names(name, choices)
    hint = f"; did you mean {' or '.join(repr(n) for n in near)}?" if near else ""
    shown = ", ".join(choices) if len(choices) <= 40 else f"one of {len(choices)} names"
    return UsageError(f"unknown {kind} {str(name)!r}{hint} (expected {shown})")
