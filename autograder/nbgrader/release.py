"""Make the assignment that students get, from its page of text and its exercises."""

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
from ..submission.given import attach_module, given_files
from ..submission.marks import self_check_id
from . import forbidden_words
from .gradebook import Gradebook
from .preset import PREPROCESSORS, escape_course_path

PLACE_FOR_ANSWER = "*Write your answer here, in place of this line.*"
"""The text in the cell of a written answer."""

HOW_FAR = """\
### Your progress

This cell counts the results of your checks above since the kernel started, on public cases."""
"""The text above the last cell."""

RUN_FIRST = "  # NameError? Run the given cells above, then your answers."
"""The comment after the call of a self-check. The traceback of a NameError shows that line."""

_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
_NEW = ".release-new"


class ReleaseError(Exception):
    """Raised if an assignment cannot be made; the message says what is wrong and where."""


def release(course: Course, names: Sequence[str] | None = None) -> list[Path]:
    """Make the named assignments of `course`, all by default; return the released notebooks.

    An earlier release is replaced, but submissions and grades stay. Raises ReleaseError, and the
    exceptions of `Gradebook`. The earlier release then stays unchanged.
    """
    known = course.package
    for name in names or ():
        if name not in known:
            raise ReleaseError(
                f"{name}: no assignment has this name. The assignments are: "
                f"{', '.join(sorted(known))}."
            )
    chosen = known if names is None else dict.fromkeys(names)
    return [release_one(course, known[name], known.page(name)) for name in chosen]


def release_one(course: Course, assignment: Assignment, page: Path) -> Path:
    """Make an assignment from its `page`; see `release`."""
    name = assignment.name
    source = course.source / name
    source.mkdir(parents=True, exist_ok=True)
    notebook = build_notebook(assignment, page)
    nbformat.write(notebook, source / f"{name}.ipynb")
    for file, text in given_files(notebook).items():
        replace_text(source / file, text)
    write_cases(assignment, source / f"{name}.cases")
    _copy_self_check(source)
    _write_rubric(course, assignment)
    generated = _generate(course, name)
    with Gradebook(course.gradebook_url) as gradebook:
        gradebook.add_assignment(name, nbformat.read(generated / f"{name}.ipynb", as_version=4))
    target = course.release / name
    target.mkdir(parents=True, exist_ok=True)
    for path in generated.iterdir():
        if path.is_dir():
            shutil.rmtree(target / path.name, ignore_errors=True)
        path.replace(target / path.name)
    generated.rmdir()
    generated.parent.rmdir()
    return target / f"{name}.ipynb"


def assignment_zip(course: Course, name: str, path: Path) -> None:
    """Zip a released assignment for download. The same release always gives the same bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        folder = course.release / name
        for file in [
            folder / f"{name}.ipynb",
            *sorted(folder.rglob("*.py")),
            folder / f"{name}.cases",
        ]:
            entry = zipfile.ZipInfo(file.relative_to(course.release).as_posix())  # of 1980
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, file.read_bytes())


def self_check_files() -> list[Path]:
    """Return the files that `from autograder import check` needs, relative to autograder's parent.

    Each assignment includes them, so that students need not install the autograder, only NumPy.
    They are all modules that the package imports, directly or indirectly, and contain neither
    reference solutions nor hidden cases.
    """
    root = _root()
    finder = ModuleFinder(path=[str(root)])  # modules elsewhere are not followed
    finder.import_hook("autograder")
    files = (getattr(module, "__file__", None) for module in finder.modules.values())
    return sorted(Path(file).relative_to(root) for file in files if file)


def _root() -> Path:
    """Return the folder that contains the package."""
    return Path(str(resources.files("autograder"))).parent


def _copy_self_check(folder: Path) -> None:
    """Copy the self-check to the notebook's folder, and replace that of an earlier release."""
    shutil.rmtree(folder / "autograder", ignore_errors=True)
    for file in self_check_files():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(_root() / file, folder / file)


def build_notebook(assignment: Assignment, page: Path) -> nbformat.NotebookNode:
    """Return the instructor's notebook: the cells of `page` with every placeholder filled in.

    Raises ReleaseError if the page or a given module is missing, or if the placeholders do not fit
    the assignment.
    """
    if not page.is_file():
        raise ReleaseError(
            f"{page}: the text of the assignment is missing. It belongs in the assignment's "
            "folder, with the modules that declare its exercises."
        )
    exercises = {exercise.name: exercise for exercise in assignment.exercises}
    questions = {written.name: written for written in assignment.written}
    placeholders: list[str] = []
    cells: list[nbformat.NotebookNode] = []
    for number, cell in enumerate(jupytext.read(page).cells, start=1):
        name = cell.metadata.get("exercise") or cell.metadata.get("written")
        if name is None:
            cells.append(_locked(cell.cell_type, cell.source, f"part-{number:02}"))
            if "module" in cell.metadata:
                attach_module(cells[-1], *_module(page, cell.metadata["module"]))
            continue
        placeholders.append(name)
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
    if sorted(placeholders) != sorted(expected):
        wrong = {name for name in expected if placeholders.count(name) != 1}
        raise ReleaseError(
            f"{page}: {', '.join(sorted(wrong))}: each exercise needs exactly one placeholder on "
            "the page."
        )
    notebook: nbformat.NotebookNode = new_notebook(cells=cells, metadata=_METADATA)
    return notebook


def _module(page: Path, name: str) -> tuple[str, str]:
    """Return the name of a module in the page's folder, and its text."""
    path = page.with_name(f"{name}.py")
    if not path.is_file():
        raise ReleaseError(
            f"{page}: a cell imports from the given module {name}, but {path} is missing. Write "
            "it, or remove `:module:` from the cell."
        )
    return name, path.read_text(encoding="utf-8")


def _exercise_cells(exercise: Exercise, torch: bool) -> Iterator[nbformat.NotebookNode]:
    heading = (
        f"### Your turn: `{exercise.name}`\n\n{_points(exercise.points)}, "
        f"difficulty {exercise.difficulty} of 5, about {exercise.minutes} minutes.\n\n"
        f"**{exercise.kind.capitalize()}{'' if exercise.kind.core else ', beyond the core'}.** "
        f"{exercise.kind.instruction}"
    )
    if exercise.tolerance is not None:
        heading += f" A number within {100 * exercise.tolerance:g} % of the reference is right."
    if exercise.forbidden:
        heading += f" {forbidden_words.sentence(exercise.forbidden, torch)}"
    cases = public_cases(exercise)
    if exercise.kind is not Kind.TEST and any(case.raises for case in cases):
        share = f"{100 * ERRORS_SHARE:g} %"
        heading += f" Raising the exceptions in the docstring is worth {share} of the points."
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
    return _new_cell(kind, source, grade_id, grade=False, solution=False, locked=True)


def _answer(kind: str, source: str, grade_id: str, points: int) -> nbformat.NotebookNode:
    return _new_cell(kind, source, grade_id, grade=True, solution=True, locked=False, points=points)


def _new_cell(kind: str, source: str, grade_id: str, **marks: bool | int) -> nbformat.NotebookNode:
    """Return a cell with nbgrader's metadata. Its id is its grade_id, the same in every release."""
    new_cell: Any = new_code_cell if kind == "code" else new_markdown_cell
    nbgrader = {"grade_id": grade_id, "schema_version": 3, "task": False, **marks}
    cell: nbformat.NotebookNode = new_cell(
        source, id=grade_id[:64], metadata={"nbgrader": nbgrader}
    )
    return cell


def _write_rubric(course: Course, assignment: Assignment) -> None:
    """Write COURSE/rubrics/<assignment>.md, the rubric for people who mark written answers."""
    parts = [
        f"## {written.name}, {written.points} points\n\n{written.rubric}\n"
        for written in assignment.written
    ]
    text = "\n".join([f"# {assignment.title}: rubric\n", *parts])
    replace_text(course.rubrics / f"{assignment.name}.md", text)


def _generate(course: Course, name: str) -> Path:
    """Make the students' version with nbgrader, in a new folder; return the folder."""
    escape_course_path(course.root)
    config = Config()
    config.CourseDirectory.root = str(course.root)
    config.CourseDirectory.release_directory = _NEW
    config.GenerateAssignment.preprocessors = PREPROCESSORS
    config.GenerateAssignment.no_database = True  # only `Gradebook` writes to the gradebook
    config.GenerateAssignment.force = True
    log = logging.Logger("release")
    log.addHandler(logging.NullHandler())
    directory = CourseDirectory(config=config, assignment_id=name, log=log)
    try:
        GenerateAssignment(coursedir=directory, config=config, log=log).start()
    except NbGraderException as error:
        raise ReleaseError(
            f"{course.source / name}: nbgrader could not make the release ({error})."
        ) from error
    return course.root / _NEW / name
