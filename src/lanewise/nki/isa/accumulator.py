"""The vector engine's running maximum, as select_reduce and range_select use it."""

from __future__ import annotations

from typing import Any

from lanewise.neuron.instructions import DveReadAccumulator
from lanewise.nki.call import Call
from lanewise.nki.enums import checked_enum, reduce_cmd
from lanewise.nki.errors import AccumulatorWarning
from lanewise.nki.lowering import walked
from lanewise.nki.operators import find_operator
from lanewise.nki.tile import NkiTensor

#: The accumulator command of a word for each command of the interface that it has.
CODES = {reduce_cmd.idle: 0, reduce_cmd.reduce: 2, reduce_cmd.reset_reduce: 3}


def checked_command(call: Call, command: Any) -> reduce_cmd:
    """The command; an error for one that the words do not have."""
    command = checked_enum(call.function, "reduce_cmd", command, reduce_cmd)
    if command not in CODES:
        raise call.refuse(
            "reduce_cmd",
            f"{command.name} must be idle, reduce or reset_reduce",
            command.name,
            "idle, reduce or reset_reduce",
            "accumulator-command" if call.function == "select_reduce" else "reduce-command",
        )
    known: reduce_cmd = command
    return known


def check_maximum(call: Call, reduce_op: Any) -> None:
    """An error for a reduction other than the maximum, the only one the words have."""
    operator = find_operator(call.function, "reduce_op", reduce_op)
    if operator.name != "maximum":
        raise call.refuse(
            "reduce_op",
            f"{operator.name} must be maximum",
            operator.name,
            "maximum",
            "select-ops" if call.function == "select_reduce" else "reduce-op",
        )


def warn_idle_read(call: Call, command: reduce_cmd, reduce_res: Any) -> None:
    """An idle command with a place for the result reads what earlier steps left."""
    if command == reduce_cmd.idle and reduce_res is not None:
        call.run.warn_once(
            AccumulatorWarning,
            f"{call.function} reduce_res with reduce_cmd.idle reads the accumulator as earlier "
            "steps left it",
            call.location,
        )


def read_words(call: Call, reduce_res: NkiTensor | None) -> list[bytes]:
    """0x9b into the tile, if there is one."""
    if reduce_res is None:
        return []
    return [
        DveReadAccumulator(
            dst=walked(reduce_res).tensor(call.generation),
            dtype=reduce_res.dtype.output,
            num_active_channels=reduce_res.geometry.partitions,
        ).to_bytes()
    ]
