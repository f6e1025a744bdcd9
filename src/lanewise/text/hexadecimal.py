"""Bytes out of hex pasted from anywhere: dumps, C arrays, debuggers, logs.

Digits without ``0x`` are bytes in the order of memory, however they are grouped. A number with
``0x`` is a number: two digits a byte, up to sixteen digits a little-endian number of that width;
longer ones are bytes in order again. ``\\x47`` is a byte. Comments, offsets at the start of a line
(``00000040:``), the characters beside a dump and the declaration around a C array are passed over.
"""

from __future__ import annotations

import re
import string

from lanewise.text.diagnostics import AssemblyError, Diagnostic, Reporter, Source, Span

_MOST_ERRORS = 100
_LONGEST_NUMBER = 16
_TEXT_PROBE = 1 << 12
_HEX_DIGITS = frozenset(string.hexdigits.encode())

# What stands on either side of the bytes in a dump: an offset, and the bytes as characters.
_OFFSET = re.compile(r"[ \t]*(?:0[xX])?[0-9a-fA-F]+(?:[ \t]*<[^>\n]*>)?:(?=[ \t]|$)")
_DUMP_OFFSET = re.compile(r"[ \t]*[0-9a-fA-F]{6,16}(?=[ \t]|$)")
_GUTTER = re.compile(r"[ \t]*\|[^\n]*\|[ \t]*$")
_DUMP_GUTTER = re.compile(r"(?<=[0-9a-fA-F])[ ]{2,}[^\n]*$")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_DECLARED = re.compile(r"[A-Za-z_]\w*\s*(?:\[[^\]]*\]\s*)*=\s*$")
_ELEMENT = re.compile(r"\bu?(?:int)?(8|16|32|64)(?:_t)?\b")
_CALL = re.compile(r"\b(?:bytes|bytearray)\.fromhex\b|\bunhexlify\b")
_TOKEN = re.compile(
    r"0[xX]([0-9a-fA-F_']+)[uUlL]{0,3}(?![0-9A-Za-z])|\\x([0-9a-fA-F]{2})"
    r"|[bBxX](?=[\"'])|([0-9a-fA-F]+)(?![0-9A-Za-z])|([0-9A-Za-z]+)|[^0-9A-Za-z]"
)


def looks_like_hex(data: bytes) -> bool:
    """Whether the beginning of some input is text that can only be meant as hex.

    Words as they are stored hold control characters; hex pasted from anywhere is printable.
    """
    probe = data[:_TEXT_PROBE]
    if not any(byte in _HEX_DIGITS for byte in probe):
        return False
    return all(0x20 <= byte < 0x7F or byte in b"\t\r\n\f\v" for byte in probe)


def parse_hex(text: str, *, name: str = "<hex>", groups_are_numbers: bool = False) -> bytes:
    """The bytes that a piece of text spells; AssemblyError for what is no hex.

    With ``groups_are_numbers`` digits without ``0x`` are little-endian numbers too, as documents
    of machines with 32-bit words write them.
    """
    source = Source(text, name)
    reporter = Reporter(source)
    blanked = _without_surroundings(text)
    begin, end, width = _array_body(blanked)
    found = bytearray()
    for match in _TOKEN.finditer(blanked, begin, end):
        number, escaped, digits, stray = match.groups()
        span = Span(match.start(), match.end())
        if number is not None:
            number = re.sub(r"[_']", "", number)
            found += _number(number, width)
        elif escaped is not None:
            found.append(int(escaped, 16))
        elif digits is not None:
            if len(digits) % 2:
                reporter.report(
                    span,
                    f"{len(digits)} hex digits make no whole number of bytes",
                    expected="two digits a byte; a lone byte below 16 has a leading 0",
                )
            elif groups_are_numbers:
                found += _number(digits, width)
            else:
                found += bytes.fromhex(digits)
        elif stray is not None:
            reporter.report(span, f"{_shortened(stray)!r} is no hex", expected="hex digits")
        elif not match.group().isspace() and ord(match.group()) > 0x7F:
            reporter.report(span, f"the character {match.group()!r} means nothing here")
        if len(reporter.found) >= _MOST_ERRORS:
            # Whatever this is, it is not hex; more lines about it would not help.
            reporter.found.append(
                Diagnostic(Span(match.end(), match.end()), "too many errors, the rest is not read")
            )
            break
    if reporter.found:
        raise AssemblyError(source, reporter.found)
    return bytes(found)


def _number(digits: str, width: int) -> bytes:
    """A number of at least ``width`` bytes, or a long run of bytes in order."""
    if len(digits) > _LONGEST_NUMBER:
        return bytes.fromhex(digits.rjust(len(digits) + len(digits) % 2, "0"))
    return int(digits, 16).to_bytes(max(width, (len(digits) + 1) // 2), "little")


def _without_surroundings(text: str) -> str:
    """The text with comments, offsets and gutters blanked, so that places stay the same."""
    text = _CALL.sub(_blank, _COMMENT.sub(_blank, text))
    lines = text.split("\n")
    is_dump = any(_GUTTER.search(line) for line in lines)
    return "\n".join(_without_margins(line, is_dump) for line in lines)


def _without_margins(line: str, is_dump: bool) -> str:
    shown = _GUTTER.sub(_blank, line)
    offset = _OFFSET.match(shown)
    if offset is not None:
        # In a dump like xxd's, two blanks part the bytes from their characters.
        shown = _DUMP_GUTTER.sub(_blank, shown)
    elif is_dump:
        offset = _DUMP_OFFSET.match(shown)
    return shown if offset is None else " " * offset.end() + shown[offset.end() :]


def _array_body(text: str) -> tuple[int, int, int]:
    """Where the elements of a C array are and how wide they are: all of the text if there is none.

    The width is in bytes, 1 where the declaration does not say.
    """
    begin, end = text.find("{"), text.rfind("}")
    head = text[:begin] if begin >= 0 else ""
    if not _DECLARED.search(head):
        return 0, len(text), 1
    kind = _ELEMENT.search(head)
    return begin + 1, end if end > begin else len(text), int(kind[1]) // 8 if kind else 1


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match.group())


def _shortened(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"
