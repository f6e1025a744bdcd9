"""docs/nki.md: its code runs in order and prints what the page says; its table is complete."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import lanewise.nki
from lanewise.nki import NkiValidationError, isa
from lanewise.nki import language as nl
from lanewise.nki.beta1 import isa as beta1
from lanewise.nki.listing import listing, markdown

PAGE = Path(__file__).parents[2] / "docs" / "nki.md"
_FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A block of code of the page."""

    language: str
    title: str | None
    text: str


def _blocks() -> list[Block]:
    found = []
    for match in _FENCE.finditer(PAGE.read_text(encoding="utf-8")):
        title = re.search(r'title="([^"]+)"', match[2])
        found.append(Block(match[1], title[1] if title else None, match[3]))
    return found


def _commands(text: str) -> list[tuple[str, str]]:
    """The commands of a console block, each with the output shown (empty: none is)."""
    parts = re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]
    return [(part.partition("\n")[0], part.partition("\n")[2]) for part in parts]


def _execute(command: str) -> str:
    words = shlex.split(command)
    if words[0] == "python":
        words[0] = sys.executable
    elif words[0] == "lanewise":
        words[:1] = [sys.executable, "-m", "lanewise.cli"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.filterwarnings("default::lanewise.nki.errors.NkiWarning")
def test_the_page_runs_as_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "topk", raising=False)
    for variable in ("LANEWISE_NKI", "NKI_SIMULATOR", "NEURON_PLATFORM_TARGET_OVERRIDE"):
        monkeypatch.delenv(variable, raising=False)
    names: dict[str, Any] = {"__name__": "page"}
    printed: str | None = None
    checked = 0
    try:
        for block in _blocks():
            if block.title is not None:
                Path(block.title).write_text(block.text, encoding="utf-8")
            elif block.language == "python":
                output = io.StringIO()
                with contextlib.redirect_stdout(output):
                    exec(compile(block.text, str(PAGE), "exec"), names)
                printed = output.getvalue()
            elif block.language == "text":
                assert printed == block.text
                printed = None
                checked += 1
            elif block.language == "console":
                for command, shown in _commands(block.text):
                    output_text = _execute(command)
                    assert not shown or output_text == shown, command
                    checked += 1
        assert not printed, "a block prints something that the page does not show"
    finally:
        lanewise.nki.uninstall()
        sys.modules.pop("topk", None)
    assert checked >= 10


def test_the_table_is_what_the_code_says() -> None:
    text = PAGE.read_text(encoding="utf-8")
    _, _, rest = text.partition("<!-- python -m lanewise.nki --functions -->\n")
    shown = rest.partition("\n<!-- end of functions -->")[0].strip()
    assert shown == markdown(), "put the output of `python -m lanewise.nki --functions` there"


def test_the_list_is_complete() -> None:
    entries = {entry.name: entry for entry in listing()}
    assert len(entries) == len(listing()), "a function is listed twice"
    for module in (isa, beta1):
        functions = {
            name
            for name in module.__all__
            if callable(getattr(module, name))
            and not isinstance(getattr(module, name), type)
            and name != "get_nc_version"
        }
        assert functions <= set(entries)
        for entry in entries.values():
            offered = entry.name in module.__all__
            assert offered == (entry.state != "not offered" and (module is isa or entry.beta1))
            if not offered:
                with pytest.raises(NotImplementedError, match=entry.name):
                    getattr(module, entry.name)()


def _call(name: str) -> None:
    def tile(columns: int, dtype: Any = nl.float32) -> Any:
        return nl.zeros((4, columns), dtype=dtype)

    {
        "max8": lambda: isa.max8(tile(8), tile(8)),
        "nc_find_index8": lambda: isa.nc_find_index8(tile(8, nl.uint32), tile(8), tile(8)),
        "nc_match_replace8": lambda: isa.nc_match_replace8(tile(8), tile(8), tile(8), 0.0),
        "nonzero_with_count": lambda: isa.nonzero_with_count(tile(9, nl.int32), tile(8)),
        "range_select": lambda: isa.range_select(
            tile(8), tile(8), nl.greater_equal, nl.less, tile(1), tile(1)
        ),
        "select_reduce": lambda: isa.select_reduce(tile(8), tile(8, nl.uint8), tile(8), 0.0),
        "tensor_copy": lambda: isa.tensor_copy(tile(8), tile(8)),
        "tensor_copy_predicated": lambda: isa.tensor_copy_predicated(
            tile(8), tile(8), tile(8, nl.uint8)
        ),
    }[name]()


@pytest.mark.parametrize("name", isa.MODELLED)
@pytest.mark.parametrize("target", ["trn1", "inf2", "trn2", "trn3"])
@pytest.mark.filterwarnings("default::lanewise.nki.errors.NkiWarning")
def test_the_targets_and_words_are_those_that_run(name: str, target: str) -> None:
    entry = next(entry for entry in listing() if entry.name == name)
    sim = lanewise.nki.simulate(lambda: _call(name), target=target)
    if target in entry.targets:
        sim()
        always = [part for part in entry.words.split(", ") if not part.startswith("[")]
        assert [f"0x{word[0]:02x}" for word in sim.program] == [word.split()[1] for word in always]
    else:
        with pytest.raises(NkiValidationError) as caught:
            sim()
        assert caught.value.rule == "opcode"
