"""The demonstration: search, compare with NumPy, print. ``--help`` lists the options.

Exit status 0 when machine and NumPy agree in every bit, 1 when they differ, 2 for bad options.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter

from rich.console import Console

from lanewise import LanewiseError
from lanewise.kernels import ENGINES
from lanewise.neuron import GENERATIONS, PROFILES, NeuronCore

from .model import Bigrams, count_bigrams, documentation, sentences
from .program import MOST_WORDS, Layout, one_step
from .reference import Ties, search_in_numpy
from .report import Report, Tally
from .search import Numbers, Outcome, Settings, differences, search_on_machine

PARTITIONS = 128
PROMPTS = (
    "an exception is",
    "the function",
    "a class",
    "objects",
    "when",
    "every",
    "if",
    "it",
)
COMMON = 24
"""So many of the most frequent words may come again in later rounds."""
FULL = {"beams": 16, "steps": 14, "rounds": 3, "words": 2500}
QUICK = {"beams": 4, "steps": 9, "rounds": 1, "words": 600}
VARIANTS = {"FP32": False, "through BFLOAT16": True}


def options() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.beam_search",
        description="Beam search over the Python documentation on a modelled NeuronCore.",
    )
    add = parser.add_argument
    add("--prompt", action="append", help="how a sentence begins; repeat for more (default: eight)")
    add("--beams", type=int, help="beams a prompt, 1..128 (default 16)")
    add("--steps", type=int, help="words to add at most (default 14)")
    add("--rounds", type=int, help="sentences a prompt, each with other words (default 3)")
    add("--words", type=int, help=f"vocabulary, 64..{MOST_WORDS} (default 2500)")
    add("--generation", default="cayman", help=f"{', '.join(GENERATIONS)} (default cayman)")
    add("--profile", default="isa", help=f"{', '.join(PROFILES)} (default isa)")
    add("--engine", default="auto", help=f"kernels: {', '.join(ENGINES)} (default auto)")
    add("--save", type=Path, metavar="PROGRAM.bin", help="write the words of one step to a file")
    add("--quick", action="store_true", help="a small run: 2 prompts, 4 beams, 1 round, 600 words")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demonstration; the exit status."""
    parser = options()
    given = parser.parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    sizes = {
        name: default if getattr(given, name) is None else getattr(given, name)
        for name, default in (QUICK if given.quick else FULL).items()
    }
    most_words, rounds = sizes["words"], sizes["rounds"]
    settings = Settings(sizes["beams"], sizes["steps"])
    if not 64 <= most_words <= MOST_WORDS:
        parser.error(f"--words must be 64..{MOST_WORDS}, not {most_words}")
    if not 1 <= settings.beams <= PARTITIONS or settings.steps < 1 or rounds < 1:
        parser.error("--beams must be 1..128, --steps and --rounds at least 1")

    started = perf_counter()
    source, texts = documentation()
    prose = sentences(texts)
    model = count_bigrams(prose, most_words)
    counted = perf_counter() - started
    try:
        most = min(2 if given.quick else len(PROMPTS), PARTITIONS // settings.beams)
        prompts = _prompts(model, given.prompt, settings.beams, most)
        core = NeuronCore(given.generation, given.profile, engine=given.engine)
    except (ValueError, LanewiseError) as error:
        parser.error(str(error))

    report, tally = Report(Console(highlight=False)), Tally()
    core.attach(tally)
    report.model(source, len(prose), model, core)
    report.line(
        f"search   prompts {len(prompts)}, beams {settings.beams} each, steps {settings.steps}, "
        f"rounds {rounds}; model counted in {counted:.2f} s"
    )
    layout = Layout(len(model.words))
    lanes = len(prompts) * settings.beams
    programs = {
        name: one_step(core.generation, layout, lanes, via_bfloat16=via_bfloat16)
        for name, via_bfloat16 in VARIANTS.items()
    }
    shown = programs["through BFLOAT16"]
    report.program(shown, core, layout)
    if given.save is not None:
        try:
            given.save.write_bytes(b"".join(instruction.to_bytes() for instruction in shown))
        except OSError as error:
            parser.error(f"--save: {error}")
        report.line(f"saved to {given.save}: {len(shown)} words of 64 bytes")
    report.line()

    found: list[str] = []
    machine_seconds = numpy_seconds = 0.0
    compared = Ties()
    known: set[Numbers] = set()
    for name, via_bfloat16 in VARIANTS.items():
        ties = Ties()
        outcomes: list[Outcome] = []
        for number in range(1, rounds + 1):
            title = f"{name}, round {number}"
            here = replace(settings, barred=_used(outcomes))
            run = partial(search_on_machine, core, programs[name], model, prompts, here)
            outcome = report.watch(title, model, here, run)
            report.round(title, outcome)
            outcomes.append(outcome)
            machine_seconds += outcome.machine_seconds
            before = perf_counter()
            expected, new_ties = search_in_numpy(model, prompts, here, via_bfloat16=via_bfloat16)
            numpy_seconds += perf_counter() - before
            ties += new_ties
            found += [f"{title}, {text}" for text in differences(outcome, expected)]
        by_round = [outcome.sentences for outcome in outcomes]
        results = [sentence for of_prompt in zip(*by_round, strict=True) for sentence in of_prompt]
        others = [sentence for sentence in results if sentence.words not in known]
        if not known:
            title = f"{len(results)} sentences, each after its log-probability:"
        elif others:
            title = f"the same {len(results)} sentences, except:"
        else:
            title = f"the same {len(results)} sentences"
        report.sentences(title, model, others)
        known |= {sentence.words for sentence in results}
        report.ties(name, ties)
        report.line()
        compared += ties

    report.tally(tally)
    total = perf_counter() - started
    report.line(
        f"time     {total:.2f} s: {machine_seconds:.2f} s in the machine, {numpy_seconds:.2f} s in "
        "NumPy's search, the rest on counting, rows, joining beams and this report"
    )
    return _verdict(report, found, compared)


def _prompts(model: Bigrams, given: Sequence[str] | None, beams: int, most: int) -> list[Numbers]:
    """The prompts as numbers; of the default ones those that the text has and that fit."""
    if given:
        if len(given) * beams > PARTITIONS:
            raise ValueError(
                f"{len(given)} prompts of {beams} beams need {len(given) * beams} partitions; "
                f"there are {PARTITIONS}: take fewer of either"
            )
        if not all(text.split() for text in given):
            raise ValueError("a prompt needs at least one word")
        return [model.numbers(text) for text in given]
    known = [text for text in PROMPTS if set(text.split()) <= set(model.words)]
    # Where the text has none of them, the most frequent word begins.
    return [model.numbers(text) for text in (known or model.words[3:4])[:most]]


def _used(outcomes: Sequence[Outcome]) -> frozenset[int]:
    """The rarer words of the sentences so far, which later rounds may not use."""
    sentences = [sentence.words for outcome in outcomes for sentence in outcome.sentences]
    return frozenset(word for words in sentences for word in words if word >= COMMON)


def _verdict(report: Report, found: Sequence[str], compared: Ties) -> int:
    if found:
        for text in found[:10]:
            report.line(f"differs: {text}", "red")
        report.line(f"self-check: FAILED, {len(found)} differences from plain NumPy", "bold red")
        return 1
    report.line(
        f"self-check: {compared.rows:,} rows of 16 values and positions and every sentence equal "
        f"plain NumPy's in every bit; {compared.tied:,} rows had ties",
        "bold green",
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
