"""Access patterns, addresses and scalars out of a line."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from lanewise.errors import UsageError
from lanewise.neuron.addressing import walk_extent
from lanewise.neuron.dtypes import Dtype, element_size, find_dtype
from lanewise.neuron.words import Indirect, Tensor
from lanewise.text.diagnostics import Refusal, Span, unknown
from lanewise.text.neuron.addresses import WHOLE_WORD, AddressParser, Lanes, Start, is_type
from lanewise.text.neuron.layout import FieldArgument, ImmediateArgument, OperandArgument
from lanewise.text.neuron.lexer import Kind, bytes_of
from lanewise.text.neuron.patterns import (
    ADDRESS_BITS,
    INDIRECT,
    INERT,
    MODE_NAMES,
    STEP,
    VIA,
)
from lanewise.text.neuron.scalars import scalar_bits
from lanewise.text.neuron.symbols import Buffer

_MODES = {name: mode for mode, name in MODE_NAMES.items()}
_MOST_NUM = (1 << 16) - 1
_STEPS = (-(1 << 15), (1 << 15) - 1)
_POINTER, _IN_A_REGISTER = 1, 2

Dimensions = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class ParsedOperand:
    """A pattern's bits, and what its text says of its type (None: nothing) and of the lanes."""

    raw: int
    dtype: int | None
    lanes: Lanes | None


@dataclass(frozen=True, slots=True)
class ParsedScalar:
    """A scalar's bits, where they say it is (None: nothing) and its type (None: nothing)."""

    raw: int
    source: int | None
    dtype: int | None


class OperandParser(AddressParser):
    """Reads operands at a cursor."""

    # Types

    def dtype(self, argument: FieldArgument | None, fixed: int | None) -> int | None:
        """A type before a pattern or scalar, if one is written there."""
        token, following = self.cursor.token, self.cursor.following
        is_number = token.kind is Kind.NUMBER and (
            following.kind in (Kind.NUMBER, Kind.NAME) or following.text == "@"
        )
        is_name = token.kind is Kind.NAME and (
            following.kind in (Kind.NAME, Kind.NUMBER) or following.text in ("@", "-", "(")
        )
        if is_name and following.text in ("-", "("):
            is_name = is_type(token.text)
        if not (is_number or is_name):
            return None
        code = self._type_code(argument)
        if argument is not None and code >> argument.field.width:
            raise Refusal(
                token.span, f"type {token.shown} does not fit {argument.field.width} bits"
            )
        if fixed is not None and code != fixed:
            raise Refusal(token.span, f"the type is always {Dtype(fixed).name.lower()} here")
        return code

    def _type_code(self, argument: FieldArgument | None) -> int:
        token = self.cursor.token
        if token.kind is Kind.NUMBER:
            return self.cursor.integer("a type code", 0, 0xFF)
        folded = token.text.casefold()
        codes = {} if argument is None else argument.codes
        code = codes.get(folded)
        if code is None:
            try:
                code = int(find_dtype(folded))
            except UsageError:
                known = [*codes] or [dtype.name.lower() for dtype in Dtype]
                raise unknown(token.span, "type", token.text, known) from None
        self.cursor.advance()
        return code

    # Patterns

    def pattern(self, argument: OperandArgument) -> ParsedOperand:
        """An access pattern with its type."""
        field = argument.field
        fixed = None if isinstance(field.dtype, str) else int(field.dtype)
        dtype = self.dtype(argument.dtype, fixed)
        begin = self.cursor.token.span
        start, has_more = self.start(dtype)
        if dtype is None and start.buffer is not None:
            dtype = int(start.buffer.dtype)
        mode = 0
        if has_more and self.cursor.take_sign(";"):
            mode = self._mode()
            if self._at_index_list():
                raw = self._index_list(argument, start.word | mode << ADDRESS_BITS)
                self.cursor.expect_sign("]", "to end the pattern")
                return ParsedOperand(raw, dtype, start.lanes)
            if mode == INDIRECT and field.allows_indirect:
                raise Refusal(
                    self.cursor.previous.span,
                    "an indirect pattern without its index list",
                    expected=f"a count, {VIA!r} and the address of the indices",
                )
            dimensions = () if mode and self.cursor.at_sign("]") else self._dimensions(argument)
        elif start.is_whole and start.buffer is not None:
            dimensions = self._whole(argument, start.buffer, dtype, begin)
        else:
            dimensions = ()
        if has_more:
            self.cursor.expect_sign("]", "to end the pattern")
        span = begin.to(self.cursor.previous.span)
        _check_inside(start, dimensions, dtype, span)
        return ParsedOperand(
            _tensor(argument, start.word | mode << ADDRESS_BITS, dimensions), dtype, start.lanes
        )

    def _mode(self) -> int:
        token = self.cursor.token
        if token.kind is Kind.NAME:
            mode = _MODES.get(token.text.casefold())
            if mode is not None:
                self.cursor.advance()
                return mode
        return 0

    def _dimensions(self, argument: OperandArgument) -> Dimensions:
        most = argument.field.word_type.dimensions
        begin = self.cursor.token.span
        found = []
        while True:
            num = self.cursor.integer("a number of elements", 0, _MOST_NUM)
            step = 1
            if self.cursor.take_word(STEP):
                step = self.cursor.integer("a step", *_STEPS)
            found.append((step, num))
            if not self.cursor.take_sign(","):
                break
        if not self.cursor.at_sign("]"):
            raise self.cursor.unexpected(f"{STEP!r} and a number, ',' or ']'")
        if len(found) > most:
            span = begin.to(self.cursor.previous.span)
            raise Refusal(
                span, f"{argument.name} has {most} dimensions at most, here are {len(found)}"
            )
        return tuple(found)

    def _whole(
        self, argument: OperandArgument, buffer: Buffer, dtype: int | None, span: Span
    ) -> Dimensions:
        """The walk over a whole buffer, in as few dimensions as its counts fit."""
        size = buffer.dtype.size if dtype is None else element_size(dtype)
        if size != buffer.dtype.size:
            raise Refusal(
                span,
                f"{buffer.name} holds elements of {buffer.dtype.size} bytes, not of {size}",
                expected=f"a walk in brackets, such as {buffer.name}[0; 8]",
            )
        if buffer.count <= _MOST_NUM:
            return ((1, buffer.count),)
        dimensions, step = [], 1
        for length in reversed(buffer.shape):
            dimensions.append((step, length))
            step *= length
        most = argument.field.word_type.dimensions
        steps_fit = all(s <= _STEPS[1] and n <= _MOST_NUM for s, n in dimensions)
        if len(dimensions) > most or not steps_fit:
            raise Refusal(
                span,
                f"no walk of {most} dimensions covers {buffer.name} in one go",
                expected=f"a part of it, such as {buffer.name}[0; 1024]",
            )
        return tuple(dimensions)

    def _at_index_list(self) -> bool:
        """Whether a count and ``via`` follow; tried on a copy of the cursor's position."""
        with self.cursor.lookahead():
            try:
                self.cursor.number("a count")
            except Refusal:
                return False
            return self.cursor.at_word(VIA)

    def _index_list(self, argument: OperandArgument, data: int) -> int:
        begin = self.cursor.token.span
        count = self.cursor.integer("a number of elements", 0, _MOST_NUM)
        self.cursor.advance()
        index, has_more = self.start(Dtype.UINT32)
        if has_more:
            self.cursor.expect_sign("]", "to end the address of the indices")
        kind = argument.field.indirect_type
        if kind is None:
            raise Refusal(
                begin.to(self.cursor.previous.span),
                f"{argument.name} takes no index list",
                expected="a walk, such as 64, 8 step 64",
            )
        inert_field = kind.fields["inert"]
        inert = 0
        if self.cursor.take_word(INERT):
            token = self.cursor.expect(Kind.BYTES, 'bytes, such as x"00 01"')
            content = bytes_of(token)
            if len(content) != inert_field.width // 8:
                raise Refusal(
                    token.span,
                    f"{len(content)} bytes where {inert_field.width // 8} are needed",
                )
            inert = int.from_bytes(content, "little")
        return _indirect(kind, index.word, data, count, inert)

    # Scalars

    def scalar(self, argument: ImmediateArgument, known_type: int | None) -> ParsedScalar:
        """A scalar: a number, or @ and the place or register where it or its address is.

        ``known_type`` is what the line has said of its type before.
        """
        field = argument.field
        fixed = None if isinstance(field.dtype, str) else int(field.dtype)
        dtype = self.dtype(argument.dtype, fixed)
        if self.cursor.take_sign("@"):
            if self.cursor.at_word("reg"):
                self.cursor.advance()
                self.cursor.expect_sign("[", "after 'reg'")
                raw, source = self.register(WHOLE_WORD), _IN_A_REGISTER
                self.cursor.expect_sign("]", "to end the address")
                return ParsedScalar(raw, source, dtype)
            return ParsedScalar(self.pointer(dtype), _POINTER, dtype)
        begin = self.cursor.token.span
        number = self.cursor.number("a number, or @ and an address")
        kind = next((code for code in (dtype, fixed, known_type) if code is not None), None)
        if kind is None:
            assert argument.dtype is not None
            kind = argument.dtype.default
        try:
            raw = scalar_bits(number, kind)
        except UsageError as error:
            raise Refusal(begin.to(self.cursor.previous.span), str(error)) from None
        return ParsedScalar(raw, None, dtype)


def _check_inside(start: Start, dimensions: Dimensions, dtype: int | None, span: Span) -> None:
    """A walk that begins in a buffer stays in it."""
    buffer = start.buffer
    size = None if dtype is None else element_size(dtype)
    if buffer is None or size is None or not prod(num for _, num in dimensions):
        return
    low, high = walk_extent(size, [s for s, _ in dimensions], [n for _, n in dimensions])
    low, high = start.byte + low, start.byte + high
    if low < 0 or high >= buffer.size:
        raise Refusal(
            span,
            f"the walk leaves {buffer.name}: it covers bytes {low}..{high} of 0..{buffer.size - 1}",
        )


def _tensor(argument: OperandArgument, start: int, dimensions: Dimensions) -> int:
    kind: type[Tensor] = argument.field.word_type
    padded = (*dimensions, *((1, 1),) * (kind.dimensions - len(dimensions)))
    word = kind.fields["start"].insert(0, start)
    word |= kind.fields["step"].insert(0, kind.fields["step"].to_raw([s for s, _ in padded]))
    return word | kind.fields["num"].insert(0, kind.fields["num"].to_raw([n for _, n in padded]))


def _indirect(kind: type[Indirect], index: int, data: int, count: int, inert: int) -> int:
    fields = kind.fields
    word = fields["index"].insert(0, index | INDIRECT << ADDRESS_BITS)
    word |= fields["data"].insert(0, data)
    return word | fields["num_elem"].insert(0, count) | fields["inert"].insert(0, inert)
