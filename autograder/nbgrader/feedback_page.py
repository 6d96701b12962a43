"""The feedback page of a submission: what nbgrader's template gets to show, and how it is made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbconvert.exporters import HTMLExporter, TemplateExporter
from nbformat import NotebookNode
from nbgrader import api, utils
from nbgrader.preprocessors import NbGraderPreprocessor

from ..course.address import book_address
from ..course.plaintext import markdown_escape
from .findings import Book, Finding, finding
from .graded_pages import GradedPage, Mark, graded_pages
from .results import KEY, Results, results_in

WAITS = "A person will mark this answer. Its points are not in the score yet."

EARLIER = (
    "These points, and any comment by a person, are for an earlier text of this answer. They count "
    "until a person has marked the new text."
)


class FeedbackPage(HTMLExporter):
    """An exporter for the page of a submission, with the template that `preset` configures.

    Unlike its base, it does not parse the finished page again to describe pictures in it: there are
    none but ours, and that took a quarter of the time.
    """

    def from_notebook_node(  # type: ignore[override]
        self, nb: NotebookNode, resources: dict[str, Any] | None = None, **keywords: Any
    ) -> tuple[str, dict[str, Any]]:
        """Return the page and the resources."""
        return TemplateExporter.from_notebook_node(self, nb, resources, **keywords)


class NamedFeedback(NbGraderPreprocessor):
    """nbgrader's scores and comments, and what the grader found in each answer.

    The metadata of each answer get a `mark` and, for an exercise, a `finding`. The other cells of
    the release are marked to be folded, a run of them at a time. `resources["graded"]` may hold the
    page's GradedPage; it is read from the gradebook otherwise.
    """

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Add the marks to the cells, and the head of the page to the resources."""
        grades = resources["nbgrader"]
        graded = resources.get("graded") or _read(grades)
        results = results_in(nb.metadata)
        nb.metadata.pop(KEY, None)
        for cell in nb.cells:
            mark = cell.metadata.get("nbgrader")
            if mark and (utils.is_grade(cell) or utils.is_solution(cell) or utils.is_task(cell)):
                self._mark(cell, graded, results, grades["assignment"])
        _fold(nb.cells)
        grades["score"] = graded.score - graded.penalty
        grades["max_score"], grades["late_penalty"] = graded.most, graded.penalty
        resources["head"] = _head(graded, results, grades)
        return nb, resources

    def _mark(
        self, cell: NotebookNode, graded: GradedPage, results: Results, assignment: str
    ) -> None:
        values = cell.metadata.nbgrader
        name = values.grade_id
        mark = graded.marks.get(name)
        if mark is None:
            raise api.MissingEntry(f"No such grade or comment: {name}")
        if mark.score is not None:
            values["score"], values["points"] = mark.score, mark.most
        result = results.exercises.get(name)
        found = None if result is None else self._finding(name, results, assignment)
        values["finding"] = found
        values["wrong"] = found.short if found and mark.score != mark.most else ""
        values["comment"] = mark.comment
        values["auto_comment"] = "" if found else markdown_escape(mark.auto_comment)
        values["waits"] = mark.waits
        values["earlier"] = mark.waits and mark.by_hand
        values["by_hand"] = mark.by_hand and not mark.waits
        values["note"] = _note(mark)

    def _finding(self, name: str, results: Results, assignment: str) -> Finding:
        root = Path(str(self.config.CourseDirectory.get("root", ".")))
        book = Book(book_address(self.config.CoursePackage.get("book")), assignment)
        release = root / "release" / assignment
        return finding(name, results.exercises[name], results, release, book)


def _note(mark: Mark) -> str:
    if not mark.waits:
        return ""
    return EARLIER if mark.by_hand else WAITS


def _read(grades: dict[str, Any]) -> GradedPage:
    """Return the page from the gradebook. Raises MissingEntry if it is not there."""
    key = (grades["student"], grades["assignment"], grades["notebook"])
    with api.Gradebook(grades["db_url"]) as gradebook:
        pages = graded_pages(gradebook.db.connection(), key)
    if key not in pages:
        raise api.MissingEntry(f"No such submitted notebook: {key}")
    return pages[key]


def _fold(cells: list[NotebookNode]) -> None:
    """Mark the first and the last cell of each run of cells that came with the assignment."""
    given = [_is_given(cell) for cell in cells]
    for at, cell in enumerate(cells):
        cell.metadata["fold_begins"] = given[at] and not (at and given[at - 1])
        cell.metadata["fold_ends"] = given[at] and not (at + 1 < len(cells) and given[at + 1])


def _is_given(cell: NotebookNode) -> bool:
    mark = cell.metadata.get("nbgrader")
    return bool(mark and mark.get("locked") and not mark.get("grade") and not mark.get("solution"))


def _head(graded: GradedPage, results: Results, grades: dict[str, Any]) -> dict[str, Any]:
    """Return what the head of a page says, as plain text and numbers."""
    time = graded.submitted
    return {
        "title": results.title or grades["assignment"],
        "version": results.version,
        "submitted": f"{time:%d %B %Y, %H:%M} UTC".lstrip("0") if time else "",
        "late": _duration(graded.late_seconds) if graded.late_seconds else "",
        "waiting": graded.waiting,
    }


def _duration(seconds: float) -> str:
    """Return a duration in its two largest units, such as "2 days 3 hours"; at least a minute."""
    minutes = max(1, int(seconds // 60))
    days, hours = divmod(minutes // 60, 24)
    parts = [(days, "day"), (hours, "hour"), (minutes % 60, "minute")]
    named = [f"{count} {unit if count == 1 else f'{unit}s'}" for count, unit in parts if count]
    return " ".join(named[:2])
