"""``lanewise run --machine pto``: a program of bundles on a core."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from lanewise.cli.pto.placement import Dump, Load, show_tile, title, write_dumps
from lanewise.cli.pto.program import build_profile, read_words
from lanewise.cli.support.files import check_distinct
from lanewise.cli.support.options import parse_number, shortened
from lanewise.cli.support.output import Output, opened_output
from lanewise.cli.support.reports import STYLES, plural
from lanewise.errors import UsageError
from lanewise.model import RunReport, Verdict
from lanewise.pto import Hand, PtoCore, PtoFault
from lanewise.pto.registers import GPR_COUNT, GPR_NAMES
from lanewise.pto.state import PE_COUNT


@dataclass(frozen=True, slots=True)
class Request:
    """What the verb was asked to do; ``pe`` None puts things on every PE and shows PE0."""

    program: str
    overrides: list[str] | None
    engine: str
    loads: list[str]
    dumps: list[str]
    registers: list[str]
    pe: str | None
    as_json: bool
    output: str | None


def run(request: Request) -> bool:
    """Run the program and report; whether it ran to its end."""
    chosen = None if request.pe is None else parse_number(request.pe.strip(), "--pe")
    if chosen is not None and chosen >= PE_COUNT:
        raise UsageError(f"--pe must be 0..{PE_COUNT - 1}, not {chosen}")
    loads = [Load.parse(text) for text in request.loads]
    dumps = [Dump.parse(text) for text in request.dumps]
    check_distinct([request.output, *(dump.file for dump in dumps)])
    core = PtoCore(profile=build_profile(request.overrides), engine=request.engine)
    for text in request.registers:
        _set_register(core, text, chosen)
    for load in loads:
        load.apply(core, chosen)
    words = read_words(request.program)
    started = time.perf_counter()
    report = core.attempt(words)
    seconds = time.perf_counter() - started
    pe = chosen or 0
    if report.verdict is Verdict.OK:
        write_dumps(dumps, core, pe)
    else:
        dumps = []
    with opened_output(request.output) as out:
        if request.as_json:
            out.json(_document(report, core, pe, seconds, dumps))
        else:
            _show(out, report, core, pe, seconds)
            for dump in dumps:
                out.line()
                tile = dump.read(core, pe)
                if dump.file is not None:
                    out.line(f"wrote {dump.file}: {title(dump.name, tile)}")
                else:
                    show_tile(out, dump.name, tile)
    return report.verdict is Verdict.OK


def _set_register(core: PtoCore, text: str, pe: int | None) -> None:
    name, equals, value = shortened(text).partition("=")
    if not equals:
        raise UsageError(f"--register {text!r}: expected NAME=VALUE, for example a0=0x1000")
    name = name.strip()
    index: int | str = int(name) if name.isdecimal() and len(name) < 4 else name
    core.set_gpr(index, parse_number(value.strip(), "the register's value"), pe=pe)


def _live(core: PtoCore, pe: int) -> dict[str, int]:
    hands = core.state[pe].hands
    return {hand.name: len(hands[hand]) for hand in Hand if hands[hand]}


def _registers(core: PtoCore, pe: int) -> dict[str, str]:
    return {
        GPR_NAMES[index]: f"{core.gpr(index, pe=pe):#x}"
        for index in range(GPR_COUNT)
        if core.gpr(index, pe=pe)
    }


def _document(
    report: RunReport, core: PtoCore, pe: int, seconds: float, dumps: list[Dump]
) -> dict[str, Any]:
    fault = report.error
    return report.as_dict() | {
        "machine": "pto",
        "kernels": core.engine,
        "rule": fault.rule if isinstance(fault, PtoFault) else None,
        "pe": pe,
        "gprs": _registers(core, pe),
        "hands": _live(core, pe),
        "flags": core.flags(pe=pe),
        "seconds": seconds,
        "dumps": [_dump_document(dump, core, pe) for dump in dumps],
    }


def _dump_document(dump: Dump, core: PtoCore, pe: int) -> dict[str, Any]:
    tile = dump.read(core, pe)
    d = tile.descriptor
    return {
        "tile": str(dump.name),
        "dtype": d.dtype.name,
        "layout": str(d.layout),
        "rows": d.rows,
        "cols": d.cols,
        "valid_rows": d.valid_rows,
        "valid_cols": d.valid_cols,
        "kind": str(d.kind),
        "basis": None if d.basis is None else d.basis.name,
        "capacity": d.capacity,
        "file": dump.file,
        "hex": None if dump.file is not None else tile.payload.hex(),
        "undefined": None if dump.file is not None else tile.undefined_mask().hex(),
    }


def _show(out: Output, report: RunReport, core: PtoCore, pe: int, seconds: float) -> None:
    out.line(f"verdict    {report.verdict}", STYLES[report.verdict])
    counts = ", ".join(f"{name} {count}" for name, count in report.counts.items())
    registers = ", ".join(f"{name}={value}" for name, value in _registers(core, pe).items())
    tiles = ", ".join(f"{name} {count}" for name, count in _live(core, pe).items())
    out.table(
        [
            ("executed", plural(report.executed, "bundle")),
            ("counts", counts or "none"),
            ("profile", report.profile),
            (f"PE{pe} GPRs", registers or "all zero"),
            (f"PE{pe} tiles", tiles or "none"),
            (f"PE{pe} flags", str(core.flags(pe=pe))),
            ("kernels", core.engine),
            ("time", f"{1000 * seconds:.3f} ms"),
        ]
    )
    if report.error is not None:
        out.line()
        out.line(str(report.error), "red")
