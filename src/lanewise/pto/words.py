"""The words of a bundle, bit by bit.

A word whose bit 0 is set has 32 bits, any other 16. Each class below is one form; its fixed
fields tell it from the others, and its coded fields list every code with a meaning. Decoding is
total: any value gives a word or an IllegalInstruction fault that says why.

Source: PTO encodings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, ClassVar

from lanewise.errors import UsageError
from lanewise.pto.datatypes import DTYPE_CODES, DTYPE_NONE
from lanewise.pto.faults import illegal_instruction
from lanewise.pto.registers import GPR_NAMES
from lanewise.words import Coded, Fixed, Unsigned, Word, bits

GPR_CODES = MappingProxyType(dict(enumerate(GPR_NAMES)))
PAD_CODES = MappingProxyType({0: "Zero", 1: "Max", 2: "Min", 3: "Null"})
RELATION_CODES = MappingProxyType({0: "EQ", 1: "NE", 2: "LT", 3: "GT", 4: "LE", 5: "GE"})
RMODE_CODES = MappingProxyType(
    dict(enumerate(("Default", "RNE", "RTZ", "RTM", "RTP", "RNA", "RTO", "RHB")))
)
HAND_CODES = MappingProxyType({0: "T", 1: "U", 2: "M", 3: "N"})
LB_CODES = MappingProxyType({0: "LB0", 1: "LB1", 2: "LB2"})
#: B.DATR layouts. Named are those this model can name; the others are assigned elsewhere.
LAYOUT_CODES = MappingProxyType(
    {
        **{code: f"LAYOUT{code}" for code in (1, 3, 4, 6, 8, 9, 17, 18, 20, 27, 28, 30)},
        **{0: "NORM", 21: "ND2M32", 22: "ND2M16", 23: "ND2N8"},
        **{24: "M322ND", 25: "M162ND", 26: "N82ND"},
    }
)
#: SizeCode k allocates 64 << k bytes; 0 means no destination, 11 and up are no Local size.
LARGEST_SIZE_CODE = 10
SIZE_CODES = MappingProxyType(
    {0: "none"} | {k: f"{64 << k} bytes" for k in range(1, LARGEST_SIZE_CODE + 1)}
)


class BundleWord(Word, partial=True):
    """A word of a bundle. ``form`` is its mnemonic; ``strict`` names the coded fields whose
    unlisted codes are reserved."""

    __slots__ = ()

    form: ClassVar[str] = ""
    strict: ClassVar[tuple[str, ...]] = ()
    _match: ClassVar[tuple[int, int]] = (0, 0)

    def __init_subclass__(cls, *, width: int | None = None, partial: bool = False) -> None:
        super().__init_subclass__(width=width, partial=partial)
        mask = value = 0
        for field in cls.fields.values():
            if isinstance(field, Fixed):
                mask |= field.mask
                value = field.insert(value, field.default)
        cls._match = (mask, value)

    @classmethod
    def matches(cls, raw: int) -> bool:
        """Whether the fixed bits of ``raw`` are those of this form."""
        mask, value = cls._match
        return raw & mask == value

    def check(self) -> None:
        """Refuse reserved codes (IllegalInstruction)."""
        for name in self.strict:
            field = self.fields[name]
            raw = field.extract(int(self))
            if isinstance(field, Coded) and raw not in field.codes:
                illegal_instruction(
                    f"{self.form}.{name}",
                    f"{self.form} {name} ({field.place}) is {raw}, a reserved code; "
                    f"assigned are {_ranges(field.codes)}",
                )

    def field_values(self) -> dict[str, int | None]:
        """Every field that is not fixed, by name, as numbers."""
        return {
            name: field.extract(int(self))
            for name, field in self.fields.items()
            if not field.is_filler
        }


def _ranges(codes: Mapping[int, Any]) -> str:
    """Codes as text, runs drawn together: ``0..5, 8``."""
    runs: list[list[int]] = []
    for code in sorted(codes):
        if runs and code == runs[-1][1] + 1:
            runs[-1][1] = code
        else:
            runs.append([code, code])
    return ", ".join(str(a) if a == b else f"{a}..{b}" for a, b in runs)


def _fixed(high: int, low: int, value: int) -> Fixed:
    return Fixed(bits(high, low), value=value)


def _register(high: int, low: int, doc: str) -> Coded:
    return Coded(bits(high, low), codes=GPR_CODES, doc=doc)


class Bstart(BundleWord, width=32):
    """BSTART.TEPL, also written BSTART.VEC and BSTART.SFU: opens a bundle."""

    form = "BSTART.TEPL"
    strict = ("dtype",)
    pattern = _fixed(19, 0, 0x19181)
    function = Unsigned(bits(24, 20), doc="the operation within its mode")
    mode = Unsigned(bits(26, 25), doc="the group of operations")
    dtype = Coded(bits(31, 27), codes=DTYPE_CODES, doc="operation type unless B.DATR names one")

    @property
    def selector(self) -> int:
        """Mode and function as one number: which operation this is."""
        return self.mode << 5 | self.function

    def field_values(self) -> dict[str, int | None]:
        return {**super().field_values(), "selector": self.selector}


class Bdatr(BundleWord, width=32):
    """B.DATR: data attributes of the operation."""

    form = "B.DATR"
    strict = ("cmode", "dtype", "layout")
    opcode = _fixed(6, 0, 0x23)
    layout = Coded(bits(11, 7), codes=LAYOUT_CODES, doc="layout conversion")
    minor = _fixed(14, 12, 1)
    rmode = Coded(bits(17, 15), codes=RMODE_CODES, doc="rounding; byte offset in TGPR2T")
    zero = _fixed(19, 18, 0)
    dtype = Coded(bits(24, 20), codes=DTYPE_CODES, doc="operation type", default=DTYPE_NONE)
    canonicalize = Unsigned(bits(25), doc="canonical NaN results")
    sat = Unsigned(bits(26), doc="saturation; column half of an 8-bit compare into a GPR")
    pad = Coded(bits(28, 27), codes=PAD_CODES, doc="what padding holds")
    cmode = Coded(bits(31, 29), codes=RELATION_CODES, doc="relation of a compare")


class Bior(BundleWord, width=32):
    """B.IOR: binds GPRs."""

    form = "B.IOR"
    strict = ("dst", "src0", "src1", "src2")
    opcode = _fixed(6, 0, 0x13)
    dst = _register(11, 7, "destination register")
    minor = _fixed(14, 12, 0)
    src0 = _register(19, 15, "first source register")
    src1 = _register(24, 20, "second source register")
    zero = _fixed(26, 25, 0)
    src2 = _register(31, 27, "third source register")

    @property
    def sources(self) -> tuple[int, int, int]:
        """The three source selectors."""
        return self.src0, self.src1, self.src2


class Biot(BundleWord, width=32, partial=True):
    """B.IOT: binds tiles. Its three forms differ in how many sources they name."""

    form = "B.IOT"
    strict = ("size",)
    source_count: ClassVar[int] = 0
    opcode = _fixed(6, 0, 0x13)
    hand = Coded(bits(8, 7), codes=HAND_CODES, doc="destination hand")
    pemode = Unsigned(bits(11, 9), doc="participating PEs")
    size = Coded(bits(18, 15), codes=SIZE_CODES, doc="capacity of the destination")
    last = Unsigned(bits(19), doc="the last binding of the bundle")

    @property
    def tiles(self) -> tuple[int, ...]:
        """The source codes that the form has."""
        return tuple(int(getattr(self, f"src{n}")) for n in range(self.source_count))

    def check(self) -> None:
        super().check()
        if self.size == 0 and self.hand != 0:
            illegal_instruction(
                "B.IOT.hand",
                f"B.IOT hand (bits 8..7) is {self.hand} with SizeCode 0; without a destination "
                "the hand must be 0",
            )

    def field_values(self) -> dict[str, int | None]:
        return {"src0": None, "src1": None, **super().field_values()}


class BiotTwo(Biot, width=32):
    """B.IOT with two tile sources."""

    source_count = 2
    minor = _fixed(14, 12, 4)
    src0 = Unsigned(bits(25, 20), doc="first source tile: hand * 16 + age - 1")
    src1 = Unsigned(bits(31, 26), doc="second source tile")


class BiotOne(Biot, width=32):
    """B.IOT with one tile source."""

    source_count = 1
    minor = _fixed(14, 12, 5)
    src0 = Unsigned(bits(25, 20), doc="source tile: hand * 16 + age - 1")
    zero = _fixed(31, 26, 0)


class BiotNone(Biot, width=32):
    """B.IOT with a destination only."""

    minor = _fixed(14, 12, 6)
    zero = _fixed(31, 20, 0)

    def check(self) -> None:
        super().check()
        if self.size == 0:
            illegal_instruction(
                "B.IOT.size",
                "B.IOT size (bits 18..15) is 0 in the destination-only form, must be 1..10",
            )


class Bios(BundleWord, width=32):
    """B.IOS: binds a Shared tile. No operation of this model takes one."""

    form = "B.IOS"
    opcode = _fixed(8, 0, 0x13)
    pemode = Unsigned(bits(11, 9), doc="participating PEs; not looked at")
    minor = _fixed(14, 12, 1)
    size = Unsigned(bits(18, 15), doc="capacity; not looked at")
    zero = _fixed(19, 19, 0)
    tid = Unsigned(bits(27, 20), doc="Shared tile S0..S255")
    high = _fixed(31, 28, 0)


class Bdim(BundleWord, width=32):
    """B.DIM: a dimension from a register plus a 17-bit immediate."""

    form = "B.DIM"
    strict = ("lb", "src")
    opcode = _fixed(6, 0, 0x43)
    lb = Coded(bits(14, 12), codes=LB_CODES, doc="which dimension")
    src = _register(19, 15, "register added to the immediate")
    imm = Unsigned(bits(11, 7), bits(31, 20), doc="immediate")


class Cbdimi(BundleWord, width=16):
    """C.B.DIMI: a dimension from an 8-bit immediate, in 16 bits."""

    form = "C.B.DIMI"
    strict = ("lb",)
    opcode = _fixed(5, 0, 0x3C)
    imm = Unsigned(bits(13, 6), doc="immediate")
    lb = Coded(bits(15, 14), codes=LB_CODES, doc="which dimension")


class Bstop(BundleWord, width=32):
    """BSTOP: closes and runs a bundle."""

    form = "BSTOP"
    pattern = _fixed(31, 0, 1)


class Cbstop(BundleWord, width=16):
    """C.BSTOP: closes and runs a bundle, in 16 bits."""

    form = "C.BSTOP"
    pattern = _fixed(15, 0, 0)


class RawWide(BundleWord, width=32):
    """Any 32 bits, as ``.word`` writes them; no form of the machine."""

    form = ".word"
    raw = Unsigned(bits(31, 0), doc="the bits")


class RawShort(BundleWord, width=16):
    """Any 16 bits, as ``.word`` writes them; no form of the machine."""

    form = ".word"
    raw = Unsigned(bits(15, 0), doc="the bits")


def raw_word(raw: int, width: int) -> BundleWord:
    """Bits that need not be a word of the machine."""
    return RawWide.from_bits(raw) if width == 32 else RawShort.from_bits(raw)


#: Every form, wide and compressed.
FORMS: tuple[type[BundleWord], ...] = (
    Bstart,
    Bdatr,
    Bior,
    BiotTwo,
    BiotOne,
    BiotNone,
    Bios,
    Bdim,
    Cbdimi,
    Bstop,
    Cbstop,
)


@lru_cache(maxsize=1 << 16)
def _decode(raw: int, width: int) -> BundleWord:
    form = next((form for form in FORMS if form.width == width and form.matches(raw)), None)
    if form is None:
        illegal_instruction("encoding.none", f"0x{raw:0{width // 4}x} is no word of this machine")
    word = form.from_bits(raw)
    word.check()
    return word


_HEXADECIMAL = re.compile(r"(?:0[xX])?([0-9a-fA-F]{8}|[0-9a-fA-F]{4})")

ProgramWord = int | str | bytes | BundleWord
"""One word as a program gives it: a number, hexadecimal digits, its bytes, or a decoded word."""


def encoded_width(word: ProgramWord) -> tuple[int, int]:
    """The bits of ``word`` and how many they are, 16 or 32.

    A number has the width that its bit 0 announces, a hexadecimal string the width of its
    digits. UsageError for what is neither; IllegalInstruction for bytes that end early.
    """
    if isinstance(word, BundleWord):
        return int(word), word.width
    if isinstance(word, bytes):
        if len(word) not in (2, 4) or len(word) < (4 if word[0] & 1 else 2):
            illegal_instruction("encoding.cut", f"the program ends inside a word: {word.hex()}")
        return int.from_bytes(word, "little"), 8 * len(word)
    if isinstance(word, str):
        match = _HEXADECIMAL.fullmatch(word)
        if match is None:
            raise UsageError(f"a word is 4 or 8 hexadecimal digits, not {word!r}")
        return int(match[1], 16), 4 * len(match[1])
    raw = int(word)
    if raw < 0 or raw >> 32:
        raise UsageError(f"a word has at most 32 bits, {raw:#x} does not fit")
    return raw, 32 if raw & 1 or raw >> 16 else 16


def decode_word(word: ProgramWord) -> BundleWord:
    """The form of ``word`` with its fields.

    Raises PtoFault (IllegalInstruction) for bits that no form has, for reserved codes, and for a
    width that bit 0 contradicts.
    """
    raw, width = encoded_width(word)
    if width != (32 if raw & 1 else 16):
        illegal_instruction(
            "encoding.length",
            f"0x{raw:0{width // 4}x} has {width} bits, its bit 0 announces {48 - width}",
        )
    return _decode(raw, width)


def encode(form: str, **fields: object) -> BundleWord:
    """The word of a form with these fields (numbers, or names where a field has them).

    ``form`` is a mnemonic; B.IOT picks its form by the sources given, and ``selector`` of BSTART
    stands for mode and function. Raises UsageError for an unknown form, field or value.
    """
    known: dict[str, Callable[..., BundleWord]] = {
        cls.form: cls for cls in FORMS if not issubclass(cls, Biot)
    }
    if form == "B.IOT":
        sources = [fields.pop(name, None) for name in ("src0", "src1")]
        given = [source for source in sources if source is not None]
        if sources[0] is None and given:
            raise UsageError("B.IOT with src1 needs src0")
        chosen = (BiotNone, BiotOne, BiotTwo)[len(given)]
        return chosen(**{f"src{n}": source for n, source in enumerate(given)}, **fields)
    if form not in known:
        raise UsageError(f"unknown form {form!r} (expected {', '.join((*known, 'B.IOT'))})")
    if form == Bstart.form and "selector" in fields:
        selector = fields.pop("selector")
        if not isinstance(selector, int) or not 0 <= selector < 128:
            raise UsageError(f"a selector must be 0..127, not {selector!r}")
        fields |= {"mode": selector >> 5, "function": selector & 31}
    return known[form](**fields)
