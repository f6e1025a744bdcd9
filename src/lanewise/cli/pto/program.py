"""Programs of the PTO machine: assembly text, hexadecimal words, or raw bytes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from lanewise.cli.support.inputs import read_program, shown_name
from lanewise.cli.support.options import shortened
from lanewise.errors import UsageError
from lanewise.pto import PtoProfile
from lanewise.pto.assembly import assemble
from lanewise.pto.bundle import program_words
from lanewise.pto.words import ProgramWord

_CONTROL: Final = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_HEXADECIMAL: Final = re.compile(r"(0[xX])?([0-9a-fA-F]{8}|[0-9a-fA-F]{4})")


def read_words(path: str) -> list[ProgramWord]:
    """The words in a file (``-``: standard input), whichever of the three forms it has.

    UsageError when it cannot be read; AssemblyError with the place for text that is no program.
    """
    content = read_program(path, 1)
    if not _is_text(content):
        return list(program_words(content))
    text = content.decode()
    tokens = [
        token
        for line in text.splitlines()
        for token in re.sub(r"^\s*[;#].*|//.*", "", line).replace(",", " ").split()
    ]
    if tokens and all(_HEXADECIMAL.fullmatch(token) for token in tokens):
        return list(tokens)
    return list(assemble(text, name=shown_name(path)))


def _is_text(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return _CONTROL.search(content) is None


def build_profile(overrides: Sequence[str] | None) -> PtoProfile:
    """The profile with ``field=value`` texts applied."""
    profile = PtoProfile.DEFAULT
    for text in overrides or ():
        field, equals, value = shortened(text).partition("=")
        if not equals:
            raise UsageError(f"--set {text!r}: expected FIELD=VALUE, such as tgpr2t_min=zero")
        name = field.strip()
        profile = profile.with_(**{name: PtoProfile.parse_override(name, value.strip())})
    return profile
