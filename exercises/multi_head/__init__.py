"""The exercises of chapter 6, "Many heads"."""

from autograder.exercise.declaring import assignment

ASSIGNMENT = assignment(
    __name__,
    title="Many heads",
    exercises=(
        "split_heads",
        "multi_head_attention",
        "multi_head_cross_attention",
        "folded_heads_attention",
        "pairs_answered",
        "head_importance",
        "accuracy_by_heads",
        "prune_heads",
        "test_removes_heads",
        "head_switches_backward",
        "head_scales_backward",
    ),
    written=("merge_that_trains",),
)
