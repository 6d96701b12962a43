"""What a feedback page adds to a verdict: where the book explains it, and other right answers."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from dataclasses import dataclass

from .answers import free_names, source_as
from .model import Assignment, Exercise

MOST_OTHERS = 2
"""The number of other answers that are kept, in case the student's is one of them."""

LONGEST = 30
"""The number of lines of the longest answer that is shown as another way."""

IN_NOTEBOOK = frozenset({"F", "math", "nn", "np", "torch", *vars(builtins)})
"""The names that a student's notebook has before any answer."""


@dataclass(frozen=True)
class Guide:
    """The Markdown that says where to read about an exercise, and other ways to write it."""

    where: str
    others: tuple[str, ...] = ()


def guides(assignment: Assignment) -> dict[str, Guide]:
    """Return the guide of each exercise, by name."""
    return {
        exercise.name: Guide(exercise.help[2].strip(), tuple(_others(exercise))[:MOST_OTHERS])
        for exercise in assignment.exercises
    }


def _others(exercise: Exercise) -> Iterator[str]:
    """Yield the right answers that run in a notebook as they are, the least plain first."""
    for answer in sorted(exercise.alternatives, key=lambda each: each.__name__ == "plain"):
        try:
            text = source_as(answer, exercise.name)
        except (OSError, SyntaxError):  # its source is not in a file
            continue
        known = {*IN_NOTEBOOK, exercise.name}
        if len(text.splitlines()) <= LONGEST and free_names(text) <= known:
            yield text
