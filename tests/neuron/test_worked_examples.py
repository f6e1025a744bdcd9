"""The worked examples of the instruction documents, value by value."""

from __future__ import annotations

import numpy as np
import pytest
from tests.neuron import layout
from tests.neuron.layout import build, tensor

from lanewise.neuron import NeuronCore, Profile

NAN, INF = float("nan"), float("inf")
UINT8, UINT16, BF16, FP16, INT32, UINT32, FP32 = 3, 5, 6, 7, 8, 9, 0xA
NAMES = {2: "INT8", 3: "UINT8", 4: "INT16", 5: "UINT16", 6: "BFLOAT16", 7: "FP16", 8: "INT32"}
NAMES |= {9: "UINT32", 0xA: "FP32", 0xB: "FP32R", 0xD: "FP8_EXP3", 0xE: "FP8_EXP4"}
NAMES |= {0xF: "FP8_EXP5"}
A, B, C = 0x100, 0x200, 0x300


def bits(*values: float) -> list[int]:
    """FP32 codes of numbers."""
    return [int(code) for code in np.array(values, np.float32).view(np.uint32)]


def put(core: NeuronCore, offset: int, codes: list[int], dtype: int, partition: int = 0) -> None:
    kind = {1: np.uint8, 2: np.uint16, 4: np.uint32}[layout.SIZE[dtype]]
    core.sbuf.write(partition, offset, np.array(codes, kind), NAMES[dtype])


def take(core: NeuronCore, offset: int, count: int, dtype: int, partition: int = 0) -> list[int]:
    kind = {1: np.uint8, 2: np.uint16, 4: np.uint32}[layout.SIZE[dtype]]
    return core.sbuf.read(partition, offset, count, NAMES[dtype]).view(kind).tolist()


def row(path: str, opcode: int, offset: int, count: int, step: int = 1) -> dict[str, int]:
    _, dimensions = layout.PATTERNS[layout.STRUCT_OF[opcode]][path]
    return tensor(path, offset, (step, count), count=dimensions)


def word(opcode: int, *parts: dict[str, int], **values: int) -> bytes:
    fields = {"num_active_channels": 1}
    for part in parts:
        fields |= part
    return build(opcode, fields | values)


CONVERSIONS = """
 1 a 40200000 8 00000002 =        |  2 a 40600000 8 00000003 00000004 |  3 a c0200000 2 fe =
 4 a bf000000 3 00 =              |  5 a 3f7fffff 3 00 01             |  6 a bf800000 5 0000 =
 7 a 43960000 3 ff =              |  8 a c3008000 2 80 =              |  9 a 4f000000 8 7fffffff =
10 a cf000000 8 80000000 =        | 11 a 4f800000 9 ffffffff =        | 12 a 7f800000 4 7fff =
13 a ff800000 4 8000 =            | 14 a 7fc00000 8 00000000 =        | 15 a 80000000 2 00 =
16 a 3f801000 7 3c00 =            | 17 a 3f803000 7 3c02 =            | 18 a 477fefff 7 7bff =
19 a 477ff000 7 7bff 7c00         | 20 a 7f800000 7 7c00 =            | 21 a ff7fffff 7 fbff fc00
22 a 33000000 7 0000 =            | 23 a 33000001 7 0001 =            | 24 a b8000000 7 8200 =
25 a ffc01234 7 fe00 =            | 26 a 3f808000 6 3f80 =            | 27 a 3f818000 6 3f82 =
28 a 7f7fffff 6 7f7f 7f80         | 29 a ff7fffff 6 ff7f ff80         | 30 a 00000001 6 0000 =
31 a 7f800001 6 7fc0 =            | 32 a 43770000 e 77 =              | 33 a 43780000 e 77 78
34 a 43780000 fn 78 =             | 35 a 43e80000 fn 7e =             | 36 a 43e88000 fn 7e 7f
37 a ff800000 fn fe ff            | 38 a 7fc00000 fn 7f =             | 39 a ff7fffff e f7 f8
40 a 3a800000 e 00 =              | 41 a 3ac00000 e 01 =              | 42 a 41780000 d 6f =
43 a 417c0000 d 6f 70             | 44 a 3c000000 d 00 =              | 45 a 3d400000 d 03 =
46 a 476fffff f 7b =              | 47 a 47700000 f 7b 7c             | 48 a ffc00000 f fe =
49 a 37c00000 f 02 =              | 50 a 3f800fff b 3f801000 3f800000 | 51 a 3f800200 b 3f800000 =
52 a 3f800600 b 3f800800 3f800000 | 53 a 7f7fffff b 7f7ffc00 7f800000 | 54 a 7f800000 b 7f800000 =
55 7 0001 a 33800000 =            | 56 7 fe01 a ffc00000 =            | 57 7 7c00 a 7f800000 =
58 7 7c00 6 7f80 =                | 59 7 7bff 6 4780 =                | 60 7 3555 f 35 =
61 6 3f81 7 3c08 =                | 62 6 7f7f 7 7bff 7c00             | 63 f 7c e 78 =
64 e 77 7 5b80 =                  | 65 fn 7e fn 7e =                  | 66 d 01 a 3c800000 =
67 8 01000001 a 4b800000 =        | 68 8 01000001 9 01000000 =        | 69 8 01000001 8 01000001 =
70 8 7fffffff 9 80000000 =        | 71 9 ffffffff 8 7fffffff =        | 72 9 ffffffff 5 ffff =
73 8 ffffffff 3 00 =              | 74 4 9c40 5 0000 =                | 75 4 012c 2 7f =
76 2 80 7 d800 =                  | 77 5 ffff 7 7bff 7c00             | 78 3 ff e 77 78
79 2 81 6 c2fe =                  | 80 9 80000001 6 4f00 =            | 81 7 fe55 7 fe55 =
"""


def conversions() -> list[tuple[str, int, int, int, int, int, bool]]:
    found = []
    for line in CONVERSIONS.strip().splitlines():
        for cell in line.split("|"):
            number, source, code, target, isa, hardware = cell.split()
            fn = "fn" in (source, target)
            source, target = (0xE if name == "fn" else int(name, 16) for name in (source, target))
            other = isa if hardware == "=" else hardware
            found.append((number, source, int(code, 16), target, int(isa, 16), int(other, 16), fn))
    return found


def test_the_table_of_conversions_is_whole() -> None:
    assert [int(entry[0]) for entry in conversions()] == list(range(1, 82))


@pytest.mark.parametrize("entry", conversions(), ids=lambda entry: entry[0])
def test_cast_converts_as_the_table_says(entry) -> None:
    _, source, code, target, isa, hardware, fn = entry
    for profile, expected in ((Profile.ISA, isa), (Profile.HARDWARE, hardware)):
        core = NeuronCore("cayman", profile.with_(fp8_exp4="fn") if fn else profile)
        put(core, A, [code], source)
        core.run(
            word(0x47, row("src", 0x47, A, 1), row("dst", 0x47, B, 1), in_dtype=source,
                 out_dtype=target)
        )  # fmt: skip
        assert take(core, B, 1, target) == [expected]


def test_the_walk_of_the_pattern_chapter() -> None:
    """FP16, start partition 5 offset 0x100, step [2, -6, 1], num [3, 2, 2]."""
    core = NeuronCore("cayman")
    offsets = [0, 2, 4, -6, -4, -2, 1, 3, 5, -5, -3, -1]
    for partition, first in ((5, 100), (8, 500)):
        for value, offset in enumerate(offsets):
            put(core, 0x100 + 2 * offset, [first + value], FP16, partition)
    source = tensor("src", 0x00140100, (2, 3), (-6, 2), (1, 2), count=4)
    target = row("dst", 0x46, layout.sbuf("cayman", 5, 0x400), 12)
    core.run(word(0x46, source, target, in_dtype=7, out_dtype=7, num_active_channels=4))
    assert take(core, 0x400, 12, FP16, 5) == list(range(100, 112))
    assert take(core, 0x400, 12, FP16, 8) == list(range(500, 512))


def test_cast_predicated_merges() -> None:
    core = NeuronCore("cayman")
    put(core, A, [0x00, 0x01, 0x80, 0xFF], 2)
    put(core, B, bits(1, 2, 3, 4), FP32)
    put(core, C, [0xAAAA, 0xBBBB, 0xCCCC, 0xDDDD], FP16)
    patterns = [row(n, 0x99, at, 4) for n, at in (("predicate", A), ("data", B), ("dst", C))]
    core.run(word(0x99, *patterns, predicate_dtype=2, data_dtype=FP32, out_dtype=FP16))
    assert take(core, C, 4, FP16) == [0xAAAA, 0x4000, 0x4200, 0x4400]


@pytest.mark.parametrize(
    ("flag", "expected"), [(0, [0xFF80, 0x4000, 0xFF80]), (1, [0x3F80, 0xFF80, 0x4040])]
)
def test_the_scalar_goes_where_the_predicate_is_zero_unless_reversed(flag, expected) -> None:
    core = NeuronCore("cayman")
    put(core, A, [0, 5, 0], UINT8)
    put(core, C, [0x3F80, 0x4000, 0x4040], BF16)
    core.run(
        word(0xE8, row("predicate", 0xE8, A, 3), row("dst", 0xE8, C, 3), predicate_dtype=UINT8,
             in_dtype=BF16, out_dtype=BF16, reversed_pred=flag, scalar=0x1234FF80)
    )  # fmt: skip
    assert take(core, C, 3, BF16) == expected


def max8(core: NeuronCore, values: list[int], out: int = FP32) -> list[int]:
    put(core, A, values, FP32)
    core.run(
        word(0x6C, row("src", 0x6C, A, len(values)), row("dst", 0x6C, C, 8), in_dtype=FP32,
             out_dtype=out)
    )  # fmt: skip
    return take(core, C, 8, out)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ((5, 1, 5, 2, 9, 9, 3, 0, 7, 9), (2, 3, 5, 5, 7, 9, 9, 9)),
        ((NAN, 1, 2, NAN, 3, -INF, 4, 5), (-INF, -INF, -INF, 1, 2, 3, 4, 5)),
        ((0.0, -0.0, 1, 2, 3, 4, 5, 6), (-0.0, 0.0, 1, 2, 3, 4, 5, 6)),
        ((0.0, -0.0, 1, 2, 3, 4, 5, 6, 7), (0.0, 1, 2, 3, 4, 5, 6, 7)),
        ((-0.0, 0.0, 1, 2, 3, 4, 5, 6, 7), (-0.0, 1, 2, 3, 4, 5, 6, 7)),
    ],
)
def test_max8_orders_smallest_first(source, expected) -> None:
    assert max8(NeuronCore("cayman"), bits(*source)) == bits(*expected)


@pytest.mark.parametrize("profile", ["isa", "hardware"])
def test_max8_keeps_minus_infinity_in_fp16(profile: str) -> None:
    values = bits(NAN, 1, 2, NAN, 3, -INF, 4, 5)
    got = max8(NeuronCore("cayman", profile), values, FP16)
    assert got == [0xFC00] * 3 + [0x3C00, 0x4000, 0x4200, 0x4400, 0x4500]


def test_max8_sees_integers_through_fp32() -> None:
    core = NeuronCore("cayman")
    put(core, A, [16777217, *range(1, 9)], INT32)
    core.run(
        word(0x6C, row("src", 0x6C, A, 9), row("dst", 0x6C, C, 8), in_dtype=INT32, out_dtype=INT32)
    )
    assert take(core, C, 8, INT32) == [2, 3, 4, 5, 6, 7, 8, 16777216]


def load_word(offset: int, step: int = 1, dtype: int = FP32) -> bytes:
    return word(0x6D, row("src", 0x6D, offset, 8, step), dtype=dtype)


@pytest.mark.parametrize("split", [(1, 8), (2, 4), (4, 2), (8, 1)])
def test_load_turns_the_order_around_in_any_split(split: tuple[int, int]) -> None:
    core = NeuronCore("cayman")
    put(core, A, bits(*range(8)), FP32)
    inner, outer = split
    pattern = tensor("src", A, (1, inner), (inner, outer), count=2)
    core.run(word(0x6D, pattern, dtype=FP32))
    assert core.state.keys[0].tolist() == bits(*range(7, -1, -1))
    assert core.state.matched[0].tolist() == [False] * 8


def find_word(offset: int, count: int, out: int, at: int = C) -> bytes:
    return word(0x6E, row("src", 0x6E, offset, count), row("dst", 0x6E, at, 8), in_dtype=FP32,
                out_dtype=out)  # fmt: skip


@pytest.mark.parametrize(("out", "miss"), [(UINT16, 0xFFFF), (UINT32, 0xFFFFFFFF)])
def test_find_serves_each_key_once_and_remembers_which(out: int, miss: int) -> None:
    core = NeuronCore("cayman")
    core.state.keys[0] = bits(7, 7, 7, 7, 4, 100, -0.0, NAN)
    core.state.matched[0] = False
    put(core, A, bits(4, 7, 4, 1, 7, 7, 0, 2), FP32)
    core.run(find_word(A, 8, out))
    assert take(core, C, 8, out) == [1, 4, 5, miss, 0, miss, 6, miss]
    assert core.state.matched[0].astype(int).tolist() == [1, 1, 1, 0, 1, 0, 1, 0]
    core.run(find_word(A, 8, out))
    assert take(core, C, 8, out) == [miss, miss, miss, 1, miss, miss, miss, miss]
    assert core.state.matched[0].astype(int).tolist() == [1, 1, 1, 1, 1, 0, 1, 0]


def test_max8_load_and_find_give_the_largest_first() -> None:
    core = NeuronCore("cayman")
    data = bits(4, 7, 4, 1, 7, 7, 0, 2, 9, 3)
    assert max8(core, data) == bits(2, 3, 4, 4, 7, 7, 7, 9)
    core.run(load_word(C))
    assert core.state.keys[0].tolist() == bits(9, 7, 7, 7, 4, 4, 3, 2)
    core.run(find_word(A, 10, UINT16, 0x400))
    assert take(core, 0x400, 8, UINT16) == [8, 1, 4, 5, 0, 2, 9, 7]


def replace_word(offset: int, count: int, immediate: int, out: int = FP32, at: int = B) -> bytes:
    return word(0x6F, row("src", 0x6F, offset, count), row("dst", 0x6F, at, count), in_dtype=FP32,
                out_dtype=out, immediate=immediate)  # fmt: skip


def test_an_immediate_equal_to_a_key_matches_nothing_by_itself() -> None:
    core = NeuronCore("cayman")
    core.state.keys[0] = bits(*range(1, 9))
    core.state.matched[0] = False
    put(core, A, bits(8, 8, 2, 8, 5, 9, 2, 1), FP32)
    core.run(replace_word(A, 8, bits(2.0)[0]))
    assert take(core, B, 8, FP32) == bits(2, 8, 2, 8, 2, 9, 2, 2)
    miss = 0xFFFFFFFF
    assert core.state.indices[0].tolist() == [7, 2, miss, miss, 4, miss, miss, 0]
    assert core.state.matched[0].astype(int).tolist() == [1, 1, 0, 0, 1, 0, 0, 1]


@pytest.mark.parametrize(("out", "code"), [(FP16, 0xFC00), (BF16, 0xFF80), (FP32, 0xFF800000)])
@pytest.mark.parametrize("profile", ["isa", "hardware"])
def test_a_replacement_of_minus_infinity_survives_narrowing(out, code, profile) -> None:
    core = NeuronCore("cayman", profile)
    core.state.keys[0], core.state.matched[0] = bits(*range(1, 9)), False
    put(core, A, bits(3), FP32)
    core.run(replace_word(A, 1, 0xFF800000, out))
    assert take(core, B, 1, out) == [code]


@pytest.mark.parametrize("immediate", [0x7FC01234, 0x7F800001, 0xFFFFFFFF, 0x00000001])
def test_an_fp32_destination_keeps_the_bits_of_the_replacement(immediate: int) -> None:
    core = NeuronCore("cayman")
    core.state.keys[0], core.state.matched[0] = bits(*range(1, 9)), False
    put(core, A, [*bits(3), 0x7FC01234], FP32)
    core.run(replace_word(A, 2, immediate))
    # The element that is no match went through the stream, which makes a NaN canonical.
    assert take(core, B, 2, FP32) == [immediate, 0x7FC00000]


def test_top8_extends_to_top16_by_replacing_and_searching_again() -> None:
    core = NeuronCore("cayman")
    data = [3, 17, 8, 1, 20, 5, 11, 2, 14, 9, 6, 19, 4, 13, 7, 16, 10, 12, 18, 15]
    first = max8(core, bits(*data))
    core.run([load_word(C), replace_word(A, 20, 0xFF800000, at=A)])
    core.run(
        word(0x6C, row("src", 0x6C, A, 20), row("dst", 0x6C, C, 8), in_dtype=FP32, out_dtype=FP32)
    )
    second = take(core, C, 8, FP32)
    assert second + first == bits(*sorted(data)[-16:])


def select(profile: str, operands: tuple, command: int, *, reverse=0, acc=None):
    predicate, data, imm0, before = operands
    core = NeuronCore("cayman", Profile.ISA.with_(select_reduce=profile))
    if acc is not None:
        core.state.accumulator[0] = bits(acc)[0]
    count = len(data)
    put(core, A, predicate, UINT8)
    put(core, B, bits(*data), FP32)
    put(core, C, bits(*before), FP32)
    names = (("predicate", A), ("data", B), ("dst", C))
    core.run(
        word(0xEA, *(row(name, 0xEA, at, count) for name, at in names), predicate_dtype=UINT8,
             data_dtype=FP32, out_dtype=FP32, imm0_dtype=FP32, imm0=bits(imm0)[0], op1=8,
             accumulator_command=command, reverse_operands=reverse)
    )  # fmt: skip
    return take(core, C, count, FP32), int(core.state.accumulator[0])


ROW = ([1, 0, 1, 0], (3, 9, -2, 8), 5.0, (10, 20, 30, 40))


@pytest.mark.parametrize(
    ("profile", "arguments", "options", "dst", "acc"),
    [
        ("merge", (ROW, 3), {}, (3, 20, -2, 40), 3),
        ("select", (ROW, 3), {}, (3, 5, -2, 5), 5),
        ("merge", (([0, 0], (1, 2), -7.0, (10, 20)), 3), {}, (10, 20), -INF),
        ("select", (([0, 0], (1, 2), -7.0, (10, 20)), 3), {}, (-7, -7), -7),
        ("merge", (ROW, 3), {"reverse": 1}, (10, 9, 30, 8), 9),
        ("select", (ROW, 3), {"reverse": 1}, (5, 9, 5, 8), 9),
        ("merge", (ROW, 2), {"acc": 7}, (3, 20, -2, 40), 7),
        ("select", (ROW, 2), {"acc": 7}, (3, 5, -2, 5), 7),
        ("merge", (ROW, 0), {"acc": 1}, (3, 20, -2, 40), 1),
    ],
)
def test_select_reduce_in_both_readings(profile, arguments, options, dst, acc) -> None:
    assert select(profile, *arguments, **options) == (bits(*dst), bits(acc)[0])


def range_word(count: int, out: int, source: int = FP32, **values: int) -> bytes:
    fields = {"base": bits(10.0)[0], "comp_op0": 0x14, "comp_op1": 0x16, "reduce_command": 3}
    fields |= {"bound0": bits(11.0)[0], "bound1": bits(14.0)[0], "fill_value": 0xFF7FFFFF}
    fields |= {"reduce_op": 8, "in_dtype": source, "out_dtype": out}
    patterns = row("src", 0xBC, A, count), row("dst", 0xBC, C, count)
    return word(0xBC, *patterns, **(fields | values))


def test_range_select_keeps_an_index_range() -> None:
    core = NeuronCore("cayman")
    put(core, A, bits(9, 8, 7, 6, 5), FP32)
    core.run(range_word(5, FP32))
    assert take(core, C, 5, FP32) == [0xFF7FFFFF, *bits(8, 7, 6), 0xFF7FFFFF]
    assert int(core.state.accumulator[0]) == bits(8)[0]
    nothing = range_word(5, FP32, bound0=bits(100.0)[0])
    core.run(nothing)
    assert take(core, C, 5, FP32) == [0xFF7FFFFF] * 5
    assert int(core.state.accumulator[0]) == 0xFF7FFFFF


@pytest.mark.parametrize(
    ("out", "fp8_exp4", "isa", "hardware"),
    [
        (FP32, "ieee", 0xFF7FFFFF, 0xFF7FFFFF),
        (FP16, "ieee", 0xFBFF, 0xFC00),
        (BF16, "ieee", 0xFF7F, 0xFF80),
        (0xD, "ieee", 0xEF, 0xF0),
        (0xE, "ieee", 0xF7, 0xF8),
        (0xE, "fn", 0xFE, 0xFF),
        (0xF, "ieee", 0xFB, 0xFC),
        (0xB, "ieee", 0xFF7FFC00, 0xFF800000),
    ],
)
def test_the_fill_value_in_every_out_type(out, fp8_exp4, isa, hardware) -> None:
    for profile, expected in ((Profile.ISA, isa), (Profile.HARDWARE, hardware)):
        core = NeuronCore("cayman", profile.with_(fp8_exp4=fp8_exp4))
        core.run(range_word(3, out, bound0=bits(100.0)[0]))
        assert take(core, C, 3, out) == [expected] * 3


MINUS_ONE = 0xFFFFFFFF


@pytest.mark.parametrize(
    ("profile", "source", "offset", "expected"),
    [
        ("isa", (0, 2.5, NAN, -0.0, 1), 100, [101, 104, MINUS_ONE, MINUS_ONE, MINUS_ONE, 2]),
        ("hardware", (0, 2.5, NAN, -0.0, 1), 100, [101, 102, 104, MINUS_ONE, MINUS_ONE, 3]),
        ("isa", (0, 0), 5, [MINUS_ONE, MINUS_ONE, 0]),
        ("hardware", (0, 0), 5, [MINUS_ONE, MINUS_ONE, 0]),
    ],
)
def test_nonzero_positions_and_their_count(profile, source, offset, expected) -> None:
    core = NeuronCore("cayman", profile)
    count, lanes = len(source), 34 if profile == "isa" else 128
    for lane in range(128):
        put(core, A, bits(*source), FP32, lane)
        put(core, C, [0xABAB] * (count + 1), INT32, lane)
    core.run(
        word(0xF2, row("src", 0xF2, A, count), row("dst", 0xF2, C, count + 1), in_dtype=FP32,
             out_dtype=INT32, index_offset=offset, padding_value=MINUS_ONE,
             num_active_channels=lanes)
    )  # fmt: skip
    for lane in range(128):
        processed = lane < lanes if profile == "isa" else lane % 16 == 0
        wanted = expected if processed else [0xABAB] * (count + 1)
        assert take(core, C, count + 1, INT32, lane) == wanted


@pytest.mark.parametrize("profile", ["isa", "hardware"])
def test_the_accumulator_is_read_with_its_sign_flipped_and_kept(profile: str) -> None:
    core = NeuronCore("cayman", profile)
    read = word(0x9B, row("dst", 0x9B, C, 1), dtype=BF16, dst_element_count=1)
    core.run(read)
    assert take(core, C, 1, BF16) == [0xFF80]
    core.state.accumulator[0] = bits(2.5)[0]
    negated = word(0x9B, row("dst", 0x9B, C, 1), dtype=FP32, dst_element_count=1, negated=1)
    for _ in range(2):
        core.run(negated)
        assert take(core, C, 1, FP32) == bits(-2.5)
    assert int(core.state.accumulator[0]) == bits(2.5)[0]


def test_positions_are_cut_to_the_width_so_that_a_miss_is_all_ones() -> None:
    core = NeuronCore("cayman")
    core.state.indices[0] = [0, 1, 0xFFFF, 0x10000, 0x12345678, 0xFFFFFFFF, 7, 8]
    for dtype, mask in ((UINT16, 0xFFFF), (UINT32, 0xFFFFFFFF)):
        core.run(word(0xE9, row("dst", 0xE9, C, 8), dtype=dtype, dst_element_count=8))
        assert take(core, C, 8, dtype) == [int(i) & mask for i in core.state.indices[0]]


DATA = (1, 2, 3, 4, 8, 8, 8, 8, 8, 8, 8)
VALS = (3, 8, 8, 8, 8, 8, 8, 8)


def test_the_vendors_check_of_replace_and_its_positions() -> None:
    """Plain source for the load, step -1 for the read of the positions."""
    core = NeuronCore("cayman")
    put(core, A, bits(*DATA), FP32)
    put(core, B, bits(*VALS), FP32)
    core.run([load_word(B), replace_word(A, 11, 0, at=0x400)])
    core.run(word(0xE9, row("dst", 0xE9, C + 28, 8, -1), dtype=UINT32, dst_element_count=8))
    assert take(core, C, 8, UINT32) == [2, 10, 9, 8, 7, 6, 5, 4]


def test_the_vendors_check_of_find() -> None:
    """The load starts at the last value and walks down."""
    core = NeuronCore("cayman")
    put(core, A, bits(*DATA), FP32)
    put(core, B, bits(*VALS), FP32)
    core.run([load_word(B + 28, -1), find_word(A, 11, UINT32)])
    assert take(core, C, 8, UINT32) == [2, 4, 5, 6, 7, 8, 9, 10]


def test_max8_written_backwards_gives_the_descending_order_of_the_front_end() -> None:
    core = NeuronCore("cayman")
    put(core, A, bits(5, 1, 5, 2, 9, 9, 3, 0, 7, 9), FP32)
    core.run(
        word(0x6C, row("src", 0x6C, A, 10), row("dst", 0x6C, C + 28, 8, -1), in_dtype=FP32,
             out_dtype=FP32)
    )  # fmt: skip
    assert take(core, C, 8, FP32) == bits(9, 9, 9, 7, 5, 5, 3, 2)


def test_the_worked_word_casts_two_lanes() -> None:
    text = (
        "47100000 00000000 00000000 00010000 0100010001000100 0400010001000100 0a 07 02 00 00 00"
        " 00 0000000000 00020000 0100010001000100 0400010001000100"
    )
    core = NeuronCore("cayman")
    for lane in range(3):
        put(core, 0x100, bits(1, -2, 0.5, 65504), FP32, lane)
    core.run(bytes.fromhex(text))
    for lane in range(2):
        assert take(core, 0x200, 4, FP16, lane) == [0x3C00, 0xC000, 0x3800, 0x7BFF]
    assert take(core, 0x200, 4, FP16, 2) == [0, 0, 0, 0]


def test_keys_follow_the_lane_and_not_the_partition() -> None:
    """A load from partition 0 serves a search in partition 32."""
    core = NeuronCore("cayman")
    put(core, A, bits(*range(8, 0, -1)), FP32, 0)
    put(core, A, bits(3, 1, 9, 9, 9, 9, 9, 9), FP32, 32)
    base = layout.sbuf("cayman", 32)
    core.run([load_word(A), find_word(base + A, 8, UINT32, base + C)])
    assert take(core, C, 8, UINT32, 32)[:3] == [1, MINUS_ONE, 0]
