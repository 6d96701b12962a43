"""Measure time and memory: of the command that grades a class, and of each part of a submission."""

from __future__ import annotations

import contextlib
import copy
import re
import statistics
import subprocess
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest import mock

import psutil

from autograder.exercise.model import Assignment
from autograder.exercise.outline import outline
from autograder.grading.observing import ProgramCell, Question
from autograder.grading.program import judge_program
from autograder.grading.questions import draw_questions
from autograder.probe import calling
from autograder.probe.observe import prepare
from autograder.probe.values import Call
from autograder.sandbox.backends import Sandbox, open_sandbox
from autograder.sandbox.rooms import Room, Run
from autograder.submission.submission import read_submission

MIB = 2**20
EVERY = 1.0
"""Seconds between two measurements of the memory."""

PROGRESS = re.compile(r"grading (\d+) of \d+")


@dataclass
class Graded:
    """The duration of a run in seconds, to its end and to the first grade, and its memory in MiB.

    `worker` is the largest worker, including its sandbox. `mib_at` and `seconds_at` map a number of
    graded submissions to the memory of all processes and to the seconds at that moment.
    """

    seconds: float = 0.0
    first: float = 0.0
    worker: float = 0.0
    mib_at: dict[int, float] = field(default_factory=dict)
    seconds_at: dict[int, float] = field(default_factory=dict)


def graded(command: Sequence[str | Path], root: Path, at: Collection[int] = ()) -> Graded:
    """Run the command that grades the course at `root`, and measure it.

    Memory is the proportional set size, which counts shared pages once. `at`: the numbers of graded
    submissions at which to measure. Raises CalledProcessError if the command fails.
    """
    measured, ended = Graded(), threading.Event()
    started = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    monitor = threading.Thread(target=_watch_workers, args=(process.pid, measured, ended))
    monitor.start()
    sizes_to_come = sorted(at, reverse=True)
    output = ""
    for line in process.stdout or ():
        output += line
        progress = PROGRESS.search(line)
        measured.first = measured.first or (time.perf_counter() - started if progress else 0.0)
        while progress and sizes_to_come and int(progress[1]) >= sizes_to_come[-1]:
            number = sizes_to_come.pop()
            measured.seconds_at[number] = time.perf_counter() - started
            measured.mib_at[number] = _memory(_process_tree(process.pid)) / MIB
    code = process.wait()
    measured.seconds = time.perf_counter() - started
    ended.set()
    monitor.join()
    if code:
        raise subprocess.CalledProcessError(code, [*command], output)
    return measured


def _watch_workers(pid: int, measured: Graded, ended: threading.Event) -> None:
    while not ended.wait(EVERY):
        with contextlib.suppress(psutil.NoSuchProcess):
            for worker in psutil.Process(pid).children():
                mib = _memory(_process_tree(worker.pid)) / MIB
                measured.worker = max(measured.worker, mib)


def _process_tree(pid: int) -> list[psutil.Process]:
    try:
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _memory(processes: Sequence[psutil.Process]) -> float:
    """Return the memory of the processes in bytes.

    Where the user may not read the proportional set size of a process, its resident size counts.
    """
    total = 0.0
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            try:
                total += process.memory_full_info().pss
            except psutil.AccessDenied:
                total += process.memory_info().rss
    return total


@dataclass
class Parts:
    """The seconds that grading one submission takes: the `whole`, and each part.

    `reading` is the time to read the notebook, `rooms` the time to enter a room, `runs` the time in
    the sandbox, and `judging` the rest, outside the sandbox. `own` is the time of the answer
    itself, `watching` the time to detect ready-made functions; both are included in `runs`.
    """

    whole: float = 0.0
    reading: float = 0.0
    rooms: float = 0.0
    runs: float = 0.0
    judging: float = 0.0
    own: float = 0.0
    watching: float = 0.0

    @property
    def overhead(self) -> float:
        """Return the seconds of the grader without those of the answer."""
        return self.whole - self.own


def parts(course: Any, assignment: Assignment, released: Any, number: int) -> list[Parts]:
    """Grade the first `number` submissions of a class in turn, and return the parts of each.

    All submissions are right. The first is not returned, since it waits for the sandbox to start.
    """
    sandbox, submissions = _Stopwatch(open_sandbox()), []
    known = outline(assignment)
    for file in course.submissions([assignment.name])[:number]:
        measured = sandbox.parts = Parts()
        started = time.perf_counter()
        submission = read_submission(file, known, released)
        measured.reading = time.perf_counter() - started
        questions = draw_questions(assignment, course.key, submission.digest)  # is not timed
        started = time.perf_counter()
        judge_program(
            submission.program,
            assignment,
            course_key=course.key,
            digest=submission.digest,
            sandbox=sandbox,
        )
        seconds = time.perf_counter() - started
        measured.whole = measured.reading + seconds
        measured.judging = seconds - measured.rooms - measured.runs
        measured.own, measured.watching = _own(submission.program, questions)
        submissions.append(measured)
    sandbox.close()
    return submissions[1:]


def median(submissions: Sequence[Parts], part: str) -> float:
    """Return the median of a part over the submissions, in milliseconds."""
    return round(1000 * statistics.median(getattr(parts, part) for parts in submissions), 1)


class _Stopwatch:
    """A sandbox that records how long its rooms take."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox, self.parts = sandbox, Parts()
        self.close = sandbox.close

    def room(self, program: bytes, torch: bool) -> _TimedRoom:
        with self.timed("rooms"):
            return _TimedRoom(self._sandbox.room(program, torch), self)

    @contextlib.contextmanager
    def timed(self, part: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        setattr(self.parts, part, getattr(self.parts, part) + time.perf_counter() - started)


class _TimedRoom:
    def __init__(self, room: Room, stopwatch: _Stopwatch) -> None:
        self._room, self._stopwatch = room, stopwatch
        self.close = room.close

    @property
    def open(self) -> bool:
        return self._room.open

    def run(self, calls: bytes, **options: Any) -> Run:
        with self._stopwatch.timed("runs"):
            return self._room.run(calls, **options)


def _own(program: Sequence[ProgramCell], questions: Sequence[Question]) -> tuple[float, float]:
    """Return the seconds of a program's answers, and the seconds that watching them adds.

    The cells run three times, and each call is made as often as in grading, but in this process,
    without a sandbox. So the extra time of a call in a cold, freshly forked process counts as
    overhead of the grader.
    """
    started = time.perf_counter()
    namespace: dict[str, Any] = {}
    for cell in program:
        exec(compile(cell.source, "<cell>", "exec"), namespace)
    cells = 3 * (time.perf_counter() - started)
    calls, plain = _calls(questions, namespace, watched=False)
    _, watched = _calls(questions, namespace, watched=True)
    return cells + calls, max(0.0, watched - plain)


def _calls(
    questions: Sequence[Question], namespace: dict[str, Any], watched: bool
) -> tuple[float, float]:
    """Return the seconds of the calls themselves, and the seconds including their observation."""
    own = 0.0

    def timed(function: Any, arguments: Any, keywords: Any) -> Any:
        nonlocal own
        started = time.perf_counter()
        try:
            return function(*arguments, **keywords)
        finally:
            own += time.perf_counter() - started

    def calls_of(question: Question) -> list[Call]:
        calls = copy.deepcopy(question.whole.calls)
        return list(calls) if watched else [replace(call, forbidden=()) for call in calls]

    whole = 0.0
    with mock.patch.object(calling, "_call", timed):
        for question in questions:
            for again in (False, True):
                prepared = prepare(calls_of(question), again=again)
                started = time.perf_counter()
                prepared.observe(namespace[question.name])
                whole += time.perf_counter() - started
    return own, whole
