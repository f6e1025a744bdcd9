"""Floors and aims, read from ``bench/budgets.toml``."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lanewise.errors import UsageError, unknown_name

_FILE: Final = Path("bench", "budgets.toml")


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of a row: ``floor`` must hold, ``aim`` is worth working for."""

    floor: float | None = None
    aim: float | None = None


def find_budgets() -> Path | None:
    """The budgets of the working folder, or of the checkout that this code is from."""
    for folder in (Path.cwd(), Path(__file__).resolve().parents[4]):
        if (folder / _FILE).is_file():
            return folder / _FILE
    return None


def read_budgets(path: Path, names: Mapping[str, object]) -> dict[str, Budget]:
    """The budgets in a file by row. UsageError for anything but limits of rows in ``names``."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: not TOML: {error}") from error
    found = {}
    for name, limits in document.items():
        if name not in names:
            raise unknown_name(f"row in {path}", name, names)
        if not isinstance(limits, dict) or not set(limits) <= {"floor", "aim"}:
            raise UsageError(f"{path}: [{name}] takes floor and aim, not {limits!r}")
        for limit in limits.values():
            if not isinstance(limit, (int, float)) or isinstance(limit, bool) or math.isnan(limit):
                raise UsageError(f"{path}: [{name}] has a limit that is no number: {limit!r}")
        found[name] = Budget(**limits)
    return found
