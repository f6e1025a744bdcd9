"""The benchmark's own workings: what it reports, not how fast anything is."""

from __future__ import annotations

import math
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

from lanewise.check.bench import ROWS, Budget, Clock, Result, choose_rows, draw, read_budgets
from lanewise.check.bench import torch_peers as torch_module
from lanewise.check.bench.kernels import Tiles
from lanewise.check.bench.measure import Spread, spread_of
from lanewise.check.bench.result import worst
from lanewise.errors import UsageError
from lanewise.kernels import select_engine

BUDGETS = Path(__file__).parents[2] / "bench" / "budgets.toml"


def some(name: str, median: float, *, more: bool = True, unit: str = "x") -> Result:
    return Result(name, f"the {name}", unit, Spread(median, median, median), more)


@pytest.fixture(scope="module")
def tiles() -> Tiles:
    """Data for one hasty look at each row."""
    return Tiles(select_engine("auto"), Clock(turns=1, least=0.0))


@pytest.mark.parametrize("row", choose_rows([]), ids=lambda row: row.names[0])
def test_every_row_finds_the_results_that_it_names(row: Any, tiles: Tiles) -> None:
    results = row.measure(tiles)
    assert {result.name for result in results} <= set(row.names)
    for result in results:
        spread = result.value
        assert 0 < spread.low <= spread.median <= spread.high < math.inf
        assert all(part > 0 for part in result.parts.values())


def test_the_budgets_are_those_of_rows() -> None:
    limits = read_budgets(BUDGETS, ROWS)
    assert len(limits) > 20
    less = {"top8-order", "one-instruction", "one-in-a-list", "all-fp32", "import", "observed"}
    for name, limit in limits.items():
        if limit.floor is not None and limit.aim is not None:
            assert (limit.aim < limit.floor) == (name in less or name.startswith(("pto", "bit"))), (
                name
            )


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"[top9]\nfloor = 1\n", "'top8'"),
        (b"[top8]\nceiling = 1\n", "[top8] takes floor and aim"),
        (b"top8 = 3\n", "[top8] takes floor and aim, not 3"),
        (b"[top8]\nfloor = 'high'\n", "[top8] has a limit that is no number: 'high'"),
        (b"[top8]\nfloor = true\n", "no number: True"),
        (b"[top8]\nfloor = nan\n", "no number: nan"),
        (b"[top8\n", "not TOML"),
        (b"\xff\xfe\x00", "not TOML"),
    ],
)
def test_bad_budgets_are_refused(content: bytes, why: str, tmp_path: Path) -> None:
    path = tmp_path / "budgets.toml"
    path.write_bytes(content)
    with pytest.raises(UsageError) as refused:
        read_budgets(path, ROWS)
    assert why in str(refused.value)
    assert str(path) in str(refused.value)


@pytest.mark.parametrize("name", ["nowhere.toml", "."])
def test_budgets_that_are_no_file_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=str(tmp_path)):
        read_budgets(tmp_path / name, ROWS)


def test_rows_are_chosen_by_the_names_of_their_results() -> None:
    (row,) = choose_rows(["top8-peer", "top8"])
    assert row.names == ("top8", "top8-order", "top8-peer")
    assert len(choose_rows([])) == len({id(row) for row in ROWS.values()})
    with pytest.raises(UsageError, match="unknown row 'top9'; did you mean 'top8'"):
        choose_rows(["top9"])


def test_limits_are_met_from_the_right_side() -> None:
    assert some("a", 2).meets(2)
    assert not some("a", 1.9).meets(2)
    assert some("a", 2, more=False).meets(2)
    assert not some("a", 2.1, more=False).meets(2)


def test_a_spread_has_the_quartiles() -> None:
    spread = spread_of([5, 1, 3, 2, 4])
    assert (spread.low, spread.median, spread.high) == (2, 3, 4)
    assert spread.relative == pytest.approx(1 / 3)
    assert spread.inverted(12) == Spread(4, 3, 6)
    assert spread.scaled(2) == Spread(6, 4, 8)
    assert spread_of([7]) == Spread(7, 7, 7)


def test_the_worst_part_speaks_for_all() -> None:
    value, medians = worst({"a": spread_of([3]), "b": spread_of([1]), "c": spread_of([2])})
    assert value.median == 1
    assert medians == {"a": 3, "b": 1, "c": 2}


def test_what_is_compared_runs_in_turn() -> None:
    order: list[str] = []
    clock = Clock(turns=3, least=0.0)
    ours, theirs = clock.times(lambda: order.append("a"), lambda: order.append("b"))
    assert (len(ours), len(theirs)) == (3, 3)
    # A turn of each begins with a run that does not count.
    assert "".join(order).endswith("aabbaabbaabb")


def test_the_picture_has_a_bar_for_each_ratio_to_memory() -> None:
    results = [
        some("fast", 9.0),
        some("slow <&>", 0.5),
        some("time", 3.0, unit="us"),
        some("less", 0.3, more=False),
    ]
    picture = draw(results, {"fast": Budget(0.5, 1.0)})
    root = ElementTree.fromstring(picture)
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "the fast" in texts
    assert "the slow <&>" in texts
    assert "9.00" in texts
    assert not {"the time", "the less"} & set(texts)
    width = float(root.attrib["viewBox"].split()[2])
    bars = [e for e in root.iter("{http://www.w3.org/2000/svg}rect") if e.get("fill") == "#4477aa"]
    assert len(bars) == 2
    for bar in bars:
        assert float(bar.attrib["x"]) + float(bar.attrib["width"]) < width


def test_torch_is_a_peer_only_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> ModuleType:
        raise ImportError(name)

    monkeypatch.setattr(torch_module, "importlib", SimpleNamespace(import_module=missing))
    tiles = Tiles(select_engine("auto"), Clock(turns=1, least=0.0))
    assert torch_module.torch_peers("top8", tiles) == {}
    assert torch_module.torch_peers("import", tiles) == {}
