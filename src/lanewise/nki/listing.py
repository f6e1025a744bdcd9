"""Every function of ``nki.isa`` with its state here, as data and as a table."""

from __future__ import annotations

from dataclasses import dataclass

from lanewise.neuron import Generation
from lanewise.neuron.instructions import BY_OPCODE
from lanewise.neuron.roster import opcode_names
from lanewise.nki import isa
from lanewise.nki.beta1 import isa as beta1
from lanewise.nki.targets import TARGETS, Target

#: The instruction words of each modelled function; those in brackets come with an argument.
WORDS: dict[str, tuple[int | tuple[int, str], ...]] = {
    "max8": (0x6C,),
    "nc_find_index8": (0x6D, 0x6E),
    "nc_match_replace8": (0x6D, 0x6F, (0xE9, "dst_idx")),
    "nonzero_with_count": (0xF2,),
    "range_select": (0xBC, (0x9B, "reduce_res")),
    "select_reduce": (0xEA, (0x9B, "reduce_res")),
    "tensor_copy": (0x46, (0x47, "other dtype")),
    "tensor_copy_predicated": (0x72, (0xE8, "number or one-column source")),
}
_PRODUCTS = ("trn1", "inf2", "trn2", "trn3")


@dataclass(frozen=True, slots=True)
class Entry:
    """A function of ``nki.isa``.

    ``state`` is modelled, outside or not offered; ``words`` names the instruction words,
    ``targets`` those that have them all (but the bracketed ones), ``beta1`` whether
    ``neuronxcc.nki.isa`` has it too.
    """

    name: str
    state: str
    words: str = ""
    targets: tuple[str, ...] = ()
    beta1: bool = False


def listing() -> tuple[Entry, ...]:
    """All functions, modelled ones first, each group in alphabetical order."""
    older = frozenset(beta1.__all__)
    return (
        *(
            Entry(name, "modelled", _words(name), _targets(name), name in older)
            for name in isa.MODELLED
        ),
        *(Entry(name, "outside", "", _PRODUCTS, name in older) for name in isa.OUTSIDE),
        *(Entry(name, "not offered") for name in isa.NOT_OFFERED),
    )


def _words(function: str) -> str:
    names = opcode_names()
    shown = []
    for word in WORDS[function]:
        if isinstance(word, int):
            shown.append(f"{names[word]} 0x{word:02x}")
        else:
            shown.append(f"[{names[word[0]]} 0x{word[0]:02x}: {word[1]}]")
    return ", ".join(shown)


def _targets(function: str) -> tuple[str, ...]:
    needed = [word for word in WORDS[function] if isinstance(word, int)]
    return tuple(
        product for product in _PRODUCTS if all(_has(TARGETS[product], opcode) for opcode in needed)
    )


def _has(target: Target, opcode: int) -> bool:
    generation: Generation = target.generation
    return generation in BY_OPCODE[opcode].generations()


def markdown() -> str:
    """The table for the documentation."""
    lines = [
        "| function | here | instruction words | targets | `neuronxcc.nki` |",
        "|---|---|---|---|---|",
    ]
    for entry in listing():
        targets = "all" if entry.targets == _PRODUCTS else ", ".join(entry.targets)
        state = f"**{entry.state}**" if entry.state == "modelled" else entry.state
        cells = (f"`{entry.name}`", state, entry.words, targets, "yes" if entry.beta1 else "")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)
