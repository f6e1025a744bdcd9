"""Allocation: capacity, banks, addresses, reuse; and memory that nothing has written."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.nki.helpers import bits, f32

from lanewise import nki
from lanewise.nki import (
    MemoryCapacityError,
    MemoryWarning,
    NkiError,
    NkiValidationError,
    UninitialisedRead,
)
from lanewise.nki import isa as nisa
from lanewise.nki import language as nl


def run(body: Callable[[], Any], **options: Any) -> Any:
    """What a kernel without arguments leaves in the list that it gets."""
    kept: list[Any] = []
    nki.simulate(lambda: kept.append(body()), **options)()
    return kept[0]


def test_capacity_names_both_numbers_and_what_is_live() -> None:
    def body() -> None:
        first = nl.ndarray((128, 32768), dtype=nl.float32, name="scores")
        second = nl.ndarray((128, 8192), dtype=nl.float32, name="idx")
        nl.ndarray((128, 8546), dtype=nl.float32, name="more")
        del first, second

    with pytest.raises(MemoryCapacityError) as caught:
        run(body, target="trn1")
    assert re.fullmatch(
        r"ndarray buffer sbuf 198024 bytes per partition exceeds 196608 \(trn1\); "
        r"live: scores 131072, idx 32768 \(test_memory.py:\d+\)",
        str(caught.value),
    ), str(caught.value)


@pytest.mark.parametrize(
    ("target", "most"), [("trn1", 196608), ("inf2", 196608), ("trn2", 229376), ("trn3", 262144)]
)
def test_capacity_of_each_target(target: str, most: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run(lambda: nl.ndarray((128, most), dtype=nl.uint8), target=target)
        with pytest.raises(MemoryCapacityError, match=f"exceeds {most}"):
            run(lambda: nl.ndarray((128, most + 1), dtype=nl.uint8), target=target)


def test_trn2_above_what_the_vendor_documents_is_warned_about() -> None:
    with pytest.warns(MemoryWarning, match="the vendor documents 196608 as usable on trn2, of"):
        run(lambda: nl.ndarray((128, 200000), dtype=nl.uint8, name="x"), target="trn2")


def test_psum_banks() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(lambda: nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum))
    with pytest.warns(MemoryWarning, match="takes 2052 bytes of a psum partition, more than a ban"):
        run(lambda: nl.ndarray((128, 513), dtype=nl.float32, buffer=nl.psum))

    def body() -> None:
        live = [nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum) for _ in range(9)]
        del live

    with pytest.raises(MemoryCapacityError, match="buffer psum 18432 bytes per partition exceeds"):
        run(body)


def test_memory_is_given_back_when_the_last_view_dies() -> None:
    def body() -> set[int]:
        places = set()
        for _ in range(100):
            x = nl.ndarray((128, 32768), dtype=nl.float32)
            view = x[:, :8]
            del x
            places.add(view.storage.offset)
            del view
        return places

    assert run(body) == {0}


def test_a_fragmented_memory_says_so() -> None:
    def body() -> None:
        tiles = [nl.ndarray((128, 16384), dtype=nl.float32, name=f"t{n}") for n in range(4)]
        del tiles[2], tiles[0]
        nl.ndarray((128, 20000), dtype=nl.float32)

    with pytest.raises(MemoryCapacityError, match="80000 bytes per partition exceeds the largest"):
        run(body)


def test_addresses() -> None:
    def body() -> tuple[Any, ...]:
        x = nl.ndarray((32, 8), dtype=nl.float32, address=(64, 1024))
        return x.storage.partition, x.storage.offset, x.shape

    assert run(body) == (64, 1024, (32, 8))

    def overlapping() -> None:
        x = nl.ndarray((32, 8), dtype=nl.float32, name="x", address=(0, 64))
        y = nl.ndarray((32, 8), dtype=nl.float32, name="y", address=(16, 80))
        del x, y

    with pytest.warns(MemoryWarning, match=r"y at address \(16, 80\) overlaps x"):
        run(overlapping)
    for address in ((120, 0), (0, 262144 - 16), (0, 2), (-1, 0)):
        with pytest.raises(NkiError, match="ndarray address"):
            run(lambda address=address: nl.ndarray((32, 8), dtype=nl.float32, address=address))


def test_tiles_in_other_partitions_share_bytes() -> None:
    def body() -> tuple[int, int]:
        x = nl.ndarray((32, 8), dtype=nl.float32, address=(64, 0))
        y = nl.ndarray((64, 8), dtype=nl.float32)
        z = nl.ndarray((65, 8), dtype=nl.float32)
        del x
        return y.storage.offset, z.storage.offset

    assert run(body) == (0, 32)


@pytest.mark.parametrize("shape", [(8,), (), (4, 0)])
def test_shapes_that_are_no_tile(shape: Any) -> None:
    with pytest.raises(NkiError, match="ndarray shape"):
        run(lambda: nl.ndarray(shape, dtype=nl.float32))


def test_names_that_are_no_dtype_or_buffer() -> None:
    with pytest.raises(NkiError, match=r"unknown dtype 'float33'; did you mean 'float32'"):
        run(lambda: nl.ndarray((4, 8), dtype="float33"))
    with pytest.raises(
        NkiError,
        match=r"dtype float64 is not one .*, no type has 64 bits: convert",
    ):
        run(lambda: nl.ndarray((4, 8), dtype=np.float64))
    with pytest.raises(ValueError, match="unknown buffer 'sbuff'; did you mean 'sbuf'"):
        run(lambda: nl.ndarray((4, 8), dtype=nl.int8, buffer="sbuff"))


# Memory that nothing has written.


@pytest.mark.parametrize(
    ("dtype", "code"),
    [
        (nl.float32, 0x7FC00000),
        (nl.float16, 0x7E00),
        (nl.bfloat16, 0x7FC0),
        (nl.float8_e4m3, 0x7C),
        (nl.float8_e4m3fn, 0x7F),
        (nl.float8_e5m2, 0x7E),
        (nl.int32, 4),
        (nl.uint8, 4),
        (nl.int16, 4),
    ],
)
@pytest.mark.parametrize("buffer", [nl.sbuf, nl.shared_hbm])
def test_what_fresh_memory_reads_as(dtype: Any, code: int, buffer: Any) -> None:
    assert (
        run(lambda: nl.ndarray((4, 8), dtype=dtype, buffer=buffer).codes().copy()) == code
    ).all()


def test_the_first_read_of_unwritten_bytes_is_said() -> None:
    def body() -> None:
        data = nl.ndarray((4, 16), dtype=nl.float32, name="data")
        vals, dst = nl.zeros((4, 8), dtype=nl.float32), nl.ndarray((4, 8), dtype=nl.uint32)
        nisa.memset(dst=data[:, 0:12], value=1.0)
        for _ in range(2):
            nisa.nc_find_index8(dst=dst, data=data, vals=vals)

    with pytest.warns(UninitialisedRead) as caught:
        run(body)
    assert len(caught) == 1
    assert re.fullmatch(
        r"nc_find_index8 data\[:, 12:16\] was never written \(allocated test_memory.py:\d+\)",
        str(caught[0].message),
    )
    assert caught[0].filename == __file__


def test_each_unwritten_byte_is_said_once() -> None:
    def body() -> None:
        x = nl.ndarray((4, 16), dtype=nl.float32)
        y = nl.ndarray((4, 8), dtype=nl.float32)
        nisa.tensor_copy(dst=y, src=x[:, :8])
        nisa.tensor_copy(dst=y, src=x[:, 4:12])

    with pytest.warns(UninitialisedRead) as caught:
        run(body)
    assert [str(warning.message).split(" was")[0] for warning in caught] == [
        "tensor_copy src[:, :]",
        "tensor_copy src[:, 4:8]",
    ]


def test_unwritten_reads_as_errors_or_not_at_all() -> None:
    def body() -> None:
        nisa.tensor_copy(
            dst=nl.ndarray((4, 8), dtype=nl.int32), src=nl.ndarray((4, 8), dtype=nl.float32)
        )

    with pytest.raises(NkiValidationError, match=r"tensor_copy src\[:, :\] was never written"):
        run(body, uninitialised="error")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(body, uninitialised="ignore")
    with pytest.raises(ValueError, match="unknown value for uninitialised 'wran'; did you mean"):
        nki.simulate(body, uninitialised="wran")


@pytest.mark.parametrize(
    ("write", "unwritten"),
    [
        (lambda x, p: nisa.tensor_copy_predicated(x, 1.0, p), "[0:2, 2:4]"),
        (lambda x, p: nisa.tensor_copy_predicated(x, 1.0, p, reverse_pred=True), "[:, :]"),
        (lambda x, p: nisa.tensor_copy_predicated(x, nl.zeros_like(x), p), "[0:2, 2:4]"),
        (lambda x, p: nisa.select_reduce(x, p, nl.zeros_like(x), 0.0), None),
        (lambda x, p: nisa.tensor_copy(x[:, ::2], nl.zeros((4, 2), dtype=nl.float32)), "[:, 1:4]"),
        (lambda x, p: nisa.tensor_copy(x.ap([[4, 4], [-1, 4]], offset=3), nl.zeros_like(x)), None),
    ],
)
def test_what_counts_as_written(write: Any, unwritten: str | None) -> None:
    predicate = np.ones((4, 4), np.uint8)
    predicate[0:2, 2:4] = 0

    def kernel(given: Any) -> None:
        p = nl.ndarray((4, 4), dtype=nl.uint8)
        nisa.dma_copy(dst=p, src=given)
        x = nl.ndarray((4, 4), dtype=nl.float32)
        write(x, p)
        nisa.tensor_copy(dst=nl.ndarray((4, 4), dtype=nl.float32), src=x)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        nki.simulate(kernel)(predicate)
    reads = [str(w.message) for w in caught if issubclass(w.category, UninitialisedRead)]
    if unwritten is None:
        assert not reads
    else:
        assert len(reads) == 1
        assert reads[0].startswith(f"tensor_copy src{unwritten} was never written")


def test_unwritten_hbm_is_said_too() -> None:
    def body() -> None:
        nisa.dma_copy(
            dst=nl.ndarray((4, 8), dtype=nl.float32),
            src=nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.private_hbm),
        )

    with pytest.warns(UninitialisedRead, match=r"dma_copy src\[:, :\] was never written"):
        run(body)


def test_partitions_between_the_sixteenth_are_not_read() -> None:
    def body() -> None:
        src = nl.ndarray((128, 4), dtype=nl.int32)
        for row in range(0, 128, 16):
            nisa.memset(dst=src[row], value=1)
        dst = nl.ndarray((128, 5), dtype=nl.int32)
        nisa.nonzero_with_count(dst, src)
        nisa.dma_copy(dst=nl.ndarray((1, 5), dtype=nl.int32, buffer=nl.shared_hbm), src=dst[16])

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(body)


def test_arguments_are_written() -> None:
    def kernel(x: Any) -> None:
        nisa.dma_copy(dst=nl.ndarray((1, 2), dtype=nl.float32), src=x)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nki.simulate(kernel)(f32(1, 2))
    assert bits(0).dtype == np.float32
