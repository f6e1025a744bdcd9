"""Dtypes and number formats."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Final

from lanewise.cli.explaining.topic import Section, Topic, folded
from lanewise.cli.support.numbers import bits_text, split_text, value_text
from lanewise.errors import LanewiseError
from lanewise.formats import FORMATS, Format, ValueClass, decode
from lanewise.neuron import Profile, find_dtype
from lanewise.neuron.dtypes import Dtype, dtype_names, element_size, number_format
from lanewise.neuron.tables import rows as table_rows

# The profiles that give a dtype each of its forms.
_FORMS: Final = (
    Profile.ISA,
    Profile.HARDWARE,
    Profile.ISA.with_(fp8_exp4="fn"),
)


@functools.cache
def _dtype_rows() -> tuple[dict[str, str], ...]:
    return tuple(table_rows("dtypes"))


def names() -> Iterable[str]:
    """Names of dtypes and of formats, and of the lists."""
    yield from ("dtypes", "formats")
    yield from dtype_names().values()
    yield from FORMATS


def find(thing: str) -> list[Topic]:
    """The dtype (by name or alias) and the format of that name; or one of the lists."""
    name = folded(thing)
    if name == "dtypes":
        return [_dtype_list(), _format_list()]
    if name == "formats":
        return [_format_list()]
    topics = [_dtype(row) for row in _dtype_rows() if folded(row["name"]) == name]
    if not topics:
        alias = _by_alias(thing)
        topics = [_dtype(row) for row in _dtype_rows() if row["name"] == alias]
    shown = {format for topic in topics for format in _formats_of(topic.name)}
    topics += [
        _format(format)
        for format in FORMATS.values()
        if folded(format.name) == name and format not in shown
    ]
    return topics


def _by_alias(thing: str) -> str | None:
    if not thing.strip() or thing.strip()[0].isdigit():
        return None
    try:
        return find_dtype(thing.strip()).name
    except LanewiseError:
        return None


def _formats_of(dtype: str) -> dict[Format, str]:
    """The formats of a dtype with the profile that gives each; none for what is never decoded."""
    if dtype not in Dtype.__members__ or not Dtype[dtype].size:
        return {}
    found: dict[Format, str] = {}
    for profile in _FORMS:
        found.setdefault(number_format(Dtype[dtype], profile), profile.description)
    return found


def _dtype(row: dict[str, str]) -> Topic:
    code = int(row["code"], 16)
    formats = _formats_of(row["name"])
    size = element_size(code)
    facts = {
        "code": f"{code:#x}",
        "bits": row["width_bits"],
        "element size": "none" if size is None else f"{size} bytes" if size > 1 else "1 byte",
        "generations": row["generations"].replace("|", ", "),
    }
    if len(formats) == 1:
        facts["format"] = next(iter(formats)).name
    sections = [
        section
        for format, profile in formats.items()
        for section in _format_sections(format, "" if len(formats) == 1 else f" ({profile})")
    ]
    summary = "an element type" if formats else "an element type that no modelled word takes"
    return Topic("dtype", row["name"], summary, facts, "", sections)


def _format(format: Format) -> Topic:
    return Topic("format", format.name, "a number format", {}, "", _format_sections(format))


def _format_sections(format: Format, note: str = "") -> list[Section]:
    described = [
        (name.replace("_", " "), str(getattr(format, name)))
        for name in (
            "kind",
            "width",
            "container",
            "signed",
            "exponent_bits",
            "mantissa_bits",
            "low_zero_bits",
            "bias",
            "has_subnormals",
            "has_infinity",
            "nan_rule",
        )
    ]
    found = [(label, code) for label, pick in _NOTABLE if (code := pick(format)) is not None]
    values = [
        (label, bits_text(format, code), split_text(format, code), value_text(decode(format, code)))
        for label, code in found
    ]
    return [
        Section(f"format {format.name}{note}", ("property", "value"), described),
        Section(f"values of {format.name}{note}", ("what", "bits", "fields", "value"), values),
    ]


def _one(format: Format) -> int | None:
    if format.is_integer:
        return 1
    return (
        (format.bias << (format.mantissa_bits + format.low_zero_bits))
        if _is_plain(format)
        else None
    )


def _zero(format: Format) -> int | None:
    return 0 if decode(format, 0).category is ValueClass.ZERO else None


def _least(format: Format) -> int | None:
    """The smallest value above zero; the first code of all where there is no zero."""
    if not _is_plain(format):
        return None
    return 1 << format.low_zero_bits if format.has_subnormals else 0


def _least_normal(format: Format) -> int | None:
    if not (_is_plain(format) and format.has_subnormals and format.exponent_bits > 1):
        return None
    return 1 << (format.mantissa_bits + format.low_zero_bits)


def _largest(format: Format) -> int | None:
    return None if format.kind == "reciprocal" else format.max_finite


def _lowest(format: Format) -> int | None:
    if format.kind == "signed":
        return format.sign_mask
    if not format.signed or format.kind == "reciprocal":
        return None
    return format.max_finite | format.sign_mask


def _is_plain(format: Format) -> bool:
    return format.kind == "float"


_NOTABLE: Final[tuple[tuple[str, Callable[[Format], int | None]], ...]] = (
    ("zero", _zero),
    ("smallest above zero", _least),
    ("smallest normal", _least_normal),
    ("one", _one),
    ("largest finite", _largest),
    ("lowest finite", _lowest),
    ("infinity", lambda format: format.infinity),
    ("quiet NaN", lambda format: format.quiet_nan),
)


def _dtype_list() -> Topic:
    body = []
    for row in _dtype_rows():
        formats = ", ".join(
            f"{format.name} ({profile})" if len(_formats_of(row["name"])) > 1 else format.name
            for format, profile in _formats_of(row["name"]).items()
        )
        generations = row["generations"].replace("|", ", ")
        body.append((row["code"], row["name"], row["width_bits"], formats, generations))
    header = ("code", "dtype", "bits", "format", "generations")
    return Topic("list", "dtypes", "element types", {}, "", [Section("dtypes", header, body)])


def _format_list() -> Topic:
    body = [
        (
            format.name,
            format.kind,
            str(format.width),
            str(format.exponent_bits),
            str(format.mantissa_bits),
            str(format.bias),
            "-" if format.kind == "reciprocal" else value_text(decode(format, format.max_finite)),
        )
        for format in FORMATS.values()
    ]
    header = ("format", "kind", "bits", "exponent", "mantissa", "bias", "largest finite")
    return Topic("list", "formats", "number formats", {}, "", [Section("formats", header, body)])
