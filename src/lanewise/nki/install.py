"""Making ``import nki`` and ``import neuronxcc.nki`` resolve to this package."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from types import ModuleType, TracebackType
from typing import Any

from lanewise.errors import LanewiseError, unknown_name

WORLDS = ("0.6", "beta1")
_MARK = "__lanewise_stands_in__"
# Module name: the module it stands for, and what else it shows.
_NAMES: dict[str, dict[str, str]] = {
    "0.6": {
        "nki": "lanewise.nki",
        "nki.isa": "lanewise.nki.isa",
        "nki.isa.constants": "lanewise.nki.isa.constants",
        "nki.language": "lanewise.nki.language",
        "nki.typing": "lanewise.nki.typing",
        "nki.simulator": "lanewise.nki.launch",
    },
    "beta1": {
        "neuronxcc": "",
        "neuronxcc.nki": "lanewise.nki.beta1",
        "neuronxcc.nki.isa": "lanewise.nki.beta1.isa",
        "neuronxcc.nki.isa.constants": "lanewise.nki.isa.constants",
        "neuronxcc.nki.language": "lanewise.nki.beta1.language",
        "neuronxcc.nki.typing": "lanewise.nki.typing",
    },
}


class Installed:
    """The names that :func:`install` registered; a context manager that undoes it."""

    def __init__(self, before: dict[str, ModuleType | None]) -> None:
        self._before = before

    def uninstall(self) -> None:
        """Put back what the names meant before. Doing it twice is fine."""
        for name, module in self._before.items():
            if module is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = module
        self._before = {}
        if _current and _current[-1] is self:
            _current.pop()

    def __enter__(self) -> Installed:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.uninstall()


_current: list[Installed] = []


def install(*, force: bool = False, worlds: Sequence[str] = WORLDS) -> Installed:
    """Have ``import nki`` (and ``import neuronxcc.nki``) find this package.

    ``worlds`` chooses: 0.6 is ``nki``, beta1 is ``neuronxcc.nki``. LanewiseError when the vendor's
    package is imported already, unless ``force`` replaces it. The result undoes it all.
    """
    for world in worlds:
        if world not in WORLDS:
            raise unknown_name("world", world, WORLDS)
    names = {name: target for world in worlds for name, target in _NAMES[world].items()}
    real = [
        name
        for name in ("nki", "neuronxcc")
        if name in names and name in sys.modules and not hasattr(sys.modules[name], _MARK)
    ]
    if real and not force:
        raise LanewiseError(
            f"the package {real[0]} is already imported from "
            f"{getattr(sys.modules[real[0]], '__file__', None) or 'somewhere else'}; call "
            "install() before it is, or install(force=True) to replace it"
        )
    before = {name: sys.modules.get(name) for name in names}
    if force:
        for name in list(sys.modules):
            root = name.partition(".")[0]
            if root in ("nki", "neuronxcc") and root in names:
                before.setdefault(name, sys.modules[name])
                del sys.modules[name]
    made: dict[str, ModuleType] = {}
    for name, target in names.items():
        made[name] = sys.modules[name] = _stand_in(name, target)
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(made[parent], child, made[name])
    handle = Installed(before)
    _current.append(handle)
    return handle


def uninstall() -> None:
    """Undo every :func:`install`."""
    while _current:
        _current[-1].uninstall()


def installed() -> bool:
    """Whether ``import nki`` finds this package."""
    return hasattr(sys.modules.get("nki", sys.modules.get("neuronxcc")), _MARK)


def _stand_in(name: str, target: str) -> ModuleType:
    """A module that shows another one's names under its own."""
    module = ModuleType(name, f"{name}, as offered by lanewise")
    setattr(module, _MARK, target)
    module.__path__ = []  # a package, but nothing is found in it beyond what is registered
    if not target:
        return module
    behind = importlib.import_module(target)
    module.__doc__ = behind.__doc__
    public = getattr(behind, "__all__", [key for key in vars(behind) if not key.startswith("_")])
    for key in public:
        setattr(module, key, getattr(behind, key))

    def missing(key: str) -> Any:
        if key.startswith("__"):
            raise AttributeError(f"module {name!r} has no attribute {key!r}")
        try:
            return getattr(behind, key)
        except AttributeError as error:
            if "has no attribute" not in str(error):
                raise  # it says more
            raise AttributeError(f"module {name!r} has no attribute {key!r}") from None

    module.__getattr__ = missing  # type: ignore[method-assign]
    module.__all__ = list(public)  # type: ignore[attr-defined]
    return module
