"""Cases of the PTO machine: parsing them strictly and comparing a run with what they expect."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import msgspec

from lanewise.check import pto_schema as schema
from lanewise.check.errors import CaseError
from lanewise.check.pto_elements import number, result_differences, run_element
from lanewise.errors import UsageError
from lanewise.model import Verdict
from lanewise.pto import proposal
from lanewise.pto.core import PtoCore
from lanewise.pto.datatypes import DataType
from lanewise.pto.descriptor import Descriptor, Kind, smallest_capacity
from lanewise.pto.faults import PtoFault
from lanewise.pto.geometry import Layout
from lanewise.pto.padding import PadValue
from lanewise.pto.registers import GPR_COUNT, GPR_NAMES, Hand, TileName
from lanewise.pto.state import PE_COUNT, ProcessingElement
from lanewise.pto.tile import Tile
from lanewise.pto.words import Bstart, encoded_width

__all__ = ["parse_case", "run_case"]


def parse_case(document: Any) -> schema.PtoCase:
    """A case from decoded JSON; CaseError with the JSON path of what is wrong."""
    try:
        case = msgspec.convert(document, schema.PtoCase, strict=True)
    except msgspec.ValidationError as error:
        raise CaseError(str(error)) from error
    if (case.program is None) == (case.operation is None):
        raise CaseError("expected either a program or an operation - at `$`")
    is_state = isinstance(case.operation, schema.STATE_OPERATIONS)
    if case.program is not None and case.revision != "frozen":
        raise CaseError("a program is of revision 'frozen' - at `$.revision`")
    if is_state and case.revision != "proposal":
        raise CaseError("this operation is of revision 'proposal' - at `$.revision`")
    if (case.expect.verdict == "fault") != (case.expect.fault is not None):
        raise CaseError("expected fault exactly with verdict 'fault' - at `$.expect`")
    if not 0 <= case.pe < PE_COUNT:
        raise CaseError(f"expected 0..{PE_COUNT - 1} - at `$.pe`")
    _validate_state(case)
    return case


def _validate_state(case: schema.PtoCase) -> None:
    """Names, registers, words and tiles, each with its path."""
    for at, word in enumerate(case.program or ()):
        with _at(f"program[{at}]"):
            encoded_width(word)
    _initial_core(case, "auto")
    for path, expected in _expected_states(case):
        with _at(path):
            _expected_gprs(expected.gprs)
            _expected_gprs(expected.gpr_undefined)
            for name in expected.hands or ():
                Hand.named(name)
            for tile in expected.tiles:
                TileName.parse(tile.tile)


class _at:
    """Turns a UsageError inside into a CaseError with this path."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, UsageError):
            raise CaseError(f"{error} - at `$.{self.path}`") from error


def _expected_states(case: schema.PtoCase) -> Iterator[tuple[str, schema.StateExpected]]:
    """The states that the case compares, with their paths."""
    if case.expect.pes is None:
        yield "expect", case.expect
        return
    for name, expected in case.expect.pes.items():
        yield f"expect.pes.{name}", expected


def _pe_number(name: str, path: str) -> int:
    if not (name.isdecimal() and int(name) < PE_COUNT):
        raise CaseError(f"expected a PE 0..{PE_COUNT - 1}, got {name!r} - at `$.{path}`")
    return int(name)


def _expected_gprs(values: dict[str, str]) -> dict[int, int]:
    found = {}
    for name, text in values.items():
        if not (name.isdecimal() and int(name) < GPR_COUNT):
            raise UsageError(f"expected a register 0..{GPR_COUNT - 1}, got {name!r}")
        found[int(name)] = number(text, f"register {name}")
    return found


def _initial_core(case: schema.PtoCase, engine: str) -> PtoCore:
    """A core with the case's initial state."""
    core = PtoCore(revision=case.revision, engine=engine)
    common = schema.PeInput(case.gprs, case.tiles, case.flags)
    own = {_pe_number(name, f"pes.{name}"): value for name, value in case.pes.items()}
    for pe in range(PE_COUNT):
        given = own.get(pe, schema.PeInput())
        prefix = f"pes.{pe}." if pe in own else ""
        gprs = common.gprs if given.gprs is None else given.gprs
        with _at(f"{prefix}gprs"):
            for index, value in _expected_gprs(gprs or {}).items():
                core.set_gpr(index, value, pe=pe)
        with _at(f"{prefix}flags"):
            core.set_flags((common.flags if given.flags is None else given.flags) or 0, pe=pe)
        tiles = common.tiles if given.tiles is None else given.tiles
        state = core.state[pe]
        for at, tile in enumerate(tiles or ()):
            with _at(f"{prefix}tiles[{at}]"):
                built = build_tile(tile)
                for hand in tile.hand:
                    # Not core.push: a case may begin with more tiles than the storage holds.
                    state = state.with_tile(Hand.named(hand), built)
        core.state = (*core.state[:pe], state, *core.state[pe + 1 :])
    return core


def build_tile(given: schema.TileInput) -> Tile:
    """The tile that a case describes; UsageError when its payload does not fit its shape."""
    descriptor = Descriptor(
        DataType.named(given.dtype),
        Layout.named(given.layout),
        given.rows,
        given.cols,
        given.valid_rows,
        given.valid_cols,
        Kind(given.kind),
        None if given.basis is None else DataType.named(given.basis),
    )
    if min(given.rows, given.cols) < 1:
        raise UsageError("a tile has at least one row and one column")
    size = descriptor.payload_bytes
    capacity = smallest_capacity(size) if given.capacity is None else given.capacity
    descriptor = replace(descriptor, capacity=capacity)
    if (given.hex is None) == (given.fill is None):
        raise UsageError("a tile has either hex or fill")
    if given.fill is not None:
        pattern = hex_bytes(given.fill)
        if not pattern:
            raise UsageError("fill must name at least one byte")
        payload = (pattern * (size // len(pattern) + 1))[:size]
    else:
        payload = hex_bytes(given.hex or "")
    return Tile(descriptor, payload, hex_bytes(given.undefined or ""))


def hex_bytes(text: str) -> bytes:
    """Bytes written as hexadecimal digits; UsageError otherwise."""
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise UsageError(f"expected pairs of hex digits, got {text[:40]!r}") from None


def run_case(case: schema.PtoCase, engine: str = "auto") -> list[str]:
    """What differs from what the case expects, one line a difference; empty when it passes.

    ``engine`` chooses the kernels.
    """
    if case.operation is not None and not isinstance(case.operation, schema.STATE_OPERATIONS):
        return _run_element(case, engine)
    core = _initial_core(case, engine)
    before = core.state
    report = core.attempt(_program(case))
    if report.verdict is not Verdict(case.expect.verdict):
        return [f"verdict: expected {_wanted(case.expect)}, got {report.error or 'ok'}"]
    if isinstance(report.error, PtoFault):
        return _fault_differences(case, core, before, report.error)
    return list(_state_differences(case, core, before))


def _wanted(expect: schema.Expectation) -> str:
    return expect.verdict if expect.fault is None else f"fault {expect.fault}"


def _run_element(case: schema.PtoCase, engine: str) -> list[str]:
    try:
        found = run_element(case.operation, engine)
    except PtoFault as fault:
        if case.expect.fault == fault.kind:
            return []
        return [f"verdict: expected {_wanted(case.expect)}, got {fault}"]
    if case.expect.verdict == "fault":
        return [f"verdict: expected {_wanted(case.expect)}, got ok with {found}"]
    return result_differences(found, case.expect.result or {})


def _program(case: schema.PtoCase) -> list[Any]:
    match case.operation:
        case schema.ProposalTcmp() as op:
            return [
                proposal.Tcmp(
                    op.relation,
                    DataType.named(op.dtype),
                    Layout.named(op.layout),
                    TileName.parse(op.left),
                    TileName.parse(op.right),
                    tuple(op.dst),
                    PadValue.named(op.pad),
                    pe_mask=op.pe_mask,
                )
            ]
        case schema.ProposalTsel() as op:
            return [
                proposal.Tsel(
                    DataType.named(op.dtype),
                    Layout.named(op.layout),
                    TileName.parse(op.true),
                    TileName.parse(op.false),
                    tuple(op.masks),
                    Hand.named(op.dst),
                    op.size_code,
                    PadValue.named(op.pad),
                    pe_mask=op.pe_mask,
                )
            ]
        case schema.ProposalP2r() as op:
            return [
                proposal.P2r(
                    tuple(op.sources),
                    Hand.named(op.dst),
                    op.byte_offset,
                    op.size_code,
                    DataType.named(op.dtype),
                    Layout.named(op.layout),
                    pe_mask=op.pe_mask,
                )
            ]
    return list(case.program or ())


def _last_bundle(case: schema.PtoCase) -> int:
    """The index of the program's last bundle: the number of its BSTART words, less one."""
    words = [encoded_width(word) for word in case.program or ()]
    return max(sum(width == 32 and Bstart.matches(raw) for raw, width in words) - 1, 0)


def _fault_differences(
    case: schema.PtoCase, core: PtoCore, before: tuple[ProcessingElement, ...], fault: PtoFault
) -> list[str]:
    expect = case.expect
    differences = []
    if fault.kind != expect.fault:
        differences.append(f"fault: expected {expect.fault}, got {fault}")
    index = _last_bundle(case) if expect.index is None else expect.index
    if fault.index != index:
        differences.append(f"index: expected {index}, got {fault.index}")
    if index == 0:
        for pe, (old, new) in enumerate(zip(before, core.state, strict=True)):
            if old != new:
                differences.append(f"PE{pe} changed although the first bundle was refused")
        return differences
    return differences + list(_state_differences(case, core, before))


def _state_differences(
    case: schema.PtoCase, core: PtoCore, before: tuple[ProcessingElement, ...]
) -> Iterator[str]:
    for path, expected in _expected_states(case):
        pe = case.pe if case.expect.pes is None else _pe_number(path.rsplit(".")[-1], path)
        prefix = "" if case.expect.pes is None else f"PE{pe} "
        for difference in _pe_differences(expected, core.state[pe], before[pe]):
            yield prefix + difference


def _pe_differences(
    expected: schema.StateExpected, found: ProcessingElement, before: ProcessingElement
) -> Iterator[str]:
    wanted = _expected_gprs(expected.gprs)
    ignored = _expected_gprs(expected.gpr_undefined)
    for index in range(GPR_COUNT):
        value = wanted.get(index, before.gpr(index))
        difference = (found.gpr(index) ^ value) & ~ignored.get(index, 0)
        if difference:
            bit = (difference & -difference).bit_length() - 1
            yield (
                f"gpr {index} ({GPR_NAMES[index]}): expected {value:#x}, "
                f"got {found.gpr(index):#x} (bit {bit} first)"
            )
    if expected.flags is not None and expected.flags != found.flags:
        yield f"flags: expected {expected.flags}, got {found.flags}"
    if expected.hands is not None:
        live = {h.name: len(found.hands[h]) for h in Hand if found.hands[h]}
        if live != expected.hands:
            yield f"hands: expected {expected.hands}, got {live}"
    for tile in expected.tiles:
        live_tile = found.tile(TileName.parse(tile.tile))
        if live_tile is None:
            yield f"{tile.tile}: expected a tile, there is none"
        else:
            for problem in _tile_differences(tile, live_tile):
                yield f"{tile.tile}: {problem}"


_SHAPE_KEYS = ("layout", "rows", "cols", "valid_rows", "valid_cols", "first_col", "capacity")


def _tile_differences(expected: schema.TileExpected, found: Tile) -> Iterator[str]:
    descriptor = found.descriptor
    live = {
        **{key: getattr(descriptor, key) for key in _SHAPE_KEYS},
        "dtype": descriptor.dtype.name,
        "kind": str(descriptor.kind),
        "basis": None if descriptor.basis is None else descriptor.basis.name,
    }
    for key, value in live.items():
        wanted = getattr(expected, key)
        if wanted is not None and wanted != value:
            yield f"{key}: expected {wanted}, got {value}"
    if expected.hex is None:
        return
    payload = hex_bytes(expected.hex)
    undefined = hex_bytes(expected.undefined) if expected.undefined else bytes(len(payload))
    if len(payload) != len(found.payload):
        yield f"payload: expected {len(payload)} bytes, got {len(found.payload)}"
        return
    at = _first_difference(undefined, found.undefined_mask(), bytes(len(payload)))
    if at is not None:
        yield f"definedness: byte {at // 8} bit {at % 8} differs"
    at = _first_difference(payload, found.payload, undefined)
    if at is not None:
        byte = at // 8
        yield (
            f"payload: byte {byte} expected {payload[byte]:02x}, got {found.payload[byte]:02x} "
            f"(bit {at % 8} first)"
        )


def _first_difference(expected: bytes, found: bytes, ignored: bytes) -> int | None:
    """The first bit that differs and is not ignored; None when there is none."""
    difference = int.from_bytes(expected, "little") ^ int.from_bytes(found, "little")
    difference &= ~int.from_bytes(ignored, "little")
    return (difference & -difference).bit_length() - 1 if difference else None
