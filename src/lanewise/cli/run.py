"""``lanewise run``: a program of raw words on a core, with arrays put in before and read after."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from lanewise.cli import pto
from lanewise.cli.support.files import check_distinct
from lanewise.cli.support.inputs import read_program
from lanewise.cli.support.options import (
    EngineOption,
    GenerationOption,
    JsonOption,
    OutputOption,
    ProfileOption,
    SetOption,
    SurfaceOption,
    ThreadsOption,
    build_profile,
    check_surface,
    parse_count,
    parse_number,
    shortened,
    slow_kernels_reason,
)
from lanewise.cli.support.output import Output, note, opened_output
from lanewise.cli.support.placement import DUMP_FORM, LOAD_FORM, Dump, Load, write_dumps
from lanewise.cli.support.reports import STYLES, plural, show_broken
from lanewise.errors import UsageError
from lanewise.model import IllegalInstruction, RunReport, Verdict
from lanewise.neuron import Dispatch, NeuronCore
from lanewise.neuron.codes import REGISTERS
from lanewise.neuron.dtypes import FLOAT_TYPES_AND_FP32R
from lanewise.neuron.instruction import WORD_BYTES
from lanewise.neuron.instructions import BY_OPCODE

app = typer.Typer(rich_markup_mode=None, add_completion=False)

_PARTITIONS_SHOWN = 32
_ELEMENTS_SHOWN = 64
_COLUMNS = 8


@app.command(
    help="""Run a program and report: verdict, what ran, warnings, and why a word was refused.

    Exits with 1 when a word is malformed, illegal or faults. What came before it has run, what
    comes after has not; nothing is dumped then.
    """,
    epilog="Example: lanewise run program.bin -g mariana --set fp8_exp4=fn "
    "--load x.npy@sbuf:0+0x100:FP32 --dump sbuf:0+0x200:4x16:FP8_EXP4",
)
def run(
    *,
    program: Annotated[
        str,
        typer.Argument(
            metavar="PROGRAM",
            help="File of 64-byte words, or for the PTO machine of assembly text, hexadecimal "
            "words or bytes; - is standard input.",
        ),
    ] = "-",
    machine: pto.MachineOption = "auto",
    generation: GenerationOption = "cayman",
    profile: ProfileOption = "isa",
    overrides: SetOption = None,
    engine: EngineOption = "auto",
    threads: ThreadsOption = None,
    surface: SurfaceOption = None,
    loads: Annotated[
        list[str] | None,
        typer.Option(
            "--load",
            metavar=LOAD_FORM,
            help="Put an array into memory before the program: a single number or one axis into "
            "one partition, else one partition for each index of the first axis. Its bits must "
            "be the dtype's; with :convert its numbers are rounded to the dtype. PTO: "
            "FILE.npy@HAND:TYPE[:LAYOUT][:ROWSxCOLS][:convert], such as x.npy@T:FP32:CUBE_M32.",
        ),
    ] = None,
    dumps: Annotated[
        list[str] | None,
        typer.Option(
            "--dump",
            metavar=DUMP_FORM,
            help="Show memory after the program, or write it to a file. SHAPE is 8 (one "
            "partition) or 4x16 (4 partitions of 16). Nothing is dumped when a word was refused. "
            "PTO: TILE[@FILE.npy], such as T#1.",
        ),
    ] = None,
    registers: Annotated[
        list[str] | None,
        typer.Option("--register", metavar="N=VALUE", help="Set a register before the program."),
    ] = None,
    pe: Annotated[
        str | None,
        typer.Option(
            "--pe", metavar="N", help="PTO: the PE to load and show; all are loaded without it."
        ),
    ] = None,
    as_json: JsonOption = False,
    output: OutputOption = None,
) -> None:
    if pto.is_pto(machine, program):
        if threads is not None:
            raise UsageError("--threads is for Neuron programs; a PTO program runs on one")
        from lanewise.cli.pto.run import Request
        from lanewise.cli.pto.run import run as run_pto

        texts = (loads or [], dumps or [], registers or [])
        if not run_pto(Request(program, overrides, shortened(engine), *texts, pe, as_json, output)):
            raise typer.Exit(1)
        return
    wanted_loads = [Load.parse(text) for text in loads or ()]
    wanted_dumps = [Dump.parse(text) for text in dumps or ()]
    core = NeuronCore(
        shortened(generation),
        build_profile(profile, overrides),
        engine=shortened(engine),
        threads=None if threads is None else parse_count(threads, "--threads"),
    )
    named_engine = check_surface(surface)
    for text in registers or ():
        _set_register(core, text)
    for dump in wanted_dumps:
        dump.check(core)
    check_distinct([output, *(dump.file for dump in wanted_dumps)])
    for load in wanted_loads:
        load.apply(core)
    words = read_program(program, WORD_BYTES)
    reason = slow_kernels_reason(engine)
    if reason is not None:
        note(f"using the NumPy kernels, because {reason}: same results, slower")
    started = time.perf_counter()
    report = core.attempt(_program(words, named_engine))
    seconds = time.perf_counter() - started
    if report.verdict is Verdict.OK:
        write_dumps(wanted_dumps, core)
    else:
        wanted_dumps = []
    outcome = _Outcome(report, core, len(words) // WORD_BYTES, seconds, tuple(wanted_dumps))
    with opened_output(output) as out:
        if as_json:
            out.json(_document(outcome))
        else:
            _show(out, outcome)
    if report.verdict is not Verdict.OK:
        raise typer.Exit(1)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """A run and what there is to tell about it; no dumps when a word was refused."""

    report: RunReport
    core: NeuronCore
    words: int
    seconds: float
    dumps: tuple[Dump, ...]


def _set_register(core: NeuronCore, text: str) -> None:
    name, equals, value_text = shortened(text).partition("=")
    if not equals:
        raise UsageError(f"--register {text!r}: expected N=VALUE, for example 3=0x1000")
    number = parse_number(name.strip(), "a register")
    value = parse_number(value_text.strip(), "the register's value")
    if number >= REGISTERS:
        raise UsageError(f"--register {text!r}: there are registers 0..{REGISTERS - 1}")
    if value >> 32:
        raise UsageError(f"--register {text!r}: a register has 32 bits, {value:#x} does not fit")
    core.state.registers[number] = value


def _program(words: bytes, surface: str | None) -> bytes | list[bytes | Dispatch]:
    """The words, those that can choose their engine with the one that was named."""
    if surface is None:
        return words
    program: list[bytes | Dispatch] = []
    for start in range(0, len(words), WORD_BYTES):
        word = words[start : start + WORD_BYTES]
        kind = BY_OPCODE.get(word[0])
        can_choose = kind is not None and len(kind.engines) > 1 and surface in kind.engines
        program.append(Dispatch(word, surface) if can_choose else word)
    return program


def _document(outcome: _Outcome) -> dict[str, Any]:
    report, core = outcome.report, outcome.core
    return report.as_dict() | {
        "offset": None if report.index is None else report.index * WORD_BYTES,
        "words": outcome.words,
        "generation": core.generation.name,
        "kernels": core.engine,
        "seconds": outcome.seconds,
        "dumps": [
            {
                "space": dump.space,
                "partition": dump.partition,
                "offset": dump.offset,
                "shape": list(dump.shape),
                "dtype": dump.dtype.name,
                "file": dump.file,
                "hex": None if dump.file is not None else dump.read(core).tobytes().hex(),
            }
            for dump in outcome.dumps
        ],
    }


def _show(out: Output, outcome: _Outcome) -> None:
    report, core = outcome.report, outcome.core
    out.line(f"verdict     {report.verdict}", STYLES[report.verdict])
    counts = ", ".join(f"{name} {count}" for name, count in report.counts.items())
    out.table(
        [
            ("executed", f"{report.executed} of {plural(outcome.words, 'word')}"),
            ("counts", counts or "none"),
            ("generation", str(core.generation)),
            ("profile", report.profile),
            ("kernels", core.engine),
            ("time", f"{1000 * outcome.seconds:.3f} ms"),
        ]
    )
    for warning in report.warnings:
        out.line(f"warning at word {warning.index}: {warning.warning}: {warning.message}", "yellow")
    if report.index is not None:
        _show_refusal(out, report, report.index)
    for dump in outcome.dumps:
        out.line()
        if dump.file is not None:
            out.line(f"wrote {dump.file}: {_title(dump)}")
        else:
            _show_memory(out, dump, core)


def _show_refusal(out: Output, report: RunReport, index: int) -> None:
    where = f"word {index} (offset {index * WORD_BYTES}, {index * WORD_BYTES:#x})"
    out.line()
    if isinstance(report.error, IllegalInstruction):
        count = plural(len(report.error.broken), "rule")
        out.line(f"{where}: {report.error.name} breaks {count}", "red")
        show_broken(out, report.error.broken)
    else:
        out.line(f"{where}: {report.verdict} ({report.reason}): {report.error}", "red")


def _title(dump: Dump) -> str:
    last = dump.partition + dump.partitions - 1
    partitions = (
        f"partition {dump.partition}"
        if dump.partitions == 1
        else f"partitions {dump.partition}..{last}"
    )
    shape = "x".join(map(str, dump.shape))
    return f"{dump.space} {partitions} offset {dump.offset:#x}, {shape} {dump.dtype}"


def _show_memory(out: Output, dump: Dump, core: NeuronCore) -> None:
    """The elements of each partition in order, some a row; what is long is cut."""
    rows = dump.read(core).reshape(dump.partitions, -1)
    memory = core.sbuf if dump.space == "sbuf" else core.psum
    out.line(f"{_title(dump)}:")
    count = min(rows.shape[1], _ELEMENTS_SHOWN)
    columns = min(count, _COLUMNS)
    body = []
    for row in range(min(len(rows), _PARTITIONS_SHOWN)):
        partition = dump.partition + row
        shown = rows[row, :count]
        if dump.dtype in FLOAT_TYPES_AND_FP32R:
            shown = memory.values(partition, dump.offset, count, dump.dtype)
        cells = [str(element) for element in shown] + [""] * (-count % columns)
        for first in range(0, count, columns):
            label = str(partition) if not first else ""
            body.append([label, str(first), *cells[first : first + columns]])
    header = ["partition", "element", *(f"+{column}" for column in range(columns))]
    out.table(body, header, indent=2, right=range(columns + 2))
    if rows.shape[1] > count:
        out.line(f"  … {rows.shape[1] - count} more elements a partition")
    if len(rows) > _PARTITIONS_SHOWN:
        out.line(f"  … {len(rows) - _PARTITIONS_SHOWN} more partitions")
