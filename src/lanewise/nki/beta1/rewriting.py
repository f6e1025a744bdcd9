"""``and``, ``or`` and ``not`` inside ``mask=`` arguments, as kernels of the older world write them.

Python cannot hand these to index expressions, so ``jit`` rewrites them to ``&``, ``|`` and ``~``
in the function's source. Where there is no source, using them is an error that says so.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any


class _MaskOperators(ast.NodeTransformer):
    """Rewrites one mask expression."""

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.generic_visit(node)
        joined = node.values[0]
        operation = ast.BitAnd() if isinstance(node.op, ast.And) else ast.BitOr()
        for value in node.values[1:]:
            joined = ast.copy_location(ast.BinOp(joined, operation, value), node)
        return joined

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not):
            return ast.copy_location(ast.UnaryOp(ast.Invert(), node.operand), node)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        if len(node.ops) == 1:
            return node
        sides = [node.left, *node.comparators]
        parts: list[ast.expr] = [
            ast.copy_location(ast.Compare(sides[place], [op], [sides[place + 1]]), node)
            for place, op in enumerate(node.ops)
        ]
        joined = parts[0]
        for part in parts[1:]:
            joined = ast.copy_location(ast.BinOp(joined, ast.BitAnd(), part), node)
        return joined


class _MaskArguments(ast.NodeTransformer):
    """Finds the masks of a function's calls."""

    def __init__(self) -> None:
        self.changed = False

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        for keyword in node.keywords:
            if keyword.arg != "mask":
                continue
            before = ast.dump(keyword.value)
            keyword.value = _MaskOperators().visit(keyword.value)
            self.changed |= ast.dump(keyword.value) != before
        return node


def with_mask_operators(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with its masks rewritten; itself when there is nothing to rewrite."""
    if not isinstance(function, FunctionType):
        return function
    try:
        lines, first = inspect.getsourcelines(function)
        source = textwrap.dedent("".join(lines))
        if "mask" not in source:
            return function
        tree = ast.parse(source)
    except (OSError, SyntaxError, TypeError):
        return function
    definition = tree.body[0]
    if not isinstance(definition, ast.FunctionDef):
        return function
    finder = _MaskArguments()
    finder.visit(definition)
    if not finder.changed:
        return function
    definition.decorator_list = []
    definition.returns = None
    ast.increment_lineno(tree, first - 1)
    code = _code_of(function, definition)
    if code is None:
        return function
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    rewritten = FunctionType(
        code,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        tuple(cells[name] for name in code.co_freevars),
    )
    rewritten.__kwdefaults__ = function.__kwdefaults__
    rewritten.__doc__ = function.__doc__
    rewritten.__module__ = function.__module__
    rewritten.__qualname__ = function.__qualname__
    rewritten.__annotations__ = function.__annotations__
    return rewritten


def _code_of(function: FunctionType, definition: ast.FunctionDef) -> CodeType | None:
    """The compiled definition, its free variables bound by a function around it."""
    free = function.__code__.co_freevars
    module = ast.parse(f"def around({', '.join(free)}): pass")
    around = module.body[0]
    assert isinstance(around, ast.FunctionDef)
    around.body = [definition]
    for node in (around, *around.args.args):
        ast.copy_location(node, definition)
    compiled = compile(module, function.__code__.co_filename, "exec")
    outer = next(const for const in compiled.co_consts if isinstance(const, CodeType))
    return next(
        (
            const
            for const in outer.co_consts
            if isinstance(const, CodeType) and const.co_name == function.__name__
        ),
        None,
    )
