"""Gather by owner: partition p finds the columns that belong to it, then fetches those rows."""

import nki
import nki.isa as nisa
import nki.language as nl

WIDTH = 8


@nki.jit
def rows_of(owners, table):
    """The first row of ``table`` that each partition owns, and the places of up to eight.

    ``owners`` [columns] int32 names the owning partition of each row of ``table`` [columns,
    features]; an owner without rows gets zeros.
    """
    (columns,) = owners.shape
    _, features = table.shape
    partitions = 4
    data = nl.ndarray((partitions, columns), dtype=nl.int32, buffer=nl.sbuf, name="owners")
    nisa.dma_copy(dst=data, src=owners.ap([[0, partitions], [1, columns]]))

    keys = nl.ndarray((partitions, WIDTH), dtype=nl.uint32, buffer=nl.sbuf)
    nisa.iota(dst=keys, pattern=[[0, WIDTH]], channel_multiplier=1)
    places = nl.ndarray((partitions, WIDTH), dtype=nl.uint32, buffer=nl.sbuf)
    nisa.nc_find_index8(dst=places, data=data, vals=keys)

    rows = nl.zeros((partitions, features), dtype=table.dtype, buffer=nl.sbuf)
    nisa.dma_copy(
        dst=rows,
        src=table.ap([[features, partitions], [1, features]], vector_offset=places[:, 0:1]),
        oob_mode=nisa.oob_mode.skip,
    )
    found = nl.ndarray((partitions, features), dtype=table.dtype, buffer=nl.shared_hbm)
    out = nl.ndarray((partitions, WIDTH), dtype=nl.uint32, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=found, src=rows)
    nisa.dma_copy(dst=out, src=places)
    return found, out
