"""Writing: text for people, JSON for machines, to standard output or to a file.

A file appears when it is complete: it is written beside its place and renamed.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from lanewise.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

# Wide enough that nothing is folded where no terminal sets a width.
_WIDTH_OF_A_PIPE: Final = 4096


class Output:
    """Where a verb's result goes."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._console: Console | None = None

    @property
    def stream(self) -> IO[str]:
        """The stream itself, for texts of many lines."""
        return self._stream

    def line(self, text: str = "", style: str = "") -> None:
        """One line, as it is; ``style`` is for terminals with colour."""
        if style:
            self.console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)
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
        from rich.padding import Padding
        from rich.table import Table
        from rich.text import Text

        table = Table(
            box=None, show_header=header is not None, pad_edge=False, padding=(0, 2, 0, 0)
        )
        columns = list(header) if header is not None else None
        body = [list(row) for row in rows]
        count = len(columns) if columns is not None else max(map(len, body), default=0)
        for index in range(count):
            table.add_column(
                Text(columns[index]) if columns is not None else "",
                justify="right" if index in right else "left",
                overflow="fold",
            )
        for row in body:
            table.add_row(*(Text(cell) for cell in row))
        with self.console.capture() as captured:
            self.console.print(Padding(table, (0, 0, 0, indent)))
        for text in captured.get().splitlines():
            print(text.rstrip(), file=self._stream)

    @property
    def console(self) -> Console:
        """Rich's console over the same stream."""
        if self._console is None:
            from rich.console import Console

            self._console = Console(
                file=self._stream,
                markup=False,
                highlight=False,
                emoji=False,
                width=None if self._stream.isatty() else _WIDTH_OF_A_PIPE,
            )
        return self._console


@contextlib.contextmanager
def opened_output(path: str | None) -> Iterator[Output]:
    """The output to ``path``, or to standard output for None and ``-``."""
    if path is None or path == "-":
        yield Output(sys.stdout)
        return
    with written_file(path) as stream:
        import io

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
