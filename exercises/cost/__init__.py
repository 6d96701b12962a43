"""The exercises of chapter 11, "What it costs"."""

from autograder.exercise.declaring import assignment

ASSIGNMENT = assignment(
    __name__,
    title="What it costs",
    exercises=(
        "attention_flops",
        "crossover_length",
        "online_softmax_attention",
        "merge_attention",
        "cached_attention_step",
        "cached_attention_chunk",
        "grouped_query_attention",
        "sliding_window_mask",
        "linear_attention",
    ),
    written=("a_long_context",),
)
