"""Assembly text of bundles: the specification's form, one command a line, and a macro form.

The disassembler prints the specification's form; assembling what it prints gives the same words.
``;`` and ``#`` at the start of a line and ``//`` anywhere begin a comment. Source: PTO assembly.
"""

from __future__ import annotations

from collections.abc import Iterable

from lanewise.errors import unknown_name
from lanewise.pto.assembly._commands import COMMANDS, UNITS, bstart
from lanewise.pto.assembly._disassemble import disassemble, print_word
from lanewise.pto.assembly._line import COMMENT_STARTS, AssemblyError, Line
from lanewise.pto.assembly._macro import macro
from lanewise.pto.faults import PtoFault
from lanewise.pto.instructions import BY_NAME
from lanewise.pto.words import BundleWord


def assemble(source: str | Iterable[str], *, name: str = "<text>") -> list[BundleWord]:
    """The words of assembly text, given as text or as lines. ``name`` is used in messages.

    Raises AssemblyError at the first line that is no command.
    """
    lines = source.splitlines() if isinstance(source, str) else source
    words: list[BundleWord] = []
    for number, text in enumerate(lines, start=1):
        if text.lstrip()[:1] in COMMENT_STARTS:
            continue
        line = Line(text, name, number)
        if line.tokens:
            words += _command(line)
    return words


def _command(line: Line) -> list[BundleWord]:
    mnemonic = line.take("a command")
    folded = mnemonic.upper()
    if folded in BY_NAME:
        words = macro(line, BY_NAME[folded])
    elif folded in UNITS:
        words = [bstart(line)]
    elif folded in COMMANDS:
        words = [COMMANDS[folded](line)]
    else:
        known = (*UNITS, *COMMANDS, *BY_NAME)
        line.back(str(unknown_name("command", mnemonic, known)))
    line.end()
    try:
        for word in words:
            word.check()
    except PtoFault as fault:
        line.fail(fault.args[0], line.tokens[0].column)
    return words


__all__ = ["AssemblyError", "assemble", "disassemble", "print_word"]
