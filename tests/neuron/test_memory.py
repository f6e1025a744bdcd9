"""Memories as typed arrays: bits in, bits out, and nothing stored where a request is refused."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import ml_dtypes
import numpy as np
import pytest
from tests.neuron import oracle
from tests.neuron.twins import options

from lanewise.errors import UsageError
from lanewise.neuron import NeuronCore, Profile

NATURAL = {
    "INT8": np.int8,
    "UINT8": np.uint8,
    "INT16": np.int16,
    "UINT16": np.uint16,
    "INT32": np.int32,
    "UINT32": np.uint32,
    "FP16": np.float16,
    "FP32": np.float32,
    "FP32R": np.float32,
    "INT64": np.int64,
    "UINT64": np.uint64,
}
CODES = {"BFLOAT16": np.uint16, "FP8_EXP3": np.uint8, "FP8_EXP4": np.uint8, "FP8_EXP5": np.uint8}
ML_DTYPES = {
    "BFLOAT16": ml_dtypes.bfloat16,
    "FP8_EXP3": ml_dtypes.float8_e3m4,
    "FP8_EXP4": ml_dtypes.float8_e4m3,
    "FP8_EXP5": ml_dtypes.float8_e5m2,
}
DTYPE_CODES = {"BFLOAT16": 6, "FP16": 7, "FP32": 0xA, "FP8_EXP3": 0xD, "FP8_EXP4": 0xE}
DTYPE_CODES |= {"FP8_EXP5": 0xF, "INT8": 2, "UINT8": 3, "INT16": 4, "UINT16": 5}
DTYPE_CODES |= {"INT32": 8, "UINT32": 9}


@pytest.fixture
def core() -> NeuronCore:
    return NeuronCore("cayman")


def random_bits(kind: type, shape: tuple[int, ...]) -> np.ndarray:
    rng = np.random.default_rng(len(shape))
    size = np.dtype(kind).itemsize
    return rng.integers(0, 256, (*shape, size), np.uint8).view(kind).reshape(shape)


@pytest.mark.parametrize(("dtype", "kind"), [*NATURAL.items(), *CODES.items()])
def test_bits_come_back_as_they_went_in(core: NeuronCore, dtype: str, kind: type) -> None:
    array = random_bits(kind, (3, 5, 7))
    size = array.itemsize
    core.sbuf.write(9, 8 * size, array, dtype)
    back = core.sbuf.read(9, 8 * size, (3, 5, 7), dtype)
    assert back.dtype == np.dtype(kind)
    assert back.tobytes() == array.tobytes()
    row = core.sbuf.data[9, 8 * size : 8 * size + array.nbytes]
    assert row.tobytes() == array.astype(array.dtype.newbyteorder("<")).tobytes()
    assert np.count_nonzero(core.sbuf.data) == np.count_nonzero(row)


@pytest.mark.parametrize(("dtype", "kind"), [*NATURAL.items(), *CODES.items()])
def test_tiles_keep_one_partition_a_row(core: NeuronCore, dtype: str, kind: type) -> None:
    array = random_bits(kind, (4, 6))
    core.psum.write_tile(16, array, dtype, start_partition=124)
    back = core.psum.read_tile(16, 6, dtype, start_partition=124)
    assert back.shape == (4, 6)
    assert back.tobytes() == array.tobytes()
    for row in range(4):
        assert core.psum.read(124 + row, 16, 6, dtype).tobytes() == array[row].tobytes()


@pytest.mark.parametrize(("dtype", "kind"), list(ML_DTYPES.items()))
def test_arrays_of_ml_dtypes_hold_the_bits_themselves(core, dtype: str, kind: type) -> None:
    codes = np.arange(np.dtype(kind).itemsize * 100, dtype=CODES[dtype])
    core.sbuf.write(0, 0, codes.view(kind), dtype)
    assert np.array_equal(core.sbuf.read(0, 0, codes.shape, dtype), codes)
    every_other = codes.view(kind)[::-2]
    core.sbuf.write(1, 0, every_other, dtype)
    assert np.array_equal(core.sbuf.read(1, 0, every_other.shape, dtype), codes[::-2])


@pytest.mark.parametrize(("dtype", "kind"), [*NATURAL.items(), *CODES.items()])
def test_byte_order_and_strides_of_the_input_do_not_matter(core, dtype: str, kind: type) -> None:
    array = random_bits(kind, (6, 8))
    big = array.astype(array.dtype.newbyteorder(">"))
    for given in (big, np.asfortranarray(array), np.repeat(array, 2, axis=1)[:, ::2]):
        core.sbuf.data[0, :1024] = 0x5A
        core.sbuf.write(0, 0, given, dtype)
        assert core.sbuf.read(0, 0, (6, 8), dtype).tobytes() == array.tobytes()
        core.sbuf.write_tile(512, given, dtype)
        assert core.sbuf.read_tile(512, 8, dtype, partitions=6).tobytes() == array.tobytes()
    core.sbuf.write(0, 0, array.T, dtype)
    assert core.sbuf.read(0, 0, (8, 6), dtype).tobytes() == array.T.tobytes()
    core.sbuf.write(0, 0, array[:, ::-1], dtype)
    assert core.sbuf.read(0, 0, (6, 8), dtype).tobytes() == array[:, ::-1].tobytes()


def test_unsigned_codes_of_the_width_are_bits_of_any_dtype(core: NeuronCore) -> None:
    codes = np.array([0x7FC01234, 0x80000000, 1], np.uint32)
    core.sbuf.write(0, 0, codes, "FP32")
    assert core.sbuf.read(0, 0, 3, "FP32").view(np.uint32).tolist() == codes.tolist()
    core.sbuf.write(0, 0, codes.astype(np.uint16), "FP16")
    assert core.sbuf.read(0, 0, 3, "FP16").view(np.uint16).tolist() == [0x1234, 0, 1]


def test_reading_gives_copies(core: NeuronCore) -> None:
    core.sbuf.read(0, 0, 4, "UINT8")[:] = 9
    core.sbuf.read_tile(0, 4, "FP32")[:] = 9
    core.sbuf.values(0, 0, 4, "FP32")[:] = 9
    assert not core.sbuf.data.any()


@pytest.mark.parametrize("dtype", [*CODES, "FP16", "FP32", "INT8", "UINT16", "INT32", "UINT32"])
@pytest.mark.parametrize("profile", [Profile.ISA, Profile.HARDWARE], ids=["isa", "hardware"])
def test_values_and_convert_are_the_profiles_conversion(dtype: str, profile: Profile) -> None:
    core = NeuronCore("cayman", profile)
    numbers = [0.0, -0.0, 1.0, -1.5, 2.5, 3.5, 300.0, 1e5, -1e30, np.inf, -np.inf, np.nan, 1e-7]
    numbers = np.array(numbers, np.float32)
    core.sbuf.write(3, 64, numbers, dtype, convert=True)
    settings = tuple(sorted(options(profile).items()))
    code = DTYPE_CODES[dtype]
    expected = [oracle.encode(code, int(bits), settings) for bits in numbers.view(np.uint32)]
    carrier = {1: np.uint8, 2: np.uint16, 4: np.uint32}[oracle.layout.SIZE[code]]
    stored = core.sbuf.read(3, 64, len(numbers), dtype).view(carrier)
    assert stored.tolist() == expected
    decoded = core.sbuf.values(3, 64, len(numbers), dtype)
    assert decoded.dtype == np.float32
    hubs = [oracle.hub(code, bits, settings) for bits in expected]
    assert decoded.view(np.uint32).tolist() == hubs


def test_whole_numbers_and_booleans_convert_too(core: NeuronCore) -> None:
    core.sbuf.write(0, 0, [1, -2, 3], "BFLOAT16", convert=True)
    assert core.sbuf.read(0, 0, 3, "BFLOAT16").tolist() == [0x3F80, 0xC000, 0x4040]
    core.sbuf.write(0, 0, np.array([True, False]), "FP32", convert=True)
    assert core.sbuf.read(0, 0, 2, "FP32").tolist() == [1.0, 0.0]


@pytest.mark.parametrize("shape", [(0,), (0, 4), (4, 0)])
@pytest.mark.parametrize("dtype", ["FP32", "UINT8", "BFLOAT16"])
def test_empty_arrays_store_nothing_and_read_back_empty(core, dtype: str, shape) -> None:
    kind = {"FP32": np.float32, "UINT8": np.uint8, "BFLOAT16": np.uint16}[dtype]
    for convert in (False, True):
        core.sbuf.write(0, 8, np.zeros(shape, kind), dtype, convert=convert)
        core.sbuf.write_tile(8, np.zeros(shape, kind), dtype, convert=convert)
    assert core.sbuf.read(0, 8, shape, dtype).shape == shape
    assert core.sbuf.read_tile(8, shape, dtype, partitions=2).shape == (2, *shape)
    assert core.sbuf.read_tile(8, shape, dtype, partitions=0).shape == (0, *shape)
    end = core.sbuf.bytes_per_partition
    assert core.sbuf.read(127, end, 0, dtype).shape == (0,)


def test_a_single_number_is_an_array_of_one_for_write_and_no_tile(core: NeuronCore) -> None:
    core.sbuf.write(0, 4, np.float32(1.0), "FP32")
    assert core.sbuf.read(0, 4, (), "FP32") == 1.0
    for convert in (False, True):
        with pytest.raises(UsageError) as caught:
            core.sbuf.write_tile(0, np.float32(2.0), "FP32", convert=convert)
        message = "a tile needs a first axis for its partitions, not a single number"
        assert str(caught.value) == message


MISFITS = [
    (
        lambda m: m.write(0, 0, np.zeros(2, np.float64), "FP32"),
        "an array of float64 does not hold FP32 bits (expected float32); pass convert=True to "
        "round numbers to the dtype",
    ),
    (
        lambda m: m.write(0, 0, np.zeros(2, np.float64), "BFLOAT16"),
        "an array of float64 does not hold BFLOAT16 bits (expected uint16 codes); pass "
        "convert=True to round numbers to the dtype",
    ),
    (
        lambda m: m.write(0, 0, np.zeros(2, np.float16), "BFLOAT16"),
        "an array of float16 does not hold BFLOAT16 bits (expected uint16 codes); pass "
        "convert=True to round numbers to the dtype",
    ),
    (
        lambda m: m.write(0, 0, np.zeros(2, np.int8), "FP8_EXP4"),
        "an array of int8 does not hold FP8_EXP4 bits (expected uint8 codes); pass convert=True "
        "to round numbers to the dtype",
    ),
    (
        lambda m: m.write(0, 0, np.zeros(2, ml_dtypes.float8_e5m2), "FP8_EXP4"),
        "an array of float8_e5m2 does not hold FP8_EXP4 bits (expected uint8 codes); pass "
        "convert=True to round numbers to the dtype",
    ),
    (
        lambda m: m.write(0, 0, ["a"], "FP32", convert=True),
        "only numbers convert to FP32, not <U1",
    ),
    (
        lambda m: m.write(0, 0, [1 + 2j], "FP32", convert=True),
        "only numbers convert to FP32, not complex128",
    ),
    (
        lambda m: m.write(0, 0, [1.0], "INT64", convert=True),
        "only numbers convert to INT64, not float64",
    ),
    (
        lambda m: m.write(128, 0, np.zeros(2, np.float32), "FP32"),
        "partitions 128..128 are not all inside 0..127",
    ),
    (
        lambda m: m.write(-1, 0, np.zeros(2, np.float32), "FP32"),
        "partitions -1..-1 are not all inside 0..127",
    ),
    (
        lambda m: m.write_tile(0, np.zeros((3, 2), np.float32), "FP32", start_partition=126),
        "partitions 126..128 are not all inside 0..127",
    ),
    (
        lambda m: m.write(0, 0x37FFC, np.zeros(2, np.float32), "FP32"),
        "bytes 0x37ffc..0x38003 are not all inside the 0x38000 bytes of a sbuf partition of cayman",
    ),
    (
        lambda m: m.write(0, 2, np.zeros(2, np.float32), "FP32"),
        "offset 0x2 is not aligned to the element size of 4 bytes",
    ),
    (
        lambda m: m.read(0, 0x38000, 1, "UINT8"),
        "bytes 0x38000..0x38000 are not all inside the 0x38000 bytes of a sbuf partition of cayman",
    ),
    (
        lambda m: m.read(0, 1, 1, "FP16"),
        "offset 0x1 is not aligned to the element size of 2 bytes",
    ),
    (lambda m: m.read(0, 0, (2, -1), "FP16"), "a shape has no negative extents, not (2, -1)"),
    (lambda m: m.read_tile(0, 2, "FP16", start_partition=120, partitions=9), None),
    (lambda m: m.read(0, -4, 1, "FP32"), None),
    (lambda m: m.values(200, 0, 1, "FP32"), None),
    (lambda m: m.write(0, 0, [1.0], "FP33", convert=True), None),
    (lambda m: m.write(0, 0, [1.0], "INVALID", convert=True), None),
]


@pytest.mark.parametrize(("request_", "message"), MISFITS)
def test_refused_requests_say_why_and_store_nothing(core, request_, message) -> None:
    core.sbuf.data[:, :64] = np.arange(64, dtype=np.uint8)
    core.sbuf.data[:, -64:] = 0xA5
    before = core.sbuf.data[:, :64].copy(), core.sbuf.data[:, -64:].copy()
    with pytest.raises(UsageError) as caught:
        request_(core.sbuf)
    if message is not None:
        assert str(caught.value) == message
    assert np.array_equal(core.sbuf.data[:, :64], before[0])
    assert np.array_equal(core.sbuf.data[:, -64:], before[1])


def test_numbers_beyond_fp32_convert_as_infinity_without_a_warning(core: NeuronCore) -> None:
    core.sbuf.write(0, 0, [1e300, -1e300], "FP32", convert=True)
    assert core.sbuf.read(0, 0, 2, "FP32").tolist() == [np.inf, -np.inf]


def test_maverick_has_no_psum() -> None:
    with pytest.raises(UsageError, match="maverick has no PSUM"):
        _ = NeuronCore("maverick").psum


def test_a_new_core_takes_no_memory_until_it_is_written() -> None:
    script = """
        import resource
        from lanewise.neuron import NeuronCore
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        cores = [NeuronCore("maverick") for _ in range(20)]
        assert all(core.sbuf.data.nbytes == 64 << 20 for core in cores)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 20 * 1024, "kilobytes taken by twenty cores of 64 MiB"
