"""Format the term as CSV: a row for each student, a column for each assignment, and a total."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence

from ..course.plaintext import spreadsheet_text
from .database import GradebookError
from .scores import Score

FILE = "grades-term.csv"


def term_table(scores: Sequence[Score], weights: Mapping[str, float]) -> str:
    """Return the CSV of a term.

    `weights` maps assignments to weights; if it is empty, the weight of an assignment is its
    maximum score. The column `percent` is the weighted mean of score / maximum score. An assignment
    that was not handed in has an empty cell and counts as 0. Raises GradebookError for an unknown
    assignment or an invalid weight.
    """
    maxima = {score.assignment: score.max_score for score in scores}
    _check(weights, maxima)
    used_weights = weights or maxima
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC)
    names = ["student", "last_name", "first_name", "email"]
    writer.writerow([*names, *maxima, "total", "max_total", "percent", "waiting"])
    by_student: dict[str, list[Score]] = {}
    for score in scores:
        by_student.setdefault(score.student, []).append(score)
    for student, student_scores in sorted(by_student.items()):
        cells = [score.score if score.handed_in else "" for score in student_scores]
        total = sum(score.score for score in student_scores)
        waiting = sum(score.waiting for score in student_scores)
        percent = round(100 * _share(student_scores, used_weights), 2)
        first = student_scores[0]
        identity = [student, first.last_name, first.first_name, first.email]
        row = [
            *map(spreadsheet_text, identity),
            *cells,
            total,
            sum(maxima.values()),
            percent,
            waiting,
        ]
        writer.writerow(row)
    return text.getvalue()


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
