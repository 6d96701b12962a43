"""Answers to an exercise: a function or class, its source, and what an edit makes of it.

A wrong answer is often a right one with a line changed. It is written as that change:
`plain.edit("/ d_k**0.5", "")` is the answer `plain` without its division. What an edit has made
stands in a module of its own, where `inspect.getsource`, `inspect.getmodule` and a traceback find
it as they find what is written in a file.
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

__all__ = ["Answer", "EditError", "Function", "source", "source_as"]

Function = Callable[..., Any]
"""A function, or a class that is called to make a module."""


class EditError(ValueError):
    """An edit that does not fit its answer."""


@dataclass(frozen=True, eq=False)
class Answer:
    """An answer to an exercise, right or wrong.

    `written` stands in a file. Of an edited answer it is the one that the edits began with, and
    `text` is what they have made of its source. A `base` is there to be edited, and answers
    nothing itself.
    """

    exercise: str
    written: Function
    text: str | None = None
    base: bool = False

    @cached_property
    def source(self) -> str:
        """Its source, without decorators."""
        return source(self.written) if self.text is None else self.text

    @cached_property
    def function(self) -> Function:
        """The function or class itself.

        Raises EditError if the edits have left no Python, or a name that nobody knows.
        """
        return self.written if self.text is None else self._made(self.text)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Call it, as an answer does that calls itself."""
        return self.function(*arguments, **keywords)

    def edit(self, old: str, new: str, *, times: int = 1) -> Answer:
        """The same with `new` in the place of `old`, which stands there so many `times`.

        Of several lines, those after the first are indented as the one in which the first is found.
        A line of which nothing is left goes. Raises EditError if `old` stands there more or less
        often, or is `new`.
        """
        places = list(_places(self.source, old))
        if len(places) != times:
            found = f"finds this text {_often(len(places))}, and should {_often(times)}"
            raise self._error(f"{found}:\n{old}")
        if old == new:
            raise self._error(f"changes nothing:\n{old}")
        text = self.source
        for start, end, indent in reversed(places):
            text = _put(text, start, end, new.replace("\n", "\n" + indent))
        return replace(self, text=text, base=False)

    def _made(self, text: str) -> Function:
        """Run an edited source in a module of its own, which begins with the names of its file.

        It may use what a notebook has, too, whether the file imports that or not: an import that
        only an edit needs would look unused.
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
            raise self._error(f"leaves no Python ({error.msg}):\n{text}") from None
        if unknown := _read(text) - {*home, *vars(builtins)}:
            names = ", ".join(sorted(unknown))
            raise self._error(f"uses what its file does not import: {names}")
        module = ModuleType(name)
        module.__dict__.update(home, __name__=name, __file__=name, __loader__=None, __spec__=None)
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        sys.modules[name] = module
        exec(code, vars(module))
        made: Function = vars(module)[self.written.__name__]
        return made

    def _error(self, what: str) -> EditError:
        return EditError(f"{self.exercise}: an edit of the answer {self.written.__name__!r} {what}")


def source(function: Function) -> str:
    """The source of a function or class as it is written, without decorators and indentation.

    It is read from the lines of its code, since `inspect.getsource` takes as long for all answers
    of the course as it takes to import them. Raises OSError where there are none.
    """
    parts = vars(function).values() if isinstance(function, type) else [function]
    codes = [one.__code__ for one in parts if inspect.isfunction(one)]
    lines = linecache.getlines(codes[0].co_filename) if codes else []
    if not lines:
        raise OSError(f"the source of {function.__name__!r} is nowhere")
    start = min(code.co_firstlineno for code in codes) - 1
    if isinstance(function, type):  # its methods stand below its name
        while not lines[start].lstrip().startswith(f"class {function.__name__}"):
            start -= 1
    else:  # its name stands below decorators
        while not lines[start].lstrip().startswith("def "):
            start += 1
    return textwrap.dedent("".join(lines[start : max(map(_last_line, codes))]))


def _last_line(code: CodeType) -> int:
    ends = [end for _, end, _, _ in code.co_positions() if end]
    return max([*ends, *(_last_line(one) for one in code.co_consts if isinstance(one, CodeType))])


def source_as(function: Function, name: str) -> str:
    """The source of an answer under another name, by which it calls itself, too."""
    text = source(function)
    tree, own = _definition(text), function.__name__
    keyword = "class " if isinstance(tree, ast.ClassDef) else "def "
    places = [(tree.lineno, tree.col_offset + len(keyword))]
    named = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == own]
    arguments = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    if own not in arguments and all(isinstance(node.ctx, ast.Load) for node in named):
        places += [(node.lineno, node.col_offset) for node in named]
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
    """Where `old` begins and ends in `text`, and how far the line is indented where it begins."""
    first, *more = old.split("\n")
    start = text.find(first) if old else -1
    while start >= 0:
        line = text[text.rfind("\n", 0, start) + 1 : start]
        indent = line[: len(line) - len(line.lstrip())]
        whole = "\n".join([first, *(indent + one if one else one for one in more)])
        if text.startswith(whole, start):
            yield start, start + len(whole), indent
            start = text.find(first, start + len(whole))
        else:
            start = text.find(first, start + 1)


def _put(text: str, start: int, end: int, new: str) -> str:
    """`text` with `new` from `start` to `end`; a line of which nothing is left goes as a whole."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end) + 1 or len(text)
    if not (text[first:start] + new + text[end:last]).strip():
        return text[:first] + text[last:]
    return text[:start] + new + text[end:]


def _read(text: str) -> set[str]:
    """The names that a source reads and nowhere binds."""
    nodes = list(ast.walk(ast.parse(text)))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    bound = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    bound |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    bound |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    bound |= {
        one.asname or one.name
        for node in nodes
        if isinstance(node, (ast.Import | ast.ImportFrom))
        for one in node.names
    }
    bound |= {node.name for node in nodes if isinstance(node, _NAMING) and node.name}
    bound |= {node.rest for node in nodes if isinstance(node, ast.MatchMapping) and node.rest}
    return {node.id for node in names} - bound


_NAMING = (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)


def _often(times: int) -> str:
    return {0: "nowhere", 1: "once"}.get(times, f"{times} times")
