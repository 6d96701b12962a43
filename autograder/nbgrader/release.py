"""Make the assignment that students get, from the text that asks its exercises."""

from __future__ import annotations

import logging
import shutil
import zipfile
from collections.abc import Iterator, Sequence
from importlib import resources
from modulefinder import ModuleFinder
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from ..course.course import Course
from ..course.files import replace_text
from ..exercise.model import Assignment, Exercise, Kind, Written, public_cases
from ..exercise.stubs import stub
from ..judging.verdict import ERRORS_SHARE
from ..notebook.check import write_cases
from ..submission.marks import self_check_id
from . import forbidden_words
from .gradebook import Gradebook
from .preset import PREPROCESSORS, escape_course_path

PLACE_FOR_ANSWER = "*Write your answer here, in place of this line.*"
"""What stands in the cell of a written answer."""

HOW_FAR = """\
### How far you are

This cell counts what your checks above have said since the kernel started, on public cases."""
"""What stands above the last cell."""

RUN_FIRST = "  # NameError? Run the first code cell, then your answers."
"""What stands behind the call of a self-check: a NameError shows the line that it comes from."""

_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
_NEW = ".release-new"


class ReleaseError(Exception):
    """An assignment cannot be made; the message says what is wrong where."""


def release(course: Course, names: Sequence[str] | None = None) -> list[Path]:
    """Make the named assignments in `course`, all by default; return the released notebooks.

    Making one again replaces it; submissions and grades stay. Raises ReleaseError, and what
    `Gradebook` raises; the release that stood there before is then still there.
    """
    known = course.package
    for name in names or ():
        if name not in known:
            raise ReleaseError(
                f"{name}: no assignment has this name. There are: {', '.join(sorted(known))}."
            )
    wanted = known if names is None else dict.fromkeys(names)
    return [release_one(course, known[name], known.page(name)) for name in wanted]


def release_one(course: Course, assignment: Assignment, page: Path) -> Path:
    """Make one assignment from its `page`; see `release`."""
    name = assignment.name
    source = course.source / name
    source.mkdir(parents=True, exist_ok=True)
    notebook = build_notebook(assignment, page)
    nbformat.write(notebook, source / f"{name}.ipynb")
    write_cases(assignment, source / f"{name}.cases")
    _copy_self_check(source)
    _write_rubric(course, assignment)
    made = _generate(course, name)
    with Gradebook(course.gradebook_url) as gradebook:
        gradebook.add_assignment(name, nbformat.read(made / f"{name}.ipynb", as_version=4))
    target = course.release / name
    target.mkdir(parents=True, exist_ok=True)
    for path in made.iterdir():
        if path.is_dir():
            shutil.rmtree(target / path.name, ignore_errors=True)
        path.replace(target / path.name)
    made.rmdir()
    made.parent.rmdir()
    return target / f"{name}.ipynb"


def assignment_zip(course: Course, name: str, path: Path) -> None:
    """Pack a released assignment for download: the same release gives the same bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        folder = course.release / name
        for file in [
            folder / f"{name}.ipynb",
            *sorted(folder.rglob("*.py")),
            folder / f"{name}.cases",
        ]:
            entry = zipfile.ZipInfo(file.relative_to(course.release).as_posix())  # its time is 1980
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, file.read_bytes())


def self_check_files() -> list[Path]:
    """The files of `autograder` that `from autograder import check` needs, relative to its parent.

    They travel with each assignment, so that a student installs NumPy and nothing of ours. All of
    them is what the package imports, directly or not; no reference and no hidden case is in it.
    """
    root = _root()
    finder = ModuleFinder(path=[str(root)])  # what lies elsewhere is not followed
    finder.import_hook("autograder")
    files = (getattr(module, "__file__", None) for module in finder.modules.values())
    return sorted(Path(file).relative_to(root) for file in files if file)


def _root() -> Path:
    """The folder in which the package lies."""
    return Path(str(resources.files("autograder"))).parent


def _copy_self_check(folder: Path) -> None:
    """Put the self-check beside the notebook, in place of what an earlier release put there."""
    shutil.rmtree(folder / "autograder", ignore_errors=True)
    for file in self_check_files():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(_root() / file, folder / file)


def build_notebook(assignment: Assignment, page: Path) -> nbformat.NotebookNode:
    """The instructor's notebook: the cells of `page`, with every placeholder filled in.

    Raises ReleaseError if the page is not there or its placeholders are not the assignment's.
    """
    if not page.is_file():
        raise ReleaseError(
            f"{page}: the text of the assignment is not there. It belongs into its package, beside "
            "what declares its exercises."
        )
    exercises = {exercise.name: exercise for exercise in assignment.exercises}
    questions = {written.name: written for written in assignment.written}
    asked: list[str] = []
    cells: list[nbformat.NotebookNode] = []
    for number, cell in enumerate(jupytext.read(page).cells, start=1):
        name = cell.metadata.get("exercise") or cell.metadata.get("written")
        if name is None:
            cells.append(_locked(cell.cell_type, cell.source, f"part-{number:02}"))
            continue
        asked.append(name)
        if "exercise" in cell.metadata and name in exercises:
            cells += _exercise_cells(exercises[name], assignment.torch)
        elif "written" in cell.metadata and name in questions:
            cells += _written_cells(questions[name], cell.source)
        else:
            raise ReleaseError(f"{page}: {name}: the assignment has no exercise of this name.")
    if exercises:
        cells.append(_locked("markdown", HOW_FAR, "progress-task"))
        cells.append(_locked("code", f"check(){RUN_FIRST}", self_check_id("progress")))
    expected = [*exercises, *questions]
    if sorted(asked) != sorted(expected):
        wrong = {name for name in expected if asked.count(name) != 1}
        raise ReleaseError(
            f"{page}: {', '.join(sorted(wrong))}: each exercise needs one placeholder on the page."
        )
    notebook: nbformat.NotebookNode = new_notebook(cells=cells, metadata=_METADATA)
    return notebook


def _exercise_cells(exercise: Exercise, torch: bool) -> Iterator[nbformat.NotebookNode]:
    heading = (
        f"### Your turn: `{exercise.name}`\n\n{_points(exercise.points)}, "
        f"difficulty {exercise.difficulty} of 5, about {exercise.minutes} minutes.\n\n"
        f"**{exercise.kind.capitalize()}{'' if exercise.kind.core else ', beyond the core'}.** "
        f"{exercise.kind.instruction}"
    )
    if exercise.tolerance is not None:
        heading += f" A number within {100 * exercise.tolerance:g} % of ours is right."
    if exercise.forbidden:
        heading += f" {forbidden_words.sentence(exercise.forbidden, torch)}"
    cases = public_cases(exercise)
    if exercise.kind is not Kind.TEST and any(case.raises for case in cases):
        heading += (
            f" The errors that the docstring promises carry {100 * ERRORS_SHARE:g} % of the points."
        )
    idea, code, where = exercise.help
    titles = ("Help 1: where to look", "Help 2: an idea", "Help 3: nearly the code")
    stages = [
        f"<details>\n<summary>{title}</summary>\n\n{text.strip()}\n\n</details>"
        for title, text in zip(titles, (where, idea, code), strict=True)
    ]
    name = exercise.name
    yield _locked("markdown", "\n\n".join([heading, *stages]), f"{name}-task")
    yield _answer("code", stub(exercise), name, exercise.points)
    yield _locked("code", f"check({name}){RUN_FIRST}", self_check_id(name))


def _written_cells(written: Written, question: str) -> Iterator[nbformat.NotebookNode]:
    heading = (
        f"### In your own words\n\n{_points(written.points)}, about {written.minutes} minutes. "
        "A person reads your answer."
    )
    yield _locked("markdown", f"{heading}\n\n{question.strip()}", f"{written.name}-task")
    yield _answer("markdown", PLACE_FOR_ANSWER, written.name, written.points)


def _points(points: int) -> str:
    return f"**{points} point{'s' if points != 1 else ''}**"


def _locked(kind: str, source: str, grade_id: str) -> nbformat.NotebookNode:
    return _marked(kind, source, grade_id, grade=False, solution=False, locked=True)


def _answer(kind: str, source: str, grade_id: str, points: int) -> nbformat.NotebookNode:
    return _marked(kind, source, grade_id, grade=True, solution=True, locked=False, points=points)


def _marked(kind: str, source: str, grade_id: str, **marks: bool | int) -> nbformat.NotebookNode:
    """A cell with nbgrader's marks; its id is its grade_id, so that every release has the same."""
    new_cell: Any = new_code_cell if kind == "code" else new_markdown_cell
    nbgrader = {"grade_id": grade_id, "schema_version": 3, "task": False, **marks}
    cell: nbformat.NotebookNode = new_cell(
        source, id=grade_id[:64], metadata={"nbgrader": nbgrader}
    )
    return cell


def _write_rubric(course: Course, assignment: Assignment) -> None:
    """Tell the marker how to mark the written answers: COURSE/rubrics/<assignment>.md."""
    parts = [f"## {one.name}, {one.points} points\n\n{one.rubric}\n" for one in assignment.written]
    text = "\n".join([f"# {assignment.title}: rubric\n", *parts])
    replace_text(course.rubrics / f"{assignment.name}.md", text)


def _generate(course: Course, name: str) -> Path:
    """Let nbgrader make the students' version, in a folder of its own; return the folder."""
    escape_course_path(course.root)
    config = Config()
    config.CourseDirectory.root = str(course.root)
    config.CourseDirectory.release_directory = _NEW
    config.GenerateAssignment.preprocessors = PREPROCESSORS
    config.GenerateAssignment.no_database = True  # the gradebook has one writer: ours
    config.GenerateAssignment.force = True
    log = logging.Logger("release")
    log.addHandler(logging.NullHandler())
    directory = CourseDirectory(config=config, assignment_id=name, log=log)
    try:
        GenerateAssignment(coursedir=directory, config=config, log=log).start()
    except NbGraderException as error:
        raise ReleaseError(
            f"{course.source / name}: nbgrader makes no release ({error})."
        ) from error
    return course.root / _NEW / name
