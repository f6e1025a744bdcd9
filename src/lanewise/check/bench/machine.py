"""Rows about the machine: single instructions, programs, decoding, importing."""

from __future__ import annotations

import subprocess
import sys
import time
from random import Random
from typing import Any

import numpy as np

from lanewise.check.bench.kernels import POLICY, Tiles
from lanewise.check.bench.measure import spread_of
from lanewise.check.bench.result import Result
from lanewise.formats import FORMATS, FP32
from lanewise.model import Observer
from lanewise.neuron import NeuronCore, check, check_words, walk
from lanewise.neuron.instructions import BY_OPCODE

_CAST, _COPY_PREDICATED, _FILL, _MAX8 = (BY_OPCODE[code] for code in (0x47, 0x72, 0xE8, 0x6C))


def cast_word(lanes: int, elements: int, at: int = 0) -> bytes:
    """A CAST of FP32 to BFLOAT16, in the SBUF of the default core."""
    return _CAST(
        src=walk(at, (1, elements)),
        dst=walk(0x20000 + at, (1, elements)),
        in_dtype="FP32",
        out_dtype="BFLOAT16",
        num_active_channels=lanes,
    ).to_bytes()


def one_instruction(tiles: Tiles) -> list[Result]:
    """A prebuilt instruction of one element, alone and in a list."""
    core = NeuronCore(engine=tiles.kernels.__name__.rpartition(".")[2])
    alone = core.prepare(cast_word(1, 1))
    one, other = np.zeros((1, 1), np.float32), np.ones((1, 1), np.float32)
    ours, theirs = tiles.clock.times(alone.run, lambda: np.copyto(one, other))
    ratio = spread_of([a / b for a, b in zip(ours, theirs, strict=True)])
    many = core.prepare([cast_word(1, 1, 4 * k) for k in range(1000)])
    listed = tiles.clock.time(many.run).scaled(1e6 / 1000)
    return [
        Result("one-instruction", "prebuilt 1x1 cast, times np.copyto of 1x1", "x", ratio, False),
        Result("one-in-a-list", "the same in a list of 1000", "us", listed, False),
    ]


def program(tiles: Tiles) -> list[Result]:
    """10,000 prebuilt instructions of 16 lanes and 16 elements, of four kinds."""
    core = NeuronCore(engine=tiles.kernels.__name__.rpartition(".")[2])
    core.sbuf.data[:16, :0x8000] = np.random.default_rng(0).integers(0, 256, 0x8000, np.uint8)
    words = []
    for k in range(10_000):
        at, to = 64 * (k % 256), 0x20000 + 64 * (k % 251)
        predicate, tile = walk(0x10000 + 16 * (k % 64), (1, 16)), walk(at, (1, 16))
        words.append(
            (
                cast_word(16, 16, at),
                _COPY_PREDICATED(
                    predicate=predicate, data=tile, dst=walk(to, (1, 16)),
                    predicate_dtype="INT8", data_dtype="FP32", out_dtype="FP32",
                    num_active_channels=16,
                ).to_bytes(),
                _FILL(
                    predicate=predicate, dst=walk(to, (1, 16)), scalar=k, predicate_dtype="INT8",
                    in_dtype="FP32", out_dtype="FP32", num_active_channels=16,
                ).to_bytes(),
                _MAX8(
                    src=tile, dst=walk(to, (1, 8)), in_dtype="FP32", out_dtype="FP32",
                    num_active_channels=16,
                ).to_bytes(),
            )[k % 4]
        )  # fmt: skip
    ready = core.prepare(words)
    rate = tiles.clock.time(ready.run).inverted(len(words))
    again = tiles.clock.time(lambda: core.run(words)).inverted(len(words))
    casts = core.prepare([cast_word(16, 16, 64 * (k % 256)) for k in range(10_000)])
    only = tiles.clock.time(casts.run).inverted(10_000)
    return [
        Result("program", "10,000 prebuilt 16x16 instructions, four kinds", "/s", rate, True,
               {"not prebuilt": again.median, "only casts": only.median})
    ]  # fmt: skip


def pitched(tiles: Tiles) -> list[Result]:
    """A cast in the machine: rows a partition apart, where contiguous tiles are kinder."""
    core = NeuronCore("mariana", engine=tiles.kernels.__name__.rpartition(".")[2])
    core.sbuf.data[:, : 4 * 16384] = tiles.source.view(np.uint8)
    ready = core.prepare(cast_word(128, 16384))
    value = tiles.bandwidth(ready.run, 6 * tiles.source.size)
    small = core.prepare(cast_word(128, 64))
    spent = tiles.clock.time(small.run).scaled(1e6)
    return [
        Result("machine-cast", "CAST FP32 to BF16, 128x16384 in SBUF", "x", value, True),
        Result("machine-cast-small", "CAST FP32 to BF16, 128x64 in SBUF", "us", spent, False),
    ]


class _Keeper(Observer):
    """What a trace needs at the least: each word, and the bytes that it replaced and wrote."""

    def __init__(self, words: int, partitions: int, columns: slice) -> None:
        self._place = slice(0, partitions), columns
        # Room made once, as a trace that is written out in pieces has it.
        self._room = np.zeros((words, 2, partitions, columns.stop - columns.start), np.uint8)
        self._words = [b""] * words

    def before_legality(self, machine: Any, index: int, word: bytes) -> None:
        self._words[index] = word
        np.copyto(self._room[index, 0], machine.sbuf.data[self._place])

    def after_commit(self, machine: Any, index: int, instruction: Any) -> None:
        np.copyto(self._room[index, 1], machine.sbuf.data[self._place])


def observed(tiles: Tiles) -> list[Result]:
    """Instructions on tiles of 128x512, watched and not."""
    engine = tiles.kernels.__name__.rpartition(".")[2]
    alone, watched = NeuronCore(engine=engine), NeuronCore(engine=engine)
    words = [cast_word(128, 512)] * 16
    watched.attach(_Keeper(len(words), 128, slice(0x20000, 0x20000 + 2 * 512)))
    ours, theirs = tiles.clock.times(lambda: watched.run(words), lambda: alone.run(words))
    ratio = spread_of([a / b for a, b in zip(ours, theirs, strict=True)])
    what = "casts of 128x512, kept by an observer, times unobserved"
    return [Result("observed", what, "x", ratio, False)]


def decode_and_check(tiles: Tiles) -> list[Result]:
    """Words from bytes, decoded and checked: in bulk, and one by one with all that is wrong."""
    from lanewise.check.generators import legal_word

    rng, core = Random(0), NeuronCore()
    words = [
        legal_word(kind, core.generation, core.profile, rng).to_bytes()
        for kind in BY_OPCODE.values()
        for _ in range(30)
    ]
    single = tiles.clock.time(lambda: [check(word) for word in words]).inverted(len(words))
    count = 1 << 17
    many = b"".join(rng.choices(words, k=count))
    bulk = tiles.clock.time(lambda: check_words(many).tally()).inverted(count)
    return [
        Result("decode-and-check", "random legal words from bytes, in bulk", "/s", bulk, True),
        Result("decode-and-check-single", "the same one by one", "/s", single, True),
    ]


def all_fp32(tiles: Tiles) -> list[Result]:
    """All FP32 inputs through the slowest of three casts, from a part of them."""
    part = 1 << 22
    codes = np.arange(part, dtype=np.uint32).reshape(1, -1) * np.uint32((1 << 32) // part)
    seconds = {}
    for name in ("BF16", "FP16", "E4M3"):
        size = 1 if name == "E4M3" else 2
        result = np.zeros(codes.shape, f"u{size}")
        conversion = tiles.kernels.conversion(FP32, FORMATS[name], POLICY)
        call = tiles.step("cast_rows", result, codes, conversion)
        seconds[name] = tiles.clock.time(call).scaled((1 << 32) / part)
    slowest = max(seconds, key=lambda name: seconds[name].median)
    medians = {name: spread.median for name, spread in seconds.items()}
    return [
        Result("all-fp32", "all 2^32 FP32 inputs through one cast", "s", seconds[slowest], False,
               medians)
    ]  # fmt: skip


def importing(tiles: Tiles) -> list[Result]:
    """``import lanewise`` against ``import numpy``, each in a fresh interpreter."""
    ours: list[float] = []
    theirs: list[float] = []
    bare: list[float] = []
    for _ in range(max(5, tiles.clock.turns)):
        for module, times in (("sys", bare), ("lanewise", ours), ("numpy", theirs)):
            command = [sys.executable, "-c", f"import {module}"]
            start = time.perf_counter()
            subprocess.run(command, check=True)
            times.append(time.perf_counter() - start)
    start_up = min(bare)
    ratio = spread_of([(a - start_up) / (b - start_up) for a, b in zip(ours, theirs, strict=True)])
    return [Result("import", "import lanewise, times import numpy", "x", ratio, False)]
