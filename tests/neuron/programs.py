"""Random legal words with the state they need, built from the layout tables alone.

A :class:`Step` is a word, the engine named for it, and what to put in place before it runs: bytes
in memory and register contents. Sources hold the values where conversions and searches decide
(zeros, ties, NaN, infinities, the ends of the ranges), and overlap destinations often.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from tests.neuron import layout, oracle

Place = tuple[str, int, int]

FP32_VALUES = (
    0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x40000000, 0x40400000, 0x40E00000,
    0xC0200000, 0x3F000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC01234, 0x7F800001,
    0x7F7FFFFF, 0xFF7FFFFF, 0x00000001, 0x80000001, 0x007FFFFF, 0x00800000, 0x477FEFFF,
    0x477FF000, 0x43780000, 0x43E88000, 0x417C0000, 0x4F000000, 0xCF000000, 0x4B800001,
    0x33000001, 0x3F801000, 0x3F803000, 0x43960000, 0x3F7FFFFF,
)  # fmt: skip
SMALL_VALUES = (
    0x00000000, 0x80000000, 0x3F800000, 0x40000000, 0x40400000, 0x40800000, 0x7FC00000,
    0xFF800000, 0x7F800000,
)  # fmt: skip
INTEGER_EDGES = (0, 1, 2, 3, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 16777217, 16777219)
INTEGER_EDGES += (0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x80000001, 300)
COUNTS = (1, 2, 3, 4, 6, 8, 8, 9, 12, 16, 24)


@dataclass
class Step:
    """One word and what must be in place for it."""

    word: bytes
    engine: str | None
    memory: list[tuple[Place, bytes]] = field(default_factory=list)
    registers: dict[int, int] = field(default_factory=dict)


class Maker:
    """Makes steps for one generation and profile from one random source."""

    def __init__(
        self,
        seed: object,
        generation: str,
        profile: dict,
        *,
        bad: float = 0.0,
        wide: bool = True,
        counts: tuple[int, ...] = COUNTS,
    ) -> None:
        self.rng = random.Random(str(seed))
        self.generation = generation
        self.options = profile
        self.profile = tuple(sorted(profile.items()))
        self.bad = bad
        self.wide = wide
        self.counts = counts

    # Choices.

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def code(self, dtype: int, *, small: bool = False) -> int:
        """A code of a dtype, often one where something is decided."""
        rng = self.rng
        mask = (1 << 8 * layout.SIZE[dtype]) - 1
        if small:
            return oracle.encode(dtype, rng.choice(SMALL_VALUES), self.profile)
        if self.chance(0.25):
            return rng.getrandbits(8 * layout.SIZE[dtype])
        if dtype in layout.INTEGERS:
            return rng.choice(INTEGER_EDGES) & mask
        return oracle.encode(dtype, rng.choice(FP32_VALUES), self.profile)

    def channels(self) -> int:
        wide = (17, 33, 65, 128) if self.wide and self.chance(0.06) else (1, 1, 2, 3, 4)
        return self.rng.choice(wide)

    def partition(self, channels: int, quadrant: int | None = None) -> int:
        if self.options["partition_window"] == "quadrant":
            starts = [0] if channels > 64 else [0, 64] if channels > 32 else [0, 32, 64, 96]
        else:
            starts = list(range(129 - channels))
            if self.chance(0.7):
                starts = [p for p in starts if p in (0, 1, 31, 32, 37, 64, 128 - channels)]
        if quadrant is not None:
            starts = [p for p in starts if p // 32 == quadrant] or starts
        return self.rng.choice(starts)

    def split(self, count: int, dimensions: int) -> list[int]:
        """``dimensions`` numbers with that product."""
        nums = []
        for _ in range(dimensions - 1):
            num = self.rng.choice([d for d in range(1, count + 1) if count % d == 0])
            nums.append(num)
            count //= num
        nums.append(count)
        self.rng.shuffle(nums)
        return nums

    def count(self) -> int:
        return self.rng.choice(self.counts)

    def search_count(self) -> int:
        """As :meth:`count`, for the searches that need eight elements."""
        return self.rng.choice([n for n in self.counts if n >= 8])

    def address(self, space: str, partition: int, offset: int) -> int:
        if space == "psum":
            return layout.psum(partition, offset)
        return layout.sbuf(self.generation, partition, offset)

    def active(self, space: str) -> int:
        return (layout.SBUF_BYTES if space == "sbuf" else layout.PSUM_BYTES)[self.generation]

    # Operands.

    def _begin(self, opcode: int) -> None:
        self.opcode = opcode
        self.values: dict[str, int] = {}
        self.registers: dict[int, int] = {}
        self.data_pokes: list[tuple[Place, bytes]] = []
        self.index_pokes: list[tuple[Place, bytes]] = []
        self.lanes = self.channels()
        self.home = self.partition(self.lanes)
        self.engine: str | None = None
        if opcode in (0x46, 0x47):
            self.engine = self.rng.choice((None, "pool", "act", "dve"))
        self.pool = opcode == 0xF2 or (opcode in (0x46, 0x47) and self.engine in (None, "pool"))

    def _register(self, address: int) -> int:
        number = self.rng.choice([n for n in range(64) if n not in self.registers])
        if self.chance(self.bad):
            address = self.rng.choice(
                (address | 0x20000000, address + 1, address + 0x3FFFC, 0x1FFFFFFF, 0x2400000)
            )
        self.registers[number] = address & 0xFFFFFFFF
        return number

    def _space(self, size: int, *, writes: bool) -> str:
        allowed = self.active("psum") and not self.pool and not (writes and size != 4)
        return "psum" if allowed and self.chance(0.2) else "sbuf"

    def _partition(self, space: str) -> int:
        return self.home if self.chance(0.6) else self.partition(self.lanes)

    def _start(self, space: str, size: int, low: int, high: int) -> int:
        """A byte offset for a walk reaching ``low`` to ``high`` bytes from its start."""
        last = self.active(space) - (high - low + 1)
        near = 8 * self.rng.randrange(16)
        lowest = near if self.chance(0.8) else last - near % 64
        offset = min(max(lowest, 0), last) - low
        return offset - offset % size if offset - offset % size + low >= 0 else offset

    def operand(
        self, name: str, dtype: int, count: int, *, space: str | None = None,
        partition: int | None = None, small: bool = False, may_be_list: bool = True,
    ) -> tuple[str, int]:  # fmt: skip
        """Field values of a pattern; where its data starts."""
        size = layout.SIZE[dtype]
        writes = name == "dst"
        space = self._space(size, writes=writes) if space is None else space
        partition = self._partition(space) if partition is None else partition
        lists = self.generation in layout.WITH_INDEX_LISTS and may_be_list
        if lists and name in layout.INDIRECT.get(self.opcode, ()) and self.chance(0.3):
            self._indirect(name, dtype, count, space, partition, small=small)
            return space, partition
        _, dimensions = layout.PATTERNS[layout.STRUCT_OF[self.opcode]][name]
        nums = self.split(count, dimensions)
        steps = [self.rng.choice((1, 1, 1, 2, -1, 3, -2, 0, num, -num)) for num in nums]
        if count > 100 or self.chance(0.3):
            reach = 1
            for index, num in enumerate(nums):
                steps[index], reach = reach, reach * num
        offsets = walk(steps, nums)
        low, high = min(offsets) * size, max(offsets) * size + size - 1
        offset = self._start(space, size, low, high)
        address = self.address(space, partition, offset)
        start = address
        if self.chance(0.15):
            start = 0x80000000 | self._register(address)
        dims = list(zip(steps, nums, strict=True))
        self.values |= layout.tensor(name, start, *dims, count=dimensions)
        if not writes:
            self._fill(space, partition, [offset + size * o for o in offsets], dtype, small)
        return space, partition

    def _fill(
        self, space: str, partition: int, offsets: list[int], dtype: int, small: bool
    ) -> None:
        zeros = 0.4 if self.chance(0.8) else 0.0
        for lane in range(self.lanes):
            for offset in offsets:
                if self.chance(0.9):
                    code = 0 if self.chance(zeros) and not small else self.code(dtype, small=small)
                    data = code.to_bytes(layout.SIZE[dtype], "little")
                    self.data_pokes.append(((space, partition + lane, offset), data))

    def _indirect(
        self, name: str, dtype: int, count: int, space: str, partition: int, *, small: bool
    ) -> None:
        size = layout.SIZE[dtype]
        offset = size * self.rng.randrange(16)
        list_space, list_partition = "sbuf", self.partition(self.lanes, partition // 32)
        in_register = self.chance(0.2)
        if space == "psum" or in_register:
            list_partition = self.partition(self.lanes)
            list_space = self._space(4, writes=False)
        if list_space == space == "sbuf" and list_partition // 32 != partition // 32:
            list_partition = partition
        list_offset = 512 + 4 * self.rng.randrange(16)
        if self.chance(0.1):
            list_offset = self.active(list_space) - 4 * count
        most = (self.active(space) - offset) // size
        for lane in range(self.lanes):
            indices = [self.rng.randrange(min(count + 3, most)) for _ in range(count)]
            if self.chance(0.1):
                indices[self.rng.randrange(count)] = most - 1
            if self.chance(self.bad):
                indices[self.rng.randrange(count)] = self.rng.choice((most, 0xFFFFFFFF))
            data = b"".join(index.to_bytes(4, "little") for index in indices)
            self.index_pokes.append(((list_space, list_partition + lane, list_offset), data))
            if name != "dst":
                places = [offset + size * i for i in indices if i < most]
                for place in places:
                    code = self.code(dtype, small=small) if self.chance(0.7) else 0
                    self.data_pokes.append(
                        ((space, partition + lane, place), code.to_bytes(size, "little"))
                    )
        index = self.address(list_space, list_partition, list_offset)
        first = 0xA0000000 | self._register(index) if in_register else 0x20000000 | index
        inert = indirect_inert(self.opcode, name)
        self.values |= {
            f"{name}.index": first,
            f"{name}.data": self.address(space, partition, offset),
            f"{name}.num_elem": count,
            f"{name}.inert": self.rng.getrandbits(inert),
        }

    def immediate(self, name: str, source: str, dtype: int, *, inline: bool = True) -> None:
        """A scalar, inline, behind a pointer or behind a register."""
        kind = self.rng.choice((0, 1, 2) if inline else (1, 2))
        size = layout.SIZE[dtype]
        self.values[source] = kind
        if kind == 0:
            junk = self.rng.getrandbits(32) & ~((1 << 8 * size) - 1) & 0xFFFFFFFF
            self.values[name] = junk | self.code(dtype)
            return
        space = "psum" if self.active("psum") and self.chance(0.3) else "sbuf"
        partition = self._partition(space)
        offset = 768 + size * self.rng.randrange(8)
        if self.chance(0.1):
            offset = self.active(space) - size
        for lane in range(self.lanes):
            self.data_pokes.append(
                ((space, partition + lane, offset), self.code(dtype).to_bytes(size, "little"))
            )
        address = self.address(space, partition, offset)
        self.values[name] = address if kind == 1 else self._register(address)

    # Words.

    def step(self, opcode: int) -> Step:
        """A random legal word of an instruction."""
        self._begin(opcode)
        self.values["num_active_channels"] = self.lanes
        {
            0x46: self._copy, 0x47: self._copy, 0x72: self._predicated, 0x99: self._predicated,
            0xE8: self._scalar, 0x6C: self._max8, 0x6D: self._load, 0x6E: self._find,
            0x6F: self._replace, 0xEA: self._select, 0xBC: self._range, 0xF2: self._nonzero,
            0x9B: self._accumulator, 0xE9: self._indices,
        }[opcode]()  # fmt: skip
        if self.chance(0.2):
            self.values |= {
                "header.debug_command": self.rng.choice((0, 1, 3, 5, 7, 9)),
                "header.debug_hint": self.rng.getrandbits(8),
                "events.wait_mode": self.rng.choice((0, 1, 5, 6, 7, 14, 15)),
                "events.wait_index": self.rng.getrandbits(8),
                "events.update_mode": self.rng.choice((0, 9, 17, 25, 0x83, 0x97)),
                "events.semaphore_value": self.rng.getrandbits(32),
            }
        word = layout.build(opcode, self.values)
        return Step(word, self.engine, self.data_pokes + self.index_pokes, self.registers)

    def _copy(self) -> None:
        source = self.rng.choice(layout.BASE)
        same = self.opcode == 0x46 or self.chance(0.1)
        target = source if same else self.rng.choice(layout.BASE_R)
        count = self.count()
        self.values |= {"in_dtype": source, "out_dtype": target}
        self.values["op_dim"] = self.rng.choice((0, 2))
        self.operand("src", source, count)
        self.operand("dst", target, count)

    def _sources(self, predicate: int, data: int, count: int, *, small: bool = False) -> None:
        """Predicate and data where ``source-placement`` lets them be."""
        space, partition = self.operand("predicate", predicate, count)
        other = "sbuf" if space == "psum" or self.chance(0.7) or not self.active("psum") else "psum"
        beside = partition if self.chance(0.6) else self.partition(self.lanes, partition // 32)
        if other == space and beside // 32 != partition // 32:
            beside = partition
        if other != space:
            beside = self.partition(self.lanes)
        self.operand("data", data, count, space=other, partition=beside, small=small)

    def _predicated(self) -> None:
        predicate, data = self.rng.choice(layout.INTEGERS), self.rng.choice(layout.BASE)
        target = data if self.opcode == 0x72 or self.chance(0.1) else self.rng.choice(layout.BASE)
        count = self.count()
        self.values |= {"predicate_dtype": predicate, "data_dtype": data, "out_dtype": target}
        self._sources(predicate, data, count)
        self.operand("dst", target, count)

    def _scalar(self) -> None:
        predicate, dtype = self.rng.choice(layout.INTEGERS), self.rng.choice(layout.BASE)
        count = self.count()
        self.values |= {"predicate_dtype": predicate, "in_dtype": dtype, "out_dtype": dtype}
        self.values["reversed_pred"] = self.rng.randrange(2)
        self.immediate("scalar", "scalar_source", dtype)
        self.operand("predicate", predicate, count)
        self.operand("dst", dtype, count)

    def _max8(self) -> None:
        source, target = self.rng.choice(layout.BASE), self.rng.choice(layout.BASE_R)
        self.values |= {"in_dtype": source, "out_dtype": target}
        self.operand("src", source, self.search_count(), small=self.chance(0.7))
        self.operand("dst", target, 8)

    def _load(self) -> None:
        dtype = self.rng.choice(layout.BASE)
        self.values["dtype"] = dtype
        self.operand("src", dtype, 8, small=self.chance(0.8))

    def _find(self) -> None:
        source, target = self.rng.choice(layout.BASE), self.rng.choice((5, 9))
        self.values |= {"in_dtype": source, "out_dtype": target}
        self.operand("src", source, self.search_count(), small=self.chance(0.8))
        self.operand("dst", target, 8)

    def _replace(self) -> None:
        types = (3, 5, 6, 7, 8, 9, 0xA)
        source, target = self.rng.choice(types), self.rng.choice(types)
        count = self.count()
        self.values |= {"in_dtype": source, "out_dtype": target}
        self.values["immediate"] = self.rng.choice((*FP32_VALUES, self.rng.getrandbits(32)))
        self.operand("src", source, count, small=self.chance(0.8))
        self.operand("dst", target, count)

    def _select(self) -> None:
        predicate = self.rng.choice(layout.INTEGERS)
        data = self.rng.choice([d for d in layout.BASE if d not in (8, 9)])
        target, scalar = self.rng.choice(layout.BASE_R), self.rng.choice(layout.BASE)
        count = self.count()
        self.values |= {"predicate_dtype": predicate, "data_dtype": data, "out_dtype": target}
        self.values |= {"op1": 8, "reverse_operands": self.rng.randrange(2)}
        self.values["accumulator_command"] = self.rng.choice((0, 2, 3))
        self.values["imm0_dtype"] = scalar
        self.immediate("imm0", "imm0_source", scalar, inline=scalar == 0xA)
        self._sources(predicate, data, count, small=self.chance(0.4))
        self.operand("dst", target, count)

    def _range(self) -> None:
        source = self.rng.choice(layout.FLOATS)
        target = self.rng.choice((*layout.FLOATS, 0xB))
        count = self.count()
        base = self.rng.choice(
            (0, 0x80000000, 0x3F000000, 0x3F800000, 0x40E00000, 0x41200000, 0x4B7FF000, 1)
        )
        self.values |= {"in_dtype": source, "out_dtype": target, "base": base}
        self.values |= {"reduce_op": 8, "fill_value": 0xFF7FFFFF}
        self.values["reduce_command"] = self.rng.choice((0, 2, 3))
        for n in (0, 1):
            self.values[f"comp_op{n}"] = self.rng.choice((0x12, 0x13, 0x14, 0x15, 0x16))
            self.immediate(f"bound{n}", f"bound{n}_source", 0xA)
            near = self.rng.choice((base, oracle.add(base, 3), oracle.add(base, 8), 0x7FC00000))
            if self.values[f"bound{n}_source"] == 0 and self.chance(0.8):
                self.values[f"bound{n}"] = near
        self.values["unchecked"] = self.rng.getrandbits(32)
        self.operand("src", source, count, small=self.chance(0.5))
        self.operand("dst", target, count)

    def _nonzero(self) -> None:
        source = self.rng.choice((8, 0xA))
        count = self.count()
        self.values |= {"in_dtype": source, "out_dtype": 8}
        self.immediate("index_offset", "index_offset_source", 8)
        self.immediate("padding_value", "padding_value_source", 8)
        self.operand("src", source, count, space="sbuf")
        self.operand("dst", 8, count + 1, space="sbuf")

    def _accumulator(self) -> None:
        target = self.rng.choice((*layout.FLOATS, 0xB))
        self.values |= {"dtype": target, "dst_element_count": 1}
        self.values["negated"] = self.rng.randrange(2)
        self.operand("dst", target, 1)

    def _indices(self) -> None:
        target = self.rng.choice((5, 9))
        self.values |= {"dtype": target, "dst_element_count": 8}
        self.operand("dst", target, 8)


def indirect_inert(opcode: int, operand: str) -> int:
    """Width of the inert tail of an index list in a word."""
    _, dimensions = layout.PATTERNS[layout.STRUCT_OF[opcode]][operand]
    return 32 + 32 * dimensions - 80


def walk(steps: list[int], nums: list[int]) -> list[int]:
    """Element offsets in walk order, dimension 0 fastest."""
    offsets = [0]
    for step, num in zip(steps, nums, strict=True):
        offsets = [i * step + inner for i in range(num) for inner in offsets]
    return offsets
