"""From text to words: lines, directives, symbols, and every trouble in a file at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from lanewise.errors import UsageError
from lanewise.neuron.dtypes import find_dtype
from lanewise.neuron.generation import (
    GENERATIONS,
    PARTITIONS,
    Generation,
    find_generation,
)
from lanewise.neuron.instruction import WORD_BYTES
from lanewise.neuron.program import Dispatch
from lanewise.neuron.roster import opcodes_of, roster
from lanewise.text.diagnostics import (
    Refusal,
    Reporter,
    Source,
    Span,
    one_of,
    unknown,
)
from lanewise.text.neuron.addresses import partition_of
from lanewise.text.neuron.cursor import Cursor
from lanewise.text.neuron.layout import Layout, layout_of, mnemonics
from lanewise.text.neuron.lexer import Kind, Token, bytes_of, tokens
from lanewise.text.neuron.statements import InstructionParser
from lanewise.text.neuron.symbols import Buffer, Symbols

ENGINES = ("pool", "act", "dve")
_DEFAULT_ENGINE = "default"
_ALIGNMENT = 64
_LARGEST_BUFFER = 1 << 20


@dataclass(frozen=True, slots=True)
class Item:
    """What one line puts into the stream.

    ``data`` is a word, or any bytes of ``.byte``; ``span`` the whole statement, ``fields`` where
    each field was written, by its path; ``engine`` what runs the word (None: its own).
    """

    data: bytes
    span: Span
    engine: str | None = None
    fields: Mapping[str, Span] = field(default_factory=dict)

    def span_of(self, path: str) -> Span:
        """Where the field at ``path``, or the field it is a part of, was written."""
        while path:
            if path in self.fields:
                return self.fields[path]
            path = path.rpartition(".")[0] or path.rpartition("[")[0]
        return self.span


@dataclass(frozen=True, slots=True)
class Assembly:
    """An assembled text."""

    source: Source
    generation: Generation
    items: tuple[Item, ...]
    buffers: Mapping[str, Buffer]

    @property
    def data(self) -> bytes:
        """The stream of words."""
        return b"".join(item.data for item in self.items)

    def program(self) -> Iterator[bytes | Dispatch]:
        """The stream for ``NeuronCore.run``, word by word with the engines that were named."""
        for item in self.items:
            yield item.data if item.engine is None else Dispatch(item.data, item.engine)


def assemble(
    text: str, generation: str | Generation | None = None, *, name: str = "<text>"
) -> Assembly:
    """The words of a text.

    ``generation`` is what the text must be for; without it the text's ``.generation`` decides,
    and cayman where there is none. ``name`` stands for the text in messages. AssemblyError with
    every trouble in the text.
    """
    return _Assembler(Source(text, name), generation).run()


class _Assembler:
    def __init__(self, source: Source, generation: str | Generation | None) -> None:
        self._source = source
        self._asked = None if generation is None else find_generation(generation)
        self._reporter = Reporter(source)
        self._symbols = Symbols(self._asked or find_generation("cayman"))
        self._items: list[Item] = []
        self._engine: str | None = None
        self._has_begun = False
        self._generation_span: Span | None = None
        self._directives: Mapping[str, Callable[[Cursor], None]] = {
            ".generation": self._set_generation,
            ".engine": self._set_engine,
            ".const": self._define_constant,
            ".buffer": self._define_buffer,
            ".word": self._put_word,
            ".byte": self._put_bytes,
        }

    def run(self) -> Assembly:
        text = self._source.text
        for line in range(1, self._source.line_count + 1):
            span = self._source.line_span(line)
            if span.start == span.end:
                continue
            try:
                found = tokens(text[span.start : span.end], span.start)
                if found[0].kind is not Kind.END:
                    self._statement(found)
            except Refusal as refusal:
                self._reporter.note(refusal)
        self._reporter.raise_if_any()
        return Assembly(
            self._source,
            self._symbols.generation,
            tuple(self._items),
            MappingProxyType(dict(self._symbols.buffers)),
        )

    def _statement(self, found: list[Token]) -> None:
        cursor = Cursor(found, self._symbols.constants, self._symbols.broken)
        first = cursor.advance()
        if first.kind is Kind.DIRECTIVE:
            directive = self._directives.get(first.text.casefold())
            if directive is None:
                raise unknown(first.span, "directive", first.text, self._directives)
            directive(cursor)
            if cursor.token.kind is not Kind.END:
                raise cursor.unexpected("the end of the line")
        elif first.kind is Kind.NAME:
            self._instruction(first, cursor, first.span.to(found[-2].span))
        else:
            raise Refusal(
                first.span,
                f"a line does not begin with {first.shown}",
                expected="an instruction, a directive or a comment",
            )

    def _instruction(self, name: Token, cursor: Cursor, span: Span) -> None:
        self._has_begun = True
        layout = self._layout(name)
        if self._engine is not None and self._engine not in layout.instruction.engines:
            engines = layout.instruction.engines
            self._reporter.report(
                name.span,
                f"{layout.mnemonic} does not run on {self._engine}, which .engine names",
                expected=one_of(engines),
                suggestion=f"put .engine {engines[0]} before it",
            )
        parser = InstructionParser(layout, name.span, cursor, self._symbols, self._reporter)
        instructed = parser.parse()
        if instructed is not None:
            data = instructed.word.to_bytes(WORD_BYTES, "little")
            fields = {"header": name.span} | dict(instructed.spans)
            self._items.append(Item(data, span, self._engine, MappingProxyType(fields)))

    def _layout(self, name: Token) -> Layout:
        folded = name.text.casefold()
        kind = mnemonics().get(folded)
        generation = self._symbols.generation
        if kind is None:
            for entry in roster().values():
                if entry.name.casefold() == folded:
                    raise Refusal(
                        name.span,
                        f"{folded} is not modelled, so it has no operands here",
                        expected='its 64 bytes, as in .word x"…"',
                    )
            known = [m for m, k in mnemonics().items() if k.opcode in opcodes_of(generation)]
            raise unknown(name.span, "instruction", name.text, known)
        if kind.opcode not in opcodes_of(generation):
            raise Refusal(
                name.span,
                f"{generation} has no {folded}",
                expected=f".generation {one_of([g.name for g in kind.generations()])}",
            )
        return layout_of(kind)

    # Directives

    def _set_generation(self, cursor: Cursor) -> None:
        token = cursor.expect(Kind.NAME, f"a generation: {one_of(GENERATIONS)}")
        try:
            generation = find_generation(token.text)
        except UsageError:
            raise unknown(token.span, "generation", token.text, GENERATIONS) from None
        if self._asked is not None and generation != self._asked:
            raise Refusal(
                token.span,
                f"the text is for {generation}, but it is assembled for {self._asked}",
            )
        if generation != self._symbols.generation and self._has_begun:
            raise Refusal(
                token.span,
                f"what stands above was read for {self._symbols.generation}",
                expected=".generation before every buffer and instruction",
            )
        if self._generation_span is not None and generation != self._symbols.generation:
            raise Refusal(token.span, "a text is for one generation")
        self._generation_span = token.span
        self._symbols.generation = generation

    def _set_engine(self, cursor: Cursor) -> None:
        choices = (*ENGINES, _DEFAULT_ENGINE)
        token = cursor.expect(Kind.NAME, f"an engine: {one_of(choices)}")
        folded = token.text.casefold()
        if folded not in choices:
            raise unknown(token.span, "engine", token.text, choices)
        self._engine = None if folded == _DEFAULT_ENGINE else folded

    def _name(self, cursor: Cursor, what: str) -> Token:
        token = cursor.expect(Kind.NAME, f"a name for the {what}")
        if token.text in self._symbols.spans:
            line, _ = self._source.position(self._symbols.spans[token.text].start)
            raise Refusal(token.span, f"{token.shown} has a meaning since line {line}")
        self._symbols.spans[token.text] = token.span
        self._symbols.broken.add(token.text)
        return token

    def _define_constant(self, cursor: Cursor) -> None:
        token = self._name(cursor, "constant")
        cursor.expect_sign("=", "and the constant's value")
        self._symbols.constants[token.text] = cursor.number("a number")
        self._symbols.broken.discard(token.text)

    def _define_buffer(self, cursor: Cursor) -> None:
        self._has_begun = True
        generation = self._symbols.generation
        name = self._name(cursor, "buffer")
        spaces = ("sbuf", "psum") if generation.psum_bytes else ("sbuf",)
        space = cursor.expect(Kind.NAME, f"a memory: {one_of(spaces)}")
        if space.text.casefold() not in spaces:
            raise unknown(space.span, "memory", space.text, spaces)
        partition, partitions = _partitions(cursor)
        offset_span, offset = cursor.token.span, None
        if cursor.take_sign("@"):
            offset = cursor.integer("a byte offset", 0, (1 << 20) - 1)
            offset_span = offset_span.to(cursor.previous.span)
        dtype_token = cursor.expect(Kind.NAME, "an element type, as in fp32[4096]")
        try:
            dtype = find_dtype(dtype_token.text)
        except UsageError as error:
            raise Refusal(dtype_token.span, str(error)) from None
        shape = _shape(cursor)
        buffer = Buffer(
            name=name.text,
            space="sbuf" if space.text.casefold() == "sbuf" else "psum",
            partition=partition,
            partitions=partitions,
            offset=0,
            dtype=dtype,
            shape=shape,
            span=name.span,
        )
        if offset is None:
            offset = self._symbols.free_offset(buffer, _ALIGNMENT)
        elif offset % dtype.size:
            raise Refusal(
                offset_span, f"{offset:#x} is not aligned to the {dtype.size} bytes of an element"
            )
        buffer = replace(buffer, offset=offset)
        active = generation.active_bytes(buffer.space)
        if buffer.end > active:
            raise Refusal(
                name.span.to(cursor.previous.span),
                f"{buffer.name} ends at byte {buffer.end:#x}, past the {active:#x} bytes of a "
                f"{buffer.space} partition of {generation}",
            )
        self._symbols.buffers[name.text] = buffer
        self._symbols.broken.discard(name.text)

    # Raw words and bytes

    def _put_word(self, cursor: Cursor) -> None:
        token = cursor.expect(Kind.BYTES, f'{WORD_BYTES} bytes, as in x"47100000 …"')
        data = bytes_of(token)
        if len(data) != WORD_BYTES:
            raise Refusal(token.span, f"a word has {WORD_BYTES} bytes, here are {len(data)}")
        self._has_begun = True
        self._items.append(Item(data, token.span, self._engine_for(data)))

    def _engine_for(self, data: bytes) -> str | None:
        """The engine of a raw word: the one named by .engine, where it can choose."""
        kind = mnemonics().get(roster()[data[0]].name.casefold()) if data[0] in roster() else None
        return self._engine if kind is not None and self._engine in kind.engines else None

    def _put_bytes(self, cursor: Cursor) -> None:
        self._has_begun = True
        begin, data = cursor.token.span, bytearray()
        while True:
            if cursor.token.kind is Kind.BYTES:
                data += bytes_of(cursor.advance())
            else:
                data.append(cursor.integer('a byte, or several as in x"47 10"', 0, 0xFF))
            if not cursor.take_sign(","):
                break
        self._items.append(Item(bytes(data), begin.to(cursor.previous.span)))


def _partitions(cursor: Cursor) -> tuple[int, int]:
    """``p0:128`` (or ``p3`` for one partition): first partition and their number."""
    begin = cursor.token.span
    first, lanes = partition_of(cursor, "p0:128")
    count = 1 if lanes is None else lanes.count
    if not count or first + count > PARTITIONS:
        raise Refusal(
            begin.to(cursor.previous.span),
            f"{count} partitions from p{first}",
            expected=f"at least one, and all of them in p0..p{PARTITIONS - 1}",
        )
    return first, count


def _shape(cursor: Cursor) -> tuple[int, ...]:
    cursor.expect_sign("[", "and the number of elements, as in fp32[4096]")
    lengths = []
    while True:
        lengths.append(cursor.integer("a number of elements", 1, _LARGEST_BUFFER))
        if not cursor.take_sign(","):
            break
    cursor.expect_sign("]", "to end the shape")
    return tuple(lengths)
