"""The command `autograder`. What a command needs is imported when it runs: `--help` is quick."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from .course.plaintext import printable
from .exercise import PACKAGE

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.progress import TaskID
    from rich.text import Text

    from .course.course import Course
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

CourseOption = Annotated[Path, typer.Option("--course", help="The course directory.")]
Package = Annotated[
    str, typer.Option(metavar="NAME", help="The Python package that declares the exercises.")
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
    """Make a course directory, which nbgrader opens too."""
    with _clear_errors():
        from .course.course import Course

        made = Course.create(course, course_package)
        _say(f"{made.root}: the course is made. Next: autograder release --course {made.root}")


@app.command()
def release(assignments: Names = None, course: CourseOption = Path()) -> None:
    """Make the assignments for students, all of them by default."""
    with _clear_errors():
        from .course.course import Course
        from .nbgrader.release import release as make_release

        opened = Course.open(course)
        for path in make_release(opened, assignments or None):
            _say(f"{path}: released.")


@app.command()
def check(notebook: Path, course_package: Package = PACKAGE) -> None:
    """Check a notebook against the public cases, as the student's own self-check does."""
    with _clear_errors():
        from .exercise.course_package import CoursePackage
        from .grading.checker import check_notebook

        for line in check_notebook(notebook, CoursePackage.find(course_package)):
            _say(line)


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
            min=1, metavar="N", help="Submissions judged at a time: one a core by default."
        ),
    ] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Grade without isolation: your own files only.")
    ] = False,
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="Judge on the workers of this dask scheduler, not here."
        ),
    ] = None,
) -> None:
    """Grade the class into the gradebook and COURSE/grades.json, and show what was found."""
    with _clear_errors():
        from .course.course import Course

        if jobs and scheduler:
            raise typer.BadParameter(
                "it is the scheduler's to say how many work", param_hint="--jobs"
            )
        opened = Course.open(course)
        with _workers(opened, jobs, trust, scheduler) as workers, _progress("grading") as advance:
            from .grading.grade import grade as grade_class  # while the workers start

            report = grade_class(
                opened,
                assignments or None,
                student or None,
                workers,
                lambda done, total, file: advance(done, total, file.student),
            )
        if not report.rows:
            place = opened.submitted / "<student>" / "<assignment>" / "<assignment>.ipynb"
            _say(f"No submissions yet. Put them at {place}, then grade again.")
            return
        _show_report(report, narrowed=bool(assignments or student))
        _say(f"{report.judged} judged, {report.known} known from before. Grades: {opened.grades}")
        if report.unjudged:
            _fail(
                f"the grader failed on {report.unjudged} submissions; {opened.faults} has the "
                "reasons. Often it is a limit on open files or memory (`ulimit -a` shows them). "
                "When that is mended, the same command judges these submissions again."
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
    """Take submissions from an archive of Canvas, Moodle or Gradescope, or from any zip or folder.

    It shows whose each file is, and writes only when you confirm it.
    """
    with _clear_errors():
        from .course.course import Course
        from .nbgrader.roster import read_roster
        from .platforms.archive import open_archive
        from .platforms.collect_table import table
        from .platforms.collecting import collect as collect_plan
        from .platforms.collecting import is_done, plan_of

        opened = Course.open(course)
        with open_archive(archive) as files:
            plan = plan_of(opened, files, read_roster(opened), assignment, worksheet)
            _print(table(plan))
            if is_done(opened, plan):
                _say("There is nothing to write.")
            elif yes or _confirmed(f"Write {_many(len(plan.written), 'submission')}?"):
                count = collect_plan(opened, files, plan)
                _say(f"{opened.submitted}: submissions written: {count}")
            else:
                _say("Nothing was written. To write, add --yes.")


def _many(count: int, noun: str) -> str:
    return f"{count} {noun if count == 1 else f'{noun}s'}"


def _confirmed(question: str) -> bool:
    """Whether the person at the terminal says yes; False where there is none."""
    import sys

    return sys.stdin.isatty() and typer.confirm(question)


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
        typer.Option("--to", help="Make a zip an assignment that this platform takes back."),
    ] = None,
) -> None:
    """Write the feedback pages for students to COURSE/feedback/."""
    with _clear_errors():
        from .course.course import Course
        from .nbgrader.feedback import generate_feedback

        opened = Course.open(course)
        with _progress("feedback") as advance:
            pages = generate_feedback(opened, advance)
        _say(f"{opened.feedback}: feedback pages: {pages}")
        if to is not None:
            from .platforms.feedback_archive import write_feedback_archives
            from .platforms.uploads import few

            for made in write_feedback_archives(opened, to):
                _say(f"{made.path}: feedback pages: {made.pages}")
                if made.absent:
                    _say(f"Not in it, since not collected from there: {few(made.absent)}.")


@app.command()
def export(
    assignment: Annotated[str | None, typer.Argument(metavar="[ASSIGNMENT]")] = None,
    course: CourseOption = Path(),
    to: Annotated[
        _GradesFor, typer.Option("--to", help="Who is to read the file.")
    ] = _GradesFor.CSV,
    worksheet: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Moodle's grading worksheet, to be filled in."),
    ] = None,
) -> None:
    """Write the gradebook to COURSE/grades.csv, or to a file that Canvas or Moodle imports."""
    with _clear_errors():
        from .course.course import Course

        if to is _GradesFor.CSV and (assignment or worksheet):
            raise typer.BadParameter("grades.csv has all assignments: name canvas or moodle")
        if worksheet and (to is not _GradesFor.MOODLE or assignment is None):
            raise typer.BadParameter("a worksheet is Moodle's, and of one ASSIGNMENT: name it")
        opened = Course.open(course)
        if to is _GradesFor.CSV:
            from .nbgrader.export import export_csv

            _say(f"{export_csv(opened)}: written.")
            return
        from .nbgrader.platform_grades import export_for

        made = export_for(opened, to, assignment, worksheet)
        _say(f"{made.path}: written.")
        for note in made.notes:
            _say(note)


@app.command()
def doctor(course: CourseOption = Path()) -> None:
    """Try to break each layer of isolation that this machine has, and say which held.

    In a course, or with --course, say as well whether other users can read it.
    """
    with _clear_errors():
        from rich.table import Table

        from .sandbox.doctor import layers

        mine = _readers(course)
        found = layers()
        table = Table("layer", "held", "tried")
        for layer in [*mine, *found]:
            here = {True: "yes", False: "NO", None: "not here"}[layer.held]
            table.add_row(*(_plain(cell) for cell in (layer.name, here, layer.detail)))
        _print(table)
        if False in {layer.held for layer in [*mine, *found]} or not any(one.held for one in found):
            raise typer.Exit(1)


def _readers(root: Path) -> list[Layer]:
    """Whether a course keeps other users of the machine out; nothing where there is none."""
    from .course.course import Course
    from .sandbox.doctor import Layer

    if root == Path() and not Path("course.key").exists():
        return []
    course = Course.open(root)
    detail = f"{course.root} is {course.mode}"
    if not course.private:
        detail += ": other users of this machine can read what students handed in, and their "
        detail += "grades. Type: chmod 700 and this folder"
    return [Layer("course: other users", course.private, detail)]


def _show_report(report: Report, narrowed: bool) -> None:
    """Print the grades, of each student if the command was narrowed, and what was repaired."""
    from .grading.grades_table import one_by_one, overview

    _print(one_by_one(report) if narrowed else overview(report))
    for note in report.notes:
        _say(note)


def _plain(value: str) -> Text:
    from rich.text import Text

    return Text(printable(value), overflow="fold")


def _print(table: RenderableType) -> None:
    from rich.console import Console

    Console().print(table)


def _say(line: str) -> None:
    typer.echo(printable(line))


@contextmanager
def _progress(what: str) -> Iterator[Callable[[int, int, str], None]]:
    """Yields advance(done, total, name): a bar on a terminal, a line a second elsewhere."""
    import time

    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress

    console = Console(stderr=True)
    if console.is_terminal:
        with Progress(console=console, transient=True) as bar:
            task: TaskID = bar.add_task(what, total=None)
            yield lambda done, total, name: bar.update(
                task, completed=done, total=total, description=escape(printable(f"{what} {name}"))
            )
        return
    last = 0.0

    def line(done: int, total: int, name: str) -> None:
        nonlocal last
        if done == total or time.monotonic() - last >= 1:
            last = time.monotonic()
            typer.echo(printable(f"{what} {done} of {total}: {name}"), err=True)

    yield line


@contextmanager
def _clear_errors() -> Iterator[None]:
    """End with one line on stderr and exit code 1 where a message for people exists.

    Every exception class of this package has such messages, and so has the operating system.
    Anything else is a mistake of ours and keeps its traceback.
    """
    try:
        yield
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        _fail(f"{place}{error.strerror or error}. Check the path and its permissions.")
    except Exception as error:
        if not type(error).__module__.startswith(f"{__package__}."):
            raise
        _fail(str(error))


def _fail(line: str) -> NoReturn:
    typer.echo(f"autograder: {printable(line)}", err=True)
    raise typer.Exit(1)
