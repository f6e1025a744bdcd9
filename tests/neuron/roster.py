"""Which codes each generation assigns: the ISA's tables, as runs of hexadecimal codes."""

from __future__ import annotations

import json
from pathlib import Path

_TABLES = json.loads((Path(__file__).parent / "data" / "roster.json").read_text())


def _codes(runs: str) -> frozenset[int]:
    found: set[int] = set()
    for run in runs.split():
        first, _, last = run.partition("-")
        found.update(range(int(first, 16), int(last or first, 16) + 1))
    return frozenset(found)


def _table(name: str) -> dict[str, frozenset[int]]:
    return {generation: _codes(runs) for generation, runs in _TABLES[name].items()}


#: Opcodes by generation, without INVALID (0xff), which is in every table but is no word.
ASSIGNED = {name: codes - {0xFF} for name, codes in _table("opcodes").items()}
OPCODES = _table("opcodes")
ALU_CODES = _table("aluops")
DTYPE_CODES = _table("dtypes")
