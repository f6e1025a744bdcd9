"""The checks of a call's operands, in one order and one form of message.

Is it a tile, where is it, how many partitions, equal sizes, element counts, start partition,
type, engine, target, writes to PSUM, placement: in this order, before any word is built.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lanewise.nki.dtypes import NkiDtype
from lanewise.nki.errors import NkiValidationError
from lanewise.nki.storage import OnChip
from lanewise.nki.targets import nc_version
from lanewise.nki.tile import NkiTensor

if TYPE_CHECKING:
    from lanewise.nki.call import Call

MOST_PARTITIONS = 128
_QUADRANT = 32

INPUTS = (
    "int8",
    "uint8",
    "bool_",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "float16",
    "bfloat16",
    "float32",
    "tfloat32",
    "float8_e5m2",
    "float8_e4m3",
    "float8_e4m3fn",
)
FLOATS = tuple(name for name in INPUTS if "float" in name)
FLOAT_INPUTS = tuple(name for name in FLOATS if name != "tfloat32")


@dataclass(frozen=True, slots=True)
class Operand:
    """What a function asks of one of its operands.

    ``word`` is the operand's name in the instruction word, for rule ids. ``dtypes`` lists what
    is allowed, ``dtype_rule`` the rule that says so, ``hint`` what to try. ``is_optional``
    operands may be None or a number.
    """

    name: str
    word: str
    dtypes: tuple[str, ...] = INPUTS
    dtype_rule: str | None = None
    hint: str = ""
    writes: bool = False
    is_optional: bool = False
    sbuf_only: bool = False

    @property
    def access(self) -> str:
        """The rule about where the operand may be."""
        return f"{self.word}-{'writable' if self.writes else 'readable'}"


@dataclass(frozen=True, slots=True)
class Count:
    """Elements per partition an operand must have."""

    operand: str
    low: int
    high: int
    rule: str

    @property
    def text(self) -> str:
        """The limit for people."""
        return f"{self.low}" if self.low == self.high else f"in {self.low}..{self.high}"


@dataclass(frozen=True, slots=True)
class Demands:
    """All that a function asks of its operands.

    ``alike`` lists (operand, model operand, rule): same elements per partition. ``same_dtype``
    the pairs that share a type. ``placed`` two sources that cannot both be in PSUM. ``since``
    is the first version of the core that has the function.
    """

    operands: tuple[Operand, ...]
    alike: tuple[tuple[str, str, str], ...] = ()
    counts: tuple[Count, ...] = ()
    same_dtype: tuple[tuple[str, str], ...] = ()
    placed: tuple[str, str] | None = None
    since: nc_version = nc_version.gen2


class Checker:
    """Runs the demands of a function against one call."""

    __slots__ = ("_call", "_demands", "_specs", "_tiles")

    def __init__(self, call: Call, demands: Demands, given: Mapping[str, Any]) -> None:
        self._call = call
        self._demands = demands
        self._specs = {spec.name: spec for spec in demands.operands}
        self._tiles: dict[str, NkiTensor] = {}
        for spec in demands.operands:
            value = given.get(spec.name)
            if isinstance(value, NkiTensor):
                self._tiles[spec.name] = value
            elif not spec.is_optional:
                raise self.refuse(spec.name, f"is a {_kind(value)}, must be a tile", _kind(value))

    def refuse(
        self, operand: str, problem: str, value: object, limit: str = "", rule: str | None = None
    ) -> NkiValidationError:
        """The error for an operand: ``problem`` is the message behind function and operand."""
        return self._call.refuse(operand, problem, value, limit, rule)

    def run(
        self,
        engine: tuple[str, str] | None = None,
        sizes: Callable[[], None] | None = None,
    ) -> None:
        """All checks in their order.

        ``engine`` is (problem, value) if the function found one; ``sizes`` the function's own
        check of ranks and counts.
        """
        self._spaces()
        self._partitions()
        self._sizes()
        if sizes is not None:
            sizes()
        self._windows()
        self._dtypes()
        if engine is not None:
            problem, value = engine
            raise self.refuse("engine", problem, value, rule="engine-reach")
        self._target()
        self._psum_writes()
        self._placement()

    def _spaces(self) -> None:
        for name, tile in self._tiles.items():
            spec = self._specs[name]
            if not isinstance(tile.storage, OnChip):
                raise self.refuse(
                    name,
                    f"buffer {tile.buffer} must be sbuf or psum; use dma_copy",
                    tile.buffer,
                    "sbuf or psum",
                    spec.access,
                )
            if spec.sbuf_only and tile.buffer != "sbuf":
                raise self.refuse(
                    name, f"buffer {tile.buffer} must be sbuf", tile.buffer, "sbuf", spec.access
                )

    def _partitions(self) -> None:
        for name, tile in self._tiles.items():
            view = tile.geometry
            if view.axis:
                raise self.refuse(
                    name,
                    f"block dimensions {view.shape[: view.axis]} must be indexed away first",
                    view.shape,
                    "a tile",
                )
            if view.partitions > MOST_PARTITIONS:
                raise self.refuse(
                    name,
                    f"partitions {view.partitions} exceeds maximum {MOST_PARTITIONS}",
                    view.partitions,
                    str(MOST_PARTITIONS),
                    "channels",
                )
            if view.partition_step != 1:
                raise self.refuse(
                    name,
                    f"partition step {view.partition_step} must be 1",
                    view.partition_step,
                    "1",
                )

    def _sizes(self) -> None:
        names = list(self._tiles)
        for name in names[1:]:
            have = self._tiles[name].geometry.partitions
            want = self._tiles[names[0]].geometry.partitions
            if have != want:
                raise self.refuse(
                    name,
                    f"partitions {have} must be {want} as in {names[0]}",
                    have,
                    str(want),
                    self._alike_rule(name, names[0]),
                )
        for name, model, rule in self._demands.alike:
            if name not in self._tiles or model not in self._tiles:
                continue
            have = self._tiles[name].geometry.elements
            want = self._tiles[model].geometry.elements
            if have != want:
                raise self.refuse(
                    name,
                    f"elements per partition {have} must be {want} as in {model}",
                    have,
                    str(want),
                    rule,
                )
        for count in self._demands.counts:
            if count.operand not in self._tiles:
                continue
            have = self._tiles[count.operand].geometry.elements
            if not count.low <= have <= count.high:
                raise self.refuse(
                    count.operand,
                    f"elements per partition {have} must be {count.text}",
                    have,
                    count.text,
                    count.rule,
                )

    def _alike_rule(self, name: str, model: str) -> str | None:
        for left, right, rule in self._demands.alike:
            if {left, right} == {name, model}:
                return rule
        return self._demands.alike[0][2] if self._demands.alike else None

    def _windows(self) -> None:
        if self._call.run.machine.profile.partition_window != "quadrant":
            return
        for name, tile in self._tiles.items():
            storage, view = tile.storage, tile.geometry
            assert isinstance(storage, OnChip)
            start, count = storage.partition + view.partition, view.partitions
            step = 128 if count > 2 * _QUADRANT else 64 if count > _QUADRANT else _QUADRANT
            if start % step == 0:
                continue
            legal = "0, 32, 64 or 96 (0 or 64 for more than 32 partitions, 0 for more than 64)"
            where = (
                f"; it is rows {view.partition}..{view.partition + count - 1} of {tile.name}, "
                f"allocated {storage.location}"
            )
            raise self.refuse(
                name,
                f"start partition {start} must be {legal}{where}",
                start,
                legal,
                f"{self._specs[name].word}-window",
            )

    def _dtypes(self) -> None:
        for name, tile in self._tiles.items():
            spec = self._specs[name]
            if tile.dtype.name not in spec.dtypes:
                allowed = _either(spec.dtypes)
                hint = f"; {spec.hint}" if spec.hint else ""
                raise self.refuse(
                    name,
                    f"dtype {tile.dtype} must be {allowed}{hint}",
                    tile.dtype,
                    allowed,
                    spec.dtype_rule,
                )
        for name, model in self._demands.same_dtype:
            if name not in self._tiles or model not in self._tiles:
                continue
            have, want = self._tiles[name].dtype, self._tiles[model].dtype
            if have != want and not _same_bits(have, want):
                raise self.refuse(
                    name,
                    f"dtype {have} must be {want} as in {model}",
                    have,
                    want.name,
                    "same-dtype",
                )
        forms = {tile.dtype.fp8_form for tile in self._tiles.values()} - {None}
        if len(forms) > 1:
            name = next(name for name, tile in self._tiles.items() if tile.dtype.fp8_form == "fn")
            raise self.refuse(
                name,
                "dtype float8_e4m3fn must not meet float8_e4m3 in one instruction",
                "float8_e4m3fn",
                "one form of E4M3",
            )

    def _target(self) -> None:
        target = self._call.run.machine.target
        since = self._demands.since
        if target.version < since:
            product = {nc_version.gen3: "trn2", nc_version.gen4: "trn3"}[since]
            raise self.refuse(
                "",
                f"needs NeuronCore-v{int(since)} ({product}) or newer, target is {target}",
                target,
                product,
                "opcode",
            )

    def _psum_writes(self) -> None:
        for name, tile in self._tiles.items():
            spec = self._specs[name]
            if spec.writes and tile.buffer == "psum" and tile.dtype.size != 4:
                raise self.refuse(
                    name,
                    f"dtype {tile.dtype} in psum must be 4 bytes wide",
                    tile.dtype,
                    "4 bytes",
                    spec.access,
                )

    def _placement(self) -> None:
        if self._demands.placed is None:
            return
        first, second = self._demands.placed
        if first not in self._tiles or second not in self._tiles:
            return
        left, right = self._tiles[first], self._tiles[second]
        if left.buffer != right.buffer:
            return
        if left.buffer == "psum":
            raise self.refuse(
                f"{first} and {second}",
                "are both in psum, one of them must be in sbuf",
                "psum",
                "sbuf",
                "source-placement",
            )
        quadrants = [_start(tile) // _QUADRANT for tile in (left, right)]
        if quadrants[0] != quadrants[1]:
            raise self.refuse(
                f"{first} and {second}",
                f"are in different quadrants (start partitions {_start(left)} and "
                f"{_start(right)}), must be in one",
                _start(right),
                f"quadrant {quadrants[0]}",
                "source-placement",
            )


def _start(tile: NkiTensor) -> int:
    assert isinstance(tile.storage, OnChip)
    return tile.storage.partition + tile.geometry.partition


def _same_bits(left: NkiDtype, right: NkiDtype) -> bool:
    """bool_ and uint8 are one type."""
    return {left.name, right.name} == {"bool_", "uint8"}


def _either(names: Sequence[str]) -> str:
    shown = [name for name in names if name != "bool_"] or list(names)
    if len(shown) == 1:
        return shown[0]
    return f"{', '.join(shown[:-1])} or {shown[-1]}"


def _kind(value: object) -> str:
    """What a value is, for people."""
    return "None" if value is None else type(value).__name__
