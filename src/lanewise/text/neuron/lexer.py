"""Lines into tokens. Every character of a text is in a token, in a comment or blank."""

from __future__ import annotations

import enum
import re
from typing import NamedTuple

from lanewise.text.diagnostics import Refusal, Span

_LONGEST_NUMBER = 64


class Kind(enum.Enum):
    """What a token is; the values name it in messages."""

    NAME = "a name"
    DIRECTIVE = "a directive"
    NUMBER = "a number"
    BYTES = "bytes"
    SIGN = "a sign"
    END = "the end of the line"


class Token(NamedTuple):
    """A piece of a line: ``text`` as it stands there, from ``start`` to ``end`` in the source."""

    kind: Kind
    text: str
    start: int
    end: int

    @property
    def span(self) -> Span:
        """Where the token stands in the source."""
        return Span(self.start, self.end)

    @property
    def shown(self) -> str:
        """The token for messages."""
        if self.kind is Kind.END:
            return "the end of the line"
        return repr(self.text if len(self.text) <= 40 else self.text[:39] + "…")


# Letters and digits are ASCII throughout: a digit of another script is no number here. One group
# a kind, in the order of _KINDS; blanks before a token are read with it.
_TOKEN = re.compile(
    r"""[ \t\f\v]*(?:
      ([xX]"[^"]*")
    | ([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)
    | (0[xX][0-9a-zA-Z_]* | 0[bB][0-9a-zA-Z_]*
        | [0-9][0-9_]* (?:\.[0-9_]*)? (?:[eE][+-]?[0-9_]+)? [a-zA-Z_]*)
    | ((?://|\#).*)
    | (<<|>>|[\[\](),;:=@*+\-/%&|^~])
    | (\.[A-Za-z][A-Za-z0-9_]*)
    | $
    | (.))""",
    re.VERBOSE | re.DOTALL,
)
_KINDS = (None, Kind.BYTES, Kind.NAME, Kind.NUMBER, None, Kind.SIGN, Kind.DIRECTIVE, None)
_STRAY = 7
_NO_HEX = re.compile(r"[^0-9a-fA-F _\t]")
_NO_BLANKS = str.maketrans("", "", " _\t")


def tokens(line: str, start: int) -> list[Token]:
    """The tokens of a line whose first character is ``start`` in the source, with an END.

    Refusal at a character that begins nothing.
    """
    found = []
    for match in _TOKEN.finditer(line):
        group = match.lastindex
        if group is None:
            break
        begin, end = match.span(group)
        kind = _KINDS[group]
        if kind is not None:
            if kind is Kind.NUMBER and end - begin > _LONGEST_NUMBER:
                span = Span(start + begin, start + end)
                raise Refusal(span, f"a number of {end - begin} characters is too long")
            found.append(Token(kind, match[group], start + begin, start + end))
        elif group == _STRAY:
            raise _stray(match[group], Span(start + begin, start + end))
    end = start + len(line)
    found.append(Token(Kind.END, "", end, end))
    return found


def _stray(character: str, span: Span) -> Refusal:
    if character == '"':
        return Refusal(
            span,
            "a quote that is not closed, or without x before it",
            expected='bytes like x"47 10"',
        )
    shown = repr(character) if character.isprintable() else f"U+{ord(character):04X}"
    return Refusal(span, f"the character {shown} means nothing here")


def bytes_of(token: Token) -> bytes:
    """The bytes in a BYTES token: hex digits in the order of memory, spaces anywhere."""
    digits = token.text[2:-1]
    wrong = _NO_HEX.search(digits)
    if wrong is not None:
        start = token.start + 2 + wrong.start()
        raise Refusal(
            Span(start, start + 1),
            f"{wrong[0]!r} is no hex digit",
            expected="hex digits and spaces",
        )
    digits = digits.translate(_NO_BLANKS)
    if len(digits) % 2:
        raise Refusal(token.span, f"{len(digits)} hex digits make no whole number of bytes")
    return bytes.fromhex(digits)
