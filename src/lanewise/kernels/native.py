"""The compiled engine: everything of the reference engine, with what is compiled put over it.

Importing this module raises ImportError where the extension has not been built; ask
:func:`lanewise.kernels.select_engine` for an engine instead of importing one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from lanewise.errors import UsageError
from lanewise.formats import FP16, FP32, ConversionPolicy, Format
from lanewise.formats.encoding import overflow_code
from lanewise.kernels import _native
from lanewise.kernels import convert as _conversions
from lanewise.kernels.arrays import (
    Codes,
    Hub,
    Positions,
    Truth,
    check_codes,
    check_hub,
    check_shape,
    code_dtype,
)
from lanewise.kernels.reference import (
    RELATION_SETS,
    Relation,
    compare,
    fold_maximum,
    index_sequence,
    is_nan,
    nonzero_positions,
    ordered_key,
)

__all__ = [
    "RELATION_SETS",
    "Conversion",
    "Program",
    "Relation",
    "Step",
    "cast_rows",
    "compare",
    "conversion",
    "convert",
    "fill_rows",
    "find8",
    "find8_rows",
    "fold_maximum",
    "from_hub",
    "index_sequence",
    "is_nan",
    "merge_rows",
    "nonzero_positions",
    "nonzero_rows",
    "note_rows",
    "ordered_key",
    "range_rows",
    "replace8_rows",
    "select_rows",
    "step",
    "to_hub",
    "top8",
    "top8_rows",
]

Conversion = _native.Conversion
Step = _native.Step
Program = _native.Program

_EXACT = ConversionPolicy(float_to_int="nearest", float_overflow="infinity")
"""Into FP32, where the policy has no say."""


@lru_cache(maxsize=1024)
def conversion(
    source: Format,
    target: Format,
    policy: ConversionPolicy,
    *,
    stream: bool = False,
    flip: int = 0,
) -> _native.Conversion:
    """As in ``lanewise.kernels.rows``; the same arguments give the same object."""
    size = code_dtype(source).itemsize
    if not _has_kernel(source):
        raise UsageError(f"{source.name}: no row kernel reads this format")
    if flip and source != FP32:
        raise ValueError("only FP32 sources can be flipped")
    if source == target and not stream:
        if flip:
            return _native.to_fp32(_native.source("fp32", flip), keep_nan=True)
        return _native.copying(size)
    _conversions.check_target(target)
    if size == 1 or (size == 2 and not _computes(source)):
        return _native.looking_up(_conversions.conversion_table(source, target, policy))
    return _encoding(_source(source, flip), target, policy)


def _source(format: Format, flip: int) -> _native.Source:
    """A format that arithmetic decodes."""
    if format == FP32:
        return _native.source("fp32", flip)
    if format.is_integer:
        return _native.source(f"{'int' if format.kind == 'signed' else 'uint'}{format.width}")
    return _native.source("fp16" if format == FP16 else "upper_half")


def _computes(source: Format) -> bool:
    """Whether arithmetic decodes a source of 16 bits here, which is quicker than its table."""
    known = source.is_integer or source == FP16 or source.exponent_bits == FP32.exponent_bits
    return known and bool(_native.HAS_AVX512)


def _has_kernel(source: Format) -> bool:
    """Whether every bit pattern of the container is a code, and a kernel reads it."""
    full = source.width == source.container and not source.low_zero_bits
    return full and (source.container < 32 or source.is_integer or source == FP32)


def _encoding(
    source: _native.Source, target: Format, policy: ConversionPolicy
) -> _native.Conversion:
    if target == FP32:
        return _native.to_fp32(source, keep_nan=False)
    size = code_dtype(target).itemsize
    if target.is_integer:
        nearest = policy.float_to_int == "nearest"
        return _native.to_integer(source, size, target.max_value, -target.min_value, nearest)
    assert target.quiet_nan is not None
    overflow = overflow_code(target, policy)
    return _native.to_float(
        source,
        size,
        target.mantissa_bits,
        target.bias,
        target.low_zero_bits,
        target.max_finite,
        overflow,
        overflow if target.infinity is None else target.infinity,
        target.quiet_nan,
    )


def convert(
    codes: Codes,
    source: Format,
    target: Format,
    policy: ConversionPolicy,
    *,
    stream: bool = False,
) -> Codes:
    """As in ``lanewise.kernels.convert``."""
    check_codes(codes, source)
    if source != target or stream:
        _conversions.check_target(target)
    if not _has_kernel(source):
        return _conversions.convert(codes, source, target, policy, stream=stream)
    made = conversion(source, target, policy, stream=stream)
    packed = np.ascontiguousarray(codes, code_dtype(source))
    result: Codes = np.empty(codes.shape, code_dtype(target))
    _native.cast_rows(result.reshape(1, -1), packed.reshape(1, -1), made).run()
    return result


def to_hub(codes: Codes, format: Format) -> Hub:
    """As in ``lanewise.kernels.convert``."""
    hub: Any = convert(codes, format, FP32, _EXACT, stream=True)
    return hub  # type: ignore[no-any-return]


def from_hub(hub: Hub, format: Format, policy: ConversionPolicy) -> Codes:
    """As in ``lanewise.kernels.convert``."""
    check_hub(hub, "hub")
    return convert(hub, FP32, format, policy, stream=True)


def top8(hub: Hub) -> Hub:
    """As in ``lanewise.kernels.search``."""
    check_hub(hub, "hub", dimensions=2)
    result = np.empty((hub.shape[0], 8), np.uint32)
    numbers = conversion(FP32, FP32, _EXACT, stream=True)
    # The slots leave with the bits they came with: nothing converts, and no NaN gets in.
    _native.top8_rows(result, _native_order(hub), numbers, _native.copying(4)).run()
    return result


def find8(hub: Hub, keys: Hub, matched: Truth) -> tuple[Positions, Truth]:
    """As in ``lanewise.kernels.search``."""
    check_hub(hub, "hub", dimensions=2)
    check_hub(keys, "keys")
    check_shape(keys, "keys", (hub.shape[0], 8))
    check_shape(matched, "matched", (hub.shape[0], 8))
    found = np.empty((hub.shape[0], 8), np.uint32)
    served = np.array(matched, np.bool_, order="C")
    numbers = conversion(FP32, FP32, _EXACT, stream=True)
    wanted = np.ascontiguousarray(keys, np.uint32)
    _native.find8_rows(found, _native_order(hub), numbers, wanted, served).run()
    return found.view(np.int32).astype(np.int64), served


def _native_order(hub: Hub) -> Hub:
    return hub.astype(np.uint32, copy=False)


def step(kernel: str, *operands: Any) -> _native.Step:
    """The row kernel of this name with its operands, ready to run: ``step(…).run()``."""
    made: _native.Step = getattr(_native, kernel)(*operands)
    return made


def _kernel(name: str) -> Callable[..., None]:
    make: Callable[..., _native.Step] = getattr(_native, name)

    def run(*operands: Any) -> None:
        make(*operands).run()

    return run


cast_rows = _kernel("cast_rows")
merge_rows = _kernel("merge_rows")
fill_rows = _kernel("fill_rows")
top8_rows = _kernel("top8_rows")
find8_rows = _kernel("find8_rows")
replace8_rows = _kernel("replace8_rows")
select_rows = _kernel("select_rows")
range_rows = _kernel("range_rows")
nonzero_rows = _kernel("nonzero_rows")


def note_rows(flags: Truth) -> bytes | None:
    """As in ``lanewise.kernels.rows``."""
    noted = _native.Program([_native.note_rows(flags)]).run()
    return None if noted is None else noted[0][1]
