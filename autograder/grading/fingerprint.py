"""What decides a verdict, in one digest: nothing is judged again that it has not changed."""

from __future__ import annotations

import hashlib
import inspect
import platform
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..exercise.model import Assignment
from ..sandbox.limits import LIMITS

if TYPE_CHECKING:  # its import takes long, and judging does without
    from nbformat import NotebookNode

ENGINE = ("exercise", "grading", "judging", "probe", "sandbox", "submission")
"""The rooms of this package that decide a verdict."""


def fingerprint(assignment: Assignment, released: NotebookNode, packages: tuple[str, ...]) -> str:
    """A digest of all that decides a verdict: exercises, references, engine, release, versions.

    A submission with the same digest and fingerprint gets the same verdicts: it need not be
    judged again. `packages` are those of the course.
    """
    functions: list[Callable[..., Any]] = []
    parts = [platform.python_version(), f"numpy=={np.__version__}", repr(LIMITS)]
    parts += [cell.source for cell in released.cells]
    for one in assignment.exercises:
        functions += [one.reference, one.cases, one.hidden]
        functions += [misconception.answer.written for misconception in one.misconceptions]
        parts.append(repr((one.name, one.points, [(m.name, m.hint) for m in one.misconceptions])))
    if assignment.torch:
        parts.append(f"torch=={metadata.version('torch')}")
    modules = _modules_behind(functions, packages)
    parts += [inspect.getsource(m) for m in sorted(modules, key=lambda m: m.__name__)]
    engine = Path(__file__).parents[1]
    for room in ENGINE:
        parts += [path.read_text() for path in sorted((engine / room).rglob("*.py"))]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _modules_behind(
    functions: Sequence[Callable[..., Any]], packages: tuple[str, ...]
) -> set[ModuleType]:
    """The modules of `packages` that define `functions`, and those whose functions these use."""
    waiting, found = list(functions), set()
    while waiting:
        module = inspect.getmodule(waiting.pop())
        if (
            module is not None
            and module.__name__.partition(".")[0] in packages
            and module not in found
        ):
            found.add(module)
            waiting += [
                value
                for value in vars(module).values()
                if inspect.isfunction(value) or inspect.isclass(value)
            ]
    return found
