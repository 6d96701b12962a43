"""Find in the journal which mistakes a class makes, who is stuck, and what to look at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..course.journal import Record, Row
from ..grading.grades_table import LOOK, UNTOUCHED
from ..judging.verdict import IN_WORDS, Verdict
from .model import Look, Mistake, Stuck

SAME = 2
"""A student with a named mistake in so many submissions is stuck."""

SAME_KIND = 3
"""As SAME, for a mistake without a name: the same words may stand for different mistakes."""

WORDS: Mapping[str, str] = {str(verdict): words for verdict, words in IN_WORDS.items()}

NO_MISTAKE = {Verdict.PASS, Verdict.MISSING, Verdict.GRADER_FAULT}

Key = tuple[str, str, bool]
"""An exercise, the mistake, and whether that is a misconception with a name."""


@dataclass(frozen=True)
class History:
    """The graded versions of a student's submission, the newest last, each version once."""

    student: str
    versions: tuple[Record, ...]

    @property
    def newest(self) -> Record:
        """Return the record of the newest version."""
        return self.versions[-1]


def histories(records: Iterable[Record], assignment: str) -> list[History]:
    """Return the history of each student from the journal's records, which are in their order.

    A version that was judged again, after a change of the checks, counts with its last verdicts.
    """
    versions: dict[str, dict[str, Record]] = defaultdict(dict)
    for record in records:
        if record.assignment == assignment:
            versions[record.student].pop(record.digest, None)
            versions[record.student][record.digest] = record
    return [History(student, tuple(each.values())) for student, each in sorted(versions.items())]


def mistakes(
    classes: Sequence[History], order: Sequence[str], where: Mapping[str, str]
) -> tuple[Mistake, ...]:
    """Return the mistakes by exercise in the given `order`; within an exercise, the frequent first.

    Mistakes without a name come after those with one. A missing answer is not a mistake.
    """
    now: dict[Key, list[str]] = defaultdict(list)
    before: dict[Key, set[str]] = defaultdict(set)
    questions: dict[Key, str] = {}
    for history in classes:
        for record in history.versions:
            for key, row in _mistakes(record):
                before[key].add(history.student)
                questions[key] = record.hints.get(row.exercise, "")
        for key, _ in _mistakes(history.newest):
            now[key].append(history.student)
    place = {name: number for number, name in enumerate(order)}

    def rank(key: Key) -> tuple[int, bool, int, str]:
        exercise, name, named = key
        return place.get(exercise, len(place)), not named, -len(now[key]), name

    return tuple(
        Mistake(
            exercise=key[0],
            name=key[1],
            named=key[2],
            count=len(now[key]),
            of=len(classes),
            overcome=len(before[key] - set(now[key])),
            question=questions[key] if key[2] else "",
            where=where.get(key[0], ""),
            students=tuple(now[key]),
        )
        for key in sorted(now.keys() | before.keys(), key=rank)
        if now[key] or key[2]
    )


def stuck(classes: Sequence[History]) -> tuple[Stuck, ...]:
    """Return who has the same mistake in the newest version and in earlier ones, longest first."""
    rows = []
    for history in classes:
        keys = [{key for key, _ in _mistakes(record)} for record in history.versions]
        for key in keys[-1]:
            exercise, name, named = key
            count = sum(key in version for version in keys)
            if count >= (SAME if named else SAME_KIND):
                rows.append(Stuck(history.student, exercise, name, count))
    return tuple(sorted(rows, key=lambda row: (-row.submissions, row.student, row.exercise)))


def to_look_at(classes: Sequence[History]) -> tuple[Look, ...]:
    """Return the submissions that a person should look at, as `autograder grade` does."""
    found = []
    for history in classes:
        rows = history.newest.rows
        for verdict, words in LOOK.items():
            names = tuple(row.exercise for row in rows if row.verdict == verdict)
            if names:
                found.append(Look(history.student, words, names))
        if rows and all(row.verdict == Verdict.MISSING for row in rows):
            found.append(Look(history.student, UNTOUCHED, ()))
    return tuple(found)


def _mistakes(record: Record) -> Iterator[tuple[Key, Row]]:
    """Yield the mistake of each wrong answer; a verdict of another version has its own word."""
    for row in record.rows:
        if row.verdict not in NO_MISTAKE:
            words = row.misconception or WORDS.get(row.verdict, row.verdict)
            yield (row.exercise, words, row.misconception is not None), row
