"""The cast verb: reading numbers, and telling what became of them."""

from __future__ import annotations

import contextlib
import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.conftest import Command

from lanewise.cli.support.numbers import NumberType, fraction_text, parse_value
from lanewise.errors import UsageError
from lanewise.formats import FORMATS, FP32, Value, ValueClass, convert, decode
from lanewise.neuron import PROFILES, Profile
from lanewise.neuron.dtypes import Dtype, number_format


def _results(lanewise: Command, *arguments: str) -> list[dict[str, Any]]:
    outcome = lanewise("cast", *arguments, "--json")
    assert outcome.status == 0, outcome.err
    return json.loads(outcome.out)["values"]


@pytest.mark.parametrize("dtype", ["FP16", "BFLOAT16", "FP8_EXP3", "FP8_EXP4", "FP8_EXP5", "INT8"])
@pytest.mark.parametrize("bits", ["0x40533333", "0x80000000", "0x7f800000", "0xffc00001", "0x1"])
def test_bits_are_those_of_the_codec(dtype: str, bits: str, lanewise: Command) -> None:
    (value,) = _results(lanewise, bits, "--from", "FP32", "--to", dtype)
    found = {p: result["bits"] for result in value["results"] for p in result["profiles"]}
    for name, profile in PROFILES.items():
        target = number_format(Dtype[dtype], profile)
        code = convert(int(bits, 16), FP32, target, profile.conversion)
        assert int(found[name], 16) == code


def test_profiles_that_agree_share_a_row(lanewise: Command) -> None:
    (value,) = _results(lanewise, "1e6", "--from", "FP32", "--to", "FP16,FP32")
    profiles = [(result["type"], result["profiles"]) for result in value["results"]]
    assert profiles == [("FP16", ["isa"]), ("FP16", ["hardware"]), ("FP32", ["isa", "hardware"])]


def test_a_changed_profile_is_shown_too(lanewise: Command) -> None:
    arguments = ("448", "--from", "FP32", "--to", "FP8_EXP4", "--set", "fp8_exp4=fn")
    (value,) = _results(lanewise, *arguments)
    assert value["results"][-1]["profiles"] == ["isa with fp8_exp4=fn"]
    assert value["results"][-1]["outcome"] == "exact"
    (value,) = _results(lanewise, *arguments, "-p", "hardware")
    names = [name for result in value["results"] for name in result["profiles"]]
    assert names == ["hardware", "hardware with fp8_exp4=fn"]


def test_a_source_type_that_a_profile_decides_is_read_for_each(lanewise: Command) -> None:
    arguments = ("0x7e", "--from", "FP8_EXP4", "--to", "FP32", "--set", "fp8_exp4=fn")
    ieee, fn = _results(lanewise, *arguments)
    assert (ieee["format"], ieee["value"]) == ("E4M3", "NaN")
    assert (fn["format"], fn["value"]) == ("E4M3FN", "448")


@pytest.mark.parametrize(
    ("text", "exact"),
    [("0.1", False), ("0.5", True), ("-inf", True), ("nan", True), ("1e39", False), ("0x3f", True)],
)
def test_a_number_that_is_rounded_first_is_said_to_be(
    text: str, exact: bool, lanewise: Command
) -> None:
    (value,) = _results(lanewise, text, "--from", "FP32", "--to", "FP16")
    assert value["exact"] is exact
    outcome = lanewise("cast", text, "--from", "FP32", "--to", "FP16")
    assert ("was rounded into it first" in outcome.out) is not exact


@pytest.mark.parametrize(
    ("text", "source", "said"),
    [
        ("300", "INT8", "saturated to its range first"),
        ("-300", "INT8", "saturated to its range first"),
        ("-5", "UINT8", "saturated to its range first"),
        ("-0.25", "UINT8", "rounded into it first"),
        ("127.25", "INT8", "rounded into it first"),
        ("1.25", "INT8", "rounded into it first"),
        ("1e39", "FP32", "rounded into it first"),
    ],
)
def test_a_number_beyond_the_source_is_said_to_saturate(
    text: str, source: str, said: str, lanewise: Command
) -> None:
    outcome = lanewise("cast", text, "--from", source, "--to", "FP32")
    assert f"{text} is no {source} value and was {said}\n" in outcome.out


def test_the_error_counts_in_units_of_the_target(lanewise: Command) -> None:
    (value,) = _results(lanewise, "1.0009765625", "--from", "FP32", "--to", "BF16,INT32")
    errors = [result["error_in_ulps"] for result in value["results"]]
    # BFLOAT16 has steps of 1/128 at 1, an integer of 1.
    assert errors == [str(Fraction(-1, 8)), str(Fraction(-1, 1024)), str(Fraction(-1, 1024))]


def test_values_come_from_standard_input(lanewise: Command) -> None:
    outcome = lanewise("cast", "--from", "INT32", "--to", "FP32", "--json", stdin=b"1 -2\n0x3")
    assert [value["value"] for value in json.loads(outcome.out)["values"]] == ["1", "-2", "3"]
    arguments = ("cast", "7", "-", "--from", "INT32", "--to", "FP32", "--json")
    outcome = lanewise(*arguments, stdin=b"8")
    assert [value["value"] for value in json.loads(outcome.out)["values"]] == ["7", "8"]


def test_value_takes_hex_as_a_number(lanewise: Command) -> None:
    assert _results(lanewise, "0x10", "--from", "INT8", "--to", "FP32")[0]["value"] == "16"
    assert _results(lanewise, "0x10", "--from", "FP16", "--to", "FP32")[0]["value"] != "16"
    (value,) = _results(lanewise, "0x10", "--from", "FP16", "--to", "FP32", "--value")
    assert value["value"] == "16"


def test_options_after_negative_numbers_are_options(lanewise: Command) -> None:
    values = _results(lanewise, "-1.5", "-.5", "-inf", "-nan", "--from", "FP32", "--to", "FP16")
    assert [value["value"] for value in values] == ["-1.5", "-0.5", "-inf", "-NaN"]
    lanewise("cast", "-x", "--from", "FP32", "--to", "FP16").assert_refused()


@pytest.mark.parametrize("name", ["-1.txt", "-inf", "-.5", "-nan.json", "-0x1p3"])
@pytest.mark.parametrize("option", ["-o", "--output"])
def test_the_value_of_an_option_may_look_like_a_number(
    option: str, name: str, lanewise: Command
) -> None:
    for arguments in (("-1", option, name, "-2.5"), (option, name, "-1", "--", "-2.5")):
        types = ("--from", "FP32", "--to", "FP16")
        outcome = lanewise("cast", *types, *arguments)
        assert (outcome.status, outcome.out, outcome.err) == (0, "", "")
        assert [path.name for path in Path().iterdir()] == [name]
        text = Path(name).read_text()
        assert text.startswith("-1 as FP32: -1,")
        assert "-2.5 as FP32: -2.5," in text
    outcome = lanewise("cast", "1", "--from", "FP32", "--to", "-1.5")
    outcome.assert_refused()
    assert "unknown type '-1.5'" in outcome.err


@pytest.mark.parametrize("name", FORMATS)
def test_too_many_bits_are_refused_however_many(name: str, lanewise: Command) -> None:
    container = FORMATS[name].container
    targets = ("--from", name, "--to", "FP32")
    for bits in (container + 1, 60, 64, 65, 128, 1000, 4000):
        outcome = lanewise("cast", f"{1 << (max(bits, container + 1) - 1):#x}", *targets)
        outcome.assert_refused()
        assert f"which has {container} bits" in outcome.err
        assert len(outcome.err) < 400
    # Zeros in front are no bits too many.
    assert lanewise("cast", "0x" + "0" * 40, *targets).status == 0


def test_every_type_can_be_cast_from_and_to(lanewise: Command) -> None:
    decode_only = {"HiF8", "RCPE6M2"}
    for name in FORMATS:
        targets = ",".join(other for other in FORMATS if other not in decode_only)
        outcome = lanewise("cast", "0x0", "--from", name, "--to", targets)
        assert outcome.status == 0, outcome.err


# Numbers as people write them.


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", Fraction(1)),
        ("+1.5", Fraction(3, 2)),
        (".5", Fraction(1, 2)),
        ("5.", Fraction(5)),
        ("-2e-3", Fraction(-1, 500)),
        ("0x1.8p3", Fraction(12)),
        ("-0X.8P-1", Fraction(-1, 4)),
        ("0x10", Fraction(16)),
        ("0x1p-149", Fraction(1, 2**149)),
    ],
)
def test_numbers(text: str, value: Fraction) -> None:
    assert parse_value(text).value == value


def test_signs_of_zero_and_specials() -> None:
    assert parse_value("-0") == Value(ValueClass.ZERO, True, Fraction(0))
    assert parse_value("-Infinity") == Value(ValueClass.INFINITY, True, None)
    assert parse_value("NaN") == Value(ValueClass.QUIET_NAN, False, None)


@given(st.text(max_size=30))
def test_any_text_is_a_number_or_refused(text: str) -> None:
    with contextlib.suppress(UsageError):
        assert parse_value(text).category is not ValueClass.INVALID


@given(st.from_regex(r"[-+]?(0x)?[0-9a-f.]{0,6}([ep][-+]?[0-9]{1,3})?", fullmatch=True))
def test_what_looks_like_a_number_agrees_with_the_host(text: str) -> None:
    """Where the text is taken, the host's own readers take it for the same number."""
    try:
        value = parse_value(text).value
    except UsageError:
        return
    if "x" in text:
        assert value == Fraction(float.fromhex(text))  # six digits and 2^999 fit a double
    else:
        assert value == Fraction(Decimal(text))


@given(st.integers(0, 0xFFFFFFFF))
def test_what_is_shown_of_a_value_reads_back(code: int) -> None:
    value = decode(FP32, code).value
    if value is not None:
        assert float(fraction_text(value)) == value


@given(st.fractions(), st.integers(-3000, 3000))
def test_any_fraction_can_be_shown(fraction: Fraction, power: int) -> None:
    assert len(fraction_text(fraction * Fraction(2) ** power)) < 40


@given(st.text(max_size=12) | st.sampled_from([*FORMATS, *Dtype.__members__]))
def test_any_text_is_a_type_or_refused(text: str) -> None:
    with contextlib.suppress(UsageError):
        assert NumberType.find(text).format(Profile.ISA).width
