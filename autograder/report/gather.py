"""Read from a course what its report is made of. Nothing in the course is changed."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..course.course import Course, CourseError
from ..course.journal import Journal
from ..course.plaintext import first_few, printable
from ..exercise.answers import source_as
from ..exercise.course_package import CoursePackageError
from ..grading.ungraded import ungraded
from ..judging.verdict import Verdict
from ..nbgrader.export import GradesCsv
from ..nbgrader.gradebook import Gradebook, check_version
from ..nbgrader.penalties import LatePenalties
from ..nbgrader.results import results_in
from ..nbgrader.scores import Score
from ..nbgrader.term import shares
from .build import Sources, Texts, anonymous
from .measures import distribution
from .model import FORMAT, ClassReport
from .similarity import Advance, similarity

NO_ANSWER = {Verdict.MISSING, Verdict.MALFORMED}
"""The verdicts without an answer of the student's own to compare."""


class ReportError(Exception):
    """Raised if there is nothing to report; the message says why and what to do."""


def make_report(
    course: Course,
    assignment: str | None,
    anonymous: bool,
    advance: Advance = lambda done, total, name: None,
) -> ClassReport:
    """Return the report; that of an assignment has the similarity, unless it is anonymous.

    Labels of two students in a list of pairs would accuse somebody in front of the class.
    `advance` is called while answers are compared, which takes longest in a large class.
    """
    made = class_report(course, assignment, anonymous)
    return made if made.term or anonymous else with_similarity(course, made, advance)


def class_report(course: Course, assignment: str | None, hide: bool = False) -> ClassReport:
    """Return the report on an assignment, or on the term if it is None, without similarity.

    With `hide`, students have labels in place of names. Raises ReportError if there are no grades
    or the gradebook has no such assignment, and JournalError, GradebookError and CourseError.
    """
    sources, notes = _sources(course, assignment)
    if hide:
        sources = anonymous(sources, course.key)
    names = sorted({score.assignment for score in sources.scores})
    reports = tuple(sources.of(name) for name in _in_term(course, names))
    term = assignment is None
    scores = reports[0].scores
    if term:
        weights = GradesCsv(config=course.nbgrader_config).weights
        scores = distribution(list(shares(sources.scores, weights).values()))
    return ClassReport(
        format=FORMAT,
        made=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        anonymous=hide,
        term=term,
        students=len({score.student for score in sources.scores}),
        scores=scores,
        assignments=reports,
        names={} if hide else _names(sources.scores),
        notes=() if hide else tuple(notes),  # they name files, whose path may be a person's
    )


def _sources(course: Course, assignment: str | None) -> tuple[Sources, list[str]]:
    url = course.gradebook_url
    if not check_version(url):
        raise ReportError(_nothing(course))
    with Journal(course.journal, dry=True) as journal:
        records = list(journal.records())
        notes = list(journal.notes)
        new = ungraded(course, journal, assignment)
    penalties = LatePenalties(course.nbgrader_config, course.root)
    with Gradebook(url, dry=True) as book:
        book.assign_penalties(penalties)
        scores, answers = book.scores(), book.answers()
    known = sorted({score.assignment for score in scores})
    if not scores:
        raise ReportError(_nothing(course))
    if assignment is not None:
        if assignment not in known and assignment in course.package:
            raise ReportError(
                f"{assignment}: nobody has handed it in, or nothing of it is graded yet. "
                f"Run `autograder grade --course {course.root} {assignment}` first."
            )
        if assignment not in known:
            raise ReportError(
                f"{printable(assignment)}: the gradebook has no assignment of this name. It has: "
                f"{first_few(known)}."
            )
        scores = [score for score in scores if score.assignment == assignment]
    names = {score.assignment for score in scores}
    roster = {score.student for score in scores}
    records = [r for r in records if r.assignment in names and r.student in roster]
    missing = [(f.student, f.assignment) for f in new if f.assignment in names]
    texts = {name: _texts(course, name, roster) for name in names}
    return Sources(scores, answers, records, missing, texts), notes


def _nothing(course: Course) -> str:
    return (
        f"{course.root}: nothing is graded yet. "
        f"Run `autograder grade --course {course.root}` first."
    )


def _in_term(course: Course, names: Sequence[str]) -> list[str]:
    """Return the assignments in the order of the course package, without importing its exercises.

    An assignment that the package no longer has comes last.
    """
    order = list(course.package)
    return sorted(names, key=lambda name: order.index(name) if name in order else len(order))


def _names(scores: Sequence[Score]) -> dict[str, str]:
    """Return the names that the gradebook has, by identifier."""
    names = {
        score.student: " ".join(filter(None, (score.first_name, score.last_name)))
        for score in scores
    }
    return {student: name for student, name in names.items() if name and name != student}


def _texts(course: Course, assignment: str, students: Collection[str]) -> Texts:
    """Return what the judged notebooks and the release say about an assignment.

    An exercise that is in no notebook, or a notebook of an earlier version, leaves texts empty.
    """
    released = read_notebook(course.release / assignment / f"{assignment}.ipynb")
    order = tuple(name for name, _ in cells_in(released))
    for student in sorted(students):
        path = course.autograded / student / assignment / f"{assignment}.ipynb"
        results = results_in(read_notebook(path).get("metadata", {}))
        if results.exercises:
            where = {name: result.where for name, result in results.exercises.items()}
            return Texts(results.title, order, where)
    return Texts(order=order)


def read_notebook(path: Path) -> dict[str, Any]:
    """Return a notebook that this package has written; empty if it is missing or damaged."""
    try:
        notebook = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return notebook if isinstance(notebook, dict) else {}


def cells_in(notebook: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the name and the source of each answer cell of a notebook."""
    cells = notebook.get("cells")
    for cell in cells if isinstance(cells, list) else ():
        try:
            mark = cell["metadata"]["nbgrader"]
            if mark["grade"] and mark["solution"]:
                yield str(mark["grade_id"]), "".join(cell["source"])
        except (KeyError, TypeError):
            continue


def with_similarity(
    course: Course, report: ClassReport, advance: Advance = lambda done, total, name: None
) -> ClassReport:
    """Return the report on an assignment with the similarity of its answers.

    An answer that is missing, or still as it was given, is not compared. The course package may be
    gone, or another than that of the release: then there is no comparison with the reference.
    """
    (part,) = report.assignments
    with Journal(course.journal, dry=True) as journal:
        newest = [record for record in journal.latest() if record.assignment == part.name]
    absent = set(part.absent)
    answers: dict[str, dict[str, str]] = {}
    for record in newest:
        if record.student in absent:
            continue
        path = course.autograded / record.student / part.name / f"{part.name}.ipynb"
        sources = dict(cells_in(read_notebook(path)))
        for row in record.rows:
            if row.verdict not in NO_ANSWER and sources.get(row.exercise):
                answers.setdefault(row.exercise, {})[record.student] = sources[row.exercise]
    order = [item.name for item in part.items if item.name in answers]
    references = _references(course, part.name)
    compared = similarity({name: answers[name] for name in order}, references, advance)
    return replace(report, assignments=(replace(part, similarity=compared),))


def _references(course: Course, assignment: str) -> dict[str, str]:
    """Return the source of the reference of each exercise, as far as there is one."""
    references = {}
    with suppress(CoursePackageError, CourseError, KeyError):
        for exercise in course.package[assignment].exercises:
            with suppress(OSError, SyntaxError):
                references[exercise.name] = source_as(exercise.reference, exercise.name)
    return references
