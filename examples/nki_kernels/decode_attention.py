"""The mask of a decode step: scores copied from PSUM where a mask allows it, -inf elsewhere."""

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def mask_scores(q, k, mask):
    """q k^T [heads, keys] with -inf where ``mask`` [heads, keys] uint8 is 0; and the row maxima.

    The scores lie with a gap behind each block of keys, so all operands are strided views.
    """
    heads, depth = q.shape
    keys, _ = k.shape
    block = keys // 2
    q_t = nl.ndarray((depth, heads), dtype=q.dtype, buffer=nl.sbuf)
    k_t = nl.ndarray((depth, keys), dtype=k.dtype, buffer=nl.sbuf)
    allowed = nl.ndarray((heads, 2, block), dtype=nl.uint8, buffer=nl.sbuf)
    nisa.dma_copy(dst=q_t, src=q.permute((1, 0)))
    nisa.dma_copy(dst=k_t, src=k.permute((1, 0)))
    nisa.dma_copy(dst=allowed, src=mask)

    scores = nl.ndarray((heads, keys), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=scores, stationary=q_t, moving=k_t)
    wide = nl.ndarray((heads, 2, block + 1), dtype=nl.float32, buffer=nl.sbuf, name="wide")
    nisa.memset(dst=wide, value=float("-inf"))
    nisa.tensor_copy_predicated(
        dst=wide[:, :, :block], src=scores.reshape((heads, 2, block)), predicate=allowed
    )
    largest = nl.ndarray((heads, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_reduce(dst=largest, op=nl.maximum, data=wide, axis=(1, 2))

    out = nl.ndarray((heads, 2, block + 1), dtype=nl.float32, buffer=nl.shared_hbm)
    out_largest = nl.ndarray((heads, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=wide)
    nisa.dma_copy(dst=out_largest, src=largest)
    return out, out_largest
