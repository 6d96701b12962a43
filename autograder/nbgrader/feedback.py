"""Feedback for students: an HTML page for each submission, made by nbgrader from the gradebook."""

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
from .database import shown
from .gradebook import Gradebook
from .penalties import LatePenalties, keep_penalties
from .preset import PAGES, configure

WAITS = "*This answer waits for a person. Its points are not in the score yet.*"

EARLIER = (
    "*These points, and the comment of a person if there is one, are for an earlier text of this "
    "answer. They count until a person has marked the new one.*"
)


class FeedbackError(Exception):
    """Pages could not be made; the message says which, why and what to do."""


class FeedbackPage(HTMLExporter):
    """The page of a submission, by the template that `preset` names."""


class NamedFeedback(GetGrades):
    """nbgrader's scores and comments: the grader's comment as plain text, then the person's.

    The mark of an answer tells as well if it waits for a person, and what is wrong with it, in
    words, if `resources` names these.
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
        """What the gradebook holds for this cell."""
        name = cell.metadata.nbgrader.grade_id
        place = (self.notebook_id, self.assignment_id, self.student_id)
        return self.gradebook.find_grade(name, *place)


def generate_feedback(
    course: Course, on_page: Callable[[int, int, str], None]
) -> tuple[int, list[str]]:
    """Write COURSE/feedback/<student>/<assignment>/<assignment>.html for every graded submission.

    A page that says already what it would say now stays as it is. Returns the number of pages, and
    the students with a graded notebook who are no longer in the gradebook, and so get no page.
    `on_page(number, total, student)` is called before each page. Raises FeedbackError if nothing is
    graded, or with the reason why some pages could not be made.
    """
    config = Config()
    config.CourseDirectory.root = str(course.root)
    configure(config)
    config.CourseDirectory.db_url = course.gradebook_url
    config.GenerateFeedback.force = True
    complaints = _Complaints()
    log = logging.Logger("feedback")
    log.addHandler(complaints)
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
                f"{shown(course.gradebook_url)}: this gradebook holds no grades. "
                f"Run `autograder grade --course {course.root}`, which gives back every machine "
                "grade from the journal, or put the gradebook back from a backup."
            )
    directory = CourseDirectory(config=config, assignment_id="*", log=log)
    pages = _Pages(course, roster, on_page, total, coursedir=directory, config=config, log=log)
    try:
        pages.start()
    except OSError as error:  # it names the file alone: nbconvert works in the folder
        raise FeedbackError(
            f"{pages.page or course.feedback}: the page cannot be written ({error.strerror}). "
            "Check the path and its permissions, then run this command again."
        ) from error
    except NbGraderException as error:
        reason = "; ".join(complaints.lines[:3]) or str(error)
        raise FeedbackError(
            f"{course.feedback}: some pages could not be made ({reason}). "
            f"Run `autograder grade --course {course.root}`, then this command again."
        ) from error
    return total - len(pages.unknown), sorted({student for student, _ in pages.unknown})


class _Pages(GenerateFeedback):
    """nbgrader's converter, which tells of each page that it begins, and keeps what is up to date.

    The last line of a page says what it was made of.
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
        self._on_page, self._total, self._begun = on_page, total, 0
        self._renderer = _renderer()
        self._made_of = ""
        self.page: Path | None = None  # the one that it makes now
        self.unknown: list[tuple[str, str]] = []  # student and assignment
        self._roster = roster
        self._states = _states(course)

    def init_single_notebook_resources(self, notebook_filename: str) -> dict[str, Any]:
        resources: dict[str, Any] = super().init_single_notebook_resources(notebook_filename)
        place = (resources["nbgrader"]["student"], resources["nbgrader"]["assignment"])
        return {**resources, "wrong": self._states.get(place, {})}

    def init_destination(self, assignment_id: str, student_id: str) -> bool:
        if student_id not in self._roster:
            self.unknown.append((student_id, assignment_id))
            return False
        self._begun += 1
        self._on_page(self._begun, self._total, student_id)
        made = self.coursedir.feedback_directory
        folder = self.coursedir.format_path(made, student_id, assignment_id)
        self.page = page = Path(folder, f"{assignment_id}.html")
        self._made_of = self._line(assignment_id, student_id)
        with suppress(OSError):
            if page.read_bytes().endswith(self._made_of.encode()):
                return False
        return bool(super().init_destination(assignment_id, student_id))

    def write_single_notebook(self, output: str, resources: dict[str, Any]) -> None:
        super().write_single_notebook(f"{output.rstrip()}\n{self._made_of}", resources)

    def _line(self, assignment: str, student: str) -> str:
        """The line under the page of a submission: a digest of all that the page depends on."""
        parts = [self._renderer]
        graded = self.coursedir.autograded_directory
        folder = Path(self.coursedir.format_path(graded, student, assignment))
        for path in sorted(folder.rglob("*")):
            parts += [path.name.encode(), path.read_bytes()] if path.is_file() else []
        for path in self.notebooks:
            parts.append(repr(self._graded(path)).encode())
        lengths = b"".join(len(part).to_bytes(8, "big") for part in parts)
        digest = hashlib.sha256(lengths + b"".join(parts)).hexdigest()
        return f"<!-- made of {digest} -->"

    def _graded(self, path: str) -> list[Any]:
        """What the gradebook puts into the page: points and comments."""
        notebook = nbformat.read(path, as_version=4)
        resources = self.init_single_notebook_resources(path)
        notebook, resources = NamedFeedback(parent=self).preprocess(notebook, resources)
        grades = resources["nbgrader"]
        marks = [cell.metadata.get("nbgrader") for cell in notebook.cells]
        return [grades["score"], grades["max_score"], grades["late_penalty"], marks]


def _states(course: Course) -> dict[tuple[str, str], dict[str, str]]:
    """What became of each exercise of each submission, in words: the mistake's name, if it has one.

    Empty if nothing of it is there to be read: the page then has the points alone.
    """
    found: dict[tuple[str, str], dict[str, str]] = {}
    with suppress(OSError, ValueError, KeyError, TypeError):
        for row in json.loads(course.grades.read_text(encoding="utf-8")):
            states = found.setdefault((row["student"], row["assignment"]), {})
            verdict = Verdict(row["verdict"])
            states[row["exercise"]] = row["misconception"] or IN_WORDS.get(verdict, "")
    return found


def _renderer() -> bytes:
    """A digest of the code that makes the pages, and of the versions of what it uses."""
    code = hashlib.sha256()
    for package in ("nbgrader", "nbconvert", "nh3", "docutils"):
        code.update(metadata.version(package).encode())
    for path in (*sorted(Path(__file__).parent.glob("*.py")), *sorted(PAGES.rglob("*.*"))):
        code.update(path.read_bytes())
    return code.digest()


class _Complaints(logging.Handler):
    """The first line of every error that nbgrader logs."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage().strip().splitlines()[-1])
