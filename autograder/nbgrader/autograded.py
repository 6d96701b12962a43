"""The notebook that people see of a submission: the release with the student's answers."""

from __future__ import annotations

import copy
import html
from collections.abc import Iterator
from datetime import datetime

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell

from ..course.course import Course
from ..course.files import replace_text
from ..course.plaintext import markdown_escape, printable
from ..exercise.outline import Outline
from ..judging.verdict import Verdict
from ..submission.submission import Submission


def autograded_notebook(
    submission: Submission, assignment: Outline, released: nbformat.NotebookNode
) -> nbformat.NotebookNode:
    """The release with all that the student wrote in its place, and no output.

    What was taken for judging is what is shown. Answers that could not be read show as released,
    below a note that says so, and so does one that says which cells were left out.
    """
    notebook = copy.deepcopy(released)
    notebook.cells = [
        *map(new_markdown_cell, _notes(submission, assignment)),
        *_filled(notebook.cells, submission),
    ]
    for number, cell in enumerate(notebook.cells):
        if not _mark(cell):
            cell["id"] = f"own-{number}"  # the same each time, and none of the release's
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
    if submitted is None:
        (folder / "timestamp.txt").unlink(missing_ok=True)
    else:
        replace_text(folder / "timestamp.txt", f"{submitted.isoformat()} UTC\n")


def _filled(
    released: list[nbformat.NotebookNode], submission: Submission
) -> Iterator[nbformat.NotebookNode]:
    """The released cells with the answers, and behind each what was written there beside them."""
    answers = submission.answers
    yield from _beside(submission, after=None)
    for cell in released:
        cell.source = answers.get(_mark(cell), cell.source)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        yield cell
        yield from _beside(submission, after=_mark(cell))


def _beside(submission: Submission, after: str | None) -> Iterator[nbformat.NotebookNode]:
    for one in submission.beside:
        if one.after != after:
            continue
        if one.note:
            yield new_markdown_cell(f"*{one.note}*")
        if one.kind == "code":
            yield new_code_cell(one.source)
        elif one.kind == "markdown":
            yield new_markdown_cell(one.source)
        else:  # a page leaves a raw cell out
            yield new_markdown_cell(markdown_escape(one.source))


def _notes(submission: Submission, assignment: Outline) -> Iterator[str]:
    """The notes in front of a notebook of which not everything could be read or run."""
    problems = submission.problems.values()
    unread = len(problems) == len(assignment.exercises) and all(
        problem.verdict in (Verdict.MALFORMED, Verdict.MISSING) for problem in problems
    )
    messages = dict.fromkeys(problem.message for problem in problems)
    if unread and len(messages) == 1:
        reason = html.escape(printable(next(iter(messages))))
        yield f"**No answer of this submission could be read.** {reason} Below stands the release."
    if submission.dropped:
        yield markdown_escape("\n".join(submission.dropped))


def _mark(cell: nbformat.NotebookNode) -> str:
    """The mark of a released cell; what the student added, and the notes, have none."""
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))
