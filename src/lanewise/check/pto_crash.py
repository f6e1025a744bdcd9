"""A program that broke a promise as a portable case, which runs it again wherever it is put.

The case expects the verdict that the run gave, or after a crash the one that the words alone
give. What a legal bundle should have written is not known, so the registers it names are left
open and no tile is listed; whoever keeps the case can add them.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from lanewise.check.pto_fuzz import FuzzFailure
from lanewise.pto.checking import check_program
from lanewise.pto.core import PtoCore
from lanewise.pto.faults import PtoFault
from lanewise.pto.registers import GPR_COUNT, Hand
from lanewise.pto.state import ProcessingElement
from lanewise.pto.tile import Tile
from lanewise.pto.words import Bior, decode_word

_ALL_BITS = "0xffffffffffffffff"


def failure_case(failure: FuzzFailure, seed: int) -> str:
    """A failure as a case file (JSON); ``seed`` is its block's."""
    first, *others = (_state(pe) for pe in failure.initial)
    program = "".join(failure.words)
    document = {
        "schema": "lanewise.case/1",
        "id": f"pto/crash/{hashlib.sha256(program.encode()).hexdigest()[:12]}",
        "machine": "pto",
        "revision": "frozen",
        "note": f"found by fuzzing, block seed {seed}: {failure.problem}",
        **first,
        "pes": {str(pe): other for pe, other in enumerate(others, 1) if other != first},
        "program": list(failure.words),
        "expect": _expected(failure),
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _state(pe: ProcessingElement) -> dict[str, Any]:
    return {
        "gprs": {str(index): hex(pe.gpr(index)) for index in range(GPR_COUNT) if pe.gpr(index)},
        "flags": pe.flags,
        # Cases push in order, hands have the newest tile first.
        "tiles": [_tile(hand, tile) for hand in Hand for tile in reversed(pe.hands[hand])],
    }


def _tile(hand: Hand, tile: Tile) -> dict[str, Any]:
    d = tile.descriptor
    found = {
        "hand": hand.name,
        "dtype": d.dtype.name,
        "layout": str(d.layout),
        "rows": d.rows,
        "cols": d.cols,
        "valid_rows": d.valid_rows,
        "valid_cols": d.valid_cols,
        "kind": str(d.kind),
        "basis": None if d.basis is None else d.basis.name,
        "capacity": d.capacity,
        "hex": tile.payload.hex(),
        "undefined": tile.undefined.hex() or None,
    }
    return {key: value for key, value in found.items() if value is not None}


def _expected(failure: FuzzFailure) -> dict[str, Any]:
    """The verdict, with the registers that the words name as results left open."""
    expect: dict[str, Any] = {"verdict": "ok"}
    for refusal in (_refusal_of_run, _refusal_of_words):
        try:
            fault = refusal(failure)
        except Exception:  # What crashed may crash again.
            continue
        if fault is not None:
            expect = {"verdict": "fault", "fault": str(fault.kind), "index": fault.index}
        break
    written = sorted({index for word in failure.words for index in _written(word)})
    return {**expect, "gpr_undefined": {str(index): _ALL_BITS for index in written}}


def _refusal_of_run(failure: FuzzFailure) -> PtoFault | None:
    core = PtoCore()
    core.state = failure.initial
    error = core.attempt(failure.words).error
    return error if isinstance(error, PtoFault) else None


def _refusal_of_words(failure: FuzzFailure) -> PtoFault | None:
    findings = check_program(failure.words)
    return next((found.fault for found in findings if found.fault is not None), None)


def _written(word: str) -> tuple[int, ...]:
    try:
        found = decode_word(word)
    except PtoFault:
        return ()
    return (found.dst,) if isinstance(found, Bior) and found.dst else ()
