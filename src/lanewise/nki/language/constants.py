"""Buffers, tile sizes and numeric limits that kernels read, also while they are imported."""

from __future__ import annotations

from lanewise.nki.context import active
from lanewise.nki.targets import Target, find_target


class MemoryRegion(str):
    """A buffer: its name, also callable with the older world's allocation functions in mind."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"nl.{self}"


sbuf = MemoryRegion("sbuf")
psum = MemoryRegion("psum")
hbm = MemoryRegion("hbm")
private_hbm = MemoryRegion("private_hbm")
shared_hbm = MemoryRegion("shared_hbm")

BUFFERS = (sbuf, psum, hbm, private_hbm, shared_hbm)


def _target() -> Target:
    run = active()
    return find_target() if run is None else run.machine.target


class _TileSize:
    """Limits of tiles; those of SBUF are the running kernel's target's, else the default's."""

    pmax = 128
    psum_fmax = 512
    psum_bank_fmax = 512
    psum_bank_fmax_bytes = 2048
    psum_num_banks = 8
    gemm_stationary_fmax = 128
    gemm_moving_fmax = 512
    bn_stats_fmax = 512

    @property
    def sbuf_size_bytes(self) -> int:
        """SBUF bytes a partition that the vendor documents as usable."""
        return _target().usable_bytes

    @property
    def sbuf_fmax_bytes(self) -> int:
        """As ``sbuf_size_bytes``."""
        return _target().usable_bytes

    @property
    def sbuf_fmax(self) -> int:
        """FP32 elements that fit."""
        return _target().usable_bytes // 4

    @property
    def total_available_sbuf_size(self) -> int:
        """As ``sbuf_size_bytes``."""
        return _target().usable_bytes


tile_size = _TileSize()


class _Fp32:
    """Limits of FP32."""

    min = -3.4028234663852886e38
    max = 3.4028234663852886e38
    eps = 2.0**-23


fp32 = _Fp32()
