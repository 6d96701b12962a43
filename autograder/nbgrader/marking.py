"""What nbgrader's formgrader shows to a person who marks, and to nobody else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode

HEADING = re.compile(r"^## (\w+), \d+ points?$", re.MULTILINE)
"""What begins the rubric of a question in rubrics/<assignment>.md."""


class Rubrics(Preprocessor):
    """Gives the template of the marking page the rubric of each written question."""

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Put `rubrics`, by question, into the resources of the page; change nothing else."""
        root, name = self.config.CourseDirectory.get("root"), resources.get("assignment_id")
        path = Path(root, "rubrics", f"{name}.md") if root and name else None
        resources["rubrics"] = read_rubrics(path) if path else {}  # nbconvert's own kind of dict
        return nb, resources


def read_rubrics(path: Path) -> dict[str, str]:
    """Return the rubrics in a file that `release` wrote, by question; none if it is not there.

    An instructor may have edited the file: text that is no UTF-8 is shown as far as it can be.
    """
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    _, *parts = HEADING.split(text)
    return {name: rubric.strip() for name, rubric in zip(parts[::2], parts[1::2], strict=True)}
