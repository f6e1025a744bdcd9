"""PTO cases without machine state: one element, one word, one format code, one line of text."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from lanewise.check import pto_schema as schema
from lanewise.errors import UsageError, unknown_name
from lanewise.formats import decode
from lanewise.pto import hif4
from lanewise.pto.assembly import assemble
from lanewise.pto.datatypes import ELEMENT_FORMATS, DataType
from lanewise.pto.descriptor import smallest_capacity
from lanewise.pto.elements import compare_elements, relation_named
from lanewise.pto.geometry import Layout, cell_shape, element_address, storage, supports
from lanewise.pto.padding import PREDICATE_PADS, PadValue, element_pad, gpr_pad
from lanewise.pto.profile import PtoProfile
from lanewise.pto.words import decode_word


def number(text: str, what: str = "a number") -> int:
    """A hexadecimal number, ``0x`` or not; UsageError otherwise."""
    try:
        return int(text, 16)
    except ValueError:
        raise UsageError(f"expected {what} in hexadecimal, not {text!r}") from None


def _fraction(value: Fraction) -> str:
    return f"{value.numerator}/{value.denominator}"


def _compare(op: schema.CompareElement, engine: str) -> dict[str, Any]:
    dtype = DataType.named(op.dtype)
    left, right = number(op.left), number(op.right)
    if max(left, right) >> dtype.width:
        raise UsageError(f"codes of {dtype.name} have {dtype.width} bits")
    result, flags = compare_elements(dtype, relation_named(op.relation), left, right, engine=engine)
    return {"result": result, "flags": flags}


def _pad(op: schema.PadValueOf) -> dict[str, Any]:
    pad = PadValue.named(op.pad)
    if op.dtype == "GPR":
        value: int | None = gpr_pad(pad, PtoProfile.DEFAULT)
    elif op.dtype in ("predicate_bit", "predicate_byte"):
        value = PREDICATE_PADS[pad]
    else:
        value = element_pad(DataType.named(op.dtype), pad)
    return {"value": value if value is None else hex(value)}


def _cell_shape(op: schema.CellShapeOf) -> dict[str, Any]:
    layout, dtype = Layout.named(op.layout), DataType.named(op.dtype)
    if not supports(layout, dtype):
        return {"supported": False}
    cell = cell_shape(layout, dtype.width)
    found: dict[str, Any] = {
        "supported": True,
        "cell_rows": cell.rows,
        "cell_cols": cell.columns,
    }
    if op.valid_rows is None or op.valid_cols is None:
        return found
    needed = storage(layout, dtype, op.valid_rows, op.valid_cols)
    if needed is None:
        return {**found, "legal": False}
    capacity = smallest_capacity(needed.bytes) if op.capacity is None else op.capacity
    return {
        **found,
        "rows": needed.rows,
        "cols": needed.columns,
        "cells": needed.cells,
        "bytes": needed.bytes,
        "legal": needed.bytes <= capacity,
    }


def _address(op: schema.ElementAddressOf) -> dict[str, Any]:
    layout, dtype = Layout.named(op.layout), DataType.named(op.dtype)
    shape = op.valid_rows, op.valid_cols
    if layout.is_cube:
        needed = storage(layout, dtype, *shape)
        if needed is None:
            raise UsageError(f"no {layout} tile has the valid shape {shape[0]}x{shape[1]}")
        shape = needed.rows, needed.columns
    found = element_address(layout, dtype.width, shape, (op.row, op.col))
    return {"cell": found.cell, "bit": found.bit, "width": found.width}


def _decode_format(op: schema.DecodeFormat) -> dict[str, Any]:
    if op.format not in ELEMENT_FORMATS:
        raise unknown_name("format", op.format, ELEMENT_FORMATS)
    found = decode(ELEMENT_FORMATS[op.format], number(op.code))
    value = None if found.value is None else _fraction(found.value)
    return {"class": str(found.category), "negative": found.negative, "value": value}


def _hif4_lane(op: schema.Hif4Lane) -> dict[str, Any]:
    scale = number(op.scale)
    value = hif4.lane_value(scale, op.lane, number(op.code))
    return {
        "increment": hif4.increment(scale, op.lane),
        "value": None if value is None else _fraction(value),
    }


def _hif4_quantize(op: schema.Hif4Quantize) -> dict[str, Any]:
    codes = np.array(
        [number(op.values[at : at + 4]) for at in range(0, len(op.values), 4)], np.uint16
    )
    groups = hif4.quantize(codes)
    return {"scale": hex(int(groups.scales[0])), "data": groups.data[0].tobytes().hex()}


def _decode_word(op: schema.DecodeWord) -> dict[str, Any]:
    word = decode_word(op.word)
    return {"form": word.form, "fields": word.field_values()}


def _assemble(op: schema.Assemble) -> dict[str, Any]:
    words = assemble(op.text)
    return {"words": [f"0x{int(word):0{word.width // 4}x}" for word in words]}


_RUNNERS: dict[type, Callable[[Any], dict[str, Any]]] = {
    schema.PadValueOf: _pad,
    schema.CellShapeOf: _cell_shape,
    schema.ElementAddressOf: _address,
    schema.DecodeFormat: _decode_format,
    schema.Hif4Lane: _hif4_lane,
    schema.Hif4Quantize: _hif4_quantize,
    schema.DecodeWord: _decode_word,
    schema.Assemble: _assemble,
}


def run_element(operation: Any, engine: str = "auto") -> dict[str, Any]:
    """What an element-level operation gives, as the case format writes it.

    ``engine`` chooses the kernels of a compare, the one operation that has any. Raises PtoFault
    where the machine would, and UsageError for operands that make no sense.
    """
    if isinstance(operation, schema.CompareElement):
        return _compare(operation, engine)
    return _RUNNERS[type(operation)](operation)


def result_differences(found: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    """What differs between two results; hexadecimal numbers compare as numbers."""
    return [
        f"result.{key}: expected {expected.get(key, 'no such key')!r}, "
        f"got {found.get(key, 'no such key')!r}"
        for key in sorted({*found, *expected})
        if key not in found or key not in expected or _plain(found[key]) != _plain(expected[key])
    ]


def _plain(value: Any) -> Any:
    """A value with hexadecimal numbers turned into numbers."""
    if isinstance(value, str) and value[:2] == "0x":
        try:
            return int(value, 16)
        except ValueError:
            return value
    if isinstance(value, list):
        return [_plain(element) for element in value]
    return value
