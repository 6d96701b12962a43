"""The jobs of a worker process: judge submissions in the sandbox that it opened when it started."""

from __future__ import annotations

import gc
import os
import platform
import signal
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

import numpy as np

from ..exercise.course_package import CoursePackage
from ..exercise.guides import guides
from ..exercise.model import Assignment
from ..exercise.outline import asked_by, differences, outline
from ..judging.verdict import Judgement
from ..probe import wire
from ..sandbox import backends
from ..sandbox.rooms import NotStarted
from ..submission.submission import ProgramCell
from ..submission.task import Task
from . import program as grading
from .fingerprint import fingerprint

if TYPE_CHECKING:  # its import is slow, and workers read no notebooks
    from nbformat import NotebookNode


@dataclass(frozen=True)
class Job:
    """One submission to judge, with everything that is needed, as values that can be pickled.

    `package` is the course package of the `assignment`, `exercises` are the names of the exercises
    to judge, and `trust` is True to judge without isolation.
    """

    program: tuple[ProgramCell, ...]
    package: str
    assignment: str
    course_key: bytes = field(repr=False)
    digest: str
    exercises: tuple[str, ...]
    trust: bool


@dataclass(frozen=True)
class Released:
    """The released notebooks of a course by assignment, and the course package's name."""

    package: str
    notebooks: dict[str, NotebookNode]


@dataclass(frozen=True)
class Installed:
    """The versions that a process judges with. `sandbox` is why it has no sandbox, or None."""

    versions: dict[str, str]
    fingerprints: dict[str, str]
    sandbox: str | None


def judge_job(job: Job) -> dict[str, Judgement]:
    """Return a judgement for each exercise that `job` names. Raises SandboxUnavailable."""
    with _ONE_AT_A_TIME:
        package = CoursePackage.find(job.package)
        warm = _warm(job.package, job.trust, job.assignment in package.with_torch)
        return grading.judge_program(
            job.program,
            _assignment(package, job.assignment),  # imported while the sandbox starts
            course_key=job.course_key,
            digest=job.digest,
            sandbox=warm.result(),
            only=job.exercises,
        )


@cache
def _assignment(package: CoursePackage, name: str) -> Assignment:
    """Return the assignment, and exempt what it imports from later garbage collections."""
    assignment = package[name]
    gc.freeze()
    return assignment


def prepare(released: Released, trust: bool) -> dict[str, Task]:
    """Describe the assignments while the sandbox that will judge them starts."""
    package = CoursePackage.find(released.package)
    for name in released.notebooks:
        _warm(package.name, trust, name in package.with_torch)
    return describe(released)


def describe(released: Released) -> dict[str, Task]:
    """Return a Task for each released assignment, by name, as this process would judge it."""
    package = CoursePackage.find(released.package)
    tasks = {}
    for name, notebook in released.notebooks.items():
        declared = outline(package[name])
        in_release = asked_by(declared, notebook)
        tasks[name] = Task(
            in_release,
            notebook,
            fingerprint(package[name], notebook, package.packages),
            tuple(differences(declared, in_release)),
            package[name].title,
            guides(package[name]),
        )
    return tasks


def installed(released: Released, trust: bool) -> Installed:
    """Return everything that decides how this process judges, for the coordinator to compare."""
    try:
        _opening(released.package, trust).result()
        complaint = None
    except backends.SandboxUnavailable as error:
        complaint = str(error)
    fingerprints = {name: task.fingerprint for name, task in describe(released).items()}
    return Installed(versions(), fingerprints, complaint)


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that verdicts may depend on."""
    versions = {"Python": platform.python_version(), "NumPy": np.__version__}
    with suppress(metadata.PackageNotFoundError):
        versions["torch"] = metadata.version("torch")
    return versions


def begin(alive: Connection, package: str, trust: bool) -> None:
    """Make this process a local worker, which exits when the other end of `alive` is closed.

    It therefore also exits if the coordinator is killed. It ignores Ctrl+C, which only the
    coordinator handles.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(alive,), daemon=True).start()
    _opening(package, trust)


def _end_with(alive: Connection) -> None:
    try:
        alive.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)


@cache
def _opening(package: str, trust: bool) -> Future[backends.Sandbox]:
    """Open this process's sandbox in a thread, while the process imports its own modules."""
    hidden = CoursePackage.find(package).packages
    return _opener().submit(backends.open_sandbox, trust, packages=hidden)


@cache
def _warm(package: str, trust: bool, torch: bool) -> Future[backends.Sandbox]:
    """Return this process's sandbox once it has imported what submissions import."""
    return _opener().submit(_warm_up, _opening(package, trust), torch)


def _warm_up(opening: Future[backends.Sandbox], torch: bool) -> backends.Sandbox:
    sandbox = opening.result()
    with suppress(NotStarted):  # judging reports this
        sandbox.room(wire.encode([]), torch).close()
    return sandbox


@cache
def _opener() -> ThreadPoolExecutor:
    """Return the thread that opens sandboxes while other threads import."""
    return ThreadPoolExecutor(1)


_ONE_AT_A_TIME = threading.Lock()  # a dask worker may have several threads
