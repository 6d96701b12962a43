"""The exercises of chapter 12, "A model of today"."""

from autograder.exercise.declaring import assignment

ASSIGNMENT = assignment(
    __name__,
    title="A model of today",
    exercises=(
        "grouped_query_attention",
        "today_block",
        "today_model",
    ),
)
