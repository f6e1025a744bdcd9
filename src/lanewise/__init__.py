"""lanewise: a bit-exact, fast, open model of predicated tensor instructions.

The two machines are ``lanewise.neuron`` (AWS NeuronCore, four generations) and ``lanewise.pto``
(the PTO tile ISA). They share bit-exact number formats (``lanewise.formats``) and one way of
describing instruction words (``lanewise.words``). ``lanewise.nki`` runs NKI kernels on the first.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from lanewise.errors import LanewiseError, UsageError

if TYPE_CHECKING:
    from lanewise.neuron.profile import Profile

__version__ = "0.1.0"
__all__ = ["LanewiseError", "Profile", "UsageError", "__version__"]

# Loaded when first asked for, so that `import lanewise` costs no more than NumPy itself.
_LAZY = {"Profile": ("lanewise.neuron.profile", "Profile")}
_PACKAGES = frozenset(
    {"check", "formats", "kernels", "model", "neuron", "nki", "pto", "text", "view", "words"}
)


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        module, attribute = _LAZY[name]
        return getattr(importlib.import_module(module), attribute)
    if name in _PACKAGES:
        return importlib.import_module(f"lanewise.{name}")
    raise AttributeError(f"module 'lanewise' has no attribute {name!r}")
