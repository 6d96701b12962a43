"""nbgrader, set up to judge with this package. The course's nbgrader_config.py holds two lines:

    from autograder.plugin import configure
    configure(get_config())

From then on `nbgrader autograde`, and the button in the formgrader, grade in our sandbox; nbgrader
itself starts no kernel and runs no student's code.
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
    """What nbgrader's autograde turns a submission into: our judged notebook.

    nbgrader would read the student's file itself, run it in a kernel of this machine, and score
    it by its output. Here it gets the notebook that `grade` writes, after the scores have gone
    to the gradebook.
    """

    _workers: LocalWorkers | None = None

    def from_filename(
        self, filename: str, resources: dict[str, Any] | None = None, **_: Any
    ) -> tuple[Any, dict[str, Any]]:
        """Grade the submission that `resources` names; raises what `grade` and the sandbox raise.

        nbgrader calls this twice, before and after it would run the cells; the journal knows the
        result the second time.
        """
        task = (resources or {})["nbgrader"]
        student, name = task["student"], task["assignment"]
        assert self.parent is not None  # the converter, which nbgrader sets
        course = Course.open(self.parent.coursedir.root)
        if self._workers is None:
            self._workers = LocalWorkers(course.package.name, jobs=1)  # it ends with this process
        grade(course, [name], [student], self._workers)
        judged = course.autograded / student / name / f"{name}.ipynb"
        convert: Any = self.from_notebook_node  # no types
        exported: tuple[Any, dict[str, Any]] = convert(
            nbformat.read(judged, as_version=4), resources
        )
        return exported
