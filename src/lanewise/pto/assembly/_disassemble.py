"""From words to the specification's form of assembly text. Source: PTO assembly."""

from __future__ import annotations

from collections.abc import Sequence

from lanewise.pto.assembly._commands import UNITS
from lanewise.pto.bundle import program_words
from lanewise.pto.datatypes import DTYPE_CODES
from lanewise.pto.faults import PtoFault
from lanewise.pto.instructions import BY_SELECTOR
from lanewise.pto.registers import GPR_NAMES, TileName
from lanewise.pto.state import pe_mask_text
from lanewise.pto.words import (
    HAND_CODES,
    LAYOUT_CODES,
    LB_CODES,
    PAD_CODES,
    RELATION_CODES,
    RMODE_CODES,
    Bdatr,
    Bdim,
    Bior,
    Bios,
    Biot,
    Bstart,
    BundleWord,
    Cbdimi,
    ProgramWord,
    decode_word,
    encoded_width,
)


def disassemble(program: Sequence[ProgramWord] | bytes) -> str:
    """The text of a program, one command a line. A word without a form prints as ``.word``."""
    return "".join(f"{_line(word)}\n" for word in program_words(program))


def _line(item: ProgramWord) -> str:
    try:
        word = decode_word(item)
    except PtoFault as fault:
        if isinstance(item, bytes) and fault.rule == "encoding.cut":
            return f"// the program ends inside a word: {item.hex(' ')}"
        return _raw(item)
    return print_word(word)


def _raw(item: ProgramWord) -> str:
    raw, width = encoded_width(item)
    return f".word 0x{raw:0{width // 4}x}"


def print_word(word: BundleWord) -> str:
    """A decoded word as a command."""
    match word:
        case Bstart():
            operation = BY_SELECTOR.get(word.selector)
            unit = UNITS[-1] if operation is None else f"BSTART.{operation.unit}"
            name = f"0x{word.selector:02x}" if operation is None else operation.name
            return f"{unit} {name}, {DTYPE_CODES[word.dtype]}"
        case Bdatr():
            return f"B.DATR {{{', '.join(_attributes(word))}}}"
        case Bdim():
            return f"B.DIM {GPR_NAMES[word.src]}, {word.imm}, ->{LB_CODES[word.lb]}"
        case Cbdimi():
            return f"C.B.DIMI {word.imm}, ->{LB_CODES[word.lb]}"
        case Bior():
            sources = ", ".join(GPR_NAMES[index] for index in word.sources)
            return f"B.IOR {sources}, ->{GPR_NAMES[word.dst]}"
        case Biot():
            return f"B.IOT {', '.join(_binding(word))}"
        case Bios():
            return f"B.IOS S{word.tid}, mask={pe_mask_text(word.pemode)}, size={word.size}"
    return word.form


def _attributes(word: Bdatr) -> tuple[str, ...]:
    """The seven elements; a relation of 0 is what an operation without one has."""
    return (
        LAYOUT_CODES[word.layout],
        DTYPE_CODES[word.dtype],
        PAD_CODES[word.pad],
        RELATION_CODES[word.cmode] if word.cmode else "None",
        RMODE_CODES[word.rmode],
        str(word.sat),
        str(word.canonicalize),
    )


def _binding(word: Biot) -> list[str]:
    parts = [str(TileName.from_code(code)) for code in word.tiles]
    parts.append(f"mask={pe_mask_text(word.pemode)}")
    if word.last:
        parts.append("last")
    if word.size:
        parts.append(f"->{HAND_CODES[word.hand]}<{size_text(64 << word.size)}>")
    return parts


def size_text(size: int) -> str:
    """A capacity as it is written: ``128B``, ``2K``."""
    return f"{size}B" if size < 1024 else f"{size // 1024}K"
