"""What a worker process does: judge a submission, in the sandbox that it opened at its start."""

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
from ..exercise.model import Assignment
from ..exercise.outline import asked_by, differences, outline
from ..judging.verdict import Judgement
from ..probe import wire
from ..sandbox import backends
from ..sandbox.rooms import NotBegun
from ..submission.submission import ProgramCell
from ..submission.task import Task
from . import program as grading
from .fingerprint import fingerprint

if TYPE_CHECKING:  # its import takes long, and no worker reads a notebook
    from nbformat import NotebookNode


@dataclass(frozen=True)
class Job:
    """One submission to judge: all that it takes, as plain values that travel to any process.

    `package` is the course package of the `assignment`. `exercises` names those that are wanted.
    `trust` is True to do without isolation.
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
    """The released notebooks of a course by assignment, and the package that declares them."""

    package: str
    notebooks: dict[str, NotebookNode]


@dataclass(frozen=True)
class Installed:
    """What a process judges with. `sandbox` says why it has none, and is None if it has one."""

    versions: dict[str, str]
    fingerprints: dict[str, str]
    sandbox: str | None


def judge_job(job: Job) -> dict[str, Judgement]:
    """A judgement for each exercise that `job` wants. Raises SandboxUnavailable."""
    with _ONE_AT_A_TIME:
        package = CoursePackage.find(job.package)
        warm = _warm(job.package, job.trust, job.assignment in package.with_torch)
        return grading.judge_program(
            job.program,
            _assignment(package, job.assignment),  # imports it, while the sandbox starts
            course_key=job.course_key,
            digest=job.digest,
            sandbox=warm.result(),
            only=job.exercises,
        )


@cache
def _assignment(package: CoursePackage, name: str) -> Assignment:
    """The assignment, with all that it imports left to no later collection of garbage."""
    found = package[name]
    gc.freeze()
    return found


def prepare(released: Released, trust: bool) -> dict[str, Task]:
    """Describe the assignments, while the sandbox starts in which they will be judged."""
    package = CoursePackage.find(released.package)
    for name in released.notebooks:
        _warm(package.name, trust, name in package.with_torch)
    return describe(released)


def describe(released: Released) -> dict[str, Task]:
    """Describe the assignments, by name, with these releases as this process would judge them."""
    package = CoursePackage.find(released.package)
    tasks = {}
    for name, notebook in released.notebooks.items():
        declared = outline(package[name])
        asked = asked_by(declared, notebook)
        tasks[name] = Task(
            asked,
            notebook,
            fingerprint(package[name], notebook, package.packages),
            tuple(differences(declared, asked)),
        )
    return tasks


def installed(released: Released, trust: bool) -> Installed:
    """What decides how this process judges; the coordinator compares it with its own."""
    try:
        _opening(released.package, trust).result()
        complaint = None
    except backends.SandboxUnavailable as error:
        complaint = str(error)
    fingerprints = {name: one.fingerprint for name, one in describe(released).items()}
    return Installed(versions(), fingerprints, complaint)


def versions() -> dict[str, str]:
    """The versions that verdicts may depend on."""
    found = {"Python": platform.python_version(), "NumPy": np.__version__}
    with suppress(metadata.PackageNotFoundError):
        found["torch"] = metadata.version("torch")
    return found


def begin(alive: Connection, package: str, trust: bool) -> None:
    """Make this process a local worker, which ends at once when `alive` is closed at its far end.

    That is also how it ends with a coordinator that was killed. Ctrl+C is the coordinator's.
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
    """This process's sandbox, opened while the process imports what it judges with."""
    hidden = CoursePackage.find(package).packages
    return _opener().submit(backends.open_sandbox, trust, packages=hidden)


@cache
def _warm(package: str, trust: bool, torch: bool) -> Future[backends.Sandbox]:
    """This process's sandbox, when it has imported what submissions import."""
    return _opener().submit(_warmed, _opening(package, trust), torch)


def _warmed(opening: Future[backends.Sandbox], torch: bool) -> backends.Sandbox:
    sandbox = opening.result()
    with suppress(NotBegun):  # judging will say so
        sandbox.room(wire.encode([]), torch).close()
    return sandbox


@cache
def _opener() -> ThreadPoolExecutor:
    """A thread that opens sandboxes while the others import."""
    return ThreadPoolExecutor(1)


_ONE_AT_A_TIME = threading.Lock()  # a worker of a cluster may have several threads
