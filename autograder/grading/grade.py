"""Grade a class: read, judge in the sandbox, journal; then write what people look at."""

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
"""Verdicts that another submission, or the machine, may have caused: judged once more, alone."""

Progress = Callable[[int, int, SubmissionFile], None]


@dataclass(frozen=True)
class Report:
    """What one call of `grade` did; `rows` and `waiting` cover its submissions, sorted.

    `scores` are those of the gradebook for the same assignments and, if any were named, students:
    who handed in nothing has one as well. `changes` are those of all scores since the last run.
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
        """On how many submissions the grader failed."""
        fault = Verdict.GRADER_FAULT
        return len({(row.student, row.assignment) for row in self.rows if row.verdict == fault})


@dataclass(frozen=True)
class _Begun:
    """A submission that has been read, and the verdicts on it so far."""

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

    `workers` judge; this process reads and is the only one that writes. Each result is in the
    journal before the next step; a submission whose result stands there already is not judged
    again. What may have been its neighbours' doing is judged once more, alone, before it goes
    there. Raises CourseError (unknown name, nothing released), JournalError, GradebookError,
    SandboxUnavailable, WorkersLost; all leave the journal whole, and a later call completes.

    A `dry` run judges and reports, and changes nothing in the course.
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
            waiting=tuple(sorted(written.waiting, key=lambda one: (one.student, one.assignment))),
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
    """One run over a class: who is judged, and what becomes of each result."""

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
        self.faults: list[str] = []  # of a dry run, which does not write to the log
        self.without_cell: dict[str, dict[str, list[str]]] = {}  # students by exercise
        self._course, self._tasks, self._journal = course, tasks, journal
        self._writer, self._workers = writer, workers
        self._total, self._on_progress, self._dry = total, on_progress, dry

    def judge(self, files: Iterable[SubmissionFile]) -> None:
        """Judge what the journal does not know; what is doubtful a second time, alone."""
        doubtful: list[_Begun] = []
        for begun, outcome in judge_all(self._unknown(files), self._workers):
            if isinstance(outcome, self._workers.died):
                doubtful.append(begun)
                continue
            begun = self._judged(begun, outcome)
            if _doubtful(begun):
                doubtful.append(begun)
            else:
                self._finish(begun)
        for begun in doubtful:  # nothing else runs now
            self._finish(self._judge_alone(begun))

    def _unknown(self, files: Iterable[SubmissionFile]) -> Iterator[tuple[_Begun, Job]]:
        """Read each submission; yield those to judge, and finish the others."""
        for file in files:
            task = self._tasks[file.assignment]
            submission = self._read(file, task)
            begun = _Begun(file, submission, dict(submission.problems))
            trust = self._workers.trust
            known = self._journal.find(
                file.student, file.assignment, submission.digest, task.fingerprint, trusted=trust
            )
            wanted = self._wanted(begun)
            if known is not None:
                self._journal.use(known)
                self._keep(begun, known)
            elif wanted:
                yield begun, self._job(begun, wanted)
            else:
                self._finish(begun)

    def _wanted(self, begun: _Begun) -> tuple[str, ...]:
        """The exercises that wait for a judgement."""
        exercises = self._tasks[begun.file.assignment].outline.exercises
        return tuple(one.name for one in exercises if one.name not in begun.judgements)

    def _job(self, begun: _Begun, exercises: tuple[str, ...]) -> Job:
        return Job(
            program=begun.submission.program,
            package=self._course.package.name,
            assignment=begun.file.assignment,
            course_key=self._course.key,
            digest=begun.submission.digest,
            exercises=exercises,
            trust=self._workers.trust,
        )

    def _judged(self, begun: _Begun, outcome: dict[str, Judgement] | Exception) -> _Begun:
        """`begun` with the outcome of its job; a failure of ours is a GRADER_FAULT."""
        if isinstance(outcome, SandboxUnavailable | WorkersLost):
            raise outcome
        if isinstance(outcome, self._workers.died):
            outcome = dict.fromkeys(self._wanted(begun), _ENDED_ITS_WORKER)
        if isinstance(outcome, Exception):
            fault = self._fault(begun.file, outcome)
            outcome = dict.fromkeys(self._wanted(begun), fault)
        else:
            faults = [one for one in outcome.values() if one.verdict is Verdict.GRADER_FAULT]
            for message in dict.fromkeys(one.message for one in faults):
                self._log(begun.file, [message])
        return replace(begun, judgements=begun.judgements | outcome)

    def _judge_alone(self, begun: _Begun) -> _Begun:
        """The doubtful exercises judged again; twice at most, where that ends the worker."""
        sure = {n: one for n, one in begun.judgements.items() if n not in _doubtful(begun)}
        begun = replace(begun, judgements=sure)
        job = self._job(begun, self._wanted(begun))
        for _ in range(2):
            ((_, outcome),) = judge_all([(begun, job)], self._workers)
            if not isinstance(outcome, self._workers.died):
                break
        return self._judged(begun, outcome)

    def _finish(self, begun: _Begun) -> None:
        """Put a result into the journal, and from there where people look at it."""
        task = self._tasks[begun.file.assignment]
        record = make_record(
            begun.file.student,
            task.outline,
            begun.judgements,
            digest=begun.submission.digest,
            fingerprint=task.fingerprint,
            trusted=self._workers.trust,
            before=self._journal.newest(begun.file.student, begun.file.assignment),
        )
        self._journal.append(record)
        self.judged += 1
        self._keep(begun, record)

    def _keep(self, begun: _Begun, record: Record) -> None:
        for exercise in begun.submission.without_cell:
            students = self.without_cell.setdefault(record.assignment, {}).setdefault(exercise, [])
            students.append(record.student)
        self._writer.write(begun.file, begun.submission, record)
        self.rows[record.student, record.assignment] = record.rows
        self._on_progress(len(self.rows), self._total, begun.file)

    def _read(self, file: SubmissionFile, task: Task) -> Submission:
        try:
            return read_submission(file, task.outline, task.released)
        except Exception as error:
            fault = self._fault(file, error)
            problems = {exercise.name: fault for exercise in task.outline.exercises}
            asked = frozenset(one.name for one in task.outline.written)  # a person looks
            return Submission(file.student, file.assignment, "unread", (), {}, problems, asked)

    def _fault(self, file: SubmissionFile, error: Exception) -> Judgement:
        """Log a failure of ours with its traceback; return the judgement that costs no points."""
        self._log(file, "".join(traceback.format_exception(error)).splitlines())
        message = f"{type(error).__name__} in the grader; see {self._course.faults.name}."
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
    """The released notebook of an assignment. Raises CourseError if there is none to read."""
    import nbformat  # late: the workers have started by now

    path = course.release / name / f"{name}.ipynb"
    try:
        notebook: NotebookNode = nbformat.read(path, as_version=4)
        _require_points(notebook)
    except FileNotFoundError:
        raise CourseError(
            f"{path}: {name} is not released in this course. "
            f"Run `autograder release --course {course.root} {name}` first."
        ) from None
    except Exception as error:  # whatever nbformat finds wrong with a damaged file
        raise CourseError(
            f"{path}: the release cannot be read ({_in_brackets(error)}). "
            f"Make it again with `autograder release --course {course.root} {name}`."
        ) from error
    return notebook


def _in_brackets(error: Exception) -> str:
    first = printable(str(error).strip().partition("\n")[0][:100])
    return f"{type(error).__name__}: {first}"


def _require_points(released: NotebookNode) -> None:
    """Raise ValueError if an answer of a release has no number of points."""
    for cell in released.cells:
        mark = cell.metadata.get("nbgrader", {})
        points = mark.get("points")
        if mark.get("grade") and (not isinstance(points, int | float) or points < 0):
            raise ValueError(f"{mark.get('grade_id')} is worth {points!r} points")


def _released_only(
    course: Course, files: list[SubmissionFile]
) -> tuple[list[SubmissionFile], list[str]]:
    """The submissions for what is released, and a sentence on each other assignment.

    All of `files`, if nothing is released that anybody handed in.
    """
    released = [one for one in files if (course.release / one.assignment).exists()]
    others = sorted({one.assignment for one in files} - {one.assignment for one in released})
    if not released:
        return files, []
    return released, [
        f"{name}: {len([one for one in files if one.assignment == name])} handed in, and not "
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
    """Raise CourseError if a submission needs a verdict on an exercise that nobody has any more."""
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
                    f"has, and {len(without)} of the submissions have no verdict on it from "
                    f"before: {first_few(without)}. Nothing was graded. Put the exercise back "
                    f"into the package, or release {name} without it."
                )


def _added_later(run: _Run) -> Iterator[str]:
    """Say which exercises have no cell in a notebook: they may have been released after it."""
    for name, exercises in sorted(run.without_cell.items()):
        for exercise, students in exercises.items():
            yield (
                f"{name}: {exercise} has no cell in {len(students)} of the notebooks: "
                f"{first_few(students)}. It counts as not answered. If it was released after they "
                "were handed in, ask for them again, or give its points by hand."
            )


def _doubtful(begun: _Begun) -> list[str]:
    """The exercises that were run and whose verdict may not be the answer's own doing."""
    return [
        name
        for name, judgement in begun.judgements.items()
        if judgement.verdict in DOUBTFUL and name not in begun.submission.problems
    ]


def _write_grades(course: Course, journal: Journal) -> None:
    """Write grades.json: the newest rows of every submission that was graded and is still there."""
    there = {(file.student, file.assignment) for file in course.submissions()}
    records = [r for r in journal.latest() if (r.student, r.assignment) in there]
    records.sort(key=lambda record: (record.student, record.assignment))
    rows = [asdict(row) for record in records for row in record.rows]
    replace_text(course.grades, json.dumps(rows, indent=1, ensure_ascii=True) + "\n")


_ENDED_ITS_WORKER = Judgement(
    Verdict.GRADER_FAULT,
    "The grader's own process ended twice while it judged this submission, and nothing else ran.",
)
