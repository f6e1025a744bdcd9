"""``lanewise dis``: words into text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Any

import typer

from lanewise.cli.pto import MachineOption, is_pto
from lanewise.cli.support.inputs import STDIN
from lanewise.cli.support.options import GenerationOption, OutputOption, shortened
from lanewise.cli.support.output import Output, opened_output
from lanewise.cli.support.streams import HexOption, InputOption, Kind, words_of
from lanewise.neuron.instruction import WORD_BYTES
from lanewise.text.neuron import Printer

app = typer.Typer(rich_markup_mode=None, add_completion=False)

_LINES_A_BLOCK = 4096


@app.command(
    help="""Print words as text that assembles to the same bytes.

    What is no word of the generation prints as .byte with the reason in a comment, and the next
    64 bytes are looked at; a rest at the end of the input says so.
    """,
    epilog="Example: lanewise dis program.bin   or: lanewise dis --hex '0x47, 0x10, …'",
)
def dis(
    *,
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILE]…", help="Words or hex text; - is standard input."),
    ] = None,
    hex_text: HexOption = None,
    kind: InputOption = Kind.AUTO,
    machine: MachineOption = "auto",
    generation: GenerationOption = "cayman",
    offsets: Annotated[
        bool, typer.Option("--offsets", help="Put each word's offset and bytes into a comment.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write JSON Lines: one object a word.")
    ] = False,
    output: OutputOption = None,
) -> None:
    """Print words as text that assembles to the same bytes."""
    if is_pto(machine, *(files or ())):
        from lanewise.cli.pto import texts

        streams = texts.inputs(files or [STDIN], hex_text, kind)
        texts.dis(streams, as_json, offsets, output)
        return
    printer = Printer(shortened(generation))
    inputs = words_of(files or [STDIN], hex_text, kind)
    with opened_output(output) as out:
        if not as_json:
            out.line(printer.header)
        for pieces in inputs:
            if as_json or offsets:
                _write_one_by_one(out, printer, pieces, as_json)
            else:
                for piece in pieces:
                    _write_block(out, printer, piece)


def _write_block(out: Output, printer: Printer, piece: bytes) -> None:
    lines = list(printer.lines(piece))
    for start in range(0, len(lines), _LINES_A_BLOCK):
        print("\n".join(lines[start : start + _LINES_A_BLOCK]), file=out.stream)


def _write_one_by_one(
    out: Output, printer: Printer, pieces: Iterable[bytes], as_json: bool
) -> None:
    offset = 0
    for word in _split(pieces):
        text = printer.line(word)
        if as_json:
            out.json(_document(offset, word, text))
        else:
            # Behind the text, so that it still assembles.
            joint = "; " if "  //" in text else "  // "
            out.line(f"{text}{joint}{offset:#06x}: {word.hex(' ', -4)}")
        offset += len(word)


def _split(pieces: Iterable[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        for start in range(0, len(piece), WORD_BYTES):
            yield piece[start : start + WORD_BYTES]


def _document(offset: int, word: bytes, text: str) -> dict[str, Any]:
    line, _, comment = text.partition("  // ")
    kind = line.partition(" ")[0]
    return {
        "offset": offset,
        "kind": {".byte": "undecodable", ".word": "unmodelled"}.get(kind, "instruction"),
        "text": line,
        "comment": comment or None,
        "hex": word.hex(),
    }
