"""Format the report that `autograder grade` prints: an overview of assignments, or each student.

The tables have no frames, so that they look the same in a log and on a terminal of any width.
Lines break at spaces; only a word longer than a line is broken within.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.text import Text

from ..course.course import FAULTS
from ..course.journal import Row
from ..course.lines import Line as _Line
from ..course.lines import Paragraph as _Paragraph
from ..course.plaintext import first_few, printable
from ..judging.verdict import IN_WORDS, Verdict
from .grade import Report

if TYPE_CHECKING:  # it imports nbgrader, which is slow
    from ..nbgrader.scores import Score

COMMONEST = 3
"""The number of mistakes shown for an assignment."""

LONGEST_COLUMN = 32
"""The largest width of a column of names, in characters; a longer name gets a separate line."""

CAPTION = (
    "The mean counts the grader's points only, not the points that you give. "
    "Answers to mark are waiting in the formgrader. "
    "To list the students, name an assignment, or a student with --student."
)

_TO_LOOK_AT = (
    Verdict.MALFORMED,
    Verdict.KILLED,
    Verdict.TIMEOUT,
    Verdict.MEMORY,
    Verdict.OUTPUT,
    Verdict.FORBIDDEN,
)
LOOK: dict[str, str] = {
    Verdict.GRADER_FAULT: f"the grader failed, see {FAULTS}",
    **{verdict: IN_WORDS[verdict] for verdict in _TO_LOOK_AT},
}
"""The verdicts after which a person should look at the submission, in words."""

MISTAKES: dict[str, str] = {
    verdict: words for verdict, words in IN_WORDS.items() if verdict not in LOOK
}
"""The other verdicts but PASS, in words, for a mistake without a name."""

UNTOUCHED = "no exercise answered"


def overview(report: Report) -> RenderableType:
    """Show each assignment's commonest mistakes and submissions to look at, then its numbers."""
    graded = _submissions(report)
    groups = {
        name: [submission for submission in graded if submission.assignment == name]
        for name in sorted({submission.assignment for submission in graded})
    }
    header = ("graded", "mean", "to mark", "look at")
    cells = _aligned([header, *(_numbers(group) for group in groups.values())])
    width = _column_width(groups)
    return Group(
        *(part for name, group in groups.items() for part in _findings(report, name, group)),
        _Line("", width, cells[0], style="bold"),
        *(_Line(name, width, cell) for name, cell in zip(groups, cells[1:], strict=True)),
        Text(),
        _Paragraph("", CAPTION),
    )


def one_by_one(report: Report) -> RenderableType:
    """Show every student's points, the number of answers to mark, and the findings.

    There is a section per assignment, or per student if there are fewer students.
    """
    graded = _submissions(report)
    assignments = sorted({submission.assignment for submission in graded})
    absent = {
        name: [score.student for score in _not_handed_in(report, name)] for name in assignments
    }
    present = [submission.student for submission in graded]
    students = list(dict.fromkeys([*present, *chain.from_iterable(absent.values())]))
    by_student = len(students) < len(assignments)
    points = _aligned(
        [
            (submission.points, f"{submission.waiting} to mark" if submission.waiting else "")
            for submission in graded
        ]
    )
    lines: dict[str, list[RenderableType]] = {
        name: [_Paragraph("", name, "bold")] for name in (students if by_student else assignments)
    }
    width = _column_width(assignments if by_student else set(present))
    for submission, cells in zip(graded, points, strict=True):
        heading, name = submission.student, submission.assignment
        if not by_student:
            heading, name = name, heading
        lines[heading].append(_Line(name, width, cells, indent="  "))
        lines[heading] += [_Paragraph("    ", finding) for finding in submission.findings]
    for name, missing in absent.items():
        if by_student:
            for student in missing:
                lines[student].append(_Paragraph("  ", f"not handed in: {name}"))
        elif missing:
            lines[name].append(_Paragraph("  ", f"not handed in: {first_few(missing)}"))
    return Group(*(line for part in lines.values() for line in [*part, Text()]))


def changed_scores(report: Report) -> RenderableType:
    """List the scores that changed since the last run, with old and new score and the reasons."""
    lines = [
        f"{change.assignment}, {change.student}: {change.before:g} to {change.after:g} "
        f"({'; '.join(change.reasons)})"
        for change in report.changes
    ]
    if not lines:
        return Group()
    heading = f"Scores that have changed since the last run: {len(lines)}"
    return Group(Text(), _Paragraph("", heading, "bold"), *(_Paragraph("  ", x) for x in lines))


@dataclass(frozen=True)
class _Submission:
    student: str
    assignment: str
    rows: tuple[Row, ...]
    waiting: int
    score: Score | None

    @property
    def judged(self) -> bool:
        """Return False if the grader failed on an exercise, so that the points are incomplete."""
        return all(row.verdict != Verdict.GRADER_FAULT for row in self.rows)

    @property
    def points(self) -> str:
        points = sum(row.points for row in self.rows)
        return f"{points:.10g}/{sum(row.max_points for row in self.rows)}"

    @property
    def untouched(self) -> bool:
        return all(row.verdict == Verdict.MISSING for row in self.rows)

    @property
    def reasons(self) -> list[str]:
        """Return the reasons for which a person should look at it."""
        verdicts = {row.verdict for row in self.rows}
        reasons = [words for verdict, words in LOOK.items() if verdict in verdicts]
        return [*reasons, UNTOUCHED] if self.untouched else reasons

    @property
    def findings(self) -> list[str]:
        """Return what went wrong: each problem once, with its exercises."""
        exercises: dict[tuple[str, str], list[str]] = {}
        for row in self.rows:
            if row.verdict != Verdict.PASS:
                message = row.message if row.verdict in LOOK else ""
                exercises.setdefault((_words(row), message), []).append(row.exercise)
        notes = []
        if self.score and self.score.late_seconds:
            notes.append(_late(self.score))
        if self.score and self.score.outdated:
            notes.append(f"marked for an earlier text: {', '.join(self.score.outdated)}")
        return notes + [
            f"{words} ({'all exercises' if len(names) == len(self.rows) else ', '.join(names)})"
            f"{'. ' if message else ''}{message}"
            for (words, message), names in exercises.items()
        ]


def _submissions(report: Report) -> list[_Submission]:
    """Return the submissions of `report`, in the same order."""
    rows: dict[tuple[str, str], list[Row]] = {}
    for row in report.rows:
        rows.setdefault((row.student, row.assignment), []).append(row)
    waiting = {(item.student, item.assignment): item.answers for item in report.waiting}
    scores = {(score.student, score.assignment): score for score in report.scores}
    return [
        _Submission(*key, tuple(group), waiting.get(key, 0), scores.get(key))
        for key, group in rows.items()
    ]


def _not_handed_in(report: Report, assignment: str) -> list[Score]:
    """Return the scores of the students who handed in nothing for this assignment."""
    return [
        score for score in report.scores if score.assignment == assignment and not score.handed_in
    ]


def _late(score: Score) -> str:
    """Describe how late a submission was, and the penalty."""
    hours, minutes = divmod(int(score.late_seconds) // 60, 60)
    days, hours = divmod(hours, 24)
    parts = [f"{days} d"] * bool(days) + [f"{hours} h"] * bool(hours) + [f"{minutes} min"]
    return f"handed in {' '.join(parts)} late: {_points_off(score.late_penalty)}"


def _points_off(points: float) -> str:
    return f"{points:g} point{'' if points == 1 else 's'} off" if points else "no penalty"


def _words(row: Row) -> str:
    return row.misconception or LOOK.get(row.verdict) or MISTAKES[row.verdict]


def _numbers(group: Sequence[_Submission]) -> tuple[str, ...]:
    """Return the cells of an assignment: graded, mean, to mark, look at."""
    judged = [submission for submission in group if submission.judged]
    graded = f"{len(judged)}" if len(judged) == len(group) else f"{len(judged)} of {len(group)}"
    waiting = sum(submission.waiting for submission in group)
    look = sum(bool(submission.reasons) for submission in group)
    return graded, _mean(judged), str(waiting or ""), str(look or "")


def _mean(judged: Sequence[_Submission]) -> str:
    points = sum(row.points for submission in judged for row in submission.rows)
    maximum = sum(row.max_points for submission in judged for row in submission.rows)
    if not maximum:
        return "none"
    count = len(judged)
    return f"{points / count:.1f}/{maximum / count:g} {points / maximum:4.0%}"


def _findings(report: Report, name: str, group: Sequence[_Submission]) -> list[RenderableType]:
    """List an assignment's commonest mistakes and the submissions to look at, late or absent."""
    mistakes = [
        f"{count} {'student' if count == 1 else 'students'}: {words} ({exercise})"
        for (words, exercise), count in _mistakes(group)[:COMMONEST]
    ]
    students: dict[str, list[str]] = {words: [] for words in (*LOOK.values(), UNTOUCHED)}
    for submission in group:
        for reason in submission.reasons:
            students[reason].append(submission.student)
    look = [f"{reason}: {first_few(names)}" for reason, names in students.items() if names]
    scores = [submission.score for submission in group if submission.score]
    late = [score for score in scores if score.late_seconds]
    points = sum(score.late_penalty for score in late)
    absent = [score.student for score in _not_handed_in(report, name)]
    outdated = [score.student for score in scores if score.outdated]
    parts = {
        "mistakes": mistakes,
        "look at": look,
        "late": [f"{first_few([score.student for score in late])} ({_points_off(points)})"]
        * bool(late),
        "absent": [f"{first_few(absent)} (not handed in)"] * bool(absent),
        "re-mark": [f"{first_few(outdated)} (marked for an earlier text)"] * bool(outdated),
    }
    if not any(parts.values()):
        return []
    lines = [line for label, items in parts.items() for line in _labelled(label, items)]
    return [_Paragraph("", name, "bold"), *lines, Text()]


def _mistakes(group: Sequence[_Submission]) -> list[tuple[tuple[str, str], int]]:
    """Return each (mistake, exercise) with its number of students.

    Named misconceptions come first; within each part the order is by number of students, then by
    exercise and by name. An exercise without an answer is not a mistake.
    """
    rows = [row for submission in group if not submission.untouched for row in submission.rows]
    named = {row.misconception for row in rows}
    exercises = dict.fromkeys(row.exercise for row in rows)
    position = {name: number for number, name in enumerate(exercises)}
    count = Counter(
        (_words(row), row.exercise)
        for row in rows
        if row.verdict not in (Verdict.PASS, Verdict.MISSING, *LOOK)
    )

    def order(item: tuple[tuple[str, str], int]) -> tuple[bool, int, int, str]:
        (words, exercise), number = item
        return words not in named, -number, position[exercise], words

    return sorted(count.items(), key=order)


def _labelled(label: str, items: Sequence[str]) -> list[RenderableType]:
    """Put each item on a line, with the label before the first."""
    labels = [f"  {label:<8}  ", *(" " * 12 for _ in items)]
    return [_Paragraph(before, item) for before, item in zip(labels, items, strict=False)]


def _column_width(names: Iterable[str]) -> int:
    """Return the width of a column of names in terminal cells, at most LONGEST_COLUMN."""
    return min(max((cell_len(printable(name)) for name in names), default=0), LONGEST_COLUMN)


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Join each row's cells into one string, with right-aligned columns of minimal width."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "".join(f"  {cell:>{width}}" for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]
