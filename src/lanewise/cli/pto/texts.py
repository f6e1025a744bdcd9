"""What ``asm``, ``dis`` and ``dump`` do for the PTO machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from lanewise.cli.pto.program import build_profile
from lanewise.cli.support.inputs import read_text, shown_name
from lanewise.cli.support.output import Output, opened_output
from lanewise.cli.support.reports import diagnostic_document
from lanewise.cli.support.streams import Kind, words_of
from lanewise.pto import PtoProfile
from lanewise.pto.checking import check_program
from lanewise.pto.words import Bstart
from lanewise.text.diagnostics import Diagnostic
from lanewise.text.pto import Assembly, assemble, line_of, lines, words
from lanewise.view.pto_dump import dump_word, rendered

__all__ = [
    "assembled",
    "build_profile",
    "dis",
    "document",
    "dump",
    "hex_lines",
    "inputs",
    "refused",
]


def assembled(file: str) -> Assembly:
    """The assembly of a text file."""
    return assemble(read_text(file), name=shown_name(file))


def refused(assembly: Assembly, profile: PtoProfile) -> Iterator[Diagnostic]:
    """What the bundles are refused for, as far as their words alone tell, where they begin."""
    starts = [
        item.span
        for item in assembly.items
        for word in words([item.data])
        if len(word) == 4 and Bstart.matches(int.from_bytes(word, "little"))
    ]
    for finding in check_program(list(words([assembly.data])), profile):
        if finding.fault is not None:
            place = min(finding.index, len(starts) - 1)
            span = starts[place] if starts else assembly.items[0].span
            rule, reason = finding.fault.rule, finding.fault.args[0]
            yield Diagnostic(span, f"{rule}: {reason}", severity="illegal")


def document(assembly: Assembly, found: Sequence[Diagnostic]) -> dict[str, Any]:
    """An assembly as plain values."""
    offset = 0
    lines_of_words: list[dict[str, Any]] = []
    for item in assembly.items:
        line, column = assembly.source.position(item.span.start)
        lines_of_words.append(
            {"offset": offset, "line": line, "column": column, "hex": item.data.hex()}
        )
        offset += len(item.data)
    return {
        "machine": "pto",
        "words": lines_of_words,
        "broken": [diagnostic_document(assembly.source, diagnostic) for diagnostic in found],
    }


def hex_lines(assembly: Assembly) -> Iterator[str]:
    """The words as numbers, those of one line together."""
    for item in assembly.items:
        yield " ".join(word[::-1].hex() for word in words([item.data]))


def inputs(files: list[str], hex_text: str | None, kind: Kind) -> list[Iterator[bytes]]:
    """The bytes of each input; hex digits without 0x are numbers, as documents write words."""
    return words_of(files, hex_text, kind, granule=1, groups_are_numbers=True)


def dis(streams: list[Iterator[bytes]], as_json: bool, offsets: bool, output: str | None) -> None:
    """Print words as text, or as one object a word."""
    with opened_output(output) as out:
        for stream in streams:
            if as_json or offsets:
                _one_by_one(out, stream, as_json)
            else:
                for line in lines(stream):
                    out.line(line)


def _one_by_one(out: Output, stream: Iterator[bytes], as_json: bool) -> None:
    offset = 0
    for word in words(stream):
        text, _, comment = line_of(word).partition("  // ")
        if as_json:
            kind = {".byte": "undecodable", ".word": "undecodable"}.get(text.split()[0], "word")
            out.json(
                {
                    "offset": offset,
                    "kind": kind,
                    "text": text,
                    "comment": comment or None,
                    "hex": word.hex(),
                }
            )
        else:
            more = f"; {comment}" if comment else ""
            out.line(f"{text}  // {offset:#06x}: {word[::-1].hex()}{more}")
        offset += len(word)


def dump(streams: list[Iterator[bytes]], as_json: bool, output: str | None) -> None:
    """Show every field of every word."""
    with opened_output(output) as out:
        for stream in streams:
            offset = 0
            for word in words(stream):
                dumped = dump_word(word, offset)
                if as_json:
                    out.json(dumped.document())
                else:
                    for line, style in rendered(dumped):
                        out.line(line, style)
                offset += len(word)
