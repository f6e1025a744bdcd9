"""Annotated hex of PTO words: every field of a 16- or 32-bit word, and why one is refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lanewise.pto.faults import PtoFault
from lanewise.pto.words import FORMS, BundleWord, decode_word
from lanewise.text.pto import line_of
from lanewise.words import Coded, Fixed, Leaf

_HEADER = ("bits", "field", "value", "meaning")
PLAIN, TITLE, WRONG = "", "bold", "red"


@dataclass(frozen=True, slots=True)
class WordDump:
    """One word: its form (None when the bits are of none), its fields, why it is refused."""

    offset: int
    data: bytes
    text: str
    form: str | None
    leaves: tuple[Leaf, ...]
    reserved: tuple[str, ...]
    fault: str | None
    rule: str | None

    def document(self) -> dict[str, Any]:
        """The dump as plain values."""
        return {
            "offset": self.offset,
            "hex": self.data.hex(),
            "form": self.form,
            "text": self.text,
            "fault": self.fault,
            "rule": self.rule,
            "fields": [
                {
                    "field": leaf.path,
                    "bits": [[run.low, run.high] for run in leaf.ranges],
                    "value": leaf.raw,
                    "meaning": _meaning(leaf),
                    "is_reserved_code": leaf.path in self.reserved,
                }
                for leaf in self.leaves
            ],
        }


def dump_word(data: bytes, offset: int = 0) -> WordDump:
    """The dump of one word, or of the bytes that are left at the end."""
    text = line_of(data).partition("  // ")[0]
    fault: PtoFault | None = None
    try:
        word: BundleWord | None = decode_word(data)
    except PtoFault as error:
        fault, word = error, _form_of(data)
    leaves = () if word is None else tuple(word.leaves())
    strict = () if word is None else word.strict
    return WordDump(
        offset=offset,
        data=data,
        text=text,
        form=None if word is None else word.form,
        leaves=leaves,
        reserved=tuple(
            leaf.path
            for leaf in leaves
            if leaf.path in strict
            and isinstance(leaf.field, Coded)
            and leaf.raw not in leaf.field.codes
        ),
        fault=None if fault is None else str(fault.args[0]),
        rule=None if fault is None else fault.rule,
    )


def _form_of(data: bytes) -> BundleWord | None:
    """The word whose fixed bits fit, although some code in it is refused."""
    raw, width = int.from_bytes(data, "little"), 8 * len(data)
    for form in FORMS:
        if form.width == width and form.matches(raw):
            return form.from_bits(raw)
    return None


def _meaning(leaf: Leaf) -> str:
    if leaf.meaning is not None:
        return leaf.meaning
    return "" if isinstance(leaf.field, Fixed) else leaf.field.doc


def rendered(dump: WordDump) -> Iterator[tuple[str, str]]:
    """The lines of a dump, each with its style."""
    style = TITLE if dump.fault is None else WRONG
    yield f"{dump.offset:#06x}  {dump.data[::-1].hex()}  {dump.text}", style
    if dump.fault is not None:
        yield f"  ^ {dump.rule}: {dump.fault}", WRONG
    rows = [
        (
            ", ".join(
                str(run.low) if run.width == 1 else f"{run.high}..{run.low}" for run in leaf.ranges
            ),
            leaf.path,
            f"{leaf.raw:#x}",
            "reserved code" if leaf.path in dump.reserved else _meaning(leaf),
        )
        for leaf in dump.leaves
        if not isinstance(leaf.field, Fixed)
    ]
    widths = [max(map(len, column)) for column in zip(_HEADER, *rows, strict=True)]
    for row, leaf in zip(rows, _shown(dump), strict=True):
        is_wrong = leaf.path in dump.reserved
        cells = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield ("! " if is_wrong else "  ") + cells.rstrip(), WRONG if is_wrong else PLAIN


def _shown(dump: WordDump) -> Iterator[Leaf]:
    return (leaf for leaf in dump.leaves if not isinstance(leaf.field, Fixed))
