"""Make the page of a report: one file, without scripts, that asks no other host for anything.

Jinja escapes every text; only pictures of the course's own cases and links to its book are HTML.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ..course.course import Course
from ..course.plaintext import printable
from ..nbgrader.findings import Book
from ..nbgrader.preset import PAGES
from ..notebook.pictures import with_code
from .drawing import draw_mistakes
from .model import ClassReport, Distribution, Mistake

AGAIN = 5
"""The number of mistakes at the head of a page."""

SHOWN = 3
"""The number of an exercise's mistakes that are not folded."""

MOST_NAMES = 300
"""The number of students in a list of a page; `--json` has them all."""


def report_page(course: Course, report: ClassReport) -> str:
    """Return the HTML of a report."""
    environment = Environment(
        loader=FileSystemLoader([Path(__file__).parent / "pages", PAGES / "answers"]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "percent": _percent,
        "points": "{:.4g}".format,
        "code": lambda text: Markup(with_code(printable(text))),
        "many": _many,
        "number": "{:,}".format,
        "safe_text": printable,
    }
    drawn = draw_mistakes(course, report.assignments)

    def where(assignment: str, text: str) -> Markup:
        return Markup(Book(course.book, assignment).where(text))

    def picture(assignment: str, mistake: Mistake) -> Markup:
        return Markup(drawn.get((assignment, mistake.exercise, mistake.name), ""))

    return environment.get_template("report.html.j2").render(
        report=report,
        again=_again(report),
        where=where,
        picture=picture,
        by_exercise=_by_exercise,
        commonest=SHOWN,
        bars=_bars,
        anchor=_anchor,
        shown=lambda names: names[:MOST_NAMES],
        hidden=lambda names: max(len(names) - MOST_NAMES, 0),
    )


def file_name(assignment: str | None, anonymous: bool) -> str:
    """Return the name of a page; the hyphen keeps the term's from being that of an assignment."""
    return f"{assignment or 'whole-term'}{'-anonymous' if anonymous else ''}.html"


def _anchor(assignment: str, mistake: Mistake) -> str:
    """Return an id for a mistake, which may have any characters in its name."""
    digest = hashlib.sha256(f"{mistake.name}\n{mistake.named}".encode()).hexdigest()
    return f"{assignment}-{mistake.exercise}-{digest[:8]}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%"


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun if number == 1 else f'{noun}s'}"


def _again(report: ClassReport) -> list[dict[str, Any]]:
    """Return the commonest misconceptions of the newest versions."""
    named: list[dict[str, Any]] = [
        {"assignment": part.name, "mistake": mistake}
        for part in report.assignments
        for mistake in part.mistakes
        if mistake.named and mistake.count
    ]
    named.sort(key=lambda row: -row["mistake"].count)
    return named[:AGAIN]


def _by_exercise(mistakes: Iterable[Mistake]) -> Mapping[str, list[Mistake]]:
    groups: dict[str, list[Mistake]] = {}
    for mistake in mistakes:
        groups.setdefault(mistake.exercise, []).append(mistake)
    return groups


def _bars(scores: Distribution) -> Sequence[dict[str, Any]]:
    """Return the bars of a histogram: the count, the height as a share, and the range in words."""
    most = max(scores.bins, default=0) or 1
    step = 100 // max(len(scores.bins), 1)
    return [
        {
            "at": at,
            "count": count,
            "height": count / most,
            "range": f"{at * step} to {at * step + step}%",
        }
        for at, count in enumerate(scores.bins)
    ]
