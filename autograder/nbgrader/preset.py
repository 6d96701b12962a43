"""What nbgrader is set to, so that a course of this package is an ordinary course of nbgrader's.

nbgrader finds its parts by import strings. What it has no setting for is put in its classes' place.
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
"""What nbgrader does to make the students' version. There are no solutions to clear: the source
holds the stubs already, and nbgrader's ClearSolutions would wipe their signatures."""

PAGES = Path(__file__).parent / "pages"
"""nbconvert's templates for the pages of this package: a folder for each."""

FORMGRADER = Path(nbgrader.__file__).parent / "server_extensions" / "formgrader" / "templates"
"""nbgrader's own templates, on which the marking page builds."""


def configure(c: Config) -> None:
    """Set nbgrader up for this package; call it from the course's nbgrader_config.py."""
    root = Path(c.CourseDirectory.get("root", os.getcwd())).absolute()
    take_literally(root)
    if "db_url" not in c.CourseDirectory:
        c.CourseDirectory.db_url = database_url(root / "gradebook.db")
    c.CourseDirectory.groupshared = root.is_dir() and keep_shared(root)
    c.GenerateAssignment.preprocessors = [*PREPROCESSORS, SaveCells]
    c.Autograde.exporter_class = "autograder.plugin.JudgedNotebook"
    c.Autograde.sanitize_preprocessors = []
    c.Autograde.autograde_preprocessors = []
    c.CourseDirectory.ignore = [*CourseDirectory().ignore, _extra_files(root)]
    c.GenerateFeedback.exporter_class = "autograder.nbgrader.feedback.FeedbackPage"
    c.FeedbackPage.template_name = "answers"
    c.FeedbackPage.extra_template_basedirs = [str(PAGES)]
    c.GenerateFeedback.preprocessors = ["autograder.nbgrader.feedback.NamedFeedback"]
    c.HTMLExporter.sanitize_html = True
    c.FeedbackPage.preprocessors = ["autograder.nbgrader.rendering.NewPage"]
    c.HTMLExporter.template_name = "marking"  # what the formgrader shows; a student never sees it
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
    nbgrader.utils.parse_utc = to_utc  # it takes a zone that it does not know for UTC
    NbGraderAPI.get_submitted_timestamp = _submitted_timestamp
    CourseDirectory.get_existing_timestamp = _existing_timestamp


def _submitted_timestamp(api: NbGraderAPI, assignment: str, student: str) -> datetime | None:
    course = api.coursedir
    folder = course.format_path(course.submitted_directory, student, assignment)
    return _existing_timestamp(course, os.path.abspath(folder))


def _existing_timestamp(course: CourseDirectory, folder: str) -> datetime | None:
    """The time of submission, if one is known.

    nbgrader's own opens whatever has the name of its file, and waits for ever at a named pipe.
    """
    try:
        return submission_time(Path(folder))
    except ValueError:
        return None


def _extra_files(root: Path) -> str:
    """The pattern of what lies beside a submitted notebook.

    nbgrader copies such files where the formgrader serves them, through symbolic links too.
    """
    return os.path.join(glob.escape(str(root)), "submitted", "*", "*", "*")


def take_literally(root: Path) -> None:
    """Have nbgrader take the path of the course as it stands: its patterns begin with that."""
    course = os.path.join(os.path.abspath(root), "")

    def found(pattern: str) -> list[str]:
        if pattern.startswith(course):
            pattern = glob.escape(course) + pattern.removeprefix(course)
        return glob.glob(pattern)

    for module in (nbgrader.apps.api, nbgrader.converters.base, nbgrader.utils):
        module.glob = SimpleNamespace(glob=found)
