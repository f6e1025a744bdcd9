"""Rules about operands: windows, readable and writable patterns, quadrants, placement, counts."""

from __future__ import annotations

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
from lanewise.neuron.legality.fields import CHANNELS_FIELD, only_with_indirect_patterns
from lanewise.neuron.words import Address, Indirect


def _elements(count: int) -> str:
    """A number of elements, for people."""
    return f"{count} element" if count == 1 else f"{count} elements"


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

    return Rule(
        f"{operand}-window",
        f"the partitions from the start of {operand} are a legal window for the active channels "
        "(profile field partition_window); an address in a register is tested when the word runs",
        test,
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


def readable(operand: str) -> Rule:
    """The operand is a pattern that may be read."""
    return Rule(
        f"{operand}-readable",
        f"{operand} is a valid pattern: a sized type, an aligned start, every num at least 1, the "
        "whole walk inside the active bytes of its partition",
        lambda check: _valid_pattern(check, operand),
    )


def writable(operand: str) -> Rule:
    """The operand is a pattern that may be written."""
    return Rule(
        f"{operand}-writable",
        f"{operand} is a valid pattern, as for reading; a write to PSUM needs a 4-byte type",
        lambda check: _valid_pattern(check, operand),
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

    return Rule(
        f"{operand}-quadrant",
        f"the index list of {operand} starts in the SBUF quadrant of its data; data in PSUM is "
        "free",
        test,
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

    return Rule(
        "source-placement",
        f"{predicate} and {data} start in the same SBUF quadrant, or exactly one is in PSUM; "
        "waived when a register holds an address",
        test,
    )


def same_count(rule: str, left: str, right: str) -> Rule:
    """Two operands have the same number of elements."""

    def test(check: Check) -> Finding | None:
        first, second = check.count(left), check.count(right)
        if first is None or second is None or first == second:
            return None
        part = "num_elem" if check.is_indirect(right) else "num"
        return Finding(f"{right}.{part}", _elements(second), f"{first} elements, as many as {left}")

    return Rule(
        rule,
        f"{left} and {right} have the same number of elements; waived when a register holds a "
        "shape",
        test,
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

    return Rule(rule, f"{operand} has {shown} elements; waived for a shape in a register", test)


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

    return Rule(
        "key-count",
        f"{operand} has 8 elements; a shape in a register waives this except on sunda",
        test,
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

    return Rule("element-count", f"{count_field} and {operand} both say {count}", test)


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

    return Rule(
        "count-plus-one", f"{destination} has one element more than {source}, for the count", test
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

    return Rule("engine-reach", "a word on the POOL engine has no operand in PSUM", test)
