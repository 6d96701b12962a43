"""The command `autograder`. Each command imports what it needs when it runs; `--help` is quick."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .course.plaintext import printable
from .exercise import PACKAGE
from .proving.command import Package, prove, use_one_thread, warn_of_unproved
from .terminal import clear_errors, fail, plain, progress, say, show

if TYPE_CHECKING:
    from .course.course import Course, SubmissionFile
    from .grading.cluster import Cluster
    from .grading.grade import Report
    from .grading.workers import LocalWorkers
    from .sandbox.doctor import Layer

app = typer.Typer(
    help="Release assignments, judge answers, grade a class.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)

CourseOption = Annotated[  # readable=False: the error message of Course.open is clearer
    Path, typer.Option("--course", help="The course directory.", readable=False)
]
Names = Annotated[list[str] | None, typer.Argument(metavar="[ASSIGNMENT ...]")]


class _GradesFor(StrEnum):
    CSV = "csv"
    CANVAS = "canvas"
    MOODLE = "moodle"


class _FeedbackFor(StrEnum):
    CANVAS = "canvas"
    MOODLE = "moodle"
    GRADESCOPE = "gradescope"


@app.command()
def init(
    course: Annotated[Path, typer.Argument(metavar="COURSE")], course_package: Package = PACKAGE
) -> None:
    """Create a course directory, which nbgrader can open as well."""
    with clear_errors():
        from .course.course import Course

        created = Course.create(course, course_package)
        say(f"{created.root}: course created. Next: autograder release --course {created.root}")


@app.command()
def release(assignments: Names = None, course: CourseOption = Path()) -> None:
    """Make the students' versions of the assignments, of all assignments by default."""
    use_one_thread()
    with clear_errors():
        from .course.course import Course
        from .nbgrader.release import release as make_release

        opened = Course.open(course)
        for path in make_release(opened, assignments or None):
            say(f"{path}: released.")
            warn_of_unproved(opened.package[path.stem], opened.package)


app.command()(prove)


@app.command()
def check(notebook: Path, course_package: Package = PACKAGE) -> None:
    """Check a notebook against the public cases, as `check` does in the notebook."""
    with clear_errors():
        from .exercise.course_package import CoursePackage
        from .grading.checker import check_notebook

        for line in check_notebook(notebook, CoursePackage.find(course_package)):
            say(line)


@app.command()
def grade(
    assignments: Names = None,
    course: CourseOption = Path(),
    student: Annotated[
        list[str] | None, typer.Option("--student", metavar="ID", help="Only this student.")
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Submissions judged in parallel; one per core by default."
        ),
    ] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Grade without isolation; only for your own files.")
    ] = False,
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="Judge on the workers of this dask scheduler, not here."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would change, and change nothing.")
    ] = False,
) -> None:
    """Grade the class into the gradebook and COURSE/grades.json, and show the results."""
    with clear_errors():
        from .course.course import Course

        if jobs and scheduler:
            raise typer.BadParameter(
                "not allowed with --scheduler, whose workers are all used", param_hint="--jobs"
            )
        opened = Course.open(course)
        with _workers(opened, jobs, trust, scheduler) as workers, progress("grading") as advance:
            from .grading.grade import grade as grade_class  # while the workers start

            outcome = "Nothing was written."

            def on_progress(done: int, total: int, file: SubmissionFile) -> None:
                nonlocal outcome
                if not dry_run:
                    outcome = f"{done} of {total} submissions are graded. "
                    outcome += "Run the same command again to continue."
                advance(done, total, file.student)

            try:
                report = grade_class(
                    opened, assignments or None, student or None, workers, on_progress, dry_run
                )
            except KeyboardInterrupt:
                typer.echo(f"autograder: stopped. {outcome}", err=True)
                raise typer.Exit(130) from None
        if not report.rows:
            place = opened.submitted / "<student>" / "<assignment>" / "<assignment>.ipynb"
            say(f"No submissions yet. Put them at {place}, then grade again.")
            return
        _show_report(report, narrowed=bool(assignments or student))
        destination = "Nothing was written." if dry_run else f"Grades: {opened.grades}"
        say(f"{report.judged} judged, {report.known} known from an earlier run. {destination}")
        if report.unjudged:
            reasons = "the lines above give" if dry_run else f"{opened.faults} gives"
            fail(
                f"the grader failed on {report.unjudged} submissions; {reasons} the "
                "reasons. A common cause is a limit on open files or memory (`ulimit -a` shows "
                "them). Fix it and run the same command, which judges these submissions again."
            )


@app.command()
def collect(
    archive: Annotated[Path, typer.Argument(metavar="ARCHIVE")],
    course: CourseOption = Path(),
    assignment: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only notebooks of this assignment.")
    ] = None,
    worksheet: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Moodle's grading worksheet, with times.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Write without asking.")] = False,
) -> None:
    """Import submissions from a Canvas, Moodle or Gradescope archive, or any zip or folder.

    It shows which student each file belongs to, and writes only after you confirm.
    """
    with clear_errors():
        from .course.course import Course
        from .nbgrader.roster import read_roster
        from .platforms.archive import open_archive
        from .platforms.collect_table import table
        from .platforms.collecting import collect as collect_plan
        from .platforms.collecting import is_done, plan_of

        opened = Course.open(course)
        with open_archive(archive) as files:
            plan = plan_of(opened, files, read_roster(opened), assignment, worksheet)
            show(table(plan))
            if is_done(opened, plan):
                say("There is nothing to write.")
            elif yes or _confirmed(f"Write {_many(len(plan.written), 'submission')}?"):
                count = collect_plan(opened, files, plan)
                say(f"{opened.submitted}: submissions written: {count}")
            else:
                say("Nothing was written. To write, add --yes.")


def _many(count: int, noun: str) -> str:
    return f"{count} {noun if count == 1 else f'{noun}s'}"


def _confirmed(question: str) -> bool:
    """Ask `question` and return whether the answer is yes; no answer, or Ctrl-C, means no."""
    try:
        return typer.confirm(question)
    except typer.Abort:
        typer.echo()
        return False


def _workers(
    course: Course, jobs: int | None, trust: bool, scheduler: str | None
) -> LocalWorkers | Cluster:
    if scheduler is None:
        from .grading.workers import LocalWorkers

        return LocalWorkers(course.package.name, jobs, trust)
    from .grading.cluster import Cluster

    return Cluster(scheduler, trust)


@app.command()
def feedback(
    course: CourseOption = Path(),
    to: Annotated[
        _FeedbackFor | None,
        typer.Option("--to", help="Also make a zip per assignment, to upload to this platform."),
    ] = None,
) -> None:
    """Write the feedback pages for students to COURSE/feedback/."""
    with clear_errors():
        from .course.course import Course
        from .nbgrader.feedback import generate_feedback

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
            from .course.plaintext import first_few
            from .platforms.feedback_archive import write_feedback_archives

            for archive in write_feedback_archives(opened, to):
                say(f"{archive.path}: feedback pages: {archive.pages}")
                if archive.absent:
                    absent = first_few(archive.absent)
                    say(f"Left out, because not collected from that platform: {absent}.")


@app.command()
def export(
    assignment: Annotated[str | None, typer.Argument(metavar="[ASSIGNMENT]")] = None,
    course: CourseOption = Path(),
    to: Annotated[
        _GradesFor, typer.Option("--to", help="The format of the file.")
    ] = _GradesFor.CSV,
    worksheet: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Moodle's grading worksheet, to be filled in."),
    ] = None,
) -> None:
    """Write the gradebook to COURSE/grades.csv, or to a file that Canvas or Moodle can import."""
    with clear_errors():
        from .course.course import Course

        if to is _GradesFor.CSV and (assignment or worksheet):
            raise typer.BadParameter(
                "grades.csv always holds all assignments; add --to canvas or --to moodle"
            )
        if worksheet and (to is not _GradesFor.MOODLE or assignment is None):
            raise typer.BadParameter("--worksheet needs --to moodle and the name of an ASSIGNMENT")
        opened = Course.open(course)
        if to is _GradesFor.CSV:
            from .nbgrader.export import export_csv

            for path in export_csv(opened):
                say(f"{path}: written.")
        else:
            from .nbgrader.platform_grades import export_for

            exported = export_for(opened, to, assignment, worksheet)
            say(f"{exported.path}: written.")
            for note in exported.notes:
                say(note)
        from .grading.ungraded import note_ungraded

        if ungraded := note_ungraded(opened, assignment):
            say(ungraded)


@app.command()
def remove(student: str, course: CourseOption = Path()) -> None:
    """Remove a student who has left the course from every output, and archive their work."""
    with clear_errors():
        from .course.course import Course
        from .nbgrader.leaving import exports
        from .nbgrader.leaving import remove as remove_student

        opened = Course.open(course)
        archive = remove_student(opened, student)
        say(f"{student}: removed. Their submissions and results are now in {archive}")
        for path in exports(opened):
            say(f"{path}: it may still name {student}. Make it again, or delete it.")


@app.command()
def erase(
    student: str,
    course: CourseOption = Path(),
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask first.")] = False,
) -> None:
    """Permanently delete everything that the course holds about a student."""
    with clear_errors():
        from .course.course import Course
        from .nbgrader.leaving import erase as erase_student
        from .nbgrader.leaving import exports, require_student

        opened = Course.open(course)
        require_student(opened, student)
        question = f"Permanently delete all data about {printable(student)} in {opened.root}?"
        if not (yes or _confirmed(question)):
            fail(f"nothing was erased for {student}. To erase without being asked, add --yes.")
        for line in erase_student(opened, student):
            say(f"erased: {line}")
        for path in exports(opened):
            say(f"{path}: it may still name {student}. Make it again, or delete it.")
        say(
            "Copies elsewhere are not erased: backups, exported tables, feedback already sent, and "
            "data on the learning platform."
        )


@app.command()
def share(
    group: Annotated[str, typer.Argument(metavar="GROUP", help="A group of this machine.")],
    course: CourseOption = Path(),
) -> None:
    """Let a group of this machine, and no other users, grade and mark in the course."""
    with clear_errors():
        from .course.course import Course
        from .course.sharing import note_on_path
        from .course.sharing import share as share_course

        opened = Course.open(course)
        shared = share_course(opened, group)
        say(f"{opened.root}: shared with {shared.group}. Changed: {shared.changed}")
        if note := note_on_path(shared):
            say(note)


@app.command()
def doctor(course: CourseOption = Path()) -> None:
    """Try to break each layer of isolation on this machine, and report which ones held.

    In a course, or with --course, also report who can read the course, and whether a group that
    shares it can read and write everything.
    """
    with clear_errors():
        from rich.table import Table

        from .sandbox.doctor import layers

        permissions = _readers(course)
        isolation = layers()
        table = Table("layer", "held", "tried")
        for layer in [*permissions, *isolation]:
            held = {True: "yes", False: "NO", None: "not here"}[layer.held]
            table.add_row(*(plain(cell) for cell in (layer.name, held, layer.detail)))
        show(table)
        broken = any(layer.held is False for layer in [*permissions, *isolation])
        if broken or not any(layer.held for layer in isolation):
            raise typer.Exit(1)


def _readers(root: Path) -> list[Layer]:
    """Return a layer for each check of who can read the course; none outside of a course."""
    from .course.course import Course
    from .course.sharing import readers
    from .sandbox.doctor import Layer

    if root == Path() and not Path("course.key").exists():
        return []
    return [Layer(*row) for row in readers(Course.open(root))]


def _show_report(report: Report, narrowed: bool) -> None:
    """Print the grades, per student if the command was `narrowed`, the changes and the notes."""
    from .grading.grades_table import changed_scores, one_by_one, overview

    show(one_by_one(report) if narrowed else overview(report))
    show(changed_scores(report))
    for note in report.notes:
        say(note)
