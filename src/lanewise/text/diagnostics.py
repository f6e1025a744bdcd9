"""Places in a text and what is wrong there: spans, caret messages, the error that carries them.

Knows no instruction set: an assembler reports through a :class:`Reporter` and goes on, so that
one run tells everything that is wrong with a file.
"""

from __future__ import annotations

import bisect
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from lanewise.errors import LanewiseError, nearest_names

_WIDEST_EXCERPT = 110
_MOST_CHOICES = 16
_MOST_SHOWN = 20


class Span(NamedTuple):
    """Characters ``start`` to ``end`` (exclusive) of a text; empty where something is missing."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """From the start of this span to the end of ``other``."""
        return Span(self.start, max(self.end, other.end))


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One trouble: where, what came, what was expected, what to try (the last two may be empty)."""

    span: Span
    message: str
    expected: str = ""
    suggestion: str = ""
    severity: str = "error"


class Source:
    """A text with a name, and the lines its positions fall on.

    Lines end in LF, CR LF or CR; nothing else ends one, so that line numbers are those of editors.
    """

    def __init__(self, text: str, name: str = "<text>") -> None:
        self.text = text
        self.name = name
        self._starts = [0]
        position = 0
        for line in text.splitlines(keepends=True):
            position += len(line)
            if line.endswith(("\n", "\r")):
                self._starts.append(position)

    @property
    def line_count(self) -> int:
        """Number of lines, the last one counted even when it is empty."""
        return len(self._starts)

    def line_span(self, line: int) -> Span:
        """The characters of line ``line`` (from 1), without its end."""
        start = self._starts[line - 1]
        end = self._starts[line] if line < len(self._starts) else len(self.text)
        while end > start and self.text[end - 1] in "\r\n":
            end -= 1
        return Span(start, end)

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column, both from 1, of a character."""
        line = bisect.bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def render(self, diagnostic: Diagnostic) -> str:
        """The diagnostic for people: place, message, the line with a caret, what to write."""
        line, column = self.position(diagnostic.span.start)
        where = f"{''.join(map(_printable, self.name))}:{line}:{column}"
        shown, caret = self._excerpt(line, diagnostic.span)
        margin = " " * len(str(line))
        suggestion = f" {diagnostic.suggestion}" if diagnostic.suggestion else ""
        rows = [
            f"{where}: {diagnostic.severity}: {diagnostic.message}",
            f" {line} | {shown}".rstrip(),
            f" {margin} | {caret}{suggestion}",
        ]
        if diagnostic.expected:
            rows.append(f" {margin} = expected {diagnostic.expected}")
        return "\n".join(rows)

    def _excerpt(self, line: int, span: Span) -> tuple[str, str]:
        """The line, cut around the span where it is long, and the carets below it."""
        whole = self.line_span(line)
        first = min(span.start, whole.end)
        last = min(max(span.end, first + 1), max(whole.end, first + 1))
        begin, end, before, after = whole.start, whole.end, "", ""
        if end - begin > _WIDEST_EXCERPT:
            begin = max(begin, min(first - _WIDEST_EXCERPT // 3, end - _WIDEST_EXCERPT))
            end = min(end, begin + _WIDEST_EXCERPT)
            before = "…" if begin > whole.start else ""
            after = "…" if end < whole.end else ""
        shown = before + "".join(map(_printable, self.text[begin:end])) + after
        lead = " " * len(before) + "".join(map(_blank, self.text[begin:first]))
        marked = self.text[first : min(last, end)]
        return shown, lead + "^" + "~" * (sum(map(_columns, marked)) - 1)


def _printable(character: str) -> str:
    if character == "\t" or character.isprintable():
        return character
    return "�"


def _columns(character: str) -> int:
    """Columns that a terminal gives to a character."""
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _blank(character: str) -> str:
    return "\t" if character == "\t" else " " * _columns(character)


class AssemblyError(LanewiseError):
    """A text that does not assemble: every trouble in it, in the order of their places.

    The message shows the first of them in full and says how many more there are.
    """

    def __init__(self, source: Source, diagnostics: Iterable[Diagnostic]) -> None:
        self.source = source
        self.diagnostics = tuple(sorted(diagnostics, key=lambda diagnostic: diagnostic.span))
        shown = [*map(source.render, self.diagnostics[:_MOST_SHOWN])]
        if len(self.diagnostics) > _MOST_SHOWN:
            shown.append(f"… and {len(self.diagnostics) - _MOST_SHOWN} more")
        super().__init__("\n".join(shown))

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuilt, (self.source.text, self.source.name, self.diagnostics)


def _rebuilt(text: str, name: str, diagnostics: tuple[Diagnostic, ...]) -> AssemblyError:
    return AssemblyError(Source(text, name), diagnostics)


class Refusal(Exception):
    """Raised inside an assembler to give up a piece of text; its reporter catches it."""

    def __init__(
        self, span: Span, message: str, *, expected: str = "", suggestion: str = ""
    ) -> None:
        super().__init__(message)
        self.diagnostic: Diagnostic | None = Diagnostic(span, message, expected, suggestion)

    @classmethod
    def silent(cls, span: Span) -> Refusal:
        """Gives up without a word, because what is wrong has been reported before."""
        refusal = cls(span, "")
        refusal.diagnostic = None
        return refusal


@dataclass(slots=True)
class Reporter:
    """Collects what is wrong with a source."""

    source: Source
    found: list[Diagnostic] = field(default_factory=list)

    def report(self, span: Span, message: str, *, expected: str = "", suggestion: str = "") -> None:
        """Note an error and go on."""
        self.found.append(Diagnostic(span, message, expected, suggestion))

    def note(self, refusal: Refusal) -> None:
        """Note what a refusal carries and go on."""
        if refusal.diagnostic is not None:
            self.found.append(refusal.diagnostic)

    def raise_if_any(self) -> None:
        """AssemblyError with everything noted, if anything was."""
        if self.found:
            raise AssemblyError(self.source, self.found)


def unknown(span: Span, kind: str, name: str, known: Iterable[str]) -> Refusal:
    """The refusal of a name that is not among ``known``, with near misses."""
    choices = tuple(known)
    return Refusal(
        span,
        f"unknown {kind} {_shortened(name)!r}",
        expected=one_of(choices),
        suggestion=did_you_mean(name, choices),
    )


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A question with the names that ``name`` was probably meant to be, or nothing."""
    near = nearest_names(_shortened(name), known, most=2)
    return f"did you mean {' or '.join(repr(candidate) for candidate in near)}?" if near else ""


def one_of(choices: Iterable[str]) -> str:
    """A list of choices for people, cut where it is long."""
    names = tuple(choices)
    if len(names) == 1:
        return names[0]
    shown = ", ".join(names[:_MOST_CHOICES])
    rest = len(names) - _MOST_CHOICES
    return f"one of {shown}" + (f" and {rest} more" if rest > 0 else "")


def _shortened(name: str) -> str:
    return name if len(name) <= 40 else name[:39] + "…"
