"""The exercises of chapter 6, "Many heads"."""

from autograder.exercise.declaring import assignment

ASSIGNMENT = assignment(
    __name__,
    title="Many heads",
    exercises=(
        "split_heads",
        "merge_heads",
        "multi_head_attention",
        "multi_head_cross_attention",
        "fuse_projections",
        "unfuse_projections",
        "folded_heads_attention",
        "head_importance",
        "prune_heads",
        "head_scales_backward",
    ),
    written=("merge_that_trains",),
)
