"""Write feedback for students: nbgrader makes an HTML page for each submission."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

from nbgrader.converters import GenerateFeedback
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from ..course.course import Course
from .database import printable_url
from .gradebook import Gradebook
from .graded_pages import GradedPage, Key
from .penalties import LatePenalties, keep_penalties
from .preset import PAGES, configure


class FeedbackError(Exception):
    """Raised if pages could not be written; the message says which, why and what to do."""


def generate_feedback(
    course: Course, on_page: Callable[[int, int, str], None]
) -> tuple[int, list[str]]:
    """Write COURSE/feedback/<student>/<assignment>/<assignment>.html for every graded submission.

    A page that is up to date is not written again. Returns the number of pages, and the students
    who have a graded notebook but get no page because they have left the gradebook.
    `on_page(number, total, student)` is called before each page. Raises FeedbackError if there are
    no grades, or with the reason why some pages could not be written.
    """
    config = Config()
    config.CourseDirectory.root = str(course.root)
    configure(config)
    config.CoursePackage.book = course.book or ""
    config.CourseDirectory.db_url = course.gradebook_url
    config.GenerateFeedback.force = True
    errors = _ErrorLines()
    log = logging.Logger("feedback")
    log.addHandler(errors)
    total = len(list(course.autograded.glob("*/*/*.ipynb")))
    if not total:
        raise FeedbackError(
            f"{course.autograded}: nothing is graded yet. "
            f"Run `autograder grade --course {course.root}` first."
        )
    keep_penalties(course.nbgrader_config, course.root)  # `config` has no settings for penalties
    penalties = LatePenalties(course.nbgrader_config, course.root)
    with Gradebook(course.gradebook_url) as book:
        book.assign_penalties(penalties)
        roster = {student.id for student in book.nbgrader.students}
        if not book.nbgrader.assignments:
            raise FeedbackError(
                f"{printable_url(course.gradebook_url)}: this gradebook holds no grades. "
                f"Run `autograder grade --course {course.root}`, which restores every machine "
                "grade from the journal, or restore the gradebook from a backup."
            )
        graded = book.graded_pages()
    directory = CourseDirectory(config=config, assignment_id="*", log=log)
    pages = _Pages(
        course, roster, graded, on_page, total, coursedir=directory, config=config, log=log
    )
    try:
        pages.start()
    except OSError as error:  # names only the file, because nbconvert changes to its folder
        raise FeedbackError(
            f"{pages.page or course.feedback}: the page cannot be written ({error.strerror}). "
            "Check the path and its permissions, then run this command again."
        ) from error
    except NbGraderException as error:
        reason = "; ".join(errors.lines[:3]) or str(error)
        raise FeedbackError(
            f"{course.feedback}: some pages could not be written ({reason}). "
            f"Run `autograder grade --course {course.root}`, then this command again."
        ) from error
    return total - len(pages.unknown), sorted({student for student, _ in pages.unknown})


class _Pages(GenerateFeedback):
    """nbgrader's converter, which here reports each page and skips those that are up to date.

    The last line of a page is a digest of everything that the page depends on.
    """

    def __init__(
        self,
        course: Course,
        roster: Collection[str],
        graded: Mapping[Key, GradedPage],
        on_page: Callable[[int, int, str], None],
        total: int,
        **keywords: object,
    ) -> None:
        super().__init__(**keywords)
        self._on_page, self._total, self._number = on_page, total, 0
        self._renderer = _renderer_digest()
        self._last_line = ""
        self.page: Path | None = None  # the page that is being made
        self.unknown: list[tuple[str, str]] = []  # student and assignment
        self._course, self._roster, self._graded = course, roster, graded

    def init_single_notebook_resources(self, notebook_filename: str) -> dict[str, Any]:
        resources: dict[str, Any] = super().init_single_notebook_resources(notebook_filename)
        grades = resources["nbgrader"]
        key = (grades["student"], grades["assignment"], grades["notebook"])
        return {**resources, "graded": self._graded.get(key)}

    def init_destination(self, assignment_id: str, student_id: str) -> bool:
        if student_id not in self._roster:
            self.unknown.append((student_id, assignment_id))
            return False
        self._number += 1
        self._on_page(self._number, self._total, student_id)
        parent = self.coursedir.feedback_directory
        folder = self.coursedir.format_path(parent, student_id, assignment_id)
        self.page = page = Path(folder, f"{assignment_id}.html")
        self._last_line = self._digest_line(assignment_id, student_id)
        with suppress(OSError):
            if page.read_bytes().endswith(self._last_line.encode()):
                return False
        return bool(super().init_destination(assignment_id, student_id))

    def write_single_notebook(self, output: str, resources: dict[str, Any]) -> None:
        super().write_single_notebook(f"{output.rstrip()}\n{self._last_line}", resources)

    def _digest_line(self, assignment: str, student: str) -> str:
        """Return the last line of a page: a digest of everything that the page depends on."""
        parts = [self._renderer, (self._course.book or "").encode()]
        parent = self.coursedir.autograded_directory
        folder = Path(self.coursedir.format_path(parent, student, assignment))
        for path in sorted(folder.rglob("*")):
            parts += [path.name.encode(), path.read_bytes()] if path.is_file() else []
        for path in map(Path, self.notebooks):
            parts.append(repr(self._graded.get((student, assignment, path.stem))).encode())
        with suppress(OSError):
            parts.append((self._course.release / assignment / f"{assignment}.cases").read_bytes())
        lengths = b"".join(len(part).to_bytes(8, "big") for part in parts)
        digest = hashlib.sha256(lengths + b"".join(parts)).hexdigest()
        return f"<!-- made of {digest} -->"


def _renderer_digest() -> bytes:
    """Return a digest of the code that makes the pages, and of the versions of its packages."""
    code = hashlib.sha256()
    for package in ("nbgrader", "nbconvert", "nh3", "docutils"):
        code.update(metadata.version(package).encode())
    own = Path(__file__).parent
    drawing = (own.parent / "notebook").glob("*.py")
    for path in (*sorted(own.glob("*.py")), *sorted(drawing), *sorted(PAGES.rglob("*.*"))):
        code.update(path.read_bytes())
    return code.digest()


class _ErrorLines(logging.Handler):
    """The last line of every error that nbgrader logs."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage().strip().splitlines()[-1])
