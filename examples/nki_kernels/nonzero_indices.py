"""Positions of the elements that are not 0: eight chunks at a time, one for each GpSimd core."""

import nki
import nki.isa as nisa
import nki.language as nl

CORES = 8
SPACING = 16


@nki.jit
def nonzero(flags):
    """Positions and number for each of eight equal chunks of ``flags`` [8, size].

    Returns [8, size + 1]: positions counted from the start of all flags, -1, and the count. The
    instruction works on partitions 0, 16, …, 112; what is between them is never looked at.
    """
    cores, size = flags.shape
    src = nl.zeros((CORES * SPACING, size), dtype=flags.dtype, buffer=nl.sbuf)
    dst = nl.ndarray((CORES * SPACING, size + 1), dtype=nl.int32, buffer=nl.sbuf, name="found")
    out = nl.ndarray((cores, size + 1), dtype=nl.int32, buffer=nl.shared_hbm)
    for core in nl.affine_range(cores):
        nisa.dma_copy(dst=src[core * SPACING], src=flags[core])
    nisa.nonzero_with_count(dst=dst, src=src)
    for core in nl.affine_range(cores):
        places = dst[core * SPACING]
        nisa.dma_copy(dst=out[core], src=places)
    return out


@nki.jit
def nonzero_in_chunks(flags, chunk):
    """Positions in one row of flags, ``chunk`` at a time, and the number of each chunk."""
    (size,) = flags.shape
    chunks = size // chunk
    out = nl.ndarray((chunks, chunk), dtype=nl.int32, buffer=nl.shared_hbm)
    counts = nl.ndarray((chunks, 1), dtype=nl.int32, buffer=nl.shared_hbm)
    rows = flags.reshape((chunks, chunk))
    for index in nl.sequential_range(chunks):
        src = nl.ndarray((1, chunk), dtype=flags.dtype, buffer=nl.sbuf)
        dst = nl.ndarray((1, 1, chunk + 1), dtype=nl.int32, buffer=nl.sbuf)
        nisa.dma_copy(dst=src, src=rows[index])
        nisa.nonzero_with_count(dst=dst, src=src, index_offset=index * chunk, padding_val=-1)
        nisa.dma_copy(dst=out[index], src=dst[:, 0, :chunk])
        nisa.dma_copy(dst=counts[index], src=dst[:, 0, chunk:])
    return out, counts
