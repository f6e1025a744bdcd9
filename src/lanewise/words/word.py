"""Words: one integer seen through fields that cover each of its bits exactly once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Self

from lanewise.errors import UsageError, unknown_name
from lanewise.words.bits import BitRange
from lanewise.words.fields import Array, Field, Part


class WordDefinitionError(TypeError):
    """A word class whose fields leave a gap, overlap, or reach outside the word."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """One innermost field of a word with its place in the whole word.

    ``path`` joins the names of the parts with dots (``src.start_addr.address``; elements of an
    array as ``src.step[0]``), ``ranges`` are in bits of the outermost word, ``raw`` is unsigned.
    """

    path: str
    field: Field[Any]
    ranges: tuple[BitRange, ...]
    raw: int
    value: object

    @property
    def meaning(self) -> str | None:
        """What the value says beyond its number, or None."""
        return self.field.meaning(self.raw)


class Word:
    """An immutable bit pattern of ``width`` bits.

    Subclasses give ``width`` as a class argument and list fields in their body; fields of a base
    class are inherited. With ``partial=True`` a class may leave bits to its subclasses and cannot
    be instantiated.
    """

    __slots__ = ("_bits",)

    width: ClassVar[int] = 0
    fields: ClassVar[MappingProxyType[str, Field[Any]]] = MappingProxyType({})
    is_partial: ClassVar[bool] = True
    _default_bits: ClassVar[int] = 0

    _bits: int

    def __init_subclass__(cls, *, width: int | None = None, partial: bool = False) -> None:
        super().__init_subclass__()
        if width is not None:
            cls.width = width
        found: dict[str, Field[Any]] = {}
        for klass in reversed(cls.__mro__):
            for name, member in vars(klass).items():
                if isinstance(member, Field):
                    found[name] = member
                elif name in found:
                    del found[name]
        ordered = sorted(found.items(), key=lambda item: min(r.low for r in item[1].ranges))
        cls.fields = MappingProxyType(dict(ordered))
        cls.is_partial = partial
        cls._check_tiling()
        default = 0
        for field in cls.fields.values():
            default = field.insert(default, field.to_raw(field.default))
        cls._default_bits = default

    @classmethod
    def _check_tiling(cls) -> None:
        """Every bit in exactly one field; gaps are allowed in a partial class only."""
        covered = 0
        for field in cls.fields.values():
            if field.mask >> cls.width:
                raise WordDefinitionError(
                    f"{cls.__name__}.{field.name} reaches past the {cls.width} bits of the word"
                )
            if covered & field.mask:
                raise WordDefinitionError(
                    f"{cls.__name__}.{field.name} covers bits that another field has already"
                )
            covered |= field.mask
        missing = covered ^ ((1 << cls.width) - 1)
        if missing and not cls.is_partial:
            low = (missing & -missing).bit_length() - 1
            raise WordDefinitionError(f"no field of {cls.__name__} covers bit {low}")

    def __init__(self, *unnamed: object, **values: object) -> None:
        if unnamed:
            names = ", ".join(f"{n}=" for n, f in self.fields.items() if not f.is_filler)
            raise TypeError(f"{type(self).__name__} takes named fields: {names}")
        if self.is_partial:
            raise TypeError(f"{type(self).__name__} describes a part of a word only")
        object.__setattr__(self, "_bits", self._assign(self._default_bits, values))

    @classmethod
    def _assign(cls, word_bits: int, values: dict[str, object]) -> int:
        for name, given in values.items():
            value = given
            field = cls.fields.get(name)
            if field is None:
                raise unknown_name(f"field of {cls.__name__}", name, cls.fields)
            if isinstance(field, Part) and isinstance(value, Mapping):
                # Some of a part's fields: the others stay as they are in this word.
                value = field.from_raw(field.extract(word_bits)).replace(**value)
            word_bits = field.insert(word_bits, field.to_raw(value))
        return word_bits

    @classmethod
    def from_bits(cls, word_bits: int) -> Self:
        """The word with exactly these bits. Never fails for an integer of ``width`` bits."""
        if word_bits < 0 or word_bits >> cls.width:
            raise UsageError(f"{cls.__name__} holds {cls.width} bits, {word_bits:#x} does not fit")
        word = object.__new__(cls)
        object.__setattr__(word, "_bits", word_bits)
        return word

    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview) -> Self:
        """The word in these little-endian bytes; their number must be the word's."""
        if 8 * len(data) != cls.width:
            raise UsageError(f"{cls.__name__} takes {cls.width // 8} bytes, not {len(data)}")
        return cls.from_bits(int.from_bytes(data, "little"))

    def to_bytes(self) -> bytes:
        """The word as little-endian bytes."""
        return self._bits.to_bytes(self.width // 8, "little")

    def replace(self, **values: object) -> Self:
        """A copy with some fields changed, all other bits as they are."""
        return self.from_bits(self._assign(self._bits, values))

    def leaves(self) -> Iterator[Leaf]:
        """Every innermost field, lowest bit first, with its place in the whole word."""
        yield from self._leaves("", 0)

    def _leaves(self, prefix: str, shift: int) -> Iterator[Leaf]:
        for name, field in self.fields.items():
            raw = field.extract(self._bits)
            path = prefix + name
            if isinstance(field, Part):
                # A part is one run (see Part), so its own fields shift by the run's low end.
                yield from field.from_raw(raw)._leaves(f"{path}.", shift + field.ranges[0].low)
            elif isinstance(field, Array):
                element_mask = (1 << field.element_width) - 1
                for index, value in enumerate(field.from_raw(raw)):
                    run = field.element_range(index).shifted(shift)
                    element = (raw >> (index * field.element_width)) & element_mask
                    yield Leaf(f"{path}[{index}]", field, (run,), element, value)
            else:
                ranges = tuple(run.shifted(shift) for run in field.ranges)
                yield Leaf(path, field, ranges, raw, field.from_raw(raw))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(
            f"{type(self).__name__} is immutable; use .replace(…) for a changed copy"
        )

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable; its fields cannot be deleted")

    def __int__(self) -> int:
        return self._bits

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Word):
            return NotImplemented
        return type(self) is type(other) and self._bits == other._bits

    def __hash__(self) -> int:
        return hash((type(self), self._bits))

    def __reduce__(self) -> tuple[object, tuple[int]]:
        return type(self).from_bits, (self._bits,)

    def __repr__(self) -> str:
        """Constructor-shaped: the fields that differ from their default."""
        shown = []
        for name, field in self.fields.items():
            raw = field.extract(self._bits)
            if raw != field.extract(self._default_bits):
                shown.append(f"{name}={field.from_raw(raw)!r}")
        return f"{type(self).__name__}({', '.join(shown)})"
