"""Running the command in this process: arguments and standard input in, what it wrote out."""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from lanewise.cli import main

MALFORMED = Path(__file__).parent.parent / "malformed"


@dataclass(frozen=True)
class Outcome:
    """What a command left: exit status, standard output, standard error."""

    status: int
    out: str
    err: str

    def assert_refused(self) -> None:
        """Bad input: status 2, nothing on standard output, one line that says why."""
        assert self.status == 2, self
        assert self.out == "", self
        assert self.err.startswith("lanewise: "), self
        assert self.err.count("\n") == 1, self
        assert self.err.endswith("\n"), self


Command = Callable[..., Outcome]


@pytest.fixture
def lanewise(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    """Call it with arguments (and ``stdin``); it runs in an empty folder of its own."""
    folder = tmp_path / "work"
    folder.mkdir(exist_ok=True)
    monkeypatch.chdir(folder)

    def run(*arguments: object, stdin: bytes = b"") -> Outcome:
        streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2)]
        with monkeypatch.context() as patched:
            patched.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
            patched.setattr(sys, "stdout", streams[0])
            patched.setattr(sys, "stderr", streams[1])
            status = main([str(argument) for argument in arguments])
        texts = []
        for stream in streams:
            stream.flush()
            texts.append(stream.buffer.getvalue().decode())  # type: ignore[attr-defined]
        return Outcome(status, texts[0], texts[1])

    return run


@pytest.fixture
def malformed(lanewise: Command) -> Path:
    """The bad files, copied into the folder the command runs in."""
    target = Path.cwd() / "malformed"
    shutil.copytree(MALFORMED, target)
    return target
