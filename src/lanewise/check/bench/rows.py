"""All rows of the benchmark by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from lanewise.check.bench import kernels, machine, tiles
from lanewise.check.bench.kernels import FP8, Tiles, cast_row
from lanewise.check.bench.result import Result
from lanewise.check.bench.torch_peers import torch_peers
from lanewise.errors import unknown_name

Measure = Callable[[Tiles], list[Result]]


@dataclass(frozen=True, slots=True)
class Row:
    """What is measured together: the names of its results, and how they are found."""

    names: tuple[str, ...]
    find: Measure

    def measure(self, data: Tiles) -> list[Result]:
        """The results, each with its peers."""
        return [
            replace(result, peers=result.peers | torch_peers(result.name, data))
            for result in self.find(data)
        ]


def _rows() -> list[Row]:
    to_fp32 = [(name, "FP32") for name in (*FP8, "INT8", "UINT8")]
    from_16 = [(a, b) for a in ("FP16", "BF16", "INT16", "UINT16")
               for b in ("FP32", "BF16", "FP16", "E4M3", "INT8") if a != b]  # fmt: skip
    return [
        Row(("cast-bf16",), cast_row("cast-bf16", "FP32 to BF16", ("FP32", "BF16"))),
        Row(("cast-fp16",), cast_row("cast-fp16", "FP32 to FP16", ("FP32", "FP16"))),
        Row(("cast-int8",), cast_row("cast-int8", "FP32 to INT8", ("FP32", "INT8"))),
        Row(("cast-fp8",), cast_row("cast-fp8", "FP32 to FP8", *[("FP32", f) for f in FP8])),
        Row(("cast-fp8-peer",), kernels.cast_fp8_peer),
        Row(("cast-from-8",), cast_row("cast-from-8", "8 bits to FP32", *to_fp32)),
        Row(("cast-from-16",), cast_row("cast-from-16", "16 bits to any", *from_16)),
        Row(("merge-int8", "merge-int8-peer"), kernels.merge_row("merge-int8", "uint8")),
        Row(("merge-int32", "merge-int32-peer"), kernels.merge_row("merge-int32", "uint32")),
        Row(("fill",), kernels.fill),
        Row(("merge-strided", "cast-strided"), kernels.strided),
        Row(("top8", "top8-order", "top8-peer"), kernels.top8),
        Row(("find8", "replace8"), kernels.searches),
        Row(("pto-compare",), tiles.compare),
        Row(("pto-select",), tiles.select),
        Row(("bit-transpose",), tiles.transpose),
        Row(("one-instruction", "one-in-a-list"), machine.one_instruction),
        Row(("program",), machine.program),
        Row(("observed",), machine.observed),
        Row(("machine-cast", "machine-cast-small"), machine.pitched),
        Row(("decode-and-check", "decode-and-check-single"), machine.decode_and_check),
        Row(("all-fp32",), machine.all_fp32),
        Row(("import",), machine.importing),
    ]


ROWS: Final[Mapping[str, Row]] = MappingProxyType(
    {name: row for row in _rows() for name in row.names}
)
"""Rows by the names of their results."""


def choose_rows(names: Sequence[str]) -> list[Row]:
    """The rows with results called ``names``, in order; all of them for none.

    UsageError for a name that no result has.
    """
    for name in names:
        if name not in ROWS:
            raise unknown_name("row", name, ROWS)
    chosen = (row for name, row in ROWS.items() if not names or name in names)
    return list({id(row): row for row in chosen}.values())
