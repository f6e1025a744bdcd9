"""Every legality rule of every instruction: words that break it, and neighbours that do not.

The base word of an instruction is legal everywhere. A row changes a field or two so that one rule
is the first to be broken, and names a field the finding must point at; its neighbour is as close
to the broken word as a legal one can be.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from tests.neuron import layout
from tests.neuron.bases import (
    COUNTS,
    DTYPE_OF,
    OFFSETS,
    VALUES,
    dimensions_of,
    legal_word,
    operands_of,
    size_of,
)

from lanewise.neuron import GENERATIONS, Profile, check
from lanewise.neuron.instructions import BY_OPCODE

HEAD = ("word-length", "debug-command", "events")
TWIN_QUADRANTS = ("src-quadrant", "dst-quadrant")
COPY_CAST = (
    *HEAD, "reserved-zero", "mask-disabled", "in-dtype", "out-dtype", "alu-op", "op-dim",
    "channels", "src-window", "dst-window", "src-readable", "dst-writable", *TWIN_QUADRANTS,
    "same-count", "bypass", "same-dtype", "not-negated", "engine-reach",
)  # fmt: skip
PREDICATED = (
    *HEAD, "out-dtype", "predicate-dtype", "data-dtype", "predicate-integer", "same-dtype",
    "bypass", "channels", "predicate-window", "data-window", "dst-window", "predicate-readable",
    "data-readable", "dst-writable", "sources-same-count", "dst-same-count", "source-placement",
)  # fmt: skip
MAX8 = (
    *HEAD, "in-dtype", "out-dtype", "channels", "src-window", "dst-window", "src-readable",
    "dst-writable", "source-count", "result-count", "counts-zero", "reserved-zero",
)  # fmt: skip
#: The rules of each instruction in their order, as the rule document lists them.
ORDER: dict[int, tuple[str, ...]] = {
    0x46: COPY_CAST,
    0x47: tuple(rule for rule in COPY_CAST if rule != "same-dtype"),
    0x72: PREDICATED,
    0x99: tuple(rule for rule in PREDICATED if rule != "same-dtype"),
    0xE8: (
        *HEAD, "reserved-zero", "immediate", "predicate-readable", "dst-writable",
        "predicate-window", "dst-window", "same-count", "predicate-quadrant", "dst-quadrant",
        "predicate-integer", "in-dtype", "out-dtype", "same-dtype", "reversed-flag", "channels",
    ),
    0x6C: MAX8,
    0x6E: (*MAX8, "index-dtype"),
    0x6D: (
        *HEAD, "reserved-zero", "immediates-zero", "in-dtype", "channels", "key-count",
        "src-window", "src-readable",
    ),
    0x6F: (
        *HEAD, "source-count", "same-count", "channels", "reserved-zero", "in-dtype", "out-dtype",
        "src-window", "dst-window", "src-readable", "dst-writable",
    ),
    0xEA: (
        *HEAD, "predicate-dtype", "data-dtype", "immediate-dtype", "out-dtype",
        "predicate-integer", "data-not-32bit-int", "immediate-fp32", "alu-op", "select-ops",
        "immediate", "predicate-window", "data-window", "dst-window", "predicate-readable",
        "data-readable", "dst-writable", "channels", "sources-same-count", "dst-same-count",
        "source-placement", "accumulator-command", "reserved-zero", "reverse-flag",
    ),
    0xBC: (
        *HEAD, "src-window", "dst-window", "src-readable", "dst-writable", "same-count",
        "index-range", "in-dtype", "out-dtype", "fill-value", "comparison-0", "comparison-1",
        "bound-0", "bound-1", "channels", "reduce-command", "reduce-op",
    ),
    0xF2: (
        *HEAD, "channels", "reserved-zero", "index-offset", "padding-value", "in-dtype",
        "out-dtype", "src-window", "dst-window", "src-readable", "dst-writable", "count-plus-one",
    ),
    0x9B: (
        *HEAD, "reserved-zero", "out-dtype", "element-count", "not-negated-flag", "channels",
        "dst-window", "dst-writable",
    ),
    0xE9: (
        *HEAD, "reserved-zero", "index-dtype", "element-count", "serial-mode", "set-value-zero",
        "channels", "dst-window", "dst-writable",
    ),
}  # fmt: skip
QUADRANT_RULES = {"src-quadrant", "dst-quadrant", "predicate-quadrant"}
#: The source field and the value field behind each rule about a scalar, and the scalar's size.
SCALARS = {
    (0xE8, "immediate"): ("scalar_source", "scalar"),
    (0xEA, "immediate"): ("imm0_source", "imm0"),
    (0xBC, "bound-0"): ("bound0_source", "bound0"),
    (0xBC, "bound-1"): ("bound1_source", "bound1"),
    (0xF2, "index-offset"): ("index_offset_source", "index_offset"),
    (0xF2, "padding-value"): ("padding_value_source", "padding_value"),
}
WAIT_MODES = {0, 1, 2, 3, 4, 5, 6, 7, 14, 15}
UPDATE_MODES = {0, 1, 2, 3, 4, 5, 7, 9, 17, 18, 19, 20, 21, 23, 25}
UPDATE_MODES |= {0x83, 0x85, 0x87, 0x93, 0x95, 0x97}
DEBUG_COMMANDS = {0, 1, 3, 5, 7, 9}


def rules_in(opcode: int, generation: str) -> list[str]:
    lists = generation in layout.WITH_INDEX_LISTS
    return [rule for rule in ORDER[opcode] if lists or rule not in QUADRANT_RULES]


@dataclass(frozen=True)
class Row:
    """A change that breaks ``rule`` first; ``points`` is a leaf the finding must cover."""

    rule: str
    change: dict[str, int]
    points: str
    neighbour: dict[str, int] | None = None
    profile: str = "isa"
    engine: str | None = None
    neighbour_engine: str | None = None


def rows(opcode: int, generation: str) -> Iterator[Row]:
    yield from _codes(opcode)
    yield from _dtypes(opcode)
    for operand in operands_of(opcode):
        yield from _windows(opcode, generation, operand)
        yield from _patterns(opcode, generation, operand)
    yield from _counts(opcode)
    yield from _scalars(opcode, generation)
    yield from _placement(opcode, generation)
    if opcode in layout.INDIRECT and generation in layout.WITH_INDEX_LISTS:
        for operand in layout.INDIRECT[opcode]:
            yield from _index_lists(opcode, generation, operand)


def _codes(opcode: int) -> Iterator[Row]:
    """Rules about one code in one field."""
    for code in (0, 1, 15, 17, 255):
        yield Row("word-length", {"header.word_length": code}, "header.word_length", {})
    fields = layout.FIELDS[layout.STRUCT_OF[opcode]]
    for name, (_, width) in fields.items():
        if name.startswith("reserved"):
            for bit in (0, 7, width // 2, width - 8, width - 1):
                yield Row("reserved-zero", {name: 1 << bit}, name, {})
    allowed = {
        "mask-disabled": {"mask_enable": {0}},
        "op-dim": {"op_dim": {0, 2}},
        "not-negated": {"negated": {0}},
        "reversed-flag": {"reversed_pred": {0, 1}},
        "reverse-flag": {"reverse_operands": {0, 1}},
        "accumulator-command": {"accumulator_command": {0, 2, 3}},
        "reduce-command": {"reduce_command": {0, 2, 3}},
        "reduce-op": {"reduce_op": {8}},
        "comparison-0": {"comp_op0": {0x12, 0x13, 0x14, 0x15, 0x16}},
        "comparison-1": {"comp_op1": {0x12, 0x13, 0x14, 0x15, 0x16}},
        "serial-mode": {"serialization_mode": {0}},
        "not-negated-flag": {"negated": {0, 1}},
        "bypass": {"op": {0}},
        "select-ops": {"op0": {0}, "op1": {8}},
        "fill-value": {"fill_value": {0xFF7FFFFF}},
        "set-value-zero": {"set_value": {0}},
        "counts-zero": {"even_count": {0}, "odd_count": {0}},
        "immediates-zero": {"imm1": {0}, "imm0_ptr": {0}, "imm0_src": {0}},
        "alu-op": {"op": set(range(0x1D)), "op0": set(range(0x1D)), "op1": set(range(0x1D))},
    }
    tried = {
        "bypass": (1, 2, 8, 0x10),
        "select-ops": (1, 2, 4, 0x10),
        "fill-value": (0, 0x7F7FFFFF, 0xFF7FFFFE, 0xFF800000),
        "set-value-zero": (1, 0x80000000, 0x3F800000),
        "counts-zero": (1, 0x80000000, 0x41000000),
        "immediates-zero": (1, 0x80),
        "alu-op": (0xFE, 0xFF, 0xF0),
    }
    for rule in ORDER[opcode]:
        for name, good in allowed.get(rule, {}).items():
            if name not in fields:
                continue
            codes = tried.get(rule) or [code for code in range(256) if code not in good]
            for code in codes:
                legal = {} if rule == "alu-op" else {name: max(good)}
                yield Row(rule, {name: code}, name, legal)
            if rule not in tried:
                for code in good:
                    yield Row(rule, {name: 0xFE}, name, {name: code})
    if "index-range" in ORDER[opcode]:
        base = "base"
        for code in (0x7F800000, 0xFF800000, 0x7FC00000, 0x80000001, 0xBF800000, 0x4B800001):
            yield Row("index-range", {base: code}, base, {base: 0x80000000})
        # trunc(base) + 8 elements: 2^24 - 8 is the last that fits, its fraction is cut off.
        yield Row("index-range", {base: 0x4B7FFFF9}, base, {base: 0x4B7FFFF8})
        yield Row("index-range", {base: 0x4B800000}, base, {base: 0x3F7FFFFF})
    if "channels" in ORDER[opcode]:
        first = ORDER[opcode].index("channels")
        windows = [i for i, rule in enumerate(ORDER[opcode]) if rule.endswith("-window")]
        yield Row("channels", {"num_active_channels": 0}, "num_active_channels", {})
        legal = {"num_active_channels": 128}
        for code in (129, 200, 255):
            if first < windows[0]:
                yield Row("channels", {"num_active_channels": code}, "num_active_channels", legal)
            else:
                rule = ORDER[opcode][windows[0]]
                operand = rule.removesuffix("-window")
                change = {"num_active_channels": code}
                yield Row(rule, change, f"{operand}.start.address", legal)


TYPES = {
    (0x46, "in-dtype"): layout.BASE, (0x46, "out-dtype"): layout.BASE_R,
    (0x47, "in-dtype"): layout.BASE, (0x47, "out-dtype"): layout.BASE_R,
    (0x72, "out-dtype"): layout.BASE, (0x72, "predicate-dtype"): layout.BASE,
    (0x72, "data-dtype"): layout.BASE, (0x72, "predicate-integer"): layout.INTEGERS,
    (0x99, "out-dtype"): layout.BASE, (0x99, "predicate-dtype"): layout.BASE,
    (0x99, "data-dtype"): layout.BASE, (0x99, "predicate-integer"): layout.INTEGERS,
    (0xE8, "predicate-integer"): layout.INTEGERS, (0xE8, "in-dtype"): layout.BASE,
    (0xE8, "out-dtype"): layout.BASE,
    (0x6C, "in-dtype"): layout.BASE, (0x6C, "out-dtype"): layout.BASE_R,
    (0x6E, "in-dtype"): layout.BASE, (0x6E, "out-dtype"): layout.BASE_R,
    (0x6E, "index-dtype"): (5, 9),
    (0x6D, "in-dtype"): layout.BASE,
    (0x6F, "in-dtype"): (3, 5, 6, 7, 8, 9, 0xA), (0x6F, "out-dtype"): (3, 5, 6, 7, 8, 9, 0xA),
    (0xEA, "predicate-dtype"): layout.BASE, (0xEA, "data-dtype"): layout.BASE,
    (0xEA, "immediate-dtype"): layout.BASE, (0xEA, "out-dtype"): layout.BASE_R,
    (0xEA, "predicate-integer"): layout.INTEGERS,
    (0xEA, "data-not-32bit-int"): tuple(d for d in layout.BASE if d not in (8, 9)),
    (0xEA, "immediate-fp32"): (0xA,),
    (0xBC, "in-dtype"): layout.FLOATS, (0xBC, "out-dtype"): (*layout.FLOATS, 0xB),
    (0xF2, "in-dtype"): (8, 0xA), (0xF2, "out-dtype"): (8,),
    (0x9B, "out-dtype"): (*layout.FLOATS, 0xB),
    (0xE9, "index-dtype"): (5, 9),
}  # fmt: skip
_TYPE_FIELD = {
    "predicate-integer": "predicate_dtype",
    "data-not-32bit-int": "data_dtype",
    "immediate-fp32": "imm0_dtype",
    "immediate-dtype": "imm0_dtype",
    "index-dtype": "out_dtype",
}


def _type_field(opcode: int, rule: str) -> str:
    name = _TYPE_FIELD.get(rule, rule.replace("-", "_"))
    return name if name in layout.FIELDS[layout.STRUCT_OF[opcode]] else "dtype"


def first_broken_type_rule(opcode: int, name: str, code: int) -> str | None:
    """Which rule a dtype code alone breaks first (operands have aligned, roomy places)."""
    for rule in ORDER[opcode]:
        operand = rule.rsplit("-", 1)[0]
        if rule.endswith(("-readable", "-writable")):
            if DTYPE_OF[opcode][operand] == name and code not in layout.SIZE:
                return rule
            continue
        if (opcode, rule) in TYPES and _type_field(opcode, rule) == name:
            if code not in TYPES[opcode, rule]:
                return rule
        elif rule == "same-dtype" and name in ("in_dtype", "data_dtype", "out_dtype"):
            other = {"out_dtype": DTYPE_OF[opcode].get("src") or "in_dtype"}.get(name, "out_dtype")
            if opcode == 0x72:
                other = "out_dtype" if name == "data_dtype" else "data_dtype"
            if code != VALUES[opcode][other]:
                return rule
    return None


def _dtypes(opcode: int) -> Iterator[Row]:
    """Every code of every dtype field; 8-byte types need room and alignment, which they have."""
    names = dict.fromkeys(
        name
        for name in layout.FIELDS[layout.STRUCT_OF[opcode]]
        if name in ("dtype", "in_dtype", "out_dtype", "imm0_dtype") or name.endswith("_dtype")
    )
    for name in names:
        _, width = layout.FIELDS[layout.STRUCT_OF[opcode]][name]
        for code in range(1 << width):
            rule = first_broken_type_rule(opcode, name, code)
            if rule is not None:
                points = name if rule != "same-dtype" else "out_dtype"
                yield Row(rule, {name: code}, points, {})


def _windows(opcode: int, generation: str, operand: str) -> Iterator[Row]:
    def at(partition: int, names: tuple[str, ...]) -> dict[str, int]:
        return {f"{n}.start": layout.sbuf(generation, partition, OFFSETS[n]) for n in names}

    rule, points = f"{operand}-window", f"{operand}.start.address"
    together = operands_of(opcode)
    for partition in (125, 126, 127):
        yield Row(rule, at(partition, (operand,)), points, at(124, together))
    full = {"num_active_channels": 128}
    yield Row(rule, full | at(1, (operand,)), points, full)
    for partition in (1, 16, 31, 33, 95, 124):
        change = at(partition, (operand,))
        yield Row(rule, change, points, at(partition // 32 * 32, together), profile="quadrant")
    wide = {"num_active_channels": 33}
    for partition in (32, 95 - 63):
        change = wide | at(partition, (operand,))
        yield Row(rule, change, points, wide | at(64, together), profile="quadrant")
    wider = {"num_active_channels": 64}
    yield Row(rule, wider | at(32, (operand,)), points, wider | at(64, together), "quadrant")
    widest = {"num_active_channels": 65}
    for partition in (32, 63):
        change = widest | at(partition, (operand,))
        yield Row(rule, change, points, widest, profile="quadrant")


def _patterns(opcode: int, generation: str, operand: str) -> Iterator[Row]:
    writes = operand == "dst"
    rule = f"{operand}-writable" if writes else f"{operand}-readable"
    size, active = size_of(opcode, operand), layout.SBUF_BYTES[generation]
    count = COUNTS.get((opcode, operand), 8)
    start, step, num = f"{operand}.start", f"{operand}.step[0]", f"{operand}.num[0]"
    address = f"{start}.address"
    last = active - size * count
    here = 3 * layout.SBUF_STRIDE[generation]

    for low in range(1, size):
        yield Row(rule, {start: OFFSETS[operand] + low}, address, {start: OFFSETS[operand] + size})
    # The end of the active bytes, of the partition, of SBUF, and beyond both memories.
    if count > 1:
        yield Row(rule, {start: last + size}, step, {start: last})
        below = {start: size * (count - 1), step: -1}
        yield Row(rule, {start: size * (count - 2), step: -1}, step, below)
        far = {start: here + active - size * (7 * 2 + 1), step: 2} if count == 8 else {}
        if far:
            yield Row(rule, far | {start: far[start] + size}, step, far)
    elif active < layout.SBUF_STRIDE[generation]:
        yield Row(rule, {start: last + size}, address, {start: last})
    if active < layout.SBUF_STRIDE[generation]:
        yield Row(rule, {start: active}, address, {start: last})
        yield Row(rule, {start: layout.SBUF_STRIDE[generation] - size}, address, {start: last})
    past = 0x8000000 if generation == "maverick" else 0x2400000
    for outside in (past, past + 0x8000, 0x1FFFFFFC & ~(size - 1)):
        yield Row(rule, {start: outside}, address, {})
    # PSUM.
    words = {"num_active_channels": 1}
    if layout.PSUM_BYTES[generation] and opcode != 0xF2:
        end = 0x4000 - size * count
        engine = "dve" if opcode in (0x46, 0x47) else None
        fine = {start: layout.psum(5, end)}
        if writes and size != 4:
            yield Row(rule, {start: layout.psum(0)}, address, {}, engine=engine)
        elif writes or opcode in (0x46, 0x47, 0x6C, 0x6E, 0x6F, 0x6D, 0xBC, 0xE8):
            reach = step if count > 1 else address
            change = {start: layout.psum(5, end + size)}
            yield Row(rule, change, reach, fine, engine=engine, neighbour_engine=engine)
            change = {start: layout.psum(5, 0x4000)}
            yield Row(rule, change, address, fine, engine=engine, neighbour_engine=engine)
    elif opcode == 0xF2 and generation != "maverick":
        yield Row(rule, {start: layout.psum(0)}, address, {})
    else:
        yield Row(rule, {start: 0x8000000}, address, words)
    # Address forms.
    register = {start: 0x8000003F}
    for value in (0x80000040, 0x800000FF, 0x80000100, 0x80010000, 0x81000000, 0x9F000000):
        yield Row(rule, {start: value}, address, register)
    for value in (0xC0000040, 0xC0000100, 0xC1000001):
        yield Row(rule, {start: value}, address, {start: 0xC0000000})
    for value in (0x60000100, 0xE0000000):
        yield Row(rule, {start: value}, f"{start}.mode", {start: 0x40000100})
    lists = generation in layout.WITH_INDEX_LISTS and operand in layout.INDIRECT.get(opcode, ())
    if not lists:
        for value in (0x20000100, 0xA0000000):
            yield Row(rule, {start: value}, f"{start}.mode", {start: 0x80000000})
    # A zero in any dimension, where no earlier rule counts elements.
    counted = {"source-count", "key-count", "element-count", "same-count"} & set(
        ORDER[opcode][: ORDER[opcode].index(rule)]
    )
    if not counted:
        for index in range(dimensions_of(opcode, operand)):
            name = f"{operand}.num[{index}]"
            yield Row(rule, {name: 0}, name, {num: count})


def _counts(opcode: int) -> Iterator[Row]:
    order = ORDER[opcode]
    pairs = {
        "same-count": ("src" if "src" in operands_of(opcode) else "predicate", "dst"),
        "sources-same-count": ("predicate", "data"),
        "dst-same-count": ("data", "dst"),
        "count-plus-one": ("src", "dst"),
    }
    for rule, (left, right) in pairs.items():
        if rule not in order:
            continue
        num = f"{right}.num[0]"
        extra = 1 if rule == "count-plus-one" else 0
        split = {f"{left}.num[0]": 3, f"{left}.num[1]": 2, num: 6 + extra}
        if right == "data":
            split["dst.num[0]"] = 6
        if left == "data":
            split["predicate.num[0]"] = 6
        for count in (1, 7, 9):
            change = {num: count}
            yield Row(rule, change, num, split)
        both = {f"{left}.start": 0x40000100, num: 5}
        if rule in ("same-count", "count-plus-one"):
            yield Row(rule, {num: 5}, num, both)
    if "source-count" in order:
        low, num = (8, "src.num[0]") if opcode != 0x6F else (1, "src.num[0]")
        other = {"dst.num[0]": low} if opcode == 0x6F else {}
        yield Row("source-count", {num: low - 1}, num, {num: low} | other)
        most = {num: 128, "src.num[1]": 128, "src.step[1]": 0}
        more = {num: 127, "src.num[1]": 43, "src.num[2]": 3, "src.step[1]": 0, "src.step[2]": 0}
        assert 127 * 43 * 3 == 16383
        over = {num: 16385}
        same = {"dst.num[0]": 128, "dst.num[1]": 128, "dst.step[1]": 0} if opcode == 0x6F else {}
        yield Row("source-count", over, num, most | same)
        yield Row("source-count", most | {"src.num[3]": 2}, "src.num[3]", None)
        if opcode != 0x6F:
            yield Row("source-count", over, num, more)
        zero = "source-count" if opcode == 0x6F else "src-readable"
        yield Row(zero, {num: 0}, num, {})
    if "result-count" in order:
        for count in (0, 1, 7, 9, 16):
            rule = "dst-writable" if count == 0 else "result-count"
            change = {"dst.num[0]": 4, "dst.num[1]": 2}
            yield Row(rule, {"dst.num[0]": count}, "dst.num[0]", change)
    if "key-count" in order:
        for split in ((1, 8), (2, 4), (4, 2), (8, 1)):
            good = {"src.num[0]": split[0], "src.num[1]": split[1]}
            yield Row("key-count", {"src.num[0]": 7}, "src.num[0]", good)
        for count in (0, 1, 9, 16):
            yield Row("key-count", {"src.num[0]": count}, "src.num[0]", {})
    if "element-count" in order:
        count = VALUES[opcode]["dst_element_count"]
        for said in (0, 2, 7, 9, 1 << 31):
            change = {"dst_element_count": said}
            yield Row("element-count", change, "dst_element_count", {"dst_element_count": count})
        for num in (0, 2, 7, 9):
            yield Row("element-count", {"dst.num[0]": num}, "dst.num[0]", {"dst.num[0]": count})


def _scalars(opcode: int, generation: str) -> Iterator[Row]:
    for (owner, rule), (source, value) in SCALARS.items():
        if owner != opcode:
            continue
        active = layout.SBUF_BYTES[generation]
        for code in (3, 4, 0x80, 255):
            yield Row(rule, {source: code}, source, {source: 0, value: 0xFFFFFFFF})
        pointer = {source: 1}
        for address in (1, 2, 3, 0x102):
            yield Row(rule, pointer | {value: address}, value, pointer | {value: 4})
        last = active - 4
        bad = [last + 2, layout.sbuf(generation, 125), 0x80000000, 0x40000100, 0x20000100]
        if active < layout.SBUF_STRIDE[generation]:
            bad.append(active)
        bad.append(0x2400000 if generation != "maverick" else 0x8000000)
        for address in bad:
            yield Row(rule, pointer | {value: address}, value, pointer | {value: last})
        if layout.PSUM_BYTES[generation]:
            fine = pointer | {value: layout.psum(124, 0x3FFC)}
            yield Row(rule, pointer | {value: layout.psum(0, 0x4000)}, value, fine)
            yield Row(rule, pointer | {value: layout.psum(125)}, value, fine)
        register = {source: 2}
        for number in (64, 255, 0x100, 0x10000, 0x80000000, 0x8000003F):
            yield Row(rule, register | {value: number}, value, register | {value: 63})
        change = pointer | {value: layout.sbuf(generation, 1)}
        fine = pointer | {value: layout.sbuf(generation, 32)}
        yield Row(rule, change, value, fine, profile="quadrant")
    if (opcode, "immediate") in SCALARS:
        # A narrower scalar may lie where a wider one may not.
        dtype = {0xE8: "in_dtype", 0xEA: "imm0_dtype"}[opcode]
        source, value = SCALARS[opcode, "immediate"]
        narrow = {dtype: 7, source: 1, value: 2}
        if opcode == 0xE8:
            narrow["out_dtype"] = 7
        yield Row("immediate", {source: 1, value: 2}, value, narrow)
        unsized = {0xE8: {dtype: 0x10, source: 1}}.get(opcode)
        if unsized:
            yield Row("immediate", unsized, dtype, None)
    if opcode == 0xEA:
        for code in (d for d in layout.BASE if d != 0xA):
            inline, pointed = {"imm0_dtype": code}, {"imm0_dtype": code, "imm0_source": 1}
            yield Row("immediate-fp32", inline, "imm0_dtype", pointed)


def _placement(opcode: int, generation: str) -> Iterator[Row]:
    def at(operand: str, partition: int) -> dict[str, int]:
        return {f"{operand}.start": layout.sbuf(generation, partition, OFFSETS[operand])}

    if "source-placement" in ORDER[opcode]:
        rule, points = "source-placement", "data.start.address"
        for partition in (32, 64, 124):
            fine = at("data", partition) | at("predicate", partition)
            yield Row(rule, at("data", partition), points, fine)
        last = at("predicate", 31)
        yield Row(rule, last | at("data", 32), points, last | at("data", 0))
        register = {"predicate.start": 0x80000000} | at("data", 64)
        yield Row(rule, at("data", 64), points, register)
        yield Row(rule, at("data", 64), points, {"data.start": 0x80000001})
        if layout.PSUM_BYTES[generation]:
            one = {"data.start": layout.psum(64)}
            yield Row(rule, one | {"predicate.start": layout.psum(64)}, points, one)
    if "engine-reach" in ORDER[opcode] and layout.PSUM_BYTES[generation]:
        for operand in ("src", "dst"):
            change = {f"{operand}.start": layout.psum(0)}
            if opcode == 0x47:
                change |= {"out_dtype": 0xB}
            for engine in (None, "pool"):
                points = f"{operand}.start.address"
                yield Row("engine-reach", change, points, change, "isa", engine, "act")
    if opcode == 0x46:
        for code in (7, 0xB):
            yield Row("same-dtype", {"out_dtype": code}, "out_dtype", {})


def _index_lists(opcode: int, generation: str, operand: str) -> Iterator[Row]:
    writes = operand == "dst"
    rule = f"{operand}-writable" if writes else f"{operand}-readable"
    size, active = size_of(opcode, operand), layout.SBUF_BYTES[generation]

    def lists(index: int = 0x400, data: int = 0, count: int = 8) -> dict[str, int]:
        fields = {"index": 0x20000000 | index, "data": data, "num_elem": count}
        return {f"{operand}.{name}": value for name, value in fields.items()}

    index, data = f"{operand}.index.address", f"{operand}.data.address"
    fine = lists() | {f"{operand}.inert": 0xFFFF}
    for low in (1, 2, 3):
        yield Row(rule, lists(0x400 + low), index, fine)
    yield Row(rule, lists(active - 28), index, lists(active - 32))
    yield Row(rule, lists(count=0), f"{operand}.num_elem", fine)
    for low in range(1, size):
        yield Row(rule, lists(data=low), data, lists(data=size))
    yield Row(rule, lists(data=0x20000000), f"{operand}.data.mode", fine)
    yield Row(rule, lists(data=0x80000000), f"{operand}.data.in_register", fine)
    register = {f"{operand}.index": 0xA000003F}
    for value in (0xA0000040, 0xA0000100, 0xA1000000):
        yield Row(rule, lists() | {f"{operand}.index": value}, index, lists() | register)
    yield Row(rule, lists(count=0) | register, f"{operand}.num_elem", lists() | register)
    if size > 1:
        yield Row(rule, lists(data=1) | register, data, lists() | register)
    yield Row("same-count", lists(count=7), num_of(opcode, operand), fine)
    # Windows of the list and of the data; the quadrant rule comes later.
    window, far = f"{operand}-window", layout.sbuf(generation, 125)
    near = layout.sbuf(generation, 124)
    yield Row(window, lists(index=far), index, lists(index=near, data=near))
    yield Row(window, lists(data=far), data, lists(index=near, data=near))
    yield Row(window, lists(data=far) | register, data, lists(data=near) | register)
    # Quadrants.
    quadrant = f"{operand}-quadrant"
    for list_partition, data_partition in ((0, 32), (32, 31), (64, 124), (127 - 32, 96)):
        change = lists(
            layout.sbuf(generation, list_partition), layout.sbuf(generation, data_partition)
        )
        same = lists(
            layout.sbuf(generation, data_partition, 0x400), layout.sbuf(generation, data_partition)
        )
        yield Row(quadrant, change, index, same)
        yield Row(quadrant, change, index, change | register)
    if layout.PSUM_BYTES[generation]:
        engine = "act" if opcode in (0x46, 0x47) else None
        free = lists(layout.sbuf(generation, 64), layout.psum(0))
        if not writes or size == 4:
            wrong = lists(layout.psum(0), 0)
            yield Row(quadrant, wrong, index, free, "isa", engine, engine)
            both = lists(layout.psum(0), layout.psum(32))
            yield Row(quadrant, wrong, index, both, "isa", engine, engine)
            if opcode in (0x46, 0x47):
                yield Row("engine-reach", free, data, free, "isa", "pool", "dve")
        else:
            yield Row(rule, free, data, fine, "isa", engine, engine)


def num_of(opcode: int, operand: str) -> str:
    """Where ``same-count`` points: at the destination."""
    return "dst.num_elem" if operand == "dst" else "dst.num[0]"


CASES = [
    pytest.param(opcode, generation, id=f"{layout.NAME_OF[opcode]}-{generation}")
    for opcode in layout.OPCODES
    for generation in layout.generations_of(opcode)
]


def broken_ids(word: bytes, generation: str, profile: str = "isa", engine: str | None = None):
    chosen = Profile.ISA.with_(partition_window="quadrant") if profile == "quadrant" else profile
    return check(word, generation, chosen, engine)


@pytest.mark.parametrize("opcode", layout.OPCODES, ids=layout.NAME_OF.get)
def test_rules_come_in_the_documents_order(opcode: int) -> None:
    for name in layout.generations_of(opcode):
        rules = BY_OPCODE[opcode].rules
        got = [rule.id for rule in rules if rule.applies(GENERATIONS[name])]
        assert got == rules_in(opcode, name)


@pytest.mark.parametrize(("opcode", "generation"), CASES)
def test_the_base_word_is_legal(opcode: int, generation: str) -> None:
    for profile in ("isa", "hardware"):
        assert broken_ids(legal_word(opcode), generation, profile) == ()


@pytest.mark.parametrize(("opcode", "generation"), CASES)
def test_each_rule_refuses_and_says_where(opcode: int, generation: str) -> None:
    for row in rows(opcode, generation):
        word = legal_word(opcode, row.change)
        broken = broken_ids(word, generation, row.profile, row.engine)
        shown = f"{row.change} on {row.engine}: {[str(b) for b in broken]}"
        assert broken, f"expected {row.rule}: {row}"
        assert broken[0].rule == row.rule, f"expected {row.rule}: {shown}"
        order = rules_in(opcode, generation)
        positions = [order.index(finding.rule) for finding in broken]
        assert positions == sorted(set(positions)), shown
        low, width = layout.places_of(opcode)[row.points]
        assert any(r.low <= low and low + width - 1 <= r.high for r in broken[0].ranges), shown


@pytest.mark.parametrize(("opcode", "generation"), CASES)
def test_the_nearest_legal_neighbours_pass(opcode: int, generation: str) -> None:
    for row in rows(opcode, generation):
        if row.neighbour is not None:
            word = legal_word(opcode, row.neighbour)
            broken = broken_ids(word, generation, row.profile, row.neighbour_engine)
            assert broken == (), f"{row.neighbour} (beside {row.rule}): {[str(b) for b in broken]}"


@pytest.mark.parametrize(("opcode", "generation"), CASES)
def test_every_rule_has_a_word_that_breaks_it(opcode: int, generation: str) -> None:
    covered = {row.rule for row in rows(opcode, generation)} | {"debug-command", "events"}
    missing = set(rules_in(opcode, generation)) - covered
    if generation == "maverick":
        missing.discard("engine-reach")  # the generation has no PSUM to reach
    assert not missing


@pytest.mark.parametrize("opcode", layout.OPCODES, ids=layout.NAME_OF.get)
@pytest.mark.parametrize(
    ("field", "rule", "good"),
    [
        ("header.debug_command", "debug-command", DEBUG_COMMANDS),
        ("events.wait_mode", "events", WAIT_MODES),
        ("events.update_mode", "events", UPDATE_MODES),
        ("header.debug_hint", None, range(256)),
        ("events.wait_index", None, range(256)),
        ("events.update_index", None, range(256)),
    ],
)
def test_all_256_codes_of_the_common_bytes(opcode, field, rule, good) -> None:
    generations = layout.generations_of(opcode)
    for code in range(256):
        generation = generations[code % len(generations)] if rule is None else generations[-1]
        broken = broken_ids(legal_word(opcode, {field: code}), generation)
        assert [b.rule for b in broken] == ([] if code in good else [rule])
        for finding in broken:
            assert [(r.low, r.width) for r in finding.ranges] == [layout.HEAD[field]]


@pytest.mark.parametrize(("opcode", "generation"), CASES)
def test_broken_rules_are_all_listed_in_order(opcode: int, generation: str) -> None:
    changes = {
        "header.word_length": 1,
        "header.debug_command": 2,
        "events.wait_mode": 8,
        "num_active_channels": 0,
    }
    fields = layout.FIELDS[layout.STRUCT_OF[opcode]]
    expected = {"word-length", "debug-command", "events", "channels"}
    for name, code, rule in (
        ("reserved", 1, "reserved-zero"),
        ("reserved0", 1, "reserved-zero"),
        ("negated", 2, "not-negated" if opcode in (0x46, 0x47) else "not-negated-flag"),
        ("mask_enable", 1, "mask-disabled"),
        ("op_dim", 1, "op-dim"),
        ("op", 1, "bypass"),
        ("op0", 1, "select-ops"),
        ("reversed_pred", 2, "reversed-flag"),
        ("reverse_operands", 3, "reverse-flag"),
        ("even_count", 1, "counts-zero"),
        ("imm1", 1, "immediates-zero"),
        ("serialization_mode", 1, "serial-mode"),
        ("set_value", 1, "set-value-zero"),
        ("fill_value", 0, "fill-value"),
        ("reduce_op", 0, "reduce-op"),
        ("reduce_command", 1, "reduce-command"),
        ("comp_op0", 0x18, "comparison-0"),
        ("comp_op1", 0x18, "comparison-1"),
        ("accumulator_command", 4, "accumulator-command"),
        ("dst_element_count", 3, "element-count"),
    ):
        if name in fields:
            changes[name] = code
            expected.add(rule)
    broken = broken_ids(legal_word(opcode, changes), generation)
    assert [b.rule for b in broken] == [r for r in rules_in(opcode, generation) if r in expected]


# One trouble each: what later rules would need is denied by the first, so they are not listed.
ONE_TROUBLE = [
    (0x46, {"in_dtype": 0}, ["in-dtype"]),
    (0x46, {"in_dtype": 0xB}, ["in-dtype"]),
    (0x46, {"op": 0xFE}, ["alu-op"]),
    (0x46, {"num_active_channels": 200}, ["channels"]),
    (0x46, {"src.start": 0x8000000}, ["src-readable"]),
    (0x46, {"src.start": 0x60000000, "src.num[0]": 3}, ["src-readable"]),
    (0x72, {"predicate_dtype": 0}, ["predicate-dtype"]),
    (0x72, {"data_dtype": 0}, ["data-dtype"]),
    (0x72, {"out_dtype": 0x10}, ["out-dtype"]),
    (0xE8, {"predicate_dtype": 0x10}, ["predicate-readable"]),
    (0xE8, {"out_dtype": 0}, ["dst-writable"]),
    (0xE8, {"in_dtype": 0x10, "scalar_source": 1}, ["immediate"]),
    (0x6E, {"out_dtype": 0}, ["out-dtype"]),
    (0x6F, {"src.num[0]": 0}, ["source-count"]),
    (0xEA, {"imm0_dtype": 0}, ["immediate-dtype"]),
    (0xEA, {"op1": 0xFE}, ["alu-op"]),
    (0x9B, {"dst.num[0]": 0}, ["element-count"]),
    # Two troubles stay two.
    (0x46, {"in_dtype": 0, "src.start": 2, "op_dim": 1}, ["in-dtype", "op-dim"]),
    (0x46, {"src.start": 2, "dst.start": 1}, ["src-readable", "dst-writable"]),
    (0xE8, {"num_active_channels": 200}, ["predicate-window", "dst-window", "channels"]),
]


@pytest.mark.parametrize(("opcode", "change", "expected"), ONE_TROUBLE)
def test_each_trouble_is_listed_once(opcode: int, change: dict, expected: list[str]) -> None:
    for generation in layout.generations_of(opcode):
        broken = broken_ids(legal_word(opcode, change), generation, engine=None)
        assert [finding.rule for finding in broken] == expected
