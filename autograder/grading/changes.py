"""Compare scores with those of the last run, and give the reasons for every change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..course.journal import Journal, Record, Standing

if TYPE_CHECKING:  # it imports nbgrader, which is slow
    from ..nbgrader.scores import Score


@dataclass(frozen=True)
class Change:
    """A score that differs from the score after the last run."""

    student: str
    assignment: str
    before: float
    after: float
    reasons: tuple[str, ...]


def note_changes(journal: Journal, scores: Sequence[Score]) -> list[Change]:
    """Return how `scores` differ from those of the last run, and store them in the journal.

    The first score of a submission does not count as a change. Scores without a record in the
    journal are ignored: they did not come from this grader.
    """
    changes = []
    standings = {}
    for score in scores:
        record = journal.newest(score.student, score.assignment)
        if record is None or not score.handed_in:
            continue
        after = _standing(score, record)
        before = journal.standings.get((score.student, score.assignment))
        standings[score.student, score.assignment] = after
        if before is not None and before.score != after.score:
            changes.append(
                Change(
                    score.student,
                    score.assignment,
                    before.score,
                    after.score,
                    tuple(_reasons(before, after)),
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
    """Return `points` without the rounding error of adding tenths of points."""
    return round(points, 6) + 0.0  # turns -0.0 into 0.0


def _reasons(before: Standing, after: Standing) -> Iterator[str]:
    if before.digest != after.digest:
        yield "handed in again"
    elif before.machine != after.machine and before.fingerprint != after.fingerprint:
        yield "the checks, the release or an installed package changed"
    elif before.machine != after.machine:
        yield "judged again after a failure of the grader"
    if before.person != after.person:
        yield f"points by a person: {before.person:g} to {after.person:g}"
    if before.penalty != after.penalty:
        yield f"late penalty: {before.penalty:g} to {after.penalty:g}"
