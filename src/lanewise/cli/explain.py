"""``lanewise explain``: rules, instructions, dtypes, profile fields and generations, in words."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from lanewise.cli.explaining import Source, Topic, instructions, machine, numbers, pto
from lanewise.cli.support.options import JsonOption, OutputOption, shortened
from lanewise.cli.support.output import opened_output
from lanewise.errors import UsageError, nearest_names

app = typer.Typer(rich_markup_mode=None, add_completion=False)

#: Who answers. A thing may have several topics: a dtype and a number format, say.
SOURCES: Final[tuple[Source, ...]] = (instructions, numbers, machine, pto)
#: Machines that can be named first; they then answer alone.
_ALONE: Final[dict[str, Source]] = {pto.NAME: pto.Alone}
_LISTS: Final = ("instructions", "rules", "opcodes", "dtypes", "formats", "generations", "profile")


@app.command(epilog="Example: lanewise explain same-dtype CopyPredicatedReduce fp8_exp4 0xe8")
def explain(
    *,
    things: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="THING",
            help="A rule, an instruction (name, class, firmware name or 0x opcode), a dtype or "
            f"number format, a profile field, a generation, or a list: {', '.join(_LISTS)}. "
            "After 'pto': the same of the PTO machine, its revisions and evidence.",
        ),
    ] = None,
    as_json: JsonOption = False,
    output: OutputOption = None,
) -> None:
    """Explain things by name, from the descriptions that the model itself works with."""
    if not things:
        raise UsageError(f"name something to explain, or a list: {', '.join(_LISTS)}")
    sources = SOURCES
    if len(things) > 1 and things[0].casefold() in _ALONE:
        sources = (_ALONE[things[0].casefold()],)
        things = things[1:]
    topics = [topic for thing in things for topic in _topics(thing, sources)]
    with opened_output(output) as out:
        if as_json:
            out.json({"topics": [topic.document() for topic in topics]})
            return
        for index, topic in enumerate(topics):
            if index:
                out.line()
            topic.show(out)


def _topics(thing: str, sources: tuple[Source, ...] = SOURCES) -> list[Topic]:
    """The topics of a thing; UsageError with near misses among all kinds when it has none."""
    thing = shortened(thing)
    topics = [topic for source in sources for topic in source.find(thing)]
    if topics:
        return topics
    known = [name for source in sources for name in source.names()]
    near = nearest_names(thing, dict.fromkeys(known), most=5)
    hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
    raise UsageError(f"nothing here is called {thing!r}{hint} (lists: {', '.join(_LISTS)})")
