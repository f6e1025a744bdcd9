"""select_reduce: SELECT_REDUCE, and DVE_READ_ACCUMULATOR where the maximum is asked for."""

from __future__ import annotations

from typing import Any

from lanewise.neuron.dtypes import Dtype
from lanewise.neuron.instructions import SelectReduce
from lanewise.nki.call import Call, Lowered, Tiles, form_of, interface
from lanewise.nki.checks import FLOATS, INPUTS, Checker, Count, Demands, Operand
from lanewise.nki.enums import reduce_cmd
from lanewise.nki.errors import TargetWarning
from lanewise.nki.estimate import plain
from lanewise.nki.isa import accumulator
from lanewise.nki.isa.tensor_copy import refuse_dimensions
from lanewise.nki.lowering import trouble, walked
from lanewise.nki.numbers import fp32_bits, is_number
from lanewise.nki.operators import OPERATORS
from lanewise.nki.targets import nc_version
from lanewise.nki.tile import NkiTensor

_DIMENSIONS = 2
_DATA = tuple(name for name in INPUTS if name not in ("int32", "uint32", "tfloat32"))
_DEMANDS = Demands(
    operands=(
        Operand("on_true", "data", _DATA, "data-not-32bit-int"),
        Operand(
            "predicate",
            "predicate",
            ("int8", "uint8", "bool_", "int16", "uint16"),
            "predicate-dtype",
        ),
        Operand("on_false", "immediate", INPUTS, "immediate-dtype", is_optional=True),
        Operand("dst", "dst", INPUTS, "out-dtype", writes=True),
        Operand("reduce_res", "dst", FLOATS, "out-dtype", writes=True, is_optional=True),
    ),
    alike=(
        ("predicate", "on_true", "sources-same-count"),
        ("dst", "on_true", "dst-same-count"),
    ),
    counts=(Count("on_false", 1, 1, "immediate"), Count("reduce_res", 1, 1, "element-count")),
    placed=("on_true", "predicate"),
)


@interface
def select_reduce(
    dst: Any,
    predicate: Any,
    on_true: Any,
    on_false: Any,
    reduce_res: Any = None,
    reduce_cmd: reduce_cmd = reduce_cmd.idle,
    reduce_op: Any = OPERATORS["maximum"],
    reverse_pred: bool = False,
    name: str | None = None,
) -> None:
    """``dst`` = ``on_true`` where ``predicate`` is not 0, else ``on_false``; with a maximum.

    ``on_false`` is a number or a tile with one element a partition. The running maximum of each
    partition is over the FP32 values before they are converted to dst; ``reduce_cmd`` says what
    happens to it, ``reduce_res`` takes it.
    """
    call = Call.begin("select_reduce", name)
    selected(call, dst, predicate, on_true, on_false, reduce_res, reduce_cmd, reduce_op,
             reverse_pred)  # fmt: skip


def selected(
    call: Call,
    dst: Any,
    predicate: Any,
    on_true: Any,
    on_false: Any,
    reduce_res: Any,
    command: Any,
    reduce_op: Any,
    reverse_pred: Any,
) -> None:
    """The call after its arguments have been sorted into tiles and parameters."""
    command = accumulator.checked_command(call, command)
    accumulator.check_maximum(call, reduce_op)
    target = call.run.machine.target
    if target.version == nc_version.gen2:
        call.run.warn_once(
            TargetWarning,
            f"select_reduce is reported to give wrong results on {target}",
            call.location,
        )
    accumulator.warn_idle_read(call, command, reduce_res)
    tiles = {"on_true": on_true, "predicate": predicate, "on_false": on_false, "dst": dst,
             "reduce_res": reduce_res}  # fmt: skip
    inline = None
    if is_number(on_false):
        inline = fp32_bits(on_false)
        tiles["on_false"] = None
    elif not isinstance(on_false, NkiTensor):
        kind = type(on_false).__name__
        raise call.refuse("on_false", f"is a {kind}, must be a number or a tile", kind)
    call.issue(lower, tiles, {"inline": inline, "command": command, "reverse": bool(reverse_pred)})


def lower(
    call: Call, tiles: Tiles, inline: int | None, command: reduce_cmd, reverse: bool
) -> Lowered:
    """0xea, then 0x9b for the result of the reduction."""
    Checker(call, _DEMANDS, tiles).run()
    dst, data, predicate = tiles["dst"], tiles["on_true"], tiles["predicate"]
    on_false, reduce_res = tiles["on_false"], tiles["reduce_res"]
    walks = [walked(predicate), walked(data), walked(dst)]
    if any(trouble(walk.pairs, _DIMENSIONS) for walk in walks):
        refuse_dimensions(call, {"predicate": predicate, "on_true": data, "dst": dst}, _DIMENSIONS)
    source, scalar, scalar_dtype = 0, inline, Dtype.FP32
    if inline is None:
        column = walked(on_false)
        source, scalar_dtype = 1, on_false.dtype.code
        scalar = call.generation.address(column.space, column.partition, column.offset)
    truth, values, target = walks
    words = [
        SelectReduce(
            predicate=truth.tensor(call.generation),
            data=values.tensor(call.generation),
            dst=target.tensor(call.generation),
            predicate_dtype=predicate.dtype.code,
            data_dtype=data.dtype.code,
            out_dtype=dst.dtype.output,
            imm0_dtype=scalar_dtype,
            imm0_source=source,
            imm0=scalar,
            reverse_operands=1 if reverse else 0,
            accumulator_command=accumulator.CODES[command],
            num_active_channels=dst.geometry.partitions,
        ).to_bytes()
    ]
    words += accumulator.read_words(call, reduce_res)
    merges = call.run.machine.profile.select_reduce == "merge"
    return Lowered(
        tuple(words),
        reads=("on_true", "predicate", "on_false"),
        writes=("dst", "reduce_res"),
        estimate=plain(dst.geometry.elements, 2),
        form=form_of(
            data.dtype,
            dst.dtype,
            None if on_false is None else on_false.dtype,
            None if reduce_res is None else reduce_res.dtype,
        ),
        partial=(_kept_where_true if reverse else _kept_where_false) if merges else None,
    )


def _kept_where_false(call: Call, tiles: Tiles) -> dict[str, Any]:
    """Under the merge reading, dst is written where the predicate holds."""
    if tiles["dst"].storage.written.complete:
        return {}
    return {"dst": (tiles["predicate"].codes() != 0).reshape(tiles["dst"].shape)}


def _kept_where_true(call: Call, tiles: Tiles) -> dict[str, Any]:
    if tiles["dst"].storage.written.complete:
        return {}
    return {"dst": (tiles["predicate"].codes() == 0).reshape(tiles["dst"].shape)}
