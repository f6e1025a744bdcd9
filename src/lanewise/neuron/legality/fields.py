"""Rules about single fields: header, events, reserved bytes, dtypes, codes, channels."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import numpy as np

from lanewise.neuron.codes import DEBUG_COMMANDS, UPDATE_MODES, WAIT_MODES
from lanewise.neuron.dtypes import INTEGER_TYPES, Dtype, dtype_names
from lanewise.neuron.generation import PARTITIONS, Generation
from lanewise.neuron.legality.check import Check, Finding, Rule, listed
from lanewise.neuron.legality.columns import Broken, Columns
from lanewise.neuron.roster import alu_codes
from lanewise.words import Reserved

HEADER_WORDS = 16


def _named(codes: Mapping[int, str], code: int) -> str:
    return f"{code:#x} ({codes[code]})" if code in codes else f"{code:#x}"


def _word_length(check: Check) -> Finding | None:
    length = check.word.header.word_length
    if length == HEADER_WORDS:
        return None
    return Finding("header.word_length", str(length), "16 (a word is 16 times 32 bits)")


def _word_length_columns(columns: Columns) -> Broken:
    broken = columns.broken()
    broken.where(columns.field("header.word_length") != HEADER_WORDS, "header.word_length")
    return broken


def _debug_command(check: Check) -> Finding | None:
    command = check.word.header.debug_command
    if command in DEBUG_COMMANDS:
        return None
    return Finding("header.debug_command", str(command), listed(DEBUG_COMMANDS))


def _debug_command_columns(columns: Columns) -> Broken:
    broken = columns.broken()
    broken.where(~columns.is_in("header.debug_command", DEBUG_COMMANDS), "header.debug_command")
    return broken


def _events(check: Check) -> Finding | None:
    events = check.word.events
    if events.wait_mode not in WAIT_MODES:
        return Finding("events.wait_mode", str(events.wait_mode), listed(WAIT_MODES))
    if events.update_mode not in UPDATE_MODES:
        return Finding("events.update_mode", str(events.update_mode), listed(UPDATE_MODES))
    return None


def _events_columns(columns: Columns) -> Broken:
    broken = columns.broken()
    broken.where(~columns.is_in("events.wait_mode", WAIT_MODES), "events.wait_mode")
    broken.where(~columns.is_in("events.update_mode", UPDATE_MODES), "events.update_mode")
    return broken


def _reserved_zero(check: Check) -> Finding | None:
    for name, field in check.word.fields.items():
        if isinstance(field, Reserved):
            raw = field.extract(int(check.word))
            if raw:
                shown = raw.to_bytes(field.width // 8, "little").hex(" ")
                return Finding(name, f"{shown} (bytes in order)", "all zero")
    return None


def _reserved_zero_columns(columns: Columns) -> Broken:
    broken = columns.broken()
    for name, field in columns.kind.fields.items():
        if isinstance(field, Reserved):
            broken.where(columns.is_set(name), name)
    return broken


def _channels(check: Check) -> Finding | None:
    channels = getattr(check.word, CHANNELS_FIELD)
    if 1 <= channels <= PARTITIONS:
        return None
    return Finding(CHANNELS_FIELD, str(channels), f"1..{PARTITIONS}")


def _channels_columns(columns: Columns) -> Broken:
    broken = columns.broken()
    channels = columns.field(CHANNELS_FIELD)
    broken.where((channels < 1) | (channels > PARTITIONS), CHANNELS_FIELD)
    return broken


CHANNELS_FIELD = "num_active_channels"

WORD_LENGTH = Rule(
    "word-length",
    "the header's length field says 16 words of 32 bits",
    _word_length,
    _word_length_columns,
)
DEBUG_COMMAND = Rule(
    "debug-command", "the debug command is a known code", _debug_command, _debug_command_columns
)
EVENTS = Rule(
    "events", "the wait mode and the update mode are known codes", _events, _events_columns
)
RESERVED_ZERO = Rule(
    "reserved-zero", "every reserved byte is zero", _reserved_zero, _reserved_zero_columns
)
CHANNELS = Rule("channels", "1 to 128 lanes are active", _channels, _channels_columns)

#: What every instruction demands first, in this order.
COMMON = (WORD_LENGTH, DEBUG_COMMAND, EVENTS)


def only_with_indirect_patterns(generation: Generation) -> bool:
    """For rules about index lists: the generations that have them."""
    return generation.has_indirect_patterns


def _field_in(field: str, codes: Collection[int]) -> Callable[[Columns], Broken]:
    """For many words: the field holds one of ``codes``."""

    def columns(columns: Columns) -> Broken:
        broken = columns.broken()
        broken.holds_where(columns.is_denied(field))
        broken.where(~columns.is_in(field, codes), field)
        return broken

    return columns


def code_in(
    rule: str, field: str, codes: Collection[int], names: Mapping[int, str] | None = None
) -> Rule:
    """The field holds one of ``codes``."""
    shown = listed(codes, None if names is None else dict(names))

    def test(check: Check) -> Finding | None:
        code = getattr(check.word, field)
        if code in codes or check.is_denied(field):
            return None
        value = str(code) if names is None else _named(names, code)
        return Finding(field, value, shown)

    return Rule(rule, f"{field} is {shown}", test, _field_in(field, codes))


def dtype_in(rule: str, field: str, dtypes: Collection[Dtype]) -> Rule:
    """The field holds one of ``dtypes``."""
    shown = ", ".join(dtype.name for dtype in sorted(dtypes))

    def test(check: Check) -> Finding | None:
        code = getattr(check.word, field)
        if code in dtypes or check.is_denied(field):
            return None
        return Finding(field, _named(dtype_names(), code), shown)

    return Rule(rule, f"{field} is one of {shown}", test, _field_in(field, dtypes))


def dtype_not_in(rule: str, field: str, dtypes: Collection[Dtype]) -> Rule:
    """The field holds none of ``dtypes``."""
    shown = " and ".join(dtype.name for dtype in sorted(dtypes))

    def test(check: Check) -> Finding | None:
        code = getattr(check.word, field)
        if code not in dtypes:
            return None
        return Finding(field, _named(dtype_names(), code), f"a type other than {shown}")

    def columns(columns: Columns) -> Broken:
        broken = columns.broken()
        broken.where(columns.is_in(field, dtypes), field)
        return broken

    return Rule(rule, f"{field} is neither {shown.replace(' and ', ' nor ')}", test, columns)


def predicate_integer(field: str) -> Rule:
    """The predicate has an integer type."""
    return dtype_in("predicate-integer", field, INTEGER_TYPES)


def same_dtype(left: str, right: str) -> Rule:
    """Two dtype fields hold the same code."""

    def test(check: Check) -> Finding | None:
        first, second = getattr(check.word, left), getattr(check.word, right)
        if first == second or check.is_denied(left) or check.is_denied(right):
            return None
        names = dtype_names()
        return Finding(
            right,
            _named(names, second),
            f"the same as {left}, which is {_named(names, first)}",
            "the casting form of this instruction converts between types",
        )

    def columns(columns: Columns) -> Broken:
        broken = columns.broken()
        broken.holds_where(columns.is_denied(left))
        broken.holds_where(columns.is_denied(right))
        broken.where(columns.field(left) != columns.field(right), right)
        return broken

    return Rule("same-dtype", f"{left} and {right} are equal", test, columns)


def alu_codes_known(*fields: str) -> Rule:
    """Each field holds an ALU code that the generation has."""

    def test(check: Check) -> Finding | None:
        known = alu_codes(check.generation)
        for field in fields:
            code = getattr(check.word, field)
            if code not in known:
                return Finding(
                    field,
                    _named(alu_codes(), code),
                    f"one of the {len(known)} ALU codes of {check.generation}",
                )
        return None

    def columns(columns: Columns) -> Broken:
        broken = columns.broken()
        for field in fields:
            broken.where(~columns.is_in(field, alu_codes(columns.generation)), field)
        return broken

    return Rule(
        "alu-op", f"{' and '.join(fields)} name ALU operations of the generation", test, columns
    )


def alu_code_is(rule: str, *wanted: tuple[str, str]) -> Rule:
    """Each (field, ALU name) pair holds."""
    by_name = {name: code for code, name in alu_codes().items()}

    def test(check: Check) -> Finding | None:
        for field, name in wanted:
            code = getattr(check.word, field)
            if code != by_name[name] and not check.is_denied(field):
                return Finding(field, _named(alu_codes(), code), f"{by_name[name]:#x} ({name})")
        return None

    def columns(columns: Columns) -> Broken:
        broken = columns.broken()
        for field, name in wanted:
            other = columns.field(field) != by_name[name]
            broken.where(other & np.logical_not(columns.is_denied(field)), field)
        return broken

    return Rule(rule, " and ".join(f"{field} is {name}" for field, name in wanted), test, columns)


def zero_bits(rule: str, *fields: str) -> Rule:
    """All bits of the fields are zero (a float field holds +0.0, not -0.0)."""

    def test(check: Check) -> Finding | None:
        for name in fields:
            field = check.word.fields[name]
            raw = field.extract(int(check.word))
            if raw:
                return Finding(name, f"{raw:#x}", "0, all bits")
        return None

    def columns(columns: Columns) -> Broken:
        broken = columns.broken()
        for name in fields:
            broken.where(columns.is_set(name), name)
        return broken

    return Rule(rule, f"all bits of {' and '.join(fields)} are zero", test, columns)
