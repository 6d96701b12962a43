"""What runs in a process of its own: the cells of a submission, then the calls of its exercises."""

from __future__ import annotations

import gc
import mmap
import os
import sys
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from . import wire
from .calling import raised, refuse_memory
from .probe import Prepared, is_stub, prepare
from .values import Raised

PREPARED, CELL, DONE, RESULT = b"P", b"C", b"D", b"R"
"""What a child says, each with 8 bytes: all is ready and nothing of the student's has run; the cell
that begins; no more cells; a result's length."""


@dataclass(frozen=True)
class Order:
    """What to do: run the cells but those `left_out`, then make the calls of each exercise.

    `program` and `calls` are open files with messages of the wire: a list of cells, and a list of
    (exercise, calls). `again` asks for the second of the two passes, which goes backwards.
    """

    program: int
    calls: int
    again: bool
    left_out: frozenset[int]


def work(order: Order, say: Callable[[bytes], Any]) -> None:
    """Carry out `order`; `say` gets what is to be reported.

    All that is handed to the student's code is made before that runs, in memory that the grader
    looks at from outside: a change of an argument cannot be hidden from it.
    """
    cells = wire.decode(os.pread(order.program, os.fstat(order.program).st_size, 0))
    exercises = wire.decode(memoryview(mmap.mmap(order.calls, 0)), shared=True)
    for file in (order.program, order.calls):
        os.close(file)
    prepared = [(name, prepare(calls, again=order.again)) for name, calls in exercises]
    if order.again:
        prepared.reverse()
    _forget_the_harness()
    say(_said(PREPARED, 0))
    namespace, failures = _run(cells, order.left_out, say)
    say(_said(DONE, 0))
    for name, calls in prepared:
        message = wire.encode([name, _observed(name, calls, namespace, failures)])
        say(_said(RESULT, len(message)) + message)


def _said(kind: bytes, number: int) -> bytes:
    return kind + number.to_bytes(8, "little")


def _forget_the_harness() -> None:
    """Leave nothing of this package where the student's code would look for something to patch."""
    for name in [name for name in sys.modules if name.startswith(__package__ or "")]:
        del sys.modules[name]
    gc.freeze()  # gc.get_objects() does not show what is frozen


def _run(
    cells: Sequence[Sequence[Any]], left_out: frozenset[int], say: Callable[[bytes], Any]
) -> tuple[dict[str, Any], dict[str | None, Raised]]:
    """The names that the cells leave behind, and what the cells of an exercise raised."""
    namespace: dict[str, Any] = {"__name__": "__main__", "__builtins__": __builtins__}
    namespace["display"] = namespace["get_ipython"] = _Quiet()
    sys.modules["autograder"] = _quiet_autograder()
    failures: dict[str | None, Raised] = {}
    for index, (source, exercise) in enumerate(cells):
        if index in left_out:
            continue
        say(_said(CELL, index))
        try:
            exec(_compiled(source.tobytes().decode(), index), namespace)
        except MemoryError:
            raise
        except BaseException as error:
            refuse_memory(error)
            failures[exercise] = raised(error)
    return namespace, failures


def _observed(
    name: str, calls: Prepared, namespace: dict[str, Any], failures: dict[str | None, Raised]
) -> Any:
    """What the calls of one exercise showed; else what its cell raised, "stub", or None."""
    function = namespace.get(name)
    if not callable(function):
        return failures.get(name)
    if is_stub(function):
        return "stub"
    return calls.observe(function)


class _Quiet:
    """Stands for what only a notebook has: whatever is asked of it, it does nothing."""

    def __getattr__(self, name: str) -> _Quiet:
        return self

    def __call__(self, *_: Any, **__: Any) -> _Quiet:
        return self


def _quiet_autograder() -> types.ModuleType:
    """What `from autograder import check` finds in the sandbox: a check that does nothing."""
    module = types.ModuleType("autograder")
    module.check = lambda *_, **__: None  # type: ignore[attr-defined]
    return module


def _compiled(source: str, index: int) -> types.CodeType:
    """Compile a cell; what only a notebook understands (%magic, !command, help?) does nothing."""
    name = f"<cell {index}>"
    try:
        return compile(source, name, "exec", dont_inherit=True)
    except SyntaxError:
        if not any(mark in source for mark in "%!?"):
            raise
        from IPython.core.inputtransformer2 import TransformerManager

        first, _, rest = source.lstrip().partition("\n")
        plain = f"\n{rest}" if first.startswith("%%") else source  # %%time: the rest is the cell
        return compile(TransformerManager().transform_cell(plain), name, "exec", dont_inherit=True)
