"""Draw each misconception of a report on the first public case on which it goes wrong.

What is drawn is the wrong answer of the course, as the release has it, and no student's: nothing of
a submission gets into these pictures.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from ..course.course import Course
from ..judging.judge import judge
from ..judging.keys import AnswerKey
from ..notebook.check import read_cases
from ..notebook.pictures import case_pictures, with_code
from .model import AssignmentReport, Mistake

MOST_CHARACTERS = 1_000_000
"""The limit on all pictures of a page; those of the commonest mistakes are drawn first."""

Place = tuple[str, str, str]
"""An assignment, an exercise and a misconception."""


def draw_mistakes(course: Course, reports: Iterable[AssignmentReport]) -> dict[Place, str]:
    """Return the pictures of the reports' misconceptions, as HTML that is safe to show.

    A misconception without a public case, or unknown to the release, has none.
    """
    found = [(report.name, mistake) for report in reports for mistake in report.mistakes]
    keys: dict[str, Mapping[str, AnswerKey]] = {}
    drawn: dict[Place, str] = {}
    left = MOST_CHARACTERS
    for assignment, mistake in sorted(found, key=lambda pair: -pair[1].count):
        if not mistake.named or not mistake.count:
            continue
        if assignment not in keys:
            keys[assignment] = _keys(course.release / assignment / f"{assignment}.cases")
        pictures = _draw(keys[assignment].get(mistake.exercise), mistake)
        if pictures and len(pictures) <= left:
            left -= len(pictures)
            drawn[assignment, mistake.exercise, mistake.name] = pictures
    return drawn


def _keys(path: Path) -> Mapping[str, AnswerKey]:
    try:
        return {key.exercise: key for key in read_cases(path)}
    except (OSError, ValueError):
        return {}


def _draw(key: AnswerKey | None, mistake: Mistake) -> str:
    if key is None or key.is_test:
        return ""
    for wrong in key.misconceptions:
        if wrong.name == mistake.name:
            alone = replace(key, misconceptions=(wrong,))  # no other name has to be ruled out
            at = judge(alone, wrong.observations).case
            if at is None:
                return ""
            case, value, right = key.cases[at], wrong.observations[at].value, key.expected[at]
            pictures = case_pictures(key.exercise, case, value, right, key.names, whose="wrong")
            note = with_code(case.note)
            label = html.escape(f"{mistake.name}, in pictures", quote=True)
            return (
                f'<div class="case" role="group" aria-label="{label}" tabindex="0">'
                f'<p class="case-name">The case “{note}”</p>{pictures}</div>'
            )
    return ""
