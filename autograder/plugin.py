"""Set up nbgrader to judge with this package. The course's nbgrader_config.py holds two lines:

    from autograder.plugin import configure
    configure(get_config())

From then on `nbgrader autograde` and the button in the formgrader grade in this package's sandbox.
nbgrader itself starts no kernel and does not run students' code.
"""

from __future__ import annotations

from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter

from .course.course import Course
from .grading.grade import grade
from .grading.workers import LocalWorkers
from .nbgrader.preset import configure

__all__ = ["JudgedNotebook", "configure"]


class JudgedNotebook(NotebookExporter):
    """The exporter for nbgrader's autograde, which returns the notebook that `grade` judged.

    By default nbgrader reads the student's file itself, runs it in a kernel on this machine, and
    scores it by its output. This exporter hands it the notebook that `grade` writes, once the
    scores are in the gradebook.
    """

    _workers: LocalWorkers | None = None

    def from_filename(
        self, filename: str, resources: dict[str, Any] | None = None, **_: Any
    ) -> tuple[Any, dict[str, Any]]:
        """Grade the submission that `resources` names; raise what `grade` and the sandbox raise.

        nbgrader calls this twice, before and after the step that would run the cells. The second
        time the result comes from the journal.
        """
        task = (resources or {})["nbgrader"]
        student, name = task["student"], task["assignment"]
        assert self.parent is not None  # the converter, set by nbgrader
        course = Course.open(self.parent.coursedir.root)
        if self._workers is None:
            self._workers = LocalWorkers(course.package.name, jobs=1)  # ends with this process
        grade(course, [name], [student], self._workers)
        judged = course.autograded / student / name / f"{name}.ipynb"
        convert: Any = self.from_notebook_node  # nbconvert has no types
        exported: tuple[Any, dict[str, Any]] = convert(
            nbformat.read(judged, as_version=4), resources
        )
        return exported
