"""Rules about operands: windows, readable and writable patterns, quadrants, placement."""

from __future__ import annotations

import numpy as np

from lanewise.neuron.addressing import (
    Trouble,
    element_place,
    index_list_place,
    walk_trouble,
    window_trouble,
)
from lanewise.neuron.dtypes import dtype_names
from lanewise.neuron.generation import Place
from lanewise.neuron.legality.check import Check, Finding, Rule
from lanewise.neuron.legality.columns import PSUM, SBUF, Broken, Columns, Pattern
from lanewise.neuron.legality.fields import CHANNELS_FIELD, only_with_indirect_patterns
from lanewise.neuron.words import Address, Indirect


def _finding(operand: str, trouble: Trouble, part: str | None = None) -> Finding:
    return Finding(
        f"{operand}.{part or trouble.part}", trouble.value, trouble.allowed, trouble.hint
    )


def window(operand: str) -> Rule:
    """The partitions the operand covers are a legal window."""

    def test(check: Check) -> Finding | None:
        if not check.is_usable(operand) or check.is_denied(CHANNELS_FIELD):
            return None
        channels = getattr(check.word, CHANNELS_FIELD)
        places: list[tuple[str, Place | None]] = [("index", check.index_place(operand))]
        data_part = "data" if check.is_indirect(operand) else "start"
        places.append((data_part, check.data_place(operand)))
        for part, place in places:
            if place is not None:
                trouble = window_trouble(check.profile, place, channels)
                if trouble is not None:
                    return _finding(operand, trouble, part)
        return None

    def columns(columns: Columns) -> Broken:
        broken = columns.broken()
        broken.holds_where(~columns.is_usable(operand))
        broken.holds_where(columns.is_denied(CHANNELS_FIELD))
        channels, is_list = columns.field(CHANNELS_FIELD), columns.is_indirect(operand)
        index, data = columns.index_place(operand), columns.data_place(operand)
        bad = index.known & ~columns.is_window(index, channels)
        broken.where(bad, f"{operand}.index")
        bad = data.known & ~columns.is_window(data, channels)
        broken.where(bad & is_list, f"{operand}.data")
        broken.where(bad, f"{operand}.start")
        return broken

    return Rule(
        f"{operand}-window",
        f"the partitions from the start of {operand} are a legal window for the active channels "
        "(profile field partition_window); an address in a register is tested when the word runs",
        test,
        columns,
    )


def _register_form(operand: str, part: str, address: Address) -> Finding | None:
    if address.is_well_formed_register:
        return None
    return Finding(
        f"{operand}.{part}",
        f"{int(address):#010x}",
        "a register form: number below 64, two zero bytes, then 0x80, 0xc0 or 0xa0",
    )


def _valid_pattern(check: Check, operand: str) -> Finding | None:
    """The body of -readable and -writable."""
    field, pattern = check.operand(operand), check.pattern(operand)
    first = pattern.index if isinstance(pattern, Indirect) else pattern.start
    part = "index" if isinstance(pattern, Indirect) else "start"
    if not check.is_usable(operand):
        allowed = "a direct address or a register"
        if check.generation.has_indirect_patterns and field.allows_indirect:
            allowed += ", or an indirect pattern (modes 0 to 2)"
        return Finding(f"{operand}.{part}.mode", str(first.mode), allowed)
    if first.in_register:
        finding = _register_form(operand, part, first)
        if finding is not None or not isinstance(pattern, Indirect):
            return finding
    size = check.size(operand)
    if size is None:
        dtype_field = field.dtype if isinstance(field.dtype, str) else operand
        if check.is_denied(dtype_field):
            return None
        code = check.word.dtype_of(field)
        name = dtype_names().get(code, "no name")
        return Finding(dtype_field, f"{code:#x} ({name})", "a type with an element size")
    writes, sbuf_only = field.is_destination, field.sbuf_only
    if isinstance(pattern, Indirect):
        return _valid_indirect(check, operand, pattern, size)
    place = element_place(check.generation, first.address, size, writes=writes, sbuf_only=sbuf_only)
    if isinstance(place, Trouble):
        return _finding(operand, place)
    if first.shape_in_register:
        return None
    if 0 in pattern.num and check.is_denied(f"{operand}.num"):
        return None
    trouble = walk_trouble(check.generation, place, size, pattern.step, pattern.num)
    return None if trouble is None else _finding(operand, trouble)


def _valid_indirect(check: Check, operand: str, pattern: Indirect, size: int) -> Finding | None:
    if pattern.num_elem < 1:
        return Finding(f"{operand}.num_elem", "0", "at least 1")
    if not pattern.index.in_register:
        indices = index_list_place(check.generation, pattern.index.address, pattern.num_elem)
        if isinstance(indices, Trouble):
            return _finding(operand, indices, "index")
    if int(pattern.data) >> 29:
        return Finding(
            f"{operand}.data", f"{int(pattern.data):#010x}", "a direct address (top three bits 0)"
        )
    field = check.operand(operand)
    data = element_place(
        check.generation,
        pattern.data.address,
        size,
        writes=field.is_destination,
        sbuf_only=field.sbuf_only,
    )
    return _finding(operand, data, "data") if isinstance(data, Trouble) else None


def _valid_pattern_columns(columns: Columns, operand: str) -> Broken:
    """The same for many words."""
    broken = columns.broken()
    field, pattern = columns.operand(operand), columns.pattern(operand)
    unusable = ~columns.is_usable(operand)
    broken.where(unusable & pattern.is_list, f"{operand}.index.mode")
    broken.where(unusable, f"{operand}.start.mode")
    ill_formed = pattern.in_register & ~pattern.well_formed_register()
    broken.where(ill_formed & pattern.is_list, f"{operand}.index")
    broken.where(ill_formed, f"{operand}.start")
    broken.holds_where(pattern.in_register & ~pattern.is_list)
    size = columns.size_of(field)
    dtype_field = field.dtype if isinstance(field.dtype, str) else operand
    broken.holds_where((size == 0) & columns.is_denied(dtype_field))
    broken.where(size == 0, dtype_field)
    if field.indirect_type is not None:
        _valid_indirect_columns(columns, broken, operand, pattern)
        broken.holds_where(pattern.is_list)
    place = columns.data_place(operand)
    writes, sbuf_only = field.is_destination, field.sbuf_only
    good = columns.is_element(place, size, writes=writes, sbuf_only=sbuf_only)
    broken.where(~good, f"{operand}.start")
    broken.holds_where(pattern.shape_in_register)
    broken.holds_where(pattern.has_zero & columns.is_denied(f"{operand}.num"))
    broken.where(pattern.has_zero, f"{operand}.num")
    low, high = place.offset, place.offset + size - 1
    for step, num in zip(pattern.step, pattern.num, strict=True):
        reach = step * (num - 1) * size
        low = low + np.minimum(reach, 0)
        high = high + np.maximum(reach, 0)
    broken.where((low < 0) | (high >= columns.active_bytes(place)), f"{operand}.step")
    return broken


def _valid_indirect_columns(
    columns: Columns, broken: Broken, operand: str, pattern: Pattern
) -> None:
    field, is_list = columns.operand(operand), pattern.is_list
    broken.where(is_list & (pattern.num_elem < 1), f"{operand}.num_elem")
    index = columns.index_place(operand)
    good = columns.is_element(index, 4, writes=False, sbuf_only=False)
    good &= index.offset + 4 * pattern.num_elem <= columns.active_bytes(index)
    broken.where(is_list & ~pattern.in_register & ~good, f"{operand}.index")
    # What is no direct address is nowhere.
    data = columns.data_place(operand)
    good = columns.is_element(
        data, columns.size_of(field), writes=field.is_destination, sbuf_only=field.sbuf_only
    )
    broken.where(is_list & ~good, f"{operand}.data")


def readable(operand: str) -> Rule:
    """The operand is a pattern that may be read."""
    return Rule(
        f"{operand}-readable",
        f"{operand} is a valid pattern: a sized type, an aligned start, every num at least 1, the "
        "whole walk inside the active bytes of its partition",
        lambda check: _valid_pattern(check, operand),
        lambda columns: _valid_pattern_columns(columns, operand),
    )


def writable(operand: str) -> Rule:
    """The operand is a pattern that may be written."""
    return Rule(
        f"{operand}-writable",
        f"{operand} is a valid pattern, as for reading; a write to PSUM needs a 4-byte type",
        lambda check: _valid_pattern(check, operand),
        lambda columns: _valid_pattern_columns(columns, operand),
    )


def quadrant(operand: str) -> Rule:
    """An index list and its data start in the same SBUF quadrant (generations with index lists)."""

    def test(check: Check) -> Finding | None:
        index, data = check.index_place(operand), check.data_place(operand)
        if index is None or data is None or data.space == "psum":
            return None
        if index.space == "sbuf" and index.quadrant == data.quadrant:
            return None
        return Finding(
            f"{operand}.index",
            str(index),
            f"in SBUF quadrant {data.quadrant} (partitions {32 * data.quadrant}.."
            f"{32 * data.quadrant + 31}), where the data starts",
        )

    def columns(columns: Columns) -> Broken:
        broken = columns.broken()
        index, data = columns.index_place(operand), columns.data_place(operand)
        broken.holds_where(~index.known | (data.space != SBUF))
        same = (index.space == SBUF) & (index.quadrant == data.quadrant)
        broken.where(~same, f"{operand}.index")
        return broken

    return Rule(
        f"{operand}-quadrant",
        f"the index list of {operand} starts in the SBUF quadrant of its data; data in PSUM is "
        "free",
        test,
        columns,
        only=only_with_indirect_patterns,
    )


def source_placement(predicate: str, data: str) -> Rule:
    """Predicate and data share an SBUF quadrant, or one of them is in PSUM."""

    def test(check: Check) -> Finding | None:
        first, second = check.data_place(predicate), check.data_place(data)
        if first is None or second is None:
            return None
        if first.space != second.space:
            return None
        if first.space == "psum":
            return Finding(
                f"{data}.start", str(second), f"in SBUF, because {predicate} is in PSUM too"
            )
        if first.quadrant == second.quadrant:
            return None
        return Finding(
            f"{data}.start",
            str(second),
            f"in SBUF quadrant {first.quadrant}, where {predicate} starts, or in PSUM",
        )

    def columns(columns: Columns) -> Broken:
        broken = columns.broken()
        first, second = columns.data_place(predicate), columns.data_place(data)
        broken.holds_where(~first.known | ~second.known | (first.space != second.space))
        apart = (first.space == PSUM) | (first.quadrant != second.quadrant)
        broken.where(apart, f"{data}.start")
        return broken

    return Rule(
        "source-placement",
        f"{predicate} and {data} start in the same SBUF quadrant, or exactly one is in PSUM; "
        "waived when a register holds an address",
        test,
        columns,
    )


def engine_reach(*operands: str) -> Rule:
    """The POOL engine touches no PSUM."""

    def test(check: Check) -> Finding | None:
        if check.engine != "pool":
            return None
        for operand in operands:
            for part, place in (
                ("index", check.index_place(operand)),
                ("data" if check.is_indirect(operand) else "start", check.data_place(operand)),
            ):
                if place is not None and place.space == "psum":
                    return Finding(
                        f"{operand}.{part}",
                        str(place),
                        "in SBUF: the POOL engine does not reach PSUM",
                        "name another engine for the word, act or dve",
                    )
        return None

    def columns(columns: Columns) -> Broken:
        broken = columns.broken()
        if columns.engine != "pool":
            return broken
        for operand in operands:
            broken.where(columns.index_place(operand).space == PSUM, f"{operand}.index")
            there = columns.data_place(operand).space == PSUM
            broken.where(there & columns.is_indirect(operand), f"{operand}.data")
            broken.where(there, f"{operand}.start")
        return broken

    return Rule("engine-reach", "a word on the POOL engine has no operand in PSUM", test, columns)
