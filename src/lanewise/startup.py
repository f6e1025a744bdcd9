"""What ``lanewise_nki.pth`` runs when Python starts and an environment variable asks for it.

``LANEWISE_NKI=1``: ``import nki`` and ``import neuronxcc.nki`` find lanewise, in place of the
vendor's package if that is there. ``NKI_SIMULATOR=1``, which that package knows too: only where it
is not. Nothing is imported before a program asks for one of the names.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

#: The variables, and whether each goes before what is installed under the same names.
VARIABLES = {"LANEWISE_NKI": True, "NKI_SIMULATOR": False}
_NAMES = ("nki", "neuronxcc")
_OFF = ("", "0", "false", "no", "off")


class _Found(Loader):
    """Gives the module that installing has registered."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        from lanewise.nki.install import install

        install()
        return sys.modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        """Nothing: the module is complete."""


class Finder(MetaPathFinder):
    """Finds ``nki`` and ``neuronxcc``; installing registers all their modules at once."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of one of the two names, else None."""
        if fullname not in _NAMES:
            return None
        return ModuleSpec(fullname, _Found(), is_package=True)


def activate() -> bool:
    """Look for the names where the environment asks for it; whether it does. Once is enough."""
    for variable, first in VARIABLES.items():
        if os.environ.get(variable, "").strip().casefold() in _OFF:
            continue
        if not any(isinstance(finder, Finder) for finder in sys.meta_path):
            sys.meta_path.insert(0 if first else len(sys.meta_path), Finder())
        return True
    return False
