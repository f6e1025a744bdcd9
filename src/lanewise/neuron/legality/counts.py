"""Rules about how many elements operands have."""

from __future__ import annotations

import numpy as np

from lanewise.neuron.legality.check import Check, Finding, Rule
from lanewise.neuron.legality.columns import Broken, Columns


def _elements(count: int) -> str:
    """A number of elements, for people."""
    return f"{count} element" if count == 1 else f"{count} elements"


def same_count(rule: str, left: str, right: str) -> Rule:
    """Two operands have the same number of elements."""

    def test(check: Check) -> Finding | None:
        first, second = check.count(left), check.count(right)
        if first is None or second is None or first == second:
            return None
        part = "num_elem" if check.is_indirect(right) else "num"
        return Finding(f"{right}.{part}", _elements(second), f"{first} elements, as many as {left}")

    def columns(columns: Columns) -> Broken:
        broken = columns.broken()
        broken.holds_where(~columns.has_count(left) | ~columns.has_count(right))
        other = columns.pattern(left).count != columns.pattern(right).count
        broken.where(other & columns.is_indirect(right), f"{right}.num_elem")
        broken.where(other, f"{right}.num")
        return broken

    return Rule(
        rule,
        f"{left} and {right} have the same number of elements; waived when a register holds a "
        "shape",
        test,
        columns,
    )


def count_in(rule: str, operand: str, low: int, high: int | None = None) -> Rule:
    """The operand has ``low`` (to ``high``) elements."""
    most = low if high is None else high
    shown = str(low) if high is None else f"{low} to {high}"

    def test(check: Check) -> Finding | None:
        count = check.count(operand)
        if count is None or low <= count <= most:
            return None
        return Finding(f"{operand}.num", _elements(count), f"{shown} elements")

    def columns(columns: Columns) -> Broken:
        broken = columns.broken()
        broken.holds_where(~columns.has_count(operand))
        count = columns.pattern(operand).count
        broken.where((count < low) | (count > most), f"{operand}.num")
        return broken

    return Rule(
        rule, f"{operand} has {shown} elements; waived for a shape in a register", test, columns
    )


def key_count(operand: str) -> Rule:
    """Eight keys; the first generation counts ``num`` even where a register holds the shape."""

    def test(check: Check) -> Finding | None:
        count = check.count(operand)
        if (
            count is None
            and check.is_usable(operand)
            and check.pattern(operand).start.shape_in_register
            and not check.generation.shape_register_waives_key_count
        ):
            count = 1
            for num in check.pattern(operand).num:
                count *= num
        if count is None or count == 8:
            return None
        return Finding(f"{operand}.num", _elements(count), "8 elements, in any split")

    def columns(columns: Columns) -> Broken:
        broken = columns.broken()
        pattern, known = columns.pattern(operand), columns.has_count(operand)
        if not columns.generation.shape_register_waives_key_count:
            known |= columns.is_usable(operand) & pattern.shape_in_register
        broken.where(known & (pattern.count != 8), f"{operand}.num")
        return broken

    return Rule(
        "key-count",
        f"{operand} has 8 elements; a shape in a register waives this except on sunda",
        test,
        columns,
    )


def element_count(operand: str, count: int, count_field: str = "dst_element_count") -> Rule:
    """The count field and the pattern both say ``count``."""

    def test(check: Check) -> Finding | None:
        said = getattr(check.word, count_field)
        if said != count:
            return Finding(count_field, str(said), str(count))
        walked = check.count(operand)
        if walked is None or walked == count:
            return None
        return Finding(f"{operand}.num", _elements(walked), _elements(count))

    def columns(columns: Columns) -> Broken:
        broken = columns.broken()
        broken.where(columns.field(count_field) != count, count_field)
        other = columns.pattern(operand).count != count
        broken.where(columns.has_count(operand) & other, f"{operand}.num")
        return broken

    return Rule("element-count", f"{count_field} and {operand} both say {count}", test, columns)


def count_plus_one(source: str, destination: str) -> Rule:
    """The destination has one element more than the source, for the count."""

    def test(check: Check) -> Finding | None:
        have, got = check.count(source), check.count(destination)
        if have is None or got is None or got == have + 1:
            return None
        return Finding(
            f"{destination}.num",
            _elements(got),
            f"{have + 1} elements, one more than {source} for the count",
        )

    def columns(columns: Columns) -> Broken:
        broken = columns.broken()
        broken.holds_where(~columns.has_count(source) | ~columns.has_count(destination))
        have, got = (columns.pattern(name).count for name in (source, destination))
        broken.where(got != have + np.uint64(1), f"{destination}.num")
        return broken

    return Rule(
        "count-plus-one",
        f"{destination} has one element more than {source}, for the count",
        test,
        columns,
    )
