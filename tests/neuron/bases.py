"""One plain legal word for each instruction, to break in one place at a time.

Four lanes from partition 0; every pattern is eight contiguous elements (or what the instruction
demands) at its own offset.
"""

from __future__ import annotations

from tests.neuron import layout

OFFSETS = {"src": 0x100, "predicate": 0x100, "data": 0x200, "dst": 0x300}
VALUES: dict[int, dict[str, int]] = {
    0x46: {"in_dtype": 0xA, "out_dtype": 0xA},
    0x47: {"in_dtype": 0xA, "out_dtype": 0x7},
    0x72: {"predicate_dtype": 3, "data_dtype": 7, "out_dtype": 7},
    0x99: {"predicate_dtype": 3, "data_dtype": 0xA, "out_dtype": 7},
    0xE8: {"predicate_dtype": 3, "in_dtype": 0xA, "out_dtype": 0xA},
    0x6C: {"in_dtype": 0xA, "out_dtype": 7},
    0x6E: {"in_dtype": 0xA, "out_dtype": 9},
    0x6D: {"dtype": 0xA},
    0x6F: {"in_dtype": 0xA, "out_dtype": 7},
    0xEA: {
        "predicate_dtype": 3,
        "data_dtype": 7,
        "out_dtype": 7,
        "imm0_dtype": 0xA,
        "op1": 8,
        "accumulator_command": 3,
    },
    0xBC: {
        "in_dtype": 0xA,
        "out_dtype": 7,
        "reduce_command": 3,
        "reduce_op": 8,
        "fill_value": 0xFF7FFFFF,
        "comp_op0": 0x14,
        "comp_op1": 0x16,
    },
    0xF2: {"in_dtype": 0xA, "out_dtype": 8},
    0x9B: {"dtype": 0xA, "dst_element_count": 1},
    0xE9: {"dtype": 9, "dst_element_count": 8},
}
COUNTS = {(0xF2, "src"): 7, (0x9B, "dst"): 1}
#: The dtype field of each operand.
DTYPE_OF = {
    opcode: {
        operand: next(
            name
            for name in (
                {"src": "in_dtype", "dst": "out_dtype"}.get(operand, f"{operand}_dtype"),
                "dtype",
            )
            if name in layout.FIELDS[struct]
        )
        for operand in layout.PATTERNS[struct]
    }
    for opcode, struct in layout.STRUCT_OF.items()
}


def operands_of(opcode: int) -> tuple[str, ...]:
    return tuple(layout.PATTERNS[layout.STRUCT_OF[opcode]])


def dimensions_of(opcode: int, operand: str) -> int:
    return layout.PATTERNS[layout.STRUCT_OF[opcode]][operand][1]


def size_of(opcode: int, operand: str) -> int:
    return layout.SIZE[VALUES[opcode][DTYPE_OF[opcode][operand]]]


def legal_word(opcode: int, changes: dict[str, int] | None = None) -> bytes:
    """The instruction's base word, with some fields changed."""
    values = {"num_active_channels": 4} | VALUES[opcode]
    for operand in operands_of(opcode):
        count = COUNTS.get((opcode, operand), 8)
        dimensions = dimensions_of(opcode, operand)
        values |= layout.tensor(operand, OFFSETS[operand], (1, count), count=dimensions)
    return layout.build(opcode, values | (changes or {}))
