"""range_select: RANGE_SELECT, and DVE_READ_ACCUMULATOR where the maximum is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lanewise.neuron.instructions import RangeSelect
from lanewise.nki.call import Call, Lowered, Tiles, form_of, interface
from lanewise.nki.checks import FLOAT_INPUTS, FLOATS, Checker, Count, Demands, Operand
from lanewise.nki.enums import reduce_cmd
from lanewise.nki.estimate import at_least
from lanewise.nki.isa import accumulator
from lanewise.nki.isa.search import fitted
from lanewise.nki.lowering import walked
from lanewise.nki.numbers import fp32_bits, is_number
from lanewise.nki.operators import OPERATORS, find_operator
from lanewise.nki.targets import nc_version
from lanewise.nki.tile import NkiTensor

#: The most negative finite FP32 number, the only fill the device has.
FP32_MIN = -3.4028234663852886e38
_FILL_BITS = 0xFF7FFFFF
_LARGEST_INDEX = 1 << 24
_RELATIONS = {
    "equal": 0x12,
    "greater": 0x13,
    "greater_equal": 0x14,
    "less_equal": 0x15,
    "less": 0x16,
}
_DEMANDS = Demands(
    operands=(
        Operand("on_true_tile", "src", FLOAT_INPUTS, "in-dtype"),
        Operand("bound0", "bound-0", ("float32",), "bound-0", is_optional=True),
        Operand("bound1", "bound-1", ("float32",), "bound-1", is_optional=True),
        Operand("dst", "dst", FLOATS, "out-dtype", writes=True),
        Operand("reduce_res", "dst", FLOATS, "out-dtype", writes=True, is_optional=True),
    ),
    alike=(("dst", "on_true_tile", "same-count"),),
    counts=(
        Count("bound0", 1, 1, "bound-0"),
        Count("bound1", 1, 1, "bound-1"),
        Count("reduce_res", 1, 1, "element-count"),
    ),
    since=nc_version.gen3,
)


@interface
def range_select(
    dst: Any,
    on_true_tile: Any,
    comp_op0: Any,
    comp_op1: Any,
    bound0: Any,
    bound1: Any,
    reduce_cmd: reduce_cmd = reduce_cmd.reset_reduce,
    reduce_res: Any = None,
    reduce_op: Any = OPERATORS["maximum"],
    range_start: int = 0,
    on_false_value: float = FP32_MIN,
    name: str | None = None,
) -> None:
    """Keep the elements whose index lies in a range, make the others the most negative number.

    Element k is kept where ``(range_start + k) comp_op0 bound0`` and ``… comp_op1 bound1``, in
    FP32. The bounds are FP32 tiles with one element a partition, or numbers. The running maximum
    is over the FP32 values of the result.
    """
    call = Call.begin("range_select", name)
    arguments = RangeArguments.of(
        call,
        on_true_tile,
        (comp_op0, comp_op1),
        (bound0, bound1),
        reduce_cmd,
        reduce_res,
        reduce_op,
        range_start,
        on_false_value,
    )
    call.issue(lower, {"dst": dst, **arguments.tiles}, arguments.parameters)


@dataclass(frozen=True, slots=True)
class RangeArguments:
    """The arguments of a call sorted into tiles (without dst) and parameters of the words."""

    tiles: Tiles
    parameters: dict[str, Any]

    @classmethod
    def of(
        cls,
        call: Call,
        on_true_tile: Any,
        comparisons: tuple[Any, Any],
        bounds: tuple[Any, Any],
        command: Any,
        reduce_res: Any,
        reduce_op: Any,
        range_start: Any,
        on_false_value: Any,
    ) -> RangeArguments:
        """Sorted; an error for a parameter that no word can have."""
        command = accumulator.checked_command(call, command)
        accumulator.check_maximum(call, reduce_op)
        accumulator.warn_idle_read(call, command, reduce_res)
        tiles: Tiles = {"on_true_tile": on_true_tile, "reduce_res": reduce_res}
        inline = []
        for operand, bound in zip(("bound0", "bound1"), bounds, strict=True):
            number = is_number(bound)
            if not number and not isinstance(bound, NkiTensor):
                kind = type(bound).__name__
                raise call.refuse(operand, f"is a {kind}, must be a tile or a number", kind)
            tiles[operand] = None if number else bound
            inline.append(fp32_bits(bound) if number else None)
        parameters = {
            "relations": tuple(
                _relation(call, f"comp_op{place}", op) for place, op in enumerate(comparisons)
            ),
            "inline": tuple(inline),
            "command": command,
            "start": _start(call, range_start, on_true_tile),
            "fill": _fill(call, on_false_value),
        }
        return cls(tiles, parameters)


def lower(
    call: Call,
    tiles: Tiles,
    relations: tuple[int, int],
    inline: tuple[int | None, int | None],
    command: reduce_cmd,
    start: int,
    fill: int,
) -> Lowered:
    """0xbc, then 0x9b for the result of the reduction."""
    given = {operand.name: tiles[operand.name] for operand in _DEMANDS.operands}
    Checker(call, _DEMANDS, given).run()
    dst, src, reduce_res = tiles["dst"], tiles["on_true_tile"], tiles["reduce_res"]
    sources, values = [], []
    for operand, number in zip(("bound0", "bound1"), inline, strict=True):
        if number is None:
            column = walked(tiles[operand])
            sources.append(1)
            values.append(call.generation.address(column.space, column.partition, column.offset))
        else:
            sources.append(0)
            values.append(number)
    word = RangeSelect(
        src=fitted(call, "on_true_tile", src, 2).tensor(call.generation),
        dst=fitted(call, "dst", dst, 2).tensor(call.generation),
        in_dtype=src.dtype.code,
        out_dtype=dst.dtype.output,
        reduce_command=accumulator.CODES[command],
        base=float(start),
        fill_value=fill,
        comp_op0=relations[0],
        comp_op1=relations[1],
        bound0_source=sources[0],
        bound0=values[0],
        bound1_source=sources[1],
        bound1=values[1],
        num_active_channels=src.geometry.partitions,
    )
    words = [word.to_bytes(), *accumulator.read_words(call, reduce_res)]
    return Lowered(
        tuple(words),
        reads=("on_true_tile", "bound0", "bound1"),
        writes=("dst", "reduce_res"),
        estimate=at_least(src.geometry.elements),
        form=form_of(src.dtype, dst.dtype, None if reduce_res is None else reduce_res.dtype),
    )


def _relation(call: Call, argument: str, op: Any) -> int:
    operator = find_operator(call.function, argument, op)
    code = _RELATIONS.get(operator.name)
    if code is None:
        raise call.refuse(
            argument,
            f"{operator.name} must be equal, less, less_equal, greater or greater_equal",
            operator.name,
            "equal, less, less_equal, greater or greater_equal",
            f"comparison-{argument[-1]}",
        )
    return code


def _start(call: Call, range_start: Any, src: Any) -> int:
    """The first index, which FP32 must count up from by ones."""
    if not hasattr(range_start, "__index__") or isinstance(range_start, bool):
        kind = type(range_start).__name__
        raise call.refuse("range_start", f"is a {kind}, must be an integer", kind, "an integer")
    start = int(range_start)
    elements = src.geometry.elements if isinstance(src, NkiTensor) else 0
    if start < 0 or start + elements > _LARGEST_INDEX:
        raise call.refuse(
            "range_start",
            f"{start} must be at least 0 and range_start + elements at most 2^24 "
            f"(elements per partition: {elements})",
            start,
            "0..2^24",
            "index-range",
        )
    return start


def _fill(call: Call, value: Any) -> int:
    """The fill's bits; an error for any number but the device's only one."""
    if value is None:
        return _FILL_BITS
    if is_number(value) and fp32_bits(value) == _FILL_BITS:
        return _FILL_BITS
    raise call.refuse(
        "on_false_value",
        f"{value} must be -3.4028235e+38 (the device has only this fill; leave the argument out)",
        value,
        "-3.4028235e+38",
        "fill-value",
    )
