"""Fields: typed views of runs of bits.

A field is a descriptor. Read from a word it gives the value of its bits; on the class it gives
itself, so a word's description stays inspectable. Reading never fails: a code without a meaning
is still a number (which of them are legal is for an instruction set's rules to say).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, overload

from lanewise.errors import UsageError, nearest_names, shown
from lanewise.words.bits import BitRange

if TYPE_CHECKING:
    from lanewise.words.word import Word

T = TypeVar("T")
WordT = TypeVar("WordT", bound="Word")


class FieldValueError(UsageError):
    """A value that does not fit the field it was meant for."""


class Field(Generic[T]):
    """A named run of bits of a word, read as a ``T``.

    ``ranges`` are given most significant first, as manuals write a field that is split over a
    word; ``doc`` says what the field means; ``default`` is its value where a constructor is not
    given one.
    """

    __slots__ = ("default", "doc", "mask", "name", "ranges", "width")

    kind: ClassVar[str] = "field"
    #: Whether a constructor shows and takes the field as a matter of course.
    is_filler: ClassVar[bool] = False

    def __init__(self, *ranges: BitRange, doc: str, default: T) -> None:
        self.name = ""
        self.ranges = ranges
        self.doc = doc
        self.default = default
        self.width = sum(run.width for run in ranges)
        self.mask = 0
        for run in ranges:
            if self.mask & run.mask:
                raise ValueError(f"the runs {', '.join(map(str, ranges))} of a field overlap")
            self.mask |= run.mask

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, word: None, owner: type) -> Self: ...
    @overload
    def __get__(self, word: Word, owner: type) -> T: ...
    def __get__(self, word: Word | None, owner: type) -> Self | T:
        if word is None:
            return self
        return self.from_raw(self.extract(int(word)))

    def __set__(self, word: Word, value: object) -> None:
        raise AttributeError(
            f"{type(word).__name__} is immutable; use .replace({self.name}=…) for a changed copy"
        )

    def extract(self, word_bits: int) -> int:
        """This field's bits out of a whole word, as an unsigned integer."""
        if len(self.ranges) == 1:
            run = self.ranges[0]
            return (word_bits >> run.low) & ((1 << run.width) - 1)
        raw = 0
        for run in self.ranges:
            raw = raw << run.width | (word_bits >> run.low) & ((1 << run.width) - 1)
        return raw

    def insert(self, word_bits: int, raw: int) -> int:
        """A whole word with this field's bits replaced by ``raw`` (which must fit)."""
        word_bits &= ~self.mask
        for run in reversed(self.ranges):
            word_bits |= (raw & ((1 << run.width) - 1)) << run.low
            raw >>= run.width
        return word_bits

    def from_raw(self, raw: int) -> T:
        """The value that the unsigned bits ``raw`` stand for."""
        raise NotImplementedError

    def to_raw(self, value: Any) -> int:
        """The unsigned bits for ``value``; FieldValueError when it does not fit."""
        raise NotImplementedError

    def meaning(self, raw: int) -> str | None:
        """What the bits say beyond their number, or None."""
        return None

    @property
    def place(self) -> str:
        """Where the field lies in its word, for people."""
        return ", ".join(run.byte_text for run in self.ranges)

    def refuse(self, value: object, expected: str) -> FieldValueError:
        """The error for a ``value`` this field cannot hold."""
        return FieldValueError(
            f"field {self.name!r} ({self.place}) must be {expected}, not {shown(value)}"
        )

    def _whole_number(self, value: object) -> int:
        """``value`` as an int: ints, IntEnums and NumPy integers; bools and floats are refused."""
        index: Callable[[], int] | None = getattr(value, "__index__", None)
        if index is None or isinstance(value, bool):
            raise self.refuse(value, "a whole number")
        return index()

    def __repr__(self) -> str:
        runs = ", ".join(str(run) for run in self.ranges)
        return f"<{type(self).__name__} {self.name or '?'} at {runs}>"


class Unsigned(Field[int]):
    """An unsigned integer."""

    __slots__ = ()
    kind = "unsigned"

    def __init__(self, *ranges: BitRange, doc: str, default: int = 0) -> None:
        super().__init__(*ranges, doc=doc, default=default)

    def from_raw(self, raw: int) -> int:
        return raw

    def to_raw(self, value: object) -> int:
        number = self._whole_number(value)
        if not 0 <= number < 1 << self.width:
            raise self.refuse(value, f"0..{(1 << self.width) - 1}")
        return number


class Signed(Field[int]):
    """A two's complement integer."""

    __slots__ = ()
    kind = "signed"

    def __init__(self, *ranges: BitRange, doc: str, default: int = 0) -> None:
        super().__init__(*ranges, doc=doc, default=default)

    def from_raw(self, raw: int) -> int:
        return raw - (1 << self.width) if raw >> (self.width - 1) else raw

    def to_raw(self, value: object) -> int:
        number = self._whole_number(value)
        limit = 1 << (self.width - 1)
        if not -limit <= number < limit:
            raise self.refuse(value, f"{-limit}..{limit - 1}")
        return number & ((1 << self.width) - 1)


class Coded(Unsigned):
    """An unsigned code with named values; unnamed codes are kept as they are.

    A constructor takes the number or the name.
    """

    __slots__ = ("codes",)
    kind = "code"

    def __init__(
        self, *ranges: BitRange, codes: Mapping[int, str], doc: str, default: int = 0
    ) -> None:
        super().__init__(*ranges, doc=doc, default=default)
        self.codes = codes

    def to_raw(self, value: object) -> int:
        if isinstance(value, str):
            for code, name in self.codes.items():
                if name.casefold() == value.casefold():
                    return code
            near = nearest_names(value, self.codes.values())
            hint = f" (did you mean {' or '.join(near)}?)" if near else ""
            raise self.refuse(value, f"one of {', '.join(self.codes.values())}{hint}")
        return super().to_raw(value)

    def meaning(self, raw: int) -> str | None:
        return self.codes.get(raw)


class Reserved(Unsigned):
    """Bits that must be zero. They are kept when read, so a rule can point at them."""

    __slots__ = ()
    kind = "reserved"
    is_filler = True

    def __init__(self, *ranges: BitRange, doc: str = "reserved, must be zero") -> None:
        super().__init__(*ranges, doc=doc, default=0)

    def meaning(self, raw: int) -> str | None:
        return "must be zero" if raw else None


class Inert(Unsigned):
    """Bits that nothing looks at: any value is legal and is kept."""

    __slots__ = ()
    kind = "inert"
    is_filler = True

    def __init__(self, *ranges: BitRange, doc: str = "ignored, any value") -> None:
        super().__init__(*ranges, doc=doc, default=0)


class Fixed(Unsigned):
    """Bits whose value tells this form of word from the others."""

    __slots__ = ()
    kind = "fixed"
    is_filler = True

    def __init__(self, *ranges: BitRange, value: int, doc: str = "fixed") -> None:
        super().__init__(*ranges, doc=doc, default=value)


class Array(Field[tuple[int, ...]]):
    """``count`` integers of equal width, element 0 in the lowest bits."""

    __slots__ = ("count", "element_width", "signed")
    kind = "array"

    def __init__(
        self, run: BitRange, *, count: int, signed: bool, doc: str, default: Sequence[int]
    ) -> None:
        if run.width % count:
            raise ValueError(f"{run.width} bits do not divide into {count} elements")
        super().__init__(run, doc=doc, default=tuple(default))
        self.count = count
        self.element_width = run.width // count
        self.signed = signed

    def element_range(self, index: int) -> BitRange:
        """The bits of element ``index`` within the word."""
        return BitRange(self.ranges[0].low + index * self.element_width, self.element_width)

    def from_raw(self, raw: int) -> tuple[int, ...]:
        width, mask = self.element_width, (1 << self.element_width) - 1
        values = [(raw >> (width * index)) & mask for index in range(self.count)]
        if self.signed:
            values = [v - (1 << width) if v >> (width - 1) else v for v in values]
        return tuple(values)

    def to_raw(self, value: Sequence[int]) -> int:
        if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
            raise self.refuse(value, f"{self.count} whole numbers")
        if len(value) != self.count:
            raise self.refuse(value, f"{self.count} whole numbers, one a dimension")
        width = self.element_width
        low, high = (-(1 << (width - 1)), 1 << (width - 1)) if self.signed else (0, 1 << width)
        raw = 0
        for index, element in enumerate(value):
            number = self._whole_number(element)
            if not low <= number < high:
                raise self.refuse(value, f"{self.count} numbers in {low}..{high - 1}")
            raw |= (number & ((1 << width) - 1)) << (width * index)
        return raw


class Part(Field[WordT]):
    """A word inside a word: a header, an address, an access pattern."""

    __slots__ = ("word_type",)
    kind = "part"

    def __init__(
        self,
        run: BitRange,
        word_type: type[WordT],
        *,
        doc: str,
        default: WordT | None = None,
    ) -> None:
        if run.width != word_type.width:
            raise ValueError(
                f"{word_type.__name__} has {word_type.width} bits, {run} has {run.width}"
            )
        super().__init__(run, doc=doc, default=word_type() if default is None else default)
        self.word_type = word_type

    def from_raw(self, raw: int) -> WordT:
        return self.word_type.from_bits(raw)

    def to_raw(self, value: object) -> int:
        if not isinstance(value, self.word_type):
            raise self.refuse(value, f"a {self.word_type.__name__}")
        return int(value)
