"""Pack feedback pages into a zip that Canvas or Moodle accepts for a whole class.

*Canvas* (Re-Upload Submissions) attaches each file as a comment to the submission that was
downloaded under the same name: it reads the user's and the attachment's id from that name. It
shows the file under the name of the submitted file, so a page is called `<assignment>.ipynb` there.
https://github.com/instructure/canvas-lms/blob/master/app/models/abstract_assignment.rb

*Moodle* (Upload multiple feedback files in a zip) adds the files to the feedback of the participant
in whose folder they are, as downloaded; in the flat layout, file names begin with the folder's
name. A file that equals a submitted file is skipped.
https://github.com/moodle/moodle/blob/main/public/mod/assign/feedback/file/importziplib.php

Gradescope accepts no feedback for several students at once.
"""

from __future__ import annotations

import contextlib
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..course.course import Course
from .canvas import NAME
from .remembered import Place, read_places

ENTRY_TIME = (1980, 1, 1, 0, 0, 0)
"""The fixed time of every entry, so that the same pages give the same zip."""


class FeedbackArchiveError(Exception):
    """Raised if no archive can be made; the message says why and what to do."""


@dataclass(frozen=True)
class FeedbackArchive:
    """A zip of an assignment. `absent` are students with a page who were not collected there."""

    path: Path
    pages: int
    absent: tuple[str, ...]


def write_feedback_archives(course: Course, platform: str) -> list[FeedbackArchive]:
    """Write COURSE/feedback-<platform>-<assignment>.zip for each assignment collected from there.

    Raises FeedbackArchiveError if none was collected, or if `platform` accepts no such archive.
    """
    if platform == "gradescope":
        raise FeedbackArchiveError(
            "Gradescope accepts no feedback for several students at once, so there is no archive "
            f"for it. The pages are in {course.feedback}."
        )
    places = {
        assignment: on_platform
        for assignment, students in sorted(read_places(course).items())
        if (
            on_platform := {
                student: place for student, place in students.items() if place.platform == platform
            }
        )
    }
    if not places:
        raise FeedbackArchiveError(
            f"{course.root}: nothing was collected from an archive of {platform.capitalize()}, "
            "and the feedback needs that archive's file names. Collect with `autograder collect`, "
            f"then run this command again. The pages are in {course.feedback}."
        )
    return [
        _write(course, platform, assignment, students) for assignment, students in places.items()
    ]


def _write(
    course: Course, platform: str, assignment: str, places: Mapping[str, Place]
) -> FeedbackArchive:
    pages = {
        path.parents[1].name: path
        for path in sorted(course.feedback.glob(f"*/{assignment}/{assignment}.html"))
    }
    files = {
        _name(platform, places[student].place, assignment): path
        for student, path in pages.items()
        if student in places
    }
    target = course.root / f"feedback-{platform}-{assignment}.zip"
    _write_zip(target, files)
    absent = tuple(student for student in pages if student not in places)
    return FeedbackArchive(target, len(files), absent)


def _name(platform: str, place: str, assignment: str) -> str:
    """Return the name of a page in the archive."""
    if platform == "moodle":
        return f"{place}{assignment}.html"
    match = NAME.fullmatch(place)
    file_name = match[5] if match else ""
    return f"{place.removesuffix(file_name)}{assignment}.html"


def _write_zip(target: Path, files: Mapping[str, Path]) -> None:
    """Write a zip atomically, with a single page in memory at a time."""
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with zipfile.ZipFile(temporary, "w") as stream:
            for name, path in files.items():
                entry = zipfile.ZipInfo(name, ENTRY_TIME)
                entry.external_attr = 0o644 << 16
                stream.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)
        temporary.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
