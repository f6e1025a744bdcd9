"""The specification's form: one command a line, one word a command. Source: PTO assembly."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from lanewise.errors import UsageError
from lanewise.pto.assembly._line import Line
from lanewise.pto.datatypes import DTYPE_CODES
from lanewise.pto.instructions import BY_NAME
from lanewise.pto.registers import TileName
from lanewise.pto.words import (
    LAYOUT_CODES,
    LB_CODES,
    PAD_CODES,
    RELATION_CODES,
    RMODE_CODES,
    Bdatr,
    Bdim,
    Bior,
    Bios,
    BiotNone,
    BiotOne,
    BiotTwo,
    Bstart,
    Bstop,
    BundleWord,
    Cbdimi,
    Cbstop,
    encoded_width,
    raw_word,
)

#: Spellings of the opening command; any of them is accepted for any operation.
UNITS = ("BSTART.VEC", "BSTART.SFU", "BSTART.TEPL")


def _by_name(codes: Mapping[int, str]) -> Mapping[str, int]:
    return MappingProxyType({name: code for code, name in codes.items()})


DTYPES = _by_name(DTYPE_CODES)
RELATIONS = _by_name(RELATION_CODES)
PADS = _by_name(PAD_CODES)

#: The elements of a B.DATR list, in order, with their names.
DATR_ELEMENTS: tuple[tuple[str, Mapping[str, int]], ...] = (
    ("layout", _by_name(LAYOUT_CODES)),
    ("dtype", DTYPES),
    ("pad", PADS),
    ("cmode", {"None": 0, **RELATIONS}),
    ("rmode", _by_name(RMODE_CODES)),
    ("sat", {}),
    ("canonicalize", {}),
)


def bstart(line: Line) -> BundleWord:
    """``BSTART.VEC TCMP, FP32``, after the mnemonic; a selector number stands for a name."""
    names = {op.name: op.selector for op in BY_NAME.values()}
    selector = line.code("operation", names, 128)
    line.expect(",")
    dtype = line.code("data type", DTYPES, 32)
    return Bstart(mode=selector >> 5, function=selector & 31, dtype=dtype)


def _datr(line: Line) -> BundleWord:
    line.expect("{")
    values: dict[str, object] = {}
    for field, codes in DATR_ELEMENTS:
        if values:
            line.expect(",")
        width = Bdatr.fields[field].width
        values[field] = line.code(field, codes, 1 << width)
    if line.accept(","):
        # A later revision writes two more elements; here they can only be 0.
        for _ in range(2):
            if line.number("a trailing element", 1) == 0 and line.peek == "}":
                break
            line.expect(",")
    line.expect("}")
    return Bdatr(**values)


def _dim(line: Line) -> BundleWord:
    source = line.register()
    line.expect(",")
    immediate = line.number("immediate", 1 << 17)
    return Bdim(src=source, imm=immediate, lb=_dimension(line))


def _dimi(line: Line) -> BundleWord:
    immediate = line.number("immediate", 1 << 8)
    return Cbdimi(imm=immediate, lb=_dimension(line))


def _dimension(line: Line) -> int:
    line.expect(",")
    line.expect("->")
    return line.code("dimension", _by_name(LB_CODES), len(LB_CODES))


def _ior(line: Line) -> BundleWord:
    values: dict[str, object] = {}
    count = 0
    while line.peek:
        if values:
            line.expect(",")
        if line.accept("->"):
            values["dst"] = line.register()
            break
        if count == 3:
            line.fail("B.IOR has at most three sources")
        values[f"src{count}"] = line.register()
        count += 1
    return Bior(**values)


def _iot(line: Line) -> BundleWord:
    tiles: list[TileName] = []
    values: dict[str, object] = {}
    while "#" in line.peek:
        if len(tiles) == 2:
            line.fail("B.IOT has at most two sources")
        tiles.append(line.tile())
        line.expect(",")
    line.expect("mask")
    values["pemode"] = line.pemode()
    while line.accept(","):
        if line.accept("last"):
            values["last"] = 1
        else:
            line.expect("->")
            values["hand"], values["size"] = line.destination()
            break
    return binding(tiles, values)


def binding(tiles: Sequence[TileName], values: dict[str, object]) -> BundleWord:
    form = (BiotNone, BiotOne, BiotTwo)[len(tiles)]
    return form(**{f"src{n}": tile.code for n, tile in enumerate(tiles)}, **values)


def _ios(line: Line) -> BundleWord:
    text = line.take("a Shared tile")
    if not re.fullmatch(r"S\d+", text, re.IGNORECASE) or int(text[1:]) > 255:
        line.back(f"a Shared tile is S0..S255, not {text!r}")
    line.expect(",")
    line.expect("mask")
    pemode = line.pemode()
    size = 0
    if line.accept(","):
        line.expect("size")
        line.expect("=")
        size = line.number("size code", 16)
    return Bios(tid=int(text[1:]), pemode=pemode, size=size)


def _raw(line: Line) -> BundleWord:
    text = line.take("a word")
    try:
        return raw_word(*encoded_width(text))
    except UsageError as error:
        line.back(str(error))


#: How each command but BSTART reads its operands.
COMMANDS: Mapping[str, Callable[[Line], BundleWord]] = {
    "B.DATR": _datr,
    "B.DIM": _dim,
    "C.B.DIMI": _dimi,
    "B.IOR": _ior,
    "B.IOT": _iot,
    "B.IOS": _ios,
    "BSTOP": lambda line: Bstop(),
    "C.BSTOP": lambda line: Cbstop(),
    ".WORD": _raw,
}
