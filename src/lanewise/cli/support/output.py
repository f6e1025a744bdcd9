"""Writing: text for people, JSON for machines, to standard output or to a file.

A file appears when it is complete: it is written beside its place and renamed.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from lanewise.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console


class Output:
    """Where a verb's result goes. Colour and folding are for terminals only."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._console = _terminal_console(stream)

    def line(self, text: str = "", style: str = "") -> None:
        """One line, as it is; ``style`` is for terminals with colour."""
        if self._console is not None and style:
            self._console.print(text, style=style, soft_wrap=True)
        else:
            print(text, file=self._stream)

    def json(self, document: Any) -> None:
        """One line of JSON."""
        print(json.dumps(document, ensure_ascii=False), file=self._stream)

    def table(
        self,
        rows: Iterable[Sequence[str]],
        header: Sequence[str] | None = None,
        *,
        indent: int = 0,
        right: Sequence[int] = (),
    ) -> None:
        """Aligned columns; ``right`` lists the columns that are aligned to the right."""
        body = [list(row) for row in rows]
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
        console.print(Padding(table, (0, 0, 0, indent)))


def _terminal_console(stream: IO[str]) -> Console | None:
    """Rich's console for a terminal; None for anything else, where plain text is quicker."""
    if not stream.isatty():
        return None
    from rich.console import Console

    return Console(file=stream, markup=False, highlight=False, emoji=False)


@contextlib.contextmanager
def opened_output(path: str | None) -> Iterator[Output]:
    """The output to ``path``, or to standard output for None and ``-``."""
    if path is None or path == "-":
        yield Output(sys.stdout)
        return
    with written_file(path) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="\n")
        yield Output(text)
        text.flush()
        text.detach()


@contextlib.contextmanager
def written_file(path: str) -> Iterator[IO[bytes]]:
    """A binary file that is at ``path`` once the block ends well, and nowhere if it does not."""
    target = check_target(path)
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
        # mkstemp makes files for their owner only; a result is as readable as any new file.
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def check_target(path: str) -> Path:
    """``path`` as a Path if a file can be put there; UsageError if not."""
    target = Path(path)
    if target.is_dir():
        raise UsageError(f"{path}: is a folder; name a file in it")
    if not target.parent.is_dir():
        raise UsageError(f"{path}: there is no folder {str(target.parent)!r} to write it to")
    return target


def note(message: str) -> None:
    """One line on standard error that is not an error."""
    print(f"lanewise: {message}", file=sys.stderr)


def _umask() -> int:
    # The mask can only be read by setting it.
    mask = os.umask(0)
    os.umask(mask)
    return mask
