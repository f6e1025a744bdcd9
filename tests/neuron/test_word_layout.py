"""The words' bit tables: every bit in one field, every field where the ISA's tables put it."""

from __future__ import annotations

import copy
import pickle
import random

import pytest
from tests.neuron import layout
from tests.neuron.bases import legal_word
from tests.neuron.roster import ASSIGNED

from lanewise.errors import UsageError
from lanewise.model import MalformedWord
from lanewise.neuron import Unmodelled, decode, encode, instruction, words
from lanewise.neuron.instructions import BY_OPCODE
from lanewise.words import FieldValueError, Word

PARTS = [
    words.Header,
    words.Events,
    words.Address,
    words.Tensor1D,
    words.Tensor2D,
    words.Tensor3D,
    words.Tensor4D,
    words.Indirect16,
    words.Indirect20,
]
ALL = [*PARTS, *BY_OPCODE.values(), Unmodelled]
NAMES = vars(words) | {kind.__name__: kind for kind in ALL}


def assert_tiles(word: Word) -> None:
    """The leaves cover each bit once and hold the word's own bits."""
    covered, value = 0, 0
    for leaf in word.leaves():
        shift = sum(run.width for run in leaf.ranges)
        for run in leaf.ranges:
            shift -= run.width
            assert not covered & run.mask, f"{leaf.path} covers bits again"
            covered |= run.mask
            value |= (leaf.raw >> shift & ((1 << run.width) - 1)) << run.low
    assert covered == (1 << word.width) - 1
    assert value == int(word)


def random_words(kind: type[Word], count: int) -> list[Word]:
    rng = random.Random(kind.__name__)
    patterns = [0, (1 << kind.width) - 1, *(1 << bit for bit in range(kind.width))]
    return [
        kind.from_bits(bits)
        for bits in [*patterns, *(rng.getrandbits(kind.width) for _ in range(count))]
    ]


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_leaves_tile_every_word(kind: type[Word]) -> None:
    for word in [kind(), *random_words(kind, 50)]:
        assert_tiles(word)


@pytest.mark.parametrize("opcode", layout.OPCODES, ids=layout.NAME_OF.get)
def test_fields_lie_where_the_struct_tables_say(opcode: int) -> None:
    forms = [(), *([name] for name in layout.INDIRECT.get(opcode, ()))]
    forms.append(layout.INDIRECT.get(opcode, ()))
    for form in forms:
        word = BY_OPCODE[opcode].from_bits(
            int.from_bytes(
                legal_word(opcode, {f"{name}.index": 1 << 29 for name in form}), "little"
            )
        )
        places = {
            leaf.path: (leaf.ranges[0].low, leaf.ranges[0].width)
            for leaf in word.leaves()
            if len(leaf.ranges) == 1
        }
        assert places == layout.leaves_of(opcode, tuple(form))


@pytest.mark.parametrize("opcode", layout.OPCODES, ids=layout.NAME_OF.get)
def test_each_field_reads_its_own_bits_and_no_others(opcode: int) -> None:
    kind = BY_OPCODE[opcode]
    for path, place in layout.FIELDS[layout.STRUCT_OF[opcode]].items():
        ones = layout.put(0, place, -1)
        assert getattr(kind.from_bits(ones), path) == (1 << place[1]) - 1
        assert getattr(kind.from_bits(ones ^ ((1 << 512) - 1)), path) == 0
        written = kind.from_bits(0).replace(**{path: (1 << place[1]) - 1})
        assert int(written) == ones


@pytest.mark.parametrize("opcode", layout.OPCODES, ids=layout.NAME_OF.get)
def test_the_classes_name_their_struct(opcode: int) -> None:
    kind = BY_OPCODE[opcode]
    assert (kind.opcode, kind.name) == (opcode, layout.NAME_OF[opcode])
    assert kind.struct == layout.STRUCT_OF[opcode]
    assert kind().header.opcode == opcode
    assert kind().header.word_length == 16
    assert tuple(g.name for g in kind.generations()) == layout.generations_of(opcode)
    engines = {0x46: ("pool", "act", "dve"), 0x47: ("pool", "act", "dve"), 0xF2: ("pool",)}
    assert kind.engines == engines.get(opcode, ("dve",))


def test_byte_40_means_something_else_in_each_struct() -> None:
    data = legal_word(0x6C, {"even_count": 0x12345678})
    assert decode(data, "cayman").even_count == 0x12345678
    assert decode(b"\x6f" + data[1:], "cayman").immediate == 0x12345678
    assert decode(b"\x6d" + data[1:], "cayman").reserved2 >> 8 * 5 == 0x12345678


@pytest.mark.parametrize("generation", layout.GENERATIONS)
def test_decode_then_encode_keeps_any_64_bytes_of_every_opcode(generation: str) -> None:
    rng = random.Random(generation)
    for opcode in sorted(ASSIGNED[generation]):
        for _ in range(6):
            data = bytes([opcode]) + rng.randbytes(63)
            word = decode(data, generation)
            assert encode(word) == data
            assert decode(encode(word), generation) == word
            assert word.header.opcode == opcode
            assert isinstance(word, Unmodelled) == (opcode not in layout.OPCODES)
            assert_tiles(word)


@pytest.mark.parametrize("generation", layout.GENERATIONS)
def test_every_other_first_byte_is_malformed(generation: str) -> None:
    rng = random.Random(generation)
    for opcode in set(range(256)) - ASSIGNED[generation]:
        data = bytes([opcode]) + rng.randbytes(63)
        with pytest.raises(MalformedWord) as caught:
            decode(data, generation)
        assert (caught.value.reason, caught.value.field) == ("opcode", "header.opcode")
        assert caught.value.bits == data


@pytest.mark.parametrize("length", [0, 1, 63, 65, 128])
def test_other_lengths_are_malformed_whatever_the_opcode(length: int) -> None:
    for opcode in (0x46, 0x00, 0xFF):
        data = (bytes([opcode]) * length)[:length]
        with pytest.raises(MalformedWord) as caught:
            decode(data, "cayman")
        assert caught.value.reason == "length"
        assert str(caught.value) == f"a word has 64 bytes, here are {length}"


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_words_survive_repr_pickle_copy_and_hashing(kind: type[Word]) -> None:
    for word in random_words(kind, 20):
        assert eval(repr(word), dict(NAMES)) == word
        assert pickle.loads(pickle.dumps(word)) == word
        assert copy.deepcopy(word) == word
        assert hash(kind.from_bits(int(word))) == hash(word)
        assert kind.from_bytes(word.to_bytes()) == word
        assert word != int(word)
        assert word.replace() == word


@pytest.mark.parametrize("opcode", layout.OPCODES, ids=layout.NAME_OF.get)
def test_a_constructor_given_every_field_rebuilds_the_word(opcode: int) -> None:
    kind = BY_OPCODE[opcode]
    rng = random.Random(opcode)
    for _ in range(20):
        word = kind.from_bits(rng.getrandbits(512))
        values = {name: getattr(word, name) for name in kind.fields}
        assert kind(**values) == word
        name = rng.choice(list(kind.fields))
        other = kind.from_bits(rng.getrandbits(512))
        changed = word.replace(**{name: getattr(other, name)})
        mask = kind.fields[name].mask
        assert int(changed) == int(word) & ~mask | int(other) & mask


def test_words_of_different_classes_are_never_equal() -> None:
    assert BY_OPCODE[0x46].from_bits(0) != BY_OPCODE[0x47].from_bits(0)
    assert len({BY_OPCODE[0x46].from_bits(0), BY_OPCODE[0x47].from_bits(0)}) == 2


def test_words_cannot_be_changed_in_place() -> None:
    word = BY_OPCODE[0x46]()
    for name in ("op", "header", "_bits", "something"):
        with pytest.raises(AttributeError, match="Copy is immutable"):
            setattr(word, name, 1)
    with pytest.raises(AttributeError):
        del word._bits
    assert int(word) == int(BY_OPCODE[0x46]())


def test_the_worked_word_of_the_struct_tables_decodes_field_by_field() -> None:
    text = (
        "47100000 00000000 00000000 00010000 0100010001000100 0400010001000100 0a 07 02 00 00 00"
        " 00 0000000000 00020000 0100010001000100 0400010001000100"
    )
    word = decode(bytes.fromhex(text), "cayman")
    assert word.name == "CAST"
    assert (word.in_dtype, word.out_dtype, word.num_active_channels) == (0xA, 7, 2)
    assert (word.src.start.address, word.dst.start.address) == (0x100, 0x200)
    assert (word.src.step, word.src.num) == ((1, 1, 1, 1), (4, 1, 1, 1))
    by_hand = words.walk(0x100, (1, 4)), words.walk(0x200, (1, 4))
    built = BY_OPCODE[0x47](
        src=by_hand[0], dst=by_hand[1], in_dtype="FP32", out_dtype="fp16", num_active_channels=2
    )
    assert encode(built) == bytes.fromhex(text)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"op": 256}, "field 'op' (byte 36) must be 0..255, not 256"),
        ({"op": -1}, "field 'op' (byte 36) must be 0..255, not -1"),
        ({"op": 1.0}, "field 'op' (byte 36) must be a whole number, not 1.0"),
        ({"op": True}, "field 'op' (byte 36) must be a whole number, not True"),
        (
            {"header": {"word_length": 300}},
            "field 'word_length' (byte 1) must be 0..255, not 300",
        ),
        ({"src": 3}, "field 'src' (bytes 12..31) must be a Tensor4D, not 3"),
    ],
)
def test_values_that_do_not_fit_are_refused_word_for_word(values, message) -> None:
    with pytest.raises(FieldValueError) as caught:
        BY_OPCODE[0x46](**values)
    assert str(caught.value) == message


def test_an_unknown_field_names_its_neighbours() -> None:
    with pytest.raises(UsageError, match=r"unknown field of Copy 'in_dtyp'; did you mean 'in_dty"):
        BY_OPCODE[0x46](in_dtyp=3)
    with pytest.raises(UsageError, match="an access pattern has at most 4 dimensions, not 5"):
        words.walk(0, *[(1, 1)] * 5)
    with pytest.raises(FieldValueError, match="must be a pattern of at most 2 dimensions"):
        BY_OPCODE[0x6D](src=words.walk(0, (1, 2), (1, 2), (1, 2)))
    with pytest.raises(FieldValueError, match="field 'src'"):
        BY_OPCODE[0x6D](src=words.indirect(0, 0, 8))


def test_abstract_words_cannot_be_made() -> None:
    for kind in (instruction.Instruction, words.Tensor, words.Indirect):
        with pytest.raises(TypeError, match="describes a part of a word only"):
            kind()


@pytest.mark.parametrize(
    ("word", "marker", "forms"),
    [
        (0x00000000, 0x00, (False, False, False, False)),
        (0x02128810, 0x02, (False, False, False, False)),
        (0x80000000, 0x80, (False, False, False, True)),
        (0x8000003F, 0x80, (False, False, False, True)),
        (0x80000040, 0x80, (False, False, False, False)),
        (0x80000100, 0x80, (False, False, False, False)),
        (0x80010000, 0x80, (False, False, False, False)),
        (0x81000000, 0x81, (False, False, False, False)),
        (0x40000100, 0x40, (False, True, False, False)),
        (0xC0000001, 0xC0, (False, True, False, True)),
        (0x20000100, 0x20, (True, False, False, False)),
        (0xA0000001, 0xA0, (True, False, False, True)),
        (0x60000000, 0x60, (False, False, True, False)),
        (0xE0000000, 0xE0, (False, False, True, False)),
    ],
)
def test_address_forms(word: int, marker: int, forms: tuple[bool, ...]) -> None:
    address = words.Address.from_bits(word)
    assert address.marker == marker
    assert address.address == word % (1 << 29)
    assert forms == (
        address.is_indirect,
        address.shape_in_register,
        address.is_unused_form,
        address.is_well_formed_register,
    )
