"""The exercises of chapter 11, "What it costs"."""

from autograder.exercise.declaring import assignment

ASSIGNMENT = assignment(
    __name__,
    title="What it costs",
    exercises=(
        "crossover_length",
        "online_softmax_attention",
        "merge_attention",
        "expected_compute",
        "cached_attention_chunk",
        "ridge_batch",
        "mla_absorb",
        "linear_attention",
        "delta_rule_step",
    ),
    written=("a_long_context",),
)
