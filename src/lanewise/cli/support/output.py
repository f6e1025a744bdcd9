"""Writing: text for people, JSON for machines, to standard output or to a file."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, TextIO

from lanewise.cli.support.files import STDOUT, written_file

if TYPE_CHECKING:
    from rich.console import Console

# Controls, and what turns a line's direction round or ends it: they would move the cursor, pass
# for lines of lanewise's own, or hide what is there.
_UNSEEN: Final = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_NARROWEST, _WIDEST = 40, 1000


def printable(text: str) -> str:
    """``text`` on one line, characters that are not for the eye as escapes: \\n, \\x1b."""
    return _UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


class Output:
    """Where a verb's result goes. Colour and folding are for terminals only."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._console = _terminal_console(stream)

    def line(self, text: str = "", style: str = "") -> None:
        """One line; ``style`` is for terminals with colour."""
        text = printable(text)
        if self._console is not None and style:
            self._console.print(text, style=style, soft_wrap=True)
        else:
            print(text, file=self._stream)

    def json(self, document: Any) -> None:
        """One line of JSON."""
        # What the stream cannot hold must become an escape of JSON's, not of Python's.
        narrow = (self._stream.encoding or "").casefold().replace("-", "") != "utf8"
        print(json.dumps(document, ensure_ascii=narrow), file=self._stream)

    def table(
        self,
        rows: Iterable[Sequence[str]],
        header: Sequence[str] | None = None,
        *,
        indent: int = 0,
        right: Sequence[int] = (),
    ) -> None:
        """Aligned columns; ``right`` lists the columns that are aligned to the right."""
        body = [list(map(printable, row)) for row in rows]
        if self._console is not None:
            self._fold_table(self._console, body, header, indent, right)
            return
        lines = body if header is None else [list(header), *body]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        for line in lines:
            cells = (
                cell.rjust(width) if index in right else cell.ljust(width)
                for index, (cell, width) in enumerate(zip(line, widths, strict=True))
            )
            print((" " * indent + "  ".join(cells)).rstrip(), file=self._stream)

    @staticmethod
    def _fold_table(
        console: Console,
        body: list[list[str]],
        header: Sequence[str] | None,
        indent: int,
        right: Sequence[int],
    ) -> None:
        """The same within the width of a terminal: long cells are folded."""
        from rich.padding import Padding
        from rich.table import Table
        from rich.text import Text

        table = Table(
            box=None, show_header=header is not None, pad_edge=False, padding=(0, 2, 0, 0)
        )
        for index in range(len(body[0]) if header is None and body else len(header or ())):
            table.add_column(
                "" if header is None else Text(header[index]),
                justify="right" if index in right else "left",
                overflow="fold",
            )
        for row in body:
            table.add_row(*map(Text, row))
        console.print(Padding(table, (0, 0, 0, indent), expand=False))


def _terminal_console(stream: TextIO) -> Console | None:
    """Rich's console for a terminal; None for anything else, where plain text is quicker."""
    if not stream.isatty():
        return None
    from rich.console import Console

    # COLUMNS=0 asks for the terminal's own width, and a table needs some room whatever it says.
    width = min(max(shutil.get_terminal_size().columns, _NARROWEST), _WIDEST)
    return Console(file=stream, width=width, markup=False, highlight=False, emoji=False)


@contextlib.contextmanager
def opened_output(path: str | None) -> Iterator[Output]:
    """The output to ``path``, or to standard output for None and ``-``."""
    if path is None or path == STDOUT:
        yield Output(sys.stdout)
        return
    with written_file(path) as stream:
        # Names of files may hold bytes that are no text, here as on standard output.
        text = io.TextIOWrapper(stream, encoding="utf-8", errors="backslashreplace", newline="\n")
        yield Output(text)
        text.flush()
        text.detach()


def note(message: str) -> None:
    """One line on standard error that is not an error."""
    print(f"lanewise: {printable(message)}", file=sys.stderr)
