"""Argmax of each row: the maximum, sought as a key that is broadcast to eight columns."""

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def argmax(scores):
    """The largest value of each row and its first position, also as the type of the scores."""
    rows, columns = scores.shape
    values = nl.ndarray((rows, columns), dtype=scores.dtype, buffer=nl.sbuf, name="values")
    nisa.dma_copy(dst=values, src=scores)

    best = nl.ndarray((rows, 1), dtype=scores.dtype, buffer=nl.sbuf)
    nisa.tensor_reduce(dst=best, op=nl.maximum, data=values, axis=1)
    where = nl.ndarray((rows, 8), dtype=nl.uint32, buffer=nl.sbuf)
    nisa.nc_find_index8(dst=where, data=values, vals=best.ap([[1, rows], [0, 8]]))
    narrow = nl.ndarray((rows, 1), dtype=scores.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=narrow, src=where[:, 0:1])

    maximum = nl.ndarray((rows, 1), dtype=scores.dtype, buffer=nl.shared_hbm)
    place = nl.ndarray((rows, 1), dtype=nl.uint32, buffer=nl.shared_hbm)
    place_narrow = nl.ndarray((rows, 1), dtype=scores.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=maximum, src=best)
    nisa.dma_copy(dst=place, src=where[:, 0:1])
    nisa.dma_copy(dst=place_narrow, src=narrow)
    return maximum, place, place_narrow
