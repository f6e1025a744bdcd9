"""What --load and --dump say for the PTO machine: arrays in files, tiles on hands."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lanewise.cli.support.options import parse_number
from lanewise.cli.support.output import Output, check_target, written_file
from lanewise.cli.support.placement import about, read_array
from lanewise.errors import UsageError
from lanewise.pto import DataType, Hand, Kind, Layout, PtoCore, Tile, TileName

LOAD_FORM: Final = "FILE.npy@HAND:TYPE[:LAYOUT][:ROWSxCOLS]"
DUMP_FORM: Final = "TILE[@FILE.npy]"

_LOAD: Final = re.compile(
    r"(?P<hand>[A-Za-z]):(?P<type>mask(?:=\w+)?|\w+)(?::(?P<layout>[A-Za-z]\w+))?"
    r"(?::(?P<rows>\d+)x(?P<cols>\d+))?"
)
#: NumPy types that show the numbers of a data type; the others are written as codes.
_HOST: Final = {
    "FP64": "<f8",
    "FP32": "<f4",
    "FP16": "<f2",
    **{f"S{width}": f"<i{width // 8}" for width in (8, 16, 32, 64)},
}
_ROWS_SHOWN = _COLUMNS_SHOWN = 16


@dataclass(frozen=True, slots=True)
class Load:
    """An array file and the hand that its tile is pushed to; newer loads are newer tiles."""

    text: str
    file: str
    hand: Hand
    dtype: DataType
    layout: Layout
    kind: Kind
    basis: DataType | None
    valid: tuple[int, int] | None

    @classmethod
    def parse(cls, text: str) -> Load:
        """The meaning of a --load text (see :data:`LOAD_FORM`)."""
        with about("--load", text):
            file, at, place = text.rpartition("@")
            found = _LOAD.fullmatch(place) if at and file else None
            if found is None:
                raise UsageError(f"expected {LOAD_FORM}, for example x.npy@T:FP32:CUBE_M32")
            layout = Layout.named(found["layout"] or "NORM")
            kind, basis = Kind.NUMERIC, None
            if found["type"].partition("=")[0] == "mask":
                name = found["type"].partition("=")[2]
                kind = Kind.PREDICATE_CELL if layout.is_cube else Kind.PACKED_PREDICATE
                if layout.is_cube == (name == ""):
                    raise UsageError("a CUBE mask names its basis (mask=FP32), a NORM mask none")
                dtype, basis = DataType.U8, DataType.named(name) if name else None
            else:
                dtype = DataType.named(found["type"])
            valid = None
            if found["rows"] is not None:
                valid = parse_number(found["rows"], "rows"), parse_number(found["cols"], "columns")
            return cls(text, file, Hand.named(found["hand"]), dtype, layout, kind, basis, valid)

    def apply(self, core: PtoCore, pe: int | None) -> None:
        """Read the file and push the tile; UsageError when either cannot be done."""
        with about("--load", self.text):
            array = read_array(self.file)
            if array.dtype.kind == "f" or array.dtype.kind == "i":
                if 8 * array.dtype.itemsize != self.dtype.width:
                    raise UsageError(
                        f"{array.dtype} has {8 * array.dtype.itemsize} bits, {self.dtype.name} "
                        f"has {self.dtype.width}; the array's bits must be the type's"
                    )
                array = array.view(f"<u{array.dtype.itemsize}")
            made = Tile.from_array(
                array,
                self.dtype,
                self.layout,
                valid=self.valid,
                kind=self.kind,
                basis=self.basis,
                fill=None,
            )
            core.push(self.hand, made, pe=pe)


@dataclass(frozen=True, slots=True)
class Dump:
    """A tile to show, or to write to a file."""

    text: str
    name: TileName
    file: str | None

    @classmethod
    def parse(cls, text: str) -> Dump:
        """The meaning of a --dump text (see :data:`DUMP_FORM`)."""
        with about("--dump", text):
            name, at, file = text.partition("@")
            if at and not file:
                raise UsageError(f"expected {DUMP_FORM}, for example T#1@result.npy")
            if file:
                check_target(file)
            return cls(text, TileName.parse(name), file or None)

    def read(self, core: PtoCore, pe: int) -> Tile:
        """The tile; UsageError when there is none."""
        with about("--dump", self.text):
            found = core.tile(self.name, pe=pe)
            if found is None:
                raise UsageError(f"PE{pe} has no tile {self.name}")
            return found

    def array(self, core: PtoCore, pe: int) -> NDArray[Any]:
        """The valid rectangle as an array: numbers where NumPy has the type, else codes."""
        tile = self.read(core, pe)
        with about("--dump", self.text):
            codes = np.ascontiguousarray(tile.to_array(valid=True))
        return codes.view(_HOST.get(tile.descriptor.dtype.name, codes.dtype.str))


def write_dumps(dumps: Sequence[Dump], core: PtoCore, pe: int) -> None:
    """Write the dumps that name a file: all of them, or none when one cannot be written."""
    with contextlib.ExitStack() as files:
        for dump in dumps:
            if dump.file is not None:
                array = dump.array(core, pe)
                stream = files.enter_context(written_file(dump.file))
                np.lib.format.write_array(stream, array, allow_pickle=False)
                stream.flush()


def title(name: TileName, tile: Tile) -> str:
    """A tile's descriptor as a line."""
    d = tile.descriptor
    basis = "" if d.basis is None else f" of {d.basis.name}"
    return (
        f"{name}: {d.kind}{basis}, {d.dtype.name} {d.layout} {d.rows}x{d.cols}, "
        f"valid {d.valid_rows}x{d.valid_cols}, {d.capacity} bytes"
    )


def show_tile(out: Output, name: TileName, tile: Tile) -> None:
    """The codes of the physical matrix; undefined elements as dashes, long tables cut."""
    out.line(f"{title(name, tile)}:")
    digits = max(tile.descriptor.element_bits // 4, 1)
    rows, cols = tile.codes.shape
    shown = []
    for row in range(min(rows, _ROWS_SHOWN)):
        cells = [
            f"{int(tile.codes[row, col]):0{digits}x}" if tile.defined[row, col] else "-" * digits
            for col in range(min(cols, _COLUMNS_SHOWN))
        ]
        shown.append([f"{row}:", *cells, *(("…",) if cols > _COLUMNS_SHOWN else ())])
    if rows > _ROWS_SHOWN:
        shown.append(["…"] + [""] * (len(shown[0]) - 1))
    out.table(shown, indent=2)
