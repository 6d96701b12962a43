"""The stub that a student completes: the reference's signature and docstring, and no more."""

from __future__ import annotations

import ast
import builtins
import inspect
import textwrap
from collections.abc import Iterator

from .exercise import Exercise

WIDTH = 88
"""Longer signatures are put one argument a line, so that they fit a notebook's cell."""

_KNOWN = {*vars(builtins), "np"}
"""The names that a notebook has before its first answer; an annotation may use no others."""


def stub(exercise: Exercise) -> str:
    """The source of the exercise's stub; its body raises NotImplementedError.

    An annotation that a notebook could not evaluate (it names more than builtins and `np`) is left
    out. Raises ValueError if the reference has no docstring, or a default that cannot be evaluated.
    """
    source = textwrap.dedent(inspect.getsource(exercise.reference))
    (function,) = ast.parse(source).body
    if not isinstance(function, ast.FunctionDef) or ast.get_docstring(function) is None:
        raise ValueError(f"{exercise.name}: the reference must be a function with a docstring")
    arguments = list(_arguments(function.args))
    returns = ""
    if function.returns is not None and _evaluable(function.returns):
        returns = f" -> {ast.unparse(function.returns)}"
    head = f"def {exercise.name}({', '.join(arguments)}){returns}:"
    if len(head) > WIDTH:
        lines = "".join(f"    {argument},\n" for argument in arguments)
        head = f"def {exercise.name}(\n{lines}){returns}:"
    docstring = ast.get_source_segment(source, function.body[0])
    return f"{head}\n    {docstring}\n    raise NotImplementedError"


def _arguments(arguments: ast.arguments) -> Iterator[str]:
    """Each argument as it is written in a signature, with the bare `/` and `*` where they stand."""
    positional = [*arguments.posonlyargs, *arguments.args]
    required = len(positional) - len(arguments.defaults)
    for index, argument in enumerate(positional):
        default = arguments.defaults[index - required] if index >= required else None
        yield _argument(argument, default)
        if index + 1 == len(arguments.posonlyargs):
            yield "/"
    if arguments.vararg:
        yield "*" + _argument(arguments.vararg, None)
    elif arguments.kwonlyargs:
        yield "*"
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield _argument(argument, default)
    if arguments.kwarg:
        yield "**" + _argument(arguments.kwarg, None)


def _argument(argument: ast.arg, default: ast.expr | None) -> str:
    text, equals = argument.arg, "="
    if argument.annotation is not None and _evaluable(argument.annotation):
        text, equals = f"{text}: {ast.unparse(argument.annotation)}", " = "
    if default is None:
        return text
    if not _evaluable(default):
        raise ValueError(f"{argument.arg}: a notebook cannot evaluate {ast.unparse(default)}")
    return text + equals + ast.unparse(default)


def _evaluable(expression: ast.expr) -> bool:
    names = {node.id for node in ast.walk(expression) if isinstance(node, ast.Name)}
    return names <= _KNOWN
