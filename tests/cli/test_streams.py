"""Inputs that can be read once (pipes, FIFOs, /dev/stdin), and one that is not there."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from tests.cli import programs
from tests.cli.conftest import Command

COMMAND = f"{sys.executable} -m lanewise.cli"
WORDS = {
    "neuron": programs.CAST * 3 + programs.ILLEGAL + programs.CAST * 6000,
    "pto": b"\n".join(programs.PTO.encode().splitlines() * 40),
}
SUMMARY = {"neuron": "6004 words: 6003 ok, 1 illegal\n", "pto": "40 bundles: 40 ok\n"}


def _shell(line: str) -> tuple[int, str, str]:
    done = subprocess.run(
        ["bash", "-c", line.replace("lanewise ", f"{COMMAND} ")],
        capture_output=True,
        check=False,
        timeout=120,
        text=True,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("machine", WORDS)
@pytest.mark.parametrize(
    "line",
    [
        "lanewise check --machine {machine} <(cat words)",
        "cat words | lanewise check --machine {machine} /dev/stdin",
        "lanewise check --machine {machine} /dev/stdin < words",
        "cat words | lanewise check --machine {machine} -",
    ],
)
@pytest.mark.usefixtures("lanewise")
def test_a_pipe_is_read_whole_and_once(line: str, machine: str) -> None:
    Path("words").write_bytes(WORDS[machine])
    status, out, err = _shell(line.format(machine=machine))
    assert err == ""
    assert out.endswith(SUMMARY[machine])
    assert status == (machine == "neuron")


def _fed(name: str, content: bytes) -> threading.Thread:
    """A FIFO and what writes to it, once."""
    os.mkfifo(name)

    def write() -> None:
        with open(name, "wb", buffering=0) as stream:
            for start in range(0, len(content), 50_000):
                stream.write(content[start : start + 50_000])

    writer = threading.Thread(target=write)
    writer.start()
    return writer


@pytest.mark.parametrize("machine", WORDS)
@pytest.mark.parametrize("verb", ["check", "run"])
def test_programs_come_through_fifos(verb: str, machine: str, lanewise: Command) -> None:
    content = WORDS[machine] if verb == "check" else programs.CAST * 2000
    if machine == "pto":
        content = programs.PTO.encode()
    writer = _fed("words", content)
    outcome = lanewise(verb, "--machine", machine, "words", "--json")
    writer.join(20)
    assert not writer.is_alive()
    assert outcome.err == ""
    assert {("check", "neuron"): '"words": 6004', ("run", "neuron"): '"executed": 2000'}.get(
        (verb, machine), "ok"
    ) in outcome.out


def test_several_fifos_are_read_one_after_the_other(lanewise: Command) -> None:
    Path("file").write_bytes(programs.CAST)
    writers = [_fed(name, programs.CAST * 5000) for name in ("a", "b")]
    outcome = lanewise("check", "a", "file", "b")
    for writer in writers:
        writer.join(20)
    assert outcome.status == 0
    assert outcome.out.endswith("\ncayman: 10001 words: 10001 ok\n")


@pytest.mark.parametrize("content", [b"", programs.CAST + b"\0"])
@pytest.mark.parametrize("verb", ["check", "run"])
def test_a_bad_stream_is_refused(verb: str, content: bytes, lanewise: Command) -> None:
    writer = _fed("words", content)
    lanewise(verb, "words").assert_refused()
    writer.join(20)


@pytest.mark.parametrize("machine", WORDS)
def test_a_bad_file_is_the_only_thing_that_is_told(machine: str, lanewise: Command) -> None:
    good = programs.ILLEGAL if machine == "neuron" else b"TCMP <Row=1, Col=1, HiF8>, T#1, T#1, ->a0"
    Path("good").write_bytes(good)
    Path("bad").write_bytes(b"")
    outcome = lanewise("check", "--machine", machine, "good", "bad")
    outcome.assert_refused()
    assert outcome.err.startswith("lanewise: bad: empty")


@pytest.mark.parametrize(
    "options",
    [
        ("run", "ok.bin", "--load", "{}@sbuf:0+0x100:FP32", "--dump", "sbuf:0+0x100:4x16:FP32@y"),
        ("run", "ok.pto", "--load", "{}@U:FP32:CUBE_M32", "--dump", "U#2@y"),
    ],
)
def test_an_array_may_come_through_a_fifo(options: tuple[str, ...], lanewise: Command) -> None:
    Path("ok.bin").write_bytes(programs.CAST)
    Path("ok.pto").write_text(programs.PTO)
    shape = (4, 16) if "ok.bin" in options else (32, 2)
    array = np.arange(shape[0] * shape[1], dtype=np.float32).reshape(shape)
    np.save("x.npy", array)
    content = Path("x.npy").read_bytes()
    writer = _fed("x", content)
    outcome = lanewise(*(option.format("x") for option in options))
    writer.join(20)
    assert (outcome.status, outcome.err) == (0, "")
    assert np.array_equal(np.load("y"), array)
    writer = _fed("short", content[:-1])
    outcome = lanewise(*(option.format("short") for option in options))
    writer.join(20)
    outcome.assert_refused()
    assert "short: not a usable .npy file (it holds fewer bytes" in outcome.err


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
def test_an_endless_array_is_refused(lanewise: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lanewise.cli.support.placement._LARGEST_STREAM", 1 << 20)
    outcome = lanewise("run", "--load", "/dev/zero@sbuf:0:FP32", stdin=programs.CAST)
    outcome.assert_refused()
    assert "/dev/zero: more than 1 MiB" in outcome.err


@pytest.mark.parametrize(
    "arguments", [("run",), ("check", "-"), ("run", "--machine", "pto"), ("cast", "--to", "FP16")]
)
def test_a_closed_standard_input_is_called_closed(
    arguments: tuple[str, ...], lanewise: Command
) -> None:
    source = ("--from", "FP32") if arguments[0] == "cast" else ()
    outcome = lanewise(*arguments, *source, stdin=None)
    outcome.assert_refused()
    assert outcome.err.startswith("lanewise: standard input is closed: ")
