"""Answers to an exercise: functions or classes with their source, and edits of them.

A wrong answer is often a right one with a line changed. It is written as that change:
`plain.edit("/ d_k**0.5", "")` is the answer `plain` without its division. An edited answer lives in
a separate module, in which `inspect.getsource`, `inspect.getmodule` and a traceback find it as if
it had been written in a file.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import math
import sys
import textwrap
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from types import CodeType, ModuleType
from typing import Any

import numpy as np

__all__ = ["Answer", "EditError", "Function", "free_names", "source", "source_as"]

Function = Callable[..., Any]
"""A function, or a class that is called to make a module."""


class EditError(ValueError):
    """Raised for an edit that does not fit its answer."""


@dataclass(frozen=True, eq=False)
class Answer:
    """An answer to an exercise, right or wrong.

    `written` is the function or class in the file. For an edited answer, it is the original, and
    `text` is the edited source. A `base` exists only to be edited, and is not itself an answer.
    """

    exercise: str
    written: Function
    text: str | None = None
    base: bool = False

    @cached_property
    def source(self) -> str:
        """Return its source, without decorators."""
        return source(self.written) if self.text is None else self.text

    @cached_property
    def function(self) -> Function:
        """Return the function or class itself.

        Raises EditError if the edited source is not valid Python, or reads an unknown name.
        """
        return self.written if self.text is None else self._run_source(self.text)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Call the function, so that a recursive answer can call itself."""
        return self.function(*arguments, **keywords)

    def edit(self, old: str, new: str, *, times: int = 1) -> Answer:
        """Return this answer with `new` in place of `old`, which must occur exactly `times` times.

        If `old` or `new` has several lines, those after the first are indented like the line in
        which the first is found. A line that becomes empty is removed. Raises EditError if `old`
        occurs more or less often, or equals `new`.
        """
        places = list(_places(self.source, old))
        if len(places) != times:
            counts = f"finds this text {_count(len(places))}, but should find it {_count(times)}"
            raise self._error(f"{counts}:\n{old}")
        if old == new:
            raise self._error(f"changes nothing:\n{old}")
        text = self.source
        for start, end, indent in reversed(places):
            text = _put(text, start, end, new.replace("\n", "\n" + indent))
        return replace(self, text=text, base=False)

    def _run_source(self, text: str) -> Function:
        """Run an edited source in a new module, which starts with the names of the original file.

        The source may also use the names that a notebook has, even if the file does not import
        them: an import that only an edit needs would look unused.
        """
        home = {"np": np, **vars(sys.modules[self.written.__module__])}
        if "torch" in home:
            torch = home["torch"]
            home = {"math": math, "nn": torch.nn, "F": torch.nn.functional, **home}
        name = (
            f"{self.written.__module__}.<{self.exercise}, edited {zlib.crc32(text.encode()):08x}>"
        )
        try:
            code = compile(text, name, "exec", dont_inherit=True)
        except SyntaxError as error:
            raise self._error(f"is not valid Python ({error.msg}):\n{text}") from None
        if unknown := free_names(text) - {*home, *vars(builtins)}:
            names = ", ".join(sorted(unknown))
            raise self._error(f"uses names that its file does not import: {names}")
        module = ModuleType(name)
        module.__dict__.update(home, __name__=name, __file__=name, __loader__=None, __spec__=None)
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        sys.modules[name] = module
        exec(code, vars(module))
        function: Function = vars(module)[self.written.__name__]
        return function

    def _error(self, fault: str) -> EditError:
        answer = repr(self.written.__name__)
        return EditError(f"{self.exercise}: an edit of the answer {answer} {fault}")


def source(function: Function) -> str:
    """Return the source of a function or class as written, without decorators and indentation.

    The lines are found by the code objects, because `inspect.getsource` on all answers of the
    course would take as long as importing them. Raises OSError if there are no lines.
    """
    members = vars(function).values() if isinstance(function, type) else [function]
    codes = [member.__code__ for member in members if inspect.isfunction(member)]
    lines = linecache.getlines(codes[0].co_filename) if codes else []
    if not lines:
        raise OSError(f"the source of {function.__name__!r} cannot be found")
    start = min(code.co_firstlineno for code in codes) - 1
    if isinstance(function, type):  # its methods are below its name
        while not lines[start].lstrip().startswith(f"class {function.__name__}"):
            start -= 1
    else:  # its name is below any decorators
        while not lines[start].lstrip().startswith("def "):
            start += 1
    return textwrap.dedent("".join(lines[start : max(map(_last_line, codes))]))


def _last_line(code: CodeType) -> int:
    ends = [end for _, end, _, _ in code.co_positions() if end]
    nested = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return max([*ends, *map(_last_line, nested)])


def source_as(function: Function, name: str) -> str:
    """Return the source of an answer under another name, which its recursive calls use too."""
    text = source(function)
    tree, own = _definition(text), function.__name__
    keyword = "class " if isinstance(tree, ast.ClassDef) else "def "
    places = [(tree.lineno, tree.col_offset + len(keyword))]
    uses = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == own]
    arguments = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    if own not in arguments and all(isinstance(node.ctx, ast.Load) for node in uses):
        places += [(node.lineno, node.col_offset) for node in uses]
    lines = text.encode().splitlines(keepends=True)
    for row, column in sorted(places, reverse=True):
        line = lines[row - 1]
        lines[row - 1] = line[:column] + name.encode() + line[column + len(own.encode()) :]
    return b"".join(lines).decode().strip()


def _definition(text: str) -> ast.FunctionDef | ast.ClassDef:
    (tree,) = ast.parse(text).body
    assert isinstance(tree, ast.FunctionDef | ast.ClassDef)
    return tree


def _places(text: str, old: str) -> Iterator[tuple[int, int, str]]:
    """Yield start and end of each `old` in `text`, and the indentation of the line of its start."""
    first, *more = old.split("\n")
    start = text.find(first) if old else -1
    while start >= 0:
        line = text[text.rfind("\n", 0, start) + 1 : start]
        indent = line[: len(line) - len(line.lstrip())]
        whole = "\n".join([first, *(indent + part if part else part for part in more)])
        if text.startswith(whole, start):
            yield start, start + len(whole), indent
            start = text.find(first, start + len(whole))
        else:
            start = text.find(first, start + 1)


def _put(text: str, start: int, end: int, new: str) -> str:
    """Return `text` with `new` from `start` to `end`; a line that becomes empty is removed."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end) + 1 or len(text)
    if not (text[first:start] + new + text[end:last]).strip():
        return text[:first] + text[last:]
    return text[:start] + new + text[end:]


def free_names(text: str) -> set[str]:
    """Return the names that a source reads but binds nowhere."""
    nodes = list(ast.walk(ast.parse(text)))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    bound = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    bound |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    bound |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    bound |= {
        alias.asname or alias.name
        for node in nodes
        if isinstance(node, (ast.Import | ast.ImportFrom))
        for alias in node.names
    }
    bound |= {node.name for node in nodes if isinstance(node, _NAMING) and node.name}
    bound |= {node.rest for node in nodes if isinstance(node, ast.MatchMapping) and node.rest}
    return {node.id for node in names} - bound


_NAMING = (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)


def _count(times: int) -> str:
    return {0: "nowhere", 1: "once"}.get(times, f"{times} times")
