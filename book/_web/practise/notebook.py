"""A student's notebook in a page: run cells as a kernel does, and check answers.

The page's worker unpacks an assignment and creates a `Notebook` for its folder. The judge is the
unchanged `autograder` package in that folder. This file does not need a browser, so tests can run
it in any Python.

This is not a sandbox: readers can deceive the judge in their own page if they want to. If a cell
replaces `np.exp` or `sys.stdout` by accident, it is put back, and the page says so.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import io
import json
import linecache
import os
import sys
import time
import traceback
import types
from collections.abc import Callable
from typing import Any

MOST_TEXT, MOST_OF_AN_ERROR = 100_000, 20_000
"""The maximum number of characters shown of a run's text, and of an error."""

MOST_LINES, PIECE = 500, 8192
"""A run sends its first MOST_LINES lines separately, and later lines in pieces of this length."""

PUT_BACK = "The checks need it, too, so the page has put it back. Use a name of your own."
CUT = f"\n[The page shows the first {MOST_TEXT:,} characters of a run. The rest is left out.]\n"
JUDGED = ("passed", "verdict", "misconception", "message")
KEPT = ("builtins", "math", "numpy", "numpy.linalg")
"""The modules whose contents are put back after each run."""


class Notebook:
    """The Python behind the page of an assignment."""

    def __init__(self, folder: str, show: Callable[[str], None]) -> None:
        """Import the judge in the assignment's `folder`; `show` receives each output as JSON."""
        self._folder = folder
        sys.path.insert(0, folder)
        os.chdir(folder)
        if sys.platform == "emscripten":
            sys.setrecursionlimit(500)  # 900 calls of `sorted(key=f)` overflow a browser's stack
        self._judge = importlib.import_module("autograder").check
        self_check: Any = importlib.import_module("autograder.notebook.check")
        self_check.cells_are_fresh = True
        self._output = _Output(show)
        module = sys.modules["__main__"] = types.ModuleType("__main__")
        self._names = vars(module)
        self._names.update(__builtins__=builtins, display=self._display)
        self._bound: dict[str, dict[str, Any]] = {}  # cell -> the names that it has bound
        modules = [importlib.import_module(name) for name in KEPT]
        self._originals = [(module.__name__, vars(module), {**vars(module)}) for module in modules]

    def run(self, source: str, cell: str) -> str:
        """Run `source` as the cell of this name, and return JSON.

        The JSON is {"ok": bool, "seconds": float, "spoilt": [cell, ...]}. A cell is spoilt if a
        name that it has bound was bound again since, such as `np` by `np = None`.
        """
        before = {**self._names}
        error, _, seconds = self._attempt(lambda: self._execute(source, f"<cell {cell}>"))
        if error is not None:
            self._output.error(error, source)
        spoilt = self._spoilt(cell, before)
        return json.dumps({"ok": error is None, "seconds": seconds, "spoilt": spoilt})

    def check(self, exercise: str) -> str:
        """Check the answer to `exercise`, whose cell has run; show the report, return the result.

        The JSON has the keys of `run`, and passed (null if the answer could not be judged),
        verdict, misconception and message.
        """
        result: dict[str, Any] = {"ok": False, "seconds": 0.0, **dict.fromkeys(JUDGED)}
        result["message"] = _refusal(exercise, self._names.get(exercise))
        if result["message"] is None:
            result |= self._judged(self._names[exercise])
        return json.dumps(result)

    def _spoilt(self, cell: str, before: dict[str, Any]) -> list[str]:
        """Note the names that `cell` has just bound; return the cells whose names were rebound."""
        mine, unbound = self._bound.setdefault(cell, {}), object()
        for name, value in self._names.items():
            if name in mine or before.get(name, unbound) is not value:
                mine[name] = value
        return [
            other
            for other, names in self._bound.items()
            if any(self._names.get(name, unbound) is not value for name, value in names.items())
        ]

    def _judged(self, answer: Any) -> dict[str, Any]:
        reports: list[Any] = []
        error, replaced, seconds = self._attempt(lambda: reports.append(self._judge(answer)))
        if error is not None:
            return {"seconds": seconds, "message": self._output.error(error, "")}
        if replaced:
            message = f"The answer replaces {replaced}, so it cannot be judged. Use another name."
            return {"seconds": seconds, "message": message}
        self._display(*reports)
        judged = {name: getattr(reports[0].judgement, name) for name in JUDGED}
        return {"ok": True, "seconds": seconds, **judged}

    def _attempt(self, work: Callable[[], None]) -> tuple[BaseException | None, str, float]:
        """Do `work` with its output shown in the page, and undo replacements in the KEPT modules.

        Returns (the exception or None, the names that were replaced, the time in seconds).
        """
        os.chdir(self._folder)
        output, error = self._output, None
        output.begin()
        before, limit = (sys.stdin, sys.stdout, sys.stderr), sys.getrecursionlimit()
        sys.stdin, sys.stdout, sys.stderr = output.streams
        started = time.perf_counter()
        try:
            work()
        except BaseException as raised:  # SystemExit and KeyboardInterrupt must not end the worker
            error = raised
        replaced = self._put_back()
        sys.stdin, sys.stdout, sys.stderr = before
        sys.setrecursionlimit(limit)
        seconds = time.perf_counter() - started
        if replaced:
            output.begin()
            output.write(f"This replaced {replaced}. {PUT_BACK}\n", "stderr")
        output.send_text()
        return error, replaced, seconds

    def _put_back(self) -> str:
        """Restore the KEPT modules; return the names that were replaced.

        It calls no built-in functions, since these may be replaced.
        """
        replaced = ""
        for module, now, before in self._originals:
            for name, value in before.items():
                if now.get(name) is not value:
                    now[name] = value
                    replaced += f"{', ' if replaced else ''}{module}.{name}"
        return replaced

    def _execute(self, source: str, name: str) -> None:
        """Run a cell in the notebook's namespace, and show the value of its last expression."""
        lines = [f"{line}\n" for line in source.split("\n")]
        linecache.cache[name] = len(source), None, lines, name  # for tracebacks and `inspect`
        tree: Any = compile(source, name, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, name, "exec", dont_inherit=True), self._names)
        if last is not None:
            code = compile(ast.Expression(last.value), name, "eval", dont_inherit=True)
            value = eval(code, self._names)
            if value is not None and not source.rstrip().endswith(";"):
                self._display(value)

    def _display(self, *values: Any) -> None:
        """Show each value as a notebook does: as HTML or SVG if it can, else as its `repr`."""
        for value in values:
            methods = [name for name in ("_repr_html_", "_repr_svg_") if hasattr(type(value), name)]
            page = getattr(value, methods[0])() if methods else None
            if isinstance(page, str):
                self._output.html(page)
            else:
                self._output.value(repr(value))


def _refusal(exercise: str, answer: Any) -> str | None:
    """Return why `answer` cannot be checked, or None. The judge finds an exercise by its name."""
    if answer is None:
        return f"`{exercise}` is not defined. Its cell has not run, or has ended with an error."
    name = getattr(answer, "__name__", None)
    if not callable(answer) or name is None:
        return f"`{exercise}` is not a function, but of type {type(answer).__name__}."
    if name != exercise:
        return f"`{exercise}` is a function called `{name}`. Write `def {exercise}(...):` instead."
    return None


class _Output:
    """The output of a run, which is sent at once; of text, only the first MOST_TEXT characters."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show, self._text = show, ""
        self.streams = [_Stream(self, name) for name in ("stdin", "stdout", "stderr")]
        self.begin()

    def begin(self) -> None:
        self.send_text()
        self._left, self._sent, self._stream = MOST_TEXT, 0, "stdout"

    def write(self, text: str, stream: str) -> None:
        if not self._left or not text:
            return
        if stream != self._stream:
            self.send_text()
        self._stream = stream
        self._text += self._most(text)
        if "\n" in text or len(self._text) >= PIECE or not self._left:
            self.flush()

    def flush(self) -> None:
        if self._sent < MOST_LINES or len(self._text) >= PIECE or not self._left:
            self.send_text()

    def send_text(self) -> None:
        if self._text:
            self._sent += 1
            self._send(kind="text", stream=self._stream, text=self._text)
            self._text = ""

    def value(self, text: str) -> None:
        self.send_text()
        if self._left:
            self._send(kind="value", text=self._most(text))

    def html(self, page: str) -> None:
        self.send_text()
        self._send(kind="html", html=page)

    def error(self, error: BaseException, source: str) -> str:
        """Show `error` without the frames of this file; return its message, or its name."""
        plain = _in_words(error, source)
        report = traceback.TracebackException(type(plain), plain, error.__traceback__)
        report.stack[:] = [frame for frame in report.stack if frame.filename != _HERE]
        text = "".join(report.format() if report.stack else report.format_exception_only())
        if len(text) > MOST_OF_AN_ERROR:
            text = f"{text[: MOST_OF_AN_ERROR // 2]}\n[...]\n{text[-MOST_OF_AN_ERROR // 2 :]}"
        message = str(report)[:MOST_OF_AN_ERROR]
        name = type(plain).__name__
        self._send(kind="error", name=name, message=message, text=text)
        return message or name

    def _most(self, text: str) -> str:
        shown = text[: self._left]
        self._left -= len(shown)
        return shown if self._left else shown + CUT

    def _send(self, **output: str) -> None:
        self._show(json.dumps(output))


class _Stream(io.TextIOBase):
    """The replacement of sys.stdin, sys.stdout or sys.stderr; the same object in all runs."""

    def __init__(self, output: _Output, name: str) -> None:
        self._output, self._name = output, name

    def write(self, text: str) -> int:
        self._output.write(text, self._name)
        return len(text)

    def flush(self) -> None:
        self._output.flush()

    def readline(self, size: int | None = -1) -> str:  # type: ignore[override]
        raise EOFError("Nobody can answer input() in this page. Write the value into the code.")

    read = readline


_SMALLER = "This page's Python has little memory: make arrays smaller, or fewer."
_WORDS: tuple[tuple[type[BaseException], str, str], ...] = (
    (RecursionError, "", "A function calls itself without end: where does it stop?"),
    (MemoryError, "", _SMALLER),
    (ValueError, "array is too big", _SMALLER),
    (ValueError, "allowed dimension", _SMALLER),
    (TypeError, "dtype('int64') to dtype('int32')", "In this page, use `.astype(np.intp)`."),
    (SystemExit, "", "exit() ends nothing in this page. Leave it out, or use `return`."),
)
"""(Type of an error, words in its message, advice)."""


def _in_words(error: BaseException, source: str) -> BaseException:
    """Return the error with advice in its message, if Python's message does not tell what to do."""
    match error:
        case ModuleNotFoundError(name=str(name)) if name.partition(".")[0] not in sys.modules:
            drawn = " Its drawings appear in the notebook." if name.startswith("matplotlib") else ""
            return ModuleNotFoundError(
                f"{name} is not in this page, which has Python's own modules and NumPy.{drawn} "
                f"Download the notebook, and run it where {name} is installed."
            )
        case SyntaxError(lineno=int(number), msg=str(message)):
            line = [*source.split("\n"), ""][min(number - 1, source.count("\n"))].strip()
            if line.startswith(("%", "!", "?", "pip ")) or line.endswith("?"):
                error.msg = "A page runs plain Python: this command of Jupyter is for a notebook."
            elif "'await' outside" in message or "outside async" in message:
                error.msg = "A cell cannot wait in this page. Leave `await` out."
    try:
        message = str(error).removesuffix(".")
    except BaseException:  # the `__str__` of a student's own exception may fail
        return error
    for kind, words, advice in _WORDS:
        if isinstance(error, kind) and words in message:
            return kind(f"{message}. {advice}" if message and message != "None" else advice)
    return error


_HERE = _in_words.__code__.co_filename
