"""Build a report from what the gradebook and the journal hold. Nothing here reads a file."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..course.journal import Record
from ..nbgrader.scores import Answer, Score
from .measures import discrimination, distribution
from .mistakes import histories, mistakes, stuck, to_look_at
from .model import AssignmentReport, Item, Marking, Waiting

ALPHABET = "23456789BCDFGHJKMNPQRSTVWXZ"
"""The characters of labels: none that are mistaken for each other, and no vowels for words."""

LABEL = 5
"""The length of a label, unless two students of the class would get the same."""


@dataclass(frozen=True)
class Texts:
    """What the course says about an assignment: its title, the order of its answers, and `where`.

    `where` is Markdown that says what to read, by exercise.
    """

    title: str = ""
    order: Sequence[str] = ()
    where: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Sources:
    """What a report is made of: the gradebook's scores and answers, and the journal's records.

    `ungraded` are the students and assignments whose newest version has no grade. `texts` are by
    assignment.
    """

    scores: Sequence[Score]
    answers: Sequence[Answer]
    records: Sequence[Record]
    ungraded: Sequence[tuple[str, str]] = ()
    texts: Mapping[str, Texts] = field(default_factory=dict)

    def of(self, assignment: str) -> AssignmentReport:
        """Return the report on an assignment of the gradebook, without similarity."""
        texts = self.texts.get(assignment, Texts())
        scores = [score for score in self.scores if score.assignment == assignment]
        roster = {score.student for score in scores}
        graded = [score for score in scores if score.handed_in]
        classes = [
            history for history in histories(self.records, assignment) if history.student in roster
        ]
        place = {name: number for number, name in enumerate(texts.order)}
        answers = [answer for answer in self.answers if answer.assignment == assignment]
        answers.sort(key=lambda answer: (place.get(answer.name, len(place)), answer.name))
        waiting = [score for score in graded if score.waiting]
        most = max((score.max_score for score in scores), default=0.0)
        new = sorted(student for student, name in self.ungraded if name == assignment)
        return AssignmentReport(
            name=assignment,
            title=texts.title or assignment,
            max_score=most,
            students=len(scores),
            submissions=len(graded),
            late=sum(score.late_seconds > 0 for score in graded),
            ungraded=tuple(new),
            scores=distribution([score.score / most for score in graded] if most else []),
            items=tuple(_items(answers, graded)),
            mistakes=mistakes(classes, [answer.name for answer in answers], texts.where),
            stuck=stuck(classes),
            absent=tuple(
                score.student
                for score in scores
                if not score.handed_in and score.student not in new
            ),
            waiting=tuple(
                Waiting(score.student, score.waiting, len(score.outdated))
                for score in sorted(waiting, key=lambda score: (-score.waiting, score.student))
            ),
            look=to_look_at(classes),
            marking=tuple(_marking(answer, graded) for answer in answers if answer.written),
        )


def _items(answers: Sequence[Answer], graded: Sequence[Score]) -> Iterable[Item]:
    """Yield the analysis of each answer.

    The rest that an answer is correlated with are the other exercises, since written answers may
    not be marked yet. It covers the students for whom all of that is known.
    """
    exercises = [answer.name for answer in answers if not answer.written]
    for answer in answers:
        most = answer.max_points
        points = [known for score in graded if (known := score.points.get(answer.name)) is not None]
        others = [name for name in exercises if name != answer.name]
        rows = [
            (known, rest)
            for score in graded
            if (known := score.points.get(answer.name)) is not None
            if (rest := _sum(score, others)) is not None
        ]
        yield Item(
            name=answer.name,
            written=answer.written,
            max_points=most,
            n=len(points),
            full=sum(point >= most for point in points),
            none=sum(point <= 0 for point in points),
            difficulty=sum(points) / len(points) / most if points and most else None,
            discrimination=discrimination([a for a, _ in rows], [b for _, b in rows])
            if others
            else None,
        )


def _sum(score: Score, names: Iterable[str]) -> float | None:
    """Return the points of a student for some exercises; None if one of them is not known."""
    points = [score.points.get(name) for name in names]
    return None if None in points else sum(point for point in points if point is not None)


def _marking(answer: Answer, graded: Sequence[Score]) -> Marking:
    name = answer.name
    outdated = sum(name in score.outdated for score in graded)
    waiting = outdated + sum(score.points.get(name, 0.0) is None for score in graded)
    marked = sum(name in score.by_hand for score in graded) - outdated
    return Marking(name, answer.max_points, len(graded), marked, waiting, outdated)


def labels(students: Collection[str], key: bytes) -> dict[str, str]:
    """Return a label for each student, which tells nothing without the course's `key`.

    It is the same in every report, and so is not a number in the order of names. It gets longer for
    a class in which two would be the same.
    """
    length = LABEL
    while True:
        made = {student: f"student {_code(student, key, length)}" for student in students}
        if len(set(made.values())) == len(made):
            return made
        length += 1


def _code(student: str, key: bytes, length: int) -> str:
    message = b"report label\n" + student.encode("utf-8", "surrogatepass")
    number = int.from_bytes(hmac.new(key, message, hashlib.sha256).digest(), "big")
    code = ""
    for _ in range(length):
        number, digit = divmod(number, len(ALPHABET))
        code += ALPHABET[digit]
    return code


def anonymous(sources: Sources, key: bytes) -> Sources:
    """Return `sources` with a label in place of each student's identifier, and without names.

    Everything is sorted by label, since the order of identifiers would tell who is who.
    """
    students = {score.student for score in sources.scores}
    students |= {record.student for record in sources.records}
    students |= {student for student, _ in sources.ungraded}
    label = labels(students, key)
    scores = [
        replace(
            score,
            student=label[score.student],
            last_name=None,
            first_name=None,
            email=None,
            platform_id=None,
        )
        for score in sources.scores
    ]
    records = [replace(record, student=label[record.student]) for record in sources.records]
    return replace(
        sources,
        scores=sorted(scores, key=lambda score: (score.assignment, score.student)),
        records=records,
        ungraded=sorted((label[student], name) for student, name in sources.ungraded),
    )
