"""Top-k as a kernel of the older interface: functions return tiles, grids name elements."""

import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np
from neuronxcc import nki

WIDTH = 8


@nki.jit
def topk_beta1(scores, k):
    """The k largest of each row and their positions; k a multiple of 8."""
    rows, columns = scores.shape
    values = nl.ndarray((rows, k), dtype=scores.dtype, buffer=nl.shared_hbm)
    places = nl.ndarray((rows, k), dtype=nl.uint32, buffer=nl.shared_hbm)
    for block in nl.affine_range((rows + 127) // 128):
        i_p = block * 128 + nl.arange(128)[:, None]
        i_c = nl.arange(columns)[None, :]
        live = min(128, rows - block * 128)
        loaded = nl.load(scores[i_p, i_c], mask=(i_p < rows) and (i_c < columns))
        data = nl.ndarray((nl.par_dim(live), columns), dtype=np.float32, buffer=nl.sbuf)
        data[...] = nl.copy(loaded[0:live, :], dtype=np.float32)
        found = nl.ndarray((nl.par_dim(live), k), dtype=scores.dtype, buffer=nl.sbuf)
        where = nl.ndarray((nl.par_dim(live), k), dtype=np.uint32, buffer=nl.sbuf)
        for fold in nl.sequential_range(k // WIDTH):
            part = nl.ds(fold * WIDTH, WIDTH)
            found[:, part] = nisa.max8(src=data)
            where[:, part] = nisa.nc_find_index8(data=data, vals=found[:, part])
            data[...] = nisa.nc_match_replace8(data=data, vals=found[:, part], imm=-np.inf)
        i_k = nl.arange(k)[None, :]
        i_l = nl.arange(live)[:, None]
        nl.store(values[block * 128 + i_l, i_k], value=found)
        nl.store(places[block * 128 + i_l, i_k], value=where)
    return values, places
