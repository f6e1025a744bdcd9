"""A picture of the benchmark: each ratio to the bandwidth of memory as a bar, as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

from lanewise.check.bench.budgets import Budget
from lanewise.check.bench.result import Result

_WIDTH: Final = 800
_LABELS: Final = 290
_LINE: Final = 26
_TOP: Final = 46
_MOST: Final = 2.5


def draw(results: Sequence[Result], budgets: Mapping[str, Budget]) -> str:
    """The bars of the results that are ratios to memory bandwidth, as an SVG document.

    Floors are drawn as lines across their bars, aims as dashed ones.
    """
    shown = [r for r in results if r.unit == "x" and r.more_is_better and "times" not in r.what]
    height = _TOP + _LINE * len(shown) + 30
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        'font-family="sans-serif" font-size="13">',
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        '<text x="12" y="20" font-size="15">Bytes moved, times the bandwidth of np.copyto '
        "(line: floor, dashes: aim)</text>",
    ]
    for tenth in range(0, int(10 * _MOST) + 1, 5):
        x = _x(tenth / 10)
        parts.append(f'<line x1="{x}" x2="{x}" y1="{_TOP - 8}" y2="{height - 26}" stroke="#ddd"/>')
        parts.append(
            f'<text x="{x}" y="{height - 10}" text-anchor="middle" fill="#666">{tenth / 10:g}'
            "</text>"
        )
    for number, result in enumerate(shown):
        parts += _bar(result, budgets.get(result.name, Budget()), _TOP + _LINE * number)
    return "\n".join([*parts, "</svg>", ""])


def _x(ratio: float) -> float:
    return round(_LABELS + (_WIDTH - _LABELS - 60) * min(ratio, _MOST) / _MOST, 1)


def _bar(result: Result, budget: Budget, y: int) -> list[str]:
    end, middle = _x(result.value.median), y + _LINE - 9
    parts = [
        f'<text x="{_LABELS - 10}" y="{middle}" text-anchor="end">{escape(result.what)}</text>',
        f'<rect x="{_LABELS}" y="{y + 4}" width="{round(end - _LABELS, 1)}" '
        f'height="{_LINE - 8}" fill="#4477aa"/>',
    ]
    for limit, dashes in ((budget.floor, ""), (budget.aim, ' stroke-dasharray="3 2"')):
        if limit is not None:
            x = _x(limit)
            parts.append(
                f'<line x1="{x}" x2="{x}" y1="{y + 1}" y2="{y + _LINE - 1}" stroke="#cc3311" '
                f'stroke-width="2"{dashes}/>'
            )
    # Last and with a rim, so that a limit that stands there does not cross the digits out.
    parts.append(
        f'<text x="{end + 6}" y="{middle}" stroke="#ffffff" stroke-width="4" paint-order="stroke">'
        f"{result.value.median:.2f}</text>"
    )
    return parts
