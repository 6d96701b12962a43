"""What decides a verdict, in one digest: nothing is judged again that it has not changed."""

from __future__ import annotations

import hashlib
import inspect
import platform
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..exercise.model import Assignment
from ..sandbox.limits import LIMITS

if TYPE_CHECKING:  # its import takes long, and judging does without
    from nbformat import NotebookNode

ENGINE = ("exercise", "grading", "judging", "probe", "sandbox", "submission")
"""The packages in this one that decide a verdict."""

_USED = (ModuleType, FunctionType, type)


def fingerprint(assignment: Assignment, released: NotebookNode, packages: tuple[str, ...]) -> str:
    """A digest of all that decides a verdict: exercises, references, engine, release, versions.

    A submission with the same digest and fingerprint gets the same verdicts: it need not be
    judged again. `packages` are those of the course.
    """
    functions: list[Callable[..., Any]] = []
    parts = [platform.python_version(), f"numpy=={np.__version__}", repr(LIMITS)]
    for cell in released.cells:
        parts += [cell.source, repr(cell.metadata.get("nbgrader", {}).get("points"))]
    for one in assignment.exercises:
        functions += [one.reference, one.cases, one.hidden]
        functions += [misconception.answer.written for misconception in one.misconceptions]
        parts.append(repr((one.name, one.points, [(m.name, m.hint) for m in one.misconceptions])))
    if assignment.torch:
        parts.append(f"torch=={metadata.version('torch')}")
    modules = sorted(modules_behind(functions, packages), key=lambda one: one.__name__)
    files = [Path(str(one.__file__)) for one in modules]
    engine = Path(__file__).parents[1]
    files += [path for part in ENGINE for path in sorted((engine / part).rglob("*.py"))]
    parts += [path.read_text(encoding="utf-8") for path in files]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def modules_behind(
    functions: Sequence[Callable[..., Any]], packages: tuple[str, ...]
) -> set[ModuleType]:
    """The modules of `packages` that define `functions`, and all modules that these use."""
    waiting, found = [inspect.getmodule(one) for one in functions], set[ModuleType]()
    while waiting:
        module = waiting.pop()
        if (
            module is not None
            and module.__name__.partition(".")[0] in packages
            and module not in found
        ):
            found.add(module)
            values = [one for one in vars(module).values() if isinstance(one, _USED)]
            waiting += map(inspect.getmodule, values)
    return found
