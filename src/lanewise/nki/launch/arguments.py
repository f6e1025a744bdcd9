"""A kernel's arguments: arrays become HBM tensors, containers are gone through, the rest passes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lanewise.nki.errors import KernelError, Location
from lanewise.nki.geometry import fresh
from lanewise.nki.launch.arrays import incoming, is_array, is_torch, outgoing, write_back
from lanewise.nki.run import Run
from lanewise.nki.storage import Hbm
from lanewise.nki.tile import NkiTensor


@dataclass(slots=True)
class Arguments:
    """The arguments of one call, as the kernel sees them.

    One tensor for each of the caller's arrays, however often it is passed.
    """

    positional: tuple[Any, ...] = ()
    keywords: dict[str, Any] = field(default_factory=dict)
    torch_wanted: bool = False
    _tensors: dict[int, tuple[str, Any, NkiTensor]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        function: Callable[..., Any],
        positional: Sequence[Any],
        keywords: Mapping[str, Any],
        run: Run,
        location: Location,
    ) -> Arguments:
        """The arguments for ``function``; TypeError where they do not fit it."""
        try:
            bound = inspect.signature(function).bind(*positional, **keywords)
        except TypeError as error:
            name = getattr(function, "__name__", "kernel")
            raise TypeError(f"{name}: {error} ({location})") from None
        made = cls()
        names = list(bound.arguments)
        made.positional = tuple(
            made._convert(names[min(place, len(names) - 1)], value, run, location)
            for place, value in enumerate(bound.args)
        )
        made.keywords = {
            name: made._convert(name, value, run, location) for name, value in bound.kwargs.items()
        }
        return made

    def _convert(self, name: str, value: Any, run: Run, location: Location) -> Any:
        if is_array(value):
            return self._tensor(name, value, run, location)
        if isinstance(value, (list, tuple)):
            items = [
                self._convert(f"{name}[{place}]", item, run, location)
                for place, item in enumerate(value)
            ]
            if isinstance(value, tuple) and hasattr(value, "_fields"):
                return type(value)(*items)
            return type(value)(items)
        if isinstance(value, dict):
            return {
                key: self._convert(f"{name}[{key!r}]", item, run, location)
                for key, item in value.items()
            }
        return value

    def _tensor(self, name: str, value: Any, run: Run, location: Location) -> NkiTensor:
        known = self._tensors.get(id(value))
        if known is not None:
            return known[2]
        codes, dtype = incoming(name, value)
        dtype = run.check_dtype(dtype, location)
        storage = Hbm(
            name,
            "shared_hbm",
            dtype,
            codes.size,
            location,
            data=codes.reshape(-1).view(np.uint8),
            source=value,
        )
        tensor = NkiTensor(storage, fresh(tuple(codes.shape), None), dtype)
        self._tensors[id(value)] = (name, value, tensor)
        self.torch_wanted |= is_torch(value)
        return tensor

    def write_back(self) -> None:
        """Put what the kernel wrote to its arguments into the caller's arrays."""
        for name, value, tensor in self._tensors.values():
            storage = tensor.storage
            if isinstance(storage, Hbm) and storage.changed:
                write_back(name, value, tensor.codes(), tensor.dtype)

    def results(self, returned: Any, run: Run, location: Location) -> Any:
        """What the kernel returned, its tensors as the caller's kind of array."""
        if isinstance(returned, NkiTensor):
            if returned.is_on_chip:
                raise KernelError(
                    f"the kernel returns {returned.name}, a tile in {returned.buffer}; copy it to "
                    f"a tensor in shared_hbm and return that ({location})"
                )
            for _, value, tensor in self._tensors.values():
                if tensor is returned:
                    return value
            run.check_read("result", returned.name, returned, returned.storage.location)
            codes = returned.codes()
            if any(tensor.storage is returned.storage for _, _, tensor in self._tensors.values()):
                codes = codes.copy()  # a view of an argument: the caller's array is not handed out
            return outgoing(codes, returned.dtype, torch_wanted=self.torch_wanted)
        if isinstance(returned, tuple) and hasattr(returned, "_fields"):
            return type(returned)(*(self.results(item, run, location) for item in returned))
        if isinstance(returned, (list, tuple)):
            return type(returned)(self.results(item, run, location) for item in returned)
        if isinstance(returned, dict):
            return {key: self.results(item, run, location) for key, item in returned.items()}
        return returned
