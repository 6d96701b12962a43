"""Show rubrics in nbgrader's formgrader, which only people who mark can see."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode

HEADING = re.compile(r"^## (\w+), \d+ points?$", re.MULTILINE)
"""The heading of a question's rubric in rubrics/<assignment>.md."""


class Rubrics(Preprocessor):
    """A preprocessor that passes the rubrics of written questions to the marking page."""

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Add `rubrics`, by question, to the page's resources; leave the notebook unchanged."""
        root, name = self.config.CourseDirectory.get("root"), resources.get("assignment_id")
        path = Path(root, "rubrics", f"{name}.md") if root and name else None
        resources["rubrics"] = read_rubrics(path) if path else {}  # a class of nbconvert's
        return nb, resources


def read_rubrics(path: Path) -> dict[str, str]:
    """Return the rubrics in a file that `release` wrote, by question; empty without the file.

    An instructor may have edited the file, so bytes that are not valid UTF-8 are replaced.
    """
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    _, *parts = HEADING.split(text)
    return {name: rubric.strip() for name, rubric in zip(parts[::2], parts[1::2], strict=True)}
