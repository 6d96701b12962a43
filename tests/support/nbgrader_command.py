"""Run nbgrader's own command in a course, as an instructor runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from autograder.course.course import Course


def nbgrader(course: Course, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `nbgrader` with these arguments in the course directory."""
    start = "import sys; from nbgrader.apps.nbgraderapp import main; sys.argv[0] = 'nbgrader'; "
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(
        [sys.executable, "-c", start + "main()", *arguments],
        cwd=course.root,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
