"""The bit tables of the fourteen words, copied by hand from the ISA's struct tables.

Names are those of the instruction classes; places are (first bit, width) in the 512-bit word.
Nothing here comes from the code under test: builders, oracle and layout tests all read it.
"""

from __future__ import annotations

WORD_BITS = 512


def _at(byte: int, size: int = 1) -> tuple[int, int]:
    return 8 * byte, 8 * size


def _low(byte: int) -> tuple[int, int]:
    return 8 * byte, 4


def _high(byte: int) -> tuple[int, int]:
    return 8 * byte + 4, 4


HEAD = {
    "header.opcode": _at(0),
    "header.word_length": _at(1),
    "header.debug_command": _at(2),
    "header.debug_hint": _at(3),
    "events.wait_mode": _at(4),
    "events.wait_index": _at(5),
    "events.update_mode": _at(6),
    "events.update_index": _at(7),
    "events.semaphore_value": _at(8, 4),
}

# Struct -> scalar fields, and patterns as (first byte, dimensions).
FIELDS = {
    "S4D4_TR": {
        "in_dtype": _at(32),
        "out_dtype": _at(33),
        "num_active_channels": _at(34),
        "negated": _at(35),
        "op": _at(36),
        "op_dim": _at(37),
        "mask_enable": _at(38),
        "reserved": _at(39, 5),
    },
    "S3S3D3_TT": {
        "predicate_dtype": _low(12),
        "data_dtype": _high(12),
        "out_dtype": _at(13),
        "op": _at(14),
        "num_active_channels": _at(15),
    },
    "S3D3_CP_PRED_SCALAR": {
        "reserved0": _at(12, 4),
        "predicate_dtype": _at(32),
        "reversed_pred": _at(33),
        "num_active_channels": _at(34),
        "reserved1": _at(35, 6),
        "in_dtype": _at(41),
        "out_dtype": _at(42),
        "scalar_source": _at(43),
        "scalar": _at(44, 4),
    },
    "S4D2_BN": {
        "in_dtype": _at(32),
        "out_dtype": _at(33),
        "num_active_channels": _at(34),
        "reserved0": _at(35, 5),
        "even_count": _at(40, 4),
        "odd_count": _at(44, 4),
        "reserved1": _at(60, 4),
    },
    "S2_BN": {
        "reserved0": _at(12, 4),
        "imm1": _at(28, 4),
        "dtype": _at(32),
        "reserved1": _at(33),
        "num_active_channels": _at(34),
        "reserved2": _at(35, 9),
        "imm0_ptr": _at(44, 4),
        "imm0_src": _at(48),
        "reserved3": _at(49, 15),
    },
    "S4D4_MR": {
        "in_dtype": _at(32),
        "out_dtype": _at(33),
        "num_active_channels": _at(34),
        "reserved": _at(35, 5),
        "immediate": _at(40, 4),
    },
    "S2S2D2_STT": {
        "op0": _at(36),
        "op1": _at(37),
        "reverse_operands": _at(38),
        "imm0_source": _at(39),
        "predicate_dtype": _low(40),
        "data_dtype": _high(40),
        "out_dtype": _at(41),
        "num_active_channels": _at(42),
        "imm0_dtype": _at(43),
        "accumulator_command": _at(44),
        "reserved": _at(45, 3),
        "imm0": _at(60, 4),
    },
    "S2D2_RS": {
        "num_active_channels": _at(12),
        "in_dtype": _low(13),
        "out_dtype": _high(13),
        "reduce_command": _at(14),
        "reduce_op": _at(15),
        "base": _at(16, 4),
        "fill_value": _at(20, 4),
        "comp_op0": _at(36),
        "comp_op1": _at(37),
        "bound0_source": _at(38),
        "bound1_source": _at(39),
        "bound0": _at(40, 4),
        "bound1": _at(44, 4),
        "unchecked": _at(60, 4),
    },
    "S3D3_NONZERO_WITH_COUNT": {
        "num_active_channels": _at(12),
        "in_dtype": _at(13),
        "out_dtype": _at(14),
        "index_offset_source": _at(15),
        "index_offset": _at(32, 4),
        "padding_value_source": _at(36),
        "reserved0": _at(37, 3),
        "padding_value": _at(40, 4),
        "reserved1": _at(60, 4),
    },
    "D1_RD": {
        "reserved0": _at(12, 16),
        "dst_element_count": _at(28, 4),
        "dtype": _at(32),
        "negated": _at(33),
        "num_active_channels": _at(34),
        "reserved1": _at(35, 9),
        "reserved2": _at(52, 12),
    },
    "D4_MR": {
        "reserved0": _at(12, 16),
        "dst_element_count": _at(28, 4),
        "dtype": _at(32),
        "reserved1": _at(33),
        "num_active_channels": _at(34),
        "reserved2": _at(35),
        "serialization_mode": _at(36),
        "reserved3": _at(37, 3),
        "set_value": _at(40, 4),
    },
}
PATTERNS = {
    "S4D4_TR": {"src": (12, 4), "dst": (44, 4)},
    "S3S3D3_TT": {"predicate": (16, 3), "data": (32, 3), "dst": (48, 3)},
    "S3D3_CP_PRED_SCALAR": {"predicate": (16, 3), "dst": (48, 3)},
    "S4D2_BN": {"src": (12, 4), "dst": (48, 2)},
    "S2_BN": {"src": (16, 2)},
    "S4D4_MR": {"src": (12, 4), "dst": (44, 4)},
    "S2S2D2_STT": {"predicate": (12, 2), "data": (24, 2), "dst": (48, 2)},
    "S2D2_RS": {"src": (24, 2), "dst": (48, 2)},
    "S3D3_NONZERO_WITH_COUNT": {"src": (16, 3), "dst": (44, 3)},
    "D1_RD": {"dst": (44, 1)},
    "D4_MR": {"dst": (44, 4)},
}
STRUCT_OF = {
    0x46: "S4D4_TR",
    0x47: "S4D4_TR",
    0x72: "S3S3D3_TT",
    0x99: "S3S3D3_TT",
    0xE8: "S3D3_CP_PRED_SCALAR",
    0x6C: "S4D2_BN",
    0x6E: "S4D2_BN",
    0x6D: "S2_BN",
    0x6F: "S4D4_MR",
    0xEA: "S2S2D2_STT",
    0xBC: "S2D2_RS",
    0xF2: "S3D3_NONZERO_WITH_COUNT",
    0x9B: "D1_RD",
    0xE9: "D4_MR",
}
NAME_OF = {
    0x46: "COPY",
    0x47: "CAST",
    0x72: "COPY_PREDICATED",
    0x99: "CAST_PREDICATED",
    0xE8: "COPY_PREDICATED_SCALAR",
    0x6C: "MAX8",
    0x6E: "FIND_INDEX8",
    0x6D: "MATCH_VALUE_LOAD",
    0x6F: "MATCH_REPLACE8",
    0xEA: "SELECT_REDUCE",
    0xBC: "RANGE_SELECT",
    0xF2: "NONZERO_WITH_COUNT",
    0x9B: "DVE_READ_ACCUMULATOR",
    0xE9: "DVE_READ_INDICES",
}
OPCODES = tuple(STRUCT_OF)
GENERATIONS = ("sunda", "cayman", "mariana", "maverick")
NOT_ON_SUNDA = (0xBC, 0xF2, 0xE9)
WITH_INDEX_LISTS = ("mariana", "maverick")
#: Operands that may be index lists on those generations.
INDIRECT = {
    0x46: ("src", "dst"),
    0x47: ("src", "dst"),
    0xE8: ("predicate", "dst"),
}

SBUF_BYTES = {"sunda": 0x30000, "cayman": 0x38000, "mariana": 0x40000, "maverick": 0x80000}
SBUF_STRIDE = {"sunda": 0x40000, "cayman": 0x40000, "mariana": 0x40000, "maverick": 0x100000}
PSUM_BYTES = {"sunda": 0x4000, "cayman": 0x4000, "mariana": 0x4000, "maverick": 0}
PSUM_BASE, PSUM_STRIDE = 0x2000000, 0x8000

SIZE = {1: 8, 2: 1, 3: 1, 4: 2, 5: 2, 6: 2, 7: 2, 8: 4, 9: 4, 0xA: 4, 0xB: 4, 0xC: 8}
SIZE |= {0xD: 1, 0xE: 1, 0xF: 1}
INTEGERS = (2, 3, 4, 5, 8, 9)
FLOATS = (6, 7, 0xA, 0xD, 0xE, 0xF)
BASE = tuple(sorted(INTEGERS + FLOATS))
BASE_R = (*BASE, 0xB)


def generations_of(opcode: int) -> tuple[str, ...]:
    return GENERATIONS[1:] if opcode in NOT_ON_SUNDA else GENERATIONS


def pattern_fields(path: str, byte: int, dimensions: int) -> dict[str, tuple[int, int]]:
    """The innermost fields of a tensor pattern."""
    bit = 8 * byte
    fields = {
        f"{path}.start.address": (bit, 29),
        f"{path}.start.mode": (bit + 29, 2),
        f"{path}.start.in_register": (bit + 31, 1),
    }
    for index in range(dimensions):
        fields[f"{path}.step[{index}]"] = (bit + 32 + 16 * index, 16)
        fields[f"{path}.num[{index}]"] = (bit + 32 + 16 * (dimensions + index), 16)
    return fields


def indirect_fields(path: str, byte: int, dimensions: int) -> dict[str, tuple[int, int]]:
    """The innermost fields of an index list in the place of a tensor pattern."""
    bit = 8 * byte
    fields = {}
    for name, start in (("index", bit), ("data", bit + 32)):
        fields[f"{path}.{name}.address"] = (start, 29)
        fields[f"{path}.{name}.mode"] = (start + 29, 2)
        fields[f"{path}.{name}.in_register"] = (start + 31, 1)
    fields[f"{path}.num_elem"] = (bit + 64, 16)
    fields[f"{path}.inert"] = (bit + 80, 32 + 32 * dimensions - 80)
    return fields


def leaves_of(opcode: int, indirect: tuple[str, ...] = ()) -> dict[str, tuple[int, int]]:
    """All innermost fields of a word, with ``indirect`` naming the operands that are lists."""
    struct = STRUCT_OF[opcode]
    fields = HEAD | FIELDS[struct]
    for name, (byte, dimensions) in PATTERNS[struct].items():
        make = indirect_fields if name in indirect else pattern_fields
        fields |= make(name, byte, dimensions)
    return fields


def places_of(opcode: int) -> dict[str, tuple[int, int]]:
    """Every path a builder may set: all leaves of both forms, and whole 32-bit addresses."""
    places = dict(HEAD) | FIELDS[STRUCT_OF[opcode]]
    for name, (byte, dimensions) in PATTERNS[STRUCT_OF[opcode]].items():
        places |= pattern_fields(name, byte, dimensions)
        places |= {f"{name}.start": _at(byte, 4), f"{name}.index": _at(byte, 4)}
        if name in INDIRECT.get(opcode, ()):
            places |= indirect_fields(name, byte, dimensions)
            places[f"{name}.data"] = _at(byte + 4, 4)
    return places


def put(word: int, place: tuple[int, int], value: int) -> int:
    """The word with ``value`` (its low bits, so negative ones too) in a place."""
    bit, width = place
    mask = (1 << width) - 1
    return word & ~(mask << bit) | (value & mask) << bit


def get(word: int, place: tuple[int, int]) -> int:
    bit, width = place
    return word >> bit & ((1 << width) - 1)


def build(opcode: int, values: dict[str, int]) -> bytes:
    """A word from field values by path; nothing but opcode and length is filled in."""
    places = places_of(opcode)
    word = put(put(0, HEAD["header.opcode"], opcode), HEAD["header.word_length"], 16)
    for path, value in values.items():
        word = put(word, places[path], value)
    return word.to_bytes(64, "little")


def change(data: bytes, values: dict[str, int]) -> bytes:
    """A copy of a word with some fields changed."""
    places = places_of(data[0])
    word = int.from_bytes(data, "little")
    for path, value in values.items():
        word = put(word, places[path], value)
    return word.to_bytes(64, "little")


def sbuf(generation: str, partition: int, offset: int = 0) -> int:
    return partition * SBUF_STRIDE[generation] + offset


def psum(partition: int, offset: int = 0) -> int:
    return PSUM_BASE + partition * PSUM_STRIDE + offset


def tensor(path: str, start: int, *dimensions: tuple[int, int], count: int) -> dict[str, int]:
    """Field values of a pattern: (step, num) pairs padded to ``count`` dimensions."""
    values = {f"{path}.start": start}
    padded = [*dimensions, *[(1, 1)] * (count - len(dimensions))]
    for index, (step, num) in enumerate(padded):
        values |= {f"{path}.step[{index}]": step, f"{path}.num[{index}]": num}
    return values
