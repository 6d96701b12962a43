"""What lies among the submissions, looks like somebody's work, and counts as none."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from unicodedata import normalize

from .course import Course
from .plaintext import first_few, printable

HIDDEN = "a folder that begins with a dot is no student's. Rename it"
LOOSE = "it stands in no student's folder. It belongs at <student>/<assignment>/<assignment>.ipynb"
BESIDE = "it stands in no assignment's folder. It belongs at <assignment>/<assignment>.ipynb"
UNKNOWN = "no assignment has the name of this folder. Rename it"
BROKEN = "it is a symbolic link to no folder that can be opened. Put the student's folder there"


def overlooked(course: Course) -> list[str]:
    """A sentence for each reason why something in `submitted` is not graded, with the places."""
    places: dict[str, list[str]] = {}
    for reason, path in _found(course):
        places.setdefault(reason, []).append(printable(str(path.relative_to(course.submitted))))
    return [
        f"{course.submitted}: not graded: {first_few(sorted(names))}: {reason}."
        for reason, names in places.items()
    ]


def lookalikes(course: Course) -> list[str]:
    """A sentence on each name that several folders of students have, written differently.

    Unicode has several ways to write a letter with an accent, and blanks at an end are not seen.
    """
    folders: dict[str, list[str]] = {}
    for path in course.submitted.iterdir():
        if os.path.isdir(path) and not path.name.startswith("."):
            folders.setdefault(" ".join(normalize("NFKC", path.name).split()), []).append(path.name)
    return [
        f"{course.submitted}: {len(names)} folders look alike and count as different students: "
        f"{', '.join(map(ascii, sorted(names)))}. Move what is one student's into one folder."
        for names in folders.values()
        if len(names) > 1
    ]


def _found(course: Course) -> Iterator[tuple[str, Path]]:
    for path in course.submitted.iterdir():
        if not os.path.isdir(path):  # unlike Path.is_dir, it never raises
            if path.suffix in (".ipynb", ".zip") and not path.name.startswith("."):
                yield LOOSE, path
            elif path.is_symlink() and not os.path.isfile(path):
                yield BROKEN, path
        elif path.name.startswith("."):
            if not set(course.package).isdisjoint(_listed(path)):
                yield HIDDEN, path
        else:
            yield from _in_folder(course, path)


def _in_folder(course: Course, folder: Path) -> Iterator[tuple[str, Path]]:
    """What is overlooked in a student's folder. An assignment of the instructor's own is not."""
    for name in _listed(folder):
        path = folder / name
        known = name in course.package or os.path.exists(course.source / name)
        if known or name.startswith("."):
            continue
        if path.suffix == ".ipynb" and not os.path.isdir(path):
            yield BESIDE, path
        elif any(one.endswith(".ipynb") for one in _listed(path)):
            yield UNKNOWN, path


def _listed(folder: Path) -> list[str]:
    """What stands in a folder; nothing if it cannot be listed or is none."""
    try:
        return os.listdir(folder)
    except OSError:
        return []
