"""Commands for a course as a whole: `init`, `share` and `doctor`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..exercise import PACKAGE
from ..terminal import clear_errors, plain, print_json, say, show
from .options import CourseOption, Json, Package

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ..sandbox.doctor import Layer


def init(
    course: Annotated[Path, typer.Argument(metavar="COURSE")],
    course_package: Package = PACKAGE,
    book: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="Where students read the book; feedback links to its sections."
        ),
    ] = None,
) -> None:
    """Create a course directory, which nbgrader can open as well."""
    with clear_errors():
        from ..course.course import Course

        created = Course.create(course, course_package, book)
        say(f"{created.root}: course created. Next: autograder release --course {created.root}")


def share(
    group: Annotated[str, typer.Argument(metavar="GROUP", help="A group of this machine.")],
    course: CourseOption = Path(),
) -> None:
    """Let a group of this machine, and no other users, grade and mark in the course."""
    with clear_errors():
        from ..course.course import Course
        from ..course.sharing import note_on_path
        from ..course.sharing import share as share_course

        opened = Course.open(course)
        shared = share_course(opened, group)
        say(f"{opened.root}: shared with {shared.group}. Changed: {shared.changed}")
        if note := note_on_path(shared):
            say(note)


def doctor(course: CourseOption = Path(), as_json: Json = False) -> None:
    """Try to break each layer of isolation on this machine, and report which ones held.

    In a course, or with --course, also report who can read the course, and whether a group that
    shares it can read and write everything.
    """
    with clear_errors():
        from ..sandbox.doctor import layers

        permissions = _readers(course)
        isolation = layers()
        tried = (*permissions, *isolation)
        broken = any(layer.held is False for layer in tried)
        passed = not broken and any(layer.held for layer in isolation)
        if as_json:
            from .documents import FORMAT, Isolation

            print_json(Isolation(FORMAT, passed, tried))
        else:
            show(_table(tried))
        if not passed:
            raise typer.Exit(1)


def _table(layers: Sequence[Layer]) -> RenderableType:
    from rich.table import Table

    table = Table("layer", "held", "tried")
    for layer in layers:
        held = {True: "yes", False: "NO", None: "not here"}[layer.held]
        table.add_row(*(plain(cell) for cell in (layer.name, held, layer.detail)))
    return table


def _readers(root: Path) -> list[Layer]:
    """Return a layer for each check of who can read the course; none outside of a course."""
    from ..course.course import Course
    from ..course.sharing import readers
    from ..sandbox.doctor import Layer

    if root == Path() and not Path("course.key").exists():
        return []
    return [Layer(*row) for row in readers(Course.open(root))]
