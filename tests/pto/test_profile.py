"""Every open point that has a choice has an effect, and none but the one it is about."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest

from lanewise.errors import UsageError
from lanewise.pto import PtoCore, PtoProfile, Tile, hif4
from lanewise.pto.assembly import assemble
from lanewise.pto.profile import open_points


def run(profile: PtoProfile, *lines: str, tiles: dict[str, Tile] | None = None) -> object:
    """What a program gives on tiles: refusal and state."""
    core = PtoCore(profile=profile)
    for hand, tile in (tiles or {}).items():
        core.push(hand, tile)
    core.set_gpr("a0", 1)
    report = core.attempt(assemble(lines))
    return (None if report.error is None else str(report.error)), core.state


def words(array: object, dtype: str, layout: str = "CUBE_M32", **more: object) -> Tile:
    kind = {8: np.uint8, 32: np.uint32}[8 if dtype in ("U8", "S8") else 32]
    return Tile.from_array(np.array(array, kind), dtype, layout, **more)  # type: ignore[arg-type]


def groups(profile: PtoProfile) -> object:
    """A group with a lane at the threshold of its scale bit, and one half way between codes."""
    codes = np.array([0x40E0] + [0] * 7 + [0x4080] + [0] * 7 + [0x3E00] + [0] * 47, np.uint16)
    found = hif4.quantize(codes, profile)
    return found.scales.tolist(), found.data.tobytes()


MASK = words([[1, 0]], "U8", kind="predicate_cell", basis="U32", fill=None)
LARGE = words(np.ones((32, 2)), "U32")

EFFECTS: dict[str, Callable[[PtoProfile], object]] = {
    "null_gpr_padding": lambda p: run(
        p, "TCMPS <Row=1, Col=1, U32>, T#1, ->x0", tiles={"T": words([[7]], "U32")}
    ),
    "tgpr2t_min": lambda p: run(p, "TGPR2T <Row=32, Col=4, U8, Min, mask=1000>, a0, ->T<128B>"),
    "gpr_8bit_types": lambda p: run(
        p, "TCMPS <Row=1, Col=1, S8, NE, Zero>, T#1, ->x0", tiles={"T": words([[7]], "S8")}
    ),
    "omitted_lb2": lambda p: run(
        p,
        *("BSTART.VEC TCMPS, U32", "C.B.DIMI 2, ->LB0", "B.IOT T#1, mask=1000, last, ->U<128B>"),
        "C.BSTOP",
        tiles={"T": words([[7, 8]], "U32", "NORM")},
    ),
    "check_scalar_encoding": lambda p: run(
        p, "TCMPS <Row=1, Col=1, TF32, NE, Zero>, T#1, a0, ->x0", tiles={"T": words([[0]], "TF32")}
    ),
    "unterminated": lambda p: run(p, "BSTART.VEC TCMPS, U32"),
    "select_capacity_fault": lambda p: run(
        p, "TSELS <Row=32, Col=2, U32, mask=1000>, a0, T#1, ->U<128B>", tiles={"T": LARGE}
    ),
    "mask_padding_checked": lambda p: run(
        p,
        "TSELS <Row=1, Col=2, U32, mask=1000>, M#1, T#1, ->U<256B>",
        tiles={"T": words([[7, 8]], "U32"), "M": MASK},
    ),
    "tgpr2t_capacity": lambda p: run(p, "TGPR2T <Row=32, Col=4, U8, mask=1000>, a0, ->T<256B>"),
    "flags_scope": lambda p: run(
        p,
        "TCMPS <Row=1, Col=1, FP32, EQ, Zero, mask=1000>, T#1, ->x0",
        tiles={"T": words([[0x7F800001]], "FP32")},
    ),
    "hif4_threshold": groups,
    "hif4_lane_ties": groups,
}
CHOICES = {point.name: tuple(point.choices) for point in open_points() if len(point.choices) > 1}


def test_every_choice_is_here() -> None:
    assert set(EFFECTS) == set(CHOICES)
    assert all(len(choices) == 2 for choices in CHOICES.values())


@pytest.mark.parametrize("name", CHOICES)
def test_a_choice_has_an_effect_of_its_own(name: str) -> None:
    default = PtoProfile()
    (other,) = (value for value in CHOICES[name] if value != getattr(default, name))
    changed = default.with_(**{name: other})
    everything_else = default
    for field, choices in CHOICES.items():
        if field != name and not (field[:4] == name[:4] == "hif4"):
            (value,) = (v for v in choices if v != getattr(default, field))
            everything_else = everything_else.with_(**{field: value})
    effect = EFFECTS[name]
    assert effect(changed) != effect(default)
    assert effect(everything_else) == effect(default)


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(PtoProfile)])
def test_values_outside_the_choices_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match=name):
        PtoProfile().with_(**{name: "perhaps"})
