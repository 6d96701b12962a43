"""The question `dissimilar_words`, answered in words."""

from autograder.exercise.declaring import Written

dissimilar_words = Written(
    name="dissimilar_words",
    points=4,
    minutes=15,
    rubric=(
        "1 point: two words of a sentence that depend on each other (a verb and its object, a "
        "pronoun and its noun, an adjective and what it describes), with the reason why one needs "
        "the other. 1 point: says that parameter-free self-attention gives the pair a low weight "
        "because their embeddings have a small dot product, and that this is so whatever their "
        "relation. 1 point: sees that scores are symmetric, x_i . x_j = x_j . x_i, while the need "
        "is not, or that a token always scores itself by its own length, or that one vector must "
        "serve for what it looks for and what it offers. 1 point: proposes something that would "
        "let a dissimilar pair score high, such as comparing transformed vectors (one learned "
        "transformation for the token that looks, another for the one looked at), and says what "
        "it would have to learn. No point for “make their embeddings similar” without saying what "
        "that breaks (the words would then blend with every word of that kind, in every "
        "sentence). Any right sentence and any wording will do."
    ),
)
