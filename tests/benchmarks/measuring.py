"""Time and memory: of the command that grades a class, and of one submission, part by part."""

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
"""Seconds between two looks at the memory."""

PROGRESS = re.compile(r"grading (\d+) of \d+")


@dataclass
class Graded:
    """What a run of the command took: seconds to the end and to the first grade; MiB at most.

    `worker` is the largest worker with its sandbox, `at` the memory of all processes together when
    so many submissions were graded, `seconds_at` the seconds then.
    """

    seconds: float = 0.0
    first: float = 0.0
    worker: float = 0.0
    at: dict[int, float] = field(default_factory=dict)
    seconds_at: dict[int, float] = field(default_factory=dict)


def graded(command: Sequence[str | Path], root: Path, at: Collection[int] = ()) -> Graded:
    """Run the command that grades the course at `root`. Raises CalledProcessError.

    Memory is the proportional set size: what processes share counts once.
    """
    found, ended = Graded(), threading.Event()
    begun = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    looking = threading.Thread(target=_look_at_workers, args=(process.pid, found, ended))
    looking.start()
    waiting = sorted(at, reverse=True)
    said = ""
    for line in process.stdout or ():
        said += line
        done = PROGRESS.search(line)
        found.first = found.first or (time.perf_counter() - begun if done else 0.0)
        while done and waiting and int(done[1]) >= waiting[-1]:
            number = waiting.pop()
            found.seconds_at[number] = time.perf_counter() - begun
            found.at[number] = _held(_family(process.pid)) / MIB
    code = process.wait()
    found.seconds = time.perf_counter() - begun
    ended.set()
    looking.join()
    if code:
        raise subprocess.CalledProcessError(code, [*command], said)
    return found


def _look_at_workers(pid: int, found: Graded, ended: threading.Event) -> None:
    while not ended.wait(EVERY):
        with contextlib.suppress(psutil.NoSuchProcess):
            for worker in psutil.Process(pid).children():
                found.worker = max(found.worker, _held(_family(worker.pid)) / MIB)


def _family(pid: int) -> list[psutil.Process]:
    try:
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _held(processes: Sequence[psutil.Process]) -> float:
    """The bytes that processes hold; of one that this user may not look at, its resident size."""
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
    """Seconds of one submission: in the grader altogether, and in which part.

    `reading` the notebook; `rooms`, entering one; `runs`, what the sandbox was at; `judging`, all
    else out here. `own` is what the answer takes itself, and `watching` what it takes to see
    whether it uses something ready-made; both are part of `runs`.
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
        """What the grader takes besides the answer."""
        return self.whole - self.own


def parts(course: Any, assignment: Assignment, released: Any, number: int) -> list[Parts]:
    """The parts of the first `number` submissions of a class, one after another, all right."""
    sandbox, found = _Stopwatch(open_sandbox()), []
    known = outline(assignment)
    for file in course.submissions([assignment.name])[:number]:
        one = sandbox.parts = Parts()
        begun = time.perf_counter()
        submission = read_submission(file, known, released)
        one.reading = time.perf_counter() - begun
        questions = draw_questions(assignment, course.key, submission.digest)  # before the clock
        begun = time.perf_counter()
        judge_program(
            submission.program,
            assignment,
            course_key=course.key,
            digest=submission.digest,
            sandbox=sandbox,
        )
        seconds = time.perf_counter() - begun
        one.whole = one.reading + seconds
        one.judging = seconds - one.rooms - one.runs
        one.own, one.watching = _own(submission.program, questions)
        found.append(one)
    sandbox.close()
    return found[1:]  # the first waits for the sandbox to start


def median(of: Sequence[Parts], part: str) -> float:
    """The median of one part, in milliseconds."""
    return round(1000 * statistics.median(getattr(one, part) for one in of), 1)


class _Stopwatch:
    """A sandbox that notes how long its rooms take."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox, self.parts = sandbox, Parts()
        self.close = sandbox.close

    def room(self, program: bytes, torch: bool) -> _TimedRoom:
        with self.timed("rooms"):
            return _TimedRoom(self._sandbox.room(program, torch), self)

    @contextlib.contextmanager
    def timed(self, part: str) -> Iterator[None]:
        begun = time.perf_counter()
        yield
        setattr(self.parts, part, getattr(self.parts, part) + time.perf_counter() - begun)


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
    """Seconds in the answers of a program themselves, and those that watching them adds.

    The cells run three times, and each call is made as often as grading makes it, here and without
    a sandbox: what a call takes in a process that was just forked, and cold, is the grader's doing.
    """
    begun = time.perf_counter()
    namespace: dict[str, Any] = {}
    for cell in program:
        exec(compile(cell.source, "<cell>", "exec"), namespace)
    cells = 3 * (time.perf_counter() - begun)
    calls, plain = _calls(questions, namespace, watched=False)
    _, watched = _calls(questions, namespace, watched=True)
    return cells + calls, max(0.0, watched - plain)


def _calls(
    questions: Sequence[Question], namespace: dict[str, Any], watched: bool
) -> tuple[float, float]:
    """Seconds in the calls themselves, and with what is noted of them."""
    own = 0.0

    def timed(function: Any, arguments: Any, keywords: Any) -> Any:
        nonlocal own
        begun = time.perf_counter()
        try:
            return function(*arguments, **keywords)
        finally:
            own += time.perf_counter() - begun

    def given(question: Question) -> list[Call]:
        calls = copy.deepcopy(question.whole.calls)
        return list(calls) if watched else [replace(call, forbidden=()) for call in calls]

    whole = 0.0
    with mock.patch.object(calling, "_call", timed):
        for one in questions:
            for again in (False, True):
                made = prepare(given(one), again=again)
                begun = time.perf_counter()
                made.observe(namespace[one.name])
                whole += time.perf_counter() - begun
    return own, whole
