"""Copies of a function, each without one of its assertions."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from typing import Any


def without_an_assertion(function: Callable[..., Any]) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Each weaker function, with the assertion that it lacks."""
    source = textwrap.dedent(inspect.getsource(function))
    module = inspect.getmodule(function)
    for at in range(sum(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(source)))):
        without = _Without(at)
        tree = ast.fix_missing_locations(without.visit(ast.parse(source)))
        names = {**vars(module)}
        exec(compile(tree, "<weaker>", "exec"), names)
        yield without.left_out, names[function.__name__]


class _Without(ast.NodeTransformer):
    def __init__(self, at: int) -> None:
        self.at, self.seen, self.left_out = at, 0, ""

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        self.seen += 1
        if self.seen - 1 != self.at:
            return node
        self.left_out = ast.unparse(node)
        return ast.Expr(node.test)  # what it looks at is still called
