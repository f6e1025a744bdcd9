"""The root of every error lanewise raises on purpose.

Errors that need to know more (a word's fields, a machine's rules) live beside what they
describe and derive from :class:`LanewiseError`, so ``except LanewiseError`` catches them all.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable


class LanewiseError(Exception):
    """Anything lanewise refuses, with a message for the person who asked."""


class UsageError(LanewiseError, ValueError):
    """A request that makes no sense whatever the state of the machine: a bad argument."""


def shown(value: object, most: int = 80) -> str:
    """``value`` as text for a message: cut when long, and safe for numbers too long to print."""
    try:
        text = repr(value)
    except ValueError:
        # Python refuses to print integers of thousands of digits.
        return "a number too long to print"
    return text if len(text) <= most else f"{text[: most - 1]}…"


def whole_number(name: str, value: object) -> int:
    """``value`` as a plain int; UsageError for anything but a whole number.

    Fixed-width integers are widened here, before arithmetic could wrap them silently.
    """
    index: Callable[[], int] | None = getattr(value, "__index__", None)
    if index is None or isinstance(value, bool):
        raise UsageError(f"{name} must be a whole number, not {shown(value)}")
    return int(index())


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
    near = nearest_names(name, choices) if isinstance(name, str) else ()
    hint = f"; did you mean {' or '.join(repr(n) for n in near)}?" if near else ""
    expected = ", ".join(choices) if len(choices) <= 40 else f"one of {len(choices)} names"
    given = repr(str(name)) if isinstance(name, str) else shown(name)
    return UsageError(f"unknown {kind} {given}{hint} (expected {expected})")
