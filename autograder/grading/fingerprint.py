"""A digest of everything that decides a verdict, so that grading can reuse earlier verdicts."""

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
from ..submission.given import given_modules

if TYPE_CHECKING:  # its import is slow, and judging does not need it
    from nbformat import NotebookNode

ENGINE = ("exercise", "grading", "judging", "probe", "sandbox", "submission")
"""The subpackages whose code decides a verdict."""

_TRACED = (ModuleType, FunctionType, type)


def fingerprint(assignment: Assignment, released: NotebookNode, packages: tuple[str, ...]) -> str:
    """Return a digest of exercises, references, engine, release and package versions.

    A submission with the same digest and fingerprint gets the same verdicts, so it need not be
    judged again. `packages` are the packages of the course.
    """
    functions: list[Callable[..., Any]] = []
    parts = [platform.python_version(), f"numpy=={np.__version__}", repr(LIMITS)]
    parts += given_modules(released)
    for cell in released.cells:
        parts += [cell.source, repr(cell.metadata.get("nbgrader", {}).get("points"))]
    for exercise in assignment.exercises:
        functions += [exercise.reference, exercise.cases, exercise.hidden]
        functions += [mistake.answer.written for mistake in exercise.misconceptions]
        hints = [(mistake.name, mistake.hint) for mistake in exercise.misconceptions]
        parts.append(repr((exercise.name, exercise.points, hints)))
    if assignment.torch:
        parts.append(f"torch=={metadata.version('torch')}")
    modules = sorted(modules_behind(functions, packages), key=lambda module: module.__name__)
    files = [Path(str(module.__file__)) for module in modules]
    engine = Path(__file__).parents[1]
    files += [path for part in ENGINE for path in sorted((engine / part).rglob("*.py"))]
    parts += [path.read_text(encoding="utf-8") for path in files]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def modules_behind(
    functions: Sequence[Callable[..., Any]], packages: tuple[str, ...]
) -> set[ModuleType]:
    """Return the modules of `packages` that define `functions`, and all modules that those use."""
    waiting, modules = [inspect.getmodule(function) for function in functions], set[ModuleType]()
    while waiting:
        module = waiting.pop()
        if (
            module is not None
            and module.__name__.partition(".")[0] in packages
            and module not in modules
        ):
            modules.add(module)
            values = [value for value in vars(module).values() if isinstance(value, _TRACED)]
            waiting += map(inspect.getmodule, values)
    return modules
