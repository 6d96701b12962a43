"""Make mutants of a function or a class: copies with one small slip of the pen each."""

from __future__ import annotations

import ast
import copy
import inspect
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
NAMES = {
    "max": "min",
    "sum": "mean",
    "exp": "exp2",
    "sqrt": "square",
    "tril": "triu",
    "triu": "tril",
    "ones": "zeros",
    "zeros": "ones",
    "all": "any",
    "where": "minimum",
    "relu": "gelu",
    "gelu": "relu",
    "var": "std",
    "rsqrt": "sqrt",
}


def mutants(function: Callable[..., Any]) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield every mutant of `function`, which may be a class, with a description of its change."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    original = ast.unparse(_body(tree))
    initial = set(_initial_values(tree))
    for position, node in enumerate(ast.walk(tree)):
        for change in () if node in initial else _changes(node):
            mutant = copy.deepcopy(tree)
            change(list(ast.walk(mutant))[position])
            text = ast.unparse(_body(mutant))
            if text == original:
                continue
            namespace = dict(vars(inspect.getmodule(function)))
            exec(compile(ast.fix_missing_locations(mutant), "<mutant>", "exec"), namespace)
            yield _difference(original, text), namespace[function.__name__]


def _initial_values(tree: ast.Module) -> Iterator[ast.AST]:
    """What only decides the first values of a module's parameters; a check loads others."""
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and ast.unparse(call.func).startswith("nn.init."):
            yield from ast.walk(call)
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "nn.Parameter":
            yield from (node for node in ast.walk(call) if isinstance(node, ast.Attribute))


def _body(tree: ast.Module) -> ast.Module:
    """The function or class without what no slip matters in: docstrings and annotations."""
    whole = copy.deepcopy(tree.body[0])
    assert isinstance(whole, ast.FunctionDef | ast.ClassDef)
    for part in ast.walk(whole):
        if not isinstance(part, ast.FunctionDef | ast.ClassDef):
            continue
        if ast.get_docstring(part):
            part.body = part.body[1:]
        if isinstance(part, ast.FunctionDef):
            part.returns = None
            for argument in [*part.args.args, *part.args.kwonlyargs]:
                argument.annotation = None
    return ast.Module([whole], [])


def _difference(original: str, mutant: str) -> str:
    lines = zip(original.split("\n"), mutant.split("\n"), strict=False)
    return " | ".join(f"{a.strip()} -> {b.strip()}" for a, b in lines if a != b) or "a line removed"


def _changes(node: ast.AST) -> Iterator[Callable[[Any], None]]:
    """The changes that apply to a node, each as a function that makes it in a copy."""
    if isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in OPERATORS:
        yield lambda n: setattr(n, "op", OPERATORS[type(n.op)]())
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult | ast.Sub | ast.Div):
        yield lambda n: (n.__dict__.update(left=n.right, right=n.left), None)[1]
    if isinstance(node, ast.Compare) and type(node.ops[0]) in OPERATORS:
        yield lambda n: setattr(n, "ops", [OPERATORS[type(n.ops[0])](), *n.ops[1:]])
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield lambda n: setattr(n, "value", n.value + 1)
        yield lambda n: setattr(n, "value", n.value - 1)
    if isinstance(node, ast.Constant) and type(node.value) is bool:
        yield lambda n: setattr(n, "value", not n.value)
    if isinstance(node, ast.UnaryOp):
        yield lambda n: setattr(n, "op", ast.UAdd() if isinstance(n.op, ast.USub) else ast.USub())
    if isinstance(node, ast.Attribute) and node.attr in NAMES:
        yield lambda n: setattr(n, "attr", NAMES[n.attr])
    if isinstance(node, ast.Call):
        if node.keywords:
            yield lambda n: setattr(n, "keywords", n.keywords[:-1])
        if len(node.args) > 1:
            yield lambda n: setattr(n, "args", [n.args[1], n.args[0], *n.args[2:]])
    if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
        yield lambda n: setattr(n.value, "elts", n.value.elts[::-1])
    if isinstance(node, ast.If | ast.IfExp):
        yield lambda n: setattr(n, "test", ast.UnaryOp(ast.Not(), n.test))
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call | ast.BinOp):
        yield lambda n: setattr(n, "value", _first_operand(n.value))


def _first_operand(value: ast.Call | ast.BinOp) -> ast.expr:
    """What an assignment is left with when its operation is forgotten."""
    if isinstance(value, ast.BinOp):
        return value.left
    return value.args[0] if value.args else value
