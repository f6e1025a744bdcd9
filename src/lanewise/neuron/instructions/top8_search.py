"""What MAX8 and FIND_INDEX8 share: the S4D2_BN word and most of the rules.

Source: S4D2_BN struct table. Bytes 40..47 are the element counts of the struct's other users and
must be +0.0 here, all 32 bits zero.
"""

from __future__ import annotations

from collections.abc import Collection

from lanewise.neuron.dtypes import BASE_TYPES, Dtype
from lanewise.neuron.instruction import Instruction
from lanewise.neuron.legality import (
    CHANNELS,
    COMMON,
    RESERVED_ZERO,
    Rule,
    count_in,
    dtype_in,
    readable,
    window,
    writable,
    zero_bits,
)
from lanewise.neuron.operands import Destination, DtypeCode, Fp32Bits, Source
from lanewise.words import Reserved, Unsigned, byte

RESULTS = 8
MOST_ELEMENTS = 16384


class Top8Search(Instruction):
    """The S4D2_BN word as the top-8 search uses it."""

    src = Source(byte(12, 20), 4, dtype="in_dtype", doc="the elements to search")
    in_dtype = DtypeCode(byte(32), doc="type of the source elements")
    out_dtype = DtypeCode(byte(33), doc="type of the results")
    num_active_channels = Unsigned(byte(34), doc="number of lanes", default=1)
    reserved0 = Reserved(byte(35, 5))
    even_count = Fp32Bits(byte(40, 4), doc="FP32 bits, +0.0 here")
    odd_count = Fp32Bits(byte(44, 4), doc="FP32 bits, +0.0 here")
    dst = Destination(byte(48, 12), 2, dtype="out_dtype", doc="the eight results")
    reserved1 = Reserved(byte(60, 4))


def rules(out_dtypes: Collection[Dtype], *difference: Rule) -> tuple[Rule, ...]:
    """The pair's rules in order, with the ones only one member has at the end."""
    return (
        *COMMON,
        dtype_in("in-dtype", "in_dtype", BASE_TYPES),
        dtype_in("out-dtype", "out_dtype", out_dtypes),
        CHANNELS,
        window("src"),
        window("dst"),
        readable("src"),
        writable("dst"),
        count_in("source-count", "src", RESULTS, MOST_ELEMENTS),
        count_in("result-count", "dst", RESULTS),
        zero_bits("counts-zero", "even_count", "odd_count"),
        RESERVED_ZERO,
        *difference,
    )
