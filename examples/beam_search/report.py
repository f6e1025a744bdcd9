"""What the demonstration prints: colours and a live view on a terminal, plain lines elsewhere."""

from __future__ import annotations

import platform
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from math import prod
from time import perf_counter
from typing import Any

from rich import box
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from lanewise.model import Observer
from lanewise.neuron import Dtype, Instruction, NeuronCore

from .model import Bigrams
from .program import Layout
from .reference import Ties
from .search import Outcome, Sentence, Settings

_GROUP = 4
_GROUPS_A_LINE = 8


class Tally(Observer):
    """Counts what a core runs, by instruction: words, elements read, seconds."""

    def __init__(self) -> None:
        self.words: Counter[str] = Counter()
        self.elements: Counter[str] = Counter()
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._started = 0.0

    def before_legality(self, machine: Any, index: int, word: bytes) -> None:
        self._started = perf_counter()

    def after_commit(self, machine: Any, index: int, instruction: Any) -> None:
        name = instruction.name
        self.seconds[name] += perf_counter() - self._started
        self.words[name] += 1
        self.elements[name] += elements_read(instruction)


def elements_read(instruction: Instruction) -> int:
    """Elements of the instruction's first source, over all its lanes."""
    sources = (name for name, field in instruction.operands().items() if not field.is_destination)
    pattern = getattr(instruction, next(sources))
    return int(prod(pattern.num)) * instruction.channels


def operand_lines(instruction: Instruction, core: NeuronCore) -> list[str]:
    """The operands for people: type, offset in the partition, number of elements, step."""
    lines = []
    for name, field in instruction.operands().items():
        pattern = getattr(instruction, name)
        place = core.generation.locate(pattern.start.address)
        dtype = Dtype(instruction.dtype_of(field))
        step = "" if pattern.step[0] == 1 else f", step {pattern.step[0]}"
        offset = "?" if place is None else f"{place.space}+{place.offset:#06x}"
        lines.append(f"{name} {dtype} {offset}, {prod(pattern.num)} elements{step}")
    for name in ("scalar", "immediate", "reversed_pred"):
        if hasattr(instruction, name):
            lines.append(f"{name} {getattr(instruction, name):#x}")
    return lines


def hexadecimal(word: bytes) -> list[str]:
    """The bytes of a word in lines of groups."""
    groups = [word[at : at + _GROUP].hex() for at in range(0, len(word), _GROUP)]
    return [
        " ".join(groups[at : at + _GROUPS_A_LINE]) for at in range(0, len(groups), _GROUPS_A_LINE)
    ]


class Report:
    """Prints to ``console``; nothing here decides anything."""

    def __init__(self, console: Console) -> None:
        self.console = console

    def line(self, text: str = "", style: str = "") -> None:
        """One line, wrapped by the terminal and never cut."""
        self.console.print(Text(text, style=style), soft_wrap=True)

    def model(self, source: str, sentences: int, model: Bigrams, core: NeuronCore) -> None:
        """The machine, and what was counted."""
        self.line("Beam search on a modelled NeuronCore", "bold")
        self.line(
            f"machine  {core.generation} ({core.generation.isa}), profile "
            f"{core.profile.description}, {core.engine} kernels"
        )
        self.line(
            f"model    {sentences:,} sentences of {source}, Python {platform.python_version()}: "
            f"{int(model.frequency.sum()):,} words, {model.pairs:,} different bigrams, "
            f"vocabulary {len(model.words):,}"
        )

    def program(self, program: Sequence[Instruction], core: NeuronCore, layout: Layout) -> None:
        """The instruction stream of one step."""
        self.line()
        self.line(f"One step: {len(program)} words for {program[0].channels} partitions", "bold")
        self.line(
            f"{layout.end:,} of the {core.sbuf.bytes_per_partition:,} bytes of a partition are "
            "used; offsets are the same in each"
        )
        for number, instruction in enumerate(program, start=1):
            first, *more = operand_lines(instruction, core)
            self.console.print(
                Text.assemble(f"{number:3}  ", (f"{instruction.name:24}", "bold cyan"), first),
                soft_wrap=True,
            )
            for line in more:
                self.line(" " * 29 + line)
            for line in hexadecimal(instruction.to_bytes()):
                self.line("     " + line, "dim")

    def watch(
        self, title: str, model: Bigrams, settings: Settings, run: Callable[..., Outcome]
    ) -> Outcome:
        """Run a search; on a terminal, show its best beams meanwhile.

        ``run`` takes the keyword argument ``progress`` of search_on_machine.
        """
        if not self.console.is_terminal:
            return run()
        with Live(console=self.console, transient=True, auto_refresh=False) as live_view:

            def show(
                step: int,
                live: Sequence[Sequence[Sentence]],
                finished: Sequence[Sequence[Sentence]],
            ) -> None:
                table = Table(
                    "best beam",
                    "score",
                    "live",
                    "finished",
                    box=box.SIMPLE,
                    title=f"{title}: step {step} of {settings.steps}",
                    title_justify="left",
                    expand=True,
                )
                for left, done in zip(live, finished, strict=True):
                    if left or done:
                        best = left[0] if left else max(done, key=lambda sentence: sentence.mean)
                        table.add_row(
                            Text(model.text(best.words), no_wrap=True, overflow="ellipsis"),
                            f"{best.score:.2f}",
                            str(len(left)),
                            str(len(done)),
                        )
                live_view.update(table, refresh=True)

            return run(progress=show)

    def round(self, title: str, outcome: Outcome) -> None:
        """One line on a round that is done."""
        rows = sum(len(step) for step in outcome.steps)
        self.line(
            f"{title}: {len(outcome.steps)} steps, {rows:,} rows, {outcome.machine_seconds:.2f} s "
            "in the machine"
        )

    def sentences(self, title: str, model: Bigrams, sentences: Iterable[Sentence]) -> None:
        """Sentences with their scores."""
        self.line(title, "bold")
        for sentence in sentences:
            mark = "." if sentence.is_finished else " …"
            text = model.text(sentence.words)
            self.console.print(
                Text.assemble(
                    (f"{sentence.score:9.3f}  ", "green"), text[:1].upper() + text[1:] + mark
                ),
                soft_wrap=True,
            )

    def tally(self, tally: Tally) -> None:
        """What the machine did."""
        table = Table(box=box.SIMPLE if self.console.is_terminal else None, pad_edge=False)
        table.add_column("instruction")
        for title in ("run", "elements", "ms", "elements/µs"):
            table.add_column(title, justify="right")
        for name, count in tally.words.items():
            seconds, elements = tally.seconds[name], tally.elements[name]
            table.add_row(
                name,
                f"{count:,}",
                f"{elements:,}",
                f"{1e3 * seconds:.1f}",
                f"{elements / (1e6 * seconds):.0f}" if seconds else "",
            )
        table.add_row(
            "all",
            f"{tally.words.total():,}",
            f"{tally.elements.total():,}",
            f"{1e3 * sum(tally.seconds.values()):.1f}",
            style="bold",
        )
        self.console.print(table)

    def ties(self, name: str, ties: Ties) -> None:
        """How often position decided."""
        self.line(
            f"ties, {name}: in {ties.tied:,} of {ties.rows:,} rows equal values are among the best "
            f"16 ({ties.pairs:,} pairs), in {ties.cut:,} the 16th is also outside; "
            f"{ties.scores:,} pairs of beams' candidates had equal scores"
        )
