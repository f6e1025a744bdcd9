"""The macro form: one line an operation, expanded into its bundle. Source: PTO assembly."""

from __future__ import annotations

from dataclasses import dataclass, field

from lanewise.errors import unknown_name
from lanewise.pto.assembly._commands import DTYPES, PADS, RELATIONS, binding
from lanewise.pto.assembly._line import Line
from lanewise.pto.carriers import Carrier
from lanewise.pto.datatypes import DTYPE_NONE
from lanewise.pto.instructions import Operation
from lanewise.pto.instructions._schema import Form
from lanewise.pto.registers import TileName
from lanewise.pto.state import PE_MODES
from lanewise.pto.words import (
    RELATION_CODES,
    RMODE_CODES,
    Bdatr,
    Bdim,
    Bior,
    Bstart,
    Bstop,
    BundleWord,
)

_DIMENSION_LIMIT = 1 << 17
_HALVES = {"Low": 0, "High": 1}
_SOURCES_A_RECORD = 3
_ALL_PES = len(PE_MODES) - 1


@dataclass(slots=True)
class _Macro:
    """What a macro line says."""

    rows: int = 0
    columns: int = 0
    dtype: int = DTYPE_NONE
    attributes: dict[str, object] = field(default_factory=dict)
    pemode: int = _ALL_PES
    tiles: list[TileName] = field(default_factory=list)
    registers: list[int] = field(default_factory=list)
    register: int | None = None
    destination: tuple[int, int] | None = None


def macro(line: Line, operation: Operation) -> list[BundleWord]:
    """The bundle that a macro line stands for, after its mnemonic."""
    found = _Macro()
    _read_attributes(line, found)
    while line.accept(","):
        if line.accept("->"):
            _read_destination(line, found)
            break
        if "#" in line.peek:
            found.tiles.append(line.tile())
        else:
            found.registers.append(line.register())
    form = next((form for form in operation.forms if _fits(form, found)), None)
    if form is None:
        known = " or ".join(f"({form})" for form in operation.forms)
        line.fail(f"the operands fit no form of {operation.name}: {known}")
    return _expand(operation, form, found, line)


def _read_attributes(line: Line, found: _Macro) -> None:
    """``<Row=32, Col=1, FP32, …>``: shape and type first, then attributes in any order."""
    line.expect("<")
    line.expect("Row")
    line.expect("=")
    found.rows = line.number("rows", _DIMENSION_LIMIT)
    line.expect(",")
    line.expect("Col")
    line.expect("=")
    found.columns = line.number("columns", _DIMENSION_LIMIT)
    line.expect(",")
    found.dtype = line.code("data type", DTYPES, 1 << 5)
    while line.accept(","):
        name = line.take("an attribute")
        if name == "mask":
            found.pemode = line.pemode()
        elif name == "off":
            line.expect("=")
            found.attributes["rmode"] = line.number("byte offset", len(RMODE_CODES))
        elif name in RELATIONS:
            found.attributes["cmode"] = RELATIONS[name]
        elif name in PADS:
            found.attributes["pad"] = PADS[name]
        elif name in _HALVES:
            found.attributes["sat"] = _HALVES[name]
        else:
            known = (*RELATION_CODES.values(), *PADS, *_HALVES, "off", "mask")
            line.back(str(unknown_name("attribute", name, known)))
    line.expect(">")


def _read_destination(line: Line, found: _Macro) -> None:
    if line.peek in ("T", "U", "M", "N"):
        found.destination = line.destination()
    else:
        found.register = line.register()


def _fits(form: Form, found: _Macro) -> bool:
    """Whether the operands are those of a form, whatever the number of registers."""
    wants_register = form.registers is not None and form.registers.destination
    return (
        len(found.tiles) == sum(len(record.sources) for record in form.tiles)
        and (found.register is not None) == wants_register
        and (found.destination is not None) == any(r.destination for r in form.tiles)
    )


def _expand(operation: Operation, form: Form, found: _Macro, line: Line) -> list[BundleWord]:
    words: list[BundleWord] = [
        Bstart(mode=operation.mode, function=operation.function, dtype=found.dtype)
    ]
    if found.attributes:
        pads = {"pad": int(operation.omitted_pad)}
        words.append(Bdatr(**{**pads, **found.attributes}))
    words.append(Bdim(lb=0, imm=found.columns))
    words.append(Bdim(lb=1, imm=found.rows))
    if operation.has_lb2:
        words.append(Bdim(lb=2, imm=found.columns))
    words += _register_records(operation, form, found, line)
    tiles = iter(found.tiles)
    for record in form.tiles:
        values: dict[str, object] = {"pemode": found.pemode, "last": int(record.last)}
        if record.destination and found.destination is not None:
            values["hand"], values["size"] = found.destination
        words.append(binding([next(tiles) for _ in record.sources], values))
    words.append(Bstop())
    return words


def _register_records(
    operation: Operation, form: Form, found: _Macro, line: Line
) -> list[BundleWord]:
    """The B.IOR records, none when no register is named."""
    most = operation.records.most
    if len(found.registers) > (_SOURCES_A_RECORD if most == 1 else _SOURCES_A_RECORD + 1):
        line.fail(f"{operation.name} does not read {len(found.registers)} registers")
    needed = form.carrier is Carrier.GPR and form.registers is None
    if not (found.registers or found.register is not None or needed):
        return []
    records: list[BundleWord] = []
    for number in range(most):
        sources = found.registers[_SOURCES_A_RECORD * number :][:_SOURCES_A_RECORD]
        records.append(Bior(**{f"src{n}": index for n, index in enumerate(sources)}))
    if found.register is not None:
        records[0] = records[0].replace(dst=found.register)
    return records
