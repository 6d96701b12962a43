"""Match an uploader to a student of the roster: by id, then by e-mail address, then by name."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .uploads import Person


@dataclass(frozen=True)
class Student:
    """A student of the roster in nbgrader's gradebook. `platform_id` is `lms_user_id` there."""

    id: str
    first_name: str | None = None
    last_name: str | None = None
    email: str | None = None
    platform_id: str | None = None


@dataclass(frozen=True)
class Match:
    """The id of a person's student, or None if the student is not certain, and the reason.

    `to_add` is True if adding an entry to the roster would be enough.
    """

    student: str | None
    why: str
    to_add: bool = False


def match(person: Person, roster: Sequence[Student]) -> Match:
    """Return the student that `person` is.

    The ids are compared first, then the e-mail address, then the name. The first that fits anyone
    decides: it must fit exactly one student, and an address must not contradict an id. A number
    that the platform assigned, and that happens to equal a student's id, does not count if the
    names differ.
    """
    by_id, matched_id = _by_id(person, roster)
    by_email = [student for student in roster if _same_address(person.email, student)]
    name = _key(person.name or "")
    by_name = [student for student in roster if name and name in _names(student)]
    if len(by_id) == 1 and person.internal and by_id[0].platform_id != matched_id:
        names = _names(by_id[0])
        if names and name and name not in names:
            return Match(None, f"the id {matched_id} is {by_id[0].id}'s, but the name is not")
    if by_id and by_email and by_id != by_email:
        return Match(
            None, f"its id is {_join_ids(by_id)}'s, its e-mail address {_join_ids(by_email)}'s"
        )
    for students, why in (
        (by_id, f"id {matched_id}"),
        (by_email, f"e-mail {person.email}"),
        (by_name, f"name {person.name}"),
    ):
        if len(students) == 1:
            return Match(students[0].id, why)
        if students:
            return Match(None, f"{why} fits {_join_ids(students)}", to_add=students is by_name)
    return Match(None, "matches nobody in the roster", to_add=True)


def without_roster(person: Person) -> Match:
    """Return the platform's id or name as the student's id, for a course without a roster."""
    if name := next(iter(person.ids), person.name):
        return Match(name, "no roster")
    return Match(None, "the archive does not name the student")


def _by_id(person: Person, roster: Sequence[Student]) -> tuple[list[Student], str]:
    for number in person.ids:
        students = [student for student in roster if number == student.platform_id]
        students = students or [student for student in roster if number == student.id]
        if students:
            return students, number
    return [], ""


def _same_address(address: str | None, student: Student) -> bool:
    addresses = {text.casefold() for text in (student.email, student.id) if text}
    return address is not None and address.casefold() in addresses


def _names(student: Student) -> set[str]:
    first, last = student.first_name or "", student.last_name or ""
    return {_key(f"{first} {last}"), _key(f"{last} {first}")} if first and last else set()


def _key(name: str) -> str:
    """Return the letters, marks and digits of a name in lower case; Canvas omits all others."""
    name = unicodedata.normalize("NFKC", name).casefold()
    return "".join(char for char in name if unicodedata.category(char)[0] in "LMN")


def _join_ids(students: Iterable[Student]) -> str:
    return " and ".join(sorted(student.id for student in students))
