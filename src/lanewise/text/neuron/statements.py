"""One instruction line: its arguments in any order, every trouble in it, the word it makes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from lanewise.errors import UsageError
from lanewise.formats import FP32
from lanewise.text.diagnostics import Refusal, Reporter, Span, one_of, unknown
from lanewise.text.neuron.addresses import Lanes
from lanewise.text.neuron.cursor import Cursor
from lanewise.text.neuron.layout import (
    Argument,
    FieldArgument,
    ImmediateArgument,
    Layout,
    OperandArgument,
)
from lanewise.text.neuron.lexer import Kind, bytes_of
from lanewise.text.neuron.operands import OperandParser, ParsedOperand
from lanewise.text.neuron.scalars import Form, float_bits
from lanewise.text.neuron.symbols import Symbols
from lanewise.words import Signed


@dataclass(frozen=True, slots=True)
class Instructed:
    """An assembled instruction: its word, and where each field of it was written."""

    word: int
    spans: Mapping[str, Span]


@dataclass(slots=True)
class _Values:
    """What a line has said so far, by path of the field."""

    raw: dict[str, int] = field(default_factory=dict)
    spans: dict[str, Span] = field(default_factory=dict)
    lanes: list[Lanes] = field(default_factory=list)


class InstructionParser:
    """Parses the arguments of one instruction."""

    def __init__(
        self, layout: Layout, mnemonic: Span, cursor: Cursor, symbols: Symbols, reporter: Reporter
    ) -> None:
        self._layout = layout
        self._mnemonic = mnemonic
        self._cursor = cursor
        self._reporter = reporter
        self._operands = OperandParser(cursor, symbols)
        self._values = _Values()
        self._is_broken = False

    def parse(self) -> Instructed | None:
        """The instruction, or None when something was reported."""
        if self._cursor.token.kind is not Kind.END:
            while True:
                self._argument_or_report()
                if not self._cursor.take_sign(","):
                    break
        self._attempt(self._check_complete)
        self._attempt(self._settle_channels)
        if self._is_broken:
            return None
        word = self._layout.default_bits
        for path, raw in self._values.raw.items():
            argument = self._layout.by_name[path]
            if isinstance(argument, FieldArgument):
                word = argument.insert(word, raw)
            else:
                word = argument.field.insert(word, raw)
        return Instructed(word, MappingProxyType(self._values.spans))

    def _argument_or_report(self) -> None:
        try:
            self._argument()
            if not (self._cursor.at_sign(",") or self._cursor.token.kind is Kind.END):
                raise self._cursor.unexpected("',' and another argument, or the end of the line")
        except Refusal as refusal:
            self._reporter.note(refusal)
            self._is_broken = True
            self._cursor.skip_argument()

    def _attempt(self, step: object) -> None:
        assert callable(step)
        try:
            step()
        except Refusal as refusal:
            self._reporter.note(refusal)
            self._is_broken = True

    def _argument(self) -> None:
        name = self._cursor.expect(Kind.NAME, "an argument, such as src=…")
        argument = self._layout.by_name.get(name.text.casefold())
        if argument is None:
            raise self._unknown_argument(name.text, name.span)
        self._cursor.expect_sign("=", "between an argument's name and its value")
        begin = self._cursor.token.span
        if isinstance(argument, OperandArgument):
            self._operand(argument, name.span)
        elif isinstance(argument, ImmediateArgument):
            self._scalar(argument, name.span)
        else:
            raw = self._field(argument)
            self._set(argument.path, raw, begin.to(self._cursor.previous.span), name.span)

    def _unknown_argument(self, name: str, span: Span) -> Refusal:
        known = [argument.name for argument in _written(self._layout)]
        refusal = unknown(span, f"argument of {self._layout.mnemonic}", name, known)
        if self._cursor.token.text != "=":
            # Not a misspelt name but a value without one.
            return Refusal(
                span,
                f"an argument of {self._layout.mnemonic} needs its name",
                expected=f"name=value with {one_of(known)}",
            )
        return refusal

    def _set(self, path: str, raw: int, span: Span, place: Span) -> None:
        """Note a field's bits; saying the same twice is fine, saying two things is not."""
        if self._values.raw.setdefault(path, raw) != raw:
            raise Refusal(place, f"{path} has been given another value in this line already")
        self._values.spans.setdefault(path, span)

    def _operand(self, argument: OperandArgument, place: Span) -> None:
        begin = self._cursor.token.span
        if argument.name in self._values.raw:
            raise Refusal(place, f"{argument.name} has been given in this line already")
        parsed: ParsedOperand = self._operands.pattern(argument)
        span = begin.to(self._cursor.previous.span)
        self._set(argument.name, parsed.raw, span, place)
        if parsed.dtype is not None and argument.dtype is not None:
            self._set(argument.dtype.path, parsed.dtype, span, place)
        if parsed.lanes is not None:
            self._values.lanes.append(parsed.lanes)

    def _scalar(self, argument: ImmediateArgument, place: Span) -> None:
        begin = self._cursor.token.span
        if argument.name in self._values.raw:
            raise Refusal(place, f"{argument.name} has been given in this line already")
        known_type = self._values.raw.get(argument.dtype.path) if argument.dtype else None
        parsed = self._operands.scalar(argument, known_type)
        span = begin.to(self._cursor.previous.span)
        self._set(argument.name, parsed.raw, span, place)
        if parsed.source is not None:
            self._set(argument.source.path, parsed.source, span, place)
        if parsed.dtype is not None and argument.dtype is not None:
            self._set(argument.dtype.path, parsed.dtype, span, place)

    def _field(self, argument: FieldArgument) -> int:
        """The value of a plain field: a named code, bytes, a float for FP32 bits, or a number."""
        token, width = self._cursor.token, argument.field.width
        if token.kind is Kind.NAME:
            code = argument.codes.get(token.text.casefold())
            if code is not None:
                self._cursor.advance()
                return code
        if token.kind is Kind.BYTES:
            content = bytes_of(self._cursor.advance())
            if 8 * len(content) != width:
                raise Refusal(
                    token.span, f"{len(content)} bytes for {argument.name}, which has {width} bits"
                )
            return int.from_bytes(content, "little")
        if argument.field.kind == "fp32":
            return self._fp32(argument)
        if argument.names and token.kind is Kind.NAME and not self._cursor.is_constant(token):
            raise unknown(token.span, argument.name, token.text, argument.names.values())
        if isinstance(argument.field, Signed):
            low, high = -(1 << (width - 1)), (1 << (width - 1)) - 1
            return self._cursor.integer(argument.name, low, high) & ((1 << width) - 1)
        return self._cursor.integer(argument.name, 0, (1 << width) - 1)

    def _fp32(self, argument: FieldArgument) -> int:
        begin = self._cursor.token.span
        number = self._cursor.number("an FP32 number, or its bits in hex")
        span = begin.to(self._cursor.previous.span)
        if number.form is Form.FLOAT:
            try:
                return float_bits(number, FP32)
            except UsageError as error:
                raise Refusal(span, str(error)) from None
        assert isinstance(number.value, int)
        if number.form is Form.INTEGER:
            raise Refusal(
                span,
                f"a whole number is ambiguous for {argument.name}",
                expected=f"{number.value}.0 for the number or {number.value:#x} for the bits",
            )
        if number.value >> 32:
            raise Refusal(span, f"{argument.name} has 32 bits, {number.value:#x} does not fit")
        return number.value

    # The instruction as a whole

    def _check_complete(self) -> None:
        """Every pattern is given, with a type."""
        given = self._values.raw
        for operand in self._layout.operands:
            if operand.name not in given and not self._is_broken:
                raise Refusal(
                    self._mnemonic,
                    f"{self._layout.mnemonic} needs {operand.name}",
                    expected=f"{operand.name}= with a type and a pattern ({operand.field.doc})",
                )
        typed: list[OperandArgument | ImmediateArgument] = [*self._layout.operands]
        for argument in [*typed, *self._layout.immediates]:
            dtype = argument.dtype
            if dtype is None or argument.name not in given or dtype.path in given:
                continue
            if isinstance(argument, ImmediateArgument) and dtype.default:
                continue
            raise Refusal(
                self._values.spans[argument.name],
                f"{argument.name} has no type",
                expected=f"{one_of(dtype.names.values())} before it",
            )

    def _settle_channels(self) -> None:
        """The number of lanes where ``channels`` does not say it: that of the operands."""
        channels, lanes = self._layout.channels, self._values.lanes
        if channels is None or self._is_broken:
            return
        written = [entry for entry in lanes if entry.is_written]
        count = self._values.raw.get(channels.path)
        if count is None:
            said = written or lanes
            if not said:
                return
            count = said[0].count
            for entry in said:
                if entry.count != count:
                    raise Refusal(
                        entry.span,
                        f"{entry.count} partitions here, {count} in the operand before",
                        expected=f"the same number everywhere, or {channels.name}=",
                    )
            self._values.raw[channels.path] = count
            self._values.spans[channels.path] = said[0].span
        for entry in lanes:
            if entry.count < count or (entry.is_written and entry.count != count):
                raise Refusal(
                    entry.span, f"{entry.count} partitions here, but {channels.name} is {count}"
                )


def _written(layout: Layout) -> list[Argument]:
    """The arguments a text is expected to use, those that are often needed first."""
    implied = layout.implied
    plain = [argument for argument in layout.fields if argument.path not in implied]
    plain.sort(key=lambda argument: "." in argument.path)
    return [*layout.operands, *layout.immediates, *plain]
