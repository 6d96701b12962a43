"""The exercises of chapter 7, "Where am I? Positions"."""

from __future__ import annotations

from ...judging.exercise import Assignment, Written
from .cached_rotary_scores import CACHED_ROTARY_SCORES
from .interpolated_positions import INTERPOLATED_POSITIONS
from .linear_bias import LINEAR_BIAS
from .relative_scores import RELATIVE_SCORES
from .relative_scores_backward import RELATIVE_SCORES_BACKWARD
from .rotary import ROTARY
from .rotary_by_halves import ROTARY_BY_HALVES
from .shift_matrix import SHIFT_MATRIX
from .sinusoidal_positions import SINUSOIDAL_POSITIONS
from .weights_for_halves import WEIGHTS_FOR_HALVES

__all__ = ["ASSIGNMENT"]

TEN_TIMES_LONGER = Written(
    name="ten_times_longer",
    points=4,
    minutes=15,
    rubric=(
        "1 point: says what each scheme meets in a document ten times longer that it never met in "
        "training: rows without training (learned), absolute angles that no query has had "
        "(sinusoidal), distances, and so angles between query and key, that are new (rotary), the "
        "same slope carried on (linear bias), nothing new beyond the clipping distance (relative). "
        "At least three of them, correctly. 1 point: ties the choice to the task: is it the "
        "latest, the near, an exact distance, or something far that is wanted? A linear bias "
        "fades what is far, and so does badly if the answer stands in chapter 1; a clipped table "
        "cannot tell 20 places from 200. 1 point: a choice with a reason, and a fair statement of "
        "what it gives up. 1 point: a test that could prove the choice wrong (accuracy at the "
        "long length by the place of the answer, compared with the short length, several seeds), "
        "or a remedy in place of a choice (train with some long documents, with random offsets, "
        "or stretch the angles and train on a little longer), with its price. Any choice can earn "
        "full points. No point for “the sinusoids can be computed for any position” alone: that "
        "they can be computed does not mean that the model knows what to do with them."
    ),
)

ASSIGNMENT = Assignment(
    name="positions",
    title="Where am I? Positions",
    exercises=(
        SINUSOIDAL_POSITIONS,
        SHIFT_MATRIX,
        ROTARY,
        ROTARY_BY_HALVES,
        WEIGHTS_FOR_HALVES,
        CACHED_ROTARY_SCORES,
        LINEAR_BIAS,
        RELATIVE_SCORES,
        RELATIVE_SCORES_BACKWARD,
        INTERPOLATED_POSITIONS,
    ),
    written=(TEN_TIMES_LONGER,),
)
