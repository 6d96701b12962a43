"""The exercises of chapter 3, "Looking at pictures"."""

from autograder.exercise.declaring import assignment

ASSIGNMENT = assignment(
    __name__,
    title="Looking at pictures",
    exercises=(
        "hard_attention",
        "score_function_gradient",
        "learn_from_draws",
        "leave_one_out_gradient",
        "best_baseline",
        "straight_through_backward",
        "rewards_of_looks",
        "localisation",
    ),
    written=("worth_its_variance",),
)
