"""Legality: rules with stable ids, tested in order, all broken ones reported.

An instruction lists its rules; each is made by a function named after what it demands, so that
the list in the instruction's file reads like the manual's.
"""

from lanewise.neuron.legality.check import Check, Finding, Rule, listed, ranges_of
from lanewise.neuron.legality.columns import Broken, Columns
from lanewise.neuron.legality.counts import (
    count_in,
    count_plus_one,
    element_count,
    key_count,
    same_count,
)
from lanewise.neuron.legality.fields import (
    CHANNELS,
    COMMON,
    RESERVED_ZERO,
    alu_code_is,
    alu_codes_known,
    code_in,
    dtype_in,
    dtype_not_in,
    predicate_integer,
    same_dtype,
    zero_bits,
)
from lanewise.neuron.legality.immediates import immediate, immediate_fp32
from lanewise.neuron.legality.operands import (
    engine_reach,
    quadrant,
    readable,
    source_placement,
    window,
    writable,
)

__all__ = [
    "CHANNELS",
    "COMMON",
    "RESERVED_ZERO",
    "Broken",
    "Check",
    "Columns",
    "Finding",
    "Rule",
    "alu_code_is",
    "alu_codes_known",
    "code_in",
    "count_in",
    "count_plus_one",
    "dtype_in",
    "dtype_not_in",
    "element_count",
    "engine_reach",
    "immediate",
    "immediate_fp32",
    "key_count",
    "listed",
    "predicate_integer",
    "quadrant",
    "ranges_of",
    "readable",
    "same_count",
    "same_dtype",
    "source_placement",
    "window",
    "writable",
    "zero_bits",
]
