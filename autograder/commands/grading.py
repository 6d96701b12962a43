"""Commands from what was handed in to its grades: `collect` and `grade`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..terminal import clear_errors, confirmed, fail, print_json, progress, say, show
from .options import Assignments, CourseOption, Json

if TYPE_CHECKING:
    from ..course.course import Course, SubmissionFile
    from ..grading.cluster import Cluster
    from ..grading.grade import Report
    from ..grading.workers import LocalWorkers


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
        from ..course.course import Course
        from ..nbgrader.roster import read_roster
        from ..platforms.archive import open_archive
        from ..platforms.collect_table import table
        from ..platforms.collecting import collect as collect_plan
        from ..platforms.collecting import is_done, plan_of

        opened = Course.open(course)
        with open_archive(archive) as files:
            plan = plan_of(opened, files, read_roster(opened), assignment, worksheet)
            show(table(plan))
            if is_done(opened, plan):
                say("There is nothing to write.")
            elif yes or confirmed(f"Write {_many(len(plan.written), 'submission')}?"):
                count = collect_plan(opened, files, plan)
                say(f"{opened.submitted}: submissions written: {count}")
            else:
                say("Nothing was written. To write, add --yes.")


def _many(count: int, noun: str) -> str:
    return f"{count} {noun if count == 1 else f'{noun}s'}"


def grade(
    assignments: Assignments = None,
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
    as_json: Json = False,
) -> None:
    """Grade the class into the gradebook and COURSE/grades.json, and show the results."""
    with clear_errors():
        from ..course.course import Course

        if jobs and scheduler:
            raise typer.BadParameter(
                "not allowed with --scheduler, whose workers are all used", param_hint="--jobs"
            )
        opened = Course.open(course)
        with _workers(opened, jobs, trust, scheduler) as workers, progress("grading") as advance:
            from ..grading.grade import grade as grade_class  # while the workers start

            outcome = "Nothing was written."

            def on_progress(done: int, total: int, file: SubmissionFile) -> None:
                nonlocal outcome
                if not dry_run:
                    outcome = f"{done} of {total} submissions are graded. "
                    outcome += "Run the same command again to continue."
                advance(done, total, file.student)

            try:
                graded = grade_class(
                    opened, assignments or None, student or None, workers, on_progress, dry_run
                )
            except KeyboardInterrupt:
                typer.echo(f"autograder: stopped. {outcome}", err=True)
                raise typer.Exit(130) from None
        if not graded.rows:
            place = opened.submitted / "<student>" / "<assignment>" / "<assignment>.ipynb"
            note = f"No submissions yet. Put them at {place}, then grade again."
            graded = replace(graded, notes=(*graded.notes, note))
        if as_json:
            from .documents import grading_run

            print_json(grading_run(opened, graded, dry_run))
        else:
            _show_report(graded, narrowed=bool(assignments or student))
            if graded.rows:
                destination = "Nothing was written." if dry_run else f"Grades: {opened.grades}"
                known = f"{graded.known} known from an earlier run"
                say(f"{graded.judged} judged, {known}. {destination}")
        if graded.unjudged:
            reasons = f"{opened.faults} gives"
            if dry_run:
                reasons = "its `notes` give" if as_json else "the lines above give"
            fail(
                f"the grader failed on {graded.unjudged} submissions; {reasons} the "
                "reasons. A common cause is a limit on open files or memory (`ulimit -a` shows "
                "them). Fix it and run the same command, which judges these submissions again."
            )


def _workers(
    course: Course, jobs: int | None, trust: bool, scheduler: str | None
) -> LocalWorkers | Cluster:
    if scheduler is None:
        from ..grading.workers import LocalWorkers

        return LocalWorkers(course.package.name, jobs, trust)
    from ..grading.cluster import Cluster

    return Cluster(scheduler, trust)


def _show_report(report: Report, narrowed: bool) -> None:
    """Print the grades, per student if the command was `narrowed`, the changes and the notes."""
    from ..grading.grades_table import changed_scores, one_by_one, overview

    if report.rows:
        show(one_by_one(report) if narrowed else overview(report))
        show(changed_scores(report))
    for note in report.notes:
        say(note)
