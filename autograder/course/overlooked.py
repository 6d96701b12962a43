"""Find files among the submissions that look like student work but are not graded."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from unicodedata import normalize

from .course import Course
from .plaintext import first_few, printable

HIDDEN = "folders that begin with a dot are ignored. Rename it"
LOOSE = "it is not in a student's folder. Move it to <student>/<assignment>/<assignment>.ipynb"
BESIDE = "it is not in an assignment's folder. Move it to <assignment>/<assignment>.ipynb"
UNKNOWN = "no assignment has the name of this folder. Rename it"
BROKEN = "it is a symbolic link whose target cannot be opened. Put the student's folder there"


def overlooked(course: Course) -> list[str]:
    """Return a sentence for each reason why files in `submitted` are not graded, with paths."""
    places: dict[str, list[str]] = {}
    for reason, path in _find(course):
        places.setdefault(reason, []).append(printable(str(path.relative_to(course.submitted))))
    return [
        f"{course.submitted}: not graded: {first_few(sorted(names))}: {reason}."
        for reason, names in places.items()
    ]


def lookalikes(course: Course) -> list[str]:
    """Return a sentence for each group of student folders whose names look the same.

    Unicode has several encodings of an accented letter, and trailing blanks are invisible.
    """
    folders: dict[str, list[str]] = {}
    for path in course.submitted.iterdir():
        if os.path.isdir(path) and not path.name.startswith("."):
            folders.setdefault(" ".join(normalize("NFKC", path.name).split()), []).append(path.name)
    return [
        f"{course.submitted}: {len(names)} folders look alike and count as different students: "
        f"{', '.join(map(ascii, sorted(names)))}. Move the work of one student into one folder."
        for names in folders.values()
        if len(names) > 1
    ]


def _find(course: Course) -> Iterator[tuple[str, Path]]:
    for path in course.submitted.iterdir():
        if not os.path.isdir(path):  # unlike Path.is_dir, it never raises
            if path.suffix in (".ipynb", ".zip") and not path.name.startswith("."):
                yield LOOSE, path
            elif path.is_symlink() and not os.path.isfile(path):
                yield BROKEN, path
        elif path.name.startswith("."):
            if not set(course.package).isdisjoint(_list(path)):
                yield HIDDEN, path
        else:
            yield from _in_folder(course, path)


def _in_folder(course: Course, folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield what is overlooked in a student's folder, except the instructor's own assignments."""
    for name in _list(folder):
        path = folder / name
        known = name in course.package or os.path.exists(course.source / name)
        if known or name.startswith("."):
            continue
        if path.suffix == ".ipynb" and not os.path.isdir(path):
            yield BESIDE, path
        elif any(file.endswith(".ipynb") for file in _list(path)):
            yield UNKNOWN, path


def _list(folder: Path) -> list[str]:
    """Return the names in a folder; none if it cannot be listed or is not a folder."""
    try:
        return os.listdir(folder)
    except OSError:
        return []
