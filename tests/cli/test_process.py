"""The command as a process: start-up, pipes, signals, terminals and odd environments."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli import programs
from tests.cli.conftest import Command

from lanewise.cli.application import VERBS

COMMAND = (sys.executable, "-m", "lanewise.cli")


def _run(*arguments: str, stdin: bytes = b"", **environment: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [*COMMAND, *arguments],
        input=stdin,
        capture_output=True,
        env=os.environ | environment,
        check=False,
        timeout=60,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_words_come_through_a_pipe() -> None:
    status, out, _ = _run("check", stdin=programs.CAST + programs.ILLEGAL)
    assert status == 1
    assert out.endswith("cayman: 2 words: 1 ok, 1 illegal\n")


def test_help_and_mistakes_need_no_machine() -> None:
    script = (
        "import sys; from lanewise.cli import main\n"
        "for arguments in (['--help'], [], ['--version'], ['rnu']):\n"
        "    main(arguments)\n"
        "sys.exit(bool({'numpy', 'rich', 'lanewise.neuron'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert done.returncode == 0, done


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_an_example(
    verb: str, lanewise: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    outcome = lanewise(*((verb, "check") if verb == "cases" else (verb,)), "--help")
    assert (outcome.status, outcome.err) == (0, "")
    assert f"Example: lanewise {verb}" in outcome.out
    assert max(map(len, outcome.out.splitlines())) <= 80


def test_a_reader_that_stops_reading_ends_it_quietly(tmp_path: Path) -> None:
    program = tmp_path / "bad.bin"
    program.write_bytes(programs.ILLEGAL * 5000)
    with subprocess.Popen(
        [*COMMAND, "check", str(program)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(30) == 141


def test_an_interrupt_ends_it_quietly() -> None:
    with subprocess.Popen(
        [*COMMAND, "check", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        # Words are answered as they come; once some have been, it waits for more.
        process.stdin.write(programs.ILLEGAL * 50)
        process.stdin.flush()
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        assert (process.returncode, err) == (130, b"")


def test_a_closed_output_is_no_crash() -> None:
    line = f"{sys.executable} -m lanewise.cli cast 1 --from FP32 --to FP16 >&-"
    done = subprocess.run(["sh", "-c", line], capture_output=True, check=False)
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_one_line() -> None:
    line = f"{sys.executable} -m lanewise.cli explain opcodes >/dev/full"
    done = subprocess.run(["sh", "-c", line], capture_output=True, check=False)
    assert done.returncode == 2
    assert done.stderr == b"lanewise: output: No space left on device\n"


def test_an_output_without_unicode_gets_escapes() -> None:
    arguments = ("explain", "nonzero_lanes")
    status, out, err = _run(*arguments, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert (status, err) == (0, "")
    assert "\\u2026" in out


def _on_a_terminal(*arguments: str, **environment: str) -> str:
    """What the command writes to a terminal of 80 columns."""
    main, terminal = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "80"} | environment,
    )
    os.close(terminal)
    output = bytearray()
    try:
        while piece := os.read(main, 4096):
            output += piece
    except OSError:  # how the end of a terminal shows
        pass
    os.close(main)
    process.wait(30)
    return output.decode()


def test_colour_is_for_terminals_and_can_be_refused(tmp_path: Path) -> None:
    program = tmp_path / "bad.bin"
    program.write_bytes(programs.ILLEGAL)
    environment = {"NO_COLOR": ""}
    coloured = _on_a_terminal("check", str(program), **environment)
    assert "\x1b[31m" in coloured
    plain = _on_a_terminal("check", str(program), NO_COLOR="1")
    assert "\x1b[3" not in plain
    assert "CAST illegal" in plain
    assert "\x1b" not in _run("check", str(program))[1]


def test_tables_are_folded_to_a_terminal() -> None:
    text = re.sub(r"\x1b\[\d*m", "", _on_a_terminal("explain", "source-placement"))
    lines = text.splitlines()
    table = lines[lines.index(next(line for line in lines if "instruction" in line)) :]
    assert max(map(len, table)) <= 80


def test_words_are_not_asked_of_a_terminal() -> None:
    assert "standard input is a terminal" in _on_a_terminal("run")
