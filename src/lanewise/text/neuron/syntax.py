"""The form of an instruction's line, for documents and help."""

from __future__ import annotations

from lanewise.neuron.instruction import Instruction, InstructionWord
from lanewise.text.neuron.layout import layout_of
from lanewise.text.neuron.printer import field_text


def syntax(instruction: type[Instruction]) -> str:
    """What a line of the instruction has: patterns, then scalars and fields with their defaults.

    Fields that must be zero or that nothing looks at, and those that all words have, are left
    out; they are written by their names too.
    """
    layout = layout_of(instruction)
    parts = []
    for operand in layout.operands:
        kind = "TYPE " if operand.dtype is not None else ""
        parts.append(f"{operand.name}={kind}PATTERN")
    for scalar in layout.immediates:
        kind = "TYPE " if scalar.dtype is not None else ""
        parts.append(f"[{scalar.name}={kind}SCALAR]")
    for argument in layout.fields:
        is_shared = argument.path.partition(".")[0] in InstructionWord.fields
        if is_shared or argument.field.is_filler or argument.path in layout.implied:
            continue
        parts.append(f"[{argument.name}={field_text(argument, argument.default)}]")
    return f"{layout.mnemonic} {', '.join(parts)}"
