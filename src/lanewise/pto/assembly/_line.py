"""One line of assembly text, read token by token, with errors that point into it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple, NoReturn

from lanewise.errors import LanewiseError, UsageError, unknown_name
from lanewise.pto.registers import Hand, TileName, gpr_index
from lanewise.pto.state import pe_mode_of
from lanewise.pto.words import LARGEST_SIZE_CODE

_TOKEN = re.compile(r"\s*(->|[{}<>,=]|[A-Za-z_.][\w.]*(?:#\w+)?|[0-9]\w*)")
COMMENT_STARTS = (";", "#")


class AssemblyError(LanewiseError):
    """Text that is no program: where (name, line and column from 1) and why."""

    def __init__(self, message: str, name: str, line: int, column: int, text: str) -> None:
        caret = " " * (column - 1) + "^"
        super().__init__(f"{name}:{line}:{column}: {message}\n  {text}\n  {caret}")
        self.name, self.line, self.column, self.text = name, line, column, text


class Token(NamedTuple):
    """A piece of a line and the column (from 0) where it starts."""

    text: str
    column: int


class Line:
    """One line of text, read token by token."""

    def __init__(self, text: str, name: str, position: int) -> None:
        self.text, self.name, self.line_number = text, name, position
        self.tokens: list[Token] = []
        self._next = 0
        code = text.split("//", maxsplit=1)[0].rstrip()
        position = 0
        while position < len(code):
            match = _TOKEN.match(code, position)
            if match is None:
                position += len(code[position:]) - len(code[position:].lstrip())
                self.fail(f"unexpected character {code[position]!r}", position)
            self.tokens.append(Token(match[1], match.start(1)))
            position = match.end()

    def fail(self, message: str, column: int | None = None) -> NoReturn:
        """Refuse the line, by default at the next token."""
        if column is None:
            column = self.tokens[self._next].column if self._left else len(self.text)
        raise AssemblyError(message, self.name, self.line_number, column + 1, self.text)

    @property
    def _left(self) -> bool:
        return self._next < len(self.tokens)

    @property
    def peek(self) -> str:
        """The next token, empty at the end of the line."""
        return self.tokens[self._next].text if self._left else ""

    def take(self, what: str) -> str:
        """The next token; ``what`` is named when there is none."""
        if not self._left:
            self.fail(f"expected {what}, the line ends")
        self._next += 1
        return self.tokens[self._next - 1].text

    def accept(self, text: str) -> bool:
        """Take the next token if it is this one."""
        if self.peek != text:
            return False
        self._next += 1
        return True

    def expect(self, text: str) -> None:
        """Take this token or refuse the line."""
        if not self.accept(text):
            self.fail(f"expected {text!r}" + (f", not {self.peek!r}" if self.peek else ""))

    def end(self) -> None:
        """Refuse anything left on the line."""
        if self._left:
            self.fail(f"unexpected {self.peek!r} at the end of the command")

    def number(self, what: str, limit: int) -> int:
        """A number below ``limit``."""
        text = self.take(what)
        try:
            value = int(text, 0)
        except ValueError:
            self.back(f"expected {what} (a number), not {text!r}")
        if not 0 <= value < limit:
            self.back(f"{what} must be 0..{limit - 1}, not {text}")
        return value

    def back(self, message: str) -> NoReturn:
        """Refuse the line at the token taken last."""
        self._next -= 1
        self.fail(message)

    def code(self, what: str, codes: Mapping[str, int], limit: int) -> int:
        """A code by name, in any case, or by number."""
        if self.peek[:1].isdigit():
            return self.number(what, limit)
        text = self.take(what)
        folded = {known.casefold(): code for known, code in codes.items()}
        if text.casefold() not in folded:
            self.back(str(unknown_name(what, text, codes)))
        return folded[text.casefold()]

    def register(self) -> int:
        """A register by name."""
        text = self.take("a register")
        try:
            return gpr_index(text)
        except UsageError as error:
            self.back(str(error))

    def tile(self) -> TileName:
        """A tile by name."""
        try:
            return TileName.parse(self.take("a tile"))
        except UsageError as error:
            self.back(str(error))

    def pemode(self) -> int:
        """The PEMode of a written mask, after ``mask``."""
        self.expect("=")
        try:
            return pe_mode_of(self.take("a PE mask"))
        except UsageError as error:
            self.back(str(error))

    def destination(self) -> tuple[int, int]:
        """Hand and SizeCode of ``T<128B>``."""
        hand = self.code("hand", {h.name: int(h) for h in Hand}, len(Hand))
        self.expect("<")
        text = self.take("a size")
        match = re.fullmatch(r"(\d+)(K?)B?", text, re.IGNORECASE)
        size = int(match[1]) * (1024 if match[2] else 1) if match else 0
        code = next((k for k in range(1, LARGEST_SIZE_CODE + 1) if 64 << k == size), None)
        if code is None:
            self.back(f"a size must be 128B, 256B, 512B, 1K … 64K, not {text!r}")
        self.expect(">")
        return hand, code
