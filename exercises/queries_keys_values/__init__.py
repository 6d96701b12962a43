"""The exercises of chapter 5, "Queries, keys, values"."""

from autograder.exercise.declaring import assignment

ASSIGNMENT = assignment(
    __name__,
    title="Queries, keys, values",
    exercises=(
        "lookup_temperature",
        "scaled_dot_product_attention",
        "divisor_for_entropy",
        "gradient_of_the_top",
        "padding_mask",
        "left_padded_attention",
        "attention_with_bias",
        "cross_attention",
        "head_asymmetry",
        "scaled_dot_product_attention_backward",
        "test_masked_blend",
    ),
    written=("keys_equal_values",),
)
