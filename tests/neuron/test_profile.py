"""Profiles: the two that ship, field by field, overriding, and what is refused."""

from __future__ import annotations

import dataclasses
import pickle

import pytest

from lanewise import Profile
from lanewise.errors import UsageError

# Field -> value of `isa`, value of `hardware`, all values.
TABLE = {
    "float_to_int": ("truncate", "nearest", {"truncate", "nearest"}),
    "float_overflow": ("saturate", "infinity", {"saturate", "infinity"}),
    "nan_to_int": ("zero", "zero", {"zero"}),
    "fp8_exp4": ("ieee", "ieee", {"ieee", "fn"}),
    "fp32r_mantissa_bits": (13, 10, set(range(1, 23))),
    "select_reduce": ("merge", "select", {"merge", "select"}),
    "range_select_operand": ("index", "index", {"index", "element"}),
    "nonzero_lanes": ("all", "every16", {"all", "every16"}),
    "nonzero_nan": ("skip", "count", {"skip", "count"}),
    "find_miss": ("ones", "ones", {"ones"}),
    "partition_window": ("fits", "quadrant", {"fits", "quadrant"}),
    "accumulator_reset": ("-inf", "-inf", {"-inf"}),
    "idle_accumulator": ("keep", "keep", {"keep"}),
}


def test_the_two_profiles_are_those_of_the_table() -> None:
    fields = [spec.name for spec in dataclasses.fields(Profile)]
    assert fields == list(TABLE)
    for name, (isa, hardware, _) in TABLE.items():
        assert getattr(Profile.ISA, name) == isa
        assert getattr(Profile.HARDWARE, name) == hardware
    assert Profile() == Profile.ISA
    assert Profile.named("ISA") is Profile.ISA
    assert Profile.named("hardware") is Profile.HARDWARE
    assert Profile.named(Profile.HARDWARE) is Profile.HARDWARE


@pytest.mark.parametrize("name", TABLE)
def test_each_field_takes_its_values_and_no_other(name: str) -> None:
    isa, _, values = TABLE[name]
    for value in values:
        assert getattr(Profile.ISA.with_(**{name: value}), name) == value
    for wrong in ("nonsense", 0, 23, None, True, "13", 13.0):
        with pytest.raises(UsageError, match=name):
            Profile.ISA.with_(**{name: wrong})
    assert getattr(Profile.ISA, name) == isa


@pytest.mark.parametrize("name", ["fp8_exp", "self", "no_such_thing"])
def test_an_unknown_field_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match=f"unknown profile field '{name}'"):
        Profile.ISA.with_(**{name: "ieee"})
    with pytest.raises(UsageError, match="unknown profile 'hardwear'; did you mean 'hardware'"):
        Profile.named("hardwear")


def test_profiles_are_values() -> None:
    assert hash(Profile.ISA.with_(fp8_exp4="fn")) == hash(Profile(fp8_exp4="fn"))
    assert pickle.loads(pickle.dumps(Profile.HARDWARE)) == Profile.HARDWARE
    with pytest.raises(dataclasses.FrozenInstanceError):
        Profile.ISA.fp8_exp4 = "fn"


def test_a_profile_describes_itself_by_the_nearest_name() -> None:
    assert Profile.ISA.description == "isa"
    assert Profile.HARDWARE.description == "hardware"
    assert Profile.HARDWARE.with_(fp8_exp4="fn").description == "hardware with fp8_exp4=fn"
    two = Profile.ISA.with_(fp32r_mantissa_bits=10, nonzero_nan="count")
    assert two.description == "isa with fp32r_mantissa_bits=10, nonzero_nan=count"


def test_overrides_are_parsed_from_text() -> None:
    assert Profile.parse_override("fp32r_mantissa_bits", "10") == 10
    assert Profile.parse_override("fp8_exp4", "fn") == "fn"
    with pytest.raises(UsageError, match="unknown profile field 'fp8'"):
        Profile.parse_override("fp8", "fn")
