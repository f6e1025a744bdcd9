"""Which opcodes, ALU codes and dtypes each generation has, and what the roster says of them."""

from __future__ import annotations

import pytest
from tests.neuron import layout
from tests.neuron.bases import legal_word
from tests.neuron.roster import ALU_CODES, ASSIGNED, DTYPE_CODES, OPCODES

from lanewise.errors import UsageError
from lanewise.model import MalformedWord
from lanewise.neuron import GENERATIONS, Dtype, check, decode, find_dtype, find_generation
from lanewise.neuron.dtypes import (
    BASE_TYPES,
    BASE_TYPES_AND_FP32R,
    FLOAT_TYPES,
    FLOAT_TYPES_AND_FP32R,
    INTEGER_TYPES,
    dtype_names,
    element_size,
)
from lanewise.neuron.roster import alu_codes, opcodes_of, roster

# Opcodes (INVALID among them), ALU codes and dtype codes of the four.
COUNTS = {
    "sunda": (145, 33, 16),
    "cayman": (150, 60, 16),
    "mariana": (159, 64, 24),
    "maverick": (165, 65, 30),
}


@pytest.mark.parametrize("name", layout.GENERATIONS)
def test_counts_of_each_generation(name: str) -> None:
    generation = GENERATIONS[name]
    with_invalid = [entry for entry in roster().values() if name in entry.generations]
    assert COUNTS[name] == (
        len(with_invalid),
        len(alu_codes(generation)),
        len(dtype_names(generation)),
    )
    assert len(opcodes_of(generation)) == COUNTS[name][0] - 1


@pytest.mark.parametrize("name", layout.GENERATIONS)
def test_codes_of_each_generation(name: str) -> None:
    generation = GENERATIONS[name]
    assert set(opcodes_of(generation)) == ASSIGNED[name]
    assert {c for c, e in roster().items() if name in e.generations} == OPCODES[name]
    assert set(alu_codes(generation)) == ALU_CODES[name]
    assert set(dtype_names(generation)) == DTYPE_CODES[name]


@pytest.mark.parametrize("name", layout.GENERATIONS)
@pytest.mark.parametrize("opcode", [0x46, 0x47])
def test_the_alu_rule_knows_every_code_of_the_generation(opcode: int, name: str) -> None:
    for code in range(256):
        broken = [b.rule for b in check(legal_word(opcode, {"op": code}), name)]
        expected = ["bypass"] if code in ALU_CODES[name] else ["alu-op", "bypass"]
        assert (broken or [None])[0] == ([None] if code == 0 else expected)[0]


@pytest.mark.parametrize("opcode", layout.OPCODES, ids=layout.NAME_OF.get)
def test_the_fourteen_and_their_structs(opcode: int) -> None:
    entry = roster()[opcode]
    assert (entry.name, entry.struct) == (layout.NAME_OF[opcode], layout.STRUCT_OF[opcode])
    assert entry.generations == layout.generations_of(opcode)


@pytest.mark.parametrize("opcode", layout.NOT_ON_SUNDA)
def test_later_instructions_are_malformed_on_sunda(opcode: int) -> None:
    with pytest.raises(MalformedWord) as caught:
        decode(legal_word(opcode), "sunda")
    assert caught.value.reason == "opcode"
    name = layout.NAME_OF[opcode]
    assert str(caught.value) == (
        f"byte 0 is {opcode:#04x}, {name}, which only cayman, mariana, maverick have; not sunda"
    )


def test_invalid_and_unassigned_opcodes_say_so() -> None:
    with pytest.raises(MalformedWord, match="byte 0 is 0xff, which marks a word as invalid"):
        decode(b"\xff" * 64, "cayman")
    with pytest.raises(MalformedWord, match="byte 0 is 0x00, which no generation assigns"):
        decode(bytes(64), "cayman")


def test_type_groups_and_sizes() -> None:
    assert tuple(sorted(INTEGER_TYPES)) == layout.INTEGERS
    assert tuple(sorted(FLOAT_TYPES)) == layout.FLOATS
    assert tuple(sorted(BASE_TYPES)) == layout.BASE
    assert {Dtype.FP32R} == BASE_TYPES_AND_FP32R - BASE_TYPES
    assert {Dtype.FP32R} == FLOAT_TYPES_AND_FP32R - FLOAT_TYPES
    assert {code: element_size(code) for code in range(256) if element_size(code)} == layout.SIZE


@pytest.mark.parametrize(
    ("name", "code"),
    [("bf16", 6), ("BFLOAT16", 6), ("e4m3", 0xE), ("fp8_exp3", 0xD), (0xA, 0xA), ("float16", 7)],
)
def test_dtypes_are_found_by_name_alias_and_code(name: str | int, code: int) -> None:
    assert find_dtype(name) == code


def test_unknown_names_are_refused_with_near_misses() -> None:
    with pytest.raises(UsageError, match=r"unknown dtype 'fp23'; did you mean 'FP32'"):
        find_dtype("fp23")
    for code in (0, 0x10, 255, -1):
        with pytest.raises(UsageError, match="unknown dtype"):
            find_dtype(code)
    with pytest.raises(UsageError, match=r"unknown generation 'caiman'; did you mean 'cayman'"):
        find_generation("caiman")
    assert find_generation("TRN2") is GENERATIONS["cayman"]
    assert find_generation("mariana_plus") is GENERATIONS["mariana"]
