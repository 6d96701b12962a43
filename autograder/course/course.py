"""The course directory: nbgrader's layout, and beside it a secret key, a journal and the grades."""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ..exercise import PACKAGE
from ..exercise.course_package import CoursePackage
from .files import database_url
from .permissions import PRIVATE, keep_shared, user_name
from .plaintext import printable

KEY_BYTES = 32
FAULTS = "grader-faults.log"
LONGEST_PATH = 480  # of a course, in bytes; SQLite takes 512 for a database and its journal
LONGEST_NAME = 120  # of a student, in bytes; a file system takes 255 and a gradebook 128

NBGRADER_CONFIG = """\
# The configuration of nbgrader for this course. Settings of your own go below the last line.
from pathlib import Path

from autograder.plugin import configure

c = get_config()
c.CoursePackage.name = {package!r}  # the Python package that declares its exercises
c.CourseDirectory.root = str(Path(__file__).absolute().parent)
configure(c)
"""

GITIGNORE = """\
# Git takes only what is named here: not the key, submissions, grades, feedback or rubrics.
# Write no database password into nbgrader_config.py, or name that file no longer.
/*
!/.gitignore
!/nbgrader_config.py
!/source/
!/release/
"""


class CourseError(Exception):
    """The course directory cannot be used; the message says what, where and what to do."""


@dataclass(frozen=True)
class SubmissionFile:
    """Where the notebook of one student for one assignment stands, or should stand."""

    student: str
    assignment: str
    path: Path


@dataclass(frozen=True)
class Course:
    """A course directory; `key` is the secret from which the hidden cases are drawn."""

    root: Path
    key: bytes = field(repr=False)

    @classmethod
    def create(cls, root: Path | str, package: str = PACKAGE) -> Course:
        """Make a course directory at `root`, which must be empty or not there yet.

        It is a course of `package`; CoursePackageError if that is none. No other user may open it:
        what a class hands in, and its grades, are nobody else's.
        """
        CoursePackage.find(package)
        root = _usable(root)
        if os.path.expandvars(root) != str(root):
            raise CourseError(
                f"{root}: Jupyter, which opens the formgrader in a course, puts the value of a "
                "variable where a name has a dollar sign. Nothing was made; choose another name."
            )
        if _key_file(root).exists():
            raise CourseError(f"{root}: this is a course directory already. Nothing was changed.")
        try:
            if root.exists() and any(root.iterdir()):
                raise CourseError(
                    f"{root}: the directory is not empty. Nothing was changed; "
                    "name one that is empty or does not exist yet."
                )
            root.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
            root.chmod(PRIVATE)
            for name in ("source", "release", "submitted"):
                (root / name).mkdir()
            (root / ".gitignore").write_text(GITIGNORE, encoding="utf-8")
            config = NBGRADER_CONFIG.format(package=package)
            (root / "nbgrader_config.py").write_text(config, encoding="utf-8")
            _write_secret(_key_file(root), secrets.token_bytes(KEY_BYTES))
        except OSError as error:
            raise CourseError(
                f"{root}: no course can be made here ({error.strerror}). "
                "Name a directory that you may write."
            ) from error
        return cls.open(root)

    @classmethod
    def open(cls, root: Path | str) -> Course:
        """The course at `root`. Raises CourseError if it is not one or its key cannot be read.

        In a course that is shared, what this process makes from now on is the group's too.
        """
        root = _usable(root)
        path = _key_file(root)
        try:
            key = path.read_bytes()
            keep_shared(root)
        except (FileNotFoundError, NotADirectoryError):
            raise CourseError(
                f"{root}: not a course directory (it has no {path.name}). "
                "Name one with --course, or make one with `autograder init`."
            ) from None
        except PermissionError as error:
            raise CourseError(
                f"{path}: you may not read this course. Ask its owner{_owner(root)} to type "
                f"`autograder share GROUP --course {root}`, with a group that you are both in."
            ) from error
        except OSError as error:
            raise CourseError(
                f"{path}: the key of the course cannot be read ({error.strerror}). "
                "Check the disk, or put the key back from a backup."
            ) from error
        if len(key) != KEY_BYTES:
            raise CourseError(
                f"{path}: the key of the course is damaged ({len(key)} bytes, not {KEY_BYTES}). "
                "Put it back from a backup: the hidden cases come from it."
            )
        return cls(root, key)

    @property
    def source(self) -> Path:
        """The instructor's versions of the assignments."""
        return self.root / "source"

    @property
    def release(self) -> Path:
        """What students get."""
        return self.root / "release"

    @property
    def rubrics(self) -> Path:
        """How to mark the written answers, for the marker only."""
        return self.root / "rubrics"

    @property
    def submitted(self) -> Path:
        """What students hand in: <student>/<assignment>/<assignment>.ipynb."""
        return self.root / "submitted"

    @property
    def removed(self) -> Path:
        """What was handed in, and what was found, of students who were removed."""
        return self.root / "removed"

    @property
    def autograded(self) -> Path:
        """The judged notebooks, as nbgrader's formgrader shows them."""
        return self.root / "autograded"

    @property
    def feedback(self) -> Path:
        """The feedback pages for students."""
        return self.root / "feedback"

    @property
    def journal(self) -> Path:
        """The append-only record of every verdict."""
        return self.root / "journal.jsonl"

    @property
    def grades(self) -> Path:
        """The newest row of every machine-judged exercise."""
        return self.root / "grades.json"

    @property
    def gradebook_url(self) -> str:
        """The gradebook's database: a file here, unless nbgrader_config.py sets a `db_url`.

        Raises CourseError if nbgrader_config.py cannot be read.
        """
        url = self.nbgrader_config.CourseDirectory.get("db_url")
        return url if isinstance(url, str) else database_url(self.root / "gradebook.db")

    @cached_property
    def package(self) -> CoursePackage:
        """What is taught: the course package that nbgrader_config.py names.

        Raises CourseError if that cannot be read, and CoursePackageError if there is no such one.
        """
        return CoursePackage.find(str(self.nbgrader_config.CoursePackage.get("name", PACKAGE)))

    @cached_property
    def nbgrader_config(self) -> Any:
        """The traitlets Config that nbgrader_config.py makes. Raises CourseError if it fails."""
        from traitlets.config.loader import PyFileConfigLoader

        try:  # by its whole name: in a folder to look in, traitlets would expand variables
            return PyFileConfigLoader(str(self.root / "nbgrader_config.py")).load_config()
        except Exception as error:  # the file is the instructor's own Python
            raise CourseError(
                f"{self.root / 'nbgrader_config.py'}: cannot be read "
                f"({type(error).__name__}: {error}). Mend it, or put back what `init` wrote."
            ) from error

    @property
    def faults(self) -> Path:
        """The log in which a failure of the grader leaves its reason."""
        return self.root / FAULTS

    @property
    def mode(self) -> str:
        """Who may open the course's folder, as `ls -l` has it."""
        return stat.filemode(self.root.stat().st_mode)

    @property
    def private(self) -> bool:
        """False if other users of this machine, besides a group of the owner's, may open it."""
        return not self.root.stat().st_mode & stat.S_IRWXO

    def submissions(
        self, assignments: Sequence[str] | None = None, students: Sequence[str] | None = None
    ) -> list[SubmissionFile]:
        """Every submission, or those of the named assignments and students, in sorted order.

        A folder <student>/<assignment> counts as a submission, with a notebook in it or without.
        A student's folder that cannot be listed counts as one for each of `assignments`, or for
        each that somebody else has handed in. Raises CourseError for a name that does not exist.
        """
        known = sorted(self.package)
        wanted = known if assignments is None else list(assignments)
        for name in wanted:
            if name not in known:
                raise CourseError(
                    f"{name}: no assignment has this name. There are: {', '.join(known)}."
                )
        folders = self._student_folders()
        for student in students or ():
            if student not in folders:
                raise CourseError(
                    f"{student}: no such student in {self.submitted}. "
                    f"Look for the name with `ls {self.submitted}`."
                )
        chosen = folders if students is None else set(students)
        there = {student: _listed(folder) for student, folder in folders.items()}
        anybodys = {name for names in there.values() for name in names or ()}
        unlisted = anybodys if assignments is None else set(wanted)
        found = [
            SubmissionFile(student, name, folders[student] / name / f"{name}.ipynb")
            for student in sorted(chosen)
            for name in wanted
            if name in (unlisted if (names := there[student]) is None else names)
        ]
        return sorted(found, key=lambda file: (file.student, file.assignment))

    def student_folder(self, student: str) -> Path | None:
        """The folder of a student's submissions; None if there is none."""
        return self._student_folders().get(student)

    def _student_folders(self) -> dict[str, Path]:
        """The folders of `submitted` by student."""
        try:  # of a link that leads nowhere, Path.is_dir may raise; os.path.isdir never does
            folders = [path for path in self.submitted.iterdir() if os.path.isdir(path)]
        except OSError as error:
            raise CourseError(
                f"{self.submitted}: the submissions cannot be listed ({error.strerror}). "
                "Make the folder readable, or make it if it is not there."
            ) from error
        return {_identifier(path): path for path in folders if not path.name.startswith(".")}


def _usable(root: Path | str) -> Path:
    """`root` as an absolute path. Raises CourseError where SQLite or Jupyter could not use it."""
    try:
        root = Path(root).absolute()
    except FileNotFoundError:
        raise CourseError(
            "The folder in which you type this was removed. Change to another one with `cd`."
        ) from None
    name = os.fsencode(root)
    try:
        name.decode()
    except UnicodeDecodeError:
        raise CourseError(
            f"{root}: the path of a course must be UTF-8. Choose another name."
        ) from None
    if len(name) > LONGEST_PATH:
        raise CourseError(
            f"{root}: the path of a course may have {LONGEST_PATH} bytes, since SQLite opens no "
            f"longer one, and this has {len(name)}. Choose a shorter one."
        )
    return root


def _identifier(folder: Path) -> str:
    """The name of a student's folder as the course knows the student.

    What is no text, steers a terminal, is a pattern of nbgrader's or would be HTML in its pages is
    escaped; the end of a very long name is a digest. No two folders get the same: a name that is
    kept as it is is shorter than any with a digest.
    """
    name = "".join(map(_escaped, folder.name))
    data = name.encode()
    if len(data) <= LONGEST_NAME - 4:
        return name
    digest = hashlib.sha256(os.fsencode(folder.name)).hexdigest()
    # The cut may take up to three bytes more, which are the beginning of a character.
    return f"{data[: LONGEST_NAME - 17].decode('utf-8', 'ignore')}-{digest[:16]}"


def _escaped(char: str) -> str:
    if 0xDC80 <= ord(char) <= 0xDCFF:  # a byte that is no UTF-8, as the operating system gives it
        return f"\\x{ord(char) - 0xDC00:02x}"
    return f"\\x{ord(char):02x}" if char in '<>&"*?[]\\' else printable(char)


def _listed(folder: Path) -> set[str] | None:
    """What stands in a student's folder, or None if it cannot be listed."""
    try:
        return set(os.listdir(folder))
    except OSError:
        return None


def _owner(root: Path) -> str:
    """Return the name of the course's owner in brackets, where this user may know it."""
    try:
        return f" ({user_name(root.stat().st_uid)})"
    except OSError:
        return ""


def _key_file(root: Path) -> Path:
    return root / "course.key"


def _write_secret(path: Path, secret: bytes) -> None:
    """Write a file that was never readable for anyone else."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(secret)
