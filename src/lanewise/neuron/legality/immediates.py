"""Rules about scalars that are inline, behind a pointer, or behind a register."""

from __future__ import annotations

import numpy as np

from lanewise.neuron.addressing import Trouble, element_place, window_trouble
from lanewise.neuron.codes import IMMEDIATE_SOURCES, REGISTERS
from lanewise.neuron.dtypes import Dtype, dtype_names, element_size
from lanewise.neuron.legality.check import Check, Finding, Rule
from lanewise.neuron.legality.columns import Broken, Columns
from lanewise.neuron.legality.fields import CHANNELS_FIELD
from lanewise.neuron.operands import Immediate

INLINE, POINTER, REGISTER = 0, 1, 2


def immediate(rule: str, name: str) -> Rule:
    """The scalar's source is known and what it points at may be read."""

    def test(check: Check) -> Finding | None:
        field = check.word.fields[name]
        assert isinstance(field, Immediate)
        source = getattr(check.word, field.source)
        value = field.extract(int(check.word))
        if source == INLINE:
            return None
        if source == REGISTER:
            return _register_number(name, value)
        if source == POINTER:
            return _pointer(check, name, field, value)
        return Finding(
            field.source,
            str(source),
            "one of " + ", ".join(f"{code} ({text})" for code, text in IMMEDIATE_SOURCES.items()),
        )

    def columns(columns: Columns) -> Broken:
        broken = columns.broken()
        field = columns.kind.fields[name]
        assert isinstance(field, Immediate)
        source, value = columns.field(field.source), columns.field(name)
        broken.holds_where(source == INLINE)
        broken.where((source == REGISTER) & (value >= REGISTERS), name)
        broken.holds_where(source == REGISTER)
        broken.where(source != POINTER, field.source)
        _pointer_columns(columns, broken, name, field)
        return broken

    return Rule(
        rule,
        f"{name} is inline, a direct pointer to aligned readable memory in every lane, or a "
        "register number below 64",
        test,
        columns,
    )


def _register_number(name: str, value: int) -> Finding | None:
    if value < REGISTERS:
        return None
    return Finding(name, f"{value:#010x}", "a register number below 64 and three zero bytes")


def _pointer(check: Check, name: str, field: Immediate, value: int) -> Finding | None:
    code = check.word.dtype_of(field)
    size = element_size(code)
    if size is None:
        assert isinstance(field.dtype, str)
        if check.is_denied(field.dtype):
            return None
        shown = dtype_names().get(code, "no name")
        return Finding(field.dtype, f"{code:#x} ({shown})", "a type with an element size")
    if value >> 29:
        return Finding(name, f"{value:#010x}", "a direct address (top three bits 0)")
    place = element_place(check.generation, value, size, writes=False, sbuf_only=False)
    if isinstance(place, Trouble):
        return Finding(name, place.value, place.allowed, place.hint)
    if check.is_denied(CHANNELS_FIELD):
        return None
    trouble = window_trouble(check.profile, place, getattr(check.word, CHANNELS_FIELD))
    return None if trouble is None else Finding(name, trouble.value, trouble.allowed, trouble.hint)


def _pointer_columns(columns: Columns, broken: Broken, name: str, field: Immediate) -> None:
    size, value = columns.size_of(field), columns.field(name)
    if isinstance(field.dtype, str):
        broken.holds_where((size == 0) & columns.is_denied(field.dtype))
        broken.where(size == 0, field.dtype)
    broken.where(value >> 29 != 0, name)
    place = columns.locate(value, np.ones(columns.count, np.bool_))
    broken.where(~columns.is_element(place, size, writes=False, sbuf_only=False), name)
    broken.holds_where(columns.is_denied(CHANNELS_FIELD))
    broken.where(~columns.is_window(place, columns.field(CHANNELS_FIELD)), name)


def immediate_fp32(source: str, dtype: str) -> Rule:
    """An inline scalar has type FP32."""

    def test(check: Check) -> Finding | None:
        code = getattr(check.word, dtype)
        if getattr(check.word, source) != INLINE or code == Dtype.FP32 or check.is_denied(dtype):
            return None
        shown = dtype_names().get(code, "no name")
        return Finding(dtype, f"{code:#x} ({shown})", "FP32 (0xa) because the scalar is inline")

    def columns(columns: Columns) -> Broken:
        broken = columns.broken()
        broken.holds_where(columns.field(source) != INLINE)
        broken.holds_where(columns.is_denied(dtype))
        broken.where(columns.field(dtype) != Dtype.FP32, dtype)
        return broken

    return Rule("immediate-fp32", f"{dtype} is FP32 when {source} is 0 (inline)", test, columns)
