"""The page about the PTO machine: every snippet runs, and prints what the page says."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lanewise.cli.application import main

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "pto.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text())


def commands(text: str) -> Iterator[tuple[list[str], list[str]]]:
    """Each command of a console block with the lines that follow it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        first, *shown = part.splitlines()
        yield shlex.split(first), shown


def same_lines(found: list[str], shown: list[str]) -> bool:
    """Whether the output is what the page shows, ``…`` standing for any lines."""
    if "…" not in shown:
        return found == shown
    at = shown.index("…")
    tail = shown[at + 1 :]
    return found[:at] == shown[:at] and found[len(found) - len(tail) :] == tail


def test_the_page_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    printed = ""
    kinds = []
    for kind, text in blocks(PAGE):
        kinds.append(kind)
        if kind == "python":
            stream = io.StringIO()
            with contextlib.redirect_stdout(stream):
                exec(compile(text, str(PAGE), "exec"), names)
            printed = stream.getvalue()
        elif kind == "text":
            assert printed.strip() == text.strip()
        else:
            for (program, *arguments), shown in commands(text):
                if program == "cat":
                    Path(arguments[0]).write_text("\n".join(shown))
                    continue
                assert program == "lanewise"
                assert main(arguments) == 0
                assert same_lines(capsys.readouterr().out.splitlines(), shown)
    assert kinds.count("python") >= 6
    assert "console" in kinds


def test_the_readme_packs_what_it_says() -> None:
    (text,) = (t for kind, t in blocks(ROOT / "README.md") if kind == "python" and "PtoCore" in t)
    names: dict[str, Any] = {}
    exec(compile(text, "README.md", "exec"), names)
    column = names["core"].tile("U#1").to_array()[:, 1]
    values = names["values"]
    assert (column == (values[:, 0] > 0) + 2 * (values[:, 1] > 0)).all()
