"""The instruction set's code tables, as data files beside this module."""

from __future__ import annotations

import csv
import importlib.resources
from collections.abc import Iterator


def rows(name: str) -> Iterator[dict[str, str]]:
    """The rows of table ``name`` (``opcodes``, ``dtypes``, ``aluops``), keyed by column."""
    table = importlib.resources.files(__name__) / f"{name}.csv"
    yield from csv.DictReader(table.read_text(encoding="utf-8").splitlines())
