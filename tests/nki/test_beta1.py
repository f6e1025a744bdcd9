"""The older world: returned tiles, index grids, masks, block dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.nki.helpers import LOWEST, MISS, bf16, f32, row, same_bits

from lanewise import nki
from lanewise.nki import NkiError, NkiValidationError, UninitialisedRead
from lanewise.nki.beta1 import isa as nisa
from lanewise.nki.beta1 import jit, simulate_kernel
from lanewise.nki.beta1 import language as nl

DATA = np.random.default_rng(8).normal(size=(16, 24)).astype(np.float32)


def seen(body: Any, *arrays: Any, **options: Any) -> tuple[nki.Simulation, Any]:
    """The simulation, and what ``body`` makes of tiles with the arrays' values."""

    def kernel(*tensors: Any) -> Any:
        tile = body(*(nl.load(tensor) for tensor in tensors))
        out = nl.ndarray(tile.shape, dtype=tile.dtype, buffer=nl.shared_hbm)
        nl.store(out, value=tile)
        return out

    sim = nki.simulate(kernel, **options)
    return sim, sim(*arrays)


# Functions return tiles.


def test_functions_return_tiles() -> None:
    top = f32(3, 1, 4, 1, 5, 9, 2, 6, 5, 3)
    same_bits(seen(lambda x: nisa.max8(src=x), top)[1], f32(9, 6, 5, 5, 4, 3, 3, 2))
    same_bits(
        seen(lambda x: nisa.nc_find_index8(data=x, vals=nisa.max8(src=x)), top)[1],
        row(np.uint32, 5, 7, 4, 8, 2, 0, 9, 6),
    )
    same_bits(
        seen(lambda x: nisa.nc_find_index8(data=x, vals=nisa.max8(src=x), dtype=np.uint16), top)[1],
        row(np.uint16, 5, 7, 4, 8, 2, 0, 9, 6),
    )
    same_bits(
        seen(lambda x: nisa.nc_match_replace8(data=x, vals=nisa.max8(src=x), imm=0.0), top)[1],
        f32(0, 1, 0, 1, 0, 0, 0, 0, 0, 0),
    )
    same_bits(seen(lambda x: nisa.tensor_copy(x, dtype=nl.bfloat16), DATA)[1], DATA.astype(bf16))


def test_range_select_returns_a_tile_and_does_not_reduce() -> None:
    def body(x: Any) -> Any:
        low = nl.full((1, 1), 34, dtype=nl.float32)
        high = nl.full((1, 1), 37, dtype=nl.float32)
        return nisa.range_select(
            on_true_tile=x,
            comp_op0=np.greater_equal,
            comp_op1=np.less,
            bound0=low,
            bound1=high,
            range_start=32,
            on_false_value=nl.fp32.min,
        )

    sim, found = seen(body, f32(*range(1, 9)))
    same_bits(found, np.array([[LOWEST, LOWEST, 3, 4, 5, LOWEST, LOWEST, LOWEST]], np.float32))
    assert sim.report.words == {"RANGE_SELECT": 1}


def test_two_functions_write_their_dst() -> None:
    def body(x: Any, p: Any) -> Any:
        dst = nl.full((1, 4), -1.0, dtype=nl.float32)
        assert nisa.tensor_copy_predicated(src=x, dst=dst, predicate=p) is None
        most = nl.ndarray((1, 1), dtype=nl.float32)
        assert (
            nisa.select_reduce(
                dst=dst,
                predicate=p,
                on_true=dst,
                on_false=0.5,
                reduce_res=most,
                reduce_cmd=nisa.reduce_cmd.reset_reduce,
                reduce_op=np.max,
            )
            is None
        )
        dst[:, 3:4] = most
        return dst

    _, found = seen(body, f32(10, 20, 30, 40), row(np.uint8, 1, 0, 2, 0))
    same_bits(found, f32(10, 0.5, 30, 30))


def test_a_fresh_result_is_written_where_it_goes() -> None:
    """No copy and no second rounding: one word for the search, none for the assignment."""

    def body(x: Any) -> Any:
        both = nl.ndarray((16, 16), dtype=nl.float32)
        both[:, 0:8] = nisa.max8(src=x)
        both[:, 8:16] = nisa.max8(src=x)
        return both

    sim, found = seen(body, DATA)
    same_bits(found[:, :8], -np.sort(-DATA, axis=1)[:, :8])
    assert sim.report.words == {"MAX8": 2}


def test_a_result_of_another_type_is_copied() -> None:
    def body(x: Any) -> Any:
        narrow = nl.ndarray((16, 8), dtype=nl.bfloat16)
        narrow[...] = nisa.max8(src=x)
        return narrow

    sim, found = seen(body, DATA)
    same_bits(found, (-np.sort(-DATA, axis=1)[:, :8]).astype(bf16))
    assert sim.report.words == {"MAX8": 1, "CAST": 1}


def test_a_result_that_is_used_elsewhere_stays_itself() -> None:
    def body(x: Any) -> Any:
        best = nisa.max8(src=x)
        place = nisa.nc_find_index8(data=x, vals=best)
        kept = nl.ndarray((16, 8), dtype=nl.uint32)
        kept[...] = place
        assert place.numpy().shape == (16, 8)
        return kept

    _, found = seen(body, DATA)
    same_bits(found, np.argsort(-DATA, axis=1)[:, :8].astype(np.uint32))


def test_results_may_replace_their_own_source() -> None:
    def body(x: Any) -> Any:
        for _ in range(2):
            x[...] = nisa.nc_match_replace8(data=x, vals=nisa.max8(src=x), imm=-3e38)
        return nisa.max8(src=x)

    _, found = seen(body, DATA)
    same_bits(found, -np.sort(-DATA, axis=1)[:, 16:24])


def test_an_unused_result_is_still_run() -> None:
    def kernel(x: Any) -> None:
        nisa.max8(src=nl.load(x))

    sim = nki.simulate(kernel)
    sim(DATA)
    assert sim.report.words == {"MAX8": 1}


def test_wrong_calls_fail_at_their_own_line() -> None:
    with pytest.raises(NkiValidationError, match=r"max8 src elements per partition 5") as caught:
        seen(lambda x: nisa.max8(src=x[:, :5]), DATA)
    assert caught.value.location is not None
    with pytest.raises(TypeError, match="max8 takes 0 arguments by position"):
        seen(nisa.max8, DATA)
    with pytest.raises(TypeError, match="max8 has no argument 'data'"):
        seen(lambda x: nisa.max8(data=x), DATA)
    with pytest.raises(NkiValidationError, match="nc_find_index8 data is a None, must be a tile"):
        seen(lambda x: nisa.nc_find_index8(data=None, vals=x), DATA)


def test_four_dimensions_are_searched() -> None:
    found = seen(lambda x: nisa.max8(src=x.reshape((16, 2, 3, 4))), DATA)[1]
    same_bits(found, -np.sort(-DATA, axis=1)[:, :8])


def test_simulate_kernel() -> None:
    @jit
    def kernel(x: Any) -> Any:
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        nl.store(out, value=nl.load(x))
        return out

    same_bits(simulate_kernel(kernel, DATA), DATA)


# Grids.


def test_grids_name_elements() -> None:
    def kernel(x: Any) -> Any:
        i_p = nl.arange(16)[:, None]
        i_f = nl.arange(12)[None, :]
        tile = nl.load(x[i_p, 2 * i_f + 1])
        out = nl.ndarray((16, 12), dtype=x.dtype, buffer=nl.shared_hbm)
        nl.store(out[i_p, 11 - i_f], value=tile)
        return out

    same_bits(nki.simulate(kernel)(DATA), DATA[:, 1::2][:, ::-1])


def test_mgrid() -> None:
    def kernel(x: Any) -> Any:
        i_p, i_f = nl.mgrid[0:8, 0:6]
        tile = nl.load(x[i_p + 4, i_f])
        out = nl.ndarray((8, 6), dtype=x.dtype, buffer=nl.shared_hbm)
        nl.store(out[i_p, i_f], value=tile[i_p, i_f])
        return out

    same_bits(nki.simulate(kernel)(DATA), DATA[4:12, :6])


@given(
    start=st.integers(0, 5),
    step=st.integers(1, 3),
    count=st.integers(1, 6),
    row_start=st.integers(0, 8),
    rows=st.integers(1, 8),
)
def test_affine_grids_equal_numpy(
    start: int, step: int, count: int, row_start: int, rows: int
) -> None:
    def kernel(x: Any) -> Any:
        tile = nl.load(x[row_start + nl.arange(rows)[:, None], start + step * nl.arange(count)])
        out = nl.ndarray((rows, count), dtype=x.dtype, buffer=nl.shared_hbm)
        nl.store(out, value=tile)
        return out

    columns = start + step * np.arange(count)
    expected = DATA[row_start : row_start + rows][:, columns]
    same_bits(nki.simulate(kernel)(DATA), expected)


def test_grids_that_are_not_affine_gather_from_hbm() -> None:
    def kernel(x: Any) -> Any:
        i_p, i_f = nl.mgrid[0:16, 0:24]
        out = nl.ndarray((16, 24), dtype=x.dtype, buffer=nl.shared_hbm)
        nl.store(out, value=nl.load(x[i_p, (i_f * 5) % 24]))
        return out

    same_bits(nki.simulate(kernel)(DATA), DATA[:, (np.arange(24) * 5) % 24])


def test_grids_outside_the_tensor() -> None:
    def kernel(x: Any) -> Any:
        return nl.load(x[nl.arange(17)[:, None], nl.arange(24)[None, :]])

    with pytest.raises(NkiError, match=r"x: index 16 of dimension 0 exceeds its size 16; a mask"):
        nki.simulate(kernel)(DATA)


def test_block_dimensions() -> None:
    def kernel(x: Any) -> Any:
        blocks = nl.ndarray((2, nl.par_dim(8), 24), dtype=nl.float32, buffer=nl.sbuf)
        for block in nl.affine_range(2):
            blocks[block] = nl.load(x[block * 8 : block * 8 + 8, :])
        out = nl.ndarray((16, 24), dtype=nl.float32, buffer=nl.shared_hbm)
        for block in nl.affine_range(2):
            nl.store(out[(1 - block) * 8 : (2 - block) * 8, :], value=blocks[block])
        return out

    same_bits(nki.simulate(kernel)(DATA), np.concatenate([DATA[8:], DATA[:8]]))


# Masks.


def test_masks_leave_out_what_is_outside() -> None:
    def kernel(x: Any) -> Any:
        i_p, i_f = nl.arange(32)[:, None], nl.arange(64)[None, :]
        inside = (i_p < 16) & (i_f < 24)
        tile = nl.load(x[i_p, i_f], mask=inside)
        out = nl.ndarray((16, 24), dtype=x.dtype, buffer=nl.shared_hbm)
        nl.store(out[i_p, i_f], value=tile[i_p, i_f], mask=inside)
        return out

    same_bits(nki.simulate(kernel)(DATA), DATA)


def masked_by_words(x: Any) -> Any:
    """As public kernels write it: ``and``, which jit turns into ``&``."""
    i_p, i_f = nl.arange(32)[:, None], nl.arange(24)[None, :]
    tile = nl.load(x[i_p, i_f], mask=(i_p < 16 and i_f < 24))
    out = nl.ndarray((16, 24), dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, value=tile[0:16, :])
    return out


def test_masks_joined_with_and() -> None:
    same_bits(jit(masked_by_words)(DATA), DATA)
    without_source = eval("lambda nl: nl.arange(3) < 2 and nl.arange(3) < 1")
    with pytest.raises(TypeError, match="use & instead of and"):
        without_source(nl)


@pytest.mark.parametrize("compare", ["<", "<=", ">", ">="])
def test_masks_shrink_a_copy(compare: str) -> None:
    def body(x: Any) -> Any:
        i_p, i_f = nl.mgrid[0:16, 0:24]
        part = {
            "<": i_f < 10,
            "<=": i_f <= 9,
            ">": i_f > 9,
            ">=": i_f >= 10,
        }[compare]
        tile = nl.zeros((16, 24), dtype=nl.float32)
        tile[...] = nisa.tensor_copy(x, mask=part & (i_p < 16))
        return tile

    expected = DATA.copy()
    if compare.startswith("<"):
        expected[:, 10:] = 0
    else:
        expected[:, :10] = 0
    same_bits(seen(body, DATA)[1], expected)


def test_masks_shrink_a_search_to_its_data() -> None:
    def body(x: Any) -> Any:
        _, i_f = nl.mgrid[0:16, 0:24]
        return nisa.nc_find_index8(data=x, vals=nisa.max8(src=x, mask=i_f < 12), mask=i_f < 12)

    found = seen(body, DATA)[1]
    same_bits(found, np.argsort(-DATA[:, :12], axis=1)[:, :8].astype(np.uint32))
    assert MISS not in found


def test_what_a_mask_leaves_out_of_a_fresh_result_is_unwritten() -> None:
    def body(x: Any) -> Any:
        i_p, _ = nl.mgrid[0:16, 0:24]
        return nisa.max8(src=x, mask=i_p < 4)

    with pytest.warns(UninitialisedRead, match="never written"):
        found = seen(body, DATA)[1]
    same_bits(found[:4], -np.sort(-DATA[:4], axis=1)[:, :8])
    assert np.isnan(found[4:]).all()


@pytest.mark.parametrize("name", ["max8", "tensor_scalar"])
def test_masks_that_are_no_rectangle(name: str) -> None:
    def body(x: Any) -> Any:
        i_p, i_f = nl.mgrid[0:16, 0:24]
        triangle = i_p <= i_f
        if name == "max8":
            return nisa.max8(src=x, mask=triangle)
        return nisa.tensor_scalar(x, np.add, 1.0, mask=triangle)

    with pytest.raises(NkiValidationError, match=f"{name} mask must be a rectangle"):
        seen(body, DATA)


def test_loads_and_stores_take_any_mask() -> None:
    def kernel(x: Any) -> Any:
        i_p, i_f = nl.mgrid[0:16, 0:24]
        out = nl.zeros((16, 24), dtype=x.dtype, buffer=nl.shared_hbm)
        nl.store(out[i_p, i_f], value=nl.load(x[i_p, i_f]), mask=i_p <= i_f)
        return out

    same_bits(nki.simulate(kernel)(DATA), np.triu(DATA))


def test_masks_are_comparisons() -> None:
    with pytest.raises(TypeError, match="a mask is made by comparing index grids, not a list"):
        nki.simulate(lambda x: nl.load(x, mask=[True]))(DATA)


# Neighbours.


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (lambda x: nisa.tensor_scalar(x, np.multiply, 2.0), DATA * 2),
        (lambda x: nisa.tensor_scalar(x, op0=np.greater, operand0=0.0), (DATA > 0).astype("u1")),
        (lambda x: nisa.tensor_tensor(x, x, op=np.add), DATA + DATA),
        (lambda x: nisa.tensor_reduce(np.max, x, axis=(1,)), DATA.max(axis=1, keepdims=True)),
        (lambda x: nisa.activation(op=nl.exp, data=x), np.exp(DATA)),
        (nisa.reciprocal, np.float32(1) / DATA),
        (lambda x: nl.copy(nisa.nc_transpose(x)), DATA.T),
        (lambda x: nisa.memset((4, 4), 3.0, dtype=np.float32), np.full((4, 4), 3, np.float32)),
        (
            lambda x: nisa.iota(nl.arange(8)[None, :] * 2 + nl.arange(4)[:, None], dtype=nl.int32),
            (np.arange(8) * 2 + np.arange(4)[:, None]).astype(np.int32),
        ),
        (
            lambda x: nisa.affine_select(
                pred=(nl.arange(16)[:, None] >= nl.arange(24)[None, :]),
                on_true_tile=x,
                on_false_value=-1.0,
            ),
            np.where(np.arange(16)[:, None] >= np.arange(24), DATA, np.float32(-1)),
        ),
    ],
)
def test_neighbours_return_tiles(body: Any, expected: Any) -> None:
    same_bits(seen(body, DATA)[1], expected)


def test_functions_that_are_not_offered() -> None:
    with pytest.raises(NotImplementedError, match=r"^neuronxcc\.nki\.isa\.dropout is not offered"):
        nisa.dropout(1)
    with pytest.raises(NotImplementedError, match="did you mean max8"):
        nisa.max9(1)


def test_products_add_up_in_psum() -> None:
    whole = np.round(DATA * 4)

    def kernel(x: Any) -> Any:
        total = nl.zeros((nl.par_dim(24), 24), dtype=nl.float32, buffer=nl.psum)
        for block in nl.affine_range(2):
            tile = nl.load(x[block * 8 : block * 8 + 8, :])
            total += nisa.nc_matmul(tile, tile)
            total[nl.arange(24)[:, None], nl.arange(24)[None, :]] += nisa.nc_matmul(tile, tile)
        out = nl.ndarray((24, 24), dtype=nl.float32, buffer=nl.shared_hbm)
        nl.store(out, value=nl.copy(total))
        return out

    same_bits(nki.simulate(kernel)(whole), 2 * (whole.T @ whole))


def test_augmented_assignment_changes_the_tile_itself() -> None:
    def body(x: Any) -> Any:
        alias = x
        x += x
        x -= 1.0
        x *= x[:, 0:1]
        x[:, 3:5] += x[:, 5:7]
        assert alias is x
        return alias

    expected = (DATA + DATA) - np.float32(1)
    expected = expected * expected[:, 0:1]
    expected[:, 3:5] += expected[:, 5:7]
    same_bits(seen(body, DATA)[1], expected)


def test_results_that_were_not_written_are_said() -> None:
    """A kernel for two programs run as one leaves half of its result as it was."""

    def kernel(x: Any) -> Any:
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm, name="out")
        half = nl.program_id(0) * 8
        nl.store(out[half : half + 8, :], value=nl.load(x[half : half + 8, :]))
        return out

    same_bits(nki.simulate(nki.jit(kernel)[2])(DATA), DATA)
    with pytest.warns(UninitialisedRead, match=r"result out\[8:16, :\] was never written"):
        nki.simulate(kernel)(DATA)
    with pytest.raises(NkiValidationError, match="never written"):
        nki.simulate(kernel, uninitialised="error")(DATA)
