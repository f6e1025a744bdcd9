"""DVE_READ_INDICES: write the positions that the last MATCH_REPLACE8 found.

Slot n of the lane goes to element n, cut to the output width, so a miss is all ones.
Source: D4_MR, opcode 0xe9.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lanewise.neuron.dtypes import CODE_TYPES, Dtype, element_size
from lanewise.neuron.instruction import Example, Instruction
from lanewise.neuron.legality import (
    CHANNELS,
    COMMON,
    RESERVED_ZERO,
    code_in,
    dtype_in,
    element_count,
    window,
    writable,
    zero_bits,
)
from lanewise.neuron.operands import Destination, DtypeCode
from lanewise.words import Coded, Reserved, Unsigned, byte

if TYPE_CHECKING:
    from lanewise.neuron.lanes import Lanes
    from lanewise.neuron.plan import Plan


class DveReadIndices(Instruction, opcode=0xE9):
    """0xe9 DVE_READ_INDICES."""

    summary = "write the positions the last replacement found"

    reserved0 = Reserved(byte(12, 16))
    dst_element_count = Unsigned(byte(28, 4), doc="number of results, 8", default=8)
    dtype = DtypeCode(byte(32), doc="type of the results")
    reserved1 = Reserved(byte(33))
    num_active_channels = Unsigned(byte(34), doc="number of lanes", default=1)
    reserved2 = Reserved(byte(35))
    serialization_mode = Coded(byte(36), codes={0: "serial"}, doc="0, serial")
    reserved3 = Reserved(byte(37, 3))
    set_value = Unsigned(byte(40, 4), doc="value of other users of the struct, 0 here")
    dst = Destination(byte(44, 20), 4, dtype="dtype", doc="the eight positions")

    rules = (
        *COMMON,
        RESERVED_ZERO,
        dtype_in("index-dtype", "dtype", {Dtype.UINT16, Dtype.UINT32}),
        element_count("dst", 8),
        code_in("serial-mode", "serialization_mode", (0,)),
        zero_bits("set-value-zero", "set_value"),
        CHANNELS,
        window("dst"),
        writable("dst"),
    )

    def execute(self, lanes: Lanes) -> None:
        size = element_size(self.dtype)
        assert size is not None
        lanes.write("dst", lanes.indices.astype(CODE_TYPES[size]))

    def lower(self, plan: Plan) -> None:
        plan.read_indices("dst")

    examples = (
        Example(
            title="positions cut to UINT16: a miss is all ones",
            generation="cayman",
            word="e9100000 0000000000000000 00000000000000000000000000000000 08000000 05 00 "
            "01 00 00 000000 00000000 00030000 0100010001000100 0800010001000100",
            after=(("sbuf", 0, 0x300, "0700 0200 ffff ffff 0400 ffff ffff 0000"),),
            state_before=(("indices", "7 2 ffffffff ffffffff 4 ffffffff ffffffff 0"),),
        ),
    )
