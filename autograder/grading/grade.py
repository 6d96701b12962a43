"""Grade a class: read, judge in the sandbox, journal; then write what people look at."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime

import nbformat

from .. import checks
from ..classroom import gradebook
from ..classroom.course import Course, CourseError, SubmissionFile
from ..classroom.files import replace_text
from ..classroom.journal import Journal, Record, Row, make_record
from ..classroom.plaintext import printable
from ..judging.exercise import Assignment
from ..judging.verdict import Judgement, Verdict
from ..sandbox.backends import Sandbox, SandboxUnavailable
from . import program as grading
from .autograded import write_autograded
from .notebook import Submission, read_submission

FAULTS = "grader-faults.log"
"""The file in the course directory where a failure of the grader leaves its traceback."""

DOUBTFUL = {Verdict.KILLED, Verdict.TIMEOUT, Verdict.MEMORY, Verdict.GRADER_FAULT}
"""Verdicts that another submission, or the machine, may have caused: judged once more, alone."""

Progress = Callable[[int, int, SubmissionFile], None]


@dataclass(frozen=True)
class Waiting:
    """How many answers of one submission wait for a person."""

    student: str
    assignment: str
    answers: int


@dataclass(frozen=True)
class Report:
    """What one call of `grade` did; `rows` and `waiting` cover its submissions, sorted."""

    rows: tuple[Row, ...]
    waiting: tuple[Waiting, ...]
    judged: int
    known: int
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Task:
    """One assignment with what all its submissions share."""

    assignment: Assignment
    released: nbformat.NotebookNode
    fingerprint: str


@dataclass(frozen=True)
class _Result:
    file: SubmissionFile
    submission: Submission
    record: Record
    new: bool
    submitted: datetime | None
    notes: tuple[str, ...]
    judgements: dict[str, Judgement] = field(default_factory=dict)  # if it was judged just now


def grade(
    course: Course,
    assignments: Sequence[str] | None,
    students: Sequence[str] | None,
    jobs: int,
    sandbox: Sandbox,
    on_progress: Progress = lambda done, total, file: None,
) -> Report:
    """Grade the submissions of `course`, or of the named assignments and students only.

    Each result is in the journal before the next step; a submission whose result stands there
    already is not judged again. What may have been its neighbours' doing is judged once more,
    alone, before it goes there. Raises CourseError (unknown name, nothing released), JournalError,
    GradebookError, SandboxUnavailable; all leave the journal whole, and a later call completes.
    """
    gradebook.check_version(course.gradebook_url)
    files = course.submissions(assignments, students)
    tasks = {name: _task(course, name) for name in sorted({file.assignment for file in files})}
    with Journal(course.journal) as journal:
        results: list[_Result] = []
        doubtful: list[_Result] = []

        def finish(result: _Result) -> None:
            _keep(course, tasks[result.file.assignment], journal, result)
            results.append(result)
            on_progress(len(results), len(files), result.file)

        with ThreadPoolExecutor(jobs) as pool:
            futures = [
                pool.submit(_grade_one, course, file, tasks[file.assignment], journal, sandbox)
                for file in files
            ]
            try:
                for future in as_completed(futures):
                    result = future.result()
                    if _doubtful(result):
                        doubtful.append(result)
                    else:
                        finish(result)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        for result in doubtful:  # nothing else runs now
            finish(_judge_alone(course, result, tasks[result.file.assignment], sandbox))
        results.sort(key=lambda result: (result.file.student, result.file.assignment))
        _write_grades(course, journal)
        waiting = _enter(course, tasks, results, journal)
        return Report(
            rows=tuple(row for result in results for row in result.record.rows),
            waiting=tuple(waiting),
            judged=sum(result.new for result in results),
            known=sum(not result.new for result in results),
            notes=(*journal.notes, *(note for result in results for note in result.notes)),
        )


def read_released(course: Course, name: str) -> nbformat.NotebookNode:
    """The released notebook of an assignment. Raises CourseError if there is none to read."""
    path = course.release / name / f"{name}.ipynb"
    try:
        notebook: nbformat.NotebookNode = nbformat.read(path, as_version=4)
    except FileNotFoundError:
        raise CourseError(
            f"{path}: {name} is not released in this course. "
            f"Run `autograder release --course {course.root} {name}` first."
        ) from None
    except Exception as error:  # whatever nbformat finds wrong with a damaged file
        raise CourseError(
            f"{path}: the release cannot be read ({type(error).__name__}). "
            f"Make it again with `autograder release --course {course.root} {name}`."
        ) from error
    return notebook


def _task(course: Course, name: str) -> _Task:
    assignment = checks.assignments()[name]
    released = read_released(course, name)
    return _Task(assignment, released, grading.fingerprint(assignment, released))


def _grade_one(
    course: Course, file: SubmissionFile, task: _Task, journal: Journal, sandbox: Sandbox
) -> _Result:
    """Read one submission, and judge it unless the journal knows the result."""
    assignment = task.assignment
    submission = _read(course, file, task)
    submitted, notes = _submission_time(file)
    digest, trusted = submission.digest, not sandbox.isolated
    known = journal.find(file.student, file.assignment, digest, task.fingerprint, trusted=trusted)
    if known is not None:
        return _Result(file, submission, known, False, submitted, notes)
    judgements = _judge(course, submission, assignment, sandbox)
    record = _record(submission, task, judgements, trusted)
    return _Result(file, submission, record, True, submitted, notes, judgements)


def _record(
    submission: Submission, task: _Task, judgements: dict[str, Judgement], trusted: bool
) -> Record:
    return make_record(
        submission.student,
        task.assignment,
        judgements,
        digest=submission.digest,
        fingerprint=task.fingerprint,
        trusted=trusted,
    )


def _keep(course: Course, task: _Task, journal: Journal, result: _Result) -> None:
    """Put a result into the journal, and its notebook where people look at it."""
    if result.new:
        journal.append(result.record)
    else:
        journal.use(result.record)
    write_autograded(course, result.submission, task.assignment, task.released, result.submitted)


def _doubtful(result: _Result) -> list[str]:
    """The exercises that were run and whose verdict may not be the answer's own doing."""
    return [
        name
        for name, judgement in result.judgements.items()
        if judgement.verdict in DOUBTFUL and name not in result.submission.problems
    ]


def _judge_alone(course: Course, result: _Result, task: _Task, sandbox: Sandbox) -> _Result:
    """The result with its doubtful exercises judged again."""
    again = _judge(course, result.submission, task.assignment, sandbox, _doubtful(result))
    judgements = result.judgements | again
    record = _record(result.submission, task, judgements, result.record.trusted)
    return replace(result, record=record, judgements=judgements)


def _read(course: Course, file: SubmissionFile, task: _Task) -> Submission:
    try:
        return read_submission(file, task.assignment, task.released)
    except Exception as error:
        problems = dict.fromkeys(
            [exercise.name for exercise in task.assignment.exercises],
            _fault(course, file.student, file.assignment, error),
        )
        return Submission(file.student, file.assignment, "unread", (), {}, problems)


def _submission_time(file: SubmissionFile) -> tuple[datetime | None, tuple[str, ...]]:
    try:
        return gradebook.submission_time(file.path.parent), ()
    except ValueError as error:
        return None, (str(error),)


def _judge(
    course: Course,
    submission: Submission,
    assignment: Assignment,
    sandbox: Sandbox,
    only: Sequence[str] | None = None,
) -> dict[str, Judgement]:
    """A judgement for every exercise, or `only` these; a failure of ours is a GRADER_FAULT."""
    names = [one.name for one in assignment.exercises if only is None or one.name in only]
    problems = {name: one for name, one in submission.problems.items() if name in names}
    if all(name in problems for name in names):
        return problems
    try:
        judged = grading.judge_program(
            submission.program,
            assignment,
            course_key=course.key,
            digest=submission.digest,
            sandbox=sandbox,
            only=names,
        )
        found = judged | problems
        return {name: found[name] for name in names}
    except SandboxUnavailable:
        raise
    except Exception as error:
        fault = _fault(course, submission.student, submission.assignment, error)
        return dict.fromkeys(names, fault) | problems


def _fault(course: Course, student: str, assignment: str, error: Exception) -> Judgement:
    """Log a failure of ours with its traceback; return the judgement that costs no points."""
    when = datetime.now(UTC).isoformat(timespec="seconds")
    lines = [f"{when} {student}, {assignment}", *traceback.format_exc().splitlines()]
    with (course.root / FAULTS).open("a", encoding="utf-8") as stream:
        stream.writelines(f"{printable(line)}\n" for line in lines)
    message = f"{type(error).__name__} in the grader; see {FAULTS}."
    return Judgement(Verdict.GRADER_FAULT, message)


def _write_grades(course: Course, journal: Journal) -> None:
    """Write grades.json: the newest rows of every submission that was graded and is still there."""
    there = {(file.student, file.assignment) for file in course.submissions()}
    records = [r for r in journal.latest() if (r.student, r.assignment) in there]
    records.sort(key=lambda record: (record.student, record.assignment))
    rows = [asdict(row) for record in records for row in record.rows]
    replace_text(course.grades, json.dumps(rows, indent=1, ensure_ascii=True) + "\n")


def _enter(
    course: Course, tasks: dict[str, _Task], results: list[_Result], journal: Journal
) -> list[Waiting]:
    """Write the gradebook, the last step: whatever it needs is in the journal by now."""
    waiting = []
    with gradebook.Gradebook(course.gradebook_url) as book:
        for name, task in tasks.items():
            book.add_assignment(name, task.released)
        for result in results:
            submission, record = result.submission, result.record
            before = journal.entered(record.student, record.assignment)
            left = book.enter(
                gradebook.Entry(
                    record=record,
                    answered=_answered(submission, tasks[record.assignment]),
                    changed=before is not None and before != record.digest,
                    submitted=result.submitted,
                )
            )
            journal.enter(record)
            waiting.append(Waiting(record.student, record.assignment, left))
    return waiting


def _answered(submission: Submission, task: _Task) -> frozenset[str]:
    """The written questions that got an answer: text other than what was released.

    All of them, if we failed to read the submission: then a person looks.
    """
    if any(one.verdict is Verdict.GRADER_FAULT for one in submission.problems.values()):
        return frozenset(written.name for written in task.assignment.written)
    released = {
        cell.metadata.nbgrader.grade_id: cell.source
        for cell in task.released.cells
        if cell.cell_type == "markdown" and "nbgrader" in cell.metadata
    }
    return frozenset(
        written.name
        for written in task.assignment.written
        if submission.written.get(written.name, "").strip()
        not in ("", released.get(written.name, "").strip())
    )
