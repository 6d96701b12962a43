"""Store where each collected submission came from, in `platforms.json` in the course.

For each assignment and student, it has the platform, the platform's id of the student, and the
place that the platform's upload of feedback needs. `as_is` marks a student who was collected while
the course had no roster.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from ..course.course import Course
from ..course.files import replace_text

FILE = "platforms.json"


class RememberedError(Exception):
    """Raised if the file cannot be used; the message says why, where and what to do."""


@dataclass(frozen=True)
class Place:
    """The origin of a submission, which is also the destination of its feedback."""

    platform: str
    place: str
    id: str | None
    as_is: bool


Places = Mapping[str, Mapping[str, Place]]
"""Places by assignment, then by student."""


def read_places(course: Course) -> Places:
    """Return all places; empty if nothing was collected. Raises RememberedError."""
    path = path_of(course)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return {
            assignment: {student: Place(**place) for student, place in students.items()}
            for assignment, students in content.items()
        }
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, AttributeError) as error:
        raise RememberedError(
            f"{path}: the origins of submissions cannot be read ({error}). Restore the file from a "
            "backup, or move it away and collect the archives again."
        ) from error


def write_places(course: Course, places: Places) -> None:
    """Write all places to the course."""
    content = {
        assignment: {student: asdict(place) for student, place in sorted(students.items())}
        for assignment, students in sorted(places.items())
    }
    replace_text(path_of(course), json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def forget(course: Course, student: str) -> bool:
    """Remove a student from the file; return whether they were in it. Raises RememberedError."""
    places = read_places(course)
    if all(student not in students for students in places.values()):
        return False
    remaining = {
        assignment: {name: place for name, place in students.items() if name != student}
        for assignment, students in places.items()
    }
    write_places(course, remaining)
    return True


def students_without_roster(places: Places) -> set[str]:
    """Return the students who were collected while the course had no roster."""
    return {student for student, place in _all(places) if place.as_is}


def path_of(course: Course) -> Path:
    """Return the path of a course's file."""
    return course.root / FILE


def _all(places: Places) -> Iterator[tuple[str, Place]]:
    for students in places.values():
        yield from students.items()
