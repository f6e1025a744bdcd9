"""Attention with a range mask: scores in PSUM, range_select masks them and keeps the maximum."""

import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np

LOWEST = float(np.finfo(np.float32).min)


@nki.jit
def attend(q, k, v, first, last, start=0):
    """softmax(q k^T) v over keys whose place is in [first, last] of each query.

    q [queries, depth], k [keys, depth], v [keys, width]; first, last [queries, 1] float32.
    ``start`` is the place of key 0.
    """
    queries, depth = q.shape
    keys, width = v.shape
    q_t = nl.ndarray((depth, queries), dtype=q.dtype, buffer=nl.sbuf)
    k_t = nl.ndarray((depth, keys), dtype=k.dtype, buffer=nl.sbuf)
    values = nl.ndarray((keys, width), dtype=v.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=q_t, src=q.permute((1, 0)))
    nisa.dma_copy(dst=k_t, src=k.permute((1, 0)))
    nisa.dma_copy(dst=values, src=v)
    low = nl.ndarray((queries, 1), dtype=nl.float32, buffer=nl.sbuf)
    high = nl.ndarray((queries, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=low, src=first)
    nisa.dma_copy(dst=high, src=last)

    scores = nl.ndarray((queries, keys), dtype=nl.float32, buffer=nl.psum, name="scores")
    nisa.nc_matmul(dst=scores, stationary=q_t, moving=k_t)
    masked = nl.ndarray((queries, keys), dtype=nl.float32, buffer=nl.sbuf, name="masked")
    largest = nl.ndarray((queries, 4), dtype=nl.float32, buffer=nl.sbuf)
    nisa.range_select(
        masked,
        on_true_tile=scores[:queries, :keys],
        comp_op0=nl.greater_equal,
        comp_op1=nl.less_equal,
        bound0=low[:queries, 0],
        bound1=high[:queries, 0],
        reduce_cmd=nisa.reduce_cmd.reset_reduce,
        reduce_res=largest[:queries, 1],
        reduce_op=nl.maximum,
        range_start=start,
        on_false_value=LOWEST,
    )
    negated = nl.ndarray((queries, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_scalar(dst=negated, data=largest[:, 1:2], op0=nl.multiply, operand0=-1.0)
    weights = nl.ndarray((queries, keys), dtype=nl.float32, buffer=nl.sbuf)
    total = nl.ndarray((queries, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.activation(
        dst=weights,
        op=nl.exp,
        data=masked,
        bias=negated,
        reduce_op=nl.add,
        reduce_res=total,
        reduce_cmd=nisa.reduce_cmd.reset_reduce,
    )
    inverse = nl.ndarray((queries, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.reciprocal(dst=inverse, data=total)

    turned = nl.ndarray((keys, queries), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_transpose(dst=turned, data=weights)
    weights_t = nl.ndarray((keys, queries), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_copy(dst=weights_t, src=turned)
    mixed = nl.ndarray((queries, width), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=mixed, stationary=weights_t, moving=values)
    result = nl.ndarray((queries, width), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_scalar(dst=result, data=mixed, op0=nl.multiply, operand0=inverse)

    out = nl.ndarray((queries, width), dtype=nl.float32, buffer=nl.shared_hbm)
    out_masked = nl.ndarray((queries, keys), dtype=nl.float32, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=result)
    nisa.dma_copy(dst=out_masked, src=masked)
    return out, out_masked
