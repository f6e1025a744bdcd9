"""``lanewise cast``: what a conversion does to a value, bit by bit, under each profile."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand

from lanewise.cli.support.inputs import standard_input
from lanewise.cli.support.numbers import (
    MINUS,
    NumberType,
    bits_text,
    fraction_text,
    looks_like_bits,
    parse_value,
    split_text,
    value_text,
)
from lanewise.cli.support.options import (
    JsonOption,
    OutputOption,
    SetOption,
    build_profile,
    shortened,
)
from lanewise.cli.support.output import Output, opened_output
from lanewise.errors import UsageError, unknown_name
from lanewise.formats import (
    ConversionPolicy,
    Explanation,
    Format,
    Outcome,
    Range,
    Value,
    decode,
    encode,
    explain_rounding,
)
from lanewise.neuron import PROFILES, Profile

app = typer.Typer(rich_markup_mode=None, add_completion=False)

_MACHINES: Final = ("neuron", "pto")
_LARGEST_LIST: Final = 1 << 20
_NEGATIVE: Final = re.compile(r"-(\.?[0-9]|inf|nan).*", re.IGNORECASE)


class _Command(TyperCommand):
    """The verb, with negative numbers as arguments: -1.5 is no option here."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        takes_value = {
            name
            for option in self.get_params(ctx)
            if option.param_type_name == "option" and not getattr(option, "is_flag", False)
            for name in option.opts
        }
        protected: list[str] = []
        is_value = False
        for position, arg in enumerate(args):
            if is_value:
                protected.append(arg)
                is_value = False
            elif arg == "--":
                # What follows is not taken for options anyway.
                protected += args[position:]
                break
            else:
                protected.append(MINUS + arg[1:] if _NEGATIVE.fullmatch(arg) else arg)
                is_value = arg in takes_value
        return super().parse_args(ctx, protected)


@dataclass(frozen=True, slots=True)
class _Given:
    """A value as it was given and as the code it is in the source format."""

    text: str
    format: Format
    code: int
    meant: Value | None

    @property
    def value(self) -> Value:
        return decode(self.format, self.code)

    @property
    def is_exact(self) -> bool:
        """Whether the source format holds what was given (bits hold themselves)."""
        if self.meant is None:
            return True
        value = self.value
        if self.meant.is_nan:
            return value.is_nan
        return (value.category, value.value) == (self.meant.category, self.meant.value)

    @property
    def is_saturated(self) -> bool:
        """Whether what was given lies beyond the source format, which holds its end instead."""
        meant, held = self.meant, self.value.value
        if meant is None or meant.is_nan or held is None:
            return False
        if meant.value is None:
            return True
        further = replace(meant, value=meant.value * (1 << 200))
        if encode(self.format, further, _policy(self.format)) != self.code:
            return False
        # A number that is nearest to the end of the range is not beyond it.
        step = decode(self.format, self.code ^ 1).value
        return step is None or 2 * abs(meant.value - held) > abs(step - held)


@app.command(
    help="""Convert values between types and show every step.

    A value passes through FP32 (the hub) and is rounded into the target. Types are Neuron dtypes
    (FP32, BFLOAT16 or bf16, FP8_EXP4, INT8, …) or any number format; 'lanewise explain dtypes'
    lists them. A number that the source type cannot hold is rounded into it first.
    """,
    cls=_Command,
    epilog="Example: lanewise cast 3.3 -0.0 0x7f800001 --from FP32 --to BF16,FP8_EXP4,INT8",
)
def cast(
    *,
    values: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="VALUE",
            help="Numbers (1.5, -3e-2, 0x1.8p3, inf, nan) or bits of the source type (0x3f80); "
            "- reads a list from standard input.",
        ),
    ] = None,
    source: Annotated[str, typer.Option("--from", metavar="TYPE", help="The source type.")],
    targets: Annotated[
        list[str],
        typer.Option("--to", metavar="TYPE[,TYPE…]", help="The types to convert to."),
    ],
    as_value: Annotated[
        bool, typer.Option("--value", help="Take 0x10 as the number 16, not as bits.")
    ] = False,
    stream: Annotated[
        bool,
        typer.Option(
            "--stream", help="As the search instructions do: through FP32 even for equal types."
        ),
    ] = False,
    machine: Annotated[
        str,
        typer.Option("--machine", metavar="NAME", help="Whose type names: neuron or pto."),
    ] = "neuron",
    profile: Annotated[
        str | None,
        typer.Option("--profile", "-p", metavar="NAME", help="Only this profile: isa, hardware."),
    ] = None,
    overrides: SetOption = None,
    as_json: JsonOption = False,
    output: OutputOption = None,
) -> None:
    folded = machine.casefold()
    if folded not in _MACHINES:
        raise unknown_name("machine", shortened(machine), _MACHINES)
    source_type = NumberType.find(source, folded)
    target_types = [NumberType.find(name, folded) for text in targets for name in text.split(",")]
    profiles = _profiles(profile, overrides)
    texts = list(_texts(values or ["-"]))
    results = []
    for text in texts:
        for given, names in _readings(text, source_type, profiles, as_value=as_value):
            results.append((given, _conversions(given, names, target_types, stream=stream)))
    with opened_output(output) as out:
        if as_json:
            out.json({"values": [_document(*result, source_type) for result in results]})
            return
        for index, (given, conversions) in enumerate(results):
            if index:
                out.line()
            _show(out, given, source_type, conversions)


@dataclass(frozen=True, slots=True)
class _Conversion:
    """A conversion and the profiles under which it comes out like this."""

    target: NumberType
    profiles: tuple[str, ...]
    explanation: Explanation


def _profiles(name: str | None, overrides: list[str] | None) -> dict[str, Profile]:
    """The profiles to show by description: the named ones, and one with what --set changes."""
    shown = dict(PROFILES) if name is None else {Profile.named(shortened(name)).description: name}
    found = {label: Profile.named(known) for label, known in shown.items()}
    if overrides:
        changed = build_profile(name or "isa", overrides)
        found[changed.description] = changed
    return found


def _texts(values: list[str]) -> Iterator[str]:
    for value in values:
        if value != "-":
            yield value.replace(MINUS, "-")
            continue
        listed = standard_input("give values, or pipe a list in").read(_LARGEST_LIST + 1)
        if len(listed) > _LARGEST_LIST:
            raise UsageError(f"standard input: more than {_LARGEST_LIST >> 20} MiB of values")
        try:
            words = listed.decode().split()
        except UnicodeDecodeError as error:
            raise UsageError(f"standard input: not a list of values ({error})") from error
        if not words:
            raise UsageError("standard input: empty; expected values separated by white space")
        yield from words


def _readings(
    text: str, source: NumberType, profiles: dict[str, Profile], *, as_value: bool
) -> Iterator[tuple[_Given, dict[str, Profile]]]:
    """The value in the source format, once for each format the profiles give the type."""
    formats: dict[Format, dict[str, Profile]] = {}
    for name, profile in profiles.items():
        formats.setdefault(source.format(profile), {})[name] = profile
    for format, names in formats.items():
        yield _read(text, format, as_value=as_value), names


def _read(text: str, format: Format, *, as_value: bool) -> _Given:
    if looks_like_bits(text) and not as_value:
        code = int(text, 16)
        if code >> format.container:
            raise UsageError(
                f"{shortened(text)} does not fit {format.name}, which has {format.container} bits "
                "(--value takes it as a number)"
            )
        return _Given(text, format, code, None)
    meant = parse_value(text)
    return _Given(text, format, encode(format, meant, _policy(format)), meant)


def _policy(format: Format) -> ConversionPolicy:
    """A number that was typed is read like any literal: to nearest, too large is infinite."""
    overflow = "saturate" if format.infinity is None else "infinity"
    return ConversionPolicy(float_to_int="nearest", float_overflow=overflow)


def _conversions(
    given: _Given, profiles: dict[str, Profile], targets: list[NumberType], *, stream: bool
) -> list[_Conversion]:
    found: list[_Conversion] = []
    for target in targets:
        groups: dict[tuple[Any, ...], tuple[list[str], Explanation]] = {}
        for name, profile in profiles.items():
            explanation = explain_rounding(
                given.code, given.format, target.format(profile), profile.conversion, stream=stream
            )
            key = (explanation.target, explanation.error_in_ulps)
            groups.setdefault(key, ([], explanation))[0].append(name)
        found += [_Conversion(target, tuple(names), e) for names, e in groups.values()]
    return found


def _show(out: Output, given: _Given, source: NumberType, conversions: list[_Conversion]) -> None:
    name = (
        source.name if source.name == given.format.name else f"{source.name} ({given.format.name})"
    )
    out.line(
        f"{given.text} as {name}: {value_text(given.value)}, "
        f"bits {bits_text(given.format, given.code)} = {split_text(given.format, given.code)}",
        "bold",
    )
    if not given.is_exact and given.meant is not None:
        became = "saturated to its range first" if given.is_saturated else "rounded into it first"
        out.line(f"  {given.text} is no {given.format.name} value and was {became}")
    header = ("to", "profile", "FP32 hub", "bits", "fields", "value", "what happened", "ulp error")
    rows = []
    for conversion in conversions:
        explanation = conversion.explanation
        hub, target = explanation.hub, explanation.target
        rows.append(
            (
                _type_text(conversion.target, target.format),
                ", ".join(conversion.profiles),
                "-" if target.outcome is Outcome.UNTOUCHED else bits_text(hub.format, hub.code),
                bits_text(target.format, target.code),
                split_text(target.format, target.code),
                value_text(target.value),
                _story(explanation),
                "-" if explanation.error_in_ulps is None else _error(explanation),
            )
        )
    out.table(rows, header, indent=2, right=(5, 7))


def _type_text(target: NumberType, format: Format) -> str:
    return target.name if target.name == format.name else f"{target.name} ({format.name})"


def _story(explanation: Explanation) -> str:
    """What the last step did; the step into the hub too where that lost something."""
    target, hub = explanation.target, explanation.hub
    story = str(target.outcome)
    if target.range in (Range.SUBNORMAL, Range.UNDERFLOWED):
        story += f", {target.range}"
    moved = target.outcome is Outcome.UNTOUCHED
    if hub.outcome not in (Outcome.EXACT, Outcome.UNTOUCHED, Outcome.NAN_CANONICAL) and not moved:
        story = f"hub: {hub.outcome}; then {story}"
    return story


def _error(explanation: Explanation) -> str:
    error = explanation.error_in_ulps
    assert error is not None
    if not error:
        return "0"
    text = fraction_text(error)
    return text if text.startswith(("-", "about")) else f"+{text}"


def _document(given: _Given, conversions: list[_Conversion], source: NumberType) -> dict[str, Any]:
    return {
        "text": given.text,
        "type": source.name,
        "format": given.format.name,
        "bits": bits_text(given.format, given.code),
        "value": value_text(given.value),
        "exact": given.is_exact,
        "results": [_result(conversion) for conversion in conversions],
    }


def _result(conversion: _Conversion) -> dict[str, Any]:
    explanation = conversion.explanation
    target, error = explanation.target, explanation.error_in_ulps
    return {
        "type": conversion.target.name,
        "profiles": list(conversion.profiles),
        "format": target.format.name,
        "hub": bits_text(explanation.hub.format, explanation.hub.code),
        "hub_outcome": str(explanation.hub.outcome),
        "bits": bits_text(target.format, target.code),
        "sign": target.split.sign,
        "exponent": target.split.exponent,
        "mantissa": target.split.mantissa,
        "value": value_text(target.value),
        "range": str(target.range),
        "outcome": str(target.outcome),
        "error_in_ulps": None if error is None else str(error),
    }
