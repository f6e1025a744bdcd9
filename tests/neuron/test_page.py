"""The page about the core runs as written, and so do the README's snippets about it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def snippets(page: str) -> list[str]:
    """The Python blocks of a page."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def test_the_page_runs_from_top_to_bottom(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = snippets("docs/neuron.md")
    assert len(blocks) == 5
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "docs/neuron.md", "exec"), names)
    out = capsys.readouterr().out
    assert "ok {'CAST': 1}" in out
    assert "[[-2 -1  0  0]\n [ 0  0  1  2]]" in out
    assert "illegal out-dtype" in out


def test_the_page_about_speed_runs() -> None:
    (block,) = snippets("docs/speed.md")
    names: dict[str, object] = {}
    exec(compile(block, "docs/speed.md", "exec"), names)
    assert names["program"].run().counts == {"CAST": 1000}  # type: ignore[attr-defined]


def test_the_first_snippets_of_the_readme_run(capsys: pytest.CaptureFixture[str]) -> None:
    about_the_core = [block for block in snippets("README.md") if "lanewise.neuron" in block]
    assert len(about_the_core) >= 2
    for block in about_the_core:
        exec(compile(block, "README.md", "exec"), {})
    out = capsys.readouterr().out
    assert "{'MAX8': 1, 'MATCH_VALUE_LOAD': 1, 'FIND_INDEX8': 1}" in out
    assert "(BrokenRule(rule='out-dtype', field='out_dtype'" in out
