"""Return the reference of an exercise as one cell, as a student would have to type it."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any


def reference_source(function: Callable[..., Any]) -> str:
    """Return the module of a reference as one cell, with the imports from its package inlined."""
    module = inspect.getmodule(function)
    assert module is not None
    tree = ast.Module(list(_written_out(module, set())), [])
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node):
            node.body[0] = ast.Pass()  # the length of a cell is limited
    return ast.unparse(tree)


def _written_out(module: ModuleType, visited: set[str]) -> Iterator[ast.stmt]:
    """Yield the statements of `module`; `from .other import ...` becomes that module's, once."""
    for statement in ast.parse(inspect.getsource(module)).body:
        if not isinstance(statement, ast.ImportFrom) or not statement.level:
            if getattr(statement, "module", None) != "__future__":
                yield statement
            continue
        relative = "." * statement.level + (statement.module or "")
        other = importlib.import_module(relative, module.__package__)
        if other.__name__ not in visited:
            visited.add(other.__name__)
            yield from _written_out(other, visited)
