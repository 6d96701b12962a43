"""Store the results of a submission in its autograded notebook, from which feedback pages are made.

They are in the notebook's metadata, which come from the release and this module, never from the
submission.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from ..course.journal import Record
from ..judging.verdict import Example, Verdict
from ..submission.task import Task

KEY = "autograder"
"""The name of the results among a notebook's metadata."""

VERSION = 8
"""The number of characters of a submission's hash that tell two versions of it apart."""


@dataclass(frozen=True)
class Result:
    """The result of an exercise, and what its section of the feedback page says beside it.

    `where` is Markdown that says where the book explains the exercise. `other` is another right
    answer, if the student's is right.
    """

    verdict: str
    message: str
    misconception: str | None = None
    question: str | None = None
    example: Example | None = None
    where: str = ""
    other: str = ""


@dataclass(frozen=True)
class Results:
    """The results of a submission by exercise, with the title of the assignment.

    `version` is the beginning of the hash of the submitted file. `trusted` is True if it was graded
    without isolation.
    """

    title: str = ""
    version: str = ""
    trusted: bool = False
    exercises: Mapping[str, Result] = field(default_factory=dict)


def as_metadata(record: Record, task: Task, answers: Mapping[str, str]) -> dict[str, Any]:
    """Return the results of `record` as plain data. `answers` are the texts of the answers."""
    exercises = {}
    for row in record.rows:
        guide = task.guides.get(row.exercise)
        others = guide.others if guide and row.verdict == Verdict.PASS else ()
        exercises[row.exercise] = Result(
            verdict=row.verdict,
            message=row.message.encode("utf-8", "replace").decode(),
            misconception=row.misconception,
            question=record.hints.get(row.exercise),
            example=record.examples.get(row.exercise),
            where=guide.where if guide else "",
            other=different(others, answers.get(row.exercise, "")),
        )
    return asdict(Results(task.title, record.digest[:VERSION], record.trusted, exercises))


def results_in(metadata: Mapping[str, Any]) -> Results:
    """Return the results in a notebook's metadata; without exercises if they are not readable.

    An earlier version of the grader wrote none.
    """
    try:
        data = dict(metadata[KEY])
        exercises = {name: _result(dict(part)) for name, part in data.pop("exercises").items()}
        return Results(**data, exercises=exercises)
    except (KeyError, TypeError, ValueError, AttributeError):
        return Results()


def _result(data: dict[str, Any]) -> Result:
    example = data.pop("example")
    Verdict(data["verdict"])  # raises ValueError for a verdict that this version does not know
    return Result(**data, example=None if example is None else Example(**example))


def different(others: tuple[str, ...], answer: str) -> str:
    """Return the first of `others` with a body that `answer` does not have; "" if none."""
    own = "".join(answer.split())
    for other in others:
        body = "".join(other.partition(":\n")[2].split())
        if body and body not in own:
            return other
    return ""
