"""Annotated hex: every field of a word with its bytes, its value, what it means and what is wrong.

A dump is values first (:class:`WordDump`), which :func:`rendered` turns into lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from lanewise.model import BrokenRule, MalformedWord
from lanewise.neuron.codes import IMMEDIATE_SOURCES
from lanewise.neuron.dispatch import AnyInstruction, check, decode
from lanewise.neuron.generation import Generation
from lanewise.neuron.instruction import WORD_BYTES, Instruction
from lanewise.neuron.operands import Immediate
from lanewise.neuron.profile import Profile
from lanewise.neuron.words import Address
from lanewise.text.neuron import Printer
from lanewise.text.neuron.scalars import scalar_text
from lanewise.words import BitRange, Leaf, Reserved

_BYTES_A_LINE = 8
_PLAIN_BYTES_A_LINE = 16
_HEADER = ("offset", "bytes", "bits", "field", "value", "meaning")

#: Styles of rendered lines, for terminals that have colours.
PLAIN, TITLE, WRONG = "", "bold", "red"


@dataclass(frozen=True, slots=True)
class FieldRow:
    """One innermost field of a word.

    ``first_byte`` is where its bytes start in the word, ``bits`` its bits within those bytes;
    ``must_be_zero`` tells reserved bits that are set; ``broken`` are the rules that point here.
    """

    path: str
    first_byte: int
    data: bytes
    bits: tuple[BitRange, ...]
    value: str
    meaning: str
    is_default: bool
    must_be_zero: bool
    broken: tuple[BrokenRule, ...] = ()

    @property
    def is_wrong(self) -> bool:
        """Whether the row has to stand out."""
        return self.must_be_zero or bool(self.broken)


@dataclass(frozen=True, slots=True)
class WordDump:
    """One word, or bytes that are none.

    ``reason`` says why bytes are no word (None for a word); ``text`` is its assembly.
    """

    index: int
    offset: int
    data: bytes
    title: str
    reason: str | None = None
    text: str | None = None
    broken: tuple[BrokenRule, ...] = ()
    rows: tuple[FieldRow, ...] = field(default=())

    def document(self) -> dict[str, Any]:
        """The dump as plain values."""
        return {
            "index": self.index,
            "offset": self.offset,
            "hex": self.data.hex(),
            "title": self.title,
            "reason": self.reason,
            "text": self.text,
            "broken": [rule.rule for rule in self.broken],
            "fields": [
                {
                    "field": row.path,
                    "byte": row.first_byte,
                    "hex": row.data.hex(),
                    "bits": [[run.low, run.high] for run in row.bits],
                    "value": row.value,
                    "meaning": row.meaning,
                    "must_be_zero": row.must_be_zero,
                    "broken": [
                        {"rule": rule.rule, "value": rule.value, "allowed": rule.allowed}
                        for rule in row.broken
                    ],
                }
                for row in self.rows
            ],
        }


class Dumper:
    """Dumps words of one generation under one profile."""

    def __init__(
        self, generation: Generation, profile: Profile = Profile.ISA, engine: str | None = None
    ) -> None:
        self._generation = generation
        self._profile = profile
        self._engine = engine
        self._printer = Printer(generation)

    def words(self, pieces: Iterable[bytes]) -> Iterator[WordDump]:
        """Dumps of a stream that comes in pieces of whole words, the last one excepted."""
        offset = 0
        for piece in pieces:
            for start in range(0, len(piece), WORD_BYTES):
                data = piece[start : start + WORD_BYTES]
                yield self.word(data, offset)
                offset += len(data)

    def word(self, data: bytes, offset: int = 0) -> WordDump:
        """The dump of the bytes at ``offset`` of a stream."""
        index = offset // WORD_BYTES
        if len(data) < WORD_BYTES:
            reason = f"{len(data)} of the {WORD_BYTES} bytes of a word"
            return WordDump(index, offset, data, "end of input", reason)
        try:
            word = decode(data, self._generation)
        except MalformedWord as error:
            return WordDump(index, offset, data, "no word", str(error))
        broken: tuple[BrokenRule, ...] = ()
        title = f"{word.name} ({word.struct})" if word.struct else word.name
        if isinstance(word, Instruction):
            engine = self._engine if self._engine in word.engines else None
            broken = check(word, self._generation, self._profile, engine)
        else:
            title += ", not modelled"
        return WordDump(
            index,
            offset,
            data,
            title,
            text=self._printer.line(data) if isinstance(word, Instruction) else None,
            broken=broken,
            rows=tuple(self._rows(word, data, broken)),
        )

    def _rows(
        self, word: AnyInstruction, data: bytes, broken: tuple[BrokenRule, ...]
    ) -> Iterator[FieldRow]:
        usual = {leaf.path: leaf.raw for leaf in type(word)().leaves()}
        usual["header.opcode"] = data[0]
        leaves = list(word.leaves())
        owners = [_owner(rule, leaves) for rule in broken]
        for position, leaf in enumerate(leaves):
            first = min(run.low for run in leaf.ranges) // 8
            last = max(run.high for run in leaf.ranges) // 8
            yield FieldRow(
                path=leaf.path,
                first_byte=first,
                data=data[first : last + 1],
                bits=tuple(BitRange(run.low - 8 * first, run.width) for run in leaf.ranges),
                value=_value(leaf),
                meaning=self._meaning(word, leaf),
                is_default=leaf.raw == usual.get(leaf.path),
                must_be_zero=isinstance(leaf.field, Reserved) and leaf.raw != 0,
                broken=tuple(
                    rule for rule, owner in zip(broken, owners, strict=True) if owner == position
                ),
            )

    def _meaning(self, word: AnyInstruction, leaf: Leaf) -> str:
        if leaf.meaning is not None:
            return leaf.meaning
        if isinstance(leaf.field, Immediate) and isinstance(word, Instruction):
            return self._scalar(word, leaf.field, leaf.raw)
        if leaf.path.endswith(".address"):
            address = Address.from_bits(int.from_bytes(self._around(word, leaf), "little"))
            if address.in_register:
                return f"register {address.register_number}"
            place = self._generation.locate(address.address)
            return f"outside the memory of {self._generation}" if place is None else str(place)
        # What all elements of an array have in common is said once.
        is_repeated = leaf.path.endswith("]") and not leaf.path.endswith("[0]")
        return "" if is_repeated else leaf.field.doc

    @staticmethod
    def _around(word: AnyInstruction, leaf: Leaf) -> bytes:
        """The four bytes of the address word that an address field is a part of."""
        first = leaf.ranges[0].low // 8
        return word.to_bytes()[first : first + 4]

    @staticmethod
    def _scalar(word: Instruction, scalar: Immediate, raw: int) -> str:
        dtype = word.dtype_of(scalar)
        match IMMEDIATE_SOURCES.get(getattr(word, scalar.source)):
            case "inline":
                return f"the scalar {scalar_text(raw, dtype)}"
            case "pointer":
                return "the address of the scalar"
            case "register":
                return "the register with the scalar's address"
        return scalar.doc


def _owner(rule: BrokenRule, leaves: list[Leaf]) -> int:
    """The row a broken rule belongs to: its field, or the first of the fields in it."""
    inside = (f"{rule.field}.", f"{rule.field}[")
    for position, leaf in enumerate(leaves):
        if leaf.path == rule.field or leaf.path.startswith(inside):
            return position
    return len(leaves) - 1


def _value(leaf: Leaf) -> str:
    width = sum(run.width for run in leaf.ranges)
    if leaf.field.is_filler and width > 32:
        return "0" if leaf.raw == 0 else "not zero"
    if leaf.field.kind in ("code", "fp32", "immediate", "reserved", "inert", "fixed"):
        return f"{leaf.raw:#x}"
    if leaf.path.endswith(".address"):
        return f"{leaf.raw:#x}"
    return str(leaf.value)


# Lines for people.


def rendered(dump: WordDump, *, brief: bool = False) -> Iterator[tuple[str, str]]:
    """The lines of a dump, each with its style; ``brief`` leaves out fields at their default."""
    verdict = ""
    if dump.broken:
        count = len(dump.broken)
        verdict = f", breaks {count} rule{'s' * (count > 1)}"
    elif dump.reason is not None:
        verdict = f": {dump.reason}"
    style = WRONG if verdict else TITLE
    yield f"{dump.offset:#06x}  word {dump.index}: {dump.title}{verdict}", style
    if dump.text is not None:
        yield f"  {dump.text}", PLAIN
    if dump.reason is not None:
        yield from _plain_bytes(dump)
        return
    rows = [row for row in dump.rows if row.is_wrong or not (brief and row.is_default)]
    cells = [(_cells(row, dump.offset), row) for row in rows]
    widths = [
        max([len(name), *(len(first[column]) for (first, *_), _ in cells)])
        for column, name in enumerate(_HEADER)
    ]
    yield "  " + _joined(_HEADER, widths), PLAIN
    for (first, *rest), row in cells:
        mark = "! " if row.is_wrong else "  "
        row_style = WRONG if row.is_wrong else PLAIN
        yield mark + _joined(first, widths), row_style
        for more in rest:
            yield mark + _joined(more, widths), row_style
        for rule in row.broken:
            hint = f" ({rule.hint})" if rule.hint else ""
            indent = " " * (sum(widths[:3]) + 8)
            yield f"{indent}^ {rule.rule}: {rule.value}, must be {rule.allowed}{hint}", WRONG


def _cells(row: FieldRow, offset: int) -> list[tuple[str, ...]]:
    """The columns of a row, one tuple for every eight of its bytes."""
    lines: list[tuple[str, ...]] = []
    for start in range(0, len(row.data), _BYTES_A_LINE):
        place = f"{offset + row.first_byte + start:#06x}"
        content = row.data[start : start + _BYTES_A_LINE].hex(" ")
        if start:
            lines.append((place, content, "", "", "", ""))
        else:
            bits = ", ".join(
                str(run.low) if run.width == 1 else f"{run.high}..{run.low}" for run in row.bits
            )
            lines.append((place, content, bits, row.path, row.value, row.meaning))
    return lines


def _joined(cells: Iterable[str], widths: list[int]) -> str:
    padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
    return "  ".join(padded).rstrip()


def _plain_bytes(dump: WordDump) -> Iterator[tuple[str, str]]:
    for start in range(0, len(dump.data), _PLAIN_BYTES_A_LINE):
        piece = dump.data[start : start + _PLAIN_BYTES_A_LINE]
        shown = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in piece)
        width = 3 * _PLAIN_BYTES_A_LINE - 1
        yield f"  {dump.offset + start:#06x}  {piece.hex(' '):{width}}  {shown}", PLAIN
