"""A deliberately naive model of the fourteen instructions: one element after another.

Written from the instruction documents alone, over a dictionary of bytes, Python integers and
fractions. It imports nothing of lanewise; what the two agree on was said twice.
It runs legal words only, and raises :class:`Fault` for what cannot run.
"""

from __future__ import annotations

import functools
from fractions import Fraction
from itertools import product

from tests.neuron import layout
from tests.neuron.layout import get

LANES = 128
MINUS_INF, PLUS_INF = 0xFF800000, 0x7F800000


class Fault(Exception):
    """A legal word that cannot run; the reason is the only argument."""


# ------------------------------------------------------------------------------------ numbers


def _float_shape(dtype: int, profile: tuple) -> tuple[int, int, int]:
    """Exponent bits, mantissa bits, bias."""
    return {
        0x6: (8, 7, 127),
        0x7: (5, 10, 15),
        0xA: (8, 23, 127),
        0xB: (8, 23, 127),
        0xD: (3, 4, 3),
        0xE: (4, 3, 7),
        0xF: (5, 2, 15),
    }[dtype]


def _is_fn(dtype: int, profile: tuple) -> bool:
    return dtype == 0xE and dict(profile)["fp8_exp4"] == "fn"


@functools.lru_cache(1 << 16)
def decode(dtype: int, bits: int, profile: tuple) -> tuple[str, int, Fraction]:
    """(class, sign, magnitude) of a float code; class is nan, inf or number."""
    exponent_bits, mantissa_bits, bias = _float_shape(dtype, profile)
    sign = bits >> (exponent_bits + mantissa_bits)
    exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1)
    mantissa = bits & ((1 << mantissa_bits) - 1)
    top = (1 << exponent_bits) - 1
    if exponent == top:
        if _is_fn(dtype, profile):
            if mantissa == (1 << mantissa_bits) - 1:
                return "nan", sign, Fraction(0)
        else:
            return ("nan" if mantissa else "inf"), sign, Fraction(0)
    if exponent == 0:
        return "number", sign, Fraction(mantissa) * _two(1 - bias - mantissa_bits)
    return (
        "number",
        sign,
        Fraction((1 << mantissa_bits) + mantissa) * _two(exponent - bias - mantissa_bits),
    )


def _two(power: int) -> Fraction:
    return Fraction(1 << power) if power >= 0 else Fraction(1, 1 << -power)


def _floor_log2(value: Fraction) -> int:
    guess = value.numerator.bit_length() - value.denominator.bit_length()
    return guess if _two(guess) <= value else guess - 1


def nearest_even(value: Fraction) -> int:
    floor = value.numerator // value.denominator
    rest = value - floor
    if rest > Fraction(1, 2) or (rest == Fraction(1, 2) and floor % 2):
        return floor + 1
    return floor


def _round(value: Fraction, precision: int, bias: int) -> Fraction:
    """A positive value on the grid of ``precision`` mantissa bits, no upper end."""
    exponent = max(_floor_log2(value), 1 - bias)
    spacing = _two(exponent - precision)
    return nearest_even(value / spacing) * spacing


def _code(dtype: int, sign: int, value: Fraction, profile: tuple) -> int:
    """The code of a magnitude that the format holds exactly."""
    exponent_bits, mantissa_bits, bias = _float_shape(dtype, profile)
    sign <<= exponent_bits + mantissa_bits
    if value == 0:
        return sign
    exponent = max(_floor_log2(value), 1 - bias)
    steps = value / _two(exponent - mantissa_bits)
    assert steps.denominator == 1
    if steps < 1 << mantissa_bits:
        return sign | int(steps)
    return sign | (exponent + bias) << mantissa_bits | int(steps) - (1 << mantissa_bits)


_INTEGER_RANGE = {
    2: (-128, 127),
    3: (0, 255),
    4: (-32768, 32767),
    5: (0, 65535),
    8: (-(1 << 31), (1 << 31) - 1),
    9: (0, (1 << 32) - 1),
}


def integer(dtype: int, bits: int) -> int:
    low, high = _INTEGER_RANGE[dtype]
    return bits - (high - low + 1) if bits > high else bits


@functools.lru_cache(1 << 16)
def hub(dtype: int, bits: int, profile: tuple) -> int:
    """An element as FP32 bits."""
    if dtype in layout.INTEGERS:
        value = integer(dtype, bits)
        if value == 0:
            return 0
        return _code(0xA, int(value < 0), _round(Fraction(abs(value)), 23, 127), profile)
    kind, sign, value = decode(dtype, bits, profile)
    if kind == "nan":
        return sign << 31 | 0x7FC00000
    if kind == "inf":
        return sign << 31 | PLUS_INF
    return _code(0xA, sign, value, profile)


@functools.lru_cache(1 << 16)
def encode(dtype: int, fp32: int, profile: tuple) -> int:
    """FP32 bits as a code of ``dtype``."""
    options = dict(profile)
    if dtype == 0xA:
        return fp32
    kind, sign, value = decode(0xA, fp32, profile)
    if dtype in layout.INTEGERS:
        low, high = _INTEGER_RANGE[dtype]
        if kind == "nan":
            number = 0
        elif kind == "inf":
            number = low if sign else high
        else:
            whole = int(value) if options["float_to_int"] == "truncate" else nearest_even(value)
            number = min(max(-whole if sign else whole, low), high)
        return number & ((1 << 8 * layout.SIZE[dtype]) - 1)
    exponent_bits, mantissa_bits, bias = _float_shape(dtype, profile)
    sign_bit = sign << (exponent_bits + mantissa_bits)
    top = ((1 << exponent_bits) - 1) << mantissa_bits
    fn = _is_fn(dtype, profile)
    precision = options["fp32r_mantissa_bits"] if dtype == 0xB else mantissa_bits
    if kind == "nan":
        return sign_bit | (0x7F if fn else top | 1 << (mantissa_bits - 1))
    if fn:
        largest = Fraction(448)
    else:
        largest = (2 - _two(-precision)) * _two((1 << exponent_bits) - 2 - bias)
    if kind == "inf" and not fn:
        return sign_bit | top
    rounded = Fraction(0) if value == 0 or kind == "inf" else _round(value, precision, bias)
    if kind == "inf" or rounded > largest:
        if options["float_overflow"] == "saturate":
            return _code(dtype, sign, largest, profile)
        return sign_bit | (0x7F if fn else top)
    return _code(dtype, sign, rounded, profile)


def convert(bits: int, source: int, target: int, profile: tuple) -> int:
    if source == target:
        return bits
    return encode(target, hub(source, bits, profile), profile)


def compare(left: int, relation: str, right: int) -> bool:
    """An ordered comparison of two FP32 codes."""
    a, b = decode(0xA, left, ()), decode(0xA, right, ())
    if "nan" in (a[0], b[0]):
        return False
    x, y = _line(a), _line(b)
    return {"eq": x == y, "gt": x > y, "ge": x >= y, "le": x <= y, "lt": x < y}[relation]


def _line(number: tuple[str, int, Fraction]) -> Fraction:
    kind, sign, value = number
    magnitude = _two(200) if kind == "inf" else value
    return -magnitude if sign else magnitude


def add(left: int, count: int) -> int:
    """FP32 left + count, for a finite left >= 0 and a small count: one rounding."""
    _, _, value = decode(0xA, left, ())
    total = value + count
    return _code(0xA, 0, _round(total, 23, 127), ()) if total else 0


# ------------------------------------------------------------------------------------ machine


class Oracle:
    """Memory as a dictionary of bytes, everything else as lists."""

    def __init__(self, generation: str, profile: dict) -> None:
        self.generation = generation
        self.options = profile
        self.profile = tuple(sorted(profile.items()))
        self.memory: dict[tuple[str, int, int], int] = {}
        self.registers = [0] * 64
        self.keys = [[0] * 8 for _ in range(LANES)]
        self.matched = [[True] * 8 for _ in range(LANES)]
        self.indices = [[0xFFFFFFFF] * 8 for _ in range(LANES)]
        self.accumulator = [MINUS_INF] * LANES

    # Bytes.

    def load(self, place: tuple[str, int, int], size: int) -> int:
        space, partition, offset = place
        return sum(self.memory.get((space, partition, offset + i), 0) << 8 * i for i in range(size))

    def store(self, place: tuple[str, int, int], size: int, code: int) -> None:
        space, partition, offset = place
        for i in range(size):
            self.memory[space, partition, offset + i] = code >> 8 * i & 0xFF

    def locate(self, address: int) -> tuple[str, int, int] | None:
        stride = layout.SBUF_STRIDE[self.generation]
        if address < LANES * stride:
            return "sbuf", address // stride, address % stride
        if layout.PSUM_BYTES[self.generation] and 0x2000000 <= address < 0x2400000:
            return "psum", (address - 0x2000000) // 0x8000, address % 0x8000
        return None

    def active(self, space: str) -> int:
        return (layout.SBUF_BYTES if space == "sbuf" else layout.PSUM_BYTES)[self.generation]

    # Operands.

    def run(self, word: bytes, engine: str | None = None) -> None:
        """One legal word. All reads come before the first write."""
        self.word = int.from_bytes(word, "little")
        self.opcode = word[0]
        self.engine = engine or ("pool" if word[0] in (0x46, 0x47, 0xF2) else "dve")
        self.struct = layout.STRUCT_OF[word[0]]
        self.lanes = range(self.field("num_active_channels"))
        self.places: dict[str, list[list[tuple[str, int, int]]]] = {}
        patterns = layout.PATTERNS[self.struct]
        for name in patterns:
            if not self._is_list(name) and self._address_word(name) >> 29 & 3 == 2:
                raise Fault("not-modelled")
        starts = {name: self._start(name) for name in patterns}
        scalars = {name: self._scalar_place(name) for name in self._immediates()}
        for name in patterns:
            self.places[name] = [self._walk(name, c, starts[name]) for c in self.lanes]
        self.scalars = {name: self._scalar(name, at) for name, at in scalars.items()}
        {
            0x46: self._copy,
            0x47: self._copy,
            0x72: self._copy_predicated,
            0x99: self._copy_predicated,
            0xE8: self._copy_predicated_scalar,
            0x6C: self._max8,
            0x6D: self._match_value_load,
            0x6E: self._find_index8,
            0x6F: self._match_replace8,
            0xEA: self._select_reduce,
            0xBC: self._range_select,
            0xF2: self._nonzero_with_count,
            0x9B: self._read_accumulator,
            0xE9: self._read_indices,
        }[self.opcode]()

    def field(self, name: str) -> int:
        return get(self.word, layout.FIELDS[self.struct][name])

    def dtype(self, operand: str) -> int:
        names = {"src": "in_dtype", "dst": "out_dtype"}
        names |= {"predicate": "predicate_dtype", "data": "data_dtype"}
        name = names[operand]
        return self.field(name if name in layout.FIELDS[self.struct] else "dtype")

    def _address_word(self, operand: str) -> int:
        return get(self.word, (8 * layout.PATTERNS[self.struct][operand][0], 32))

    def _is_list(self, operand: str) -> bool:
        return self._address_word(operand) >> 29 & 3 == 1

    def _from_register(self, number: int) -> int:
        address = self.registers[number]
        if address >> 29:
            raise Fault("address")
        return address

    def _demand(self, good: bool) -> None:
        if not good:
            raise Fault("address")

    def _window(self, partition: int) -> None:
        count = len(self.lanes)
        self._demand(partition + count <= LANES)
        if self.options["partition_window"] == "quadrant":
            self._demand(partition % 32 == 0)
            self._demand(count <= 32 or partition in (0, 64))
            self._demand(count <= 64 or partition == 0)

    def _start(self, name: str) -> dict[str, tuple[str, int, int]]:
        """Places of the start (or of index list and data), registers resolved and tested."""
        first = self._address_word(name)
        byte, _ = layout.PATTERNS[self.struct][name]
        if self._is_list(name):
            data = self.locate(get(self.word, (8 * byte + 32, 32)))
            if not first >> 31:
                return {"index": self.locate(first & 0x1FFFFFFF), "data": data}
            place = self.locate(self._from_register(first & 0xFF))
            self._demand(place is not None)
            count = get(self.word, (8 * byte + 64, 16))
            self._demand(place[2] % 4 == 0)
            self._demand(place[2] + 4 * count <= self.active(place[0]))
            self._demand(self.engine != "pool" or place[0] == "sbuf")
            self._window(place[1])
            return {"index": place, "data": data}
        if not first >> 31:
            return {"data": self.locate(first & 0x1FFFFFFF)}
        place = self.locate(self._from_register(first & 0xFF))
        size = layout.SIZE[self.dtype(name)]
        self._demand(place is not None)
        self._demand(place[2] % size == 0)
        self._demand(self.engine != "pool" or place[0] == "sbuf")
        self._demand(not (name == "dst" and place[0] == "psum" and size != 4))
        offsets = self._offsets(name, size)
        self._demand(len(offsets) > 0)
        self._demand(place[2] + min(offsets) >= 0)
        self._demand(place[2] + max(offsets) + size <= self.active(place[0]))
        self._window(place[1])
        return {"data": place}

    def _offsets(self, name: str, size: int) -> list[int]:
        byte, dimensions = layout.PATTERNS[self.struct][name]
        fields = layout.pattern_fields("p", byte, dimensions)
        steps = [get(self.word, fields[f"p.step[{d}]"]) for d in range(dimensions)]
        steps = [step - 0x10000 if step >= 0x8000 else step for step in steps]
        nums = [get(self.word, fields[f"p.num[{d}]"]) for d in range(dimensions)]
        outermost_first = product(*(range(num) for num in reversed(nums)))
        return [
            size * sum(i * step for i, step in zip(reversed(position), steps, strict=True))
            for position in outermost_first
        ]

    def _walk(
        self, name: str, lane: int, start: dict[str, tuple[str, int, int]]
    ) -> list[tuple[str, int, int]]:
        """The place of every element of a lane, in walk order."""
        size = layout.SIZE[self.dtype(name)]
        space, partition, offset = start["data"]
        if self._is_list(name):
            byte, _ = layout.PATTERNS[self.struct][name]
            places = []
            for i in range(get(self.word, (8 * byte + 64, 16))):
                list_space, list_partition, list_offset = start["index"]
                index = self.load((list_space, list_partition + lane, list_offset + 4 * i), 4)
                if offset + size * index + size > self.active(space):
                    raise Fault("index")
                places.append((space, partition + lane, offset + size * index))
            return places
        return [(space, partition + lane, offset + step) for step in self._offsets(name, size)]

    def read(self, operand: str, lane: int) -> list[int]:
        size = layout.SIZE[self.dtype(operand)]
        return [self.load(place, size) for place in self.places[operand][lane]]

    def read_hub(self, operand: str, lane: int) -> list[int]:
        return [hub(self.dtype(operand), code, self.profile) for code in self.read(operand, lane)]

    def write(self, results: dict[int, list[int | None]]) -> None:
        """Lane -> codes of dst in walk order; None keeps the element."""
        size = layout.SIZE[self.dtype("dst")]
        for lane, codes in results.items():
            for place, code in zip(self.places["dst"][lane], codes, strict=True):
                if code is not None:
                    self.store(place, size, code)

    # Scalars.

    def _immediates(self) -> dict[str, tuple[str, int]]:
        """Name -> (source field, dtype)."""
        return {
            0xE8: {"scalar": ("scalar_source", -1)},
            0xEA: {"imm0": ("imm0_source", -1)},
            0xBC: {"bound0": ("bound0_source", 0xA), "bound1": ("bound1_source", 0xA)},
            0xF2: {
                "index_offset": ("index_offset_source", 8),
                "padding_value": ("padding_value_source", 8),
            },
        }.get(self.opcode, {})

    def _scalar_dtype(self, name: str) -> int:
        fixed = self._immediates()[name][1]
        if fixed >= 0:
            return fixed
        return self.field("in_dtype" if name == "scalar" else "imm0_dtype")

    def _scalar_place(self, name: str) -> tuple[str, int, int] | None:
        source = self.field(self._immediates()[name][0])
        if source == 0:
            return None
        if source == 1:
            return self.locate(self.field(name))
        place = self.locate(self._from_register(self.field(name)))
        size = layout.SIZE[self._scalar_dtype(name)]
        self._demand(place is not None)
        self._demand(place[2] % size == 0 and place[2] + size <= self.active(place[0]))
        self._window(place[1])
        return place

    def _scalar(self, name: str, place: tuple[str, int, int] | None) -> list[int]:
        size = layout.SIZE[self._scalar_dtype(name)]
        if place is None:
            return [self.field(name) & ((1 << 8 * size) - 1) for _ in self.lanes]
        space, partition, offset = place
        return [self.load((space, partition + lane, offset), size) for lane in self.lanes]

    # Instructions.

    def _copy(self) -> None:
        source, target = self.field("in_dtype"), self.field("out_dtype")
        self.write(
            {
                lane: [
                    convert(code, source, target, self.profile) for code in self.read("src", lane)
                ]
                for lane in self.lanes
            }
        )

    def _copy_predicated(self) -> None:
        source, target = self.field("data_dtype"), self.field("out_dtype")
        results = {}
        for lane in self.lanes:
            pairs = zip(self.read("predicate", lane), self.read("data", lane), strict=True)
            results[lane] = [
                convert(code, source, target, self.profile) if truth else None
                for truth, code in pairs
            ]
        self.write(results)

    def _copy_predicated_scalar(self) -> None:
        reverse = self.field("reversed_pred") == 1
        self.write(
            {
                lane: [
                    self.scalars["scalar"][lane] if (truth != 0) == reverse else None
                    for truth in self.read("predicate", lane)
                ]
                for lane in self.lanes
            }
        )

    def _max8(self) -> None:
        results = {}
        for lane in self.lanes:
            slots = [MINUS_INF] * 8
            for value in self.read_hub("src", lane):
                if compare(value, "gt", slots[0]):
                    del slots[0]
                    at = 0
                    while at < 7 and compare(value, "gt", slots[at]):
                        at += 1
                    slots.insert(at, value)
            results[lane] = [encode(self.field("out_dtype"), v, self.profile) for v in slots]
        self.write(results)

    def _match_value_load(self) -> None:
        for lane in self.lanes:
            for k, value in enumerate(self.read_hub("src", lane)):
                self.keys[lane][7 - k] = value
            self.matched[lane] = [False] * 8

    def _scan(self, lane: int) -> list[int | None]:
        found: list[int | None] = [None] * 8
        for k, value in enumerate(self.read_hub("src", lane)):
            for n in range(8):
                if not self.matched[lane][n] and compare(value, "eq", self.keys[lane][n]):
                    self.matched[lane][n] = True
                    found[n] = k
                    break
        return found

    def _find_index8(self) -> None:
        miss = 0xFFFF if self.field("out_dtype") == 5 else 0xFFFFFFFF
        results = {}
        for lane in self.lanes:
            results[lane] = [miss if k is None else k for k in self._scan(lane)]
        self.write(results)

    def _match_replace8(self) -> None:
        target = self.field("out_dtype")
        replacement = encode(target, self.field("immediate"), self.profile)
        results = {}
        for lane in self.lanes:
            values = self.read_hub("src", lane)
            found = self._scan(lane)
            results[lane] = [
                replacement if k in found else encode(target, value, self.profile)
                for k, value in enumerate(values)
            ]
            self.indices[lane] = [0xFFFFFFFF if k is None else k for k in found]
        self.write(results)

    def _fold(self, lane: int, command: int, values: list[int]) -> None:
        if command == 0:
            return
        if command == 3:
            self.accumulator[lane] = MINUS_INF
        for value in values:
            if compare(value, "gt", self.accumulator[lane]):
                self.accumulator[lane] = value

    def _select_reduce(self) -> None:
        source, target = self.field("data_dtype"), self.field("out_dtype")
        scalar_type = self.field("imm0_dtype")
        negate = self.field("reverse_operands") == 1
        results, offered = {}, {}
        for lane in self.lanes:
            codes: list[int | None] = []
            values = []
            scalar = self.scalars["imm0"][lane]
            pairs = zip(self.read("predicate", lane), self.read("data", lane), strict=True)
            for predicate, code in pairs:
                if (predicate != 0) != negate:
                    codes.append(convert(code, source, target, self.profile))
                    values.append(hub(source, code, self.profile))
                elif self.options["select_reduce"] == "select":
                    codes.append(convert(scalar, scalar_type, target, self.profile))
                    values.append(hub(scalar_type, scalar, self.profile))
                else:
                    codes.append(None)
            results[lane], offered[lane] = codes, values
        self.write(results)
        for lane in self.lanes:
            self._fold(lane, self.field("accumulator_command"), offered[lane])

    def _range_select(self) -> None:
        source, target = self.field("in_dtype"), self.field("out_dtype")
        relations = {0x12: "eq", 0x13: "gt", 0x14: "ge", 0x15: "le", 0x16: "lt"}
        first, second = (relations[self.field(f"comp_op{n}")] for n in (0, 1))
        results, offered = {}, {}
        for lane in self.lanes:
            codes: list[int | None] = []
            values = []
            for k, code in enumerate(self.read("src", lane)):
                value = hub(source, code, self.profile)
                indexed = self.options["range_select_operand"] == "index"
                operand = add(self.field("base"), k) if indexed else value
                if compare(operand, first, self.scalars["bound0"][lane]) and compare(
                    operand, second, self.scalars["bound1"][lane]
                ):
                    codes.append(convert(code, source, target, self.profile))
                    values.append(value)
                else:
                    codes.append(convert(0xFF7FFFFF, 0xA, target, self.profile))
                    values.append(0xFF7FFFFF)
            results[lane], offered[lane] = codes, values
        self.write(results)
        for lane in self.lanes:
            self._fold(lane, self.field("reduce_command"), offered[lane])

    def _nonzero_with_count(self) -> None:
        results = {}
        for lane in self.lanes:
            if self.options["nonzero_lanes"] == "every16" and lane % 16:
                continue
            positions = []
            source = self.read("src", lane)
            for k, code in enumerate(source):
                if self.field("in_dtype") == 8:
                    counted = code != 0
                else:
                    kind, _, value = decode(0xA, code, self.profile)
                    counted = kind == "inf" or value != 0
                    if kind == "nan":
                        counted = self.options["nonzero_nan"] == "count"
                if counted:
                    positions.append((k + self.scalars["index_offset"][lane]) & 0xFFFFFFFF)
            padding = [self.scalars["padding_value"][lane]] * (len(source) - len(positions))
            results[lane] = [*positions, *padding, len(positions)]
        self.write(results)

    def _read_accumulator(self) -> None:
        sign = self.field("negated") << 31
        target = self.field("dtype")
        self.write(
            {
                lane: [encode(target, self.accumulator[lane] ^ sign, self.profile)]
                for lane in self.lanes
            }
        )

    def _read_indices(self) -> None:
        mask = (1 << 8 * layout.SIZE[self.field("dtype")]) - 1
        self.write({lane: [index & mask for index in self.indices[lane]] for lane in self.lanes})
