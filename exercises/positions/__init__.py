"""The exercises of chapter 7, "Where am I? Positions"."""

from autograder.exercise.declaring import assignment

ASSIGNMENT = assignment(
    __name__,
    title="Where am I? Positions",
    exercises=(
        "shift_matrix",
        "rotary",
        "rotary_by_halves",
        "weights_for_halves",
        "cached_rotary_scores",
        "false_peaks",
        "reach_of_bias",
        "relative_scores",
        "relative_scores_backward",
        "interpolated_positions",
    ),
    written=("ten_times_longer",),
)
