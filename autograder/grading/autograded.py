"""The notebook that people see of a submission: the release with the student's answers."""

from __future__ import annotations

import copy
import html
from collections.abc import Iterator
from datetime import datetime

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell

from ..classroom.course import Course
from ..classroom.files import replace_text
from ..classroom.plaintext import markdown_escape, printable
from ..judging.outline import Outline
from ..judging.verdict import Verdict
from .notebook import ProgramCell, Submission


def autograded_notebook(
    submission: Submission, assignment: Outline, released: nbformat.NotebookNode
) -> nbformat.NotebookNode:
    """The release with the student's answers and own code cells in place, and no output.

    What was taken for judging is what is shown. Answers that could not be read show as released,
    below a note that says so, and so does one that says which cells were left out.
    """
    notebook = copy.deepcopy(released)
    note = _note(submission, assignment)
    notebook.cells = [*note, *_merged(notebook.cells, list(submission.program))]
    for cell in notebook.cells:
        grade_id = _grade_id(cell)
        if cell.cell_type == "markdown" and grade_id in submission.written:
            cell.source = submission.written[grade_id]
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return notebook


def write_autograded(
    course: Course,
    submission: Submission,
    assignment: Outline,
    released: nbformat.NotebookNode,
    submitted: datetime | None,
) -> None:
    """Put the notebook where nbgrader's formgrader and feedback look for it.

    The time of submission goes beside it: nbgrader compares it to tell which version it has graded.
    """
    folder = course.autograded / submission.student / assignment.name
    notebook = autograded_notebook(submission, assignment, released)
    replace_text(folder / f"{assignment.name}.ipynb", nbformat.writes(notebook) + "\n")
    if submitted is not None:
        replace_text(folder / "timestamp.txt", f"{submitted.isoformat()} UTC\n")


def _merged(
    released: list[nbformat.NotebookNode], program: list[ProgramCell]
) -> Iterator[nbformat.NotebookNode]:
    """The released cells with the answers, and the student's own cells where they stood."""
    ours = {cell.source for cell in released if cell.cell_type == "code" and not _is_answer(cell)}
    answers = {cell.exercise: index for index, cell in enumerate(program) if cell.exercise}
    place = 0
    for cell in released:
        index = answers.get(_grade_id(cell)) if _is_answer(cell) else None
        if index is not None:
            yield from _own(program[place:index], ours)
            cell.source = program[index].source
            place = max(place, index + 1)
        yield cell
    yield from _own(program[place:], ours)


def _own(cells: list[ProgramCell], ours: set[str]) -> Iterator[nbformat.NotebookNode]:
    for cell in cells:
        if cell.exercise is None and cell.source not in ours:
            yield new_code_cell(cell.source)


def _note(submission: Submission, assignment: Outline) -> list[nbformat.NotebookNode]:
    """A note in front of a notebook of which not everything could be read or run."""
    if submission.dropped:
        return [new_markdown_cell(markdown_escape("\n".join(submission.dropped)))]
    problems = submission.problems.values()
    unread = len(problems) == len(assignment.exercises) and all(
        problem.verdict in (Verdict.MALFORMED, Verdict.MISSING) for problem in problems
    )
    messages = dict.fromkeys(problem.message for problem in problems)
    if not unread or len(messages) > 1:
        return []
    reason = html.escape(printable(next(iter(messages))))
    text = f"**No answer of this submission could be read.** {reason} Below stands the release."
    return [new_markdown_cell(text)]


def _is_answer(cell: nbformat.NotebookNode) -> bool:
    marks = cell.metadata.get("nbgrader", {})
    return cell.cell_type == "code" and bool(marks.get("grade") and marks.get("solution"))


def _grade_id(cell: nbformat.NotebookNode) -> str:
    """The mark of a released cell; the note above them has none."""
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))
