"""Which submissions have no grade yet: none of a grading run, or only one of an earlier version."""

from __future__ import annotations

from ..course.course import Course
from ..course.journal import Journal, JournalError
from ..course.plaintext import first_few
from ..submission.reading import digest_of


def note_ungraded(course: Course, assignment: str | None = None) -> str | None:
    """Return a sentence that names the submissions without a grade; None if there are none.

    It considers all assignments, or one; those of the instructor's own are not ours to grade. If
    the journal cannot be read, as while another run grades, the sentence says that instead.
    """
    files = [one for one in course.submissions() if assignment in (None, one.assignment)]
    try:
        with Journal(course.journal, dry=True) as journal:
            names = [
                f"{file.student} ({file.assignment})"
                for file in files
                if (record := journal.newest(file.student, file.assignment)) is None
                or record.digest != digest_of(file.path, above=2)
            ]
    except JournalError as error:
        return str(error)
    if not names:
        return None
    return (
        f"Not graded yet, or not in the newest version: {first_few(names)}. Run `autograder grade "
        f"--course {course.root}`, then export again."
    )
