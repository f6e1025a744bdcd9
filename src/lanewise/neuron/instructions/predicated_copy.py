"""What COPY_PREDICATED and CAST_PREDICATED share: the S3S3D3_TT word, rules and merge.

Source: S3S3D3_TT struct table and the two checkers. The two differ in one rule, that
COPY_PREDICATED has equal types. The write is a merge: an element whose predicate is false keeps
its bytes, it is never zeroed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lanewise.neuron.dtypes import BASE_TYPES
from lanewise.neuron.instruction import Instruction
from lanewise.neuron.legality import (
    CHANNELS,
    COMMON,
    Rule,
    alu_code_is,
    dtype_in,
    predicate_integer,
    readable,
    same_count,
    source_placement,
    window,
    writable,
)
from lanewise.neuron.operands import Destination, DtypeCode, Source
from lanewise.neuron.roster import alu_codes
from lanewise.words import Coded, Unsigned, bits, byte

if TYPE_CHECKING:
    from lanewise.neuron.lanes import Lanes
    from lanewise.neuron.plan import Plan


class PredicatedCopy(Instruction):
    """The S3S3D3_TT word as the predicated copies use it."""

    predicate_dtype = DtypeCode(bits(8 * 12 + 3, 8 * 12), doc="type of the predicate elements")
    data_dtype = DtypeCode(bits(8 * 12 + 7, 8 * 12 + 4), doc="type of the data elements")
    out_dtype = DtypeCode(byte(13), doc="type of the destination elements")
    op = Coded(byte(14), codes=alu_codes(), doc="ALU operation, BYPASS here")
    num_active_channels = Unsigned(byte(15), doc="number of lanes", default=1)
    predicate = Source(byte(16, 16), 3, dtype="predicate_dtype", doc="integers, true when not 0")
    data = Source(byte(32, 16), 3, dtype="data_dtype", doc="the elements to copy")
    dst = Destination(byte(48, 16), 3, dtype="out_dtype", doc="merged into where true")

    def execute(self, lanes: Lanes) -> None:
        predicate = lanes.read("predicate")
        data = lanes.read("data")
        merged = lanes.convert(data, self.data_dtype, self.out_dtype)
        lanes.write("dst", merged, where=predicate != 0)

    def lower(self, plan: Plan) -> None:
        plan.merge("predicate", "data", "dst")


def rules(*difference: Rule) -> tuple[Rule, ...]:
    """The family's rules in order, with the ones only one member has in their place."""
    return (
        *COMMON,
        dtype_in("out-dtype", "out_dtype", BASE_TYPES),
        dtype_in("predicate-dtype", "predicate_dtype", BASE_TYPES),
        dtype_in("data-dtype", "data_dtype", BASE_TYPES),
        predicate_integer("predicate_dtype"),
        *difference,
        alu_code_is("bypass", ("op", "BYPASS")),
        CHANNELS,
        window("predicate"),
        window("data"),
        window("dst"),
        readable("predicate"),
        readable("data"),
        writable("dst"),
        same_count("sources-same-count", "predicate", "data"),
        same_count("dst-same-count", "data", "dst"),
        source_placement("predicate", "data"),
    )
