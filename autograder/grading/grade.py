"""Grade a class: read each submission, judge it in the sandbox, record it, write the grades."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ..course.course import Course, CourseError, SubmissionFile
from ..course.files import replace_text
from ..course.journal import Journal, Record, Row, make_record
from ..course.overlooked import lookalikes, overlooked
from ..course.plaintext import first_few, printable
from ..judging.verdict import Judgement, Verdict
from ..nbgrader.writer import GradebookWriter, Waiting
from ..sandbox.backends import SandboxUnavailable
from ..submission.submission import Submission, read_submission
from ..submission.task import Task
from .changes import Change, note_changes
from .jobs import Job, Released
from .workers import Workers, WorkersLost, judge_all

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from ..nbgrader.scores import Score

DOUBTFUL = {Verdict.KILLED, Verdict.TIMEOUT, Verdict.MEMORY, Verdict.GRADER_FAULT}
"""Verdicts that another submission or the machine may have caused. Such exercises are judged a
second time, with nothing else running."""

Progress = Callable[[int, int, SubmissionFile], None]


@dataclass(frozen=True)
class Report:
    """The result of a call of `grade`; `rows` and `waiting` cover its submissions, sorted.

    `scores` are the gradebook's scores for the same assignments and, if any were named, students,
    including students who handed in nothing. `changes` lists every score that changed since the
    last run.
    """

    rows: tuple[Row, ...]
    waiting: tuple[Waiting, ...]
    scores: tuple[Score, ...]
    changes: tuple[Change, ...]
    judged: int
    known: int
    notes: tuple[str, ...]

    @property
    def unjudged(self) -> int:
        """Return the number of submissions on which the grader failed."""
        fault = Verdict.GRADER_FAULT
        return len({(row.student, row.assignment) for row in self.rows if row.verdict == fault})


@dataclass(frozen=True)
class _Pending:
    """A submission that has been read, and its judgements so far."""

    file: SubmissionFile
    submission: Submission
    judgements: dict[str, Judgement]


def grade(
    course: Course,
    assignments: Sequence[str] | None,
    students: Sequence[str] | None,
    workers: Workers,
    on_progress: Progress = lambda done, total, file: None,
    dry: bool = False,
) -> Report:
    """Grade the submissions of `course`, or of the named assignments and students only.

    The `workers` judge; only this process reads submissions and writes results. Each result is in
    the journal before the next step, and a submission whose result is already there is not judged
    again. A verdict that other submissions may have caused is checked first: the submission is
    judged a second time, alone. Raises CourseError (unknown name, nothing released), JournalError,
    GradebookError, SandboxUnavailable or WorkersLost. All of them leave the journal intact, and a
    later call completes the run.

    A `dry` run judges and reports, but changes nothing in the course.
    """
    files = course.submissions(assignments, students)
    left_out: list[str] = []
    if assignments is None:
        files, left_out = _released_only(course, files)
        left_out += [*overlooked(course), *lookalikes(course)] if students is None else []
    with Journal(course.journal, dry) as journal:
        tasks = _tasks(course, {file.assignment for file in files}, workers)
        _require_verdicts(tasks, files, journal)
        with GradebookWriter(course, journal, tasks, dry) as writer:
            run = _Run(course, tasks, journal, writer, workers, len(files), on_progress, dry)
            run.judge(files)
            if not dry:
                _write_grades(course, journal)
            written = writer.finish()
        changes = note_changes(journal, written.scores)
        return Report(
            rows=tuple(row for _, rows in sorted(run.rows.items()) for row in rows),
            waiting=tuple(sorted(written.waiting, key=lambda w: (w.student, w.assignment))),
            scores=tuple(
                score
                for score in written.scores
                if score.assignment in tasks and (not students or score.student in students)
            ),
            changes=tuple(changes),
            judged=run.judged,
            known=len(files) - run.judged,
            notes=(
                *(note for task in tasks.values() for note in task.notes),
                *_added_later(run),
                *run.faults,
                *journal.notes,
                *writer.notes,
                *left_out,
            ),
        )


class _Run:
    """One run over a class: chooses the submissions to judge and records each result."""

    def __init__(
        self,
        course: Course,
        tasks: dict[str, Task],
        journal: Journal,
        writer: GradebookWriter,
        workers: Workers,
        total: int,
        on_progress: Progress,
        dry: bool,
    ) -> None:
        self.rows: dict[tuple[str, str], tuple[Row, ...]] = {}
        self.judged = 0
        self.faults: list[str] = []  # only in a dry run, which does not write to the log
        self.without_cell: dict[str, dict[str, list[str]]] = {}  # assignment: exercise: students
        self._course, self._tasks, self._journal = course, tasks, journal
        self._writer, self._workers = writer, workers
        self._total, self._on_progress, self._dry = total, on_progress, dry

    def judge(self, files: Iterable[SubmissionFile]) -> None:
        """Judge the submissions that are not in the journal; doubtful ones a second time, alone."""
        doubtful: list[_Pending] = []
        for pending, outcome in judge_all(self._unjudged(files), self._workers):
            if isinstance(outcome, self._workers.died):
                doubtful.append(pending)
                continue
            pending = self._add_outcome(pending, outcome)
            if _doubtful(pending):
                doubtful.append(pending)
            else:
                self._finish(pending)
        for pending in doubtful:  # by now nothing else is running
            self._finish(self._judge_alone(pending))

    def _unjudged(self, files: Iterable[SubmissionFile]) -> Iterator[tuple[_Pending, Job]]:
        """Read each submission; yield the ones to judge, and finish the others."""
        for file in files:
            task = self._tasks[file.assignment]
            submission = self._read(file, task)
            pending = _Pending(file, submission, dict(submission.problems))
            trust = self._workers.trust
            known = self._journal.find(
                file.student, file.assignment, submission.digest, task.fingerprint, trusted=trust
            )
            wanted = self._open_exercises(pending)
            if known is not None:
                self._journal.use(known)
                self._publish(pending, known)
            elif wanted:
                yield pending, self._job(pending, wanted)
            else:
                self._finish(pending)

    def _open_exercises(self, pending: _Pending) -> tuple[str, ...]:
        """Return the names of the exercises that have no judgement yet."""
        exercises = self._tasks[pending.file.assignment].outline.exercises
        names = [exercise.name for exercise in exercises]
        return tuple(name for name in names if name not in pending.judgements)

    def _job(self, pending: _Pending, exercises: tuple[str, ...]) -> Job:
        return Job(
            program=pending.submission.program,
            package=self._course.package.name,
            assignment=pending.file.assignment,
            course_key=self._course.key,
            digest=pending.submission.digest,
            exercises=exercises,
            trust=self._workers.trust,
        )

    def _add_outcome(
        self, pending: _Pending, outcome: dict[str, Judgement] | Exception
    ) -> _Pending:
        """Return `pending` with the judgements of its job.

        An unexpected exception becomes a GRADER_FAULT of every open exercise. Raises
        SandboxUnavailable and WorkersLost.
        """
        if isinstance(outcome, SandboxUnavailable | WorkersLost):
            raise outcome
        if isinstance(outcome, self._workers.died):
            outcome = dict.fromkeys(self._open_exercises(pending), _WORKER_DIED_TWICE)
        if isinstance(outcome, Exception):
            fault = self._fault(pending.file, outcome)
            outcome = dict.fromkeys(self._open_exercises(pending), fault)
        else:
            faults = [j.message for j in outcome.values() if j.verdict is Verdict.GRADER_FAULT]
            for message in dict.fromkeys(faults):
                self._log(pending.file, [message])
        return replace(pending, judgements=pending.judgements | outcome)

    def _judge_alone(self, pending: _Pending) -> _Pending:
        """Judge the doubtful exercises again; at most twice if that ends the worker."""
        doubtful = _doubtful(pending)
        certain = {name: j for name, j in pending.judgements.items() if name not in doubtful}
        pending = replace(pending, judgements=certain)
        job = self._job(pending, self._open_exercises(pending))
        for _ in range(2):
            ((_, outcome),) = judge_all([(pending, job)], self._workers)
            if not isinstance(outcome, self._workers.died):
                break
        return self._add_outcome(pending, outcome)

    def _finish(self, pending: _Pending) -> None:
        """Record a result in the journal, then in the gradebook."""
        task = self._tasks[pending.file.assignment]
        record = make_record(
            pending.file.student,
            task.outline,
            pending.judgements,
            digest=pending.submission.digest,
            fingerprint=task.fingerprint,
            trusted=self._workers.trust,
            before=self._journal.newest(pending.file.student, pending.file.assignment),
        )
        self._journal.append(record)
        self.judged += 1
        self._publish(pending, record)

    def _publish(self, pending: _Pending, record: Record) -> None:
        for exercise in pending.submission.without_cell:
            students = self.without_cell.setdefault(record.assignment, {}).setdefault(exercise, [])
            students.append(record.student)
        self._writer.write(pending.file, pending.submission, record)
        self.rows[record.student, record.assignment] = record.rows
        self._on_progress(len(self.rows), self._total, pending.file)

    def _read(self, file: SubmissionFile, task: Task) -> Submission:
        try:
            return read_submission(file, task.outline, task.released)
        except Exception as error:
            fault = self._fault(file, error)
            problems = {exercise.name: fault for exercise in task.outline.exercises}
            written = frozenset(question.name for question in task.outline.written)  # by hand
            return Submission(file.student, file.assignment, "unread", (), {}, problems, written)

    def _fault(self, file: SubmissionFile, error: Exception) -> Judgement:
        """Log a failure of the grader with its traceback; return a GRADER_FAULT judgement."""
        self._log(file, "".join(traceback.format_exception(error)).splitlines())
        message = f"The grader failed: {type(error).__name__}. See {self._course.faults.name}."
        return Judgement(Verdict.GRADER_FAULT, message)

    def _log(self, file: SubmissionFile, lines: Sequence[str]) -> None:
        place = f"{file.student}, {file.assignment}"
        if self._dry:
            self.faults.append(f"{place}: the grader failed: {lines[-1]}")
            return
        when = datetime.now(UTC).isoformat(timespec="seconds")
        with self._course.faults.open("a", encoding="utf-8") as stream:
            stream.writelines(f"{printable(line)}\n" for line in (f"{when} {place}", *lines))


def read_released(course: Course, name: str) -> NotebookNode:
    """Return the released notebook of an assignment. Raises CourseError if it cannot be read."""
    import nbformat  # imported here, while the workers start

    path = course.release / name / f"{name}.ipynb"
    try:
        notebook: NotebookNode = nbformat.read(path, as_version=4)
        _require_points(notebook)
    except FileNotFoundError:
        raise CourseError(
            f"{path}: {name} is not released in this course. "
            f"Run `autograder release --course {course.root} {name}` first."
        ) from None
    except Exception as error:  # nbformat raises many types for a damaged file
        raise CourseError(
            f"{path}: the release cannot be read ({_in_brackets(error)}). "
            f"Make it again with `autograder release --course {course.root} {name}`."
        ) from error
    return notebook


def _in_brackets(error: Exception) -> str:
    first = printable(str(error).strip().partition("\n")[0][:100])
    return f"{type(error).__name__}: {first}"


def _require_points(released: NotebookNode) -> None:
    """Raise ValueError if the points of an answer in a release are not a valid number."""
    for cell in released.cells:
        mark = cell.metadata.get("nbgrader", {})
        points = mark.get("points")
        if mark.get("grade") and (not isinstance(points, int | float) or points < 0):
            raise ValueError(f"{mark.get('grade_id')} is worth {points!r} points")


def _released_only(
    course: Course, files: list[SubmissionFile]
) -> tuple[list[SubmissionFile], list[str]]:
    """Return the submissions to released assignments, and a note on each other assignment.

    If none of the submitted assignments is released, return all of `files` and no notes.
    """
    released = [file for file in files if (course.release / file.assignment).exists()]
    others = sorted({file.assignment for file in files} - {file.assignment for file in released})
    if not released:
        return files, []
    return released, [
        f"{name}: {len([file for file in files if file.assignment == name])} handed in, but not "
        "graded: it is not released in this course. "
        f"Run `autograder release --course {course.root} {name}` first."
        for name in others
    ]


def _tasks(course: Course, names: Collection[str], workers: Workers) -> dict[str, Task]:
    notebooks = {name: read_released(course, name) for name in sorted(names)}
    return workers.describe(Released(course.package.name, notebooks)) if notebooks else {}


def _require_verdicts(
    tasks: dict[str, Task], files: Sequence[SubmissionFile], journal: Journal
) -> None:
    """Raise CourseError if a submission needs a verdict on an exercise that no longer exists."""
    for name, task in tasks.items():
        for part in task.outline.dropped:
            without = []
            for file in files:
                record = journal.newest(file.student, name)
                rows = record.rows if record else ()
                judged = (row.exercise for row in rows if row.verdict != Verdict.GRADER_FAULT)
                if file.assignment == name and part.name not in judged:
                    without.append(file.student)
            if without:
                raise CourseError(
                    f"{name}: its release asks {part.name}, which the course package no longer "
                    f"has, and {len(without)} of the submissions have no earlier verdict on it: "
                    f"{first_few(without)}. Nothing was graded. Put the exercise back into the "
                    f"package, or release {name} without it."
                )


def _added_later(run: _Run) -> Iterator[str]:
    """Yield a note for each exercise without a cell in some notebooks, as if released later."""
    for name, exercises in sorted(run.without_cell.items()):
        for exercise, students in exercises.items():
            yield (
                f"{name}: {exercise} has no cell in {len(students)} of the notebooks: "
                f"{first_few(students)}. It counts as not answered. If it was released after they "
                "were handed in, ask for new submissions, or give the points by hand."
            )


def _doubtful(pending: _Pending) -> list[str]:
    """Return the exercises that were run and whose verdict the answer may not have caused."""
    return [
        name
        for name, judgement in pending.judgements.items()
        if judgement.verdict in DOUBTFUL and name not in pending.submission.problems
    ]


def _write_grades(course: Course, journal: Journal) -> None:
    """Write grades.json: the newest rows of every graded submission that still exists."""
    present = {(file.student, file.assignment) for file in course.submissions()}
    records = [r for r in journal.latest() if (r.student, r.assignment) in present]
    records.sort(key=lambda record: (record.student, record.assignment))
    rows = [asdict(row) for record in records for row in record.rows]
    replace_text(course.grades, json.dumps(rows, indent=1, ensure_ascii=True) + "\n")


_WORKER_DIED_TWICE = Judgement(
    Verdict.GRADER_FAULT,
    "The grader's own process ended twice while it judged this submission with nothing else "
    "running.",
)
