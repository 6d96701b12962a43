"""The common form of all platforms' archives: uploads, each with the person who uploaded it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

SUFFIX = re.compile(r"(?:-(\d{1,4})| ?\((\d{1,4})\))$", re.ASCII)
"""The suffix that a platform adds to a file handed in again, and a browser to a copy."""


@dataclass(frozen=True)
class Person:
    """A student as the platform knows them.

    `ids` are valid in the whole course, the best first; the first becomes the student's id if
    there is no roster. `internal` is True if they are numbers that the platform assigned, which a
    roster has as `lms_user_id`.
    """

    ids: tuple[str, ...] = ()
    email: str | None = None
    name: str | None = None
    internal: bool = False

    @property
    def label(self) -> str:
        """The name to show for this person."""
        return self.name or self.email or next(iter(self.ids), "nobody")


@dataclass(frozen=True)
class Upload:
    """A notebook in an archive.

    `path` is its name in the archive, and `file` the name that the student gave it. `place` is the
    name that the platform's upload of feedback needs: Canvas's file name, or Moodle's folder. Of
    two uploads by a person, the larger `order` is newer. `refused` says why it cannot be collected.
    """

    path: str
    file: str
    person: Person
    place: str
    order: int = 0
    late: bool = False
    resubmission: bool = False
    time: datetime | None = None
    time_source: str = ""
    refused: str = ""


@dataclass(frozen=True)
class Contents:
    """The contents of an archive.

    `no_time` says why an upload from this platform has no time. `others` are files that are not
    notebooks, each with a description.
    """

    platform: str
    uploads: tuple[Upload, ...]
    no_time: str
    others: tuple[tuple[str, str], ...] = ()


def suffix(file: str) -> int:
    """Return the number that distinguishes a file from earlier files of the same name, or 0."""
    match = SUFFIX.search(file.removesuffix(".ipynb"))
    return int(match[1] or match[2]) if match else 0


def stem(file: str) -> str:
    """Return the name of a notebook without its extension and the suffix of a resubmission."""
    return SUFFIX.sub("", file.removesuffix(".ipynb"))


def is_notebook(path: str) -> bool:
    """Return True for the name of a notebook that is not hidden."""
    return path.endswith(".ipynb") and not path.rpartition("/")[2].startswith(".")
