"""Argsort of one row by repeated top-8, the positions written backwards for ascending order."""

import nki
import nki.isa as nisa
import nki.language as nl

WIDTH = 8


@nki.jit
def argsort(row, descending=False):
    """Positions that sort ``row`` [1, n]; n a multiple of 8, elements above -inf and not NaN."""
    _, size = row.shape
    passes = size // WIDTH
    data = nl.ndarray((1, size), dtype=nl.float32, buffer=nl.sbuf, name="data")
    nisa.dma_copy(dst=data, src=row)
    order = nl.ndarray((1, size), dtype=nl.uint32, buffer=nl.sbuf, name="order")
    for index in nl.sequential_range(passes):
        best = nl.ndarray((1, WIDTH), dtype=nl.float32, buffer=nl.sbuf)
        nisa.max8(dst=best, src=data)
        step, first = (1, WIDTH * index) if descending else (-1, WIDTH * (passes - index) - 1)
        nisa.nc_match_replace8(
            dst=data,
            data=data,
            vals=best,
            imm=float("-inf"),
            dst_idx=order.ap([[size, 1], [step, WIDTH]], offset=first),
        )
    out = nl.ndarray((1, size), dtype=nl.int32, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=order.view(nl.int32))
    return out
