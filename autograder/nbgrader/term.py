"""Format the term as CSV: a row for each student, a column for each assignment, and a total."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..course.plaintext import spreadsheet_text
from .database import GradebookError
from .scores import Score

FILE = "grades-term.csv"


@dataclass(frozen=True)
class Total:
    """A student's term: the sum of the scores, the sum of the maxima, and the weighted percentage.

    `waiting` counts the answers that a person must mark.
    """

    student: str
    total: float
    max_total: float
    percent: float
    waiting: int


def term_table(scores: Sequence[Score], weights: Mapping[str, float]) -> str:
    """Return the CSV of a term, with the columns of `totals` after those of the assignments.

    An assignment that was not handed in has an empty cell. Raises what `totals` raises.
    """
    maxima = {score.assignment: score.max_score for score in scores}
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC)
    names = ["student", "last_name", "first_name", "email"]
    writer.writerow([*names, *maxima, "total", "max_total", "percent", "waiting"])
    by_student = _by_student(scores)
    for total in totals(scores, weights):
        own = by_student[total.student]
        identity = [total.student, own[0].last_name, own[0].first_name, own[0].email]
        row = [
            *map(spreadsheet_text, identity),
            *(score.score if score.handed_in else "" for score in own),
            total.total,
            total.max_total,
            total.percent,
            total.waiting,
        ]
        writer.writerow(row)
    return text.getvalue()


def totals(scores: Sequence[Score], weights: Mapping[str, float]) -> list[Total]:
    """Return the term of each student, sorted by identifier.

    `weights` maps assignments to weights; if it is empty, the weight of an assignment is its
    maximum score. `percent` is the weighted mean of score / maximum score. An assignment that was
    not handed in counts as 0. Raises GradebookError for an unknown assignment or an invalid weight.
    """
    maxima = {score.assignment: score.max_score for score in scores}
    percentages = shares(scores, weights)
    return [
        Total(
            student=student,
            total=sum(score.score for score in own),
            max_total=sum(maxima.values()),
            percent=round(100 * percentages[student], 2),
            waiting=sum(score.waiting for score in own),
        )
        for student, own in sorted(_by_student(scores).items())
    ]


def shares(scores: Sequence[Score], weights: Mapping[str, float]) -> dict[str, float]:
    """Return each student's weighted mean of score / maximum score, as in `totals`."""
    maxima = {score.assignment: score.max_score for score in scores}
    _check(weights, maxima)
    return {student: _share(own, weights or maxima) for student, own in _by_student(scores).items()}


def _by_student(scores: Sequence[Score]) -> dict[str, list[Score]]:
    by_student: dict[str, list[Score]] = {}
    for score in scores:
        by_student.setdefault(score.student, []).append(score)
    return by_student


def _share(scores: Sequence[Score], weights: Mapping[str, float]) -> float:
    """Return the weighted mean of a student's score / maximum score."""
    counted = [score for score in scores if score.max_score and weights.get(score.assignment)]
    total_weight = sum(weights[score.assignment] for score in counted)
    parts = (weights[score.assignment] * score.score / score.max_score for score in counted)
    return sum(parts) / total_weight if total_weight else 0.0


def _check(weights: Mapping[str, float], assignments: Mapping[str, float]) -> None:
    for name, weight in weights.items():
        if name not in assignments:
            raise GradebookError(
                f"c.GradesCsv.weights in nbgrader_config.py: the gradebook has no assignment "
                f"{name}. It has: {', '.join(assignments)}."
            )
        if not isinstance(weight, int | float) or not 0 <= weight < math.inf:
            raise GradebookError(
                f"c.GradesCsv.weights in nbgrader_config.py: the weight of {name} is {weight!r}. "
                "Give a finite number that is not negative."
            )
