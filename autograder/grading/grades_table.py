"""What `autograder grade` prints: each assignment at a glance, or the students one by one.

Lines without frames, the same on a terminal of any width and in a log. A line breaks at a space;
only a word that is longer than a line breaks elsewhere, where the line ends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.text import Text

from ..course.course import FAULTS
from ..course.journal import Row
from ..course.lines import Line as _Line
from ..course.lines import Paragraph as _Paragraph
from ..course.plaintext import printable
from ..judging.verdict import IN_WORDS, Verdict
from .grade import Report

COMMONEST = 3
"""How many mistakes of an assignment are shown."""

MOST_NAMES = 8
"""How many students are named for one reason to look at them."""

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
        *(part for name, group in groups.items() for part in _findings(name, group)),
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
    students = list(dict.fromkeys(one.student for one in graded))
    assignments = sorted({one.assignment for one in graded})
    by_student = len(students) < len(assignments)
    points = _aligned(
        [(one.points, f"{one.waiting} to mark" if one.waiting else "") for one in graded]
    )
    lines: dict[str, list[RenderableType]] = {
        name: [_Paragraph("", name, "bold")] for name in (students if by_student else assignments)
    }
    width = _column(assignments if by_student else students)
    for one, cells in zip(graded, points, strict=True):
        heading, name = one.student, one.assignment
        if not by_student:
            heading, name = name, heading
        lines[heading].append(_Line(name, width, cells, indent="  "))
        lines[heading] += [_Paragraph("    ", found) for found in one.found]
    return Group(*(line for part in lines.values() for line in [*part, Text()]))


@dataclass(frozen=True)
class _Submission:
    student: str
    assignment: str
    rows: tuple[Row, ...]
    waiting: int

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
        return [
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
    return [_Submission(*key, tuple(mine), waiting.get(key, 0)) for key, mine in rows.items()]


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


def _findings(name: str, group: Sequence[_Submission]) -> list[RenderableType]:
    """One assignment's commonest mistakes and whom to look at; nothing if there is neither."""
    mistakes = [
        f"{count} {'student' if count == 1 else 'students'}: {words} ({exercise})"
        for (words, exercise), count in _mistakes(group)[:COMMONEST]
    ]
    students: dict[str, list[str]] = {words: [] for words in (*LOOK.values(), UNTOUCHED)}
    for one in group:
        for reason in one.reasons:
            students[reason].append(one.student)
    look = [f"{reason}: {_capped(names)}" for reason, names in students.items() if names]
    if not mistakes and not look:
        return []
    heading = _Paragraph("", name, "bold")
    return [heading, *_labelled("mistakes", mistakes), *_labelled("look at", look), Text()]


def _mistakes(group: Sequence[_Submission]) -> list[tuple[tuple[str, str], int]]:
    """Each (mistake, exercise) with its number of students: most first, then in the exercises'
    order, then by name. Where nothing is answered, there is no mistake."""
    rows = [row for one in group if not one.untouched for row in one.rows]
    place = {name: number for number, name in enumerate(dict.fromkeys(r.exercise for r in rows))}
    count = Counter(
        (_words(row), row.exercise)
        for row in rows
        if row.verdict != Verdict.PASS and row.verdict not in LOOK
    )
    return sorted(count.items(), key=lambda item: (-item[1], place[item[0][1]], item[0][0]))


def _capped(names: Sequence[str]) -> str:
    shown, more = ", ".join(names[:MOST_NAMES]), len(names) - MOST_NAMES
    return f"{shown} and {more} more" if more > 0 else shown


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
