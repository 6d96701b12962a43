"""Commands that hand results on: `feedback`, `export` and `report`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..terminal import clear_errors, print_json, progress, say
from .options import Assignment, CourseOption

if TYPE_CHECKING:
    from ..course.course import Course


class _GradesFor(StrEnum):
    CSV = "csv"
    CANVAS = "canvas"
    MOODLE = "moodle"


class _FeedbackFor(StrEnum):
    CANVAS = "canvas"
    MOODLE = "moodle"
    GRADESCOPE = "gradescope"


def feedback(
    course: CourseOption = Path(),
    to: Annotated[
        _FeedbackFor | None,
        typer.Option("--to", help="Also make a zip per assignment, to upload to this platform."),
    ] = None,
) -> None:
    """Write the feedback pages for students to COURSE/feedback/."""
    with clear_errors():
        from ..course.course import Course
        from ..nbgrader.feedback import generate_feedback

        opened = Course.open(course)
        with progress("feedback") as advance:
            pages, unknown = generate_feedback(opened, advance)
        say(f"{opened.feedback}: feedback pages: {pages}")
        for student in unknown:
            say(
                f"{student}: no page, since the gradebook no longer has this student. To remove "
                f"the remaining files, type: autograder remove {student} --course {opened.root}"
            )
        if to is not None:
            from ..course.plaintext import first_few
            from ..platforms.feedback_archive import write_feedback_archives

            for archive in write_feedback_archives(opened, to):
                say(f"{archive.path}: feedback pages: {archive.pages}")
                if archive.absent:
                    absent = first_few(archive.absent)
                    say(f"Left out, because not collected from that platform: {absent}.")


def export(
    assignment: Assignment = None,
    course: CourseOption = Path(),
    to: Annotated[
        _GradesFor, typer.Option("--to", help="The format of the file.")
    ] = _GradesFor.CSV,
    worksheet: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Moodle's grading worksheet, to be filled in."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the grades as JSON, and write no file.")
    ] = False,
) -> None:
    """Write the gradebook to COURSE/grades.csv, or to a file that Canvas or Moodle can import."""
    with clear_errors():
        from ..course.course import Course

        if as_json:
            if to is not _GradesFor.CSV or worksheet:
                raise typer.BadParameter("--json writes no file for a platform; leave out --to")
            _print_grades(Course.open(course), assignment)
            return
        if to is _GradesFor.CSV and (assignment or worksheet):
            raise typer.BadParameter(
                "grades.csv always holds all assignments; add --to canvas or --to moodle"
            )
        if worksheet and (to is not _GradesFor.MOODLE or assignment is None):
            raise typer.BadParameter("--worksheet needs --to moodle and the name of an ASSIGNMENT")
        opened = Course.open(course)
        if to is _GradesFor.CSV:
            from ..nbgrader.export import export_csv

            for path in export_csv(opened):
                say(f"{path}: written.")
        else:
            from ..nbgrader.platform_grades import export_for

            exported = export_for(opened, to, assignment, worksheet)
            say(f"{exported.path}: written.")
            for note in exported.notes:
                say(note)
        from ..grading.ungraded import note_ungraded

        if ungraded := note_ungraded(opened, assignment):
            say(ungraded)


def _print_grades(course: Course, assignment: str | None) -> None:
    from ..grading.ungraded import note_ungraded
    from ..nbgrader.export import read_grades
    from .documents import gradebook

    grades = read_grades(course, assignment)
    note = note_ungraded(course, assignment)
    print_json(gradebook(grades, [note] if note else []))


def report(
    assignment: Assignment = None,
    course: CourseOption = Path(),
    anonymous: Annotated[
        bool, typer.Option("--anonymous", help="Labels in place of students, for the projector.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the report as JSON, and write no page.")
    ] = False,
) -> None:
    """Show what the class has understood, in COURSE/reports/: an assignment, or the whole term."""
    with clear_errors():
        from ..course.course import Course
        from ..report.gather import make_report

        opened = Course.open(course)
        if not as_json:
            _ = opened.book  # an address that is none is reported before the work, not after it
        with progress("comparing") as advance:
            made = make_report(opened, assignment, anonymous, advance)
        if as_json:
            print_json(made)
            return
        from ..course.files import replace_text
        from ..report.page import file_name, report_page

        path = opened.reports / file_name(assignment, anonymous)
        replace_text(path, report_page(opened, made))
        say(f"{path}: written.")
