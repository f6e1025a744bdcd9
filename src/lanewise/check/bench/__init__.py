"""The benchmark: how fast the kernels and the machine are, against peers in the same process."""

from lanewise.check.bench.budgets import Budget, find_budgets, read_budgets
from lanewise.check.bench.measure import Clock
from lanewise.check.bench.picture import draw
from lanewise.check.bench.result import Result
from lanewise.check.bench.rows import ROWS, Row, choose_rows

__all__ = [
    "ROWS",
    "Budget",
    "Clock",
    "Result",
    "Row",
    "choose_rows",
    "draw",
    "find_budgets",
    "read_budgets",
]
