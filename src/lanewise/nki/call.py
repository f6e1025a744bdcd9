"""One call of an interface function: its arguments, its checks, its words, its record.

A modelled function is lowered once for each combination of operand places, types and parameters;
after that a call costs a look-up.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from lanewise.errors import nearest_names
from lanewise.neuron import Dispatch
from lanewise.neuron.instructions import BY_OPCODE
from lanewise.nki.context import running
from lanewise.nki.dtypes import NkiDtype
from lanewise.nki.errors import AccumulatorWarning, Location, NkiValidationError, caller
from lanewise.nki.estimate import Estimate
from lanewise.nki.run import Run
from lanewise.nki.steps import Step, operand_views
from lanewise.nki.storage import OnChip
from lanewise.nki.tile import NkiTensor

Function = TypeVar("Function", bound=Callable[..., Any])
Tiles = dict[str, Any]

#: The interface's names of the machine's engines.
ENGINE_NAMES = {"dve": "vector", "act": "scalar", "pool": "gpsimd"}
_MACHINE_NAMES = {name: engine for engine, name in ENGINE_NAMES.items()}


@dataclass(frozen=True, slots=True)
class Lowered:
    """A call as instruction words.

    ``reads`` and ``writes`` name operands. ``inspect`` looks at the operands before the words run
    and ``after`` when they have, to give warnings; ``partial`` tells which elements of a written
    operand the words write (None: all). ``engine`` is the machine's name of the engine.
    """

    words: tuple[bytes, ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    estimate: Estimate
    engine: str = "dve"
    form: str | None = None
    inspect: Callable[[Call, Tiles], None] | None = None
    partial: Callable[[Call, Tiles], Mapping[str, Any]] | None = None
    after: Callable[[Call, Tiles], None] | None = None
    program: tuple[bytes | Dispatch, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "program", dispatched(self.words, self.engine))


def dispatched(words: Sequence[bytes], engine: str) -> tuple[bytes | Dispatch, ...]:
    """The words with the engine named where it is not the word's own choice."""
    return tuple(
        word if BY_OPCODE[word[0]].engines[0] == engine else Dispatch(word, engine)
        for word in words
    )


def dispatches_of(step: Step) -> tuple[bytes | Dispatch, ...]:
    """The words of a step as the machine takes them."""
    return dispatched(step.words, _MACHINE_NAMES[step.engine]) if step.words else ()


class Call:
    """A call under way. ``tiles`` are its operands, once it is known which they are."""

    __slots__ = ("function", "label", "location", "run", "tiles")

    def __init__(self, function: str, label: str | None, run: Run, location: Location) -> None:
        self.function = function
        self.label = label
        self.run = run
        self.location = location
        self.tiles: Tiles = {}

    @classmethod
    def begin(cls, function: str, label: str | None = None) -> Call:
        """The call that the kernel is making now."""
        run = running(function)
        run.flush()
        return cls(function, label, run, caller())

    # Errors.

    def refuse(
        self,
        operand: str,
        problem: str,
        value: object = "",
        limit: str = "",
        rule: str | None = None,
    ) -> NkiValidationError:
        """The error for an operand; ``problem`` follows function and operand in the message."""
        subject = f"{self.function} {operand}" if operand else self.function
        return NkiValidationError(
            f"{subject} {problem}",
            function=self.function,
            operand=operand,
            value=str(value),
            limit=limit,
            rule=rule,
            location=self.location,
            step=len(self.run.steps),
            operands=tuple(map(str, operand_views(self.tiles))),
        )

    # Modelled functions.

    def issue(
        self,
        lower: Callable[..., Lowered],
        tiles: Tiles,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        """Lower the call (or find it lowered already) and run its words."""
        self.execute(self.prepare(lower, tiles, parameters or {}), tiles)

    def prepare(
        self, lower: Callable[..., Lowered], tiles: Tiles, parameters: Mapping[str, Any]
    ) -> Lowered:
        """The call as words, checked."""
        self.tiles = tiles
        key = (
            lower,
            tuple(value.key if isinstance(value, NkiTensor) else value for value in tiles.values()),
            # With their types: 5 equals an enum's member and is refused all the same.
            tuple((type(value), value) for value in parameters.values()),
        )
        cache = self.run.machine.lowered
        try:
            known: Lowered | None = cache.get(key)
        except TypeError:  # an unhashable argument: the checks will name it
            return lower(self, tiles, **parameters)
        if known is None:
            known = lower(self, tiles, **parameters)
            if len(cache) > 4096:
                cache.clear()
            cache[key] = known
        return known

    def execute(self, lowered: Lowered, tiles: Tiles) -> None:
        """Run the words of a prepared call and record it."""
        run = self.run
        for operand in lowered.reads:
            tile = tiles.get(operand)
            if isinstance(tile, NkiTensor) and not tile.storage.written.complete:
                run.check_read(self.function, operand, tile, self.location)
        if lowered.inspect is not None:
            lowered.inspect(self, tiles)
        written: Mapping[str, Any] = {}
        for operand in (*lowered.reads, *lowered.writes):
            tile = tiles.get(operand)
            if isinstance(tile, NkiTensor) and not tile.storage.touched:
                assert isinstance(tile.storage, OnChip)
                run.touch(tile.storage)
        if lowered.partial is not None:
            written = lowered.partial(self, tiles)
        for _, message in run.execute(lowered.program, lowered.form):
            run.warn_once(AccumulatorWarning, f"{self.function}: {message}", self.location)
        for operand in lowered.writes:
            tile = tiles.get(operand)
            if isinstance(tile, NkiTensor):
                tile.storage.written.mark(tile.geometry, tile.dtype.size, written.get(operand))
        if lowered.after is not None:
            lowered.after(self, tiles)
        run.add_step(
            Step(
                index=len(run.steps),
                function=self.function,
                location=self.location,
                engine=ENGINE_NAMES[lowered.engine],
                words=lowered.words,
                outside=False,
                profile=run.machine.description(lowered.form),
                operands=operand_views(tiles),
                estimate=lowered.estimate,
                program_id=run.program_index,
                label=self.label,
            )
        )

    @property
    def generation(self) -> Any:
        """The generation the words are for."""
        return self.run.machine.target.generation


def form_of(*dtypes: NkiDtype | None) -> str | None:
    """The form of E4M3 that the types of a call name."""
    for dtype in dtypes:
        if dtype is not None and dtype.fp8_form is not None:
            return dtype.fp8_form
    return None


def interface(function: Function) -> Function:
    """A function of the interface: unknown and missing arguments are said with their names.

    In the world where results go to ``dst``, leaving it out usually means a kernel of the older
    world, which the message names.
    """
    parameters = {
        name: parameter
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind != parameter.VAR_KEYWORD
    }
    # The catch-all of the older world's signatures takes the step's label and nothing else.
    takes_label = len(parameters) < len(inspect.signature(function).parameters)
    names = (*parameters, "name") if takes_label else tuple(parameters)
    known = frozenset(names)
    required = tuple(
        name for name, parameter in parameters.items() if parameter.default is parameter.empty
    )
    positional = sum(
        parameter.kind == parameter.POSITIONAL_OR_KEYWORD for parameter in parameters.values()
    )
    name = function.__name__

    @functools.wraps(function)
    def checked(*arguments: Any, **keywords: Any) -> Any:
        if not keywords.keys() <= known:
            raise _unknown(name, keywords, names)
        if len(arguments) > positional:
            allowed = ", ".join(names[:positional]) or "none"
            raise TypeError(
                f"{name} takes {positional} arguments by position ({allowed}), got "
                f"{len(arguments)} ({caller()})"
            )
        for position, parameter in enumerate(names[: len(arguments)]):
            if parameter in keywords:
                raise TypeError(
                    f"{name} got {parameter} by keyword and as argument {position} ({caller()})"
                )
        given = names[: len(arguments)]
        missing = [need for need in required if need not in given and need not in keywords]
        if missing:
            raise _missing(name, missing, names, function.__module__)
        return function(*arguments, **keywords)

    return checked  # type: ignore[return-value]


def _unknown(function: str, keywords: Mapping[str, Any], names: tuple[str, ...]) -> TypeError:
    unknown = next(keyword for keyword in keywords if keyword not in names)
    near = nearest_names(unknown, names)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    older = ""
    if unknown in ("mask", "dtype"):
        older = "; kernels with mask= and dtype= import neuronxcc.nki"
    return TypeError(
        f"{function} has no argument {unknown!r}{hint} (it takes {', '.join(names)}{older}) "
        f"({caller()})"
    )


def _missing(function: str, missing: list[str], names: tuple[str, ...], module: str) -> TypeError:
    older = ""
    if "dst" in names and "beta1" not in module:
        older = (
            "; here results go to dst and nothing is returned. A kernel that expects the result "
            "back is written for the older interface: import neuronxcc.nki instead of nki"
        )
    return TypeError(
        f"{function} needs {', '.join(missing)} (it takes {', '.join(names)}){older} ({caller()})"
    )
