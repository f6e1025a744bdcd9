"""``nki.language``: allocation, indices, loops, operators, movement, the program, constants."""

from __future__ import annotations

from typing import Any

from lanewise.nki import arithmetic
from lanewise.nki.dtypes import (
    bfloat16,
    bool_,
    float4_e2m1fn_x4,
    float8_e4m3,
    float8_e4m3fn,
    float8_e4m3fn_x4,
    float8_e5m2,
    float8_e5m2_x4,
    float8_e8m0fnu,
    float16,
    float32,
    int8,
    int16,
    int32,
    tfloat32,
    uint8,
    uint16,
    uint32,
)
from lanewise.nki.errors import NotOffered
from lanewise.nki.language.allocation import (
    empty_like,
    full,
    ndarray,
    ones,
    rand,
    shared_constant,
    shared_identity_matrix,
    zeros,
    zeros_like,
)
from lanewise.nki.language.classes import DType, NKIObject, NkiTensor
from lanewise.nki.language.constants import (
    MemoryRegion,
    fp32,
    hbm,
    private_hbm,
    psum,
    sbuf,
    shared_hbm,
    tile_size,
)
from lanewise.nki.language.indices import ds
from lanewise.nki.language.loops import (
    affine_range,
    dynamic_range,
    fori_loop,
    sequential_range,
    static_range,
    while_loop,
)
from lanewise.nki.language.movement import (
    broadcast_to,
    copy,
    expand_dims,
    load,
    store,
    transpose,
    where,
)
from lanewise.nki.language.program import (
    device_print,
    nc,
    num_programs,
    program_id,
    program_ndim,
)
from lanewise.nki.operators import OPERATORS

__all__ = [
    "DType",
    "MemoryRegion",
    "NKIObject",
    "NkiTensor",
    "abs",
    "add",
    "affine_range",
    "bfloat16",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "bool_",
    "broadcast_to",
    "copy",
    "device_print",
    "divide",
    "ds",
    "dynamic_range",
    "empty_like",
    "equal",
    "exp",
    "expand_dims",
    "float4_e2m1fn_x4",
    "float8_e4m3",
    "float8_e4m3fn",
    "float8_e4m3fn_x4",
    "float8_e5m2",
    "float8_e5m2_x4",
    "float8_e8m0fnu",
    "float16",
    "float32",
    "fori_loop",
    "fp32",
    "full",
    "greater",
    "greater_equal",
    "hbm",
    "identity",
    "int8",
    "int16",
    "int32",
    "invert",
    "left_shift",
    "less",
    "less_equal",
    "load",
    "log",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "mod",
    "multiply",
    "nc",
    "ndarray",
    "negative",
    "not_equal",
    "num_programs",
    "ones",
    "power",
    "private_hbm",
    "program_id",
    "program_ndim",
    "psum",
    "rand",
    "reciprocal",
    "relu",
    "right_shift",
    "rsqrt",
    "sbuf",
    "sequential_range",
    "shared_constant",
    "shared_hbm",
    "shared_identity_matrix",
    "sigmoid",
    "sqrt",
    "square",
    "static_range",
    "store",
    "subtract",
    "sum",
    "tanh",
    "tfloat32",
    "tile_size",
    "transpose",
    "uint8",
    "uint16",
    "uint32",
    "where",
    "while_loop",
    "zeros",
    "zeros_like",
]

arithmetic.attach()
# ``copy`` is the function of this module; as ``op=`` it is the operator of the same name.
globals().update({name: operator for name, operator in OPERATORS.items() if name != "copy"})


#: What only the older interface has: silence until a call would hide that the import is wrong.
_OLDER = ("arange", "mgrid", "par_dim")


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _OLDER:
        raise AttributeError(
            f"nki.language has no {name}: kernels with index grids are written for the older "
            "interface, import neuronxcc.nki.language"
        )
    return NotOffered("nki.language", name, tuple(__all__))
