"""Write the stub that a student completes: the reference's signatures and docstrings, no bodies.

The stub of a debug exercise also has bodies: those of the wrong answer that it releases.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

from .model import Exercise, public_cases

WIDTH = 88
"""Longer signatures are written with an argument per line, to fit a notebook's cell."""

_UNANSWERED = "raise NotImplementedError"

_KNOWN = {*vars(builtins), "np", "torch", "nn", "F", "math"}
"""The names that a notebook has before its first answer; annotations may use only these."""


def stub(exercise: Exercise) -> str:
    """Return the source of the exercise's stub, whose bodies raise NotImplementedError.

    In a debug exercise, the bodies are those of `released`. The stub of a class also has the
    signatures and docstrings of `__init__` and `forward`, and its docstring ends with the names of
    the parameters. Annotations that a notebook could not evaluate are omitted. Raises ValueError if
    the reference has no docstring, or a default that a notebook cannot evaluate.
    """
    source = textwrap.dedent(inspect.getsource(exercise.reference))
    (tree,) = ast.parse(source).body
    if not isinstance(tree, ast.FunctionDef | ast.ClassDef) or ast.get_docstring(tree) is None:
        raise ValueError(f"{exercise.name}: the reference needs a docstring")
    if isinstance(tree, ast.FunctionDef):
        body = _body(exercise.released.wrong) if exercise.released else [_UNANSWERED]
        return _function(tree, exercise.name, source, _KNOWN, body)
    docstring = ast.get_source_segment(source, tree.body[0]) or ""
    parts = [f'    {docstring[:-3].rstrip()}\n\n{_parameters(exercise)}    """']
    methods = {
        method.name: method
        for method in tree.body
        if isinstance(method, ast.FunctionDef) and method.name in ("__init__", "forward")
    }
    bodies = {
        name: [*(["super().__init__()"] if name == "__init__" else []), _UNANSWERED]
        for name in methods
    }
    if exercise.released:
        text = exercise.released.answer.source
        bodies = {}
        for method in _methods(text):
            methods.setdefault(method.name, method)
            bodies[method.name] = _lines_of(method, text.splitlines()[: method.end_lineno])
    parts += [
        _function(methods[name], name, source, _KNOWN, body, "    ")
        for name, body in bodies.items()
    ]
    bases = ", ".join(ast.unparse(base) for base in tree.bases)
    return f"class {exercise.name}({bases}):\n" + "\n\n".join(parts)


def _parameters(exercise: Exercise) -> str:
    """Return docstring lines with names and shapes of the parameters in the first public case."""
    setup = public_cases(exercise)[0].setup
    if setup is None:
        raise ValueError(f"{exercise.name}: a case of a class needs a setup")
    if not setup.weights:
        return "    It has no parameters.\n"
    arguments = [repr(argument) for argument in setup.arguments]
    arguments += [f"{name}={value!r}" for name, value in setup.keywords.items()]
    lines = [
        "Its parameters must have these names (the shapes are those of",
        f"`{exercise.name}({', '.join(arguments)})`):",
        "",
        *(f"    {name} {weight.array.shape}" for name, weight in setup.weights.items()),
    ]
    return textwrap.indent("\n".join(lines), "    ") + "\n"


def _body(function: Callable[..., Any]) -> list[str]:
    """Return the lines below the signature of a function that has no docstring."""
    lines = textwrap.dedent(inspect.getsource(function)).splitlines()
    (tree,) = ast.parse("\n".join(lines)).body
    assert isinstance(tree, ast.FunctionDef)
    return _lines_of(tree, lines)


def _methods(text: str) -> Iterator[ast.FunctionDef]:
    """Yield the methods of a class, in their order."""
    (tree,) = ast.parse(text).body
    assert isinstance(tree, ast.ClassDef)
    yield from (method for method in tree.body if isinstance(method, ast.FunctionDef))


def _lines_of(function: ast.FunctionDef, lines: list[str]) -> list[str]:
    """Return the body of a function, with the comments above its first statement.

    `lines` must end with the last line of the function.
    """
    first = function.body[0].lineno - 1
    while lines[first - 1].lstrip().startswith("#"):
        first -= 1
    return textwrap.dedent("\n".join(lines[first:])).splitlines()


def _function(
    function: ast.FunctionDef,
    name: str,
    source: str,
    known: set[str],
    body: list[str],
    indent: str = "",
) -> str:
    """Return the stub of a function, or of a method if `indent` is not empty, with this body."""
    arguments = list(_arguments(function.args, known))
    returns = ""
    if function.returns is not None and _evaluable(function.returns, known):
        returns = f" -> {ast.unparse(function.returns)}"
    head = f"def {name}({', '.join(arguments)}){returns}:"
    if len(indent + head) > WIDTH:
        lines = "".join(f"{indent}    {argument},\n" for argument in arguments)
        head = f"def {name}(\n{lines}{indent}){returns}:"
    if ast.get_docstring(function) is not None:
        body = [ast.get_source_segment(source, function.body[0]) or "", *body]
    return f"{indent}{head}\n" + "\n".join(f"{indent}    {line}".rstrip() for line in body)


def _arguments(arguments: ast.arguments, known: set[str]) -> Iterator[str]:
    """Yield each argument as written in a signature, and the bare `/` and `*` between them."""
    positional = [*arguments.posonlyargs, *arguments.args]
    required = len(positional) - len(arguments.defaults)
    for index, argument in enumerate(positional):
        default = arguments.defaults[index - required] if index >= required else None
        yield _argument(argument, default, known)
        if index + 1 == len(arguments.posonlyargs):
            yield "/"
    if arguments.vararg:
        yield "*" + _argument(arguments.vararg, None, known)
    elif arguments.kwonlyargs:
        yield "*"
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield _argument(argument, default, known)
    if arguments.kwarg:
        yield "**" + _argument(arguments.kwarg, None, known)


def _argument(argument: ast.arg, default: ast.expr | None, known: set[str]) -> str:
    text, equals = argument.arg, "="
    if argument.annotation is not None and _evaluable(argument.annotation, known):
        text, equals = f"{text}: {ast.unparse(argument.annotation)}", " = "
    if default is None:
        return text
    if not _evaluable(default, known):
        raise ValueError(f"{argument.arg}: a notebook cannot evaluate {ast.unparse(default)}")
    return text + equals + ast.unparse(default)


def _evaluable(expression: ast.expr, known: set[str]) -> bool:
    names = {node.id for node in ast.walk(expression) if isinstance(node, ast.Name)}
    return names <= known
