"""What `autograder grade` prints: each assignment at a glance, or the students one by one.

Lines without frames, the same on a terminal of any width and in a log. A line breaks at a space;
only a word that is longer than a line breaks elsewhere, where the line ends.
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

if TYPE_CHECKING:  # it imports nbgrader, which takes long
    from ..nbgrader.scores import Score

COMMONEST = 3
"""How many mistakes of an assignment are shown."""

LONGEST_COLUMN = 32
"""The widest column of names, in characters; a longer name has a line of its own."""

CAPTION = (
    "The mean is of the grader's points; points that you give are not in it. "
    "Answers to mark wait for you in the formgrader. "
    "To see the students one by one, name an assignment, or a student with --student."
)

_LOOKED_AT = (
    Verdict.MALFORMED,
    Verdict.KILLED,
    Verdict.TIMEOUT,
    Verdict.MEMORY,
    Verdict.OUTPUT,
    Verdict.FORBIDDEN,
)
LOOK: dict[str, str] = {
    Verdict.GRADER_FAULT: f"the grader failed, see {FAULTS}",
    **{verdict: IN_WORDS[verdict] for verdict in _LOOKED_AT},
}
"""The verdicts after which a person should look at the submission, in words."""

MISTAKES: dict[str, str] = {
    verdict: words for verdict, words in IN_WORDS.items() if verdict not in LOOK
}
"""The other verdicts but PASS, in words, for a mistake without a name."""

UNTOUCHED = "no exercise answered"


def overview(report: Report) -> RenderableType:
    """Each assignment of `report`: its commonest mistakes and whom to look at, then its numbers."""
    graded = _submissions(report)
    groups = {
        name: [one for one in graded if one.assignment == name]
        for name in sorted({one.assignment for one in graded})
    }
    header = ("graded", "mean", "to mark", "look at")
    cells = _aligned([header, *(_numbers(group) for group in groups.values())])
    width = _column(groups)
    return Group(
        *(part for name, group in groups.items() for part in _findings(report, name, group)),
        _Line("", width, cells[0], style="bold"),
        *(_Line(name, width, cell) for name, cell in zip(groups, cells[1:], strict=True)),
        Text(),
        _Paragraph("", CAPTION),
    )


def one_by_one(report: Report) -> RenderableType:
    """The points of every student of `report`, what waits for a person, and what was found.

    One part an assignment; one part a student, if there are fewer students than assignments.
    """
    graded = _submissions(report)
    assignments = sorted({one.assignment for one in graded})
    absent = {name: [one.student for one in _not_handed_in(report, name)] for name in assignments}
    students = list(
        dict.fromkeys([*(one.student for one in graded), *chain.from_iterable(absent.values())])
    )
    by_student = len(students) < len(assignments)
    points = _aligned(
        [(one.points, f"{one.waiting} to mark" if one.waiting else "") for one in graded]
    )
    lines: dict[str, list[RenderableType]] = {
        name: [_Paragraph("", name, "bold")] for name in (students if by_student else assignments)
    }
    width = _column(assignments if by_student else {one.student for one in graded})
    for one, cells in zip(graded, points, strict=True):
        heading, name = one.student, one.assignment
        if not by_student:
            heading, name = name, heading
        lines[heading].append(_Line(name, width, cells, indent="  "))
        lines[heading] += [_Paragraph("    ", found) for found in one.found]
    for name, missing in absent.items():
        if by_student:
            for student in missing:
                lines[student].append(_Paragraph("  ", f"not handed in: {name}"))
        elif missing:
            lines[name].append(_Paragraph("  ", f"not handed in: {first_few(missing)}"))
    return Group(*(line for part in lines.values() for line in [*part, Text()]))


def changed_scores(report: Report) -> RenderableType:
    """Whose score has changed since the last run: from what, to what, and why."""
    lines = [
        f"{one.assignment}, {one.student}: {one.before:g} to {one.after:g} "
        f"({'; '.join(one.reasons)})"
        for one in report.changes
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
        """False if the grader failed somewhere: then the points say nothing yet."""
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
        """Why a person should look at it."""
        verdicts = {row.verdict for row in self.rows}
        found = [words for verdict, words in LOOK.items() if verdict in verdicts]
        return [*found, UNTOUCHED] if self.untouched else found

    @property
    def found(self) -> list[str]:
        """What went wrong, each thing once with its exercises."""
        where: dict[tuple[str, str], list[str]] = {}
        for row in self.rows:
            if row.verdict != Verdict.PASS:
                message = row.message if row.verdict in LOOK else ""
                where.setdefault((_words(row), message), []).append(row.exercise)
        notes = []
        if self.score and self.score.late_seconds:
            notes.append(_late(self.score))
        if self.score and self.score.outdated:
            notes.append(f"marked for an earlier text: {', '.join(self.score.outdated)}")
        return notes + [
            f"{words} ({'all exercises' if len(names) == len(self.rows) else ', '.join(names)})"
            f"{'. ' if message else ''}{message}"
            for (words, message), names in where.items()
        ]


def _submissions(report: Report) -> list[_Submission]:
    """The submissions of `report`, in its order."""
    rows: dict[tuple[str, str], list[Row]] = {}
    for row in report.rows:
        rows.setdefault((row.student, row.assignment), []).append(row)
    waiting = {(one.student, one.assignment): one.answers for one in report.waiting}
    scores = {(score.student, score.assignment): score for score in report.scores}
    return [
        _Submission(*key, tuple(mine), waiting.get(key, 0), scores.get(key))
        for key, mine in rows.items()
    ]


def _not_handed_in(report: Report, assignment: str) -> list[Score]:
    """The scores of those on the roster who handed in nothing for this assignment."""
    return [one for one in report.scores if one.assignment == assignment and not one.handed_in]


def _late(score: Score) -> str:
    """How late a submission was, and what that took off, in words."""
    hours, minutes = divmod(int(score.late_seconds) // 60, 60)
    days, hours = divmod(hours, 24)
    parts = [f"{days} d"] * bool(days) + [f"{hours} h"] * bool(hours) + [f"{minutes} min"]
    return f"handed in {' '.join(parts)} late: {_points_off(score.late_penalty)}"


def _points_off(points: float) -> str:
    return f"{points:g} point{'' if points == 1 else 's'} off" if points else "no penalty"


def _words(row: Row) -> str:
    return row.misconception or LOOK.get(row.verdict) or MISTAKES[row.verdict]


def _numbers(group: Sequence[_Submission]) -> tuple[str, ...]:
    """One assignment's cells: graded, mean, to mark, look at."""
    judged = [one for one in group if one.judged]
    graded = f"{len(judged)}" if len(judged) == len(group) else f"{len(judged)} of {len(group)}"
    waiting = sum(one.waiting for one in group)
    look = sum(bool(one.reasons) for one in group)
    return graded, _mean(judged), str(waiting or ""), str(look or "")


def _mean(judged: Sequence[_Submission]) -> str:
    points = sum(row.points for one in judged for row in one.rows)
    most = sum(row.max_points for one in judged for row in one.rows)
    if not most:
        return "none"
    count = len(judged)
    return f"{points / count:.1f}/{most / count:g} {points / most:4.0%}"


def _findings(report: Report, name: str, group: Sequence[_Submission]) -> list[RenderableType]:
    """One assignment's commonest mistakes, whom to look at, and what is late or not there."""
    mistakes = [
        f"{count} {'student' if count == 1 else 'students'}: {words} ({exercise})"
        for (words, exercise), count in _mistakes(group)[:COMMONEST]
    ]
    students: dict[str, list[str]] = {words: [] for words in (*LOOK.values(), UNTOUCHED)}
    for one in group:
        for reason in one.reasons:
            students[reason].append(one.student)
    look = [f"{reason}: {first_few(names)}" for reason, names in students.items() if names]
    late = [one for one in group if one.score and one.score.late_seconds]
    points = sum(one.score.late_penalty for one in late if one.score)
    absent = [score.student for score in _not_handed_in(report, name)]
    outdated = [one.student for one in group if one.score and one.score.outdated]
    parts = {
        "mistakes": mistakes,
        "look at": look,
        "late": [f"{first_few([one.student for one in late])} ({_points_off(points)})"]
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

    Mistakes that have a name come first, then those of most students, in the exercises' order and
    by name. An exercise without an answer is not a mistake.
    """
    rows = [row for one in group if not one.untouched for row in one.rows]
    named = {row.misconception for row in rows}
    place = {name: number for number, name in enumerate(dict.fromkeys(r.exercise for r in rows))}
    count = Counter(
        (_words(row), row.exercise)
        for row in rows
        if row.verdict not in (Verdict.PASS, Verdict.MISSING, *LOOK)
    )

    def order(item: tuple[tuple[str, str], int]) -> tuple[bool, int, int, str]:
        (words, exercise), number = item
        return words not in named, -number, place[exercise], words

    return sorted(count.items(), key=order)


def _labelled(label: str, items: Sequence[str]) -> list[RenderableType]:
    """The items below each other, with the label before the first."""
    labels = [f"  {label:<8}  ", *(" " * 12 for _ in items)]
    return [_Paragraph(before, item) for before, item in zip(labels, items, strict=False)]


def _column(names: Iterable[str]) -> int:
    """The width of a column of names."""
    return min(max((cell_len(printable(name)) for name in names), default=0), LONGEST_COLUMN)


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Each row's cells in one string, in columns as wide as they must be, to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "".join(f"  {cell:>{width}}" for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]
