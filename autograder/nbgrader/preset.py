"""Configure nbgrader, so that a course of this package is an ordinary nbgrader course.

nbgrader imports its components by the strings that are set here. Where it has no setting, its
functions are replaced.
"""

from __future__ import annotations

import glob
import os
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

import nbgrader
import nbgrader.apps.api
import nbgrader.converters.base
import nbgrader.utils
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import (
    CheckCellMetadata,
    ClearOutput,
    ComputeChecksums,
    LockCells,
    SaveCells,
)
from traitlets.config import Config

from ..course.files import database_url
from ..course.permissions import keep_shared
from ..course.times import submission_time, to_utc
from .formgrader_scores import show_net_scores
from .penalties import keep_penalties

PREPROCESSORS = [LockCells, ClearOutput, CheckCellMetadata, ComputeChecksums]
"""nbgrader's steps for making the students' version. ClearSolutions is not among them, since the
source has stubs instead of solutions, and it would delete their signatures."""

PAGES = Path(__file__).parent / "pages"
"""The folder of nbconvert templates for this package's pages, each in a subfolder."""

FORMGRADER = Path(nbgrader.__file__).parent / "server_extensions" / "formgrader" / "templates"
"""The folder of nbgrader's own templates, which the marking page extends."""


def configure(c: Config) -> None:
    """Configure nbgrader for this package; call this from the course's nbgrader_config.py."""
    root = Path(c.CourseDirectory.get("root", os.getcwd())).absolute()
    escape_course_path(root)
    if "db_url" not in c.CourseDirectory:
        c.CourseDirectory.db_url = database_url(root / "gradebook.db")
    c.CourseDirectory.groupshared = root.is_dir() and keep_shared(root)
    c.GenerateAssignment.preprocessors = [*PREPROCESSORS, SaveCells]
    c.Autograde.exporter_class = "autograder.plugin.JudgedNotebook"
    c.Autograde.sanitize_preprocessors = []
    c.Autograde.autograde_preprocessors = []
    c.CourseDirectory.ignore = [*CourseDirectory().ignore, _extra_files(root)]
    c.GenerateFeedback.exporter_class = "autograder.nbgrader.feedback_page.FeedbackPage"
    c.FeedbackPage.template_name = "answers"
    c.FeedbackPage.extra_template_basedirs = [str(PAGES)]
    c.GenerateFeedback.preprocessors = ["autograder.nbgrader.feedback_page.NamedFeedback"]
    c.HTMLExporter.sanitize_html = True
    c.FeedbackPage.preprocessors = ["autograder.nbgrader.rendering.NewPage"]
    c.HTMLExporter.template_name = "marking"  # for the formgrader, never for students
    c.HTMLExporter.extra_template_basedirs = [str(PAGES), str(FORMGRADER)]
    c.HTMLExporter.extra_template_paths = [str(FORMGRADER)]
    c.HTMLExporter.preprocessors = [
        "autograder.nbgrader.rendering.NewPage",
        "autograder.nbgrader.marking.Rubrics",
    ]
    c.HTMLExporter.filters = {
        "markdown2html": "autograder.nbgrader.rendering.clean_markdown",
        "highlight_code": "autograder.nbgrader.rendering.highlight_code",
        "strip_files_prefix": "autograder.nbgrader.rendering.unchanged",
    }
    c.ExportApp.plugin_class = "autograder.nbgrader.export.GradesCsv"
    keep_penalties(c, root)
    show_net_scores()
    nbgrader.utils.parse_utc = to_utc  # it reads a time in an unknown zone as UTC
    NbGraderAPI.get_submitted_timestamp = _submitted_timestamp
    CourseDirectory.get_existing_timestamp = _existing_timestamp


def _submitted_timestamp(api: NbGraderAPI, assignment: str, student: str) -> datetime | None:
    course = api.coursedir
    folder = course.format_path(course.submitted_directory, student, assignment)
    return _existing_timestamp(course, os.path.abspath(folder))


def _existing_timestamp(course: CourseDirectory, folder: str) -> datetime | None:
    """Return the time of submission, if it is known.

    nbgrader's own function opens any kind of file, and so would wait for ever on a named pipe.
    """
    try:
        return submission_time(Path(folder))
    except ValueError:
        return None


def _extra_files(root: Path) -> str:
    """Return the pattern of all files in a submission's folder, which nbgrader is to ignore.

    nbgrader would copy them to a folder that the formgrader serves, and follow symbolic links.
    """
    return os.path.join(glob.escape(str(root)), "submitted", "*", "*", "*")


def escape_course_path(root: Path) -> None:
    """Make nbgrader escape the course's path, which its glob patterns begin with."""
    course = os.path.join(os.path.abspath(root), "")

    def escaped_glob(pattern: str) -> list[str]:
        if pattern.startswith(course):
            pattern = glob.escape(course) + pattern.removeprefix(course)
        return glob.glob(pattern)

    for module in (nbgrader.apps.api, nbgrader.converters.base, nbgrader.utils):
        module.glob = SimpleNamespace(glob=escaped_glob)
