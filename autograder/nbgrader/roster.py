"""Read the roster of the course: the students in nbgrader's gradebook."""

from __future__ import annotations

import os

from ..course.course import Course
from ..platforms.matching import Student
from .database import explain_errors, sqlite_file
from .gradebook import Gradebook


def read_roster(course: Course) -> list[Student]:
    """Return the students of the gradebook; empty without a gradebook, which is not created."""
    url = course.gradebook_url
    with explain_errors(url):
        path = sqlite_file(url)
        if path is not None and not os.path.exists(path):
            return []
        with Gradebook(url) as book:
            return [
                Student(
                    student.id,
                    student.first_name,
                    student.last_name,
                    student.email,
                    student.lms_user_id,
                )
                for student in book.nbgrader.students
            ]
