"""Expert routing: the top k of each token's logits, for tokens in tiles of 128."""

import nki
import nki.isa as nisa
import nki.language as nl

WIDTH = 8


@nki.jit
def route(logits, k):
    """Affinities, expert numbers, and the numbers as float32, for logits [tokens, experts].

    Experts with equal logits get different numbers, the lower one first.
    """
    tokens, experts = logits.shape
    tiles = tokens // nl.tile_size.pmax
    rows = nl.tile_size.pmax
    x = nl.ndarray((rows, tiles, experts), dtype=logits.dtype, buffer=nl.sbuf, name="x")
    nisa.dma_copy(dst=x, src=logits.reshape((tiles, rows, experts)).permute((1, 0, 2)))

    affinities = nl.ndarray((tokens, k), dtype=logits.dtype, buffer=nl.shared_hbm)
    numbers = nl.ndarray((tokens, k), dtype=nl.uint32, buffer=nl.shared_hbm)
    as_float = nl.ndarray((tokens, k), dtype=nl.float32, buffer=nl.shared_hbm)
    for tile in nl.affine_range(tiles):
        best = nl.ndarray((rows, WIDTH), dtype=logits.dtype, buffer=nl.sbuf)
        where = nl.ndarray((rows, WIDTH), dtype=nl.uint32, buffer=nl.sbuf)
        nisa.max8(dst=best[:rows, :], src=x[:rows, tile, :])
        nisa.nc_find_index8(dst=where[:rows, :], data=x[:rows, tile, :], vals=best)

        kept = nl.ndarray((rows, k), dtype=nl.uint32, buffer=nl.sbuf)
        kept_float = nl.ndarray((rows, k), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_copy(dst=kept, src=where[:, :k])
        nisa.tensor_copy(dst=kept_float, src=where[:, :k])
        part = nl.ds(tile * rows, rows)
        nisa.dma_copy(dst=affinities[part], src=best[:, :k])
        nisa.dma_copy(dst=numbers[part], src=kept)
        nisa.dma_copy(dst=as_float[part], src=kept_float)
    return affinities, numbers, as_float
