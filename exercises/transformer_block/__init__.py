"""The exercises of chapter 8, "The block"."""

from autograder.exercise.declaring import assignment

ASSIGNMENT = assignment(
    __name__,
    title="The block",
    exercises=(
        "layer_norm",
        "layer_norm_backward",
        "fold_norm",
        "centre_writers",
        "multi_head_attention",
        "encoder_block",
        "parallel_block",
        "feed_forward_sublayer",
        "decoder_block",
        "stacks_that_may_train",
    ),
    written=("norm_before_or_after",),
)
