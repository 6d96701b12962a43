"""Check a whole notebook from the terminal, as the grader does, but on public cases only."""

from __future__ import annotations

from pathlib import Path

from ..course.course import SubmissionFile
from ..exercise.course_package import CoursePackage
from ..exercise.outline import outline
from ..judging.verdict import Judgement
from ..nbgrader.release import build_notebook
from ..notebook.check import NOT_THE_GRADE
from ..sandbox.backends import Sandbox, SandboxUnavailable, open_sandbox
from ..submission.reading import Unreadable, read_cells
from ..submission.submission import assemble
from .program import check_program


class CheckError(Exception):
    """Raised if a notebook cannot be checked; the message says why and what to do."""


def check_notebook(path: Path, package: CoursePackage) -> list[str]:
    """Run the notebook's answers on the public cases; return the report, line by line.

    Without a sandbox the notebook runs unprotected, since it is the user's own; a line says so.
    Raises CheckError if the notebook cannot be read or is not one of this course.
    """
    try:
        sandbox = open_sandbox(packages=package.packages)
        footnotes = [NOT_THE_GRADE]
    except SandboxUnavailable:
        sandbox = open_sandbox(trust=True)
        footnotes = [NOT_THE_GRADE, "It ran without a sandbox, which is fine for your own files."]
    judgements = judge_notebook(path, package, sandbox)
    report = [line for name, judgement in judgements.items() for line in _lines(name, judgement)]
    return report + footnotes


def judge_notebook(path: Path, package: CoursePackage, sandbox: Sandbox) -> dict[str, Judgement]:
    """Return the judgement of each exercise of the notebook on the public cases.

    Raises CheckError if the notebook cannot be read or is not one of this course.
    """
    path = path.resolve()
    if not path.exists():
        raise CheckError(f"{path}: there is no such file. Give the path of your notebook.")
    if path.stem not in package:
        names = ", ".join(f"{name}.ipynb" for name in sorted(package))
        raise CheckError(f"{path}: no assignment has this name. Rename it to one of: {names}.")
    cases = path.with_suffix(".cases")
    if not cases.is_file():
        raise CheckError(
            f"{cases}: this file is missing. It comes with the assignment; copy it back to there."
        )
    try:
        digest, cells = read_cells(path)
    except Unreadable as error:
        raise CheckError(f"{path.parent}: {error}") from error
    assignment = package[path.stem]
    released = build_notebook(assignment, package.page(path.stem))
    file = SubmissionFile("", assignment.name, path)
    submission = assemble(file, outline(assignment), released, digest, cells)
    judgements = check_program(submission.program, cases, sandbox) | submission.problems
    return {exercise.name: judgements[exercise.name] for exercise in assignment.exercises}


def _lines(name: str, judgement: Judgement) -> list[str]:
    if judgement.passed:
        return [f"{name}: right on the public cases."]
    lines = [f"{name}: not yet ({judgement.verdict}). {judgement.message}"]
    if judgement.misconception is not None:
        lines.append(
            f"    This looks like: {judgement.misconception}. Ask yourself: {judgement.hint}"
        )
    return lines
