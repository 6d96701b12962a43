"""The exercises of chapter 13, "Bugs that train"."""

from autograder.exercise.declaring import assignment

ASSIGNMENT = assignment(
    __name__,
    title="Bugs that train",
    exercises=(
        "attention_pool",
        "accumulated_loss",
        "continue_attention",
        "attend_then_transform",
        "fused_attention",
        "test_next_token_loss",
        "test_norm_first",
        "test_multi_head",
        "test_sees_no_future",
        "test_padding",
    ),
    written=("which_symptom",),
)
