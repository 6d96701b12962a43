"""Build the notebook that people see of a submission: the release with the student's answers."""

from __future__ import annotations

import copy
import html
from collections.abc import Iterator
from datetime import datetime

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell

from ..course.course import Course
from ..course.files import replace_text
from ..course.journal import Record
from ..course.plaintext import markdown_escape, printable
from ..exercise.outline import Outline
from ..judging.verdict import Verdict
from ..submission.submission import Submission
from ..submission.task import Task
from . import results


def autograded_notebook(
    submission: Submission, assignment: Outline, released: nbformat.NotebookNode
) -> nbformat.NotebookNode:
    """Return the release with everything that the student wrote, each text in its place.

    The notebook shows exactly the answers that were judged, and has no outputs. Answers that could
    not be read appear as released. Notes at the top report them, and the cells that were left out.
    """
    notebook = copy.deepcopy(released)
    notebook.cells = [
        *map(new_markdown_cell, _notes(submission, assignment)),
        *_fill_cells(notebook.cells, submission),
    ]
    for number, cell in enumerate(notebook.cells):
        if not _grade_id(cell):
            # The id is the same in every run, and differs from all ids of the release.
            cell["id"] = f"own-{number}"
    return notebook


def write_autograded(
    course: Course, submission: Submission, task: Task, record: Record, submitted: datetime | None
) -> None:
    """Write the notebook to the place where nbgrader's formgrader and feedback look for it.

    Its metadata hold the results in `record`, for the feedback.

    The time of submission goes into the same folder, because nbgrader compares it to find out which
    version was graded.
    """
    name = task.outline.name
    folder = course.autograded / submission.student / name
    notebook = autograded_notebook(submission, task.outline, task.released)
    notebook.metadata[results.KEY] = results.as_metadata(record, task, submission.answers)
    replace_text(folder / f"{name}.ipynb", nbformat.writes(notebook) + "\n")
    if submitted is None:
        (folder / "timestamp.txt").unlink(missing_ok=True)
    else:
        replace_text(folder / "timestamp.txt", f"{submitted.isoformat()} UTC\n")


def _fill_cells(
    released: list[nbformat.NotebookNode], submission: Submission
) -> Iterator[nbformat.NotebookNode]:
    """Yield the released cells with the answers, each followed by the cells that were added."""
    answers = submission.answers
    yield from _added_cells(submission, after=None)
    for cell in released:
        cell.source = answers.get(_grade_id(cell), cell.source)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        yield cell
        yield from _added_cells(submission, after=_grade_id(cell))


def _added_cells(submission: Submission, after: str | None) -> Iterator[nbformat.NotebookNode]:
    for added in submission.beside:
        if added.after != after:
            continue
        if added.note:
            yield new_markdown_cell(f"*{added.note}*")
        if added.kind == "code":
            yield new_code_cell(added.source)
        elif added.kind == "markdown":
            yield new_markdown_cell(added.source)
        else:  # the HTML pages do not show raw cells
            yield new_markdown_cell(markdown_escape(added.source))


def _notes(submission: Submission, assignment: Outline) -> Iterator[str]:
    """Yield the notes at the top of a notebook if parts of it could not be read or run."""
    problems = submission.problems.values()
    unread = len(problems) == len(assignment.exercises) and all(
        problem.verdict in (Verdict.MALFORMED, Verdict.MISSING) for problem in problems
    )
    messages = dict.fromkeys(problem.message for problem in problems)
    if unread and len(messages) == 1:
        reason = html.escape(printable(next(iter(messages))))
        yield (
            f"**No answer of this submission could be read.** {reason} "
            "The cells below are those of the release."
        )
    if submission.dropped:
        yield markdown_escape("\n".join(submission.dropped))


def _grade_id(cell: nbformat.NotebookNode) -> str:
    """Return nbgrader's id of a released cell; empty for notes and cells that a student added."""
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))
