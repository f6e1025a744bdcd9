"""A progress bar for what takes long."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def progress(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar on a terminal, which goes when the work is done; nothing anywhere else."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress

    # Drawn when there is something new and not by a thread, which measurements would feel.
    console = Console(file=sys.stderr)
    with Progress(console=console, transient=True, auto_refresh=False) as bars:
        bar = bars.add_task(title, total=total)
        bars.refresh()

        def advance(steps: int) -> None:
            bars.update(bar, advance=steps, refresh=True)

        yield advance
