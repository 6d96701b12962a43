"""The exercises of chapter 12, "A model of today"."""

from autograder.exercise.declaring import assignment

ASSIGNMENT = assignment(
    __name__,
    title="A model of today",
    exercises=(
        "rope_layouts",
        "grouped_query_attention",
        "today_block",
        "cross_entropy_to_bits_per_byte",
        "ngram_interpolation",
        "today_model",
        "test_cache",
        "copying_score",
        "head_ablation",
        "loss_without_token",
        "decode_tokens_per_second",
    ),
    written=("what_a_number_is_worth",),
)
