"""Write feedback for students: nbgrader makes an HTML page for each submission."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Collection
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode
from nbgrader import api, utils
from nbgrader.converters import GenerateFeedback
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import GetGrades
from traitlets.config import Config

from ..course.course import Course
from ..course.plaintext import markdown_escape
from ..judging.verdict import IN_WORDS, Verdict
from .database import printable_url
from .gradebook import Gradebook
from .penalties import LatePenalties, keep_penalties
from .preset import PAGES, configure

WAITS = "*A person will mark this answer. Its points are not in the score yet.*"

EARLIER = (
    "*These points, and any comment by a person, are for an earlier text of this answer. They "
    "count until a person has marked the new text.*"
)


class FeedbackError(Exception):
    """Raised if pages could not be written; the message says which, why and what to do."""


class FeedbackPage(HTMLExporter):
    """An exporter for the page of a submission, with the template that `preset` configures."""


class NamedFeedback(GetGrades):
    """nbgrader's scores and comments: the grader's comment as plain text, then the marker's.

    The metadata of an answer also say whether it is still to be marked, and describe its mistake in
    words if `resources` has them.
    """

    def _get_comment(self, cell: NotebookNode, resources: dict[str, Any]) -> None:
        comment = self.gradebook.find_comment(
            cell.metadata.nbgrader.grade_id, self.notebook_id, self.assignment_id, self.student_id
        )
        parts = [markdown_escape(comment.auto_comment or ""), comment.manual_comment]
        if utils.is_grade(cell) or utils.is_task(cell):  # nbgrader may give points to other cells
            grade = self._grade(cell)
            if grade.needs_manual_grade:
                parts.append(WAITS if grade.manual_score is None else EARLIER)
        cell.metadata.nbgrader["comment"] = "\n\n".join(part for part in parts if part)

    def _get_score(self, cell: NotebookNode, resources: dict[str, Any]) -> None:
        super()._get_score(cell, resources)
        mark = cell.metadata.nbgrader
        grade = self._grade(cell)
        mark["waits"] = bool(grade.needs_manual_grade)
        mark["earlier"] = mark["waits"] and grade.manual_score is not None
        if mark.score < mark.points:
            mark["wrong"] = resources.get("wrong", {}).get(mark.grade_id, "")

    def _grade(self, cell: NotebookNode) -> api.Grade:
        """Return the grade of this cell in the gradebook."""
        name = cell.metadata.nbgrader.grade_id
        ids = (self.notebook_id, self.assignment_id, self.student_id)
        return self.gradebook.find_grade(name, *ids)


def generate_feedback(
    course: Course, on_page: Callable[[int, int, str], None]
) -> tuple[int, list[str]]:
    """Write COURSE/feedback/<student>/<assignment>/<assignment>.html for every graded submission.

    A page that is up to date is not written again. Returns the number of pages, and the students
    who have a graded notebook but get no page because they have left the gradebook.
    `on_page(number, total, student)` is called before each page. Raises FeedbackError if there are
    no grades, or with the reason why some pages could not be written.
    """
    config = Config()
    config.CourseDirectory.root = str(course.root)
    configure(config)
    config.CourseDirectory.db_url = course.gradebook_url
    config.GenerateFeedback.force = True
    errors = _ErrorLines()
    log = logging.Logger("feedback")
    log.addHandler(errors)
    total = len(list(course.autograded.glob("*/*/*.ipynb")))
    if not total:
        raise FeedbackError(
            f"{course.autograded}: nothing is graded yet. "
            f"Run `autograder grade --course {course.root}` first."
        )
    keep_penalties(course.nbgrader_config, course.root)  # `config` has no settings for penalties
    penalties = LatePenalties(course.nbgrader_config, course.root)
    with Gradebook(course.gradebook_url) as book:
        book.assign_penalties(penalties)
        roster = {student.id for student in book.nbgrader.students}
        if not book.nbgrader.assignments:
            raise FeedbackError(
                f"{printable_url(course.gradebook_url)}: this gradebook holds no grades. "
                f"Run `autograder grade --course {course.root}`, which restores every machine "
                "grade from the journal, or restore the gradebook from a backup."
            )
    directory = CourseDirectory(config=config, assignment_id="*", log=log)
    pages = _Pages(course, roster, on_page, total, coursedir=directory, config=config, log=log)
    try:
        pages.start()
    except OSError as error:  # names only the file, because nbconvert changes to its folder
        raise FeedbackError(
            f"{pages.page or course.feedback}: the page cannot be written ({error.strerror}). "
            "Check the path and its permissions, then run this command again."
        ) from error
    except NbGraderException as error:
        reason = "; ".join(errors.lines[:3]) or str(error)
        raise FeedbackError(
            f"{course.feedback}: some pages could not be written ({reason}). "
            f"Run `autograder grade --course {course.root}`, then this command again."
        ) from error
    return total - len(pages.unknown), sorted({student for student, _ in pages.unknown})


class _Pages(GenerateFeedback):
    """nbgrader's converter, which here reports each page and skips those that are up to date.

    The last line of a page is a digest of everything that the page depends on.
    """

    def __init__(
        self,
        course: Course,
        roster: Collection[str],
        on_page: Callable[[int, int, str], None],
        total: int,
        **keywords: object,
    ) -> None:
        super().__init__(**keywords)
        self._on_page, self._total, self._number = on_page, total, 0
        self._renderer = _renderer_digest()
        self._last_line = ""
        self.page: Path | None = None  # the page that is being made
        self.unknown: list[tuple[str, str]] = []  # student and assignment
        self._roster = roster
        self._mistakes = _mistakes(course)

    def init_single_notebook_resources(self, notebook_filename: str) -> dict[str, Any]:
        resources: dict[str, Any] = super().init_single_notebook_resources(notebook_filename)
        submission = (resources["nbgrader"]["student"], resources["nbgrader"]["assignment"])
        return {**resources, "wrong": self._mistakes.get(submission, {})}

    def init_destination(self, assignment_id: str, student_id: str) -> bool:
        if student_id not in self._roster:
            self.unknown.append((student_id, assignment_id))
            return False
        self._number += 1
        self._on_page(self._number, self._total, student_id)
        parent = self.coursedir.feedback_directory
        folder = self.coursedir.format_path(parent, student_id, assignment_id)
        self.page = page = Path(folder, f"{assignment_id}.html")
        self._last_line = self._digest_line(assignment_id, student_id)
        with suppress(OSError):
            if page.read_bytes().endswith(self._last_line.encode()):
                return False
        return bool(super().init_destination(assignment_id, student_id))

    def write_single_notebook(self, output: str, resources: dict[str, Any]) -> None:
        super().write_single_notebook(f"{output.rstrip()}\n{self._last_line}", resources)

    def _digest_line(self, assignment: str, student: str) -> str:
        """Return the last line of a page: a digest of everything that the page depends on."""
        parts = [self._renderer]
        parent = self.coursedir.autograded_directory
        folder = Path(self.coursedir.format_path(parent, student, assignment))
        for path in sorted(folder.rglob("*")):
            parts += [path.name.encode(), path.read_bytes()] if path.is_file() else []
        for path in self.notebooks:
            parts.append(repr(self._grades(path)).encode())
        lengths = b"".join(len(part).to_bytes(8, "big") for part in parts)
        digest = hashlib.sha256(lengths + b"".join(parts)).hexdigest()
        return f"<!-- made of {digest} -->"

    def _grades(self, path: str) -> list[Any]:
        """Return what a page shows from the gradebook: points and comments."""
        notebook = nbformat.read(path, as_version=4)
        resources = self.init_single_notebook_resources(path)
        notebook, resources = NamedFeedback(parent=self).preprocess(notebook, resources)
        grades = resources["nbgrader"]
        marks = [cell.metadata.get("nbgrader") for cell in notebook.cells]
        return [grades["score"], grades["max_score"], grades["late_penalty"], marks]


def _mistakes(course: Course) -> dict[tuple[str, str], dict[str, str]]:
    """Return words for the result of each exercise, by submission: its misconception or verdict.

    If grades.json is missing or damaged, rows are left out, and pages show points without words.
    """
    mistakes: dict[tuple[str, str], dict[str, str]] = {}
    with suppress(OSError, ValueError, KeyError, TypeError):
        for row in json.loads(course.grades.read_text(encoding="utf-8")):
            words = mistakes.setdefault((row["student"], row["assignment"]), {})
            verdict = Verdict(row["verdict"])
            words[row["exercise"]] = row["misconception"] or IN_WORDS.get(verdict, "")
    return mistakes


def _renderer_digest() -> bytes:
    """Return a digest of the code that makes the pages, and of the versions of its packages."""
    code = hashlib.sha256()
    for package in ("nbgrader", "nbconvert", "nh3", "docutils"):
        code.update(metadata.version(package).encode())
    for path in (*sorted(Path(__file__).parent.glob("*.py")), *sorted(PAGES.rglob("*.*"))):
        code.update(path.read_bytes())
    return code.digest()


class _ErrorLines(logging.Handler):
    """The last line of every error that nbgrader logs."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage().strip().splitlines()[-1])
