"""What people see, word for word.

A snapshot is a file of transcripts: a line ``$ lanewise …``, then what the command wrote, then
``[exit N]`` when that is not 0. Run with UPDATE_SNAPSHOTS=1 to write down what the commands print
now; the difference is for a reviewer to like or not.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from tests.cli import programs
from tests.cli.conftest import Command

SNAPSHOTS = sorted((Path(__file__).parent / "snapshots").glob("*.txt"))

# What differs from run to run and from one installation to the next.
_UNSTABLE = (
    (re.compile(r"^(time +)[\d.]+ ms$", re.MULTILINE), r"\1… ms"),
    (re.compile(r"^(kernels +)\w+$", re.MULTILINE), r"\1…"),
    (re.compile(r"[\d.]+ s$", re.MULTILINE), "… s"),
    (re.compile(r"^lanewise: using the NumPy kernels.*\n", re.MULTILINE), ""),
)


@pytest.fixture
def files(lanewise: Command) -> None:
    """The files that snapshots name, in the folder the command runs in."""
    x = np.linspace(-300, 300, 64, dtype=np.float32).reshape(4, 16)
    np.save("x.npy", x)
    np.save("double.npy", x.astype(np.float64))
    Path("cast.bin").write_bytes(programs.CAST)
    Path("mixed.bin").write_bytes(
        programs.CAST + programs.ILLEGAL + programs.MALFORMED + programs.UNMODELLED
    )
    Path("psum.bin").write_bytes(programs.PSUM_COPY)
    Path("register.bin").write_bytes(programs.REGISTER_COPY)
    Path("warned.bin").write_bytes(programs.WARNED)
    Path("cases").mkdir()
    case = (
        '{"schema": "lanewise.case/1", "id": "%s", "machine": "neuron", "generation": "cayman",'
        ' "program": [{"word": "%s"}], "expect": %s}\n'
    )
    Path("cases/two.jsonl").write_text(
        case % ("passes", programs.CAST.hex(), '{"verdict": "ok"}')
        + case % ("fails", programs.ILLEGAL.hex(), '{"verdict": "illegal", "rule": "channels"}')
        + "{}\n"
    )


def _transcript(line: str, lanewise: Command) -> str:
    program, *arguments = shlex.split(line.removeprefix("$ "))
    assert program == "lanewise"
    outcome = lanewise(*arguments)
    text = outcome.out + outcome.err
    for pattern, instead in _UNSTABLE:
        text = pattern.sub(instead, text)
    end = f"[exit {outcome.status}]\n" if outcome.status else ""
    return f"{line}\n{text}{end}"


@pytest.mark.parametrize("snapshot", SNAPSHOTS, ids=lambda path: path.stem)
@pytest.mark.usefixtures("files")
def test_the_command_prints_what_the_snapshot_says(snapshot: Path, lanewise: Command) -> None:
    wanted = snapshot.read_text(encoding="utf-8")
    commands = [line for line in wanted.splitlines() if line.startswith("$ ")]
    got = "\n".join(_transcript(line, lanewise) for line in commands)
    if os.environ.get("UPDATE_SNAPSHOTS"):
        snapshot.write_text(got, encoding="utf-8")
    else:
        assert got == wanted
