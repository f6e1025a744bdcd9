"""How instructions are written follows from their fields, and from nothing else."""

from __future__ import annotations

from collections import Counter

import pytest

from lanewise.neuron.codes import DEBUG_COMMANDS, UPDATE_MODES, WAIT_MODES
from lanewise.neuron.dtypes import dtype_names
from lanewise.neuron.instruction import Instruction
from lanewise.neuron.instructions import BY_OPCODE
from lanewise.neuron.operands import Destination, Source
from lanewise.text.neuron import Printer, assemble, syntax
from lanewise.text.neuron import layout as layouts
from lanewise.text.neuron.layout import identifier, layout_of, mnemonics
from lanewise.words import Array, Coded, Inert, Reserved, Signed, Unsigned, bits, byte

KINDS = list(BY_OPCODE.values())


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_bit_is_written_by_some_argument(kind: type[Instruction]) -> None:
    layout = layout_of(kind)
    covered = 0xFF  # the opcode is the mnemonic
    for argument in layout.fields:
        mask = argument.insert(0, (1 << argument.field.width) - 1)
        assert not covered & mask
        covered |= mask
    for compound in (*layout.operands, *layout.immediates):
        assert not covered & compound.field.mask
        covered |= compound.field.mask
    assert covered == (1 << 512) - 1


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_names_are_unique(kind: type[Instruction]) -> None:
    layout = layout_of(kind)
    arguments = (*layout.operands, *layout.immediates, *layout.fields)
    counts = Counter(argument.name for argument in arguments)
    assert max(counts.values()) == 1
    assert all(layout.by_name[argument.name] is argument for argument in arguments)
    assert all(name == name.casefold() for name in layout.by_name)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_code_with_a_meaning_has_a_name(kind: type[Instruction]) -> None:
    for argument in layout_of(kind).fields:
        if isinstance(argument.field, Coded):
            fitting = {code for code in argument.field.codes if not code >> argument.field.width}
            assert set(argument.names) == fitting
            assert len(set(argument.names.values())) == len(argument.names)
            assert all(name.isidentifier() for name in argument.names.values())


def test_meanings_become_names() -> None:
    assert [identifier(text) for text in WAIT_MODES.values()] == [
        "none",
        "semaphore_eq_value",
        "semaphore_lt_value",
        "semaphore_le_value",
        "semaphore_gt_value",
        "semaphore_ge_value",
        "event_set",
        "event_set_then_clear_it",
        "event_clear",
        "event_clear_then_set_it",
    ]
    assert identifier(UPDATE_MODES[0x94 - 1]) == "register_form_at_completion"
    assert identifier(UPDATE_MODES[4]) == "semaphore_subtract_1_at_read"
    assert identifier(DEBUG_COMMANDS[7]) == "start_and_end"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_mnemonics_are_names_of_opcodes(kind: type[Instruction]) -> None:
    assert mnemonics()[kind.name.lower()] is kind
    assert syntax(kind).startswith(f"{kind.name.lower()} ")


class _Invented(Instruction, opcode=0x9F):
    """An instruction with fields of every sort, to see that nothing has to be registered."""

    before = Reserved(byte(12, 3))
    small = Signed(bits(8 * 15 + 3, 8 * 15), doc="a signed nibble")
    split = Unsigned(bits(8 * 15 + 7), bits(8 * 15 + 5, 8 * 15 + 4), doc="two runs")
    hole = Inert(bits(8 * 15 + 6))
    src = Source(byte(16, 16), 3, dtype="kind", allows_indirect=True, doc="what it reads")
    table = Array(byte(32, 4), count=2, signed=True, doc="numbers", default=(1, 1))
    kind = Coded(byte(36), codes=dtype_names(), doc="type of both")
    num_active_channels = Unsigned(byte(37), doc="lanes", default=1)
    rest = Inert(byte(38, 18))
    dst = Destination(byte(56, 8), 1, dtype="kind", doc="what it writes")


def test_a_new_instruction_is_written_without_being_registered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(layouts, "mnemonics", lambda: {"engine_nop": _Invented})
    monkeypatch.setattr(
        "lanewise.text.neuron.assembler.mnemonics", lambda: {"engine_nop": _Invented}
    )
    monkeypatch.setattr("lanewise.text.neuron.printer.BY_OPCODE", {0x9F: _Invented})
    monkeypatch.setitem(layouts._LAYOUTS, 0x9F, layouts._derived(_Invented))
    word = _Invented(
        small=-3,
        split=5,
        kind="FP16",
        num_active_channels=4,
        table=(2, -2),
        rest=7,
        hole=1,
    )
    data = word.to_bytes()
    line = Printer("cayman").line(data)
    assert line == (
        "engine_nop dst=fp16 sbuf[p0, 0x0], src=fp16 sbuf[p0, 0x0], small=-3, split=5, hole=0x1, "
        'table=x"0200feff", channels=4, rest=x"07000000 00000000 00000000 00000000 0000"'
    )
    assert assemble(line).data == data
    assert syntax(_Invented).startswith("engine_nop dst=TYPE PATTERN, src=TYPE PATTERN, [small=0]")
