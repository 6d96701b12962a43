"""Compare every number that people see with the plain computation."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from autograder.course.course import Course


@dataclass(frozen=True)
class Wanted:
    """The numbers that a student must have for an assignment."""

    points: Mapping[str, float]
    penalty: float
    handed_in: bool
    max_score: float

    @property
    def score(self) -> float:
        return max(0.0, sum(self.points.values()) - self.penalty)


Key = tuple[str, str]


def differences(course: Path, wanted: Mapping[Key, Wanted], pages: bool) -> tuple[int, list[str]]:
    """Return how many numbers were compared, and a line for each that differs from `wanted`.

    With `pages`, the feedback pages are compared too; they must exist.
    """
    compared, wrong = 0, []
    for place, key, what, here, there in _numbers(course, wanted, pages):
        compared += 1
        if here != there:
            wrong.append(f"{place}: {key[0]}, {key[1]}: {what} is {here}, and should be {there}")
    return compared, wrong


def _numbers(
    course: Path, wanted: Mapping[Key, Wanted], pages: bool
) -> Iterator[tuple[str, Key, str, object, object]]:
    with (course / "grades.csv").open(newline="", encoding="utf-8") as stream:
        table = {(row["assignment"], row["student"]): row for row in csv.DictReader(stream)}
    yield "grades.csv", ("", ""), "the rows", sorted(table), sorted(wanted)
    listed = _listed(course, {assignment for assignment, _ in wanted})
    for key, right in wanted.items():
        row = table.get(key, {})
        yield (
            "grades.csv",
            key,
            "handed_in",
            row.get("handed_in"),
            "yes" if right.handed_in else "no",
        )
        yield "grades.csv", key, "score", _number(row.get("score")), right.score
        yield "grades.csv", key, "max_score", _number(row.get("max_score")), right.max_score
        penalty = _number(row.get("late_submission_penalty"))
        yield "grades.csv", key, "the late penalty", penalty, right.penalty
        if right.handed_in:
            for name, points in right.points.items():
                yield "grades.csv", key, name, _number(row.get(name)) or 0.0, points
            yield "the formgrader", key, "score", listed.get(key), right.score
        if right.handed_in and pages:
            yield "feedback", key, "score", _on_page(course, key), (right.score, right.max_score)


def _listed(course: Path, assignments: set[str]) -> dict[Key, float]:
    """Return the scores that the formgrader lists, by assignment and student."""
    config = Config()
    config.CourseDirectory.root = str(course)
    config.CourseDirectory.db_url = Course.open(course).gradebook_url
    lists = NbGraderAPI(CourseDirectory(config=config), config=config)
    return {
        (name, row["student"]): row["score"]
        for name in sorted(assignments)
        for row in lists.get_submissions(name)
    }


def _on_page(course: Path, key: Key) -> tuple[float, float] | None:
    page = course / "feedback" / key[1] / key[0] / f"{key[0]}.html"
    shown = re.search(r'class="score">([\d.]+) of ([\d.]+) points', page.read_text("utf-8"))
    return (float(shown[1]), float(shown[2])) if shown else None


def _number(text: str | None) -> float | None:
    return float(text) if text else None
