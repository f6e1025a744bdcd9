"""What is around a process has no say: control registers, and which vector unit is there."""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from tests.kernels.test_convert import HARDWARE, ISA, TARGETS, special_bits

from lanewise.formats import FORMATS, Format
from lanewise.kernels import available_engines, reference, select_engine
from lanewise.kernels.arrays import code_dtype

pytestmark = pytest.mark.skipif(
    "native" not in available_engines(), reason="the compiled kernels are not built"
)

# Single precision's smallest numbers are where flushing to zero would show.
_FLUSH_TO_ZERO, _SUBNORMALS_ARE_ZERO = 1 << 15, 1 << 6
_UPWARD, _DOWNWARD, _TOWARD_ZERO = 2 << 13, 1 << 13, 3 << 13
_ROUNDING = 3 << 13


def some_codes(source: Format) -> Any:
    """All codes of up to 16 bits; of 32 bits special ones and random ones, odd in number."""
    if source.width <= 16:
        return np.arange(1 << source.width, dtype=code_dtype(source))
    random = np.random.default_rng(3).integers(0, 1 << 32, 50_001, dtype=np.uint32)
    subnormal = random & np.uint32(0x807F_FFFF)
    return np.concatenate([special_bits(), random, subnormal])


def expected() -> dict[tuple[str, str, str], Any]:
    """What the twin makes of some codes, by source, target and policy."""
    found = {}
    for source in (FORMATS[name] for name in ("FP32", "FP16", "BF16", "INT16", "UINT16", "INT32")):
        codes = some_codes(source)
        for target in TARGETS:
            for name, policy in (("isa", ISA), ("hardware", HARDWARE)):
                key = (source.name, f"{target.name}-{target.mantissa_bits}", name)
                found[key] = (
                    source,
                    target,
                    policy,
                    reference.convert(codes, source, target, policy),
                )
    return found


def disagreements(wanted: dict[tuple[str, str, str], Any]) -> list[tuple[str, str, str]]:
    """The pairs for which the compiled kernels give something else."""
    kernels: Any = select_engine("native")
    inputs = {source.name: some_codes(source) for source, *_ in wanted.values()}
    got = {
        key: kernels.convert(inputs[source.name], source, target, policy)
        for key, (source, target, policy, _) in wanted.items()
    }
    return [key for key, codes in got.items() if not np.array_equal(codes, wanted[key][-1])]


@contextmanager
def control(bits: int) -> Iterator[None]:
    """Set bits of the vector unit's control register; glibc keeps it in a fenv_t at byte 28."""
    library = ctypes.CDLL("libm.so.6")
    saved, changed = ctypes.create_string_buffer(32), ctypes.create_string_buffer(32)
    assert library.fegetenv(saved) == 0
    changed.raw = saved.raw
    (register,) = struct.unpack_from("<I", saved, 28)
    struct.pack_into("<I", changed, 28, (register & ~_ROUNDING) | bits)
    assert library.fesetenv(changed) == 0
    try:
        yield
    finally:
        assert library.fesetenv(saved) == 0


@pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64") or platform.libc_ver()[0] != "glibc",
    reason="knows the control register of x86-64 under glibc",
)
@pytest.mark.parametrize(
    "bits",
    [_FLUSH_TO_ZERO | _SUBNORMALS_ARE_ZERO, _UPWARD, _DOWNWARD, _TOWARD_ZERO],
    ids=["flush", "upward", "downward", "toward zero"],
)
def test_the_control_register_has_no_say(bits: int) -> None:
    wanted = expected()
    with control(bits):
        # The register is really set: the sum of a large and a small number shows the rounding.
        third = np.float32(1) + np.float32(2.0**-25) > np.float32(1)
        tiny = np.uint32(1).view(np.float32) * np.float32(2)
        wrong = disagreements(wanted)
    assert third == (bits == _UPWARD)
    assert (tiny == 0) == bool(bits & _FLUSH_TO_ZERO)
    assert wrong == []


def test_the_portable_loops_agree() -> None:
    program = (
        "from tests.kernels.test_environment import *\n"
        "from lanewise.kernels import _native\n"
        "assert not _native.HAS_AVX512\n"
        "print(disagreements(expected()))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"LANEWISE_PORTABLE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.stdout, ran.stderr, ran.returncode) == ("[]\n", "", 0)
