"""The Perfetto (Chrome JSON) trace of a simulation: one track an engine, a slice a step.

Durations are the cycle estimates, with one cycle shown as a microsecond; a step without a formula
gets the smallest duration and says so. Warnings are instants.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lanewise.neuron.roster import opcode_names
from lanewise.nki.estimate import OVERHEAD

if TYPE_CHECKING:
    from lanewise.nki.launch.simulation import Simulation

_TRACKS = ("vector", "gpsimd", "scalar", "dma", "outside")
_SCHEMA = 1


def trace_events(simulation: Simulation) -> dict[str, Any]:
    """The trace as plain values."""
    names = opcode_names()
    events: list[dict[str, Any]] = []
    for index, run in enumerate(simulation.runs):
        events.append(_metadata(index, 0, "process_name", f"program {index}"))
        for place, track in enumerate(_TRACKS):
            events.append(_metadata(index, place, "thread_name", track))
        now = 0
        starts: dict[int, int] = {}
        for step in run.steps:
            starts[step.index] = now
            track = step.engine if not step.outside or step.engine == "dma" else "outside"
            known = step.estimate.cycles
            duration = 1 if known is None else known + OVERHEAD
            opcodes = [names[word[0]] for word in step.words]
            events.append(
                {
                    "ph": "X",
                    "pid": index,
                    "tid": _TRACKS.index(track),
                    "ts": now,
                    "dur": duration,
                    "name": " + ".join(opcodes) or step.function,
                    "cat": "outside" if step.outside else "modelled",
                    "args": {
                        "function": step.function,
                        "label": step.label,
                        "location": str(step.location),
                        "file": step.location.file,
                        "operands": [str(operand) for operand in step.operands],
                        "words": [word.hex() for word in step.words],
                        "profile": step.profile,
                        "estimate": step.estimate.text,
                        "note": step.note,
                    },
                }
            )
            now += duration
        for warned in run.warnings:
            events.append(
                {
                    "ph": "i",
                    "s": "p",
                    "pid": index,
                    "tid": 0,
                    "ts": starts.get(warned.step or 0, now),
                    "name": f"warning: {warned.kind}",
                    "args": {"message": warned.message, "location": str(warned.location)},
                }
            )
    return {
        "traceEvents": events,
        "displayTimeUnit": "ns",
        "otherData": {
            "schema": _SCHEMA,
            "target": simulation.target.name,
            "profile": simulation.profile.description,
            "durations": "estimates: one cycle is shown as one microsecond",
        },
    }


def _metadata(process: int, thread: int, kind: str, name: str) -> dict[str, Any]:
    return {"ph": "M", "pid": process, "tid": thread, "name": kind, "args": {"name": name}}


def write_trace(path: Path, simulation: Simulation) -> None:
    """Write the trace to a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(trace_events(simulation), indent=1), encoding="utf-8")
