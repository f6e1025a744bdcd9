"""The legality rules said a second time, one predicate a rule, over raw bits.

Written from the rule documents alone; imports nothing of lanewise. A rule answers True (holds),
False (broken). :func:`first_broken` goes through the instruction's rules in their order.
"""

from __future__ import annotations

from fractions import Fraction
from math import prod

from tests.neuron import layout
from tests.neuron.layout import get
from tests.neuron.oracle import decode
from tests.neuron.roster import ALU_CODES

WAITS = {0, 1, 2, 3, 4, 5, 6, 7, 14, 15}
UPDATES = {0, 1, 2, 3, 4, 5, 7, 9, 17, 18, 19, 20, 21, 23, 25}
UPDATES |= {0x83, 0x85, 0x87, 0x93, 0x95, 0x97}


class Book:
    """One word under one generation, partition window and engine."""

    def __init__(self, word: bytes, generation: str, quadrants: bool, engine: str) -> None:
        self.opcode = word[0]
        self.word = int.from_bytes(word, "little")
        self.generation = generation
        self.quadrants = quadrants
        self.engine = engine
        self.struct = layout.STRUCT_OF[word[0]]
        self.lists = generation in layout.WITH_INDEX_LISTS

    def f(self, name: str) -> int:
        places = layout.HEAD | layout.FIELDS[self.struct]
        return get(self.word, places[name])

    def has(self, name: str) -> bool:
        return name in layout.FIELDS[self.struct]

    # Operands.

    def address(self, operand: str) -> int:
        return get(self.word, (8 * layout.PATTERNS[self.struct][operand][0], 32))

    def data_word(self, operand: str) -> int:
        return get(self.word, (8 * layout.PATTERNS[self.struct][operand][0] + 32, 32))

    def form(self, operand: str) -> str:
        """direct, register, list, or unusable."""
        top = self.address(operand) >> 29
        if top & 3 == 3:
            return "unusable"
        if top & 3 == 1:
            allowed = self.lists and operand in layout.INDIRECT.get(self.opcode, ())
            return "list" if allowed else "unusable"
        return "register" if top & 4 else "direct"

    def shaped(self, operand: str) -> bool:
        return self.form(operand) in ("direct", "register") and (
            self.address(operand) >> 29 & 3 == 2
        )

    def steps_nums(self, operand: str) -> tuple[list[int], list[int]]:
        byte, dimensions = layout.PATTERNS[self.struct][operand]
        fields = layout.pattern_fields("p", byte, dimensions)
        steps = [get(self.word, fields[f"p.step[{d}]"]) for d in range(dimensions)]
        nums = [get(self.word, fields[f"p.num[{d}]"]) for d in range(dimensions)]
        return [s - 65536 if s > 32767 else s for s in steps], nums

    def elements(self, operand: str) -> int | None:
        """None where the count is unknown."""
        form = self.form(operand)
        if form == "unusable" or self.shaped(operand):
            return None
        if form == "list":
            return get(self.word, (8 * layout.PATTERNS[self.struct][operand][0] + 64, 16))
        return prod(self.steps_nums(operand)[1])

    def type_name(self, operand: str) -> str:
        name = {"src": "in_dtype", "dst": "out_dtype"}.get(operand, f"{operand}_dtype")
        return name if self.has(name) else "dtype"

    def size(self, operand: str) -> int | None:
        return layout.SIZE.get(self.f(self.type_name(operand)))

    def place(self, address: int) -> tuple[str, int, int] | None:
        stride = layout.SBUF_STRIDE[self.generation]
        if address // stride < 128:
            return "sbuf", address // stride, address % stride
        if layout.PSUM_BYTES[self.generation] and 0x2000000 <= address < 0x2400000:
            return "psum", (address - 0x2000000) // 0x8000, (address - 0x2000000) % 0x8000
        return None

    def active(self, space: str) -> int:
        return (layout.SBUF_BYTES if space == "sbuf" else layout.PSUM_BYTES)[self.generation]

    def index_place(self, operand: str) -> tuple[str, int, int] | None:
        if self.form(operand) != "list" or self.address(operand) >> 31:
            return None
        return self.place(self.address(operand) & 0x1FFFFFFF)

    def data_place(self, operand: str) -> tuple[str, int, int] | None:
        form = self.form(operand)
        if form == "list":
            word = self.data_word(operand)
            return None if word >> 29 else self.place(word)
        return self.place(self.address(operand) & 0x1FFFFFFF) if form == "direct" else None

    def window_holds(self, partition: int) -> bool:
        count = self.f("num_active_channels")
        if partition + count > 128:
            return False
        if not self.quadrants:
            return True
        if partition not in (0, 32, 64, 96):
            return False
        return not ((count > 64 and partition != 0) or (count > 32 and partition not in (0, 64)))

    def window(self, operand: str) -> bool:
        # A data word with one of its top bits set names no partition; the list's is still tested.
        places = (self.index_place(operand), self.data_place(operand))
        return all(place is None or self.window_holds(place[1]) for place in places)

    def element_fits(self, address: int, size: int, *, writes: bool, sbuf_only: bool) -> bool:
        place = self.place(address)
        if place is None or (sbuf_only and place[0] == "psum"):
            return False
        if place[2] % size or place[2] + size > self.active(place[0]):
            return False
        return not (writes and place[0] == "psum" and size != 4)

    def valid(self, operand: str) -> bool:
        form, address = self.form(operand), self.address(operand)
        if form == "unusable":
            return False
        if address >> 31:
            if address & 0xFF > 63 or address >> 8 & 0xFFFF:
                return False
            if address >> 24 not in (0x80, 0xA0, 0xC0):
                return False
            if form == "register":
                return True
        size = self.size(operand)
        if size is None:
            return False
        writes, sbuf_only = operand == "dst", self.opcode == 0xF2
        if form == "list":
            count = self.elements(operand)
            if not count or self.data_word(operand) >> 29:
                return False
            if not address >> 31:
                place = self.place(address & 0x1FFFFFFF)
                if place is None or place[2] % 4:
                    return False
                if place[2] + 4 * count > self.active(place[0]):
                    return False
            return self.element_fits(
                self.data_word(operand), size, writes=writes, sbuf_only=sbuf_only
            )
        start = address & 0x1FFFFFFF
        if not self.element_fits(start, size, writes=writes, sbuf_only=sbuf_only):
            return False
        if self.shaped(operand):
            return True
        steps, nums = self.steps_nums(operand)
        if 0 in nums:
            return False
        space, _, offset = self.place(start)
        reach = [step * (num - 1) for step, num in zip(steps, nums, strict=True)]
        low = offset + size * sum(r for r in reach if r < 0)
        high = offset + size * sum(r for r in reach if r > 0) + size
        return low >= 0 and high <= self.active(space)

    def quadrant(self, operand: str) -> bool:
        index, data = self.index_place(operand), self.data_place(operand)
        if index is None or data is None or data[0] == "psum":
            return True
        return index[0] == "sbuf" and index[1] // 32 == data[1] // 32

    def equal_counts(self, left: str, right: str, extra: int = 0) -> bool:
        a, b = self.elements(left), self.elements(right)
        return a is None or b is None or a + extra == b

    def count_within(self, operand: str, low: int, high: int) -> bool:
        count = self.elements(operand)
        return count is None or low <= count <= high

    def scalar(self, source: str, value: str, dtype: int) -> bool:
        kind, bits = self.f(source), self.f(value)
        if kind == 0:
            return True
        if kind == 2:
            return bits < 64
        if kind != 1 or dtype not in layout.SIZE or bits >> 29:
            return False
        if not self.element_fits(bits, layout.SIZE[dtype], writes=False, sbuf_only=False):
            return False
        return self.window_holds(self.place(bits)[1])

    # Rules by id.

    def holds(self, rule: str) -> bool:
        f = self.f
        if rule.endswith("-window"):
            return self.window(rule.removesuffix("-window"))
        if rule.endswith(("-readable", "-writable")):
            return self.valid(rule.rsplit("-", 1)[0])
        if rule.endswith("-quadrant"):
            return not self.lists or self.quadrant(rule.removesuffix("-quadrant"))
        if rule == "word-length":
            return f("header.word_length") == 16
        if rule == "debug-command":
            return f("header.debug_command") in (0, 1, 3, 5, 7, 9)
        if rule == "events":
            return f("events.wait_mode") in WAITS and f("events.update_mode") in UPDATES
        if rule == "reserved-zero":
            names = [n for n in layout.FIELDS[self.struct] if n.startswith("reserved")]
            return all(f(name) == 0 for name in names)
        if rule == "channels":
            return 1 <= f("num_active_channels") <= 128
        return getattr(self, "_" + rule.replace("-", "_"))()

    def _mask_disabled(self) -> bool:
        return self.f("mask_enable") == 0

    def _in_dtype(self) -> bool:
        code = self.f("in_dtype" if self.has("in_dtype") else "dtype")
        allowed = {0x6F: (3, 5, 6, 7, 8, 9, 0xA), 0xBC: layout.FLOATS, 0xF2: (8, 0xA)}
        return code in allowed.get(self.opcode, layout.BASE)

    def _out_dtype(self) -> bool:
        code = self.f("out_dtype" if self.has("out_dtype") else "dtype")
        floats = (*layout.FLOATS, 0xB)
        allowed = {0x46: layout.BASE_R, 0x47: layout.BASE_R, 0x6C: layout.BASE_R}
        allowed |= {0x6E: layout.BASE_R, 0xEA: layout.BASE_R, 0xBC: floats, 0x9B: floats}
        allowed |= {0x6F: (3, 5, 6, 7, 8, 9, 0xA), 0xF2: (8,)}
        return code in allowed.get(self.opcode, layout.BASE)

    def _alu_op(self) -> bool:
        names = ("op0", "op1") if self.opcode == 0xEA else ("op",)
        return all(self.f(name) in ALU_CODES[self.generation] for name in names)

    def _op_dim(self) -> bool:
        return self.f("op_dim") in (0, 2)

    def _same_count(self) -> bool:
        return self.equal_counts("predicate" if self.opcode == 0xE8 else "src", "dst")

    def _bypass(self) -> bool:
        return self.f("op") == 0

    def _same_dtype(self) -> bool:
        return self.f("data_dtype" if self.opcode == 0x72 else "in_dtype") == self.f("out_dtype")

    def _not_negated(self) -> bool:
        return self.f("negated") == 0

    def _engine_reach(self) -> bool:
        if self.engine != "pool":
            return True
        places = [find(o) for o in ("src", "dst") for find in (self.index_place, self.data_place)]
        return all(place is None or place[0] == "sbuf" for place in places)

    def _predicate_dtype(self) -> bool:
        return self.f("predicate_dtype") in layout.BASE

    def _data_dtype(self) -> bool:
        return self.f("data_dtype") in layout.BASE

    def _immediate_dtype(self) -> bool:
        return self.f("imm0_dtype") in layout.BASE

    def _predicate_integer(self) -> bool:
        return self.f("predicate_dtype") in layout.INTEGERS

    def _sources_same_count(self) -> bool:
        return self.equal_counts("predicate", "data")

    def _dst_same_count(self) -> bool:
        return self.equal_counts("data", "dst")

    def _source_placement(self) -> bool:
        a, b = self.data_place("predicate"), self.data_place("data")
        if a is None or b is None or a[0] != b[0]:
            return True
        return a[0] == "sbuf" and a[1] // 32 == b[1] // 32

    def _immediate(self) -> bool:
        if self.opcode == 0xE8:
            return self.scalar("scalar_source", "scalar", self.f("in_dtype"))
        return self.scalar("imm0_source", "imm0", self.f("imm0_dtype"))

    def _reversed_flag(self) -> bool:
        return self.f("reversed_pred") in (0, 1)

    def _source_count(self) -> bool:
        return self.count_within("src", 1 if self.opcode == 0x6F else 8, 16384)

    def _result_count(self) -> bool:
        return self.count_within("dst", 8, 8)

    def _counts_zero(self) -> bool:
        return self.f("even_count") == self.f("odd_count") == 0

    def _index_dtype(self) -> bool:
        return self.f("out_dtype" if self.opcode == 0x6E else "dtype") in (5, 9)

    def _immediates_zero(self) -> bool:
        return self.f("imm1") == self.f("imm0_ptr") == self.f("imm0_src") == 0

    def _key_count(self) -> bool:
        if self.form("src") == "unusable":
            return True
        if self.shaped("src") and self.generation != "sunda":
            return True
        return prod(self.steps_nums("src")[1]) == 8

    def _data_not_32bit_int(self) -> bool:
        return self.f("data_dtype") not in (8, 9)

    def _immediate_fp32(self) -> bool:
        return self.f("imm0_source") != 0 or self.f("imm0_dtype") == 0xA

    def _select_ops(self) -> bool:
        return (self.f("op0"), self.f("op1")) == (0, 8)

    def _accumulator_command(self) -> bool:
        return self.f("accumulator_command") in (0, 2, 3)

    def _reverse_flag(self) -> bool:
        return self.f("reverse_operands") in (0, 1)

    def _index_range(self) -> bool:
        kind, sign, value = decode(0xA, self.f("base"), ())
        if kind != "number" or (sign and value) or value > Fraction(1 << 24):
            return False
        count = self.elements("src")
        return count is None or int(value) + count <= 1 << 24

    def _fill_value(self) -> bool:
        return self.f("fill_value") == 0xFF7FFFFF

    def _comparison_0(self) -> bool:
        return 0x12 <= self.f("comp_op0") <= 0x16

    def _comparison_1(self) -> bool:
        return 0x12 <= self.f("comp_op1") <= 0x16

    def _bound_0(self) -> bool:
        return self.scalar("bound0_source", "bound0", 0xA)

    def _bound_1(self) -> bool:
        return self.scalar("bound1_source", "bound1", 0xA)

    def _reduce_command(self) -> bool:
        return self.f("reduce_command") in (0, 2, 3)

    def _reduce_op(self) -> bool:
        return self.f("reduce_op") == 8

    def _index_offset(self) -> bool:
        return self.scalar("index_offset_source", "index_offset", 8)

    def _padding_value(self) -> bool:
        return self.scalar("padding_value_source", "padding_value", 8)

    def _count_plus_one(self) -> bool:
        return self.equal_counts("src", "dst", 1)

    def _element_count(self) -> bool:
        count = 1 if self.opcode == 0x9B else 8
        return self.f("dst_element_count") == count and self.count_within("dst", count, count)

    def _not_negated_flag(self) -> bool:
        return self.f("negated") in (0, 1)

    def _serial_mode(self) -> bool:
        return self.f("serialization_mode") == 0

    def _set_value_zero(self) -> bool:
        return self.f("set_value") == 0
