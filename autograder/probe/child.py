"""The child process of a run: the cells of a submission, then the calls of its exercises."""

from __future__ import annotations
import __future__

import ast
import inspect
import linecache
import mmap
import os
import sys
import types
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from typing import Any

from . import original, wire
from .apart import notebook, renew
from .calling import attempt, call_apart
from .gate import Seal
from .observe import Prepared, is_stub, prepare
from .values import Raised
from .writing import written_file

PREPARED, CELL, DONE, RESULT = b"P", b"C", b"D", b"R"
"""The kinds of message from a child, each followed by 8 bytes: ready, before any of the student's
code has run; the number of the cell that starts; no more cells; the length of a result."""

_PACKAGE = __package__ or ""


@dataclass(frozen=True)
class Order:
    """An order to run the cells except those `left_out`, and then make the calls of each exercise.

    `program` and `calls` are open files with messages of the wire: a list of cells, and a list of
    (exercise, calls). `again` asks for the second of the two passes, which goes backwards. With
    `turns`, each turn makes the calls in a copy of the process, which passes `processor` on.
    """

    program: int
    calls: int
    again: bool
    left_out: frozenset[int]
    turns: bool = False
    processor: bytes = b""


def work(order: Order, say: Callable[[bytes], Any], seal: Seal) -> None:
    """Carry out `order`; `say` sends a message, and `seal` ends all other processes in the room.

    All arguments are made before the student's code runs, in memory that the grader inspects from
    outside, so that the code cannot hide a change of an argument.
    """
    cells = wire.decode(os.pread(order.program, os.fstat(order.program).st_size, 0))
    if order.turns:  # the copies of this process must not share the memory of the calls
        exercises = wire.decode(os.pread(order.calls, os.fstat(order.calls).st_size, 0))
        wait_for_turns = original.prepare(order.processor)
    else:
        exercises = wire.decode(memoryview(mmap.mmap(order.calls, 0)), shared=True)
    for file in (order.program, order.calls):
        os.close(file)
    prepared = [(name, prepare(calls, again=order.again)) for name, calls in exercises]
    if order.again:
        prepared.reverse()
    call_apart()
    intact = _integrity_check()
    _remove_package()
    say(_header(PREPARED, 0))
    answers, failures = _run(cells, order.left_out, say, [name for name, _ in exercises])
    if order.turns:
        renew()
        wait_for_turns(lambda: say(_header(DONE, 0)))
    else:
        say(_header(DONE, 0))
    for name, calls in prepared:
        if calls.watched:
            renew()  # ends our own waiting thread, because the seal allows no other threads
            seal()
        message = wire.encode([name, _observe(name, calls, answers, failures)])
        if not intact():
            message = b"this package was changed"
        say(_header(RESULT, len(message)) + message)


def _header(kind: bytes, number: int) -> bytes:
    return kind + number.to_bytes(8, "little")


def _remove_package() -> None:
    """Remove this package from `sys.modules`, where the student's code would look to patch it."""
    for name in [name for name in sys.modules if name.startswith(_PACKAGE)]:
        del sys.modules[name]


def _integrity_check() -> Callable[[], bool]:
    """Return a function that tells whether this package is unchanged since now.

    Nothing else refers to the function, and it uses no name that the student's code could rebind.
    """
    modules = [module for name, module in sys.modules.items() if name.startswith(_PACKAGE)]
    values = [value for module in modules for value in vars(module).values()]
    classes = [kind for kind in values if isinstance(kind, type) and kind.__module__ in sys.modules]
    classes = [kind for kind in classes if kind.__module__.startswith(_PACKAGE)]
    members = [member for kind in classes for member in vars(kind).values()]
    for module in modules:
        vars(module).setdefault("__warningregistry__", {})  # a warning would add it later
    spaces = [(vars(owner), {**vars(owner)}) for owner in (*modules, *classes)]
    functions = [
        (value, value.__code__, value.__defaults__)
        for value in (*values, *members)
        if isinstance(value, types.FunctionType)
        and (value.__module__ or _PACKAGE).startswith(_PACKAGE)
    ]

    def intact() -> bool:
        for space, before in spaces:
            if space != before:
                return False
        for function, code, defaults in functions:
            if function.__code__ is not code or function.__defaults__ is not defaults:
                return False
        return True

    return intact


def _run(
    cells: Sequence[Sequence[Any]],
    left_out: frozenset[int],
    say: Callable[[bytes], Any],
    exercises: Sequence[str],
) -> tuple[dict[str, Any], dict[str | None, Raised]]:
    """Run the cells; return the answers, by exercise, and the exceptions of cells, by exercise.

    The answers are those to `exercises` and to any others that have a cell.
    """
    namespace, future_flags = notebook(), 0
    answers = _Answers({*exercises, *(exercise for _, exercise in cells if exercise is not None)})
    failures: dict[str | None, Raised] = {}
    for index, (source, exercise) in enumerate(cells):
        if index in left_out:
            continue
        say(_header(CELL, index))
        before = answers.values_in(namespace)
        text = source.tobytes().decode()
        file = written_file(text)
        result = attempt(exec, _WRITE, {"refused": file.refused, **vars(file)}) if file else None
        if file is None or exercise is not None:
            result = _compile(text, index, future_flags)
        if type(result) is types.CodeType:
            future_flags |= result.co_flags & _FUTURE
            result = _execute(result, namespace)
        if isinstance(result, Raised):
            failures[exercise] = result
        answers.update(exercise, before, namespace)
    return answers.answers, failures


def _execute(code: types.CodeType, namespace: dict[str, Any]) -> Any:
    """Run a cell, in an event loop if it has a top-level `await`. Return `Raised` if it fails."""
    if code.co_flags & _COROUTINE:
        return attempt(exec, _AWAIT, {"cell": code, "names": namespace})
    return attempt(exec, code, namespace)


class _Answers:
    """The answers that the cells define, by the names of the exercises.

    The last definition counts. But a function of this name in the cell of another exercise is a
    helper there, and does not replace an answer. Neither does a value that is not an answer: the
    result in `softmax = softmax(x)`, a missing name after `del`, or a stub that was pasted again.
    """

    def __init__(self, names: Set[str]) -> None:
        self._names = sorted(names)
        self.answers: dict[str, Any] = {}

    def values_in(self, namespace: dict[str, Any]) -> list[Any]:
        """Return the values of the names; the lookup may run student code (that of a key)."""
        values = attempt(list, map(namespace.get, self._names))
        return values if type(values) is list else [None] * len(self._names)

    def update(self, exercise: str | None, before: list[Any], namespace: dict[str, Any]) -> None:
        """Update the answers after a cell of `exercise`, or of no exercise.

        `before` are the values of the names before the cell.
        """
        for name, old, new in zip(self._names, before, self.values_in(namespace), strict=False):
            counts = exercise in (None, name) and _is_answer(new)
            if new is not old and (counts or not _is_answer(self.answers.get(name))):
                self.answers[name] = new


def _is_answer(value: Any) -> bool:
    return callable(value) and not is_stub(value)


def _observe(
    name: str, calls: Prepared, answers: dict[str, Any], failures: dict[str | None, Raised]
) -> Any:
    """Return the observations of an exercise, or else its cell's exception, "stub", or None."""
    function = answers.get(name)
    if not callable(function):
        return failures.get(name)
    if is_stub(function):
        return "stub"
    return calls.observe(function)


_TRANSFORM = """
from IPython.core.inputtransformer2 import TransformerManager
cell = TransformerManager().transform_cell(cell)
"""
_AWAIT = """
import asyncio
asyncio.run(eval(cell, names))
"""
_WRITE = """
if refused:
    raise ValueError(refused)
import importlib
with open(name, "a" if append else "w", encoding="utf-8") as file:
    file.write(text)
importlib.invalidate_caches()
"""
_RUN_IN_PLACE = ("time", "capture", "prun", "debug", "writefile", "file")
"""The cell magics that run their body as Python in the notebook's namespace; see `_compile`."""

_SOURCES = linecache.cache  # where `inspect` looks for sources
_COROUTINE, _AWAITING = inspect.CO_COROUTINE, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
_FUTURE = 0
for _feature in __future__.all_feature_names:
    _FUTURE |= getattr(__future__, _feature).compiler_flag


def _compile(source: str, index: int, flags: int) -> types.CodeType | Raised:
    """Compile a cell; notebook syntax (%magic, !command, help?) does nothing.

    The body of a cell magic runs only if a notebook would run it in its own namespace: `%%script`
    or `%%timeit` leave no names in a notebook either. If the cell of an answer begins with
    `%%writefile`, its body also counts as the answer. `flags` are the `from __future__` flags of
    earlier cells, which apply to this cell too. The source is stored where `inspect` finds it.
    """
    name = f"<cell {index}>"
    code = _compile_python(source, name, flags)
    if not isinstance(code, Raised) or not any(mark in source for mark in "%!?"):
        return code
    if "SyntaxError" not in (code.type_name, *code.bases):
        return code
    names = {"cell": _below_magics(source)}
    attempt(exec, _TRANSFORM, names)
    cell = attempt(names.get, "cell")
    return _compile_python(cell, name, flags) if type(cell) is str else code


def _below_magics(source: str) -> str:
    """Return a cell without the cell magics at its start, or "" if one of them runs no Python.

    All lines keep their numbers.
    """
    lines = source.splitlines(keepends=True)
    for at, line in enumerate(lines):
        text = line.strip()
        if text.startswith("%%"):
            magic, *_ = text[2:].split() or [""]
            if magic not in _RUN_IN_PLACE:
                return ""
            lines[at] = "\n"
        elif text:
            break
    return "".join(lines)


def _compile_python(source: str, name: str, flags: int) -> types.CodeType | Raised:
    flags |= _AWAITING
    code: types.CodeType | Raised = attempt(compile, source, name, "exec", flags, dont_inherit=True)
    entry = len(source), None, source.splitlines(keepends=True), name
    attempt(_SOURCES.__setitem__, name, entry)
    return code
