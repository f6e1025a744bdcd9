"""Outside the modelled set: NumPy semantics, FP32 inside.

The functions that public kernels need around the modelled ones. Operands go to FP32 by the model's
own conversion, the operation is NumPy's in FP32, the result goes to the destination's type by the
model's conversion under the run's profile. They build no instruction words, and every step they
make says so.
"""

from lanewise.nki.outside.dma import dma_compute, dma_copy, dma_transpose
from lanewise.nki.outside.elementwise import (
    activation,
    reciprocal,
    scalar_tensor_tensor,
    tensor_scalar,
    tensor_scalar_reduce,
    tensor_tensor,
)
from lanewise.nki.outside.generate import affine_select, iota, memset
from lanewise.nki.outside.matmul import nc_matmul, nc_transpose
from lanewise.nki.outside.reduce import tensor_reduce
from lanewise.nki.outside.shuffle import nc_n_gather, nc_stream_shuffle

#: What every such step says of itself.
LABEL = "outside the modelled set: NumPy semantics, FP32 inside"

__all__ = [
    "LABEL",
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
]
