"""Top-k of each row: eight values a pass, the found ones replaced by -inf before the next."""

import nki
import nki.isa as nisa
import nki.language as nl

WIDTH = 8


@nki.jit
def topk(scores, k):
    """The k largest of each row with their positions; scores [rows, columns], at most 128 rows."""
    rows, columns = scores.shape
    data = nl.ndarray((rows, columns), dtype=scores.dtype, buffer=nl.sbuf, name="data")
    nisa.dma_copy(dst=data, src=scores)
    values = nl.ndarray((rows, k), dtype=scores.dtype, buffer=nl.sbuf, name="values")
    places = nl.ndarray((rows, k), dtype=nl.uint32, buffer=nl.sbuf, name="places")

    for fold in nl.sequential_range(k // WIDTH):
        found = nl.ds(fold * WIDTH, WIDTH)
        nisa.max8(dst=values[:, found], src=data)
        nisa.nc_match_replace8(
            dst=data, data=data, vals=values[:, found], imm=float("-inf"), dst_idx=places[:, found]
        )
    rest = k % WIDTH
    if rest:
        last = nl.ndarray((rows, WIDTH), dtype=scores.dtype, buffer=nl.sbuf)
        where = nl.ndarray((rows, WIDTH), dtype=nl.uint32, buffer=nl.sbuf)
        nisa.max8(dst=last, src=data)
        nisa.nc_find_index8(dst=where, data=data, vals=last)
        tail = nl.ds(k - rest, rest)
        nisa.tensor_copy(dst=values[:, tail], src=last[:, :rest], engine=nisa.scalar_engine)
        nisa.tensor_copy(dst=places[:, tail], src=where[:, :rest], engine=nisa.scalar_engine)

    top_values = nl.ndarray((rows, k), dtype=scores.dtype, buffer=nl.shared_hbm)
    top_places = nl.ndarray((rows, k), dtype=nl.uint32, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=top_values, src=values)
    nisa.dma_copy(dst=top_places, src=places)
    return top_values, top_places
