"""What has changed since the last run: whose score, from what, to what, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..course.journal import Journal, Record, Standing

if TYPE_CHECKING:  # it imports nbgrader, which takes long
    from ..nbgrader.scores import Score


@dataclass(frozen=True)
class Change:
    """A score that is not what it was after the last run."""

    student: str
    assignment: str
    before: float
    after: float
    reasons: tuple[str, ...]


def note_changes(journal: Journal, scores: Sequence[Score]) -> list[Change]:
    """Return how `scores` differ from those of the last run, and put them into the journal.

    The first score of a submission is no change. A score without a record in the journal is not
    ours: nbgrader has it from elsewhere.
    """
    changes = []
    standings = {}
    for score in scores:
        record = journal.newest(score.student, score.assignment)
        if record is None or not score.handed_in:
            continue
        now = _standing(score, record)
        before = journal.standings.get((score.student, score.assignment))
        standings[score.student, score.assignment] = now
        if before is not None and before.score != now.score:
            changes.append(
                Change(
                    score.student,
                    score.assignment,
                    before.score,
                    now.score,
                    tuple(_reasons(before, now)),
                )
            )
    journal.stand(standings)
    return changes


def _standing(score: Score, record: Record) -> Standing:
    machine = float(sum(row.points for row in record.rows))
    return Standing(
        score=_rounded(score.score),
        machine=_rounded(machine),
        person=_rounded(score.raw_score - machine),
        penalty=_rounded(score.late_penalty),
        digest=record.digest,
        fingerprint=record.fingerprint,
    )


def _rounded(points: float) -> float:
    """Return `points` without what is left of adding tenths of points in floating point."""
    return round(points, 6) + 0.0  # which makes a zero of a negative zero


def _reasons(before: Standing, now: Standing) -> Iterator[str]:
    if before.digest != now.digest:
        yield "handed in again"
    elif before.machine != now.machine and before.fingerprint != now.fingerprint:
        yield "the checks, the release or an installed package changed"
    elif before.machine != now.machine:
        yield "judged again after a failure of the grader"
    if before.person != now.person:
        yield f"points by a person: {before.person:g} to {now.person:g}"
    if before.penalty != now.penalty:
        yield f"late penalty: {before.penalty:g} to {now.penalty:g}"
