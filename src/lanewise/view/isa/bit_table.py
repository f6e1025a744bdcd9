"""A word as a table of its bits: eight bytes a row, the lowest bit at the left.

The same cells make a table in characters and a drawing in SVG.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from lanewise.neuron.instruction import Instruction
from lanewise.neuron.operands import Immediate, Operand
from lanewise.words import Array, Part, Word

_ROW_BITS = 64


@dataclass(frozen=True, slots=True)
class Cell:
    """A run of bits in one row: its label, its field's path and kind, and its place in the row."""

    path: str
    label: str
    kind: str
    row: int
    low: int
    width: int


def cells(instruction: type[Instruction]) -> list[Cell]:
    """The cells of all rows, in the order of their bits. A field over two rows has two cells."""
    found = []
    for path, label, kind, low, width in sorted(_runs(instruction, "", 0), key=lambda run: run[3]):
        begin, end = low, low + width
        while begin < end:
            row = begin // _ROW_BITS
            stop = min(end, (row + 1) * _ROW_BITS)
            found.append(Cell(path, label, kind, row, begin % _ROW_BITS, stop - begin))
            begin = stop
    return found


def _runs(
    word: type[Word], prefix: str, shift: int, kind: str = ""
) -> Iterator[tuple[str, str, str, int, int]]:
    """(path, label, kind, low, width); addresses stay whole, patterns give one run an element."""
    for name, field in word.fields.items():
        path = prefix + name
        if isinstance(field, Operand):
            access = "write" if field.is_destination else "read"
            yield from _runs(field.word_type, f"{path}.", field.ranges[0].low, access)
        elif isinstance(field, Part) and not kind:
            yield from _runs(field.word_type, f"{path}.", shift + field.ranges[0].low)
        elif isinstance(field, Array):
            for index in range(field.count):
                run = field.element_range(index).shifted(shift)
                yield f"{path}[{index}]", f"{path}[{index}]", kind, run.low, run.width
        else:
            what = kind or ("immediate" if isinstance(field, Immediate) else field.kind)
            label = path if kind else name
            for run in field.ranges:
                yield path, label, what, run.low + shift, run.width


# Characters.

_CHARACTERS_A_BYTE = 10


def text_table(instruction: type[Instruction]) -> list[str]:
    """The table in characters; labels that do not fit are cut."""
    head = "".join(f"+{byte}".ljust(_CHARACTERS_A_BYTE) for byte in range(_ROW_BITS // 8))
    lines = [" " * 6 + head.rstrip()]
    rows: dict[int, list[Cell]] = {}
    for cell in cells(instruction):
        rows.setdefault(cell.row, []).append(cell)
    rule = " " * 5 + "+" + "-" * (_CHARACTERS_A_BYTE * _ROW_BITS // 8 - 1) + "+"
    for row, members in rows.items():
        lines.append(rule)
        text = f"0x{row * _ROW_BITS // 8:02x} |"
        for cell in members:
            begin = cell.low * _CHARACTERS_A_BYTE // 8
            end = (cell.low + cell.width) * _CHARACTERS_A_BYTE // 8
            text += _fitted(cell.label, end - begin - 1) + "|"
        lines.append(text)
    lines.append(rule)
    return lines


def _fitted(label: str, width: int) -> str:
    if len(label) > width:
        label = label[: width - 1] + "…" if width > 1 else label[:width]
    return label.ljust(width)


# SVG.

_BYTE_WIDTH = 92
_ROW_HEIGHT = 34
_MARGIN = 44
_HEAD = 26
_COLOURS = {
    "code": "#dbeafe",
    "unsigned": "#e0f2fe",
    "signed": "#e0f2fe",
    "array": "#e0f2fe",
    "fp32": "#ede9fe",
    "immediate": "#ede9fe",
    "read": "#dcfce7",
    "write": "#fef3c7",
    "reserved": "#e5e7eb",
    "inert": "#f3f4f6",
    "fixed": "#fee2e2",
}


def svg_table(instruction: type[Instruction]) -> str:
    """The table as a drawing by itself; every cell tells its field when pointed at."""
    found = cells(instruction)
    height = _HEAD + _ROW_HEIGHT * (found[-1].row + 1) + 2
    width = _MARGIN + _BYTE_WIDTH * _ROW_BITS // 8 + 2
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="ui-monospace, monospace" font-size="12">',
        f"<title>{escape(instruction.name)}: the bits of the word</title>",
    ]
    for byte in range(_ROW_BITS // 8):
        place = _MARGIN + _BYTE_WIDTH * byte + 4
        parts.append(f'<text x="{place}" y="{_HEAD - 8}" fill="#6b7280">+{byte}</text>')
    for row in range(found[-1].row + 1):
        place = _HEAD + _ROW_HEIGHT * row + _ROW_HEIGHT // 2 + 4
        parts.append(f'<text x="2" y="{place}" fill="#6b7280">0x{8 * row:02x}</text>')
    parts += map(_svg_cell, found)
    return "\n".join([*parts, "</svg>", ""])


def _svg_cell(cell: Cell) -> str:
    x = _MARGIN + cell.low * _BYTE_WIDTH / 8
    y = _HEAD + _ROW_HEIGHT * cell.row
    width = cell.width * _BYTE_WIDTH / 8
    first = _ROW_BITS * cell.row + cell.low
    shown = _fitted(cell.label, max(1, int(width / 7.4))).rstrip()
    return (
        f"<g><title>{escape(cell.path)}: bits {first + cell.width - 1}..{first}, "
        f'{escape(cell.kind)}</title><rect x="{x:g}" y="{y}" width="{width:g}" '
        f'height="{_ROW_HEIGHT}" fill="{_COLOURS.get(cell.kind, "#ffffff")}" stroke="#374151"/>'
        f'<text x="{x + 4:g}" y="{y + _ROW_HEIGHT // 2 + 4}" fill="#111827">'
        f"{escape(shown)}</text></g>"
    )
