"""Files that results go to: found wanting before any work is done, complete when they appear.

A regular file is written beside its place and renamed. Pipes, devices and open descriptors
(/dev/stdout, /dev/fd/3) are written as they are: a rename would put a file in their place.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from lanewise.errors import UsageError

STDOUT: Final = "-"
_PREFIX: Final = ".lanewise-"
_DESCRIPTORS: Final = "/proc/self/fd"
_MOST_LINKS: Final = 40


@dataclass(frozen=True, slots=True)
class Target:
    """A place for a file: ``path`` is its name in messages, ``place`` has no links in it.

    ``status`` is None where there is nothing yet; ``descriptor`` is what is open there already.
    """

    path: str
    place: Path
    status: os.stat_result | None
    descriptor: int | None = None

    @property
    def is_replaced(self) -> bool:
        """Whether a complete file takes the place; other things are written as they are."""
        if self.descriptor is not None:
            return False
        return self.status is None or stat.S_ISREG(self.status.st_mode)


def check_target(path: str, *, binary: bool = False) -> Target:
    """The target at ``path`` if a file can be put there now; UsageError if not.

    ``binary`` content is kept away from standard output and from terminals.
    """
    if binary and path == STDOUT:
        raise UsageError("binary is not written to standard output; name a file")
    target = _find(path)
    if not target.is_replaced:
        _check_stream(target, binary)
    elif target.status is not None and not os.access(target.place, os.W_OK):
        raise UsageError(f"{path}: is write-protected")
    else:
        _try_folder(target.place.parent, path)
    return target


def check_distinct(paths: Iterable[str | None]) -> None:
    """UsageError when two results would go to one file; None and ``-`` name no file."""
    taken: dict[Path, str] = {}
    for path in paths:
        if path is None or path == STDOUT:
            continue
        target = _find(path)
        if not target.is_replaced:
            continue
        if target.place in taken:
            first = taken[target.place]
            same = "" if first == path else f", which is {first}"
            raise UsageError(f"{path}: two results would go to this file{same}; name two files")
        taken[target.place] = path


def check_folder(path: str) -> None:
    """UsageError unless files can be put into the folder ``path``, which may be yet to make."""
    if os.path.isdir(path):
        _try_folder(path, path)
    elif os.path.lexists(path):
        raise UsageError(f"{path}: is no folder")
    else:
        check_target(path.rstrip("/") or path)


@contextlib.contextmanager
def written_file(path: str) -> Iterator[IO[bytes]]:
    """A binary file that is at ``path`` once the block ends well, and nowhere if it does not."""
    target = _find(path)
    if not target.is_replaced:
        with _named(path), _opened(target) as stream:
            yield stream
        return
    with _named(path):
        handle, temporary = _new_file(target.place.parent)
    try:
        with _named(path):
            with os.fdopen(handle, "wb") as stream:
                yield stream
            _give_mode(temporary, target.status)
            os.replace(temporary, target.place)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def write_files(files: Sequence[tuple[str, bytes]]) -> None:
    """Write contents to their paths: all of them, or none when one cannot be written."""
    with contextlib.ExitStack() as opened:
        # The renames come when the stack unwinds, after every file has been written.
        for path, content in files:
            stream = opened.enter_context(written_file(path))
            stream.write(content)
            stream.flush()


def _find(path: str) -> Target:
    """What is at ``path``; UsageError for what can never be a file to write to."""
    descriptor = _descriptor(path)
    try:
        status = os.stat(path)
    except FileNotFoundError:
        status = None
    except NotADirectoryError:
        raise _no_folder(path, os.path.dirname(path)) from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error
    except ValueError as error:  # a NUL character
        raise UsageError(f"{path!r}: is no name of a file ({error})") from error
    if status is None and descriptor is not None:
        raise UsageError(f"{path}: is not open")
    place = Path(os.path.realpath(path))
    if status is not None and stat.S_ISDIR(status.st_mode):
        raise UsageError(f"{path}: is a folder; name a file in it")
    if status is None and not path:
        raise UsageError("expected the name of a file, not an empty text")
    if status is None and path.endswith("/"):
        raise _no_folder(path, path.rstrip("/"))
    if status is None and not place.parent.is_dir():
        raise _no_folder(path, os.path.dirname(path) if not os.path.islink(path) else place.parent)
    return Target(path, place, status, descriptor)


def _no_folder(path: str, folder: str | Path) -> UsageError:
    return UsageError(f"{path}: there is no folder {str(folder)!r} to write it to")


def _descriptor(path: str) -> int | None:
    """The open descriptor that a name like /dev/stdout stands for.

    A second opening of the file behind it would start at the front and know nothing of ``>>``.
    """
    with contextlib.suppress(OSError, ValueError):
        for _ in range(_MOST_LINKS):
            folder, name = os.path.split(path)
            folder = os.path.realpath(folder)
            if name.isdecimal() and folder == os.path.realpath(_DESCRIPTORS):
                return int(name)
            path = os.path.join(folder, os.readlink(os.path.join(folder, name)))
    return None


def _check_stream(target: Target, binary: bool) -> None:
    assert target.status is not None
    if target.descriptor is not None:
        if fcntl.fcntl(target.descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            raise UsageError(f"{target.path}: is open for reading only")
    elif not os.access(target.path, os.W_OK):
        raise UsageError(f"{target.path}: is write-protected")
    elif stat.S_ISSOCK(target.status.st_mode):
        raise UsageError(f"{target.path}: is a socket; name a file")
    if binary and stat.S_ISCHR(target.status.st_mode):
        with contextlib.suppress(OSError), _opened(target) as stream:
            if stream.isatty():
                raise UsageError(f"{target.path}: binary is not written to a terminal")


def _opened(target: Target) -> IO[bytes]:
    if target.descriptor is not None:
        return os.fdopen(os.dup(target.descriptor), "wb")
    return open(target.path, "wb")


def _new_file(folder: str | Path) -> tuple[int, str]:
    return tempfile.mkstemp(dir=folder, prefix=_PREFIX)


def _try_folder(folder: str | Path, path: str) -> None:
    # Making a file is the one question that every file system answers truly.
    try:
        handle, temporary = _new_file(folder)
        os.close(handle)
        os.unlink(temporary)
    except OSError as error:
        raise UsageError(f"{path}: no file can be made there ({error.strerror})") from error


def _give_mode(temporary: str, status: os.stat_result | None) -> None:
    """What an old file has, so that only its content changes; else what any new file gets.

    mkstemp makes files for their owner only.
    """
    if status is None:
        os.chmod(temporary, 0o666 & ~_umask())
        return
    if (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
        with contextlib.suppress(OSError):
            os.chown(temporary, status.st_uid, status.st_gid)
    os.chmod(temporary, stat.S_IMODE(status.st_mode))


def _umask() -> int:
    # The mask can only be read by setting it.
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextlib.contextmanager
def _named(path: str) -> Iterator[None]:
    """Errors inside that name no file, or one that nobody has heard of, name ``path``."""
    try:
        yield
    except OSError as error:
        name = os.path.basename(str(error.filename or _PREFIX))
        if name.startswith(_PREFIX):
            error.filename, error.filename2 = path, None
        raise
