"""What a file holds, from its beginning: assembly text, a NumPy array, or something else."""

from __future__ import annotations

import re
from typing import Final

#: How much of a file is looked at.
PROBE: Final = 1 << 12

_ARRAY: Final = b"\x93NUMPY"
_NOTHING: Final = re.compile(r"\s*(?:(?://|#|;).*)?")
# A directive, an instruction with its first argument, or one that has none.
_NEURON: Final = re.compile(
    r"\s*(?:\.(?:generation|engine|const|buffer|word|byte)\b"
    r"|[A-Za-z][A-Za-z0-9_]*[ \t]+[A-Za-z][A-Za-z0-9_.]*=(?!=))"
)
_PTO: Final = re.compile(r"\s*(?:BSTART|BSTOP|B\.[A-Z]+|T[A-Z]{2,})\b")


def is_array(head: bytes) -> bool:
    """Whether a file that begins like this is an .npy file."""
    return head.startswith(_ARRAY)


def assembly_machine(head: bytes) -> str | None:
    """The machine, neuron or pto, whose assembly text begins like this; None where it is none.

    The first line that is neither empty nor a comment decides.
    """
    if b"\0" in head[:PROBE]:
        return None
    text = head[:PROBE].decode("utf-8-sig", errors="ignore")
    for line in text.splitlines():
        if not _NOTHING.fullmatch(line):
            return "neuron" if _NEURON.match(line) else "pto" if _PTO.match(line) else None
    return None
