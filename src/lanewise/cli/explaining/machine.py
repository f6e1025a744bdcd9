"""Generations and profiles of the NeuronCore."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterable
from typing import Any

from lanewise.cli.explaining.topic import Section, Topic, folded
from lanewise.errors import LanewiseError
from lanewise.neuron import GENERATIONS, PROFILES, Generation, Profile, find_generation
from lanewise.neuron.dtypes import dtype_names
from lanewise.neuron.instructions import BY_OPCODE
from lanewise.neuron.roster import alu_codes, opcodes_of


def names() -> Iterable[str]:
    """Names of generations, profiles and profile fields, and of the lists."""
    yield from ("generations", "profile", "profiles")
    for generation in GENERATIONS.values():
        yield generation.name
        yield from (name for name in generation.product.split(", ") if find(name))
    yield from PROFILES
    yield from (spec.name for spec in dataclasses.fields(Profile))


def find(thing: str) -> list[Topic]:
    """The generation (by name or product), profile or profile field of that name; or a list."""
    name = folded(thing)
    if name == "generations":
        return [_generation_list()]
    if name in ("profile", "profiles"):
        return [_profile_table()]
    topics = [_profile(label) for label in PROFILES if folded(label) == name]
    topics += [_field(spec) for spec in dataclasses.fields(Profile) if folded(spec.name) == name]
    with contextlib.suppress(LanewiseError):
        topics.append(_generation(find_generation(thing.strip())))
    return topics


# Generations.


def _memory(generation: Generation) -> dict[str, str]:
    psum = "none"
    if generation.psum_bytes:
        bank = generation.psum_bytes // generation.psum_banks
        psum = (
            f"{generation.psum_bytes >> 10} KiB a partition, "
            f"{generation.psum_banks} banks of {bank} bytes"
        )
    return {
        "SBUF": f"{generation.sbuf_bytes >> 10} KiB a partition ({generation.sbuf_bytes:#x}), "
        f"partitions {1 << generation.sbuf_stride_bits:#x} apart",
        "PSUM": psum,
    }


def _generation(generation: Generation) -> Topic:
    modelled = [kind for kind in BY_OPCODE.values() if generation in kind.generations()]
    facts = {
        "ISA": generation.isa,
        "product": generation.product,
        **_memory(generation),
        "index lists": "yes" if generation.has_indirect_patterns else "no",
        "opcodes": f"{len(opcodes_of(generation))} assigned, {len(modelled)} modelled",
        "dtypes": str(len(dtype_names(generation))),
        "ALU codes": str(len(alu_codes(generation))),
    }
    order = list(GENERATIONS.values())
    place = order.index(generation)
    sections = []
    if place:
        before = order[place - 1]
        rows = list(_differences(before, generation))
        sections.append(Section(f"against {before}", ("what", "number", "names"), rows))
    rules = [
        (kind.name, rule.id)
        for kind in modelled
        for rule in kind.rules
        if rule.only is not None and rule.applies(generation)
    ]
    if rules:
        title = "rules that not every generation has"
        sections.append(Section(title, ("instruction", "rule"), rules))
    summary = f"{generation.isa}, {generation.product}"
    return Topic("generation", generation.name, summary, facts, "", sections)


def _differences(before: Generation, after: Generation) -> Iterable[tuple[str, str, str]]:
    old, new = ({c: e.name for c, e in opcodes_of(g).items()} for g in (before, after))
    for what, first, second in (
        ("opcodes", old, new),
        ("dtypes", dtype_names(before), dtype_names(after)),
        ("ALU codes", alu_codes(before), alu_codes(after)),
    ):
        added = [name for code, name in second.items() if code not in first]
        dropped = [name for code, name in first.items() if code not in second]
        yield f"{what} added", str(len(added)), ", ".join(added)
        yield f"{what} dropped", str(len(dropped)), ", ".join(dropped)


def _generation_list() -> Topic:
    rows = [
        (g.name, g.isa, g.product, *_memory(g).values(), str(len(opcodes_of(g))))
        for g in GENERATIONS.values()
    ]
    header = ("generation", "ISA", "product", "SBUF", "PSUM", "opcodes")
    section = Section("generations", header, rows)
    return Topic("list", "generations", "the generations of the core", {}, "", [section])


# Profiles.


def _meanings(spec: dataclasses.Field[Any]) -> list[tuple[str, str]]:
    return [(str(choice), text) for choice, text in spec.metadata["choices"].items()]


def _profile_table() -> Topic:
    rows = []
    for spec in dataclasses.fields(Profile):
        choices = [choice for choice, _ in _meanings(spec)]
        shown = ", ".join(choices) if len(choices) < 5 else f"{choices[0]}..{choices[-1]}"
        values = [str(getattr(profile, spec.name)) for profile in PROFILES.values()]
        rows.append((spec.name, *values, shown, spec.metadata["why"]))
    header = ("field", *PROFILES, "choices", "why it is open")
    facts = {"default": Profile().description, "change a field": "--set FIELD=VALUE"}
    section = Section("fields", header, rows)
    return Topic("profile", "table", "every open point, decided by name", facts, "", [section])


def _profile(label: str) -> Topic:
    profile = PROFILES[label]
    rows = []
    for spec in dataclasses.fields(Profile):
        value = getattr(profile, spec.name)
        others = [
            f"{name}: {getattr(other, spec.name)}"
            for name, other in PROFILES.items()
            if getattr(other, spec.name) != value
        ]
        meaning = spec.metadata["choices"][value]
        rows.append((spec.name, str(value), meaning, ", ".join(others)))
    section = Section("fields", ("field", "value", "meaning", "differs from"), rows)
    return Topic("profile", label, "decisions on every open point", {}, "", [section])


def _field(spec: dataclasses.Field[Any]) -> Topic:
    facts = {name: str(getattr(profile, spec.name)) for name, profile in PROFILES.items()}
    section = Section("choices", ("value", "meaning"), _meanings(spec))
    return Topic("profile field", spec.name, spec.metadata["why"], facts, "", [section])
