"""Find submissions without a grade: never graded, or graded only in an earlier version."""

from __future__ import annotations

from ..course.course import Course, SubmissionFile
from ..course.journal import Journal, JournalError
from ..course.plaintext import first_few
from ..submission.reading import digest_of


def note_ungraded(course: Course, assignment: str | None = None) -> str | None:
    """Return a sentence that names the submissions without a grade; None if there are none.

    It considers an assignment of the course package, or all of them. If the journal cannot be
    read, for example because another run is grading, the sentence says that instead.
    """
    try:
        with Journal(course.journal, dry=True) as journal:
            files = ungraded(course, journal, assignment)
    except JournalError as error:
        return str(error)
    names = [f"{file.student} ({file.assignment})" for file in files]
    if not names:
        return None
    return (
        f"Not graded yet, or not in the newest version: {first_few(names)}. Run `autograder grade "
        f"--course {course.root}`, then export again."
    )


def ungraded(course: Course, journal: Journal, assignment: str | None) -> list[SubmissionFile]:
    """Return the submissions, to an assignment or to all, whose newest version has no grade."""
    return [
        file
        for file in course.submissions()
        if assignment in (None, file.assignment)
        if (record := journal.newest(file.student, file.assignment)) is None
        or record.digest != digest_of(file.path, above=2)
    ]
