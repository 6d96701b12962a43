"""The course directory: nbgrader's layout plus a secret key, a journal and the grades."""

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
from .address import EXAMPLE, book_address
from .files import database_url
from .permissions import PRIVATE, keep_shared, user_name
from .plaintext import printable

KEY_BYTES = 32
FAULTS = "grader-faults.log"
LONGEST_PATH = 480  # bytes, of a course; SQLite allows 512 for a database and its journal
LONGEST_NAME = 120  # bytes, of a student; a file system allows 255 and the gradebook 128

NBGRADER_CONFIG = """\
# The configuration of nbgrader for this course. Settings of your own go below the last line.
from pathlib import Path

from autograder.plugin import configure

c = get_config()
c.CoursePackage.name = {package!r}  # the Python package that declares its exercises
{book}  # where students read the book
c.CourseDirectory.root = str(Path(__file__).absolute().parent)
configure(c)
"""

GITIGNORE = """\
# Git tracks only what is listed here: not the key, submissions, grades, feedback or rubrics.
# If you write a database password into nbgrader_config.py, remove that file from this list.
/*
!/.gitignore
!/nbgrader_config.py
!/source/
!/release/
"""


class CourseError(Exception):
    """Raised if a course directory cannot be used; the message says why and what to do."""


@dataclass(frozen=True)
class SubmissionFile:
    """The path at which a student's notebook for an assignment is, or should be."""

    student: str
    assignment: str
    path: Path


@dataclass(frozen=True)
class Course:
    """A course directory; `key` is the secret from which the hidden cases are drawn."""

    root: Path
    key: bytes = field(repr=False)

    @classmethod
    def create(cls, root: Path | str, package: str = PACKAGE, book: str | None = None) -> Course:
        """Create a course directory at `root`, which must be empty or not exist yet.

        It becomes a course of `package`, whose pages students read at the address `book`. No other
        user may open it, since submissions and grades are private. Raises CourseError,
        CoursePackageError if there is no such course package, or AddressError.
        """
        address = book_address(book)
        CoursePackage.find(package)
        root = _usable(root)
        if os.path.expandvars(root) != str(root):
            raise CourseError(
                f"{root}: Jupyter, which opens the formgrader in a course, would expand the dollar "
                "sign in this path as a variable. Nothing was created; choose another name."
            )
        if _key_file(root).exists():
            raise CourseError(f"{root}: this is a course directory already. Nothing was changed.")
        try:
            if root.exists() and any(root.iterdir()):
                raise CourseError(
                    f"{root}: the directory is not empty. Nothing was changed; "
                    "choose one that is empty or does not exist yet."
                )
            root.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
            root.chmod(PRIVATE)
            for name in ("source", "release", "submitted"):
                (root / name).mkdir()
            (root / ".gitignore").write_text(GITIGNORE, encoding="utf-8")
            line = f"{'' if address else '# '}c.CoursePackage.book = {address or EXAMPLE!r}"
            config = NBGRADER_CONFIG.format(package=package, book=line)
            (root / "nbgrader_config.py").write_text(config, encoding="utf-8")
            _write_secret(_key_file(root), secrets.token_bytes(KEY_BYTES))
        except OSError as error:
            raise CourseError(
                f"{root}: cannot create a course here ({error.strerror}). "
                "Choose a directory that you can write to."
            ) from error
        return cls.open(root)

    @classmethod
    def open(cls, root: Path | str) -> Course:
        """Return the course at `root`. Raises CourseError if it or its key cannot be read.

        If the course is shared, the group can use all files that this process creates from now on.
        """
        root = _usable(root)
        path = _key_file(root)
        try:
            key = path.read_bytes()
            keep_shared(root)
        except (FileNotFoundError, NotADirectoryError):
            raise CourseError(
                f"{root}: not a course directory (it has no {path.name}). "
                "Name one with --course, or create one with `autograder init`."
            ) from None
        except PermissionError as error:
            raise CourseError(
                f"{path}: you may not read this course. Ask its owner{_owner(root)} to type "
                f"`autograder share GROUP --course {root}`, with a group that you both belong to."
            ) from error
        except OSError as error:
            raise CourseError(
                f"{path}: the key of the course cannot be read ({error.strerror}). "
                "Check the disk, or restore the key from a backup."
            ) from error
        if len(key) != KEY_BYTES:
            raise CourseError(
                f"{path}: the key of the course is damaged ({len(key)} bytes, not {KEY_BYTES}). "
                "Restore it from a backup: the hidden cases depend on it."
            )
        return cls(root, key)

    @property
    def source(self) -> Path:
        """The instructor's versions of the assignments."""
        return self.root / "source"

    @property
    def release(self) -> Path:
        """The students' versions of the assignments."""
        return self.root / "release"

    @property
    def rubrics(self) -> Path:
        """The rubrics for the written answers, for markers only."""
        return self.root / "rubrics"

    @property
    def submitted(self) -> Path:
        """The submissions: <student>/<assignment>/<assignment>.ipynb."""
        return self.root / "submitted"

    @property
    def removed(self) -> Path:
        """The submissions and results of students who were removed."""
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
    def reports(self) -> Path:
        """The reports on the class, for instructors."""
        return self.root / "reports"

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
        """The address of the gradebook's database; a file here unless the config sets a `db_url`.

        Raises CourseError if nbgrader_config.py cannot be read.
        """
        url = self.nbgrader_config.CourseDirectory.get("db_url")
        return url if isinstance(url, str) else database_url(self.root / "gradebook.db")

    @cached_property
    def package(self) -> CoursePackage:
        """The course package that nbgrader_config.py names.

        Raises CourseError if that file cannot be read, and CoursePackageError if there is no such
        package.
        """
        return CoursePackage.find(str(self.nbgrader_config.CoursePackage.get("name", PACKAGE)))

    @property
    def book(self) -> str | None:
        """The address of the book's pages, which feedback links to, if nbgrader_config.py has one.

        Raises CourseError if that file cannot be read, and AddressError.
        """
        return book_address(self.nbgrader_config.CoursePackage.get("book"))

    @cached_property
    def nbgrader_config(self) -> Any:
        """The traitlets Config that nbgrader_config.py creates. Raises CourseError if it fails."""
        from traitlets.config.loader import PyFileConfigLoader

        try:  # with the full path, since traitlets would expand variables in a search folder
            return PyFileConfigLoader(str(self.root / "nbgrader_config.py")).load_config()
        except Exception as error:  # the file is the instructor's own Python
            raise CourseError(
                f"{self.root / 'nbgrader_config.py'}: cannot be read "
                f"({type(error).__name__}: {error}). Fix it, or restore the file that `autograder "
                "init` wrote."
            ) from error

    @property
    def faults(self) -> Path:
        """The log of the grader's own failures."""
        return self.root / FAULTS

    @property
    def mode(self) -> str:
        """The permissions of the course's folder, as `ls -l` shows them."""
        return stat.filemode(self.root.stat().st_mode)

    @property
    def private(self) -> bool:
        """Return True if only the owner and the group may open the course."""
        return not self.root.stat().st_mode & stat.S_IRWXO

    def submissions(
        self, assignments: Sequence[str] | None = None, students: Sequence[str] | None = None
    ) -> list[SubmissionFile]:
        """Return all submissions, or those of the named assignments and students, sorted.

        A folder <student>/<assignment> counts as a submission even without a notebook in it. A
        student's folder that cannot be listed counts as a submission to each of `assignments`, or
        to each assignment that another student handed in. Raises CourseError for an unknown name.
        """
        known = sorted(self.package)
        selected = known if assignments is None else list(assignments)
        for name in selected:
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
        contents = {student: _list(folder) for student, folder in folders.items()}
        handed_in = {name for names in contents.values() for name in names or ()}
        unlisted = handed_in if assignments is None else set(selected)
        files = [
            SubmissionFile(student, name, folders[student] / name / f"{name}.ipynb")
            for student in sorted(chosen)
            for name in selected
            if name in (unlisted if (names := contents[student]) is None else names)
        ]
        return sorted(files, key=lambda file: (file.student, file.assignment))

    def student_folder(self, student: str) -> Path | None:
        """Return the folder of a student's submissions; None if there is none."""
        return self._student_folders().get(student)

    def _student_folders(self) -> dict[str, Path]:
        """Return the folders in `submitted`, by student."""
        try:  # for a broken link Path.is_dir may raise; os.path.isdir never does
            folders = [path for path in self.submitted.iterdir() if os.path.isdir(path)]
        except OSError as error:
            raise CourseError(
                f"{self.submitted}: the submissions cannot be listed ({error.strerror}). "
                "Make the folder readable, or create it if it does not exist."
            ) from error
        return {_identifier(path): path for path in folders if not path.name.startswith(".")}


def _usable(root: Path | str) -> Path:
    """Return `root` as an absolute path. Raises CourseError if SQLite or Jupyter cannot use it."""
    try:
        root = Path(root).absolute()
    except FileNotFoundError:
        raise CourseError(
            "The current folder has been removed. Change to another folder with `cd`."
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
            f"{root}: the path of a course may have at most {LONGEST_PATH} bytes, since SQLite "
            f"cannot open longer paths, but this one has {len(name)}. Choose a shorter one."
        )
    return root


def _identifier(folder: Path) -> str:
    """Return the identifier of the student whose folder this is, made from the folder's name.

    Characters are escaped if they are not text, control a terminal, are patterns for nbgrader or
    would be HTML in its pages. The end of a very long name is replaced by a digest. No two folders
    get the same identifier, since a name without a digest is shorter than any name with one.
    """
    name = "".join(map(_escaped, folder.name))
    data = name.encode()
    if len(data) <= LONGEST_NAME - 4:
        return name
    digest = hashlib.sha256(os.fsencode(folder.name)).hexdigest()
    # The cut may also remove up to three bytes of an incomplete character.
    return f"{data[: LONGEST_NAME - 17].decode('utf-8', 'ignore')}-{digest[:16]}"


def _escaped(char: str) -> str:
    if 0xDC80 <= ord(char) <= 0xDCFF:  # a byte that is not UTF-8, as os.fsdecode represents it
        return f"\\x{ord(char) - 0xDC00:02x}"
    return f"\\x{ord(char):02x}" if char in '<>&"*?[]\\' else printable(char)


def _list(folder: Path) -> set[str] | None:
    """Return the names in a student's folder, or None if it cannot be listed."""
    try:
        return set(os.listdir(folder))
    except OSError:
        return None


def _owner(root: Path) -> str:
    """Return the name of the course's owner in brackets, or nothing if it is not accessible."""
    try:
        return f" ({user_name(root.stat().st_uid)})"
    except OSError:
        return ""


def _key_file(root: Path) -> Path:
    return root / "course.key"


def _write_secret(path: Path, secret: bytes) -> None:
    """Write a file that no other user could read at any moment."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(secret)
