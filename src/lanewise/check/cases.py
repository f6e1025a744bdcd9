"""Case files: reading them strictly, running them, and saying what differs.

A file is JSON Lines (``.jsonl``, one case a line) or one pretty-printed case (``.case.json``). A
case that cannot be read counts as failed and does not stop the rest.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import msgspec

from lanewise.check.errors import CaseError
from lanewise.errors import LanewiseError, UsageError

__all__ = ["CaseResult", "check_files", "check_text", "find_files"]

# The module that parses and runs the cases of each machine.
_MACHINES = {"neuron": "lanewise.check.neuron_cases", "pto": "lanewise.check.pto_cases"}
_LARGEST_LINE = 64 << 20
_CHUNK = 64


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case: its id (the place in the file when it has none) and what differs."""

    id: str
    place: str
    differences: tuple[str, ...]
    unreadable: bool = False

    @property
    def passed(self) -> bool:
        """Whether the case was read and nothing differs."""
        return not self.differences


def find_files(paths: Iterable[str | Path]) -> list[Path]:
    """The case files among ``paths``, folders searched through, in name order.

    UsageError for a path that is not there, a file that is no case file, or a folder without any.
    """
    found: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            inside = sorted(p for p in path.rglob("*") if _is_case_file(p) and p.is_file())
            if not inside:
                raise UsageError(f"{path}: no case files (.jsonl, .case.json) in this folder")
            found += inside
        elif not path.exists():
            raise UsageError(f"{path}: no such file or folder")
        elif not _is_case_file(path):
            raise UsageError(f"{path}: a case file ends in .jsonl or .case.json")
        else:
            found.append(path)
    return found


def _is_case_file(path: Path) -> bool:
    return path.name.endswith((".jsonl", ".case.json"))


def check_files(
    paths: Iterable[str | Path], *, jobs: int = 1, engine: str = "auto"
) -> Iterator[CaseResult]:
    """Run every case of the files and folders; results in file order.

    ``jobs`` processes work in parallel; ``engine`` chooses the kernels. UsageError as in
    :func:`find_files`.
    """
    if jobs < 1:
        raise UsageError(f"jobs must be at least 1, not {jobs}")
    files = find_files(paths)
    chunks = ((chunk, engine) for chunk in _chunks(chain.from_iterable(map(_sources, files))))
    if jobs == 1:
        for chunk in chunks:
            yield from _check_chunk(chunk)
        return
    with ProcessPoolExecutor(min(jobs, os.cpu_count() or 1)) as pool:
        for results in pool.map(_check_chunk, chunks):
            yield from results


def _chunks(sources: Iterator[tuple[str, bytes]]) -> Iterator[list[tuple[str, bytes]]]:
    while chunk := list(islice(sources, _CHUNK)):
        yield chunk


def _sources(path: Path) -> Iterator[tuple[str, bytes]]:
    """The raw cases of a file with their places; an unreadable file is one failing case."""
    try:
        if path.name.endswith(".case.json"):
            yield str(path), path.read_bytes()
            return
        with path.open("rb") as lines:
            count = 0
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    count += 1
                    yield f"{path}:{number}", line
        if not count:
            yield f"{path}:1", b""
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error


def _check_chunk(chunk: tuple[Sequence[tuple[str, bytes]], str]) -> list[CaseResult]:
    sources, engine = chunk
    return [check_text(text, place, engine=engine) for place, text in sources]


def check_text(text: bytes | str, place: str = "<text>", *, engine: str = "auto") -> CaseResult:
    """Run one case given as JSON text. ``place`` names it in messages."""
    identity = place
    try:
        document = _document(text)
        if isinstance(document.get("id"), str):
            identity = document["id"]
        module = _module(document)
        case = module.parse_case(document)
    except CaseError as error:
        return CaseResult(identity, place, (f"cannot be read: {place}: {error}",), unreadable=True)
    try:
        differences = tuple(module.run_case(case, engine))
    except LanewiseError as error:
        differences = (f"cannot run: {error}",)
    return CaseResult(identity, place, differences)


def _document(text: bytes | str) -> dict[str, Any]:
    if len(text) > _LARGEST_LINE:
        raise CaseError(f"a case of {len(text)} bytes is too large (at most {_LARGEST_LINE})")
    if not text.strip():
        raise CaseError("the file holds no case")
    try:
        document = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CaseError(f"not JSON: {error}") from error
    if not isinstance(document, dict):
        raise CaseError(f"expected an object, got {type(document).__name__} - at `$`")
    return document


def _module(document: dict[str, Any]) -> Any:
    machine = document.get("machine")
    if not isinstance(machine, str) or machine not in _MACHINES:
        raise CaseError(
            f"expected a machine among {', '.join(_MACHINES)}, got {machine!r} - at `$.machine`"
        )
    try:
        return importlib.import_module(_MACHINES[machine])
    except ModuleNotFoundError as error:
        raise CaseError(f"this build has no {machine} machine") from error
