"""``nki.isa``: the functions that become instruction words, and neighbours that kernels need.

The modelled functions are in the files of this package, one or a family each. The neighbours are
in ``lanewise.nki.outside``, plainly apart: NumPy semantics, FP32 inside. Asking for any other name
of the vendor's module is an error when it is used, so kernels with unused branches load.
"""

from __future__ import annotations

from typing import Any

from lanewise.nki.context import active
from lanewise.nki.enums import (
    dge_mode,
    dma_engine,
    engine,
    gpsimd_engine,
    matmul_perf_mode,
    oob_mode,
    reduce_cmd,
    scalar_engine,
    tensor_engine,
    unknown_engine,
    vector_engine,
)
from lanewise.nki.errors import NkiValidationError, NotOffered
from lanewise.nki.isa import constants
from lanewise.nki.isa.max8 import max8
from lanewise.nki.isa.nc_find_index8 import nc_find_index8
from lanewise.nki.isa.nc_match_replace8 import nc_match_replace8
from lanewise.nki.isa.nonzero_with_count import nonzero_with_count
from lanewise.nki.isa.range_select import range_select
from lanewise.nki.isa.select_reduce import select_reduce
from lanewise.nki.isa.tensor_copy import tensor_copy
from lanewise.nki.isa.tensor_copy_predicated import tensor_copy_predicated
from lanewise.nki.outside import (
    activation,
    affine_select,
    dma_compute,
    dma_copy,
    dma_transpose,
    iota,
    memset,
    nc_matmul,
    nc_n_gather,
    nc_stream_shuffle,
    nc_transpose,
    reciprocal,
    scalar_tensor_tensor,
    tensor_reduce,
    tensor_scalar,
    tensor_scalar_reduce,
    tensor_tensor,
)
from lanewise.nki.targets import find_target, nc_version

#: Functions that become instruction words.
MODELLED = (
    "max8",
    "nc_find_index8",
    "nc_match_replace8",
    "nonzero_with_count",
    "range_select",
    "select_reduce",
    "tensor_copy",
    "tensor_copy_predicated",
)
#: Functions outside the modelled set: NumPy semantics, FP32 inside.
OUTSIDE = (
    "activation",
    "affine_select",
    "dma_compute",
    "dma_copy",
    "dma_transpose",
    "iota",
    "memset",
    "nc_matmul",
    "nc_n_gather",
    "nc_stream_shuffle",
    "nc_transpose",
    "reciprocal",
    "scalar_tensor_tensor",
    "tensor_reduce",
    "tensor_scalar",
    "tensor_scalar_reduce",
    "tensor_tensor",
)
#: Functions of the vendor's modules that are not offered, for lists and messages.
NOT_OFFERED = (
    "activate2",
    "activation_reduce",
    "bn_aggr",
    "bn_stats",
    "builtin_custom_op",
    "core_barrier",
    "dropout",
    "exponential",
    "local_gather",
    "nc_matmul_mx",
    "quantize_mx",
    "rand2",
    "rand_get_state",
    "rand_set_state",
    "register_alloc",
    "register_load",
    "register_move",
    "register_store",
    "rng",
    "sendrecv",
    "sequence_bounds",
    "set_rng_seed",
    "tensor_copy_dynamic_dst",
    "tensor_copy_dynamic_src",
    "tensor_partition_reduce",
    "tensor_scalar_cumulative",
    "tensor_tensor_scan",
)

__all__ = [
    "NkiValidationError",
    "activation",
    "affine_select",
    "constants",
    "dge_mode",
    "dma_compute",
    "dma_copy",
    "dma_engine",
    "dma_transpose",
    "engine",
    "get_nc_version",
    "gpsimd_engine",
    "iota",
    "matmul_perf_mode",
    "max8",
    "memset",
    "nc_find_index8",
    "nc_match_replace8",
    "nc_matmul",
    "nc_n_gather",
    "nc_stream_shuffle",
    "nc_transpose",
    "nc_version",
    "nonzero_with_count",
    "oob_mode",
    "range_select",
    "reciprocal",
    "reduce_cmd",
    "scalar_engine",
    "scalar_tensor_tensor",
    "select_reduce",
    "tensor_copy",
    "tensor_copy_predicated",
    "tensor_engine",
    "tensor_reduce",
    "tensor_scalar",
    "tensor_scalar_reduce",
    "tensor_tensor",
    "unknown_engine",
    "vector_engine",
]


def get_nc_version() -> nc_version:
    """The version of the core that the kernel runs on, or would run on by default."""
    run = active()
    return find_target().version if run is None else run.machine.target.version


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return NotOffered("nki.isa", name, MODELLED + OUTSIDE, exists=name in NOT_OFFERED)
