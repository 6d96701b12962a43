"""What runs in a process of its own: the cells of a submission, then the calls of its exercises."""

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
"""What a child says, each with 8 bytes: all is ready and nothing of the student's has run; the cell
that begins; no more cells; a result's length."""

_PACKAGE = __package__ or ""


@dataclass(frozen=True)
class Order:
    """What to do: run the cells but those `left_out`, then make the calls of each exercise.

    `program` and `calls` are open files with messages of the wire: a list of cells, and a list of
    (exercise, calls). `again` asks for the second of the two passes, which goes backwards. With
    `turns`, the calls are made in a copy of the process for each turn; `processor` is for these.
    """

    program: int
    calls: int
    again: bool
    left_out: frozenset[int]
    turns: bool = False
    processor: bytes = b""


def work(order: Order, say: Callable[[bytes], Any], seal: Seal) -> None:
    """Carry out `order`; `say` gets what is to be reported, and `seal` leaves us alone in the room.

    All that is handed to the student's code is made before that runs, in memory that the grader
    looks at from outside: a change of an argument cannot be hidden from it.
    """
    cells = wire.decode(os.pread(order.program, os.fstat(order.program).st_size, 0))
    if order.turns:  # copies of this process must not share the calls
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
    intact = _as_it_is_now()
    _forget_the_harness()
    say(_said(PREPARED, 0))
    answers, failures = _run(cells, order.left_out, say, [name for name, _ in exercises])
    if order.turns:
        renew()
        wait_for_turns(lambda: say(_said(DONE, 0)))
    else:
        say(_said(DONE, 0))
    for name, calls in prepared:
        if calls.watched:
            renew()  # a thread that waits for calls is none of those that may not be left
            seal()
        message = wire.encode([name, _observed(name, calls, answers, failures)])
        if not intact():
            message = b"this package was changed"
        say(_said(RESULT, len(message)) + message)


def _said(kind: bytes, number: int) -> bytes:
    return kind + number.to_bytes(8, "little")


def _forget_the_harness() -> None:
    """Leave nothing of this package where the student's code would look for something to patch."""
    for name in [name for name in sys.modules if name.startswith(_PACKAGE)]:
        del sys.modules[name]


def _as_it_is_now() -> Callable[[], bool]:
    """A function that says whether this package is still as it is now; nothing else leads to it.

    It uses no name that the student's code could give another meaning.
    """
    modules = [module for name, module in sys.modules.items() if name.startswith(_PACKAGE)]
    values = [one for module in modules for one in vars(module).values()]
    classes = [one for one in values if isinstance(one, type) and one.__module__ in sys.modules]
    classes = [one for one in classes if one.__module__.startswith(_PACKAGE)]
    parts = [one for kind in classes for one in vars(kind).values()]
    for module in modules:
        vars(module).setdefault("__warningregistry__", {})  # which a warning would add
    spaces = [(vars(one), {**vars(one)}) for one in (*modules, *classes)]
    functions = [
        (one, one.__code__, one.__defaults__)
        for one in (*values, *parts)
        if isinstance(one, types.FunctionType) and (one.__module__ or _PACKAGE).startswith(_PACKAGE)
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
    asked: Sequence[str],
) -> tuple[dict[str, Any], dict[str | None, Raised]]:
    """The answers to what is `asked` and to the rest, and what the cells of an exercise raised."""
    namespace, kept = notebook(), 0
    answers = _Answers({*asked, *(exercise for _, exercise in cells if exercise is not None)})
    failures: dict[str | None, Raised] = {}
    for index, (source, exercise) in enumerate(cells):
        if index in left_out:
            continue
        say(_said(CELL, index))
        before = answers.values_in(namespace)
        text = source.tobytes().decode()
        file = written_file(text)
        done = attempt(exec, _WRITE, {"refused": file.refused, **vars(file)}) if file else None
        if file is None or exercise is not None:
            done = _compiled(text, index, kept)
        if type(done) is types.CodeType:
            kept |= done.co_flags & _FUTURE
            done = _executed(done, namespace)
        if isinstance(done, Raised):
            failures[exercise] = done
        answers.look(exercise, before, namespace)
    return answers.found, failures


def _executed(code: types.CodeType, namespace: dict[str, Any]) -> Any:
    """Run a cell; `Raised` if it fails. One with `await` outside of a function runs in a loop."""
    if code.co_flags & _COROUTINE:
        return attempt(exec, _AWAIT, {"cell": code, "names": namespace})
    return attempt(exec, code, namespace)


class _Answers:
    """What the cells leave behind under the names of the exercises.

    The last definition counts; but what the cell of another exercise calls so is a helper of that
    one's, which does not take the place of an answer. Neither does a value that is none, such as
    the result in `softmax = softmax(x)`, nothing after `del`, or a stub that was pasted again.
    """

    def __init__(self, names: Set[str]) -> None:
        self._names = sorted(names)
        self.found: dict[str, Any] = {}

    def values_in(self, namespace: dict[str, Any]) -> list[Any]:
        """What the names mean now; to look them up may run code of the student's (a key's)."""
        values = attempt(list, map(namespace.get, self._names))
        return values if type(values) is list else [None] * len(self._names)

    def look(self, exercise: str | None, before: list[Any], namespace: dict[str, Any]) -> None:
        """See what the cell of `exercise`, or of none, made of the names as they were `before`."""
        for name, was, now in zip(self._names, before, self.values_in(namespace), strict=False):
            mine = exercise in (None, name) and _is_answer(now)
            if now is not was and (mine or not _is_answer(self.found.get(name))):
                self.found[name] = now


def _is_answer(value: Any) -> bool:
    return callable(value) and not is_stub(value)


def _observed(
    name: str, calls: Prepared, answers: dict[str, Any], failures: dict[str | None, Raised]
) -> Any:
    """What the calls of one exercise showed; else what its cell raised, "stub", or None."""
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
"""The cell magics whose body is Python among the notebook's own names; see `_compiled`."""

_SOURCES = linecache.cache  # what `inspect` has sources from
_COROUTINE, _AWAITING = inspect.CO_COROUTINE, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
_FUTURE = 0
for _feature in __future__.all_feature_names:
    _FUTURE |= getattr(__future__, _feature).compiler_flag


def _compiled(source: str, index: int, flags: int) -> types.CodeType | Raised:
    """Compile a cell; what only a notebook understands (%magic, !command, help?) does nothing.

    Below a cell magic, only Python that the notebook runs among its own names is run: the body of
    `%%script` or `%%timeit` leaves no names in a notebook either. What `%%writefile` writes in the
    cell of an answer is taken for the answer, too. `flags` are those of the cells before, of which
    `from __future__` holds for this one too. Who asks `inspect` for the source of a function finds
    it.
    """
    name = f"<cell {index}>"
    code = _compiled_as_it_is(source, name, flags)
    if not isinstance(code, Raised) or not any(mark in source for mark in "%!?"):
        return code
    if "SyntaxError" not in (code.type_name, *code.bases):
        return code
    names = {"cell": _below_magics(source)}
    attempt(exec, _TRANSFORM, names)
    cell = attempt(names.get, "cell")
    return _compiled_as_it_is(cell, name, flags) if type(cell) is str else code


def _below_magics(source: str) -> str:
    """A cell without the cell magics that it begins with; empty if one of them runs no Python.

    Every line keeps its number.
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


def _compiled_as_it_is(source: str, name: str, flags: int) -> types.CodeType | Raised:
    flags |= _AWAITING
    code: types.CodeType | Raised = attempt(compile, source, name, "exec", flags, dont_inherit=True)
    known = len(source), None, source.splitlines(keepends=True), name
    attempt(_SOURCES.__setitem__, name, known)
    return code
