"""The exercises of chapter 4, "Attention among equals: self-attention"."""

from autograder.exercise.declaring import assignment

ASSIGNMENT = assignment(
    __name__,
    title="Attention among equals: self-attention",
    exercises=(
        "dot_product_scores",
        "softmax",
        "self_attention",
        "layers_until_merged",
        "cosines_with_null",
        "windowed_self_attention",
        "banded_self_attention",
        "permute_equivariantly",
        "layers_to_reach",
        "self_attention_backward",
    ),
    written=("dissimilar_words",),
)
