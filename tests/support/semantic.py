"""Semantic mutants: answers that are right in the middle and wrong at one edge.

Each wrapper takes an exercise and yields the wrong answers that it derives from the reference, by
name, or none if it does not apply.
"""

from __future__ import annotations

import functools

from semantic_calls import CALL_WRAPPERS
from semantic_numbers import NUMBER_WRAPPERS
from semantic_shapes import SHAPE_WRAPPERS
from semantic_slips import SLIP_WRAPPERS
from spoiling import Answer

from autograder.exercise.model import Exercise

WRAPPERS = (*SHAPE_WRAPPERS, *CALL_WRAPPERS, *NUMBER_WRAPPERS, *SLIP_WRAPPERS)


@functools.cache
def wrong_answers(exercise: Exercise) -> dict[str, Answer]:
    """Return every semantic mutant of an exercise, by name."""
    return {name: answer for wrapper in WRAPPERS for name, answer in wrapper(exercise)}
