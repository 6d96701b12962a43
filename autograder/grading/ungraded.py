"""Which submissions have no grade yet: none of a grading run, or only one of an earlier version."""

from __future__ import annotations

from ..course.course import Course
from ..course.journal import Journal
from ..course.plaintext import first_few
from ..submission.reading import digest_of


def note_ungraded(course: Course, assignment: str | None = None) -> str | None:
    """Return a sentence that names the submissions without a grade; None if there are none.

    Of all assignments, or of one. Raises CourseError, and JournalError while another run grades.
    """
    files = course.submissions(None if assignment is None else [assignment])
    with Journal(course.journal, dry=True) as journal:
        names = [
            f"{file.student} ({file.assignment})"
            for file in files
            if (record := journal.newest(file.student, file.assignment)) is None
            or record.digest != digest_of(file.path, above=2)
        ]
    if not names:
        return None
    return (
        f"Not graded yet, or not in the newest version: {first_few(names)}. Run `autograder grade "
        f"--course {course.root}`, then export again."
    )
