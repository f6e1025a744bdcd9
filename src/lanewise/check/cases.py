"""Case files: reading them strictly, running them, and saying what differs.

A file is JSON Lines (``.jsonl``, one case a line) or one pretty-printed case (``.case.json``). A
case that cannot be read counts as failed and does not stop the rest.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from lanewise.check.errors import CaseError
from lanewise.errors import LanewiseError, UsageError, shown

__all__ = ["CaseResult", "check_files", "check_text", "find_files"]

# The module that parses and runs the cases of each machine.
_MACHINES = {"neuron": "lanewise.check.neuron_cases", "pto": "lanewise.check.pto_cases"}
_LARGEST_CASE = 64 << 20
_Source = tuple[str, bytes | OSError]
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


def _chunks(sources: Iterator[_Source]) -> Iterator[list[_Source]]:
    while chunk := list(islice(sources, _CHUNK)):
        yield chunk


def _sources(path: Path) -> Iterator[tuple[str, bytes | OSError]]:
    """The raw cases of a file with their places; an unreadable file is one failing case."""
    try:
        with path.open("rb") as file:
            if path.name.endswith(".case.json"):
                yield str(path), file.read(_LARGEST_CASE + 1)
                return
            count = number = 0
            while line := file.readline(_LARGEST_CASE + 1):
                number += 1
                if line.strip():
                    count += 1
                    yield f"{path}:{number}", line
                if len(line) > _LARGEST_CASE:
                    return  # the rest of such a line means nothing
        if not count:
            yield f"{path}:1", b""
    except OSError as error:
        yield str(path), error


def _check_chunk(chunk: tuple[Sequence[_Source], str]) -> list[CaseResult]:
    sources, engine = chunk
    return [check_text(text, place, engine=engine) for place, text in sources]


def check_text(
    text: bytes | str | OSError, place: str = "<text>", *, engine: str = "auto"
) -> CaseResult:
    """Run one case given as JSON text (or why there is none). ``place`` names it in messages."""
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
    except Exception as error:  # one case that hits a mistake of ours must not stop the others
        differences = (f"cannot run: {type(error).__name__}: {error}",)
    return CaseResult(identity, place, differences)


def _document(text: bytes | str | OSError) -> dict[str, Any]:
    """The JSON object of a case; CaseError for anything else, a key given twice included."""
    if isinstance(text, OSError):
        raise CaseError(f"the file cannot be read: {text.strerror or text}")
    if len(text) > _LARGEST_CASE:
        raise CaseError(f"a case of more than {_LARGEST_CASE} bytes is too large")
    if not text.strip():
        raise CaseError("the file holds no case")
    try:
        decoded = text.decode("utf-8") if isinstance(text, bytes) else text
        document = json.loads(decoded, object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise CaseError(f"not JSON: {error}") from error
    if not isinstance(document, dict):
        raise CaseError(f"expected an object, got {type(document).__name__} - at `$`")
    return document


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object's members; a key given twice would silently hide a value."""
    members = dict(pairs)
    if len(members) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in members if names.count(name) > 1)
        raise CaseError(f"the key {shown(twice)} is given twice in one object")
    return members


def _no_constant(name: str) -> Any:
    raise CaseError(f"{name} is no JSON number")


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
