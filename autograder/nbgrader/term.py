"""The whole term as CSV: one row for each student, one column for each assignment, and a total."""

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

    `weights` holds what each assignment weighs; where it is empty, an assignment weighs its
    points. `percent` is the weighted mean of the shares of the points. What was not handed in has
    an empty cell and counts 0. Raises GradebookError for a weight that does not fit.
    """
    maxima = {score.assignment: score.max_score for score in scores}
    _check(weights, maxima)
    weigh = weights or maxima
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC)
    names = ["student", "last_name", "first_name", "email"]
    writer.writerow([*names, *maxima, "total", "max_total", "percent", "waiting"])
    by_student: dict[str, list[Score]] = {}
    for score in scores:
        by_student.setdefault(score.student, []).append(score)
    for student, mine in sorted(by_student.items()):
        who = mine[0]
        cells = [score.score if score.handed_in else "" for score in mine]
        total = sum(score.score for score in mine)
        waiting = sum(score.waiting for score in mine)
        percent = round(100 * _share(mine, weigh), 2)
        people = [student, who.last_name, who.first_name, who.email]
        row = [
            *map(spreadsheet_text, people),
            *cells,
            total,
            sum(maxima.values()),
            percent,
            waiting,
        ]
        writer.writerow(row)
    return text.getvalue()


def _share(scores: Sequence[Score], weights: Mapping[str, float]) -> float:
    """Return the weighted mean of the shares of the points that a student has."""
    counted = [score for score in scores if score.max_score and weights.get(score.assignment)]
    whole = sum(weights[score.assignment] for score in counted)
    parts = (weights[score.assignment] * score.score / score.max_score for score in counted)
    return sum(parts) / whole if whole else 0.0


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
