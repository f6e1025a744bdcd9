"""The texts of --load, --dump, --set and --register, and the files of --load, under attack."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanewise.cli.support.options import build_profile, parse_number
from lanewise.cli.support.placement import Dump, Load, write_dumps
from lanewise.errors import UsageError
from lanewise.neuron import NeuronCore
from lanewise.neuron.dtypes import Dtype

SIZED = [dtype for dtype in Dtype if dtype.size]
spaces = st.sampled_from(["sbuf", "psum", "SBUF"])
partitions = st.integers(0, 200)
offsets = st.one_of(st.none(), st.integers(0, 1 << 20), st.integers(0, 1 << 60))
files = st.text(st.characters(exclude_characters="\0\n", codec="utf-8"), min_size=1, max_size=12)
# Texts that are nearly right: the pieces of the forms in any order.
pieces = st.lists(
    st.sampled_from(
        [
            "a.npy",
            "@",
            ":",
            "+",
            "x",
            "sbuf",
            "psum",
            "0",
            "4",
            "0x",
            "0x10",
            "-",
            "FP32",
            "convert",
        ]
    )
    | st.text(max_size=2),
    max_size=12,
).map("".join)


@st.composite
def places(draw: st.DrawFn) -> tuple[str, tuple[str, int, int]]:
    space, partition, offset = draw(spaces), draw(partitions), draw(offsets)
    shown = f"{space}:{partition}"
    if offset is not None:
        shown += f"+{offset:#x}" if draw(st.booleans()) else f"+{offset}"
    return shown, (space.casefold(), partition, offset or 0)


@given(files, places(), st.sampled_from(SIZED), st.booleans())
def test_a_load_is_what_it_says(
    file: str, place: tuple[str, tuple[str, int, int]], dtype: Dtype, convert: bool
) -> None:
    shown, meant = place
    load = Load.parse(f"{file}@{shown}:{dtype.name}" + (":convert" if convert else ""))
    assert (load.file, load.dtype, load.convert) == (file, dtype, convert)
    assert (load.space, load.partition, load.offset) == meant


@given(
    st.one_of(st.none(), files),
    places(),
    st.lists(st.integers(1, 9), min_size=1, max_size=4),
    st.sampled_from(SIZED),
)
def test_a_dump_is_what_it_says(
    file: str | None,
    place: tuple[str, tuple[str, int, int]],
    shape: list[int],
    dtype: Dtype,
) -> None:
    shown, meant = place
    text = f"{shown}:{'x'.join(map(str, shape))}:{dtype.name}"
    dump = Dump.parse(text if file is None else f"{text}@{file}")
    assert (dump.file, dump.dtype, dump.shape) == (file, dtype, tuple(shape))
    assert (dump.space, dump.partition, dump.offset) == meant


def _refusal(parse: Callable[[], object]) -> str | None:
    try:
        parse()
    except UsageError as error:
        return str(error)
    return None


@given(pieces | st.text())
def test_any_text_is_a_load_a_dump_or_refused(text: str) -> None:
    assert (_refusal(lambda: Load.parse(text)) or "--load ").startswith("--load ")
    assert (_refusal(lambda: Dump.parse(text)) or "--dump ").startswith("--dump ")


@given(pieces | st.text())
def test_any_text_is_a_number_a_profile_or_refused(text: str) -> None:
    assert _refusal(lambda: parse_number(text, "x")) != ""
    assert _refusal(lambda: build_profile("isa", [text])) != ""


@given(st.integers(0, 10**20 - 1))
def test_numbers_are_decimal_or_hex(number: int) -> None:
    assert parse_number(str(number), "x") == number
    if number < 1 << 64:
        assert parse_number(f"{number:#x}", "x") == parse_number(f"0X{number:X}", "x") == number


def _array_file() -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.arange(32, dtype=np.float32).reshape(4, 8))
    return stream.getvalue()


@given(
    st.lists(st.tuples(st.integers(0, 255), st.integers(0, 255)), max_size=6),
    st.integers(0, 256),
)
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
def test_a_damaged_array_file_is_read_or_refused(
    changes: list[tuple[int, int]], length: int
) -> None:
    data = bytearray(_array_file())
    for place, value in changes:
        data[place] = value
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.npy"
        path.write_bytes(data[: length or None])
        core = NeuronCore("cayman", engine="reference")
        try:
            Load.parse(f"{path}@sbuf:0+0:FP32").apply(core)
        except UsageError:
            assert not core.sbuf.data.any()


def test_dumps_are_written_all_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    dumps = [Dump.parse(f"sbuf:0:4:FP32@{name}.npy") for name in "abc"]
    core = NeuronCore("cayman", engine="reference")
    real = Dump.read

    def fails_for_c(self: Dump, core: NeuronCore) -> object:
        if self.file == "c.npy":
            raise UsageError("no")
        return real(self, core)

    monkeypatch.setattr(Dump, "read", fails_for_c)
    with pytest.raises(UsageError):
        write_dumps(dumps, core)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(Dump, "read", real)
    write_dumps(dumps, core)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npy", "b.npy", "c.npy"]
