"""The exercises of chapter 12, "A model of today"."""

from autograder.exercise.declaring import assignment

ASSIGNMENT = assignment(
    __name__,
    title="A model of today",
    exercises=(
        "grouped_query_attention",
        "today_block",
        "ngram_interpolation",
        "today_model",
        "test_cache",
        "head_below",
        "loss_without_token",
        "draft_rule",
    ),
    written=("what_a_number_is_worth",),
)
