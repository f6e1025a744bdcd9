"""Topics: a thing with a name, some text, and tables about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from lanewise.cli.support.output import Output


@dataclass(frozen=True, slots=True)
class Section:
    """A table under a title. Rows have one cell for each name of the header."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    def document(self) -> dict[str, Any]:
        """The table as plain values, each row keyed by the header."""
        return {
            "title": self.title,
            "rows": [dict(zip(self.header, row, strict=True)) for row in self.rows],
        }


@dataclass(frozen=True, slots=True)
class Topic:
    """One thing explained: its kind and name, a line, facts, text, and tables."""

    kind: str
    name: str
    summary: str
    facts: Mapping[str, str]
    text: str = ""
    sections: Sequence[Section] = ()

    def document(self) -> dict[str, Any]:
        """The topic as plain values."""
        return {
            "kind": self.kind,
            "name": self.name,
            "summary": self.summary,
            "facts": dict(self.facts),
            "text": self.text,
            "sections": [section.document() for section in self.sections],
        }

    def show(self, out: Output) -> None:
        """The topic for people."""
        out.line(f"{self.kind} {self.name}: {self.summary}", "bold")
        if self.facts:
            out.table(list(self.facts.items()), indent=2)
        if self.text:
            out.line()
            for line in self.text.splitlines():
                out.line(f"  {line}".rstrip())
        for section in self.sections:
            out.line()
            out.line(f"  {section.title}", "bold")
            out.table(section.rows, section.header, indent=4)


class Source(Protocol):
    """Answers for some kinds of things."""

    def names(self) -> Iterable[str]:
        """Every name that can be asked for."""

    def find(self, thing: str) -> list[Topic]:
        """The topics called ``thing``; empty when there are none."""


def folded(name: str) -> str:
    """A name as it is compared: case, hyphens, underscores and spaces do not matter."""
    return "".join(name.split()).casefold().replace("-", "").replace("_", "")
