"""Where results go: what stays as it was, what is refused before any work, what names may hold."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import stat
import threading
from pathlib import Path

import numpy as np
import pytest
from tests.cli import programs
from tests.cli.conftest import Command

from lanewise.cli.support import files
from lanewise.errors import UsageError

DUMPS = {"ok.bin": "sbuf:0+0x200:4x16:UINT8", "ok.pto": "U#1"}
PROGRAMS = sorted(DUMPS)
#: Every verb that works on a file or a word, and does so in a moment.
VERBS: dict[str, list[str]] = {
    "run": ["run", "ok.bin"],
    "run pto": ["run", "ok.pto"],
    "check": ["check", "ok.bin"],
    "check pto": ["check", "ok.pto"],
    "cases": ["cases", "check", "ok.jsonl"],
    "explain": ["explain", "FP32"],
    "cast": ["cast", "1", "--from", "FP32", "--to", "FP16"],
    "fuzz": ["fuzz", "-n", "20", "-g", "cayman"],
    "fuzz pto": ["fuzz", "-n", "20", "--machine", "pto"],
    "sweep": ["sweep", "cast", "--from", "INT8", "--to", "FP16"],
}


@pytest.fixture
def folder(lanewise: Command) -> Path:
    """The working folder: a program for each machine, and a case."""
    here = Path.cwd()
    (here / "ok.bin").write_bytes(programs.CAST)
    (here / "ok.pto").write_text(programs.PTO)
    case = {"schema": "lanewise.case/1", "id": "a", "machine": "neuron", "generation": "cayman"}
    case |= {"program": [{"word": programs.CAST.hex()}], "expect": {"verdict": "ok"}}
    (here / "ok.jsonl").write_text(json.dumps(case) + "\n")
    return here


def _content(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


# What is there already keeps what it is.


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.usefixtures("folder")
def test_every_verb_writes_to_a_device_without_replacing_it(verb: str, lanewise: Command) -> None:
    Path("null").symlink_to("/dev/null")
    for name in ("/dev/null", "null"):
        outcome = lanewise(*VERBS[verb], "-o", name)
        assert (outcome.status, outcome.out, outcome.err) == (0, "", "")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    assert Path("null").is_symlink()


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.usefixtures("folder")
def test_results_go_through_fifos(program: str, lanewise: Command) -> None:
    got: dict[str, bytes] = {}
    readers = []
    for name in ("report", "dump"):
        os.mkfifo(name)
        read = threading.Thread(target=lambda name=name: got.update({name: _read(name)}))
        read.start()
        readers.append(read)
    dump = f"{DUMPS[program]}@dump"
    outcome = lanewise("run", program, "--dump", dump, "-o", "report")
    for read in readers:
        read.join(20)
    assert (outcome.status, outcome.err) == (0, "")
    assert got["report"].split(b"\n")[0].split() == [b"verdict", b"ok"]
    assert lanewise("run", program, "--dump", f"{DUMPS[program]}@file.npy").status == 0
    assert got["dump"] == Path("file.npy").read_bytes()
    assert stat.S_ISFIFO(Path("dump").stat().st_mode)
    assert stat.S_ISFIFO(Path("report").stat().st_mode)


def _read(name: str) -> bytes:
    return Path(name).read_bytes()


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.usefixtures("folder")
def test_links_stay_and_what_they_lead_to_is_written(program: str, lanewise: Command) -> None:
    Path("far").mkdir()
    Path("old.txt").symlink_to("far/old.txt")
    Path("far/old.txt").write_text("old")
    Path("new.npy").symlink_to(Path("far/new.npy").absolute())  # leads to nothing yet
    dump = f"{DUMPS[program]}@new.npy"
    assert lanewise("run", program, "--dump", dump, "-o", "old.txt").status == 0
    assert Path("old.txt").is_symlink()
    assert Path("new.npy").is_symlink()
    assert Path("far/old.txt").read_text().startswith("verdict")
    assert np.load("far/new.npy").dtype == np.uint8
    assert sorted(path.name for path in Path("far").iterdir()) == ["new.npy", "old.txt"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o755])
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.usefixtures("folder")
def test_an_old_file_keeps_its_mode_and_a_new_one_gets_the_usual(
    program: str, mode: int, lanewise: Command
) -> None:
    for name in ("old.txt", "old.npy"):
        Path(name).write_bytes(b"old")
        Path(name).chmod(mode)
    dumps = [f"{DUMPS[program]}@{name}.npy" for name in ("old", "new")]
    before = os.umask(0o027)
    try:
        lanewise("run", program, "--dump", dumps[0], "--dump", dumps[1], "-o", "old.txt")
        lanewise("run", program, "-o", "new.txt")
    finally:
        os.umask(before)
    modes = {name: stat.S_IMODE(Path(name).stat().st_mode) for name in ("old.txt", "old.npy")}
    assert modes == {"old.txt": mode, "old.npy": mode}
    assert stat.S_IMODE(Path("new.npy").stat().st_mode) == 0o640
    assert stat.S_IMODE(Path("new.txt").stat().st_mode) == 0o640


def test_what_goes_wrong_in_between_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")
    with contextlib.suppress(ZeroDivisionError), files.written_file(str(path)) as stream:
        stream.write(b"new")
        raise ZeroDivisionError
    assert [p.name for p in tmp_path.iterdir()] == ["x"]
    assert path.read_bytes() == b"old"


# What cannot be written is found before any work is done.


@pytest.fixture
def bad_targets(folder: Path) -> dict[str, str]:
    """Names that no result can go to, with what the message says after the name."""
    Path("a_folder").mkdir()
    Path("loop").symlink_to("loop")
    Path("lost").symlink_to("nowhere/x")
    server = socket.socket(socket.AF_UNIX)
    server.bind("socket")
    server.close()
    bad = {
        "a_folder": "is a folder",
        "nowhere/x": "there is no folder 'nowhere'",
        "ok.bin/x": "there is no folder 'ok.bin'",
        "new/": "there is no folder 'new'",
        "lost": "there is no folder",
        "loop": "Too many levels of symbolic links",
        "socket": "is a socket",
        "n" * 300: "File name too long",
        "/dev/fd/987": "is not open",
    }
    if Path("/proc/self").exists():
        bad["/proc/x"] = "no file can be made there"
    return bad


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_refuses_a_bad_output_before_it_works(
    verb: str,
    bad_targets: dict[str, str],
    lanewise: Command,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = _content(folder)

    def works(*_: object, **__: object) -> None:
        raise AssertionError("it began to work")

    module = verb.partition(" ")[0]
    for place in ("opened_output", "engine_name", "build_profile", "read_program"):
        monkeypatch.setattr(f"lanewise.cli.{module}.{place}", works, raising=False)
    for target, message in bad_targets.items():
        outcome = lanewise(*VERBS[verb], "-o", target)
        outcome.assert_refused()
        assert outcome.err.startswith(f"lanewise: {target}: {message}")
    lanewise(*VERBS[verb], "-o", "").assert_refused()
    assert _content(folder) == before


@pytest.mark.parametrize("program", PROGRAMS)
def test_no_dump_is_written_when_another_target_is_bad(
    program: str, bad_targets: dict[str, str], lanewise: Command, folder: Path
) -> None:
    before = _content(folder)
    good = ("--dump", f"{DUMPS[program]}@good.npy")
    for target, message in bad_targets.items():
        for options in (("-o", target), ("--dump", f"{DUMPS[program]}@{target}")):
            outcome = lanewise("run", program, *good, *options)
            outcome.assert_refused()
            assert f"{target}: {message}" in outcome.err or len(target) == 300
    assert _content(folder) == before


@pytest.mark.usefixtures("folder")
def test_a_write_protected_file_is_refused(
    lanewise: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("old.txt").write_text("old")
    # The superuser may write everything, so it is the answer that is tested.
    monkeypatch.setattr(files.os, "access", lambda *_: False)
    outcome = lanewise("run", "ok.bin", "-o", "old.txt")
    outcome.assert_refused()
    assert outcome.err == "lanewise: old.txt: is write-protected\n"


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("d.npy", "d.npy"),
        ("d.npy", "./d.npy"),
        ("d.npy", "link"),
        ("sub/../d.npy", "sub/up/d.npy"),
        ("old", "other"),
    ],
)
def test_two_results_for_one_file_are_refused(
    first: str, second: str, program: str, lanewise: Command, folder: Path
) -> None:
    Path("sub").mkdir()
    Path("sub/up").symlink_to("..")
    Path("link").symlink_to("d.npy")
    Path("old").write_text("old")
    Path("other").symlink_to("old")
    before = _content(folder)
    dump = DUMPS[program]
    for options in (
        ("--dump", f"{dump}@{first}", "--dump", f"{dump}@{second}"),
        ("--dump", f"{dump}@{first}", "-o", second),
        ("--dump", f"{dump}@{second}", "-o", first),
    ):
        outcome = lanewise("run", program, *options)
        outcome.assert_refused()
        assert "two results would go to this file" in outcome.err
    assert _content(folder) == before


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.usefixtures("folder")
def test_two_results_may_share_what_is_not_replaced(program: str, lanewise: Command) -> None:
    dump = f"{DUMPS[program]}@/dev/null"
    assert lanewise("run", program, "--dump", dump, "--dump", dump, "-o", "/dev/null").status == 0


@pytest.mark.parametrize("program", PROGRAMS)
def test_arrays_are_not_written_to_standard_output(
    program: str, lanewise: Command, folder: Path
) -> None:
    before = _content(folder)
    outcome = lanewise("run", program, "--dump", f"{DUMPS[program]}@-")
    outcome.assert_refused()
    assert "binary is not written to standard output" in outcome.err
    assert _content(folder) == before


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.usefixtures("folder")
def test_a_hyphen_is_standard_output(verb: str, lanewise: Command) -> None:
    outcome = lanewise(*VERBS[verb], "-o", "-")
    assert outcome.status == 0
    assert outcome.out
    assert not Path("-").exists()


@pytest.mark.usefixtures("folder")
def test_a_descriptor_must_be_open_for_writing(lanewise: Command) -> None:
    with open("ok.bin", "rb") as reading, open("result", "wb") as writing:
        refused = lanewise("run", "ok.bin", "-o", f"/dev/fd/{reading.fileno()}")
        assert lanewise("run", "ok.bin", "-o", f"/dev/fd/{writing.fileno()}").status == 0
    refused.assert_refused()
    assert "is open for reading only" in refused.err
    assert Path("result").read_text().startswith("verdict     ok\n")


def test_odd_names_are_refused_with_a_reason() -> None:
    for name in ("", "a\0b"):
        with pytest.raises(UsageError):
            files.check_target(name)


# Folders for crashes.


@pytest.mark.usefixtures("crashing")
@pytest.mark.parametrize("name", ["new", "new/", "old"])
def test_a_folder_for_crashes_is_made_when_there_is_one(name: str, lanewise: Command) -> None:
    Path("old").mkdir()
    outcome = lanewise("fuzz", "-n", "10", "-g", "cayman", "--save", name, "--json")
    (path,) = json.loads(outcome.out)["saved"]
    assert list(Path(name).iterdir()) == [Path(path)]


@pytest.mark.parametrize("machine", ["neuron", "pto"])
def test_no_crash_makes_no_folder(machine: str, lanewise: Command, folder: Path) -> None:
    before = _content(folder)
    arguments = ("fuzz", "--machine", machine, "-n", "10", "-g", "cayman", "--save", "new")
    assert lanewise(*arguments).status == 0
    assert _content(folder) == before


@pytest.mark.parametrize("machine", ["neuron", "pto"])
@pytest.mark.usefixtures("folder")
def test_a_bad_folder_for_crashes_is_called_by_its_name(machine: str, lanewise: Command) -> None:
    for name, message in {
        "ok.bin": "is no folder",
        "nowhere/new": "there is no folder 'nowhere'",
        "/proc/new": "no file can be made there",
        "/proc": "no file can be made there",
    }.items():
        outcome = lanewise("fuzz", "--machine", machine, "-n", "10", "--save", name)
        outcome.assert_refused()
        assert outcome.err.startswith(f"lanewise: {name}: {message}")


# Names that are no text.

ODD = os.fsdecode(b"od\xffd")


@pytest.mark.parametrize("form", [(), ("--json",)])
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.usefixtures("folder")
def test_names_that_are_no_text_are_printed_everywhere(
    program: str, form: tuple[str, ...], lanewise: Command
) -> None:
    suffix = Path(program).suffix
    Path(ODD + suffix).write_bytes(Path(program).read_bytes())
    Path(f"{ODD}.jsonl").write_text("{}\n")
    for arguments in (
        ["run", ODD + suffix, "--dump", f"{DUMPS[program]}@{ODD}.npy"],
        ["check", "--every", program, ODD + suffix],
        ["cases", "check", f"{ODD}.jsonl"],
    ):
        to_screen = lanewise(*arguments, *form)
        to_file = lanewise(*arguments, *form, "-o", "result")
        assert (to_file.status, to_file.out, to_file.err) == (to_screen.status, "", to_screen.err)
        written = Path("result").read_text(encoding="utf-8")
        for text in (to_screen.out, written):
            assert "od\\udcffd" in text
            # In JSON the escape is JSON's own, and gives the name back.
            documents = [json.loads(line) for line in text.splitlines()] if form else []
            assert bool(form) is (ODD in json.dumps(documents, ensure_ascii=False))


@pytest.mark.usefixtures("crashing")
def test_a_folder_for_crashes_may_have_any_name(lanewise: Command) -> None:
    arguments = ("fuzz", "-n", "10", "-g", "cayman", "--save", ODD)
    outcome = lanewise(*arguments, "-o", "result")
    assert (outcome.status, outcome.err) == (1, "")
    assert "wrote od\\udcffd/cayman-" in Path("result").read_text()


@pytest.mark.parametrize("control", ["\n", "\x1b[2J", "\x85", "\u202e"])
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.usefixtures("folder")
def test_names_with_controls_are_shown_on_one_line(
    control: str, program: str, lanewise: Command
) -> None:
    suffix, escaped = Path(program).suffix, control.encode("unicode_escape").decode()
    name = f"a{control}b"
    Path(name + suffix).write_bytes(Path(program).read_bytes())
    checked = lanewise("check", "--every", program, name + suffix).out
    ran = lanewise("run", name + suffix, "--dump", f"{DUMPS[program]}@{name}").out
    assert f"a{escaped}b{suffix}: " in checked
    assert f"wrote a{escaped}b: " in ran
    assert control == "\n" or control not in checked + ran
    found = json.loads(lanewise("run", program, "--json", "--dump", f"{DUMPS[program]}@{name}").out)
    assert found["dumps"][0]["file"] == name
    # Messages are one line too, where the end of a line shows as a semicolon.
    for arguments in (["check", f"no{name}"], ["run", name, "-g", name], ["explain", name]):
        outcome = lanewise(*arguments)
        outcome.assert_refused()
        assert control not in outcome.err.removesuffix("\n")


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can give files away")
@pytest.mark.usefixtures("folder")
def test_an_old_file_keeps_its_owner(lanewise: Command) -> None:
    Path("old.txt").write_text("old")
    os.chown("old.txt", 4321, 1234)
    Path("old.txt").chmod(0o4750)
    assert lanewise("run", "ok.bin", "-o", "old.txt").status == 0
    status = Path("old.txt").stat()
    assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (4321, 1234, 0o4750)
