"""The command as a process: start-up, pipes, signals, terminals and odd environments."""

from __future__ import annotations

import functools
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from tests.cli import programs
from tests.cli.conftest import Command

from lanewise.cli.application import VERBS

COMMAND = (sys.executable, "-m", "lanewise.cli")
TYPES = ("--from", "FP32", "--to", "FP16")


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
        # A shell that starts the tests in the background has them, and so us, ignore interrupts.
        preexec_fn=functools.partial(  # noqa: PLW1509 (one thread)
            signal.signal, signal.SIGINT, signal.SIG_DFL
        ),
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


@pytest.mark.parametrize("columns", ["0", "1", "1000000000", "x"])
def test_any_number_of_columns_shows_everything(columns: str) -> None:
    shown = [
        re.sub(r"\x1b\[\d*m", "", _on_a_terminal("cast", "1", *TYPES, COLUMNS=given))
        for given in ("80", columns)
    ]
    # Lines are folded elsewhere, but every character is there.
    assert Counter("".join(shown[0].split())) == Counter("".join(shown[1].split()))
    assert len(shown[1]) < 4000


def test_json_is_json_on_an_output_without_unicode() -> None:
    environment = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    status, out, err = _run("explain", "--json", "nonzero_lanes", **environment)
    assert (status, err) == (0, "")
    assert json.loads(out) == json.loads(_run("explain", "--json", "nonzero_lanes")[1])
    assert out.isascii()


def test_help_does_not_need_docstrings() -> None:
    """python -OO has none."""
    script = (
        "import sys; from lanewise.cli import main\n"
        "for verb in sys.argv[1:]:\n"
        "    main([*verb.split(), '--help'])"
    )
    verbs = [*VERBS, "", "cases check", "sweep cast"]
    shown = [
        subprocess.run(
            [sys.executable, *options, "-c", script, *verbs],
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for options in ((), ("-OO",))
    ]
    assert shown[0] == shown[1]
    assert shown[0].count("Usage: ") == len(verbs)


def test_output_to_a_descriptor_adds_to_what_is_there(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("before\n")
    line = f"{sys.executable} -m lanewise.cli cast 1 {' '.join(TYPES)} -o /dev/stdout >> {log}"
    subprocess.run(["sh", "-c", f"{line}; echo after >> {log}"], check=True)
    lines = log.read_text().splitlines()
    assert lines[0] == "before"
    assert lines[1].startswith("1 as FP32")
    assert lines[-1] == "after"


def test_arrays_are_not_written_to_a_terminal(tmp_path: Path) -> None:
    program = tmp_path / "ok.bin"
    program.write_bytes(programs.CAST)
    shown = _on_a_terminal("run", str(program), "--dump", "sbuf:0:4:FP32@/dev/stdout")
    assert "binary is not written to a terminal" in shown
