"""Steps, words and errors in plain text, for reports of failures."""

from __future__ import annotations

import linecache
import textwrap
from typing import TYPE_CHECKING

from lanewise.neuron import Generation, Instruction, decode
from lanewise.neuron.roster import opcode_names
from lanewise.nki.errors import NkiValidationError

if TYPE_CHECKING:
    from lanewise.nki.launch.simulation import Simulation
    from lanewise.nki.steps import Step

_LAST_STEPS = 8


def dump_word(word: bytes, generation: str | Generation) -> str:
    """The word's name and bytes, then each field that differs from the fields' defaults."""
    instruction = decode(word, generation)
    lines = [opcode_names().get(word[0], "unknown")]
    lines += [f"  {word[start : start + 32].hex(' ', -4)}" for start in range(0, len(word), 32)]
    if isinstance(instruction, Instruction):
        usual = {leaf.path: leaf.raw for leaf in type(instruction)().leaves()}
        for leaf in instruction.leaves():
            if leaf.raw != usual[leaf.path] or leaf.path == "header.opcode":
                bits = leaf.ranges[0]
                meaning = "" if leaf.meaning is None else f"  {leaf.meaning}"
                lines.append(
                    f"  bits {bits.low:3}..{bits.low + bits.width - 1:<3} "
                    f"{leaf.path:<24} {leaf.raw:#x}{meaning}"
                )
    return "\n".join(lines)


def dump_step(step: Step, generation: str | Generation) -> str:
    """The step, its line in the kernel, and its words."""
    source = linecache.getline(step.location.file, step.location.line).strip()
    lines = [str(step), f"  at {step.location}" + (f": {source}" if source else "")]
    lines += [f"  {step.estimate.text}"] if step.words else []
    lines += [textwrap.indent(dump_word(word, generation), "  ") for word in step.words]
    return "\n".join(lines)


def dump_refusal(error: NkiValidationError) -> str:
    """What was refused, with the call's operands and its line in the kernel."""
    lines = [f"refused: {error.message}" + (f" [rule {error.rule}]" if error.rule else "")]
    if error.location is not None:
        source = linecache.getline(error.location.file, error.location.line).strip()
        lines.append(f"  at {error.location}" + (f": {source}" if source else ""))
    lines += [f"  {operand}" for operand in error.operands]
    return "\n".join(lines)


def dump_simulation(simulation: Simulation, error: BaseException | None = None) -> str:
    """What a failed test's reader wants to know: the refusal, the last steps, the last words."""
    steps = simulation.steps
    target = simulation.target
    lines = [
        f"target {target}, profile {simulation.profile.description}; "
        f"{len(steps)} steps, {len(simulation.program)} instruction words"
    ]
    if isinstance(error, NkiValidationError):
        lines.append(dump_refusal(error))
    lines += [
        f"warning ({warned.kind}): {warned.message}"
        + (f" ({warned.location})" if warned.location else "")
        for warned in simulation.warnings
    ]
    if steps:
        last = steps[-_LAST_STEPS:]
        lines.append("the last steps:" if len(last) < len(steps) else "the steps:")
        lines += [f"  {step} ({step.location})" for step in last]
    modelled = next((step for step in reversed(steps) if step.words), None)
    if modelled is not None:
        lines.append("the last instruction that ran:")
        lines.append(textwrap.indent(dump_step(modelled, target.generation), "  "))
    return "\n".join(lines)
