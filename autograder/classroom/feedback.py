"""Feedback for students: an HTML page for each submission, made by nbgrader from the gradebook."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from nbformat import NotebookNode
from nbgrader.converters import GenerateFeedback
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import GetGrades
from traitlets.config import Config

from .course import Course
from .plaintext import markdown_escape
from .preset import configure

WAITS = "*This answer waits for a person. Its points are not in the score yet.*"


class FeedbackError(Exception):
    """Pages could not be made; the message says which, why and what to do."""


class NamedFeedback(GetGrades):
    """nbgrader's scores and comments: the grader's comment as plain text, then the person's."""

    def _get_comment(self, cell: NotebookNode, resources: dict[str, Any]) -> None:
        comment = self.gradebook.find_comment(
            cell.metadata.nbgrader.grade_id, self.notebook_id, self.assignment_id, self.student_id
        )
        parts = [markdown_escape(comment.auto_comment or ""), comment.manual_comment]
        if self._waits(cell):
            parts.append(WAITS)
        cell.metadata.nbgrader["comment"] = "\n\n".join(part for part in parts if part)

    def _waits(self, cell: NotebookNode) -> bool:
        """True if a person has yet to give points for this cell."""
        name = cell.metadata.nbgrader.grade_id
        place = (self.notebook_id, self.assignment_id, self.student_id)
        return bool(self.gradebook.find_grade(name, *place).needs_manual_grade)


def generate_feedback(course: Course, on_page: Callable[[int, int, str], None]) -> int:
    """Write COURSE/feedback/<student>/<assignment>/<assignment>.html for every graded submission.

    Returns their number; `on_page(number, total, student)` is called before each. Raises
    FeedbackError if nothing is graded, or with the reason why some pages could not be made.
    """
    config = Config()
    configure(config)
    config.CourseDirectory.root = str(course.root)
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
    directory = CourseDirectory(config=config, assignment_id="*", log=log)
    try:
        _Pages(on_page, total, coursedir=directory, config=config, log=log).start()
    except NbGraderException as error:
        reason = "; ".join(complaints.lines[:3]) or str(error)
        raise FeedbackError(
            f"{course.feedback}: some pages could not be made ({reason}). "
            f"Run `autograder grade --course {course.root}`, then this command again."
        ) from error
    return total


class _Pages(GenerateFeedback):
    """nbgrader's converter, which tells of each page that it begins."""

    def __init__(
        self, on_page: Callable[[int, int, str], None], total: int, **keywords: object
    ) -> None:
        super().__init__(**keywords)
        self._on_page, self._total, self._begun = on_page, total, 0

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        self._begun += 1
        self._on_page(self._begun, self._total, student_id)
        super().init_assignment(assignment_id, student_id)


class _Complaints(logging.Handler):
    """The first line of every error that nbgrader logs."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage().strip().splitlines()[-1])
